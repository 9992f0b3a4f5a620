//! Where the documents of a lane are kept: the one seam between lorelane and whatever stores them.
//!
//! A document is bytes under a path. A backend lists and reads documents, commits edits of them all or none, and keeps
//! a log that can be undone. It knows nothing of memories, dialects or indexes.
//!
//! [`Store`](crate::store::Store) keeps documents as files and is what ships; [`MemoryBackend`] keeps them in memory.
//! `tests/it/backend.rs` has the story that every backend passes.

mod error;
mod log;
mod memory;

pub(crate) use error::LOCK_FOLDER;
pub use error::{LockHolders, StoreError, Warning};
pub use log::{ChangeState, ChangedDocument, Digest, ExternalChanges, LogEntry, LogFault, LogTail, NextUndo};
pub use memory::MemoryBackend;

use crate::disk::{DirEntry, Stat};
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;

/// The name of the marks, as people know it.
pub(crate) const MARKS_FILE: &str = "marks.jsonl";

/// Something a change can touch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeTarget {
    Lane(RelPath),
    Marks,
}

impl ChangeTarget {
    /// The path of a file in the lane.
    pub fn lane_path(&self) -> Option<RelPath> {
        match self {
            ChangeTarget::Lane(path) => Some(path.clone()),
            ChangeTarget::Marks => None,
        }
    }
}

/// One wanted difference. Edits of one change are made together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    Put {
        path: RelPath,
        bytes: Vec<u8>,
    },
    Remove {
        path: RelPath,
    },
    Append {
        path: RelPath,
        bytes: Vec<u8>,
    },
    /// Appends whole lines to the marks file; a missing last line end is added.
    Mark {
        lines: Vec<u8>,
    },
}

/// What was done, by the number under which the journal knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitReceipt {
    /// `None` when the files already were as wanted, so that nothing had to be done.
    pub number: Option<u64>,
    pub changes: Vec<ChangeTarget>,
    pub warnings: Vec<Warning>,
}

impl fmt::Display for ChangeTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeTarget::Lane(path) => path.fmt(f),
            ChangeTarget::Marks => f.write_str(MARKS_FILE),
        }
    }
}

/// What shall be in no part of a backend any more.
pub struct ErasePredicate<'u> {
    pub is_path: &'u dyn Fn(&RelPath) -> bool,
    /// For a path that belongs to something else since: the place that had to be left for that. Only what came
    /// before counts.
    pub until_left: &'u dyn Fn(&RelPath) -> Option<RelPath>,
    /// Whether the reason of a change speaks of it.
    pub in_reason: &'u dyn Fn(&str) -> bool,
    /// The marks without it, and how many lines that changed.
    pub without: &'u RedactBytes<'u>,
}

/// From the bytes of a file to those that may stay, and how many lines that changed.
pub type RedactBytes<'u> = dyn Fn(&[u8]) -> (Vec<u8>, usize) + 'u;

impl fmt::Debug for ErasePredicate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unwanted").finish_non_exhaustive()
    }
}

/// Readers never wait for a writer and see each document as it was before or after a change, never torn.
pub trait Backend: fmt::Debug + Send + Sync {
    /// What is in a folder; `""` is the lane's own. `None` for a folder that does not exist.
    fn list(&self, folder: &str) -> io::Result<Option<Vec<DirEntry>>>;

    /// What tells whether a document, or what is in a folder, changed since it was last looked at. Links are not
    /// followed.
    fn stat(&self, path: &str) -> io::Result<Option<Stat>>;

    /// The bytes of a document; anything larger, or that is no document, is an error.
    fn read(&self, path: &RelPath, max_bytes: u64) -> io::Result<Option<Vec<u8>>>;

    /// The lines of the marks. With a limit only the last whole lines within it.
    fn marks(&self, limit: Option<u64>) -> Result<Vec<u8>, StoreError>;

    /// How many bytes of marks there are.
    fn marks_size(&self) -> Option<u64>;

    /// Lanes with the same key share their marks.
    fn marks_key(&self) -> String;

    /// The clock that stamps documents, for comparing with [`Stat::mtime_ns`].
    fn now_ns(&self) -> i64;

