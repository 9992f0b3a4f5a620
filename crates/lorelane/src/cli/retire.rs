//! `retire`: takes a memory out of recall for the grace period.

use super::shared_args::ChangeArgs;
use super::{CliResult, Session, transition};
use clap::Args;
use lorelane_core::lifecycle::LifecycleVerb;

/// Take a memory out of recall, keeping it for the grace period
///
/// A retired memory is not shown to agents. `gc` archives or deletes a record after `delete.grace_period_days`; a note is
/// moved to `.trash/` and stays there. `restore` brings either back.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane retire use-jwt-for-service-auth --reason \"moved to PASETO\"")]
pub struct RetireArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    /// Reason, shown with the memory and in the log
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    reason: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &RetireArgs) -> CliResult {
    transition::commit(session, &args.address, LifecycleVerb::Retire, &args.reason, args.change)
}
