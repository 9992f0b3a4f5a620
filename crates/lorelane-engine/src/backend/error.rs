//! Why a change failed, and warnings. What to do about them is in `hint.rs`.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lorelane_core::path::RelPath;

use crate::disk::LockFault;

/// The lock folder of the `claude-memory` scripts.
pub(crate) const LOCK_FOLDER: &str = ".index.lockdir";

/// A change that was not made. Except after [`StoreError::Unsettled`], the files are as before.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot {attempt} {path}: {source}")]
    Io { attempt: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot lock {what}: {}, so nothing was written", waited_for(*.others, *.waited))]
    LockTimeout { what: PathBuf, waited: Duration, others: LockHolders },
    #[error("cannot write {path}: it is a symbolic link, and following it could leave the lane")]
    Symlink { path: PathBuf },
    #[error("cannot write {path}: it is not a regular file or folder")]
    NotAFile { path: PathBuf },
    #[error("cannot write {path}: another program has just changed it")]
    Outdated { path: PathBuf },
    #[error("cannot undo: there is nothing left to undo")]
    NothingToUndo,
    /// Everything that is left to undo changed files that were deleted since.
    #[error(
        "cannot undo: the remaining changes are of files that were deleted outside lorelane, such as {path}"
    )]
    OnlyDeleted { path: RelPath },
    #[error("cannot undo change {number}: {path} has changed since, and undoing would lose that")]
    ChangedOutside { path: String, number: u64 },
    #[error(
        "cannot undo change {number}: it touched a memory that was forgotten, and its contents were erased"
    )]
    Purged { number: u64 },
    #[error("cannot write: the journal {journal} is damaged at byte {offset}")]
    JournalDamaged { journal: PathBuf, offset: u64 },
    /// The journal would have to be inside the lane, where there is one that came with the repository.
    #[error("cannot write: the journal {folder} was not created by you")]
    ForeignJournal { folder: PathBuf },
    /// An interrupted change is in a journal that this process can read but not write.
    #[error(
        "cannot write: change {number} was interrupted, and its journal {journal} cannot be written from here"
    )]
    Waiting { journal: PathBuf, number: u64 },
    /// An earlier change was interrupted and cannot be rolled back now, so none may follow it.
    #[error("cannot write: change {number} was interrupted and cannot be rolled back yet: {source}")]
    Interrupted { number: u64, source: Box<StoreError> },
    /// A change failed halfway and could not be rolled back. The next writer finds it complete or rolls it back:
    /// the only error after which the change may have happened.
    #[error(
        "change {number} failed halfway and could not be rolled back. The next change rolls it back, or keeps \
         it if it is complete: {source}"
    )]
    Unsettled { number: u64, source: Box<StoreError> },
}

/// What the holders of a lock did while a writer waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockHolders {
    /// Nothing changed during the whole wait.
    Idle,
    /// Others took turns, and this writer never got one.
    Busy,
}

/// Something to tell the user although the change goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// The state folder is not writable; the journal is kept inside the lane.
    FallbackJournal { state: PathBuf, fallback: PathBuf, why: String },
    /// Entries of the fallback journal were moved to the state folder.
    MovedOver { receipts: usize },
    /// A lock folder of the `claude-memory` scripts is too old for a running script. `age` is `None` if its mtime
    /// is in the future.
    StaleLockFolder { path: PathBuf, age: Option<Duration> },
    /// A crash tore the end of the journal. No change had begun there.
    TornJournal { journal: PathBuf, offset: u64 },
    /// The `head` file was damaged and was emptied.
    UnreadableHead { head: PathBuf },
    /// A crash left part of a line at the end of the marks; it was removed.
    TornMarks { path: PathBuf, bytes: usize },
    /// An interrupted change was rolled back, except for these files, which were changed since.
    TakenBack { number: u64, changed_outside: Vec<String> },
    /// A change was not undone, because this file of it was deleted since.
    PassedOver { number: u64, path: RelPath },
    /// An interrupted change cannot be rolled back: its bytes are gone.
    Abandoned { number: u64 },
}

impl StoreError {
    /// For `map_err`: adds the attempt and the path, which an `io::Error` does not have.
    pub(crate) fn io<'a>(
        attempt: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> StoreError + use<'a> {
        move |source| StoreError::Io { attempt, path: path.to_owned(), source }
    }

    pub(crate) fn lock(path: &Path, fault: LockFault) -> StoreError {
        match fault {
            LockFault::Timeout { waited } => {
                StoreError::LockTimeout { what: path.to_owned(), waited, others: LockHolders::Idle }
            }
            LockFault::Io(source) => StoreError::Io { attempt: "lock", path: path.to_owned(), source },
        }
    }
}

fn waited_for(others: LockHolders, waited: Duration) -> String {
    let seconds = waited.as_secs_f64();
    match others {
        LockHolders::Idle => format!("another process held it for {seconds:.1} s without changing anything"),
        LockHolders::Busy => format!("other writers have taken turns for {seconds:.1} s"),
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::FallbackJournal { state, fallback, why } => write!(
                f,
                "cannot write the journal in {} ({why}); until it can be written, the journal is kept in {}",
                state.display(),
                fallback.display()
            ),
            Warning::MovedOver { receipts } => {
                write!(f, "moved log entries from the lane to the state folder: {receipts}")
            }
            Warning::StaleLockFolder { path, age } => {
                write!(f, "ignored {}: ", path.display())?;
                match age {
                    Some(age) => write!(f, "it is {} s old, so its script has ended", age.as_secs())?,
                    None => f.write_str("its time is in the future, so its age is unknown")?,
                }
                f.write_str("; remove it if no script is running")
            }
            Warning::TornJournal { journal, offset } => {
                write!(
                    f,
                    "removed the torn end of {} at byte {offset}; no change had begun there",
                    journal.display()
                )
            }
            Warning::UnreadableHead { head } => write!(
                f,
                "emptied {}, which was unreadable: a log that was truncated before this cannot be detected",
                head.display()
            ),
            Warning::TornMarks { path, bytes } => {
                write!(f, "removed the torn end of {}: {bytes} bytes of an incomplete mark", path.display())
            }
            Warning::TakenBack { number, changed_outside } => {
                write!(f, "rolled back change {number}, which was interrupted")?;
                match changed_outside.as_slice() {
                    [] => Ok(()),
                    paths => write!(f, "; kept later changes in {}", paths.join(", ")),
                }
            }
            Warning::PassedOver { number, path } => {
                write!(f, "skipped change {number}: {path} was deleted outside lorelane")
            }
            Warning::Abandoned { number } => write!(
                f,
                "cannot roll back change {number}, which was interrupted: its bytes are no longer in the journal"
            ),
        }
    }
}
