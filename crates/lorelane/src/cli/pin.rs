//! `pin`: shows a memory to the agent at every session start.

use super::shared_args::ChangeArgs;
use super::{CliResult, Session};
use clap::Args;
use lorelane_core::change::{Change, Plan};
use lorelane_core::mark::MarkKind;

/// Show a memory to the agent at the start of every session
///
/// `unpin` reverts it. `list` and `status` show pins.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane pin use-jwt-for-service-auth")]
pub struct PinArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &PinArgs) -> CliResult {
    mark(session, &args.address, MarkKind::Pin, args.change)
}

pub(super) fn mark(session: &Session<'_>, typed: &str, kind: MarkKind, change: ChangeArgs) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(typed)?;
    let because = format!("{} {address}", kind.name());
    let plan = Plan { changes: vec![Change::Mark { address, kind }], because };
    session.commit(&mut workspace, &plan, change)
}
