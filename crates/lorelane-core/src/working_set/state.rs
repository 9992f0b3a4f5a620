//! The state of a session: what its events add up to.

use super::advice::{HotnessFactors, RECENT_TURNS};
use super::entry::{ColdAction, SetEntry};
use super::event::{EventKind, MemoryAction, SessionEvent, SetAction, Touch, TouchKind};
use super::protect::is_match;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that the log says about a session. Two logs with the same events give equal states.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    pub session: String,
    pub client: Option<String>,
    /// Messages of the user so far.
    pub turn: u32,
    /// The number of the last event.
    pub seq: u64,
    /// The newest change of the journal that the log knows.
    pub change: u64,
    pub started_at: Option<Timestamp>,
    pub last_event_at: Option<Timestamp>,
    pub is_closed: bool,
    pub max_tokens: Option<u64>,
    pub last_gc_turn: u32,
    pub last_gc_at: Option<Timestamp>,
    /// How far the transcript was read.
    pub read_to: u64,
    /// What the agent said for the next session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    pub files: BTreeMap<String, FileState>,
    /// Those of `files` that name a folder or a glob: looking for them among all files, for each file, is slow.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub patterns: BTreeSet<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileState {
    /// `None` if the file is not in the set.
    pub entry: Option<SetEntry>,
    /// Its entry before it left the set, for its return.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_entry: Option<SetEntry>,
    pub entered_turn: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evicted_turn: Option<u32>,
    /// Whether a collection took it out, and nobody added or removed it since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub collected: bool,
    /// Whether it was touched since a collection took it out: it is needed again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wanted: bool,
    pub pinned: bool,
    pub touches: u32,
    /// The turns of the last touches, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub touched_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mentioned_turn: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot: Option<AdviceNote>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold: Option<ColdNote>,
    /// The last decision about advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<MemoryAction>,
    /// The last summary of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Hot advice about a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdviceNote {
    pub why: String,
    pub turn: u32,
    pub at: Timestamp,
    pub weight: f64,
}

/// Cold advice about a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColdNote {
    pub why: String,
    pub turn: u32,
    pub at: Timestamp,
    pub action: ColdAction,
}

/// More touches of one file than any rule looks at.
const TOUCHES_MAX: usize = 16;

