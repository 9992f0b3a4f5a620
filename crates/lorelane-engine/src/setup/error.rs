//! Why a setup stopped. What to do about it is in `hint.rs`.

use crate::config::ConfigError;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("cannot tell where the clients keep their settings: there is no home")]
    NoHome,
    /// Something that lorelane did not write has its name.
    #[error("cannot change {path}: {why}")]
    Foreign { path: PathBuf, why: String },
    /// A file that cannot be read is not written over.
    #[error("cannot change {path}: {why}")]
    Broken { path: PathBuf, why: String },
    /// Our own notes are damaged.
    #[error("cannot tell what was installed: {path} is damaged or gone")]
    Record { path: PathBuf },
    #[error("cannot lock {path}: another setup is running")]
    Busy { path: PathBuf },
    /// Somebody wrote it after we had looked.
    #[error("cannot change {path}: somebody else did at the same time")]
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

    /// Whether nothing failed: something stands in the way that is not ours to move.
    pub fn is_refusal(&self) -> bool {
        matches!(self, SetupError::Foreign { .. })
    }
}
