//! The error of every command.

use std::fmt;
use std::path::Path;

/// What was attempted, on what, and why it failed; with a hint if there is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}{}", hinted(.hint.as_ref()))]
pub struct Failure {
    pub what: String,
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), hint: None }
    }

    /// Formats "cannot `attempt` `path`: `why`".
    pub fn on(attempt: &str, path: &Path, why: impl fmt::Display) -> Failure {
        Failure::new(format!("cannot {attempt} {}: {why}", path.display()))
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }
}

fn hinted(hint: Option<&String>) -> String {
    hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default()
}
