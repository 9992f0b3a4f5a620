//! The help of `hook`. `main` runs it before any parser is built.

use super::{CliError, CliResult};
use clap::Args;

/// Answer an event of an agent's client
///
/// Reads the client's payload from standard input and answers in the client's form. `setup` installs it; nobody
/// types it. A hook never breaks its agent: what goes wrong is a line in `hooks.log`, and the exit code is 0.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  echo '{\"prompt\": \"how does service auth work\"}' | lorelane hook prompt --client claude-code"
)]
pub struct HookArgs {
    /// session-start, prompt, before-tool, after-tool, stop, pre-compact or session-end
    event: String,
    /// claude-code, codex, gemini, copilot or opencode
    #[arg(long, default_value = "claude-code")]
    client: String,
}

/// Reached only when other options come before the command.
pub(super) fn run() -> CliResult {
    Err(CliError::usage(
        "`hook` takes no options before it but -C",
        "write `lorelane hook EVENT --client CLIENT`",
    ))
}
