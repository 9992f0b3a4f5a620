//! `undo`: undoes the last change.

use super::shared_args::ChangeArgs;
use super::{CliResult, Exit, Session, output};
use crate::view::NextUndoView;
use clap::Args;
use lorelane_core::text::one_line;

/// Undo the last change
///
/// Restores the previous contents exactly. Run it again to undo the change before it. It is rejected if a file was edited
/// outside lorelane since.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane undo --dry-run")]
pub struct UndoArgs {
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &UndoArgs) -> CliResult {
    let mut workspace = session.open_with_sessions()?;
    if args.change.dry_run {
        let (next, notices) = workspace.changes().next_undo()?;
        output::notices(&notices);
        if session.json {
            output::document(&NextUndoView::of(&next));
        } else {
            let because = next.entry.because.as_deref().unwrap_or("(purged)");
            output::out(&format!("Would undo change {}: \"{}\"\n", next.entry.number, one_line(because)));
        }
        return Ok(Exit::Done);
    }
    let next = workspace.changes().next_undo().ok();
    let receipt = workspace.changes().undo()?;
    if !session.json {
        let undone = next.and_then(|(next, _)| next.entry.because);
        let undone =
            undone.map_or_else(|| "the last change".to_owned(), |text| format!("\"{}\"", one_line(&text)));
        output::out(&format!("Undid {undone}\n"));
    }
    // The title of a change names its memory; a change of several needs the list.
    if session.json || receipt.outcomes.len() > 1 {
        output::receipt(&receipt, session.json, false);
    } else {
        output::notices(&receipt.notices);
    }
    Ok(Exit::Done)
}
