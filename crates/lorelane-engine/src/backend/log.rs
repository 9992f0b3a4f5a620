//! The log's types: entries, what an undo would do, and faults.

use super::{ChangeTarget, StoreError, Warning};
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// One change in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    pub number: u64,
    pub undoes: Option<u64>,
    /// The reason of the change that this one undoes; `None` once erased.
    pub undid: Option<String>,
    /// Whether a later change undoes this one.
    pub undone: bool,
    pub at: Timestamp,
    /// Its order among the changes of all lanes; 0 if unknown.
    pub order: u64,
    /// `None` once erased.
    pub because: Option<String>,
    pub changes: Vec<ChangedDocument>,
    pub outcome: ChangeState,
}

/// The end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTail {
    /// Newest first.
    pub entries: Vec<LogEntry>,
    /// Number of changes in all.
    pub total: usize,
}

/// What `undo` would do.
#[derive(Debug, Default)]
pub struct NextUndo {
    /// The change it would revert.
    pub entry: Option<LogEntry>,
    /// Why it would be rejected.
    pub refused: Option<StoreError>,
    /// Newer changes that it skips.
    pub passed_over: Vec<Warning>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedDocument {
    /// `None` once erased.
    pub place: Option<ChangeTarget>,
    /// Salted digests: equal digests mean the same blob, but different ones may hold the same bytes.
    pub before: Option<Digest>,
    pub after: Option<Digest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeState {
    Done,
    Void,
    /// Interrupted, or in progress.
    Open,
}

/// A fault in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogFault {
    BrokenChain {
        journal: PathBuf,
        offset: u64,
    },
    /// A crash, or a writer that is appending right now; the next writer truncates it.
    TornEnd {
        journal: PathBuf,
        offset: u64,
    },
    DamagedBlob {
        journal: PathBuf,
        number: u64,
        digest: Digest,
    },
    /// A change was begun before an earlier one was settled.
    Unsettled {
        journal: PathBuf,
        number: u64,
    },
    /// The end of the journal is missing: a change that was made is not in it.
    Cut {
        journal: PathBuf,
    },
    /// The `head` file cannot be read. A power cut may cause this; the next writer rewrites it.
    UnreadableHead {
        head: PathBuf,
    },
    Unreadable {
        journal: PathBuf,
        why: String,
    },
}

/// Paths that differ from what the log says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalChanges {
    pub changed: Vec<RelPath>,
    /// Deleted files whose bytes are in the journal, with the time of the change that wrote them.
    pub deleted: BTreeMap<RelPath, Timestamp>,
}

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogFault::BrokenChain { journal, offset } => {
                write!(f, "the journal {} is broken at byte {offset}", journal.display())
            }
            LogFault::TornEnd { journal, offset } => {
                write!(f, "the journal {} has a torn end at byte {offset}", journal.display())
            }
            LogFault::DamagedBlob { journal, number, digest } => write!(
                f,
                "change {number} in {} refers to bytes that are missing or damaged: {digest}",
                journal.display()
            ),
            LogFault::Unsettled { journal, number } => {
                write!(f, "change {number} in {} was neither completed nor rolled back", journal.display())
            }
            LogFault::Cut { journal } => {
                write!(
                    f,
                    "the journal {} was truncated: a change that was made is missing from its end",
                    journal.display()
                )
            }
            LogFault::UnreadableHead { head } => write!(
                f,
                "{} cannot be read, so a journal whose end is missing cannot be detected",
                head.display()
            ),
            LogFault::Unreadable { journal, why } => write!(f, "cannot check {}: {why}", journal.display()),
        }
    }
}

/// A blake3 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(*blake3::hash(bytes).as_bytes())
    }

    /// What the first line of a journal continues. It names the format.
    pub(crate) fn genesis() -> Digest {
        Digest::of(b"lorelane journal 1")
    }

    pub(crate) fn parse(text: &str) -> Option<Digest> {
        blake3::Hash::from_hex(text).ok().map(|hash| Digest(*hash.as_bytes()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
