//! The inbox: what waits in all sessions, with a proposed memory for each.

use super::SessionCapture;
use super::consolidate::{ConsolidationReport, ItemStart, Repeats, settle_item};
use crate::captures::Captures;
use crate::config::write_plain;
use crate::setup::{BlockFile, BlockStep, RuleBlocks, SetupError, is_trial};
use crate::workspace::{Failure, Workspace};
use lorelane_core::candidate::Action;
use lorelane_core::capture::Destination;
use lorelane_core::change::Notice;
use lorelane_core::consolidate::{AgentAnswer, Judgement, Proposal, QueuedItem, proposed, queue};
use lorelane_core::json::Object;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Address, Category};
use lorelane_core::text::one_line;

/// Files in the project's state folder: the highest number of an item that a session start announced, and whether the
/// first hint was given.
const TOLD_INBOX: &str = "told-inbox";
const HINTED: &str = "hinted";
const NUMBER_MAX_BYTES: u64 = 64;

/// An item with the memory that accepting it would create.
#[derive(Debug)]
pub struct InboxEntry {
    pub queued: QueuedItem,
    pub draft: Object,
    /// The memory that it would supersede.
    pub supersedes: Option<Address>,
    /// Where it belongs.
    pub destination: Destination,
}

/// What to do with items.
#[derive(Clone, Debug, PartialEq)]
pub enum InboxAction<'a> {
    /// Saves the proposed memory, or another draft of it.
    Accept {
        draft: Option<Object>,
    },
    /// Drops the item; the same does not come back, not even in other words.
    Reject {
        because: &'a str,
    },
    Drop,
}

