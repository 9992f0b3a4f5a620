//! Why an operation failed. What to do about it is in `hint.rs`.

use crate::backend::StoreError;
use crate::config::ConfigError;
use crate::index::IndexError;
use lorelane_core::bench::ExpectationFault;
use lorelane_core::memory::Address;
use lorelane_core::policy::{ConfigProblem, Weakening};
use lorelane_core::refusal::Refusal;
use lorelane_core::working_set::WorkingSetError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A rule rejects it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The disk or the lock failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    WorkingSet(#[from] WorkingSetError),
    /// A setting that decides where memories go is invalid.
    #[error("cannot write memories: the configuration does not say where{}", lines(.0))]
    Misconfigured(Vec<ConfigProblem>),
    /// The repository moves its memories to another folder, and the user has not trusted it.
    #[error("cannot write memories: this project is not trusted\n  {held}")]
    Untrusted { held: Weakening },
    #[error("cannot find a memory store in {start} or above it")]
    NoStore { start: PathBuf },
    #[error("cannot open {lane}: it is outside the project {project}")]
    Outside { lane: PathBuf, project: PathBuf },
    /// Each lane has its own journal, so one atomic change cannot span two lanes.
    #[error("cannot change memories of two lanes together: each has its own log")]
    TwoLanes,
    #[error("cannot use notes: they are not enabled, or have no folder")]
    NotesOff,
    #[error("cannot find Claude Code's memory folder of this project")]
    NoAutoMemory,
    #[error("cannot retire or archive MEMORY.md: Claude Code expects it there")]
    OnlyFile,
    #[error("cannot use {file}: it is not UTF-8")]
    NotText { file: PathBuf },
    /// `notes move` changes two journals, so undo cannot revert it.
    #[error("cannot undo: the newest change moved the notes")]
    UndoesMove,
    #[error("cannot merge: no notes given")]
    NoSources,
    #[error("cannot merge {address}: it is not a note")]
    NoNote { address: Address },
    #[error("cannot move the notes: they are already in {folder}")]
    NotesThere { folder: PathBuf },
    /// The target of a moved note exists already.
    #[error("cannot move the notes: {file} exists")]
    NotesTaken { file: PathBuf },
    /// A file that lorelane did not write is where the listing goes.
    #[error("cannot write {file}: it exists and was not made by lorelane")]
    ForeignListing { file: PathBuf },
    /// The state folder is read-only here, so the traces in it cannot be erased.
    #[error("cannot forget: the log, ledger and captures in {state} cannot be written")]
    FallbackJournal { state: PathBuf },
    /// `forget` failed after it had erased something, and its note stays for the next writer. Besides
    /// [`StoreError::Unsettled`] the only failure after which something has changed.
    #[error("forgetting {address} failed halfway and cannot be undone; the next change completes it: {why}")]
    HalfForgotten {
        address: Address,
        #[source]
        why: Box<Failure>,
    },
    /// A line in a file of expectations is invalid.
    #[error("cannot read the expectations in {path}: {fault}")]
    Expectation {
        path: PathBuf,
        #[source]
        fault: ExpectationFault,
    },
    /// The name matches more than one memory, or none.
    #[error("{0}")]
    Unclear(UnclearName),
    #[error("cannot {attempt} {path}: {source}")]
    Io { attempt: &'static str, path: PathBuf, source: io::Error },
}

#[derive(Debug)]
pub struct UnclearName {
    pub typed: String,
    pub near: Vec<Address>,
    /// Memories of that name that were deleted outside lorelane and are still in the log.
    pub deleted: Vec<Address>,
}

impl Failure {
    pub(crate) fn io(attempt: &'static str, path: &Path, source: io::Error) -> Failure {
        Failure::Io { attempt, path: path.to_owned(), source }
    }
}

/// One line each, indented.
fn lines<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(|item| format!("\n  {item}")).collect()
}

impl fmt::Display for UnclearName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnclearName { typed, near, .. } = self;
        if near.is_empty() {
            return write!(f, "cannot find `{typed}`: there is no such memory");
        }
        match near.iter().any(|address| address.name() == typed) {
            true => write!(f, "cannot resolve `{typed}`; several memories match:")?,
            false => write!(f, "cannot find `{typed}`; similar:")?,
        }
        f.write_str(&lines(near))
    }
}
