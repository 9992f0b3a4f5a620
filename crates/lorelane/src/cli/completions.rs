//! `completions`: prints a completion script for a shell.

use super::{CliResult, Exit, output};
use clap::Args;
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane completions bash > ~/.local/share/bash-completion/completions/lorelane"
)]
pub struct CompletionsArgs {
    /// Shell to complete in
    shell: Shell,
}

/// The parser is an argument: it names this module, which must not name it.
pub(super) fn run(args: &CompletionsArgs, mut parser: clap::Command) -> CliResult {
    // Into memory first: the generator panics if the reader closes the pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut parser, "lorelane", &mut script);
    output::out_raw(&String::from_utf8_lossy(&script));
    Ok(Exit::Done)
}
