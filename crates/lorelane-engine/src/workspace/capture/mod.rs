//! What a stopping session leaves to be saved.

mod consolidate;

pub use consolidate::{ConsolidationReport, DraftRequest, ItemOutcome, ItemResult, Task};

use crate::captures::{Captures, UnreadTranscript};
use crate::config::{ConfigFiles, write_plain};
use crate::disk::{Disk, RealDisk};
use crate::env::{Env, Folders, Var};
use crate::setup::is_trial;
use crate::transcript;
use crate::workspace::open::trust::settled;
use crate::workspace::project::Project;
use crate::workspace::{Failure, Workspace, locate};
use lorelane_core::briefing;
use lorelane_core::capture::{Capture, CapturedItem, Origin, TranscriptPosition, full_text, stop_text};
use lorelane_core::conversation::{Attendance, Conversation, TranscriptFormat};
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::Marks;
use lorelane_core::memory::{Address, Category};
use lorelane_core::policy::{DEFAULT_ROOT, Policy};
use lorelane_core::triage::{self, Activity, NATIVE, TriageFinding};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// More memories than a session is shown.
const SHOWN_MAX: usize = 200;

/// The categories that people were told are full: a file in the project's state folder, a name in each line.
const TOLD_FULL: &str = "told-full";
const TOLD_FULL_MAX_BYTES: u64 = 1 << 10;

/// What sessions leave to be saved, and what becomes of it, for as long as the workspace is borrowed.
#[derive(Debug)]
pub struct SessionCapture<'w> {
    workspace: &'w mut Workspace,
}

impl Workspace {
    pub fn capture(&mut self) -> SessionCapture<'_> {
        SessionCapture { workspace: self }
    }
}

/// What a stop needs to know of a project, whether it has a store or not. No index is opened.
#[derive(Debug)]
pub struct StopContext {
    pub policy: Policy,
    pub captures: Captures,
}

/// The outcome of a triage, ready for [`Captures::save`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriageResult {
    pub activity: Activity,
    pub items: Vec<CapturedItem>,
    /// Found, too, but their categories take no more memories: kept until there is room. That is said with the one
    /// request of a session.
    pub full: Vec<CapturedItem>,
}

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
        // What the id of a project is written through must follow no link that the project has.
        let own = folders.as_ref().map(Folders::all).unwrap_or_default();
        let disk = disk.below(&project, &own).ok().flatten().unwrap_or(disk);
        let captures = Project::new(&disk, project, &lane, folders.as_ref()).captures(&disk);
        StopContext { policy, captures }
    }
}

/// Where the words of a session are.
#[derive(Clone, Copy, Debug)]
pub enum TranscriptSource<'a> {
    /// `last` are the last words, which the file may not have yet.
    Transcript { path: &'a Path, format: TranscriptFormat, last: &'a str },
    /// The last words alone, where a client's transcript cannot be read.
    Last { assistant: &'a str },
}

/// What is said at the end of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopRequest {
    /// The agent is asked to save what was found.
    Save(String),
    /// The person is told that a category takes no more memories.
    Full(String),
}

