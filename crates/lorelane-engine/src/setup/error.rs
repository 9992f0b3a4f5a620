//! Errors of `setup`. Their hints are in `hint.rs`.

use crate::config::ConfigError;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("cannot find the settings of agents: there is no home directory")]
    NoHome,
    /// The file, or an entry in it, exists and is not lorelane's.
    #[error("cannot change {path}: {why}")]
    Foreign { path: PathBuf, why: String },
    /// The file cannot be parsed, so it is not edited.
    #[error("cannot change {path}: {why}")]
    Broken { path: PathBuf, why: String },
    /// The record of what was installed is damaged.
    #[error("cannot tell what was installed: {path} is damaged or missing")]
    Record { path: PathBuf },
    #[error("cannot lock {path}: another setup is running")]
    Busy { path: PathBuf },
    /// The file changed after it was planned.
    #[error("cannot change {path}: another program changed it at the same time")]
    Meanwhile { path: PathBuf },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot {attempt} {path}: {source}")]
    Io { attempt: &'static str, path: PathBuf, source: io::Error },
}

impl SetupError {
    pub(super) fn io(attempt: &'static str, path: &Path, source: io::Error) -> SetupError {
        SetupError::Io { attempt, path: path.to_owned(), source }
    }

    /// Whether this is a refusal and not a fault: something in the way is not ours to move.
    pub fn is_refusal(&self) -> bool {
        matches!(self, SetupError::Foreign { .. })
    }
}
