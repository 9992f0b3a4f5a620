//! The stop hook: what a session has that is worth saving, its capture file, and the request to save.

mod consolidate;
mod extract;
mod inbox;
mod sessions;

pub use extract::{ExtractReport, ExtractedItem, LeftOut, UnreadSession};
pub use inbox::{InboxAction, InboxEntry};
pub use sessions::{SessionChoice, SessionChoiceError, SessionFile};

pub use consolidate::{ConsolidationReport, DraftRequest, ItemOutcome, ItemResult, Task};

use crate::captures::{Captures, UnreadTranscript};
use crate::config::{ConfigFiles, write_plain};
use crate::disk::{Disk, RealDisk};
use crate::env::{Env, Folders, Var};
use crate::hooklog;
use crate::setup::is_trial;
use crate::transcript;
use crate::workspace::open::trust::settled;
use crate::workspace::project::Project;
use crate::workspace::{Failure, Workspace, locate};
use lorelane_core::briefing;
use lorelane_core::capture::{Capture, CapturedItem, Origin};
use lorelane_core::consolidate::{AskedItem, MemoryRelation, full_text, relation, stop_request};
use lorelane_core::conversation::{Attendance, Conversation, Speaker, TranscriptFormat, TranscriptPosition};
use lorelane_core::ledger::{LedgerLine, unwritten_prompt};
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Address, Category, Memory};
use lorelane_core::policy::{DEFAULT_ROOT, Policy};
use lorelane_core::recall::Query;
use lorelane_core::statements::{ASK_MAX, detect, is_withdrawal, to_ask};
use lorelane_core::triage::session_summary;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// How many memories shown in a session are excluded from triage: more than a session is shown.
const SHOWN_MAX: usize = 200;

/// A file in the project's state folder with the categories that were reported as full, one per line.
const TOLD_FULL: &str = "told-full";
const TOLD_FULL_MAX_BYTES: u64 = 1 << 10;

/// Capture and consolidation for a borrowed workspace.
#[derive(Debug)]
pub struct SessionCapture<'w> {
    workspace: &'w mut Workspace,
}

impl Workspace {
    pub fn capture(&mut self) -> SessionCapture<'_> {
        SessionCapture { workspace: self }
    }
}

/// What a stop hook needs of a project, whether it has a store or not. Opens no index.
#[derive(Debug)]
pub struct StopContext {
    pub policy: Policy,
    pub captures: Captures,
}

/// What is new in a session.
#[derive(Clone, Debug, Default, PartialEq)]
struct NewItems {
    items: Vec<CapturedItem>,
    /// Items of full categories, kept until there is room. They are mentioned in the session's one request.
    full: Vec<CapturedItem>,
}

/// Statements that are compared with the memories, each by a search: those of a request, and some that turn out to be
/// said already.
const COMPARED_MAX: usize = 2 * ASK_MAX;
/// Memories that a statement is compared with.
const RELATED_MAX: usize = 3;

impl StopContext {
    pub fn open(env: &Env, start: &Path) -> StopContext {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let (project, lane) = match locate(&*disk, start) {
            Ok(located) => (located.project, located.lane),
            Err(_) => (start.to_owned(), start.join(DEFAULT_ROOT)),
        };
        let folders = env.folders();
        let user = folders.as_ref().map(|folders| folders.config.as_path());
        let config = ConfigFiles::of_project(&*disk, &project, user);
        let policy = settled(&*disk, env.now, folders.as_ref(), &config, &project, &lane);
        // The project's id may be written through this disk, which must follow no link inside the project.
        let own = folders.as_ref().map(Folders::all).unwrap_or_default();
        let disk = disk.below(&project, &own).ok().flatten().unwrap_or(disk);
        let captures = Project::new(&disk, project, &lane, folders.as_ref()).captures(&disk);
        StopContext { policy, captures }
    }
}

/// Where the text of a session comes from.
#[derive(Clone, Copy, Debug)]
pub enum TranscriptSource<'a> {
    /// `last` is the last message, which the file may not have yet.
    Transcript { path: &'a Path, format: TranscriptFormat, last: &'a str },
    /// Only the last messages, for clients whose transcript cannot be read.
    Last { human: &'a str, assistant: &'a str },
}

/// The output of a stop hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopRequest {
    /// Asks the agent to save what was found.
    Save(String),
    /// Tells the person that a category is full.
    Full(String),
}

/// The end of a turn in a session.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    pub client: &'a str,
    pub session: &'a str,
    pub transcript: TranscriptSource<'a>,
    pub may_ask: AskPolicy,
}

