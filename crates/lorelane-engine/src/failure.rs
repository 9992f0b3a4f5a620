//! Why something could not be done. What to do about it is in `hint.rs`.

use crate::backend::StoreError;
use crate::config::ConfigError;
use crate::index::IndexError;
use lorelane_core::bench::ExpectationFault;
use lorelane_core::memory::Address;
use lorelane_core::policy::{ConfigProblem, Weakening};
use lorelane_core::refusal::Refusal;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A rule says no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The disk says no.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A setting that decides where memories go cannot be used.
    #[error("cannot write memories: the configuration does not say where{}", lines(.0))]
    Misconfigured(Vec<ConfigProblem>),
    /// The repository names another folder for its memories, and the user does not trust it.
    #[error("cannot write memories: this project is not trusted\n  {held}")]
    Untrusted { held: Weakening },
    /// There is no store here.
    #[error("cannot find a memory store in {start} or above it")]
    NoStore { start: PathBuf },
    /// The records' folder is not inside the project.
    #[error("cannot open {lane}: it does not lie inside the project {project}")]
    Outside { lane: PathBuf, project: PathBuf },
    /// A plan is for memories of two lanes, and what is done in both cannot be done as a whole.
    #[error("cannot change records and notes together: each lane has a log of its own")]
    TwoLanes,
    /// The settings have no notes.
    #[error("cannot use notes: they are not enabled, or have no folder")]
    NotesOff,
    /// The newest change moved the notes, which no undo takes back.
    #[error("cannot undo: the newest change moved the notes")]
    UndoesMove,
    /// A merge of nothing.
    #[error("cannot merge: no notes are named")]
    NoSources,
    /// Only notes can be joined.
    #[error("cannot merge {address}: it is no note")]
    NoNote { address: Address },
    /// The notes lie where they shall go.
    #[error("cannot move the notes: they lie in {folder} already")]
    NotesThere { folder: PathBuf },
    /// Where a note shall go is a file already.
    #[error("cannot move the notes: {file} exists")]
    NotesTaken { file: PathBuf },
    /// Where the listing goes is a file that somebody else wrote.
    #[error("cannot write {file}: it exists and was not made by lorelane")]
    ForeignListing { file: PathBuf },
    /// What the state folder holds of a memory cannot be removed from here.
    #[error("cannot forget: {state} cannot be written, and it holds log, ledger and captures")]
    Sheltered { state: PathBuf },
    /// A forgetting that had begun failed, and its note stays: the one failure, besides [`StoreError::Unsettled`],
    /// after which something happens.
    #[error(
        "forgetting {address} failed half-way and cannot be taken back; the next change completes it: {why}"
    )]
    HalfForgotten {
        address: Address,
        #[source]
        why: Box<Failure>,
    },
    /// A file of expectations has a line that cannot be understood.
    #[error("cannot tell what {path} expects: {fault}")]
    Expectation {
        path: PathBuf,
        #[source]
        fault: ExpectationFault,
    },
    /// More than one memory is meant, or none.
    #[error("{0}")]
    Unclear(UnclearName),
    #[error("cannot {attempt} {path}: {source}")]
    Io { attempt: &'static str, path: PathBuf, source: io::Error },
}

#[derive(Debug)]
pub struct UnclearName {
    pub typed: String,
    pub near: Vec<Address>,
    /// What was called so and deleted outside, while the log has it.
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
            true => write!(f, "cannot tell which memory `{typed}` is")?,
            false => write!(f, "cannot find `{typed}`; near it are")?,
        }
        f.write_str(&lines(near))
    }
}
