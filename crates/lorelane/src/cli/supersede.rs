//! `supersede`: replaces a memory by another one.

use super::shared_args::ChangeArgs;
use super::{CliResult, Session};
use clap::Args;
use lorelane_core::change::{Change, Plan};
use lorelane_core::text::{cut, one_line};
use std::fmt::Write as _;

/// Replace a memory by another one, and link them
///
/// A decision gets the status `superseded`; any other memory is retired. Agents are no longer shown it, a search names
/// its successor, and `show` names both. It is one change, which one `undo` reverts.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane supersede use-jwt-for-service-auth --by use-paseto-for-service-auth"
)]
pub struct SupersedeArgs {
    /// The memory that no longer holds: an address such as decision/use-jwt, or a unique name
    #[arg(value_name = "OLD")]
    address: String,
    /// The memory that holds instead; it may be of another category, or a note
    #[arg(long, value_name = "NEW")]
    by: String,
    /// Reason, shown in the history of the memory and in the log
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    reason: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &SupersedeArgs) -> CliResult {
    let mut workspace = session.open()?;
    let (address, by) = (workspace.find(&args.address)?, workspace.find(&args.by)?);
    let mut because = format!("supersede {address} by {by}");
    if !args.reason.trim().is_empty() {
        let _ = write!(because, ": {}", cut(&one_line(&args.reason), 200));
    }
    let changes = vec![Change::Supersede { address, by, reason: args.reason.clone() }];
    session.commit(&mut workspace, &Plan { changes, because }, args.change)
}
