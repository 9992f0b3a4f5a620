//! `gc`: retires what expired, archives or deletes what was retired long ago.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::NoGarbageView;
use clap::Args;
use lorelane_core::change::{Change, Plan};
use std::io::IsTerminal;

/// Retire what expired; archive or delete what was retired long ago
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane gc --dry-run")]
pub struct GcArgs {
    /// Delete without asking; needed where nobody can be asked
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &GcArgs) -> CliResult {
    let mut workspace = session.open()?;
    let garbage = workspace.changes().garbage()?;
    for entry in &garbage.undated {
        output::err(&format!("warning: {} is retired but does not say since when; it stays", entry.address));
    }
    let deletes = garbage.changes.iter().any(|change| matches!(change, Change::Delete { .. }));
    if deletes && !args.yes && !args.change.dry_run {
        let count = garbage.over.len();
        let days = workspace.policy().grace_period_days();
        if session.json || !std::io::stdin().is_terminal() {
            return Err(CliError::usage(
                format!(
                    "cannot delete {count} memories that were retired more than {days} days ago: nobody can be asked"
                ),
                "nothing was changed; `--yes` deletes them, `--dry-run` shows them",
            ));
        }
        if !output::ask(&format!("delete {count} memories that were retired more than {days} days ago?")) {
            output::err("nothing was deleted");
            return Ok(Exit::Nothing);
        }
    }
    if garbage.changes.is_empty() {
        if session.json {
            output::document(&NoGarbageView::default());
        } else {
            output::out("nothing to collect\n");
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
