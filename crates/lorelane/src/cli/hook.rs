//! The help of `hook`. `main` runs it before any parser is built.

use super::{CliError, CliResult};
use clap::Args;

/// Handle a hook event of an agent
///
/// Reads the payload from standard input and prints the answer in the client's format. `setup` installs it; you do not
/// type it. A hook never breaks its agent: an error is a line in `hooks.log`, and the exit code is 0.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  echo '{\"prompt\": \"how does service auth work\"}' | lorelane hook prompt --client claude-code"
)]
pub struct HookArgs {
    /// session-start, prompt, before-tool, after-tool, tool-failure, stop, pre-compact or session-end
    event: String,
    /// claude-code, codex, gemini, copilot or opencode
    #[arg(long, default_value = "claude-code")]
    client: String,
}

/// Reached only when other options come before the command.
pub(super) fn run() -> CliResult {
    Err(CliError::usage("only -C may come before `hook`", "run `lorelane hook EVENT --client CLIENT`"))
}
