//! Saving, showing and finding.

use super::args::{CandidateArgs, ChangeArgs, Create, EditArgs, List, Show, Sort, StatusFilter, Update};
use super::{CliError, CliResult, Exit, Session, notes, output};
use crate::view::{EntryView, ListView, MemoryView, StoreView};
use lorelane_core::change::{self, Assignment, Draft, PartialInput, Plan};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::records::{RECORD_MAX_BYTES, draft};
use lorelane_core::digest::Revision;
use lorelane_core::json::{Json, JsonFormat};
use lorelane_core::lifecycle::{Lifecycle, Status};
use lorelane_core::memory::{Body, Category, Memory, MemoryKind, NoteType};
use lorelane_core::refusal::unknown_category;
use lorelane_core::text::{cut, fold, one_line};
use lorelane_core::time::Timestamp;
use lorelane_engine::disk::open_given;
use lorelane_engine::drafts;
use lorelane_engine::env::Var;
use lorelane_engine::index::ListFilter;
use lorelane_engine::workspace::{self, LoadedMemory, Workspace, sort_newest_first};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

pub(super) fn init(session: &Session<'_>, change: ChangeArgs) -> CliResult {
    let founding = if change.dry_run {
        workspace::plan_init(&session.env.cwd)?
    } else {
        workspace::init(session.env, &session.env.cwd)?
    };
    let lane = founding.lane.display();
    if session.json {
        output::document(&StoreView::of(&founding, change.dry_run));
    } else if founding.made.is_empty() {
        output::out(&format!("the store in {lane} is complete\n"));
    } else {
        let (made, next) = match change.dry_run {
            true => ("would make", ""),
            false => ("made", "next: lorelane create decision --title \"…\"\n"),
        };
        output::out(&format!("{made} a memory store in {lane}\n{next}"));
    }
    Ok(Exit::Done)
}

pub(super) fn create(session: &Session<'_>, args: &Create) -> CliResult {
    if notes::is_meant(&args.category) {
        return notes::create(session, args);
    }
    if args.text.is_some() || args.note_type.is_some() {
        return Err(CliError::usage(
            format!("cannot create a {} with --text or --type", one_line(&args.category)),
            "these are for notes: `lorelane create note`; a record is set with --set",
        ));
    }
    let category = category(&args.category)?;
    let mut workspace = session.open()?;
    let from = match &args.from {
        Some(path) => {
            let text = read_input(session, path)?;
            let read = draft::read(&text).map_err(|why| {
                CliError::usage(
                    format!("cannot use {} for a new {category}: {why}", path.display()),
                    "give one JSON object",
                )
            })?;
            Some(read)
        }
        None => None,
    };
    let set = assignments(&args.set)?;
    let (address, record) =
        draft::begin(category, args.title.as_deref(), from, &args.tags, &set, workspace.now());
    // A title of another type is for the validator, which names it beside all other errors.
    if record.text("title").is_some_and(|title| title.trim().is_empty()) {
        return Err(CliError::usage(
            format!("cannot create a {category} without a title"),
            "add --title \"…\"",
        ));
    }
    let mut text = format!("{}\n", record.render(JsonFormat::FILE));
    let mut kept = None;
    if args.edit {
        let worked = edited(session, &workspace, address.name(), &text)?;
        text.clone_from(&worked.text);
        kept = Some(worked);
    }
    let because = format!("create {address}");
    let plan = Plan { changes: vec![change::Change::Create { address, text }], because };
    let done = finish(session, &mut workspace, &plan, args.change);
    settle_draft(kept, done, args.change)
}