/// A session, and how its turn ends.
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
    /// The transcript tells whether somebody is there. Where it does not, nobody is asked: the answer that an
    /// unattended run prints is what was asked for.
    IfAttended,
    /// Nobody is there: the settings decide.
    Unattended,
    /// The session goes on or ends without us.
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
    /// The transcript that is to be read again, where a client writes the last answer after the stop.
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
    /// Keeps what a session leaves to be saved, and says what is to be said about it: at most once per session.
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
        let conversation = self.spoken(env, turn.transcript)?;
        let (conversation, until) = match turn.transcript {
            TranscriptSource::Transcript { .. } => {
                let until = conversation.messages.last().map(|message| message.at);
                (conversation.after(capture.until), until)
            }
            // Last words have no place.
            TranscriptSource::Last { .. } => (conversation, None),
        };
        let shown = self.shown_in(turn.session);
        let TriageResult { items, full, .. } = self.triage(conversation, turn.session, &shown)?;
        let full_categories: Vec<Category> = full.iter().map(|item| item.category).collect();
        let (mut items, mut later) = (capture.news(items), capture.news(full));
        if let TranscriptSource::Transcript { path, .. } = turn.transcript {
            number_lines(path, &mut items);
            number_lines(path, &mut later);
        }
        let asks = !capture.asked && !items.is_empty() && self.may_ask(env, turn);
        let full = match turn.may_ask {
            AskPolicy::No => Vec::new(),
            _ if is_trial(turn.session) => Vec::new(),
            _ => self.untold(&capture.tell_full(&full_categories), &items),
        };
        items.append(&mut later);
        if items.is_empty() && full.is_empty() || is_trial(turn.session) {
            return Ok(None);
        }
        if !items.is_empty() {
            capture.take(items, until, asks, self.workspace.now);
        }
        let detail = captures.save(&capture)?;
        let has_room = |item: &&CapturedItem| !full_categories.contains(&item.category);
        let open: Vec<CapturedItem> = capture.open_items().filter(has_room).cloned().collect();
        let describe = |category| self.workspace.policy.description(category).map(str::to_owned);
        Ok(match (asks, full.is_empty()) {
            (true, _) => Some(StopRequest::Save(stop_text(turn.session, &open, &full, &detail, &describe))),
            (false, false) => Some(StopRequest::Full(full_text(&full))),
            (false, true) => None,
        })
    }

    /// Reads what transcripts did not have yet when their sessions stopped, and keeps what they leave to be saved.
    pub fn capture_unread(&mut self, env: &Env) -> Result<(), Failure> {
        let mut outcome = Ok(());
        for UnreadTranscript { session, client, path, .. } in self.workspace.captures().take_unread() {
            if let Some(format) = TranscriptFormat::of_client(&client) {
                let spoken = TranscriptSource::Transcript { path: &path, format, last: "" };
                let turn =
                    Turn { client: &client, session: &session, transcript: spoken, may_ask: AskPolicy::No };
                // One that cannot be read keeps nobody from the others.
                outcome = outcome.and(self.stop(env, &turn).map(drop));
            }
        }
        outcome
    }

    /// Those of the full categories that nobody was told of yet. Once there was room in one, it is news again.
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
            // Where it cannot be remembered, the next session says it once more.
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

    fn spoken(&self, env: &Env, spoken: TranscriptSource<'_>) -> Result<Conversation, Failure> {
        match spoken {
            TranscriptSource::Last { assistant } => Ok(Conversation::from_texts(None, Some(assistant))),
            TranscriptSource::Transcript { path, format, last } => {
                let max_messages = self.workspace.policy.triage_max_messages();
                transcript::read(path, format, max_messages, &transcript::folders(env))
                    .map(|conversation| conversation.ending_with(last))
                    .map_err(|source| Failure::io("read the transcript", path, source))
            }
        }
    }

    /// What lorelane put into this session's prompts: nothing is learned from our own words.
    fn shown_in(&self, session: &str) -> Vec<String> {
        let lines = self.workspace.ledger().lines_of(session);
        let own = lines.iter().flat_map(|line| &line.shown);
        let addresses: BTreeSet<&Address> = own.map(|shown| &shown.address).take(SHOWN_MAX).collect();
        let memories = addresses.into_iter().filter_map(|address| self.workspace.load(address).ok());
        memories.flat_map(|loaded| briefing::said_of(&loaded.memory)).collect()
    }

    /// Looks for what a conversation leaves to be saved, as the project's settings say.
    pub fn triage(
        &mut self,
        conversation: Conversation,
        session: &str,
        shown: &[String],
    ) -> Result<TriageResult, Failure> {
        if !self.workspace.policy.triage_enabled() {
            return Ok(TriageResult::default());
        }
        let conversation = conversation.without_lines_of(shown);
        let threshold = |category| self.workspace.policy.triage_threshold(category);
        let assessment = triage::assess(&conversation, &NATIVE, &threshold);
        let mut triaged = TriageResult { activity: assessment.activity, ..TriageResult::default() };
        let marks =
            if assessment.findings.is_empty() { Marks::default() } else { self.workspace.recent_marks() };
        for finding in assessment.findings {
            let item = item(finding, session);
            if self.rejected_origin(&marks, &item).is_some() {
                continue;
            }
            if self.is_full(item.category)? {
                triaged.full.push(item);
            } else {
                triaged.items.push(item);
            }
        }
        Ok(triaged)
    }

    /// Sessions have a window of their own, which makes room by itself.
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

/// Says where items stand by lines, which people can look up. A transcript that is gone by now keeps its bytes.
fn number_lines(path: &Path, items: &mut [CapturedItem]) {
    let byte =
        |item: &CapturedItem| if let TranscriptPosition::Byte(byte) = item.origin.at { byte } else { 0 };
    let places: Vec<u64> = items.iter().map(byte).collect();
    let lines = transcript::lines_at(path, &places).unwrap_or_default();
    for (item, line) in items.iter_mut().zip(lines) {
        item.origin.at = line.map_or(item.origin.at, TranscriptPosition::Line);
    }
}

fn item(finding: TriageFinding, session: &str) -> CapturedItem {
    let TriageFinding { category, score, snippets, excerpt, at, words } = finding;
    let origin = Origin { session: session.to_owned(), at, words };
    CapturedItem { category, score, snippets, excerpt, origin, settled: false }
}
