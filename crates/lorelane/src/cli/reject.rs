//! `reject`: retires a memory and keeps the same content from being captured again.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use clap::Args;

/// Retire a memory and never capture the same content again
///
/// The same title, the same words or the same source are not captured again under any name. Only hashes and the reason
/// are stored. `undo` and `restore` revert it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane reject use-jwt-for-service-auth --because \"it was a joke\"")]
pub struct RejectArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    /// Reason, shown with the memory and in the log
    #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
    because: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &RejectArgs) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    if args.because.trim().is_empty() {
        return Err(CliError::usage(
            format!("cannot reject {address} without a reason"),
            "pass --because \"…\"",
        ));
    }
    let receipt = match args.change.dry_run {
        true => {
            let plan = workspace.changes().rejection(&address, &args.because)?;
            workspace.preview(&plan)?
        }
        false => workspace.changes().reject(&address, &args.because)?,
    };
    output::receipt(&receipt, session.json, args.change.dry_run);
    Ok(Exit::Done)
}
