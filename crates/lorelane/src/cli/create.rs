//! `create`: saves a new record or note.

use super::input::{assignments, category, note_named, note_type, read_note, read_record};
use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Session, draft};
use clap::Args;
use lorelane_core::change::{Change, Plan};
use lorelane_core::dialect::notes;
use lorelane_core::dialect::records::draft as record_draft;
use lorelane_core::json::JsonFormat;
use lorelane_core::memory::Address;
use lorelane_core::text::one_line;
use lorelane_core::yaml::FieldEdit;
use std::path::PathBuf;

/// Save a new memory
///
/// The title becomes the file name. --set sets a field: a content field needs no `content.` prefix, and a list field
/// can be set several times. Invalid input is rejected, with every error listed.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane create decision --title \"Use JWT for service auth\" --tag auth \\\n    --set context=\"Services need stateless auth\" --set decision=\"JWT, 15 minutes\" \\\n    --set rationale=\"No session store to run\""
)]
pub struct CreateArgs {
    /// session_summary, decision, runbook, constraint, tech_debt, preference, note, notes/NAME or auto/NAME
    category: String,
    /// Title of the memory, on one line
    #[arg(long, allow_hyphen_values = true)]
    title: Option<String>,
    /// Text of a note, or of a memory in Claude Code's folder
    #[arg(long, conflicts_with = "from", allow_hyphen_values = true)]
    text: Option<String>,
    /// Type of a note (plan, journal, fact, observation, reflection), or in Claude Code's folder (user, feedback,
    /// project, reference, value)
    #[arg(long = "type", value_name = "TYPE")]
    note_type: Option<String>,
    /// Add a tag; can be repeated
    #[arg(long = "tag", value_name = "TAG", allow_hyphen_values = true)]
    tags: Vec<String>,
    /// Set a field; can be repeated
    #[arg(long, value_name = "PATH=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Start from a file (JSON, or Markdown for a note), or from standard input if it is `-`
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Open the draft in your editor before it is saved
    #[arg(long)]
    edit: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &CreateArgs) -> CliResult {
    if is_note(&args.category) {
        return create_note(session, args);
    }
    if is_auto(&args.category) {
        return create_auto(session, args);
    }
    if args.text.is_some() || args.note_type.is_some() {
        return Err(CliError::usage(
            format!("cannot create a {} with --text or --type", one_line(&args.category)),
            "these options are for notes (`lorelane create note`); set the fields of a record with --set",
        ));
    }
    create_record(session, args)
}

fn create_record(session: &Session<'_>, args: &CreateArgs) -> CliResult {
    let category = category(&args.category)?;
    let mut workspace = session.open()?;
    let from = match &args.from {
        Some(path) => {
            let text = read_record(session, path)?;
            let read = record_draft::read(&text).map_err(|why| {
                CliError::usage(
                    format!("cannot use {} for a new {category}: {why}", path.display()),
                    "the file must have one JSON object",
                )
            })?;
            Some(read)
        }
        None => None,
    };
    let set = assignments(&args.set)?;
    let (address, record) =
        record_draft::begin(category, args.title.as_deref(), from, &args.tags, &set, workspace.now());
    // A title that is not text is left to the validator, which lists it with all other errors.
    if record.text("title").is_some_and(|title| title.trim().is_empty()) {
        return Err(CliError::usage(
            format!("cannot create a {category} without a title"),
            "add --title \"…\"",
        ));
    }
    let mut text = format!("{}\n", record.render(JsonFormat::FILE));
    let mut kept = None;
    if args.edit {
        let worked = draft::edited(session, &workspace, address.name(), &text)?;
        text.clone_from(&worked.text);
        kept = Some(worked);
    }
    let because = format!("create {address}");
    let plan = Plan { changes: vec![Change::Create { address, text }], because };
    let done = session.commit(&mut workspace, &plan, args.change);
    draft::settle(kept, done, args.change)
}

/// Whether the argument asks for a note.
fn is_note(what: &str) -> bool {
    what == "note" || what == "notes" || what.starts_with("notes/") || what.starts_with(".memories/")
}

/// Whether the argument asks for a memory in Claude Code's folder.
fn is_auto(what: &str) -> bool {
    what == "auto" || what.starts_with("auto/")
}

/// Saves a memory as Claude Code would: a topic file, and its line in `MEMORY.md`.
fn create_auto(session: &Session<'_>, args: &CreateArgs) -> CliResult {
    let address = auto_address(args)?;
    if !args.tags.is_empty() || args.edit {
        return Err(CliError::usage(
            format!("cannot create {address} with --tag or --edit"),
            "Claude Code's memories have no tags; give the text with --text or --from",
        ));
    }
    let mut workspace = session.open()?;
    let mut text = match (&args.from, &args.text) {
        (Some(path), _) => read_note(session, path)?,
        (None, text) => text.clone().unwrap_or_default(),
    };
    for assignment in assignments(&args.set)? {
        text = notes::set(&text, &assignment.path, FieldEdit::Text(&assignment.value));
    }
    for (key, value) in [("description", &args.title), ("type", &args.note_type)] {
        if let Some(value) = value {
            text = notes::set(&text, key, FieldEdit::Text(value));
        }
    }
    let because = format!("create {address}");
    let plan = Plan { changes: vec![Change::Create { address, text }], because };
    session.commit(&mut workspace, &plan, args.change)
}

/// The address that was typed, or the one for the title.
fn auto_address(args: &CreateArgs) -> Result<Address, CliError> {
    let typed = args.category.strip_prefix("auto/").map(str::to_owned);
    let title = args.title.as_deref().filter(|title| !title.trim().is_empty());
    let name = typed.or_else(|| title.map(|title| notes::for_title(title).name().to_owned()));
    let address = name.as_deref().and_then(|name| Address::auto(name.strip_suffix(".md").unwrap_or(name)));
    address.ok_or_else(|| {
        CliError::usage(
            "cannot create a memory in Claude Code's folder without a valid name",
            "add --title \"…\", or name it as in `lorelane create auto/testing`",
        )
    })
}

fn create_note(session: &Session<'_>, args: &CreateArgs) -> CliResult {
    let address = note_address(args)?;
    let note_type = args.note_type.as_deref().map(note_type).transpose()?;
    let mut workspace = session.open()?;
    let content = match (&args.from, &args.text) {
        (Some(path), _) => read_note(session, path)?,
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
        let worked = draft::edited(session, &workspace, address.name(), &text)?;
        if worked.is_untouched() && content.trim().is_empty() {
            let nothing = CliError::usage(
                format!("cannot create {address}: the draft was not edited"),
                "write the note below its frontmatter and save the file, or give --text",
            );
            return draft::settle(Some(worked), Err(nothing), args.change);
        }
        text.clone_from(&worked.text);
        kept = Some(worked);
    }
    let because = format!("create {address}");
    let plan = Plan { changes: vec![Change::Create { address, text }], because };
    let done = session.commit(&mut workspace, &plan, args.change);
    draft::settle(kept, done, args.change)
}

/// The address that was typed, or the one for the title.
fn note_address(args: &CreateArgs) -> Result<Address, CliError> {
    let typed = args.category.strip_prefix("notes/").or(args.category.strip_prefix(".memories/"));
    match (typed, &args.title) {
        (Some(name), _) => note_named(name),
        (None, Some(title)) if !title.trim().is_empty() => Ok(notes::for_title(title)),
        (None, _) => Err(CliError::usage(
            "cannot create a note without a name",
            "add --title \"…\", or name it as in `lorelane create notes/auth-plan`",
        )),
    }
}
