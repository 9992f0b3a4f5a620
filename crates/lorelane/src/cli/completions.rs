//! `completions`: a script for a shell.

use super::{CliResult, Exit, output};
use clap::Args;
use clap_complete::Shell;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane completions bash > ~/.local/share/bash-completion/completions/lorelane"
)]
pub struct CompletionsArgs {
    shell: Shell,
}

/// The parser is handed in: it names this command as well.
pub(super) fn run(args: &CompletionsArgs, mut parser: clap::Command) -> CliResult {
    // Into memory first: the generator takes a reader that went away for a fault of ours.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut parser, "lorelane", &mut script);
    output::out_raw(&String::from_utf8_lossy(&script));
    Ok(Exit::Done)
}
