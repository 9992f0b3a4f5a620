//! Where a lane's documents are kept: the only interface between lorelane and its storage.
//!
//! A document is bytes under a path. A backend lists and reads documents, commits edits atomically, and keeps a
//! log of changes that can be undone. It knows nothing about memories, dialects or indexes.
//!
//! [`Store`](crate::store::Store) keeps documents as files and is what ships; [`MemoryBackend`] keeps them in
//! memory. `tests/it/backend.rs` has the tests that every backend must pass.

mod error;
mod log;
mod memory;

pub(crate) use error::LOCK_FOLDER;
pub use error::{LockHolders, StoreError, Warning};
pub use log::{ChangeState, ChangedDocument, Digest, ExternalChanges, LogEntry, LogFault, LogTail, NextUndo};
pub use memory::MemoryBackend;

use crate::disk::{DirEntry, FileType, Stat};
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;

/// The name of the marks file, as shown to users.
pub(crate) const MARKS_FILE: &str = "marks.jsonl";

/// Something a change can touch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeTarget {
    Lane(RelPath),
    Marks,
}

impl ChangeTarget {
    pub fn lane_path(&self) -> Option<RelPath> {
        match self {
            ChangeTarget::Lane(path) => Some(path.clone()),
            ChangeTarget::Marks => None,
        }
    }
}

/// One edit. The edits of a change are applied together or not at all.
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
    /// What the change was planned on. If the document is different now, the change is refused.
    Expect {
        path: RelPath,
        bytes: Option<Vec<u8>>,
    },
    /// Appends whole lines to the marks file; a missing final newline is added.
    Mark {
        lines: Vec<u8>,
    },
}

/// What a commit did, with its number in the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitReceipt {
    /// `None` if nothing had to be changed.
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

/// What has to be erased from every part of a backend.
pub struct ErasePredicate<'u> {
    pub is_path: &'u dyn Fn(&RelPath) -> bool,
    /// For a path that belongs to another document now: the path that document was moved from. Only changes up to
    /// that move count.
    pub until_left: &'u dyn Fn(&RelPath) -> Option<RelPath>,
    /// Whether a version of another document has lines about it.
    pub in_document: &'u dyn Fn(&RelPath, &[u8]) -> bool,
    /// Whether the reason of a change mentions it.
    pub in_reason: &'u dyn Fn(&str) -> bool,
    /// The marks without it, and how many lines were removed.
    pub without: &'u RedactBytes<'u>,
}

/// Maps the bytes of a file to those that may stay, and the number of lines removed.
pub type RedactBytes<'u> = dyn Fn(&[u8]) -> (Vec<u8>, usize) + 'u;

impl fmt::Debug for ErasePredicate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unwanted").finish_non_exhaustive()
    }
}

/// Storage for one lane. Readers never wait for a writer, and see each document as before or after a change, never
/// torn.
pub trait Backend: fmt::Debug + Send + Sync {
    /// The entries of a folder; `""` is the lane's root. `None` if the folder does not exist.
    fn list(&self, folder: &str) -> io::Result<Option<Vec<DirEntry>>>;

    /// Passes on each entry of a folder, in any order. Returns whether the folder exists.
    fn each_entry(&self, folder: &str, each: &mut dyn FnMut(&str, FileType)) -> io::Result<bool> {
        let Some(listed) = self.list(folder)? else { return Ok(false) };
        listed.iter().for_each(|entry| each(&entry.name, entry.kind));
        Ok(true)
    }

    /// Size and mtime of a document or folder, to tell whether it changed. Links are not followed.
    fn stat(&self, path: &str) -> io::Result<Option<Stat>>;

    /// The bytes of a document. Anything larger, or that is not a document, is an error.
    fn read(&self, path: &RelPath, max_bytes: u64) -> io::Result<Option<Vec<u8>>>;

    /// The bytes of a document, with its stat from before they were read: a later change shows in the next stat.
    fn read_with_stat(&self, path: &RelPath, max_bytes: u64) -> io::Result<Option<(Vec<u8>, Stat)>>;

    /// The lines of the marks file; with a limit, only the last whole lines within it.
    fn marks(&self, limit: Option<u64>) -> Result<Vec<u8>, StoreError>;

    /// The size of the marks file in bytes.
    fn marks_size(&self) -> Option<u64>;

    /// Lanes with the same key share their marks.
    fn marks_key(&self) -> String;

    /// The clock that sets mtimes, for comparing with [`Stat::mtime_ns`].
    fn now_ns(&self) -> i64;

