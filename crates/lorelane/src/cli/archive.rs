//! `archive`: takes a memory out of recall and keeps it permanently.

use super::shared_args::ChangeArgs;
use super::{CliResult, Session, transition};
use clap::Args;
use lorelane_core::lifecycle::LifecycleVerb;

/// Take a memory out of recall and keep it permanently
///
/// An archived memory is not shown to agents, and `gc` never deletes it. `restore` brings it back.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane archive old-deploy-runbook --reason \"cluster is gone\"")]
pub struct ArchiveArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    /// Reason, shown with the memory and in the log
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    reason: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &ArchiveArgs) -> CliResult {
    transition::commit(session, &args.address, LifecycleVerb::Archive, &args.reason, args.change)
}