/// Whether the agent may be asked to save what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskPolicy {
    Yes,
    /// Only if the transcript shows that a person is present, or `stop.unattended` allows it. Otherwise the
    /// request would replace the answer that a script waits for; what was found is offered later.
    IfAttended,
    /// No person is present: `stop.unattended` decides.
    Unattended,
    /// The client cannot be asked here: the session goes on or ends anyway.
    No,
}

impl TranscriptSource<'_> {
    fn is_attended(self, env: &Env) -> bool {
        let TranscriptSource::Transcript { path, format, .. } = self else { return false };
        let told = transcript::attendance(path, format, &transcript::folders(env));
        told.is_ok_and(|told| told == Some(Attendance::Attended))
    }
}

impl Turn<'_> {
    /// The transcript to read again later, for clients that write the last answer after the stop hook.
    /// Waiting for it here would delay every turn.
    fn unread(&self) -> Option<UnreadTranscript> {
        let TranscriptSource::Transcript { path, format, .. } = self.transcript else { return None };
        let is_stop = self.may_ask != AskPolicy::No;
        (is_stop && format.lags() && !is_trial(self.session)).then(|| UnreadTranscript {
            session: self.session.to_owned(),
            client: self.client.to_owned(),
            path: path.to_owned(),
            length: RealDisk.stat_target(path).ok().flatten().map_or(0, |stat| stat.len),
        })
    }
}

