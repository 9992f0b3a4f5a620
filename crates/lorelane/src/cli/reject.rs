//! `reject`: retires a memory and blocks its content from being captured again.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use clap::Args;

/// Retire a memory and never capture the same thing again
///
/// What it says is marked by value: the same title, the same words or the same source are not captured under
/// any name. `undo` and `restore` take that back.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane reject use-jwt-for-service-auth --because \"it was a joke\"")]
pub struct RejectArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    /// Why, for whoever looks for it later
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
            "say why with --because \"…\"",
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