impl SessionState {
    pub fn of<'e>(events: impl IntoIterator<Item = &'e SessionEvent>) -> SessionState {
        let mut state = SessionState::default();
        events.into_iter().for_each(|event| state.apply(event));
        state
    }

    pub fn apply(&mut self, event: &SessionEvent) {
        self.seq = self.seq.max(event.seq);
        self.turn = self.turn.max(event.turn);
        self.change = self.change.max(event.change);
        self.last_event_at = Some(event.at);
        match &event.kind {
            EventKind::SessionStart { session_id, client, .. } => {
                if self.session != *session_id {
                    // Another session in the one folder of a flat root: it has a transcript of its own.
                    (self.read_to, self.said) = (0, None);
                }
                self.session.clone_from(session_id);
                self.client.clone_from(client);
                self.started_at.get_or_insert(event.at);
                self.is_closed = false;
            }
            EventKind::SessionEnd { .. } => self.is_closed = true,
            EventKind::ModelTurn { touches, read_to } => {
                self.read_to = read_to.unwrap_or(self.read_to);
                touches.iter().for_each(|touch| self.touch(touch, event));
            }
            EventKind::WorkingSetUpdate { action, files, paths, max_tokens, .. } => {
                self.max_tokens = max_tokens.or(self.max_tokens);
                files.iter().for_each(|entry| self.enter(entry, event.turn));
                paths.iter().for_each(|path| self.update(*action, path, event.turn));
            }
            EventKind::CacheAdvice { hot, cold, dropped, memory_actions, .. } => {
                for path in dropped {
                    let file = self.file(path);
                    (file.hot, file.cold) = (None, None);
                }
                for advice in hot {
                    let (why, weight) = (advice.why.clone(), advice.weight);
                    self.file(&advice.path).hot =
                        Some(AdviceNote { why, turn: event.turn, at: event.at, weight });
                }
                for advice in cold {
                    let (why, action) = (advice.why.clone(), advice.suggested_action);
                    self.file(&advice.path).cold =
                        Some(ColdNote { why, turn: event.turn, at: event.at, action });
                }
                for action in memory_actions {
                    self.file(&action.path).decision = Some(action.clone());
                }
            }
            EventKind::GcRun { report, .. } => {
                (self.last_gc_turn, self.last_gc_at) = (event.turn, Some(event.at));
                for action in report.iter().filter(|action| action.action != "deferred") {
                    let file = self.file(&action.path);
                    file.leave(event.turn);
                    file.collected = true;
                    file.summary = action.summary.clone().or(file.summary.take());
                }
            }
            EventKind::SummaryCreated { path, sources, .. } => {
                for source in sources {
                    self.file(source).summary = Some(path.clone());
                }
            }
            EventKind::SummaryLinks { links, .. } => {
                for link in links {
                    self.file(&link.path).summary.clone_from(&link.summary);
                }
            }
            EventKind::Handover { text, .. } if !text.is_empty() => self.said = Some(text.clone()),
            EventKind::ContextAssembly { .. }
            | EventKind::Undone { .. }
            | EventKind::Handover { .. }
            | EventKind::Recovery { .. }
            | EventKind::Warning { .. }
            | EventKind::Other => {}
        }
    }

    fn file(&mut self, path: &str) -> &mut FileState {
        // Looked up first: most events name known files, and an entry needs its own string.
        if !self.files.contains_key(path) {
            self.files.insert(path.to_owned(), FileState::default());
            if path.contains(['*', '?', '[']) || path.ends_with('/') {
                self.patterns.insert(path.to_owned());
            }
        }
        self.files.get_mut(path).expect("it was just added")
    }

    fn enter(&mut self, entry: &SetEntry, turn: u32) {
        let file = self.file(&entry.path);
        if file.entry.is_none() {
            file.entered_turn = turn;
        }
        file.entry = Some(entry.clone());
        (file.collected, file.wanted) = (false, false);
    }

    fn update(&mut self, action: SetAction, path: &str, turn: u32) {
        let file = self.file(path);
        match action {
            SetAction::Pin => file.pinned = true,
            SetAction::Unpin => file.pinned = false,
            SetAction::Remove | SetAction::Sync => file.leave(turn),
            SetAction::Add | SetAction::Restore | SetAction::Budget => {}
        }
    }

    fn touch(&mut self, touch: &Touch, event: &SessionEvent) {
        let file = self.file(&touch.path);
        file.touches += 1;
        file.touched_at = Some(event.at);
        file.wanted = file.collected;
        file.touched.push(event.turn);
        if file.touched.len() > TOUCHES_MAX {
            file.touched.remove(0);
        }
        if touch.by == TouchKind::Mention {
            file.mentioned_turn = Some(event.turn);
        }
    }

    /// Cold advice about a folder or a glob that this path is part of.
    pub fn cold_pattern(&self, path: &str) -> Option<&ColdNote> {
        let named = self.patterns.iter().filter(|pattern| is_match(pattern, path));
        // A file that was in the set is that file, whatever its name looks like: `app/[id]/page.tsx`.
        let is_pattern =
            |file: &&FileState| file.entry.is_none() && file.last_entry.is_none() && file.touches == 0;
        let notes = named.filter_map(|pattern| self.files.get(pattern)).filter(is_pattern);
        // What left since has followed the advice; if it came back, somebody wants it.
        let left = self.files.get(path).and_then(|file| file.evicted_turn);
        notes
            .into_iter()
            .filter_map(|file| file.cold.as_ref())
            .find(|note| left.is_none_or(|turn| turn < note.turn))
    }

    /// The files that are in the set, by path.
    pub fn set(&self) -> impl Iterator<Item = (&str, &FileState, &SetEntry)> {
        self.files.iter().filter_map(|(path, file)| Some((path.as_str(), file, file.entry.as_ref()?)))
    }
}

impl FileState {
    fn leave(&mut self, turn: u32) {
        self.last_entry = self.entry.take().or(self.last_entry.take());
        self.evicted_turn = Some(turn);
        (self.collected, self.wanted) = (false, false);
    }

    /// Touches in the last turns, this one included.
    pub fn recent_touches(&self, turn: u32) -> u32 {
        let is_recent = |touched: &&u32| turn.saturating_sub(**touched) < RECENT_TURNS;
        self.touched.iter().filter(is_recent).count() as u32
    }

    pub fn last_touch(&self) -> Option<u32> {
        self.touched.last().copied()
    }

    pub fn hotness(&self, turn: u32) -> HotnessFactors {
        HotnessFactors::new(self.recent_touches(turn), self.entry.is_some(), self.hot.is_some(), self.pinned)
    }
}
