//! `restore`: makes a retired or archived memory active again.

use super::shared_args::ChangeArgs;
use super::{CliResult, Session, transition};
use clap::Args;
use lorelane_core::lifecycle::LifecycleVerb;

/// Make a retired or archived memory active again
///
/// A memory whose file was deleted outside lorelane is restored from its last version in the log.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane restore use-jwt-for-service-auth")]
pub struct RestoreArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &RestoreArgs) -> CliResult {
    transition::commit(session, &args.address, LifecycleVerb::Restore { from: None }, "", args.change)
}
