//! Converts between a note's text and a memory.

use super::frontmatter::NoteDocument;
use super::{NOTE_MAX_BYTES, links, name};
use crate::dialect::{Document, MemoryFile, Syntax};
use crate::json::{Json, Object};
use crate::lifecycle::{Lifecycle, Status};
use crate::markdown;
use crate::memory::{Address, Body, Memory, MemoryKind, NoteType, trash};
use crate::refusal::Refusal;
use crate::text::{cut, one_line};
use crate::time::{TimeFault, Timestamp};
use crate::validity::{NotCurrent, Validity, is_conflicted};
use crate::yaml::{BYTE_ORDER_MARK, FieldEdit, KEYS_MAX, ScalarStyle, YamlValue};

/// The keys that are fields of [`Memory`]; all others go to `extra`.
const MODELLED: [&str; 10] = [
    "title",
    "type",
    "status",
    "tags",
    "created_at",
    "updated_at",
    "retired_at",
    "retired_reason",
    "archived_at",
    "archived_reason",
];

/// Parses a text as a note, or returns why it cannot be one.
pub(super) fn open(text: &str) -> Result<NoteDocument<'_>, String> {
    if text.len() > NOTE_MAX_BYTES {
        return Err(format!("it is larger than {} KiB", NOTE_MAX_BYTES / 1024));
    }
    let document = NoteDocument::read(text);
    if document.entries().len() > KEYS_MAX {
        return Err(format!("its frontmatter has more than {KEYS_MAX} keys"));
    }
    Ok(document)
}

/// The note in a parsed document.
pub(super) fn note_of<'d>(document: &'d Document, address: &Address) -> Result<NoteDocument<'d>, Refusal> {
    match &document.syntax {
        Syntax::Note(spans) => Ok(spans.in_text(&document.text)),
        _ => Err(Refusal::Unreadable { address: address.clone(), why: "it is not a note".to_owned() }),
    }
}

/// The memory in a document.
pub(super) fn memory(document: &NoteDocument<'_>, address: Address) -> Memory {
    let body = document.text[document.body()].to_owned();
    let time = |key: &str| text_of(document, key).and_then(Timestamp::parse).map(|(at, _)| at);
    let title = text_of(document, "title").map(str::to_owned).filter(|title| !title.is_empty());
    Memory {
        kind: MemoryKind::Note(note_type(document).unwrap_or_default()),
        title: title.unwrap_or_else(|| title_without_key(&body, &address)),
        tags: tags(document),
        links: links::links(&body),
        about: Vec::new(),
        lifecycle: lifecycle(document, &address),
        validity: validity(document),
        confidence: None,
        created: time("created_at"),
        updated: time("updated_at"),
        history: Vec::new(),
        revised: 0,
        extra: extra(document),
        body: Body::Prose(body),
        address,
    }
}

/// All problems of a note, those of its frontmatter first.
pub(super) fn problems(document: &NoteDocument<'_>) -> Vec<String> {
    let mut problems = document.problems();
    if document.text.starts_with(BYTE_ORDER_MARK) {
        problems.push("it starts with a byte-order mark, which other readers stumble over".to_owned());
    }
    let says_else = |key: &str| document.get(key).is_some_and(|entry| entry.value != YamlValue::Null);
    if note_type(document).is_none() && says_else("type") {
        let known = NoteType::ALL.map(NoteType::name).join(", ");
        problems.push(format!("type: not one of {known}; it is read as journal"));
    }
    if is_conflicted(document.text) {
        problems.push(NotCurrent::Conflicted.says().to_owned());
    }
    let ends = text_of(document, "status").and_then(NotCurrent::of_status).is_some();
    if status(document).is_none() && !ends && says_else("status") {
        problems.push("status: not one of active, retired, archived; it is read as active".to_owned());
    }
    for key in ["created_at", "updated_at", "retired_at", "archived_at"] {
        let read = text_of(document, key).ok_or(TimeFault::Form).and_then(Timestamp::read);
        if let (true, Err(fault)) = (says_else(key), read) {
            problems.push(format!("{key}: {fault}"));
        }
    }
    if document.get("tags").is_some_and(|entry| entry.value == YamlValue::Other) {
        problems.push("tags: not a list of strings".to_owned());
    }
    if document.frontmatter.is_some()
        && NoteDocument::read(&document.text[document.body()]).frontmatter.is_some()
    {
        problems.push("a second frontmatter block follows the first; it is read as text".to_owned());
    }
    problems
}

