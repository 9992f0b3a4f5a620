//! `unpin`: stops showing a memory at every session start.

use super::shared_args::ChangeArgs;
use super::{CliResult, Session, pin};
use clap::Args;
use lorelane_core::mark::MarkKind;

/// Stop showing a memory at the start of every session
///
/// The memory itself is not changed, and is still shown for prompts that it is relevant to.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane unpin use-jwt-for-service-auth")]
pub struct UnpinArgs {
    /// An address such as decision/use-jwt, a unique name, or a path of the working set
    address: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &UnpinArgs) -> CliResult {
    pin::mark(session, &args.address, MarkKind::Unpin, args.change)
}