pub(super) fn update(session: &Session<'_>, args: &Update) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    let from = args.from.as_ref().map(|path| match address.is_note() {
        true => notes::read(session, path),
        false => read_input(session, path),
    });
    let from = from.transpose()?;
    if from.is_none() && args.set.is_empty() && args.add_tag.is_empty() {
        return Err(CliError::usage(
            format!("nothing to change in {address}"),
            "give --set PATH=VALUE, --add-tag TAG or --from FILE",
        ));
    }
    let draft = Draft::Partial {
        from: from.map(PartialInput::Text),
        set: assignments(&args.set)?,
        add_tags: args.add_tag.clone(),
        because: args.because.clone(),
    };
    let expects = match &args.expect {
        Some(text) => Some(Revision::parse(text).ok_or_else(|| {
            CliError::usage(
                format!("`{text}` is no hash"),
                "give 32 or 64 hex digits, as `show --json` prints them",
            )
        })?),
        None => None,
    };
    let because = match &args.because {
        Some(because) => format!("update {address}: {}", cut(&one_line(because), 200)),
        None => format!("update {address}"),
    };
    let plan = Plan { changes: vec![change::Change::Revise { address, expects, draft }], because };
    finish(session, &mut workspace, &plan, args.change)
}

pub(super) fn edit(session: &Session<'_>, args: &EditArgs) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    let loaded = workspace.load(&address)?;
    let worked = edited(session, &workspace, address.name(), &loaded.document.text)?;
    let because = format!("edit {address}");
    let draft = Draft::Edited { text: worked.text.clone(), because: None };
    let change = change::Change::Revise { address, expects: Some(loaded.revision), draft };
    let plan = Plan { changes: vec![change], because };
    let done = finish(session, &mut workspace, &plan, args.change);
    settle_draft(Some(worked), done, args.change)
}

/// A draft as the editor left it.
pub(super) struct EditedDraft {
    path: PathBuf,
    pub(super) text: String,
    /// Whether there is work in it that could be lost.
    touched: bool,
}

impl EditedDraft {
    pub(super) fn is_untouched(&self) -> bool {
        !self.touched
    }
}

/// A draft that went in is removed, and so is one without work in it; any other is somebody's work and stays.
pub(super) fn settle_draft(draft: Option<EditedDraft>, done: CliResult, change: ChangeArgs) -> CliResult {
    match (draft, &done) {
        (Some(draft), _) if draft.is_untouched() => drafts::discard(&draft.path),
        (Some(draft), Ok(_)) if !change.dry_run => drafts::discard(&draft.path),
        (Some(draft), _) => output::err(&format!("note: your draft is kept in {}", draft.path.display())),
        (None, _) => {}
    }
    done
}

pub(super) fn edited(
    session: &Session<'_>,
    workspace: &Workspace,
    name: &str,
    before: &str,
) -> Result<EditedDraft, CliError> {
    let path = drafts::write(&workspace.files().drafts_folder(), name, before)?;
    let editor = session.env.var(Var::Visual).or_else(|| session.env.var(Var::Editor)).unwrap_or("vi");
    let text = drafts::edit(editor, &path).map_err(|why| {
        CliError::usage(
            format!("cannot edit {}: {why}", path.display()),
            format!("set EDITOR; the draft is kept in {}", path.display()),
        )
    })?;
    Ok(EditedDraft { touched: text != before, path, text })
}

pub(super) fn finish(
    session: &Session<'_>,
    workspace: &mut Workspace,
    plan: &Plan,
    change: ChangeArgs,
) -> CliResult {
    let receipt = if change.dry_run { workspace.preview(plan)? } else { workspace.commit(plan)? };
    output::receipt(&receipt, session.json, change.dry_run);
    Ok(Exit::Done)
}

pub(super) fn show(session: &Session<'_>, args: &Show) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    let loaded = workspace.load(&address)?;
    if args.raw {
        output::out_raw(&loaded.document.text);
    } else if session.json {
        output::document(&MemoryView::of(&address, &loaded, &workspace));
    } else {
        output::out(&page(&loaded, &workspace.files().listed_path(&address)));
        for problem in &loaded.problems {
            output::err(&format!("warning: {}", problem.what));
        }
    }
    Ok(Exit::Done)
}

