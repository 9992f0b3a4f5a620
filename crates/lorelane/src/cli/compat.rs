//! The help of `compat`. `main` runs it before any parser is built.

use super::{CliError, CliResult};
use clap::Args;

/// Behave like one of the seven `claude-memory` scripts
///
/// The scripts are memory_write, memory_candidate, memory_index, and the hooks memory_triage, memory_retrieve,
/// memory_write_guard and memory_validate_hook, which read a payload from standard input.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane compat memory_index --root .claude/memory --validate")]
pub struct CompatArgs {
    /// Script and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT")]
    arguments: Vec<String>,
}

/// Reached only when other options come before the command.
pub(super) fn run() -> CliResult {
    Err(CliError::usage(
        "cannot run `compat`: it needs a script, and only -C may come before it",
        "run `lorelane compat SCRIPT …`",
    ))
}