impl SessionCapture<'_> {
    /// Saves what is worth keeping in a session, and returns what to say about it. The agent is asked at most once
    /// per session, and once more if the user asks to remember something.
    pub fn stop(&mut self, env: &Env, turn: &Turn<'_>) -> Result<Option<StopRequest>, Failure> {
        if !self.workspace.policy.triage_enabled() {
            return Ok(None);
        }
        let captures = self.workspace.captures();
        if let Some(unread) = turn.unread() {
            captures.put_unread(&unread)?;
        }
        let known = captures.load(turn.session);
        let mut capture =
            known.unwrap_or_else(|| Capture::new(turn.session, turn.client, self.workspace.now));
        let lines = self.workspace.ledger().lines_of(turn.session);
        let conversation = self.read_conversation(env, turn.transcript, &lines)?;
        let conversation = conversation.without_lines_of(&self.shown_in(&lines));
        let withdrawn = take_back(&mut capture, &conversation);
        let NewItems { mut items, full: mut later } = self.new_items(&conversation, &capture, turn)?;
        let full: Vec<Category> = later.iter().map(|item| item.category).collect();
        if let TranscriptSource::Transcript { path, .. } = turn.transcript {
            number_lines(path, &mut items);
            number_lines(path, &mut later);
        }
        let asked = self.asked(env, turn, &capture, &mut items)?;
        let full = match turn.may_ask {
            AskPolicy::No => Vec::new(),
            _ if is_trial(turn.session) => Vec::new(),
            _ => self.untold(&capture.tell_full(&full), &items),
        };
        items.append(&mut later);
        let is_news = withdrawn > 0 || !items.is_empty() || !full.is_empty();
        if !is_news || is_trial(turn.session) {
            return Ok(None);
        }
        if !items.is_empty() {
            // A single message has no position in a transcript.
            let until = match turn.transcript {
                TranscriptSource::Transcript { .. } => conversation.messages.last().map(|message| message.at),
                TranscriptSource::Last { .. } => None,
            };
            capture.take(items, until, !asked.is_empty(), self.workspace.now);
        }
        captures.save(&mut capture)?;
        if !asked.is_empty() {
            let asked: Vec<AskedItem> = asked.into_iter().map(|asked| asked.numbered(&capture)).collect();
            return Ok(Some(StopRequest::Save(stop_request(turn.session, &asked, &full))));
        }
        Ok((!full.is_empty()).then(|| StopRequest::Full(full_text(&full))))
    }

    /// What is worth keeping in the messages that were not looked at yet, without what was found or rejected before.
    fn new_items(
        &mut self,
        conversation: &Conversation,
        capture: &Capture,
        turn: &Turn<'_>,
    ) -> Result<NewItems, Failure> {
        let now = self.workspace.now;
        let found = detect(conversation, capture.until);
        let mut items: Vec<CapturedItem> = found
            .iter()
            .map(|found| CapturedItem::of_statement(found, conversation, turn.session, now))
            .collect();
        let threshold = self.workspace.policy.triage_threshold(Category::SessionSummary);
        items.extend(session_summary(conversation, threshold).map(|finding| {
            let origin = Origin { session: turn.session.to_owned(), at: finding.at, words: finding.words };
            CapturedItem {
                score: finding.score,
                since: Some(now),
                ..CapturedItem::new(finding.category, finding.snippets, finding.excerpt, origin)
            }
        }));
        items.retain(|item| self.workspace.policy.auto_capture(item.category));
        let items = capture.news(items);
        let mut news = NewItems::default();
        if items.is_empty() {
            return Ok(news);
        }
        let (marks, rejected) = (self.workspace.recent_marks(), self.workspace.captures().rejected());
        for item in items {
            if self.rejected_origin(&marks, &item).is_some() || rejected.find(&item).is_some() {
                continue;
            }
            if self.is_full(item.category)? {
                news.full.push(item);
            } else {
                news.items.push(item);
            }
        }
        Ok(news)
    }

    /// The best new items, if the agent may be asked about them now. Marks them, and drops those that a memory says
    /// already.
    fn asked(
        &mut self,
        env: &Env,
        turn: &Turn<'_>,
        capture: &Capture,
        items: &mut Vec<CapturedItem>,
    ) -> Result<Vec<AskedItem>, Failure> {
        let may_ask_about =
            |item: &&CapturedItem| !capture.asked || (item.is_request() && !capture.asked_again);
        let candidates: Vec<CapturedItem> = items.iter().filter(may_ask_about).cloned().collect();
        // A summary is never a reason to interrupt.
        let score = |item: &CapturedItem| if item.kind.is_some() { item.score } else { 0.0 };
        let mut asked = Vec::new();
        if to_ask(&candidates, score).is_empty() || !self.may_ask(env, turn) {
            return Ok(asked);
        }
        for item in to_ask(&candidates, score).into_iter().take(COMPARED_MAX) {
            if asked.len() == ASK_MAX {
                break;
            }
            let replaces = match self.relation(item)? {
                MemoryRelation::SaidBy(_) => {
                    items.retain(|other| other.origin.words != item.origin.words);
                    continue;
                }
                MemoryRelation::Contradicts(address) => Some(address),
                MemoryRelation::New => None,
            };
            let description = self.workspace.policy.description(item.category).map(str::to_owned);
            asked.push(AskedItem { item: item.clone(), replaces, description });
        }
        for item in items.iter_mut() {
            item.asked = asked.iter().any(|asked| asked.item.origin.words == item.origin.words);
        }
        Ok(asked)
    }

    /// What an item has to do with the memories that exist.
    fn relation(&mut self, item: &CapturedItem) -> Result<MemoryRelation, Failure> {
        let mut query = Query::new(&item.words(), self.workspace.now);
        query.categories = Category::ALL.to_vec();
        // The files are read below.
        let hits = self.workspace.recall().sharing_words(&query)?;
        let current = hits.iter().filter(|hit| hit.not_current.is_none()).take(RELATED_MAX);
        let loaded = current.filter_map(|hit| self.workspace.load(&hit.address).ok());
        let text = |memory: &Memory| format!("{}\n{}", memory.title, memory.body.statement());
        let memories: Vec<(Address, String)> =
            loaded.map(|loaded| (loaded.memory.address.clone(), text(&loaded.memory))).collect();
        Ok(relation(item, &memories))
    }

    /// Drops what waited too long, with a line in the hook log.
    pub fn drop_expired(&self, env: &Env, hook: &str) {
        let days = self.workspace.policy.inbox_keep_days();
        let dropped = self.workspace.captures().clear_away(days, self.workspace.now);
        if dropped > 0 {
            let what =
                format!("dropped {dropped} captured items after {days} days in the inbox (inbox.keep_days)");
            hooklog::write(env, hook, &what);
        }
    }

    /// Triages transcripts whose last answer was not written yet when their sessions stopped.
    pub fn capture_unread(&mut self, env: &Env) -> Result<(), Failure> {
        let mut outcome = Ok(());
        for UnreadTranscript { session, client, path, .. } in self.workspace.captures().take_unread() {
            if let Some(format) = TranscriptFormat::of_client(&client) {
                let source = TranscriptSource::Transcript { path: &path, format, last: "" };
                let turn =
                    Turn { client: &client, session: &session, transcript: source, may_ask: AskPolicy::No };
                // An unreadable transcript does not stop the others; the first error is returned.
                outcome = outcome.and(self.stop(env, &turn).map(drop));
            }
        }
        outcome
    }

    /// The full categories that were not reported yet. Each is reported once until it had room again: nobody reads
    /// what every session repeats.
    fn untold(&self, full: &[Category], items: &[CapturedItem]) -> Vec<Category> {
        let file = self.workspace.project.state.join(TOLD_FULL);
        let text =
            self.workspace.disk.read_regular(&file, TOLD_FULL_MAX_BYTES).ok().flatten().unwrap_or_default();
        let text = String::from_utf8(text).unwrap_or_default();
        let told: Vec<Category> = text.lines().filter_map(Category::parse).collect();
        let has_room = |category: &Category| items.iter().any(|item| item.category == *category);
        let (roomy, mut still): (Vec<Category>, Vec<Category>) = told.into_iter().partition(has_room);
        let news: Vec<Category> = full.iter().copied().filter(|category| !still.contains(category)).collect();
        if !roomy.is_empty() || !news.is_empty() {
            still.extend(&news);
            let names: String = still.iter().map(|category| format!("{}\n", category.name())).collect();
            // If this cannot be written, the next session reports it once more.
            let file = self.workspace.project.state.for_writing().join(TOLD_FULL);
            let _ = write_plain(&*self.workspace.disk, &file, names.as_bytes());
        }
        news
    }

    fn may_ask(&self, env: &Env, turn: &Turn<'_>) -> bool {
        match turn.may_ask {
            AskPolicy::Yes => true,
            AskPolicy::No => false,
            AskPolicy::IfAttended => turn.transcript.is_attended(env) || self.asks_unattended(env),
            AskPolicy::Unattended => self.asks_unattended(env),
        }
    }

    fn asks_unattended(&self, env: &Env) -> bool {
        // Overrides `stop.unattended` for one run.
        match env.var(Var::LorelaneStopUnattended) {
            Some(wish) => wish == "ask",
            None => self.workspace.policy.asks_unattended(),
        }
    }

    fn read_conversation(
        &self,
        env: &Env,
        source: TranscriptSource<'_>,
        lines: &[LedgerLine],
    ) -> Result<Conversation, Failure> {
        match source {
            TranscriptSource::Last { human, assistant } => {
                Ok(Conversation::from_texts(Some(human), Some(assistant)))
            }
            TranscriptSource::Transcript { path, format, last } => {
                let max_messages = self.workspace.policy.triage_max_messages();
                let read = transcript::read(path, format, max_messages, &transcript::folders(env))
                    .map_err(|source| Failure::io("read the transcript", path, source))?;
                let prompt = unwritten_prompt(lines, &read).unwrap_or_default();
                Ok(read.asked(prompt).ending_with(last))
            }
        }
    }

    /// The texts that lorelane injected, by the lines of a session. Triage ignores them: a memory must not be captured
    /// again because it was shown.
    fn shown_in(&self, lines: &[LedgerLine]) -> Vec<String> {
        let own = lines.iter().flat_map(|line| &line.shown);
        let addresses: BTreeSet<&Address> = own.map(|shown| &shown.address).take(SHOWN_MAX).collect();
        let memories = addresses.into_iter().filter_map(|address| self.workspace.load(address).ok());
        memories.flat_map(|loaded| briefing::said_of(&loaded.memory)).collect()
    }

    /// Whether a category takes no more memories. Session summaries are never full: their window retires old ones.
    pub(in crate::workspace) fn is_full(&mut self, category: Category) -> Result<bool, Failure> {
        if category == Category::SessionSummary {
            return Ok(false);
        }
        let records = self.workspace.lanes.records_mut();
        records.refresh()?;
        let active = records.with_index(|index| index.count(category, Status::Active))?;
        Ok(active >= self.workspace.policy.max_memories_per_category())
    }
}