/// A memory for reading.
fn page(loaded: &LoadedMemory, path: &str) -> String {
    let memory = &loaded.memory;
    let mut page = format!("{}\n{} · {path}\n", one_line(&memory.title), memory.address);
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(page, "{name:<10} {value}");
        }
    };
    line("status", lifecycle(memory));
    line("tags", memory.tags.join(", "));
    line("files", memory.about.join(", "));
    line("confidence", memory.confidence.map(|value| value.to_string()).unwrap_or_default());
    let date = |at: Option<Timestamp>| at.map_or_else(|| "unknown".to_owned(), Timestamp::date);
    line("dates", format!("created {}, updated {}", date(memory.created), date(memory.updated)));
    match &memory.body {
        Body::Fields(content) => {
            for (key, value) in content.iter() {
                let _ = write!(page, "\n{}\n", key.replace('_', " "));
                paragraph(&mut page, value, "  ");
            }
        }
        Body::Prose(text) => {
            let _ = write!(page, "\n{text}\n");
        }
    }
    if !memory.history.is_empty() {
        page.push_str("\nhistory\n");
        for event in memory.history.iter().rev().take(5) {
            let date: String = event.date().unwrap_or_default().chars().take(10).collect();
            let _ = writeln!(page, "  {date} {}", one_line(event.summary().unwrap_or_default()));
        }
    }
    page
}

fn lifecycle(memory: &Memory) -> String {
    match &memory.lifecycle {
        Lifecycle::Active => "active".to_owned(),
        Lifecycle::Retired { at, reason } | Lifecycle::Archived { at, reason } => {
            let since = at.map_or_else(String::new, |at| format!(" since {}", at.date()));
            let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {}", one_line(reason)));
            format!("{}{since}{reason}", memory.lifecycle.status())
        }
    }
}

fn paragraph(page: &mut String, value: &Json, indent: &str) {
    if let Some(text) = value.as_text() {
        for line in text.lines() {
            let _ = writeln!(page, "{indent}{line}");
        }
    } else if let Some(items) = value.as_list() {
        for item in items {
            let item = item.as_text().map_or_else(|| item.render(JsonFormat::LINE), one_line);
            let _ = writeln!(page, "{indent}- {item}");
        }
    } else if let Some(object) = value.as_object() {
        for (key, value) in object.iter() {
            let _ = writeln!(page, "{indent}{key}");
            paragraph(page, value, &format!("{indent}  "));
        }
    } else {
        let _ = writeln!(page, "{indent}{}", value.render(JsonFormat::LINE));
    }
}

pub(super) fn list(session: &Session<'_>, args: &List) -> CliResult {
    let mut workspace = session.open()?;
    let only_notes = args.category.as_deref() == Some(notes::LANE);
    let kind = args.category.as_deref().filter(|_| !only_notes).map(kind).transpose()?;
    let status = match args.status {
        StatusFilter::Active => Some(Status::Active),
        StatusFilter::Retired => Some(Status::Retired),
        StatusFilter::Archived => Some(Status::Archived),
        StatusFilter::All => None,
    };
    let since = args.since.as_deref().map(|text| moment(text, workspace.now())).transpose()?;
    let tags: Vec<String> = args.tags.iter().map(|tag| fold(tag)).collect();
    let is_plain = tags.is_empty() && since.is_none() && !only_notes && kind.is_none();
    let (entries, total) = match (args.sort, args.limit, status) {
        (Sort::Updated, Some(limit), Some(status)) if is_plain => workspace.recall().newest(status, limit)?,
        _ => {
            let mut entries = workspace.recall().entries(ListFilter { kind, status })?;
            entries.retain(|entry| {
                tags.iter().all(|tag| entry.tags.iter().any(|own| fold(own) == *tag))
                    && since.is_none_or(|since| entry.dated().is_some_and(|changed| changed >= since))
                    && (!only_notes || entry.address.is_note())
            });
            sort(&mut entries, args.sort);
            let total = entries.len();
            entries.truncate(args.limit.unwrap_or(usize::MAX));
            (entries, total)
        }
    };
    output::not_read(&mut workspace)?;
    let pinned = workspace.files().marks().pinned;
    if session.json {
        let memories =
            entries.iter().map(|entry| EntryView::of(entry, pinned.contains(&entry.address), &workspace));
        output::document(&ListView { total, memories: memories.collect() });
    } else {
        let width =
            entries.iter().map(|entry| entry.address.to_string().chars().count()).max().unwrap_or(0).min(48);
        let mut text = String::new();
        for entry in &entries {
            let pin = if pinned.contains(&entry.address) { "*" } else { " " };
            let state =
                if entry.status == Status::Active { String::new() } else { format!(" [{}]", entry.status) };
            let tags = entry.tags.iter().map(|tag| format!(" #{}", one_line(tag))).collect::<String>();
            let date = entry.changed().map_or_else(|| "          ".to_owned(), Timestamp::date);
            let title = cut(&one_line(&entry.title), 80);
            let _ = writeln!(text, "{pin} {date} {:<width$} {title}{state}{tags}", entry.address.to_string());
        }
        if total > entries.len() {
            let _ = writeln!(text, "  … {} more", total - entries.len());
        }
        output::out(&text);
        if total == 0 {
            output::err("nothing is remembered here yet, or nothing matches");
        }
    }
    Ok(if total == 0 { Exit::Nothing } else { Exit::Done })
}

