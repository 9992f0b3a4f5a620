//! `undo`: takes back the last change.

use super::shared_args::ChangeArgs;
use super::{CliResult, Exit, Session, output};
use crate::view::NextUndoView;
use clap::Args;
use lorelane_core::text::one_line;

/// Take back the last change
///
/// Each undo takes back one change more. It is refused when a file was changed without lorelane since.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane undo --dry-run")]
pub struct UndoArgs {
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &UndoArgs) -> CliResult {
    let mut workspace = session.open()?;
    if args.change.dry_run {
        let (next, notices) = workspace.changes().next_undo()?;
        output::notices(&notices);
        if session.json {
            output::document(&NextUndoView::of(&next));
        } else {
            let because = next.entry.because.as_deref().unwrap_or("(purged)");
            output::out(&format!("would undo {}: {}\n", next.entry.number, one_line(because)));
        }
        return Ok(Exit::Done);
    }
    let next = workspace.changes().next_undo().ok();
    let receipt = workspace.changes().undo()?;
    output::receipt(&receipt, session.json, false);
    // Marks have no outcome of their own.
    let because = next.and_then(|(next, _)| next.entry.because).filter(|_| receipt.outcomes.is_empty());
    if let Some(because) = because.filter(|_| !session.json) {
        output::out(&format!("undone: {}\n", one_line(&because)));
    }
    Ok(Exit::Done)
}
