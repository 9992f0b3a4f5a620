//! Shared by `retire`, `archive` and `restore`: one transition of a memory's lifecycle.

use super::shared_args::ChangeArgs;
use super::{CliResult, Session};
use lorelane_core::change::{Change, Plan};
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::text::{cut, one_line};
use std::fmt::Write as _;

pub(super) fn commit(
    session: &Session<'_>,
    typed: &str,
    verb: LifecycleVerb,
    reason: &str,
    change: ChangeArgs,
) -> CliResult {
    let mut workspace = session.open()?;
    let address = match verb {
        LifecycleVerb::Restore { .. } => workspace.changes().find_to_restore(typed)?,
        _ => workspace.find(typed)?,
    };
    let mut because = format!("{} {address}", verb.name());
    if !reason.trim().is_empty() {
        let _ = write!(because, ": {}", cut(&one_line(reason), 200));
    }
    let plan =
        Plan { changes: vec![Change::Transition { address, verb, reason: reason.to_owned() }], because };
    session.commit(&mut workspace, &plan, change)
}
