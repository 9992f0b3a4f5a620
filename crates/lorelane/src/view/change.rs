//! Receipts, the log, and the next change that `undo` would revert.

use super::texts;
use lorelane_core::change::{Effect, Notice, Outcome, Receipt};
use lorelane_engine::backend::{ChangeState as Settled, LogFault};
use lorelane_engine::workspace::LaneLogEntry;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct ReceiptView<'r> {
    receipt: Option<u64>,
    at: String,
    dry_run: bool,
    outcomes: Vec<OutcomeView<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<String>,
}

#[derive(Debug, Serialize)]
struct OutcomeView<'r> {
    did: &'static str,
    address: String,
    path: &'r str,
    title: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed_from: Option<String>,
}

impl<'r> ReceiptView<'r> {
    pub fn of(receipt: &'r Receipt, dry_run: bool) -> ReceiptView<'r> {
        ReceiptView {
            receipt: receipt.number,
            at: receipt.at.to_string(),
            dry_run,
            outcomes: receipt.outcomes.iter().map(OutcomeView::of).collect(),
            notices: receipt.notices.iter().map(Notice::text).collect(),
        }
    }
}

impl<'r> OutcomeView<'r> {
    fn of(outcome: &'r Outcome) -> OutcomeView<'r> {
        let (did, renamed_from) = match &outcome.effect {
            Effect::Created => ("created", None),
            Effect::Revised { renamed_from, .. } => ("updated", renamed_from.as_ref()),
            Effect::Transitioned { to, .. } => (to.name(), None),
            Effect::Already(_) => ("unchanged", None),
            Effect::Deleted => ("deleted", None),
            Effect::Marked(kind) => (kind.name(), None),
            Effect::Undone => ("undone", None),
        };
        OutcomeView {
            did,
            address: outcome.address.to_string(),
            path: outcome.path.as_str(),
            title: &outcome.title,
            renamed_from: renamed_from.map(|(old, _)| old.to_string()),
        }
    }
}

/// The document when `gc` found nothing: there is no receipt.
#[derive(Debug, Default, Serialize)]
pub struct NoGarbageView {
    receipt: Option<u64>,
    outcomes: [(); 0],
}

#[derive(Debug, Serialize)]
pub struct LogView<'l> {
    total: usize,
    changes: Vec<LogEntryView<'l>>,
}

#[derive(Debug, Serialize)]
struct LogEntryView<'l> {
    number: u64,
    lane: &'static str,
    at: String,
    because: Option<&'l str>,
    outcome: &'static str,
    undone: bool,
    undoes: Option<u64>,
    files: Vec<Option<String>>,
}

impl<'l> LogView<'l> {
    pub fn of(logged: &'l [LaneLogEntry], total: usize) -> LogView<'l> {
        LogView { total, changes: logged.iter().map(LogEntryView::of).collect() }
    }
}

impl<'l> LogEntryView<'l> {
    fn of(LaneLogEntry { lane, entry }: &'l LaneLogEntry) -> LogEntryView<'l> {
        LogEntryView {
            number: entry.number,
            lane: lane.name(),
            at: entry.at.to_string(),
            because: entry.because.as_deref(),
            outcome: match entry.outcome {
                Settled::Done => "done",
                Settled::Void => "void",
                Settled::Open => "open",
            },
            undone: entry.undone,
            undoes: entry.undoes,
            files: entry
                .changes
                .iter()
                .map(|changed| changed.place.as_ref().map(ToString::to_string))
                .collect(),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct LogCheckView {
    holds: bool,
    faults: Vec<String>,
}

impl LogCheckView {
    pub fn of(faults: &[LogFault]) -> LogCheckView {
        LogCheckView { holds: faults.is_empty(), faults: texts(faults) }
    }
}

#[derive(Debug, Serialize)]
pub struct NextUndoView<'l> {
    would_undo: u64,
    lane: &'static str,
    because: &'l str,
}

impl<'l> NextUndoView<'l> {
    pub fn of(LaneLogEntry { lane, entry }: &'l LaneLogEntry) -> NextUndoView<'l> {
        let because = entry.because.as_deref().unwrap_or("(purged)");
        NextUndoView { would_undo: entry.number, lane: lane.name(), because }
    }
}
