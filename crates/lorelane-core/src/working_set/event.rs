//! What happens in a session, one value per event of the log.

use super::entry::{ColdAction, SetEntry};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// An event with its place in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionEvent {
    #[serde(rename = "timestamp")]
    pub at: Timestamp,
    #[serde(default)]
    pub seq: u64,
    /// The user's messages so far.
    #[serde(default)]
    pub turn: u32,
    /// The newest change in the journal of the session folder. A decision whose event a crash kept out of the log
    /// is recognized by it.
    #[serde(default)]
    pub change: u64,
    /// The digest of the event before, so that an edit of the log shows.
    #[serde(default)]
    pub prev: String,
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Who caused an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventAuthor {
    User,
    Model,
    /// lorelane itself, by its rules.
    #[default]
    Orchestrator,
    /// Somebody edited the file.
    File,
    Undo,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SetAction {
    #[default]
    Add,
    Remove,
    Pin,
    Unpin,
    Budget,
    Restore,
    /// The files differ from what the log says: they are right.
    Sync,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TouchKind {
    Read,
    Write,
    /// A search hit that was opened.
    Opened,
    /// The user named the file.
    Mention,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    pub path: String,
    pub by: TouchKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HotAdvice {
    pub path: String,
    pub why: String,
    /// Below 1 for the lower tiers of an older dialect.
    #[serde(default = "full", skip_serializing_if = "is_full")]
    pub weight: f64,
}

fn full() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_full(weight: &f64) -> bool {
    *weight >= 1.0
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColdAdvice {
    pub path: String,
    pub why: String,
    #[serde(default)]
    pub suggested_action: ColdAction,
}

/// The answer to advice about one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryAction {
    pub path: String,
    /// `null` if the agent did not mention the file.
    pub model_suggested: Option<String>,
    pub action_taken: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a garbage collection did with one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GcActionRecord {
    pub path: String,
    pub action: String,
    /// The summary that replaces it.
    #[serde(default)]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The summary that a file's sidecar links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryLink {
    pub path: String,
    #[serde(default)]
    pub summary: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind {
    SessionStart {
        #[serde(default)]
        session_id: String,
        #[serde(default)]
        protocol: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
    },
    SessionEnd {
        #[serde(default)]
        session_id: String,
        #[serde(default)]
        reason: String,
    },
    /// One message of the user, and what was touched until then.
    ModelTurn {
        #[serde(default)]
        touches: Vec<Touch>,
        /// How far the transcript was read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        read_to: Option<u64>,
    },
    WorkingSetUpdate {
        #[serde(default)]
        action: SetAction,
        #[serde(default)]
        by: EventAuthor,
        #[serde(default)]
        why: String,
        /// Entries that are new or different.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<SetEntry>,
        /// Paths that left the set, or that were pinned or unpinned.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_tokens: Option<u64>,
    },
    CacheAdvice {
        #[serde(default)]
        by: EventAuthor,
        #[serde(default)]
        why: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hot: Vec<HotAdvice>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cold: Vec<ColdAdvice>,
        /// Paths that are on no list any more.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dropped: Vec<String>,
        #[serde(default)]
        memory_actions: Vec<MemoryAction>,
    },
    GcRun {
        #[serde(default)]
        trigger: String,
        #[serde(default)]
        why: String,
        #[serde(default)]
        freed_tokens: u64,
        #[serde(default)]
        files_affected: usize,
        #[serde(default)]
        report: Vec<GcActionRecord>,
    },
    SummaryCreated {
        #[serde(default)]
        path: String,
        #[serde(default)]
        why: String,
        #[serde(default)]
        sources: Vec<String>,
        #[serde(default)]
        style: String,
        #[serde(default)]
        generator: String,
    },
    ContextAssembly {
        #[serde(default)]
        budget: u64,
        #[serde(default)]
        used: u64,
        #[serde(default)]
        why: String,
    },
    /// A hand-over was said by the agent, written, or given to a session.
    Handover {
        #[serde(default)]
        path: String,
        #[serde(default)]
        action: String,
        /// What the agent said.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// The newest change was undone; what it changed of the set follows in events of its own.
    Undone {
        /// Its number in the journal.
        #[serde(default)]
        number: u64,
        #[serde(default)]
        what: String,
    },
    /// Sidecars link another summary than the log says: they are right.
    SummaryLinks {
        #[serde(default)]
        by: EventAuthor,
        #[serde(default)]
        links: Vec<SummaryLink>,
    },
    /// A broken file was renamed, and a minimal one written.
    Recovery {
        #[serde(default)]
        path: String,
        #[serde(default)]
        problem: String,
        #[serde(default)]
        renamed_to: String,
    },
    Warning {
        #[serde(default)]
        code: String,
        #[serde(default)]
        message: String,
    },
    /// An event of another program.
    #[serde(other)]
    Other,
}

impl EventKind {
    /// The header of the event in the log.
    pub fn title(&self) -> String {
        match self {
            EventKind::SessionStart { .. } => "Session start".to_owned(),
            EventKind::SessionEnd { .. } => "Session end".to_owned(),
            EventKind::ModelTurn { touches, .. } => match touches.len() {
                0 => "Turn".to_owned(),
                1 => "Turn: 1 touch".to_owned(),
                count => format!("Turn: {count} touches"),
            },
            EventKind::WorkingSetUpdate { action, by, files, paths, .. } => {
                let named: Vec<&str> = files
                    .iter()
                    .map(|file| file.path.as_str())
                    .chain(paths.iter().map(String::as_str))
                    .collect();
                let did = match (action, by) {
                    (SetAction::Sync, EventAuthor::Undo) => "as before:",
                    (action, _) => set_action(*action),
                };
                format!("Working set: {did}{}", listed(&named))
            }
            EventKind::CacheAdvice { hot, cold, .. } => {
                format!("Advice: {} hot, {} cold", hot.len(), cold.len())
            }
            EventKind::GcRun { trigger, files_affected, freed_tokens, .. } => {
                let files = if *files_affected == 1 { "file" } else { "files" };
                format!(
                    "Garbage collection ({}): {files_affected} {files}, {freed_tokens} tokens freed",
                    one_word(trigger)
                )
            }
            EventKind::SummaryCreated { path, .. } => format!("Summary: {}", one_word(path)),
            EventKind::ContextAssembly { used, budget, .. } => {
                format!("Context assembly: {used} of {budget} tokens")
            }
            EventKind::Handover { action, .. } => format!("Hand-over {action}"),
            EventKind::Undone { number, .. } => format!("Undone: change {number}"),
            EventKind::SummaryLinks { links, .. } => match links.as_slice() {
                [one] => format!("Summary link of {}", one_word(&one.path)),
                links => format!("Summary links of {} files", links.len()),
            },
            EventKind::Recovery { path, .. } => format!("Recovery: {}", one_word(path)),
            EventKind::Warning { code, .. } => format!("Warning: {}", one_word(code)),
            EventKind::Other => "Event".to_owned(),
        }
    }

    /// The reason, as its author gave it.
    pub fn why(&self) -> &str {
        match self {
            EventKind::WorkingSetUpdate { why, .. }
            | EventKind::CacheAdvice { why, .. }
            | EventKind::GcRun { why, .. }
            | EventKind::SummaryCreated { why, .. }
            | EventKind::ContextAssembly { why, .. } => why,
            EventKind::SessionEnd { reason, .. } => reason,
            EventKind::Undone { what, .. } => what,
            EventKind::Recovery { problem, .. } => problem,
            EventKind::Warning { message, .. } => message,
            _ => "",
        }
    }
}

fn set_action(action: SetAction) -> &'static str {
    match action {
        SetAction::Add => "added",
        SetAction::Remove => "removed",
        SetAction::Pin => "pinned",
        SetAction::Unpin => "unpinned",
        SetAction::Budget => "budget changed",
        SetAction::Restore => "restored",
        SetAction::Sync => "read from the files",
    }
}

fn listed(paths: &[&str]) -> String {
    match paths {
        [] => String::new(),
        [one] => format!(" {}", one_word(one)),
        [first, rest @ ..] => format!(" {} and {} more", one_word(first), rest.len()),
    }
}

/// A name from outside, on one line.
fn one_word(name: &str) -> String {
    crate::text::cut(&crate::text::one_line(name), 120)
}
