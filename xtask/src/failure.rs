//! Why a command could not do its work.

use std::fmt;
use std::path::Path;

/// What was attempted, on what, and why not; and, where we know it, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub what: String,
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), hint: None }
    }

    /// Says "cannot `attempt` `path`: `why`".
    pub fn on(attempt: &str, path: &Path, why: impl fmt::Display) -> Failure {
        Failure::new(format!("cannot {attempt} {}: {why}", path.display()))
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}
