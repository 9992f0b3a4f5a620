//! The help of `compat`. `main` runs it before any parser is built.

use super::{CliError, CliResult};
use clap::Args;

/// Behave as one of the first system's seven scripts
///
/// memory_write, memory_candidate, memory_index, and the hooks memory_triage, memory_retrieve,
/// memory_write_guard and memory_validate_hook, which read a payload from standard input.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane compat memory_index --root .claude/memory --validate")]
pub struct CompatArgs {
    /// The script and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT")]
    arguments: Vec<String>,
}

/// Reached only when other options come before the command.
pub(super) fn run() -> CliResult {
    Err(CliError::usage(
        "`compat` takes a script and no options before it but -C",
        "write `lorelane compat SCRIPT …`",
    ))
}
