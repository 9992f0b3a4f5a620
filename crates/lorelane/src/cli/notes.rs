//! `notes`: moves the notes between the project and the user's data folder.

use super::shared_args::ChangeArgs;
use super::{CliResult, Exit, Session, output};
use crate::view::MoveView;
use clap::{Subcommand, ValueEnum};
use lorelane_core::policy::NotesStorage;

/// Move the notes between the project and your data folder
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  lorelane notes move --to user --dry-run")]
pub enum NotesCommand {
    /// Move every note, and have the settings name the new place
    ///
    /// Nothing is overwritten: a name that is taken there stops all. Files that are no notes stay.
    #[command(after_help = "Example:\n  lorelane notes move --to user")]
    Move {
        /// project: `.memories/`; user: your data folder, for all projects
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
        let did = if change.dry_run { "would move" } else { "moved" };
        let (from, into) = (moved.from.display(), moved.to.display());
        output::out(&format!("{did} {} notes from {from} to {into}\n", moved.files.len()));
    }
    Ok(Exit::Done)
}
