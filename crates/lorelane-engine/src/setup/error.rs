//! Why a setup stopped, and what to do about it.

use crate::config::ConfigError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum SetupError {
    NoHome,
    /// Something that lorelane did not write has its name.
    Foreign {
        path: PathBuf,
        why: String,
    },
    /// A file that cannot be read is not written over.
    Broken {
        path: PathBuf,
        why: String,
    },
    /// Our own notes are damaged.
    Record {
        path: PathBuf,
    },
    Busy {
        path: PathBuf,
    },
    /// Somebody wrote it after we had looked.
    Meanwhile {
        path: PathBuf,
    },
    Config(ConfigError),
    Io {
        attempt: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl SetupError {
    pub(super) fn io(attempt: &'static str, path: &Path, source: io::Error) -> SetupError {
        SetupError::Io { attempt, path: path.to_owned(), source }
    }

    /// Whether nothing failed: something stands in the way that is not ours to move.
    pub fn is_refusal(&self) -> bool {
        matches!(self, SetupError::Foreign { .. })
    }

    pub fn hint(&self) -> Option<String> {
        Some(match self {
            SetupError::NoHome => "set HOME, or LORELANE_HOME and the client's own variable".to_owned(),
            SetupError::Foreign { .. } => {
                "nothing was changed; move it out of the way to let lorelane in".to_owned()
            }
            SetupError::Broken { .. } => "nothing was changed; mend the file first".to_owned(),
            SetupError::Record { .. } => {
                "move it away; then `lorelane setup --remove` takes out what is surely ours".to_owned()
            }
            SetupError::Meanwhile { .. } => "run it again".to_owned(),
            SetupError::Busy { .. } => "wait until the other setup has ended".to_owned(),
            SetupError::Config(_) => return None,
            SetupError::Io { .. } => "check that the folder exists and may be read and written".to_owned(),
        })
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetupError::NoHome => {
                f.write_str("cannot tell where the clients keep their settings: there is no home")
            }
            SetupError::Foreign { path, why } | SetupError::Broken { path, why } => {
                write!(f, "cannot change {}: {why}", path.display())
            }
            SetupError::Record { path } => {
                write!(f, "cannot tell what was installed: {} is damaged or gone", path.display())
            }
            SetupError::Meanwhile { path } => {
                write!(f, "cannot change {}: somebody else did at the same time", path.display())
            }
            SetupError::Busy { path } => {
                write!(f, "cannot lock {}: another setup is running", path.display())
            }
            SetupError::Config(fault) => fault.fmt(f),
            SetupError::Io { attempt, path, source } => {
                write!(f, "cannot {attempt} {}: {source}", path.display())
            }
        }
    }
}

impl std::error::Error for SetupError {}

impl From<ConfigError> for SetupError {
    fn from(fault: ConfigError) -> SetupError {
        SetupError::Config(fault)
    }
}
