//! `confirm`: records that a memory was verified.

use super::shared_args::ChangeArgs;
use super::{CliResult, Session};
use clap::Args;
use lorelane_core::change::{Change, Plan};
use lorelane_core::mark::MarkKind;

/// Record that you verified memories, so that their age starts again
///
/// It counts for the memory as it is now, and ends with its next change. The file stays as it is.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane confirm use-jwt-for-service-auth --because \"checked against main.rs\""
)]
pub struct ConfirmArgs {
    /// Addresses such as decision/use-jwt, or unique names
    #[arg(required = true, value_name = "ADDRESS")]
    addresses: Vec<String>,
    /// How you know
    #[arg(long, default_value = "", value_name = "REASON", allow_hyphen_values = true)]
    because: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &ConfirmArgs) -> CliResult {
    let mut workspace = session.open()?;
    let kind = MarkKind::confirm(&args.because);
    let mut changes = Vec::new();
    for typed in &args.addresses {
        changes.push(Change::Mark { address: workspace.find(typed)?, kind: kind.clone() });
    }
    let because = match args.because.trim() {
        "" => "confirm".to_owned(),
        because => because.to_owned(),
    };
    session.commit(&mut workspace, &Plan { changes, because }, args.change)
}
