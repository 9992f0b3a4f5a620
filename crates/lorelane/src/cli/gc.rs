//! `gc`: retires expired memories, archives or deletes those that were retired long ago.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::NoGarbageView;
use clap::Args;
use lorelane_core::change::{Change, Plan};

/// Retire expired memories; archive or delete those retired long ago
///
/// Deletes records that were retired more than `delete.grace_period_days` ago, or archives them if
/// `delete.archive_retired` is set. It asks before it deletes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane gc --dry-run")]
pub struct GcArgs {
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &GcArgs) -> CliResult {
    let mut workspace = session.open()?;
    let garbage = workspace.changes().garbage()?;
    for entry in &garbage.undated {
        output::err(&format!("warning: kept {}: it is retired without a date", entry.address));
    }
    let deletes = garbage.changes.iter().any(|change| matches!(change, Change::Delete { .. }));
    if deletes && !args.yes && !args.change.dry_run {
        let memories = output::count(garbage.over.len(), "memory", "memories");
        let days = output::count(workspace.policy().grace_period_days(), "day", "days");
        if !session.can_ask() {
            return Err(CliError::usage(
                format!(
                    "cannot delete {memories} retired more than {days} ago: {}",
                    Session::needs_confirmation()
                ),
                "nothing was changed; `--dry-run` shows what would be deleted",
            ));
        }
        if !output::ask(&format!("Delete {memories} retired more than {days} ago?")) {
            output::err("Nothing was changed");
            return Ok(Exit::Nothing);
        }
    }
    if garbage.changes.is_empty() {
        if session.json {
            output::document(&NoGarbageView::default());
        } else {
            output::out("Nothing to collect\n");
        }
        return Ok(Exit::Done);
    }
    let receipt = match args.change.dry_run {
        true => workspace.preview(&Plan { changes: garbage.changes, because: "gc".to_owned() })?,
        false => workspace.changes().collect_garbage()?,
    };
    output::receipt(&receipt, session.json, args.change.dry_run);
    Ok(Exit::Done)
}
