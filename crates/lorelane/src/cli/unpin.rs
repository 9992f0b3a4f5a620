//! `unpin`: takes a memory out of the standing context.

use super::shared_args::ChangeArgs;
use super::{CliResult, Session, pin};
use clap::Args;
use lorelane_core::mark::MarkKind;

/// Take a memory out of the standing context
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane unpin use-jwt-for-service-auth")]
pub struct UnpinArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &UnpinArgs) -> CliResult {
    pin::mark(session, &args.address, MarkKind::Unpin, args.change)
}
