//! What a log says: changes, what an undo would do, and what is wrong.

use super::{ChangeTarget, StoreError, Warning};
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// One change, as the journal tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    pub number: u64,
    pub undoes: Option<u64>,
    /// Why the change was made that this one undoes; `None` once purged.
    pub undid: Option<String>,
    /// Whether a later change undoes this one.
    pub undone: bool,
    pub at: Timestamp,
    /// Its place among the changes of all lanes; 0 where nobody counted.
    pub order: u64,
    /// `None` once purged.
    pub because: Option<String>,
    pub changes: Vec<ChangedDocument>,
    pub outcome: ChangeState,
}

/// The end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTail {
    /// Newest first.
    pub entries: Vec<LogEntry>,
    /// How many changes there are in all.
    pub total: usize,
}

/// What an undo would do.
#[derive(Debug, Default)]
pub struct NextUndo {
    /// The change that it would take back.
    pub entry: Option<LogEntry>,
    /// Why it would refuse to.
    pub refused: Option<StoreError>,
    /// The changes before that one which it passes over.
    pub passed_over: Vec<Warning>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedDocument {
    /// `None` once purged.
    pub place: Option<ChangeTarget>,
    /// Salted digests: equal ones name the same blob, not the same bytes.
    pub before: Option<Digest>,
    pub after: Option<Digest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeState {
    Done,
    Void,
    /// Interrupted, or being made right now.
    Open,
}

/// Something in the journal that is not as we wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogFault {
    BrokenChain {
        journal: PathBuf,
        offset: u64,
    },
    /// What a crash leaves, or a writer that is just appending; the next writer cuts it.
    TornEnd {
        journal: PathBuf,
        offset: u64,
    },
    DamagedBlob {
        journal: PathBuf,
        number: u64,
        digest: Digest,
    },
    /// A change was begun although an earlier one was not settled.
    Unsettled {
        journal: PathBuf,
        number: u64,
    },
    /// Its end is missing: a change that was made is not in it.
    Cut {
        journal: PathBuf,
    },
    /// The file that names the newest change. A power cut may leave it so; the next writer begins it again.
    UnreadableHead {
        head: PathBuf,
    },
    Unreadable {
        journal: PathBuf,
        why: String,
    },
}

/// Paths that are not as their last receipt left them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalChanges {
    pub changed: Vec<RelPath>,
    /// Gone, while the journal has the bytes; with the time of the change that wrote them.
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
                "change {number} in {} speaks of bytes that are missing or altered: {digest}",
                journal.display()
            ),
            LogFault::Unsettled { journal, number } => {
                write!(f, "change {number} in {} was never settled", journal.display())
            }
            LogFault::Cut { journal } => {
                write!(
                    f,
                    "the end of the journal {} is missing: it lacks a change that was made",
                    journal.display()
                )
            }
            LogFault::UnreadableHead { head } => write!(
                f,
                "{} cannot be read, so nobody can tell whether the end of the journal is missing",
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

    /// What the first line of a journal continues; it names the format.
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