impl SessionCapture<'_> {
    /// What waits, oldest first. The notices name what is not offered any more.
    pub fn inbox(&mut self) -> Result<(Vec<InboxEntry>, Vec<Notice>), Failure> {
        let captures = self.workspace.captures();
        let (mut entries, mut notices) = (Vec::new(), Vec::new());
        for queued in queue(&captures.inbox(self.workspace.now)?) {
            if !self.workspace.policy.auto_capture(queued.item.category) {
                continue;
            }
            match self.task(&captures, &queued.session, &queued.item)? {
                ItemStart::Task(task) => {
                    let draft = proposed(&queued.item, &queued.item.date(queued.at));
                    let destination = Destination::of(&queued.item, &queued.client);
                    entries.push(InboxEntry { queued, draft, supersedes: task.supersedes, destination });
                }
                start => self.not_started(&captures, &queued.session, &queued.item, start, &mut notices)?,
            }
        }
        Ok((entries, notices))
    }

    /// How many items wait, without looking at the memories.
    pub fn inbox_count(&self) -> usize {
        let policy = &self.workspace.policy;
        let open = self.workspace.captures().waiting();
        queue(&open).iter().filter(|queued| policy.auto_capture(queued.item.category)).count()
    }

    /// How many items wait and can be saved now, if some of them were not announced before. Repeated announcements
    /// would only be ignored.
    pub fn announce(&mut self, session: &str) -> Result<usize, Failure> {
        let mut open = self.workspace.captures().waiting();
        for category in Category::ALL {
            let waits = open.iter().any(|capture| capture.next_of(category).is_some());
            if waits && (!self.workspace.policy.auto_capture(category) || self.is_full(category)?) {
                open.iter_mut().for_each(|capture| capture.items.retain(|item| item.category != category));
            }
        }
        let waiting = queue(&open);
        let highest = waiting.iter().map(|queued| queued.item.number).max();
        let told = self.state_number(TOLD_INBOX);
        // What an older version captured has no number.
        if highest.is_none_or(|highest| highest > 0 && told.is_some_and(|told| highest <= told)) {
            return Ok(0);
        }
        if !is_trial(session) {
            self.put_state_number(TOLD_INBOX, highest.unwrap_or(0));
        }
        Ok(waiting.len())
    }

    /// Whether to say how a first memory is saved: once in a project whose store is empty.
    pub fn first_hint(&mut self, session: &str) -> Result<bool, Failure> {
        if !self.workspace.policy.gives_hint() || is_trial(session) || self.state_number(HINTED).is_some() {
            return Ok(false);
        }
        let (_, memories) = self.workspace.recall().newest(Status::Active, 1)?;
        self.put_state_number(HINTED, 1);
        Ok(memories == 0)
    }

    fn state_number(&self, name: &str) -> Option<u64> {
        let file = self.workspace.project.state.join(name);
        let bytes = self.workspace.disk.read_regular(&file, NUMBER_MAX_BYTES).ok()??;
        std::str::from_utf8(&bytes).ok()?.trim().parse().ok()
    }

    /// If it cannot be written, the next session is told once more.
    fn put_state_number(&self, name: &str, number: u64) {
        let file = self.workspace.project.state.for_writing().join(name);
        let _ = write_plain(&*self.workspace.disk, &file, format!("{number}\n").as_bytes());
    }

    /// Accepts, rejects or drops one entry.
    pub fn conclude(
        &mut self,
        entry: &InboxEntry,
        action: InboxAction<'_>,
        dry_run: bool,
    ) -> Result<Option<ConsolidationReport>, Failure> {
        let InboxEntry { queued, draft, supersedes, .. } = entry;
        let captures = self.workspace.captures();
        let because = match action {
            InboxAction::Accept { draft: other } => {
                let proposal = Proposal {
                    item: Some(queued.item.number),
                    category: Some(queued.item.category),
                    action: Action::Create,
                    target: None,
                    supersedes: supersedes.clone(),
                    revision: None,
                    draft: Some(other.unwrap_or_else(|| draft.clone())),
                    reason: Some(ACCEPTED.to_owned()),
                    judgement: Some(Judgement::Pass),
                    issues: Vec::new(),
                };
                let answer = AgentAnswer { session: Some(queued.session.clone()), items: vec![Ok(proposal)] };
                return self.consolidate(vec![answer], None, dry_run);
            }
            _ if dry_run => return Ok(None),
            InboxAction::Reject { because } => Some(because),
            InboxAction::Drop => None,
        };
        if let Some(because) = because {
            captures.reject(&queued.item, because, self.workspace.now)?;
        }
        self.settle_entry(&captures, queued)?;
        Ok(None)
    }

    /// Writes an entry into a file of the project, for agents or for people. The entry still waits afterwards.
    pub fn write_rule(
        &self,
        entry: &InboxEntry,
        file: BlockFile,
        dry_run: bool,
    ) -> Result<BlockStep, SetupError> {
        let QueuedItem { item, client, at, .. } = &entry.queued;
        let words = one_line(&item.words());
        let text = match file {
            BlockFile::ClaudeMd | BlockFile::AgentsMd => format!("- {words}"),
            BlockFile::Knowledge(_) => {
                let title = one_line(entry.draft.text("title").unwrap_or_default());
                format!("## {title}\n\n{words}\n\n({}, {}, {client})", item.form_name(), item.date(*at))
            }
        };
        self.workspace.rule_blocks()?.add(file, &text, dry_run)
    }

    /// Takes the blocks out of all files of the project. Returns what was done to each.
    pub fn remove_rules(&self, dry_run: bool) -> Result<Vec<BlockStep>, SetupError> {
        self.workspace.rule_blocks()?.remove(dry_run)
    }

    fn settle_entry(&self, captures: &Captures, queued: &QueuedItem) -> Result<(), Failure> {
        let first = queued.item.number;
        let repeats: Repeats =
            queued.repeats.iter().map(|(session, number)| (*number, (first, session.clone()))).collect();
        settle_item(captures, &repeats, &queued.session, first)
    }
}

impl Workspace {
    /// The blocks of lorelane in files of this project.
    fn rule_blocks(&self) -> Result<RuleBlocks<'_>, SetupError> {
        let folders = self.folders.as_ref().ok_or(SetupError::NoHome)?;
        Ok(RuleBlocks::new(&*self.disk, folders, &self.project.root))
    }
}

/// The reason in the log.
const ACCEPTED: &str = "accepted from the inbox";
