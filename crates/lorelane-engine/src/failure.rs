//! Why something could not be done, with what to do about it.

use crate::backend::StoreError;
use crate::config::ConfigError;
use crate::disk::is_exhausted;
use crate::index::IndexError;
use lorelane_core::bench::ExpectationFault;
use lorelane_core::memory::Address;
use lorelane_core::policy::{ConfigProblem, Weakening};
use lorelane_core::refusal::Refusal;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum Failure {
    /// A rule says no.
    Refused(Refusal),
    /// The disk says no.
    Store(StoreError),
    Index(IndexError),
    Config(ConfigError),
    /// A setting that decides where memories go cannot be used.
    Misconfigured(Vec<ConfigProblem>),
    /// The repository names another folder for its memories, and the user does not trust it.
    Untrusted {
        held: Weakening,
    },
    /// There is no store here.
    NoStore {
        start: PathBuf,
    },
    /// The records' folder is not inside the project.
    Outside {
        lane: PathBuf,
        project: PathBuf,
    },
    /// A plan is for memories of two lanes, and what is done in both cannot be done as a whole.
    TwoLanes,
    /// The settings have no notes.
    NotesOff,
    /// The newest change moved the notes, which no undo takes back.
    UndoesMove,
    /// A merge of nothing.
    NoSources,
    /// Only notes can be joined.
    NoNote {
        address: Address,
    },
    /// The notes lie where they shall go.
    NotesThere {
        folder: PathBuf,
    },
    /// Where a note shall go is a file already.
    NotesTaken {
        file: PathBuf,
    },
    /// Where the listing goes is a file that somebody else wrote.
    ForeignListing {
        file: PathBuf,
    },
    /// What the state folder holds of a memory cannot be removed from here.
    Sheltered {
        state: PathBuf,
    },
    /// A forgetting that had begun failed, and its note stays: the one failure, besides [`StoreError::Unsettled`],
    /// after which something happens.
    HalfForgotten {
        address: Address,
        why: Box<Failure>,
    },
    /// A file of expectations has a line that cannot be understood.
    Expectation {
        path: PathBuf,
        fault: ExpectationFault,
    },
    /// More than one memory is meant, or none.
    Unclear(Unclear),
    Io {
        attempt: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

#[derive(Debug)]
pub struct Unclear {
    pub typed: String,
    pub near: Vec<Address>,
    /// What was called so and deleted outside, while the log has it.
    pub deleted: Vec<Address>,
}

impl Failure {
    pub(crate) fn io(attempt: &'static str, path: &Path, source: io::Error) -> Failure {
        Failure::Io { attempt, path: path.to_owned(), source }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Failure::Refused(refusal) => Some(refusal.hint()),
            Failure::Store(fault) => Some(fault.hint()),
            Failure::Config(fault) => Some(fault.hint().to_owned()),
            Failure::Index(_) => {
                Some("the index is derived: delete it and run `lorelane reindex`".to_owned())
            }
            Failure::Misconfigured(_) => {
                Some("nothing is written until this is mended; reading goes on".to_owned())
            }
            Failure::Untrusted { .. } => Some(
                "reading goes on; the user can look at what this project asks for, and allow it, with `lorelane trust`"
                    .to_owned(),
            ),
            Failure::NoStore { .. } => Some("`lorelane init` makes a store here".to_owned()),
            Failure::Outside { .. } => Some(
                "lorelane writes only inside the project; move the folder into it or remove the link"
                    .to_owned(),
            ),
            Failure::TwoLanes => Some("change those of each lane by themselves".to_owned()),
            Failure::NotesOff => {
                Some("`lorelane config set notes.enabled true` has notes; `doctor` tells more".to_owned())
            }
            Failure::UndoesMove => {
                Some("`lorelane notes move` takes them back; older changes stay as they are".to_owned())
            }
            Failure::NoSources => Some("name the notes that shall become one".to_owned()),
            Failure::NoNote { .. } => Some("update one of them with what the others say".to_owned()),
            Failure::NotesThere { .. } => Some("`lorelane config get notes.storage` says where".to_owned()),
            Failure::NotesTaken { .. } => Some("rename or remove one of the two, then try again".to_owned()),
            Failure::ForeignListing { .. } => {
                Some("rename it, then run `lorelane reindex`; memories are saved and found without it".to_owned())
            }
            Failure::Sheltered { .. } => Some(
                "run it where that folder can be written; `lorelane retire` takes it out of recall meanwhile"
                    .to_owned(),
            ),
            Failure::HalfForgotten { why, .. } => why.hint(),
            Failure::Expectation { .. } => Some(
                "a line is {\"query\": \"…\", \"must\": [\"decision/use-jwt\"], \"must_not\": [], \"within\": 5}"
                    .to_owned(),
            ),
            Failure::Unclear(Unclear { deleted, .. }) if !deleted.is_empty() => {
                let names: Vec<String> = deleted.iter().map(|address| format!("`lorelane restore {address}`")).collect();
                Some(format!("it was deleted outside lorelane; {} brings it back", names.join(" or ")))
            }
            Failure::Unclear(unclear) if unclear.near.is_empty() => {
                Some("`lorelane list` shows what there is".to_owned())
            }
            Failure::Unclear(_) => Some("name it in full".to_owned()),
            Failure::Io { source, .. } if is_exhausted(source) => {
                Some("let more files be open at a time, with `ulimit -n 256`".to_owned())
            }
            Failure::Io { .. } => Some("check that the folder exists and may be read and written".to_owned()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(refusal) => refusal.fmt(f),
            Failure::Store(fault) => fault.fmt(f),
            Failure::Index(fault) => fault.fmt(f),
            Failure::Config(fault) => fault.fmt(f),
            Failure::Misconfigured(problems) => {
                f.write_str("cannot write memories: the configuration does not say where")?;
                problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
            Failure::Untrusted { held } => {
                write!(f, "cannot write memories: this project is not trusted\n  {held}")
            }
            Failure::NoStore { start } => {
                write!(f, "cannot find a memory store in {} or above it", start.display())
            }
            Failure::Outside { lane, project } => write!(
                f,
                "cannot open {}: it does not lie inside the project {}",
                lane.display(),
                project.display()
            ),
            Failure::TwoLanes => {
                f.write_str("cannot change records and notes together: each lane has a log of its own")
            }
            Failure::NotesOff => f.write_str("cannot use notes: they are not enabled, or have no folder"),
            Failure::UndoesMove => f.write_str("cannot undo: the newest change moved the notes"),
            Failure::NoSources => f.write_str("cannot merge: no notes are named"),
            Failure::NoNote { address } => write!(f, "cannot merge {address}: it is no note"),
            Failure::NotesThere { folder } => {
                write!(f, "cannot move the notes: they lie in {} already", folder.display())
            }
            Failure::NotesTaken { file } => {
                write!(f, "cannot move the notes: {} exists", file.display())
            }
            Failure::ForeignListing { file } => {
                write!(f, "cannot write {}: it exists and was not made by lorelane", file.display())
            }
            Failure::Sheltered { state } => write!(
                f,
                "cannot forget: {} cannot be written, and it holds log, ledger and captures",
                state.display()
            ),
            Failure::HalfForgotten { address, why } => write!(
                f,
                "forgetting {address} failed half-way and cannot be taken back; the next change completes it: {why}"
            ),
            Failure::Expectation { path, fault } => {
                write!(f, "cannot tell what {} expects: {fault}", path.display())
            }
            Failure::Unclear(Unclear { typed, near, .. }) => {
                if near.is_empty() {
                    return write!(f, "cannot find `{typed}`: there is no such memory");
                }
                match near.iter().any(|address| address.name() == typed) {
                    true => write!(f, "cannot tell which memory `{typed}` is")?,
                    false => write!(f, "cannot find `{typed}`; near it are")?,
                }
                near.iter().try_for_each(|address| write!(f, "\n  {address}"))
            }
            Failure::Io { attempt, path, source } => {
                write!(f, "cannot {attempt} {}: {source}", path.display())
            }
        }
    }
}

impl std::error::Error for Failure {}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(refusal)
    }
}

impl From<StoreError> for Failure {
    fn from(fault: StoreError) -> Failure {
        Failure::Store(fault)
    }
}

impl From<IndexError> for Failure {
    fn from(fault: IndexError) -> Failure {
        Failure::Index(fault)
    }
}

impl From<ConfigError> for Failure {
    fn from(fault: ConfigError) -> Failure {
        Failure::Config(fault)
    }
}
