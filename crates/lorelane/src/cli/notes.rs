//! What only notes have: names of their own, appended text, merging, two places to lie in.

use super::args::{Append, Create, MergeArgs, NotesCommand, Storage};
use super::everyday::{assignments, edited, finish, read_text, settle_draft};
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::MoveView;
use lorelane_core::change::{Change, Draft, Plan};
use lorelane_core::dialect::notes::{self, NOTE_MAX_BYTES};
use lorelane_core::memory::{Address, NoteType};
use lorelane_core::policy::NotesStorage;
use lorelane_core::text::one_line;
use lorelane_core::yaml::FieldEdit;
use lorelane_engine::workspace;
use std::path::Path;

/// What `list` calls all notes.
pub(super) const LANE: &str = "notes";
const NOTE: &str = "note";

/// Whether somebody who creates this wants a note.
pub(super) fn is_meant(what: &str) -> bool {
    what == NOTE || what == LANE || what.starts_with("notes/") || what.starts_with(".memories/")
}

pub(super) fn create(session: &Session<'_>, args: &Create) -> CliResult {
    let address = address(args)?;
    let note_type = args.note_type.as_deref().map(note_type).transpose()?;
    let mut workspace = session.open()?;
    let content = match (&args.from, &args.text) {
        (Some(path), _) => read(session, path)?,
        (None, text) => text.clone().unwrap_or_default(),
    };
    let mut text = notes::draft(&content, note_type, &args.tags);
    if let Some(title) = &args.title {
        text = notes::titled(&text, title);
    }
    for assignment in assignments(&args.set)? {
        text = notes::set(&text, &assignment.path, FieldEdit::Text(&assignment.value));
    }
    let mut kept = None;
    if args.edit {
        let worked = edited(session, &workspace, address.name(), &text)?;
        if worked.is_untouched() && content.trim().is_empty() {
            let nothing = CliError::usage(
                format!("cannot create {address}: the editor left the template as it was"),
                "write the note below its frontmatter and save the file, or give --text",
            );
            return settle_draft(Some(worked), Err(nothing), args.change);
        }
        text.clone_from(&worked.text);
        kept = Some(worked);
    }
    let because = format!("create {address}");
    let plan = Plan { changes: vec![Change::Create { address, text }], because };
    let done = finish(session, &mut workspace, &plan, args.change);
    settle_draft(kept, done, args.change)
}

/// The address that was typed, or that the title asks for.
fn address(args: &Create) -> Result<Address, CliError> {
    let typed = args.category.strip_prefix("notes/").or(args.category.strip_prefix(".memories/"));
    match (typed, &args.title) {
        (Some(name), _) => named(name),
        (None, Some(title)) if !title.trim().is_empty() => Ok(notes::for_title(title)),
        (None, _) => Err(CliError::usage(
            "cannot create a note without a name",
            "add --title \"…\", or name it as in `lorelane create notes/auth-plan`",
        )),
    }
}

fn named(name: &str) -> Result<Address, CliError> {
    notes::named(name).map_err(|fault| CliError::usage(fault.to_string(), fault.hint()))
}

fn note_type(name: &str) -> Result<NoteType, CliError> {
    NoteType::parse(name).ok_or_else(|| {
        let known = NoteType::ALL.map(NoteType::name).join(", ");
        CliError::usage(format!("`{}` is no type of notes", one_line(name)), format!("choose one of {known}"))
    })
}

pub(super) fn append(session: &Session<'_>, args: &Append) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    let text = match args.text.as_str() {
        "-" => read(session, Path::new("-"))?,
        text => text.to_owned(),
    };
    let because = format!("append to {address}");
    let change = Change::Revise { address, expects: None, draft: Draft::Append { text } };
    finish(session, &mut workspace, &Plan { changes: vec![change], because }, args.change)
}

pub(super) fn merge(session: &Session<'_>, args: &MergeArgs) -> CliResult {
    let mut workspace = session.open()?;
    let sources = args.sources.iter().map(|typed| workspace.find(typed)).collect::<Result<Vec<_>, _>>()?;
    let target = match workspace.find(&args.into) {
        Ok(known) if sources.contains(&known) => known,
        _ => named(args.into.strip_prefix("notes/").unwrap_or(&args.into))?,
    };
    let text = args.from.as_ref().map(|path| read(session, path)).transpose()?;
    let merge = workspace::NoteMerge { sources, target, text };
    let receipt = match args.change.dry_run {
        true => {
            let plan = workspace.changes().merging(&merge)?;
            workspace.preview(&plan)?
        }
        false => workspace.changes().merge(&merge)?,
    };
    output::receipt(&receipt, session.json, args.change.dry_run);
    Ok(Exit::Done)
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

pub(super) fn read(session: &Session<'_>, path: &Path) -> Result<String, CliError> {
    read_text(session, path, NOTE_MAX_BYTES, "give a file with Markdown")
}