/// Replaces byte offsets by line numbers, which people can look up. Offsets stay if the transcript is gone, or far
/// into it: counting lines there would read more than a stop hook may.
fn number_lines(path: &Path, items: &mut [CapturedItem]) {
    let byte =
        |item: &CapturedItem| if let TranscriptPosition::Byte(byte) = item.origin.at { byte } else { 0 };
    let places: Vec<u64> = items.iter().map(byte).collect();
    let lines = transcript::lines_at(path, &places).unwrap_or_default();
    for (item, line) in items.iter_mut().zip(lines) {
        item.origin.at = line.map_or(item.origin.at, TranscriptPosition::Line);
    }
}

/// Settles what the user said in one message and took back in the next.
fn take_back(capture: &mut Capture, conversation: &Conversation) -> usize {
    let is_new = |at: TranscriptPosition| capture.until.is_some_and(|until| at.is_after(until));
    let of_user = conversation.messages.iter().filter(|message| message.speaker == Speaker::Human);
    let texts: Vec<(bool, &str)> =
        of_user.map(|message| (is_new(message.at), message.text.as_str())).collect();
    let taken_back = texts.windows(2).filter(|pair| pair[1].0 && is_withdrawal(pair[1].1));
    taken_back.map(|pair| capture.withdraw(pair[0].1)).sum()
}