fn sort(entries: &mut [MemorySummary], by: Sort) {
    match by {
        Sort::Updated => sort_newest_first(entries),
        Sort::Created => {
            entries.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.address.cmp(&b.address)));
        }
        Sort::Title => entries.sort_by_key(|entry| (fold(&entry.title), entry.address.clone())),
        Sort::Address => entries.sort_by(|a, b| a.address.cmp(&b.address)),
    }
}

pub(super) fn candidate(session: &Session<'_>, args: &CandidateArgs) -> CliResult {
    let category = category(&args.category)?;
    let mut workspace = session.open()?;
    let verdict = workspace.recall().candidate(category, &args.new_info, args.lifecycle_event.as_deref())?;
    output::document(&verdict);
    Ok(Exit::Done)
}

/// A category of records, or a type of notes.
pub(super) fn kind(name: &str) -> Result<MemoryKind, CliError> {
    match NoteType::parse(name) {
        Some(note_type) => Ok(MemoryKind::Note(note_type)),
        None => category(name).map(MemoryKind::Record),
    }
}

pub(super) fn category(name: &str) -> Result<Category, CliError> {
    Category::parse(name)
        .ok_or_else(|| CliError::usage(unknown_category(name), "`lorelane create --help` has an example"))
}

pub(super) fn assignments(set: &[String]) -> Result<Vec<Assignment>, CliError> {
    let read = |text: &String| match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => {
            Ok(Assignment { path: path.trim().to_owned(), value: value.to_owned() })
        }
        _ => Err(CliError::usage(format!("`--set {text}` sets nothing"), "write --set PATH=VALUE")),
    };
    set.iter().map(read).collect()
}

/// A moment in the past: `12h`, `30d`, `2w` or a date.
pub(super) fn moment(text: &str, now: Timestamp) -> Result<Timestamp, CliError> {
    Timestamp::typed(text, now).map_err(|fault| {
        CliError::usage(format!("`{text}` is {fault}"), "write 12h, 30d, 2w or a date such as 2026-01-31")
    })
}

/// Reads a file or standard input, no more than a record can be.
pub(super) fn read_input(session: &Session<'_>, path: &Path) -> Result<String, CliError> {
    read_text(session, path, RECORD_MAX_BYTES, "give a file with one JSON object")
}

pub(super) fn read_text(
    session: &Session<'_>,
    path: &Path,
    max_bytes: usize,
    hint: &str,
) -> Result<String, CliError> {
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let fault = |why: String| CliError::usage(format!("cannot read {name}: {why}"), hint);
    let limit = max_bytes as u64 + 1;
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        open_given(&session.env.cwd.join(path)).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|why| fault(why.to_string()))?;
    if bytes.len() > max_bytes {
        return Err(fault(format!("it is larger than {} KiB", max_bytes / 1024)));
    }
    let text = String::from_utf8(bytes)
        .map_err(|why| fault(format!("it is not UTF-8 from byte {}", why.utf8_error().valid_up_to())))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
