//! What can go wrong with a change, said so that the reader knows what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lorelane_core::path::RelPath;

use super::LOCK_FOLDER;
use crate::disk::LockFault;

/// A change that was not made. Except for [`StoreError::Unsettled`], the files stand as before.
#[derive(Debug)]
pub enum StoreError {
    Io {
        attempt: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    LockTimeout {
        what: PathBuf,
        waited: Duration,
        others: Others,
    },
    Symlink {
        path: PathBuf,
    },
    NotAFile {
        path: PathBuf,
    },
    NothingToUndo,
    /// All that is left to undo are changes of files that were deleted since.
    OnlyDeleted {
        path: RelPath,
    },
    ChangedOutside {
        path: String,
        number: u64,
    },
    Purged {
        number: u64,
    },
    JournalDamaged {
        journal: PathBuf,
        offset: u64,
    },
    /// The journal would have to be kept inside the lane, where one lies that came with the repository.
    ForeignJournal {
        folder: PathBuf,
    },
    /// An interrupted change waits in a journal that this process may read but not write.
    Waiting {
        journal: PathBuf,
        number: u64,
    },
    /// An earlier change was interrupted and cannot be taken back now, so none may follow it.
    Interrupted {
        number: u64,
        source: Box<StoreError>,
    },
    /// A change failed when some of it was in place, and could not be taken back. The next writer finds it done or
    /// takes it back: the one error after which the change may have happened.
    Unsettled {
        number: u64,
        source: Box<StoreError>,
    },
}

/// What those did who had the lock while somebody waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
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
                StoreError::LockTimeout { what: path.to_owned(), waited, others: Others::Idle }
            }
            LockFault::Io(source) => StoreError::Io { attempt: "lock", path: path.to_owned(), source },
        }
    }
}

impl StoreError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            StoreError::Io { source, .. } => io_hint(source).to_owned(),
            // Our own locks end with their holder; a script that was killed leaves its folder behind.
            StoreError::LockTimeout { what, .. } if what.ends_with(LOCK_FOLDER) => {
                format!("if no script is running, remove {}", what.display())
            }
            StoreError::LockTimeout { others: Others::Idle, .. } => {
                "try again when it has finished".to_owned()
            }
            StoreError::LockTimeout { others: Others::Busy, .. } => {
                "try again when fewer write at the same time".to_owned()
            }
            StoreError::Symlink { .. } => "replace the link by the file or folder itself".to_owned(),
            StoreError::NotAFile { .. } => "move it away".to_owned(),
            StoreError::OnlyDeleted { .. } => {
                "`lorelane restore` brings such a memory back, `lorelane doctor` names them".to_owned()
            }
            StoreError::NothingToUndo => "`lorelane log` shows what was changed".to_owned(),
            StoreError::ChangedOutside { number, .. } => {
                format!("edit the file by hand; the log shows what change {number} did")
            }
            StoreError::Purged { .. } => "older changes cannot be undone either".to_owned(),
            StoreError::JournalDamaged { journal, .. } => {
                let folder = journal.parent().unwrap_or(journal).display();
                format!("the memories are not affected; move the folder {folder} away to start a new log")
            }
            StoreError::ForeignJournal { .. } => "remove that folder".to_owned(),
            StoreError::Waiting { .. } => {
                "make any change once from outside the sandbox, then try again".to_owned()
            }
            StoreError::Interrupted { source, .. } | StoreError::Unsettled { source, .. } => source.hint(),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Io { attempt, path, source } => {
                write!(f, "cannot {attempt} {}: {source}", path.display())
            }
            StoreError::LockTimeout { what, waited, others } => {
                let (what, seconds) = (what.display(), waited.as_secs_f64());
                match others {
                    Others::Idle => write!(
                        f,
                        "cannot lock {what}: it was taken for {seconds:.1} s in which nothing was changed, so nothing was written"
                    ),
                    Others::Busy => write!(
                        f,
                        "cannot lock {what}: other writers took turns for {seconds:.1} s, so nothing was written"
                    ),
                }
            }
            StoreError::Symlink { path } => write!(
                f,
                "cannot write {}: it is a symbolic link, and following it could leave the lane",
                path.display()
            ),
            StoreError::NotAFile { path } => write!(
                f,
                "cannot write {}: something that is not a regular file or folder stands there",
                path.display()
            ),
            StoreError::OnlyDeleted { path } => write!(
                f,
                "cannot undo: what is left are changes of files that were deleted outside lorelane, such as {path}"
            ),
            StoreError::NothingToUndo => {
                f.write_str("cannot undo: the journal of this lane has no change that is not undone already")
            }
            StoreError::ChangedOutside { path, number } => write!(
                f,
                "cannot undo change {number}: {path} was changed since, and undoing would lose that"
            ),
            StoreError::Purged { number } => write!(
                f,
                "cannot undo change {number}: it touched a memory that was forgotten, and its bytes were purged for good"
            ),
            StoreError::JournalDamaged { journal, offset } => {
                write!(f, "cannot write: the journal {} is damaged at byte {offset}", journal.display())
            }
            StoreError::ForeignJournal { folder } => {
                write!(f, "cannot write: the journal {} is not yours", folder.display())
            }
            StoreError::Waiting { journal, number } => write!(
                f,
                "cannot write: change {number} was interrupted, and its journal {} cannot be written from here",
                journal.display()
            ),
            StoreError::Interrupted { number, source } => {
                write!(
                    f,
                    "cannot write: change {number} was interrupted and cannot be taken back yet: {source}"
                )
            }
            StoreError::Unsettled { number, source } => write!(
                f,
                "change {number} failed when some of it was in place, and could not be taken back. The next change \
                 takes it back, or keeps it if all of it is in place: {source}"
            ),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Io { source, .. } => Some(source),
            StoreError::Unsettled { source, .. } | StoreError::Interrupted { source, .. } => Some(source),
            _ => None,
        }
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

fn io_hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "check who may write there",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space and try again",
        _ => "see what stands there and try again",
    }
}