    /// Locks the lane for writing, and settles a change that an interrupted writer left.
    fn begin(&self) -> Result<Box<dyn Transaction + '_>, StoreError>;

    fn log(&self) -> &dyn ChangeLog;
}

/// A write transaction: the lane stays locked until it is dropped.
pub trait Transaction: Erase + fmt::Debug {
    /// Applies all edits or none. Several edits of one path are applied in order.
    fn apply(&mut self, edits: Vec<Edit>, because: &str, now: Timestamp)
    -> Result<CommitReceipt, StoreError>;

    /// Reverts the newest change that is not undone yet. This is a change too, with its own log entry.
    fn undo(&mut self, now: Timestamp) -> Result<CommitReceipt, StoreError>;

    /// Orders the next change after those of other lanes; `order` is the newest of them.
    fn comes_after(&mut self, order: u64);

    /// The highest order of any lane's changes that this writer knows.
    fn order(&self) -> u64;

    /// Warnings from opening this transaction.
    fn warnings(&self) -> &[Warning];

    /// What recovery touched when this transaction began; the index may not know yet.
    fn recovered(&self) -> &[ChangeTarget];

    /// Logs that something was erased. Undo skips such an entry. Returns its number.
    fn log_erasure(&mut self, because: &str, now: Timestamp) -> Result<u64, StoreError>;

    /// Voids that entry: nothing was erased.
    fn unlog_erasure(&mut self);

    /// Marks the change as done in the log. Call it after the index is updated.
    fn finish(self: Box<Self>) -> Result<(), StoreError>;
}

/// Erases something from a backend, with its traces. Every step can be repeated after a crash.
pub trait Erase {
    /// The number of the newest change in the log.
    fn newest(&self) -> u64;

    /// Whether a part of the log cannot be reached now, so that nothing can be erased completely.
    fn uses_fallback_journal(&self) -> bool;

    /// Whether this writer has erased anything yet.
    fn has_erased(&self) -> bool;

    /// Removes documents without keeping their bytes anywhere. Returns how many there were.
    fn erase_documents(&self, paths: &BTreeSet<RelPath>) -> Result<usize, StoreError>;

    /// Rewrites a document without keeping its bytes anywhere. Returns how many lines were removed.
    fn erase_lines(&self, path: &RelPath, without: &RedactBytes<'_>) -> Result<usize, StoreError>;

    /// Erases names, contents and reasons from the log. Returns how many blobs were erased.
    fn erase_from_log(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError>;

    /// Erases matching lines from the marks. Returns how many.
    fn erase_from_marks(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError>;
}

/// The log of changes.
pub trait ChangeLog {
    /// The newest changes, newest first, and how many there are.
    fn recent(&self, limit: usize) -> Result<LogTail, StoreError>;

    /// What `undo` would do now.
    fn next_undo(&self) -> Result<NextUndo, StoreError>;

    /// The order of this lane's newest change among those of all lanes.
    fn newest_order(&self) -> Result<u64, StoreError>;

    /// The bytes that the last changes of these paths wrote; a path whose last change removed it has none.
    fn last_writes(&self, paths: &[&RelPath]) -> Result<BTreeMap<RelPath, Vec<u8>>, StoreError>;

    /// Documents that differ from what the log says.
    fn outside(&self) -> Result<ExternalChanges, StoreError>;

    /// How many blobs of the log match, and how many lines of the marks.
    fn count_in_log(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError>;
    fn count_in_marks(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError>;

    /// When the log was last written, on the clock of [`Backend::now_ns`].
    fn written_ns(&self) -> Option<i64>;

    /// Faults of the log itself.
    fn verify(&self) -> Vec<LogFault>;
}

/// Why there is no change to undo.
pub fn nothing_left(passed_over: &[Warning]) -> StoreError {
    match passed_over.first() {
        Some(Warning::PassedOver { path, .. }) => StoreError::OnlyDeleted { path: path.clone() },
        _ => StoreError::NothingToUndo,
    }
}

/// The last whole lines of a text, at most this many bytes.
pub(crate) fn last_lines(text: Vec<u8>, max_bytes: usize) -> Vec<u8> {
    let Some(start) = text.len().checked_sub(max_bytes).filter(|start| *start > 0) else { return text };
    // A line is whole if one ends just before it.
    let end = text[start - 1..].iter().position(|byte| *byte == b'\n');
    let whole = end.map_or(text.len(), |end| start + end);
    text[whole..].to_vec()
}
