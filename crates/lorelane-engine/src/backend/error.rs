//! What can go wrong with a change. What to do about it is in `hint.rs`.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lorelane_core::path::RelPath;

use crate::disk::LockFault;

/// The folder by which the `claude-memory` scripts lock a lane.
pub(crate) const LOCK_FOLDER: &str = ".index.lockdir";

/// A change that was not made. Except for [`StoreError::Unsettled`], the files stand as before.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot {attempt} {path}: {source}")]
    Io { attempt: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot lock {what}: {}, so nothing was written", waited_for(*.others, *.waited))]
    LockTimeout { what: PathBuf, waited: Duration, others: LockHolders },
    #[error("cannot write {path}: it is a symbolic link, and following it could leave the lane")]
    Symlink { path: PathBuf },
    #[error("cannot write {path}: something that is not a regular file or folder stands there")]
    NotAFile { path: PathBuf },
    #[error("cannot undo: the journal of this lane has no change that is not undone already")]
    NothingToUndo,
    /// All that is left to undo are changes of files that were deleted since.
    #[error(
        "cannot undo: what is left are changes of files that were deleted outside lorelane, such as {path}"
    )]
    OnlyDeleted { path: RelPath },
    #[error("cannot undo change {number}: {path} was changed since, and undoing would lose that")]
    ChangedOutside { path: String, number: u64 },
    #[error(
        "cannot undo change {number}: it touched a memory that was forgotten, and its bytes were purged for good"
    )]
    Purged { number: u64 },
    #[error("cannot write: the journal {journal} is damaged at byte {offset}")]
    JournalDamaged { journal: PathBuf, offset: u64 },
    /// The journal would have to be kept inside the lane, where one lies that came with the repository.
    #[error("cannot write: the journal {folder} is not yours")]
    ForeignJournal { folder: PathBuf },
    /// An interrupted change waits in a journal that this process may read but not write.
    #[error(
        "cannot write: change {number} was interrupted, and its journal {journal} cannot be written from here"
    )]
    Waiting { journal: PathBuf, number: u64 },
    /// An earlier change was interrupted and cannot be taken back now, so none may follow it.
    #[error("cannot write: change {number} was interrupted and cannot be taken back yet: {source}")]
    Interrupted { number: u64, source: Box<StoreError> },
    /// A change failed when some of it was in place, and could not be taken back. The next writer finds it done or
    /// takes it back: the one error after which the change may have happened.
    #[error(
        "change {number} failed when some of it was in place, and could not be taken back. The next change \
         takes it back, or keeps it if all of it is in place: {source}"
    )]
    Unsettled { number: u64, source: Box<StoreError> },
}

/// What those did who had the lock while somebody waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockHolders {
    /// Nothing was changed in all the time that was waited.
    Idle,
    /// They took turns, and this writer never had one.
    Busy,
}

/// Something the user should hear about although the change goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// The state folder cannot be written; the journal is kept inside the lane.
    Sheltered { state: PathBuf, shelter: PathBuf, why: String },
    /// Receipts kept inside the lane were moved to the state folder.
    MovedOver { receipts: usize },
    /// A lock folder of the old scripts is too old to belong to a living one, or is stamped with a time to
    /// come, and then has no age.
    StaleLockFolder { path: PathBuf, age: Option<Duration> },
    /// The end of the journal was lost in a crash; it spoke of nothing that had begun.
    TornJournal { journal: PathBuf, offset: u64 },
    /// The file that names the newest change was damaged and is begun again.
    UnreadableHead { head: PathBuf },
    /// The marks ended in what a crash left of a line; it was cut.
    TornMarks { path: PathBuf, bytes: usize },
    /// An interrupted change was taken back; these files were changed since and stay as they are.
    TakenBack { number: u64, changed_outside: Vec<String> },
    /// A change was not undone, because this file of it was deleted since.
    PassedOver { number: u64, path: RelPath },
    /// An interrupted change cannot be completed: the bytes it speaks of are gone.
    Abandoned { number: u64 },
}

impl StoreError {
    /// For `map_err`: names the attempt and the path that an `io::Error` does not know.
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

/// What happened while somebody waited for a lock.
fn waited_for(others: LockHolders, waited: Duration) -> String {
    let seconds = waited.as_secs_f64();
    match others {
        LockHolders::Idle => format!("it was taken for {seconds:.1} s in which nothing was changed"),
        LockHolders::Busy => format!("other writers took turns for {seconds:.1} s"),
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Sheltered { state, shelter, why } => write!(
                f,
                "cannot write the journal in {} ({why}); it is kept in {} until that is possible",
                state.display(),
                shelter.display()
            ),
            Warning::MovedOver { receipts } => {
                write!(f, "moved {receipts} receipts from the lane to the state folder")
            }
            Warning::StaleLockFolder { path, age } => {
                write!(f, "ignored {}: ", path.display())?;
                match age {
                    Some(age) => write!(f, "it is {} s old, so its script is dead", age.as_secs())?,
                    None => f.write_str("its time lies ahead, so it says nothing of a living script")?,
                }
                f.write_str("; remove it if no script runs")
            }
            Warning::TornJournal { journal, offset } => {
                write!(
                    f,
                    "cut the torn end of {} at byte {offset}; no change had begun there",
                    journal.display()
                )
            }
            Warning::UnreadableHead { head } => write!(
                f,
                "emptied {}, which could not be read: nobody can tell whether the log was cut before this",
                head.display()
            ),
            Warning::TornMarks { path, bytes } => {
                write!(f, "cut the torn end of {}: {bytes} bytes that a crash left of a mark", path.display())
            }
            Warning::TakenBack { number, changed_outside } => {
                write!(f, "took back change {number}, which was interrupted")?;
                match changed_outside.as_slice() {
                    [] => Ok(()),
                    paths => write!(f, "; {} changed since and stays as it is", paths.join(", ")),
                }
            }
            Warning::PassedOver { number, path } => {
                write!(f, "passed over change {number}: {path} was deleted outside lorelane")
            }
            Warning::Abandoned { number } => write!(
                f,
                "left change {number}, which was interrupted, as it is: its bytes are no longer in the journal"
            ),
        }
    }
}
