//! Checks that no compiler makes: `ARCHITECTURE.md`, import rules, clean text, and figures with limits.
//!
//! They run as tests (`xtask/tests/it`), so `cargo test` alone finds violations. The command prints the figures.

pub mod codebase;
mod comments;
mod cycles;
pub mod journeys;
mod json;
pub mod limits;
pub mod map;
mod methods;
pub mod rules;
pub mod source;
pub mod text;
mod types;
mod uses;

use std::fmt;

use crate::args::Args;
use crate::failure::Failure;
use crate::repo;

/// Prints the figures. Succeeds if none of them grew.
pub fn command(mut args: Args) -> Result<bool, Failure> {
    let verbose = args.flag("--verbose");
    args.finish()?;
    let measured = limits::measure_all(&repo::root())?;
    print!("{}", limits::table(&measured, verbose));
    let faults = limits::check(&measured);
    print!("{}", listing(&faults));
    Ok(faults.is_empty())
}

/// One violation: where it is and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    pub path: String,
    /// Counted from 1; 0 for the file as a whole.
    pub line: usize,
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// The violations as one text, for the message of a failing test.
pub fn listing(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("{fault}\n")).collect()
}
