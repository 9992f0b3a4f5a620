//! The stop hook: triage of a session, its capture file, and the request to save.

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

/// The outcome of a triage, ready for [`Captures::save`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriageResult {
    pub activity: Activity,
    pub items: Vec<CapturedItem>,
    /// Items of full categories, kept until there is room. They are mentioned in the session's one request.
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
    /// Only the last message, for clients whose transcript cannot be read.
    Last { assistant: &'a str },
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
    /// Saves what triage finds in a session, and returns what to say about it. The agent is asked at most once per
    /// session.
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
        let conversation = self.read_conversation(env, turn.transcript)?;
        let (conversation, until) = match turn.transcript {
            TranscriptSource::Transcript { .. } => {
                let until = conversation.messages.last().map(|message| message.at);
                (conversation.after(capture.until), until)
            }
            // A single message has no position in a transcript.
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

    fn read_conversation(&self, env: &Env, source: TranscriptSource<'_>) -> Result<Conversation, Failure> {
        match source {
            TranscriptSource::Last { assistant } => Ok(Conversation::from_texts(None, Some(assistant))),
            TranscriptSource::Transcript { path, format, last } => {
                let max_messages = self.workspace.policy.triage_max_messages();
                transcript::read(path, format, max_messages, &transcript::folders(env))
                    .map(|conversation| conversation.ending_with(last))
                    .map_err(|source| Failure::io("read the transcript", path, source))
            }
        }
    }

    /// The texts that lorelane injected into this session. Triage ignores them: a memory must not be captured
    /// again because it was shown.
    fn shown_in(&self, session: &str) -> Vec<String> {
        let lines = self.workspace.ledger().lines_of(session);
        let own = lines.iter().flat_map(|line| &line.shown);
        let addresses: BTreeSet<&Address> = own.map(|shown| &shown.address).take(SHOWN_MAX).collect();
        let memories = addresses.into_iter().filter_map(|address| self.workspace.load(address).ok());
        memories.flat_map(|loaded| briefing::said_of(&loaded.memory)).collect()
    }

    /// Scores a conversation with the project's thresholds and returns what is worth saving.
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

fn item(finding: TriageFinding, session: &str) -> CapturedItem {
    let TriageFinding { category, score, snippets, excerpt, at, words } = finding;
    let origin = Origin { session: session.to_owned(), at, words };
    CapturedItem { category, score, snippets, excerpt, origin, settled: false }
}