    /// Locks the lane for writing, and settles what an interrupted writer left.
    fn begin(&self) -> Result<Box<dyn Transaction + '_>, StoreError>;

    fn log(&self) -> &dyn ChangeLog;
}

/// One writer's turn.
pub trait Transaction: Erase + fmt::Debug {
    /// Makes all edits or none. Edits of the same path follow one another.
    fn apply(&mut self, edits: Vec<Edit>, because: &str, now: Timestamp)
    -> Result<CommitReceipt, StoreError>;

    /// Reverts the newest change that is not undone yet; itself a change with a receipt.
    fn undo(&mut self, now: Timestamp) -> Result<CommitReceipt, StoreError>;

    /// Puts the next change behind those of other lanes; `order` is the newest of them.
    fn comes_after(&mut self, order: u64);

    /// The newest place among the changes of all lanes, as far as this writer knows.
    fn order(&self) -> u64;

    /// What the user should hear about how this transaction began.
    fn warnings(&self) -> &[Warning];

    /// What settling an interrupted change touched: the index may not know it yet.
    fn recovered(&self) -> &[ChangeTarget];

    /// Logs that something was erased, which no undo takes back. Returns its number.
    fn log_erasure(&mut self, because: &str, now: Timestamp) -> Result<u64, StoreError>;

    /// Takes that line back: nothing was erased.
    fn unlog_erasure(&mut self);

    /// Says in the log that everything is in place. Call it when the index knows the change.
    fn finish(self: Box<Self>) -> Result<(), StoreError>;
}

/// Taking something out of a backend for good, with its traces. Every step can be done again after a crash.
pub trait Erase {
    /// The newest change that the log knows.
    fn newest(&self) -> u64;

    /// Whether a part of the log is out of reach now, so that nothing can be erased for good.
    fn uses_fallback_journal(&self) -> bool;

    /// Whether this writer has erased anything for good.
    fn has_erased(&self) -> bool;

    /// Removes documents without keeping their bytes anywhere. Returns how many there were.
    fn erase_documents(&self, paths: &BTreeSet<RelPath>) -> Result<usize, StoreError>;

    /// Erases what the log holds of it: names, contents, reasons. Returns how many pieces were erased.
    fn erase_from_log(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError>;

    /// The same for the marks; returns how many lines.
    fn erase_from_marks(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError>;
}

/// What was changed, newest first.
pub trait ChangeLog {
    /// The newest changes, and how many there are.
    fn recent(&self, limit: usize) -> Result<LogTail, StoreError>;

    /// What an undo would do.
    fn next_undo(&self) -> Result<NextUndo, StoreError>;

    /// The place of this lane's newest change among those of all lanes.
    fn newest_order(&self) -> Result<u64, StoreError>;

    /// What the last changes of these paths left there; nothing for a path where that was nothing.
    fn last_writes(&self, paths: &[&RelPath]) -> Result<BTreeMap<RelPath, Vec<u8>>, StoreError>;

    /// Documents that are not as the log left them.
    fn outside(&self) -> Result<ExternalChanges, StoreError>;

    /// How much the log holds of it, and how many lines of the marks.
    fn count_in_log(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError>;
    fn count_in_marks(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError>;

    /// When it was last written, on the clock of [`Backend::now_ns`].
    fn written_ns(&self) -> Option<i64>;

    /// What is wrong with the log itself.
    fn verify(&self) -> Vec<LogFault>;
}

/// Why there is no change to undo.
pub fn nothing_left(passed_over: &[Warning]) -> StoreError {
    match passed_over.first() {
        Some(Warning::PassedOver { path, .. }) => StoreError::OnlyDeleted { path: path.clone() },
        _ => StoreError::NothingToUndo,
    }
}

/// The last whole lines of a text that are no longer than this together.
pub(crate) fn last_lines(text: Vec<u8>, max_bytes: usize) -> Vec<u8> {
    let Some(start) = text.len().checked_sub(max_bytes).filter(|start| *start > 0) else { return text };
    // A line is whole if one ends just before it.
    let end = text[start - 1..].iter().position(|byte| *byte == b'\n');
    let whole = end.map_or(text.len(), |end| start + end);
    text[whole..].to_vec()
}