pub(super) fn text_of<'p>(document: &'p NoteDocument<'_>, key: &str) -> Option<&'p str> {
    match &document.get(key)?.value {
        YamlValue::Scalar(token) => Some(&token.text),
        _ => None,
    }
}

pub(super) fn note_type(document: &NoteDocument<'_>) -> Option<NoteType> {
    NoteType::parse(text_of(document, "type")?.trim())
}

pub(super) fn status(document: &NoteDocument<'_>) -> Option<Status> {
    Status::parse(text_of(document, "status")?.trim())
}

/// Tags are a YAML list or one comma-separated string.
pub(super) fn tags(document: &NoteDocument<'_>) -> Vec<String> {
    match document.get("tags").map(|entry| &entry.value) {
        Some(YamlValue::List(items, _)) => items.iter().map(|item| item.text.clone()).collect(),
        Some(YamlValue::Scalar(token)) => {
            let tags = token.text.split(',').map(str::trim).filter(|tag| !tag.is_empty());
            tags.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// The title of a note without the key `title`: its first heading, else its file name.
fn title_without_key(body: &str, address: &Address) -> String {
    let heading = markdown::title(body).map(one_line).filter(|title| !title.is_empty());
    heading.unwrap_or_else(|| name::stem(address).to_owned())
}

fn validity(document: &NoteDocument<'_>) -> Validity {
    let active = match text_of(document, "active") {
        Some("false" | "False" | "FALSE") => Some(false),
        _ => None,
    };
    let said = Validity::new(text_of(document, "status"), active, text_of(document, "expires"));
    // Whatever the frontmatter says: with two versions in one file, it may be that of the other one.
    if is_conflicted(document.text) { Validity { ended: Some(NotCurrent::Conflicted), ..said } } else { said }
}

fn lifecycle(document: &NoteDocument<'_>, address: &Address) -> Lifecycle {
    let at = |key: &str| text_of(document, key).and_then(Timestamp::parse).map(|(at, _)| at);
    let reason = |key: &str| text_of(document, key).map(str::to_owned);
    let retired = || Lifecycle::Retired { at: at("retired_at"), reason: reason("retired_reason") };
    match (trash::deleted_at(address), status(document)) {
        // `ragdocs` deletes a note by moving it, so its frontmatter still says `active`: the folder decides.
        (Some(deleted), Some(Status::Retired)) => match retired() {
            Lifecycle::Retired { at: None, reason } => Lifecycle::Retired { at: deleted, reason },
            retired => retired,
        },
        (Some(at), _) => Lifecycle::Retired { at, reason: None },
        (None, Some(Status::Retired)) => retired(),
        (None, Some(Status::Archived)) => {
            Lifecycle::Archived { at: at("archived_at"), reason: reason("archived_reason") }
        }
        (None, Some(Status::Active) | None) => Lifecycle::Active,
    }
}

/// The other keys with their source text, so that nothing is lost by not parsing it. Without the indent and line
/// ends of its file, so that it can be written to another one.
fn extra(document: &NoteDocument<'_>) -> Object {
    let others = document.entries().iter().filter(|entry| !MODELLED.contains(&entry.key.as_str()));
    others.map(|entry| (entry.key.clone(), Json::Text(document.source(entry)))).collect()
}

/// The text of `after`, starting from `base`. Only keys whose value differs are set, so the rest keeps its bytes.
pub(super) fn written(base: Option<&Document>, after: &Memory) -> Result<String, Refusal> {
    let address = &after.address;
    let Body::Prose(body) = &after.body else {
        return Err(Refusal::of_field(
            address,
            "content",
            "A note's content is text",
            "fields",
            "save it as a record",
        ));
    };
    refuse_inexpressible(after)?;
    let document = match base {
        Some(base) => note_of(base, address)?,
        None => NoteDocument::read(""),
    };
    let now = memory(&document, address.clone());
    let is_new = base.is_none();
    let [created, updated] = [after.created, after.updated].map(|at| at.map(|at| at.to_string()));
    let (retired, archived) = match &after.lifecycle {
        Lifecycle::Active => ((None, None), (None, None)),
        Lifecycle::Retired { at, reason } => ((*at, reason.as_deref()), (None, None)),
        Lifecycle::Archived { at, reason } => ((None, None), (*at, reason.as_deref())),
    };
    let [retired_at, archived_at] = [retired.0, archived.0].map(|at| at.map(|at| at.to_string()));

    let mut edits: Vec<(&str, FieldEdit<'_>)> = Vec::new();
    let mut set = |differs: bool, key, edit| {
        if differs {
            edits.push((key, edit));
        }
    };
    set(is_new || now.kind != after.kind, "type", FieldEdit::Text(after.kind.name()));
    let status = FieldEdit::Text(after.lifecycle.status().name());
    set(is_new, "status", status);
    set(is_new || now.tags != after.tags, "tags", FieldEdit::List(&after.tags));
    for (key, before, at, text) in [
        ("created_at", now.created, after.created, created.as_deref()),
        ("updated_at", now.updated, after.updated, updated.as_deref()),
    ] {
        set(before != at, key, time_edit(&document, key, text));
    }
    let has_moved = now.lifecycle != after.lifecycle;
    set(has_moved && !is_new, "status", status);
    for (key, value) in [
        ("retired_at", retired_at.as_deref()),
        ("retired_reason", retired.1),
        ("archived_at", archived_at.as_deref()),
        ("archived_reason", archived.1),
    ] {
        set(has_moved, key, value.map_or(FieldEdit::Remove, FieldEdit::Text));
    }
    for (key, _) in now.extra.iter().filter(|(key, _)| !after.extra.contains(key)) {
        set(true, key, FieldEdit::Remove);
    }
    for (key, value) in after.extra.iter() {
        let source = value.as_text().unwrap_or_default();
        set(now.extra.get(key) != Some(value), key, FieldEdit::Source(source));
    }
    // The key is only needed if neither the heading nor the file name gives this title.
    let key = text_of(&document, "title").filter(|title| !title.is_empty()).map(str::to_owned);
    let title = key.unwrap_or_else(|| title_without_key(body, address));
    set(title != after.title, "title", FieldEdit::Text(&after.title));
    Ok(document.edited(&edits, Some(body.as_str()).filter(|_| now.body != after.body)))
}

/// A time written without quotes stays unquoted, although YAML would quote it as a string.
fn time_edit<'t>(document: &NoteDocument<'_>, key: &str, at: Option<&'t str>) -> FieldEdit<'t> {
    let is_plain = matches!(document.get(key).map(|entry| &entry.value), Some(YamlValue::Scalar(token)) if token.style == ScalarStyle::Plain);
    match at {
        Some(at) if is_plain => FieldEdit::Source(at),
        Some(at) => FieldEdit::Text(at),
        None => FieldEdit::Remove,
    }
}

/// Rejects a memory with fields that records have and notes do not.
fn refuse_inexpressible(after: &Memory) -> Result<(), Refusal> {
    let deleted = trash::deleted_at(&after.address).is_some();
    let (field, expected, fix) = if after.kind.note_type().is_none() {
        ("type", "One of the note types", "choose a note type")
    } else if after.confidence.is_some() {
        ("confidence", "A note has no confidence", "state in the text how sure you are")
    } else if !after.about.is_empty() {
        ("related_files", "A note links files in its text", "link them there, as in [[src/auth.rs]]")
    } else if !after.history.is_empty() || after.revised > 0 {
        ("history", "A note has no history in its file", "use `lorelane log`")
    } else if deleted && after.lifecycle.status() != Status::Retired {
        ("status", "A note in the trash is deleted", "restore it first")
    } else {
        return Ok(());
    };
    Err(Refusal::of_field(&after.address, field, expected, "null", fix))
}

/// The last check before a write, for cases the rules above miss: the text must parse back to the saved memory.
pub(super) fn refuse_what_reads_differently(file: &MemoryFile, after: &Memory) -> Result<(), Refusal> {
    let text = &file.document.text;
    if text.len() > NOTE_MAX_BYTES {
        let expected = format!("A note should be at most {} KiB", NOTE_MAX_BYTES / 1024);
        let got = format!("{} KiB, starting {}", text.len() / 1024, cut(&one_line(&after.title), 100));
        let fix = "keep what is worth remembering and link to the rest";
        return Err(Refusal::of_field(&after.address, "content", &expected, &got, fix));
    }
    let again = &file.memory;
    let field = if again.title != after.title {
        "title"
    } else if again.body != after.body {
        "content"
    } else if again.tags != after.tags {
        "tags"
    } else if again.extra != after.extra {
        "frontmatter"
    } else if again.lifecycle != after.lifecycle {
        "status"
    } else if (again.kind, again.created, again.updated) != (after.kind, after.created, after.updated) {
        "frontmatter"
    } else {
        return Ok(());
    };
    let fix = "remove what YAML frontmatter cannot hold, and spaces around the text";
    Err(Refusal::of_field(&after.address, field, "It should read back unchanged", "null", fix))
}
