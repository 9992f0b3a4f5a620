//! `notes`: moves notes between the project and the user's data folder.

use super::shared_args::ChangeArgs;
use super::{CliResult, Exit, Session, output};
use crate::view::MoveView;
use clap::{Subcommand, ValueEnum};
use lorelane_core::policy::NotesStorage;

/// Move notes between the project and your data folder
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  lorelane notes move --to user --dry-run")]
pub enum NotesCommand {
    /// Move all notes and set `notes.storage`
    ///
    /// Nothing is overwritten: if a name is taken there, nothing happens. Files that are not notes stay where they are.
    #[command(after_help = "Example:\n  lorelane notes move --to user")]
    Move {
        /// project: `.memories/` in the project; user: your data folder
        #[arg(long, value_enum)]
        to: Storage,
        #[command(flatten)]
        change: ChangeArgs,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Storage {
    Project,
    User,
}

pub(super) fn run(session: &Session<'_>, command: &NotesCommand) -> CliResult {
    let NotesCommand::Move { to, change } = command;
    let to = match to {
        Storage::Project => NotesStorage::Project,
        Storage::User => NotesStorage::User,
    };
    let mut workspace = session.open()?;
    let moved = if change.dry_run {
        workspace.changes().preview_notes_move(to)?
    } else {
        workspace.changes().move_notes(to)?
    };
    output::notices(&moved.notices);
    if session.json {
        output::document(&MoveView::of(&moved, change.dry_run));
    } else {
        let did = if change.dry_run { "Would move" } else { "Moved" };
        let (from, into) = (moved.from.display(), moved.to.display());
        let notes = output::count(moved.files.len(), "note", "notes");
        output::out(&format!("{did} {notes} from {from} to {into}\n"));
    }
    Ok(Exit::Done)
}
