//! `pin`: shows a memory to the agent at every session start.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Session, working_set};
use clap::Args;
use lorelane_core::change::{Change, Plan};
use lorelane_core::mark::MarkKind;
use lorelane_engine::workspace::{Failure, WorkingSet};

/// Show a memory to the agent at the start of every session
///
/// `unpin` reverts it. `list` and `status` show pins. The path of a file in the working set is pinned there: it is never
/// evicted, and always in context if it fits.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane pin use-jwt-for-service-auth")]
pub struct PinArgs {
    /// An address such as decision/use-jwt, a unique name, or a path of the working set
    address: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &PinArgs) -> CliResult {
    mark(session, &args.address, MarkKind::Pin, args.change)
}

pub(super) fn mark(session: &Session<'_>, typed: &str, kind: MarkKind, change: ChangeArgs) -> CliResult {
    let mut workspace = session.open_with_sessions()?;
    let address = match workspace.find(typed) {
        Ok(address) => address,
        // Not a memory: perhaps a file of the working set.
        Err(failure) if WorkingSet::is_used(&workspace) => {
            return working_set::pin(session, &mut workspace, typed, kind == MarkKind::Pin, change).map_err(
                |fault| {
                    if matches!(fault, CliError::Failure(Failure::WorkingSet(_))) {
                        failure.into()
                    } else {
                        fault
                    }
                },
            );
        }
        Err(failure) => return Err(failure.into()),
    };
    let because = format!("{} {address}", kind.name());
    let plan = Plan { changes: vec![Change::Mark { address, kind }], because };
    session.commit(&mut workspace, &plan, change)
}
