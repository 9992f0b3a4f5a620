//! Converts between a topic file's text and a memory.
//!
//! The title is the description: the name is a short identifier, and the file has one too. Both shapes of the
//! frontmatter are read: `type` below `metadata`, and `type` beside the name, as older versions of the client wrote
//! it. Every other key is kept in `extra`; those below `metadata` as `metadata.key`.

use super::index::MemoryIndex;
use crate::dialect::notes::{NOTE_MAX_BYTES, NoteDocument, links};
use crate::dialect::{Document, MemoryFile, Syntax};
use crate::json::{Json, Object};
use crate::lifecycle::Lifecycle;
use crate::markdown;
use crate::memory::{Address, AutoType, Body, Memory, MemoryKind, trash};
use crate::refusal::Refusal;
use crate::text::one_line;
use crate::time::Timestamp;
use crate::validity::{NotCurrent, Validity, is_conflicted};
use crate::yaml::{BYTE_ORDER_MARK, FieldEdit, KEYS_MAX, YamlValue};

pub(super) const METADATA: &str = "metadata";
/// The value of `metadata.kind` for what the client would not accept as a type.
const VALUE_KIND: &str = "value";

/// Parses a text, or returns why it cannot be a memory.
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

/// Whether it is an index, or a `MEMORY.md` with nothing but headings.
pub(super) fn is_index(address: &Address, text: &str) -> bool {
    address.is_memory_file() && !MemoryIndex::parse(text).is_standalone()
}

pub(super) fn document_of<'d>(
    document: &'d Document,
    address: &Address,
) -> Result<NoteDocument<'d>, Refusal> {
    match &document.syntax {
        Syntax::Note(spans) => Ok(spans.in_text(&document.text)),
        _ => Err(Refusal::Unreadable {
            address: address.clone(),
            why: "it is not a memory with frontmatter".to_owned(),
        }),
    }
}

/// The memory in a document.
pub(super) fn memory(document: &NoteDocument<'_>, address: Address) -> Memory {
    let body = document.text[document.body()].to_owned();
    let modified =
        [&[METADATA, "modified"][..], &["modified"]].iter().find_map(|path| scalar(document, path));
    let conflicted = is_conflicted(document.text).then_some(NotCurrent::Conflicted);
    Memory {
        kind: MemoryKind::Auto(auto_type(document)),
        title: title(document, &body, &address),
        tags: Vec::new(),
        links: links(&body),
        about: Vec::new(),
        lifecycle: lifecycle(&address),
        validity: Validity { ended: conflicted, ..Validity::default() },
        confidence: None,
        created: None,
        updated: modified.and_then(|at| Timestamp::parse(&at)).map(|(at, _)| at),
        history: Vec::new(),
        revised: 0,
        extra: extra(document),
        body: Body::Prose(body),
        address,
    }
}

/// The folder decides. Whether a memory in the archive was retired, only a mark can say.
fn lifecycle(address: &Address) -> Lifecycle {
    match address.is_in_archive() {
        true => Lifecycle::Archived { at: None, reason: None },
        false => Lifecycle::Active,
    }
}

/// All problems of a file, those of its frontmatter first.
pub(super) fn problems(document: &NoteDocument<'_>, address: &Address) -> Vec<String> {
    let mut problems = malformed(document);
    if document.text.starts_with(BYTE_ORDER_MARK) {
        problems.push("it starts with a byte-order mark, which other readers stumble over".to_owned());
    }
    if is_conflicted(document.text) {
        problems.push(NotCurrent::Conflicted.says().to_owned());
    }
    if address.is_memory_file() {
        return problems;
    }
    if document.frontmatter.is_none() {
        problems
            .push("it has no frontmatter with name, description and type; its type is unknown".to_owned());
        return problems;
    }
    for key in ["name", "description"] {
        if scalar(document, &[key]).is_none_or(|text| text.trim().is_empty()) {
            problems.push(format!("`{key}` is missing"));
        }
    }
    if type_path(document).is_none() {
        problems.push("`type` is missing, so it is read as unknown".to_owned());
    }
    problems
}

/// What is wrong with the frontmatter itself. Such a file is read and never written.
pub(super) fn malformed(document: &NoteDocument<'_>) -> Vec<String> {
    let mut problems = document.problems();
    let opens = document
        .text
        .trim_start_matches(BYTE_ORDER_MARK)
        .lines()
        .next()
        .is_some_and(|line| line.trim_end() == "---");
    if problems.is_empty() && opens && document.frontmatter.is_none() {
        problems.push(
            "what is between its `---` lines is not a list of keys, so everything is read as text".to_owned(),
        );
    }
    problems
}

pub(super) fn scalar(document: &NoteDocument<'_>, path: &[&str]) -> Option<String> {
    document.frontmatter.as_ref()?.scalar(path)
}

/// Where the type is written.
fn type_path(document: &NoteDocument<'_>) -> Option<&'static [&'static str]> {
    let paths: [&[&str]; 2] = [&[METADATA, "type"], &["type"]];
    paths.into_iter().find(|path| scalar(document, path).is_some_and(|text| !text.trim().is_empty()))
}

pub(super) fn auto_type(document: &NoteDocument<'_>) -> AutoType {
    let said = type_path(document).and_then(|path| scalar(document, path)).unwrap_or_default();
    match AutoType::parse(&said) {
        AutoType::Feedback if kind_path(document).is_some() => AutoType::Value,
        known => known,
    }
}

/// Where a feedback memory says that it is a value.
fn kind_path(document: &NoteDocument<'_>) -> Option<&'static [&'static str]> {
    let paths: [&[&str]; 2] = [&[METADATA, "kind"], &["kind"]];
    paths.into_iter().find(|path| scalar(document, path).as_deref() == Some(VALUE_KIND))
}

fn title(document: &NoteDocument<'_>, body: &str, address: &Address) -> String {
    let said =
        |key: &str| scalar(document, &[key]).map(|text| one_line(&text)).filter(|text| !text.is_empty());
    let own = if address.is_memory_file() { None } else { said("description") };
    own.unwrap_or_else(|| title_without_description(document, body, address))
}

fn title_without_description(document: &NoteDocument<'_>, body: &str, address: &Address) -> String {
    let name = scalar(document, &["name"]).filter(|_| !address.is_memory_file());
    let name = name.map(|name| one_line(&name)).filter(|name| !name.is_empty());
    let heading = || markdown::title(body).map(one_line).filter(|title| !title.is_empty());
    name.or_else(heading).unwrap_or_else(|| stem(address).to_owned())
}

/// The name without folders and without the time that the archive may add, so an archived memory keeps its title.
pub(super) fn stem(address: &Address) -> &str {
    let name = address.name();
    let name = trash::split_time(name).filter(|_| address.is_in_archive()).map_or(name, |(name, _)| name);
    name.rsplit_once('/').map_or(name, |(_, stem)| stem)
}

/// The other keys with their source text, without the indent and line ends of their file.
fn extra(document: &NoteDocument<'_>) -> Object {
    let auto_type = auto_type(document);
    let known_type = type_path(document).filter(|_| auto_type != AutoType::Unknown);
    let known_kind = kind_path(document).filter(|_| auto_type == AutoType::Value);
    let modelled =
        |path: &[&str]| path == ["description"] || known_type == Some(path) || known_kind == Some(path);
    let mut extra = Object::new();
    for entry in document.entries() {
        let below = document.frontmatter.as_ref().filter(|_| entry.key == METADATA);
        match below.and_then(|frontmatter| frontmatter.child(entry)) {
            Some(metadata) => {
                for entry in metadata.entries.iter().filter(|entry| !modelled(&[METADATA, &entry.key])) {
                    extra.set(&format!("{METADATA}.{}", entry.key), Json::Text(metadata.source(entry)));
                }
            }
            None if modelled(&[&entry.key]) => {}
            None if entry.key == METADATA && entry.value == YamlValue::Null => {}
            None => extra.set(&entry.key, Json::Text(document.source(entry))),
        }
    }
    extra
}

/// The path of a key in `extra`.
fn path_of(key: &str) -> Vec<&str> {
    match key.strip_prefix(METADATA).and_then(|rest| rest.strip_prefix('.')).filter(|below| !below.is_empty())
    {
        Some(below) => vec![METADATA, below],
        None => vec![key],
    }
}

/// The text of `after`, starting from `base`. Only keys whose value differs are set, so the rest keeps its bytes.
pub(super) fn written(base: Option<&Document>, after: &Memory) -> Result<String, Refusal> {
    let address = &after.address;
    let Body::Prose(body) = &after.body else {
        return Err(Refusal::of_field(
            address,
            "content",
            "Its content is text",
            "fields",
            "save it as a record",
        ));
    };
    refuse_inexpressible(after)?;
    let document = match base {
        Some(base) => document_of(base, address)?,
        None => NoteDocument::read(""),
    };
    let now = memory(&document, address.clone());
    let mut edits: Vec<(Vec<&str>, FieldEdit<'_>)> = Vec::new();
    for (key, _) in now.extra.iter().filter(|(key, _)| !after.extra.contains(key)) {
        edits.push((path_of(key), FieldEdit::Remove));
    }
    for (key, value) in after.extra.iter().filter(|(key, value)| now.extra.get(key) != Some(value)) {
        edits.push((path_of(key), FieldEdit::Source(value.as_text().unwrap_or_default())));
    }
    let described = scalar(&document, &["description"]).is_some_and(|text| !text.trim().is_empty());
    let title = match described {
        true => now.title.clone(),
        false => title_without_description(&document, body, address),
    };
    if title != after.title {
        edits.push((vec!["description"], FieldEdit::Text(&after.title)));
    }
    if now.kind != after.kind {
        edits.extend(type_edits(&document, after.kind.auto_type().unwrap_or_default()));
    }
    let text = document.edited(&[], Some(body.as_str()).filter(|_| now.body != after.body));
    Ok(edits.into_iter().fold(text, |text, (path, edit)| set(&text, &path, edit)))
}

/// The edits that give a file this type, in the shape that it has.
pub(super) fn type_edits(
    document: &NoteDocument<'_>,
    to: AutoType,
) -> Vec<(Vec<&'static str>, FieldEdit<'static>)> {
    let path = type_path(document).unwrap_or(&[METADATA, "type"]);
    let kind: &[&str] = if path.len() == 1 { &["kind"] } else { &[METADATA, "kind"] };
    let said = match to {
        AutoType::Unknown => FieldEdit::Remove,
        AutoType::Value => FieldEdit::Source(AutoType::Feedback.name()),
        known => FieldEdit::Source(known.name()),
    };
    let mut edits = vec![(path.to_vec(), said)];
    if let Some(old) = kind_path(document) {
        edits.push((old.to_vec(), FieldEdit::Remove));
    }
    if to == AutoType::Value {
        edits.push((kind.to_vec(), FieldEdit::Source(VALUE_KIND)));
    }
    edits
}

/// The text with one field edited. A text without frontmatter gets one. An edit that broken lines make impossible is
/// skipped, and the caller sees that the memory reads differently.
pub(super) fn set(text: &str, path: &[&str], edit: FieldEdit<'_>) -> String {
    let document = NoteDocument::read(text);
    match (&document.frontmatter, path, edit) {
        (Some(frontmatter), ..) => frontmatter.edited(path, edit).unwrap_or_else(|| text.to_owned()),
        (None, _, FieldEdit::Remove) => text.to_owned(),
        (None, [key], edit) => document.with_keys(&[(key, edit)]),
        (None, [key, ..], _) => {
            let opened = document.with_keys(&[(key, FieldEdit::Source(""))]);
            let nested = NoteDocument::read(&opened).frontmatter.and_then(|opened| opened.edited(path, edit));
            nested.unwrap_or_else(|| text.to_owned())
        }
        (None, [], _) => text.to_owned(),
    }
}

/// Rejects a memory with fields that this format does not have.
fn refuse_inexpressible(after: &Memory) -> Result<(), Refusal> {
    let (field, expected, fix) = if after.kind.auto_type().is_none() {
        ("type", "One of user, feedback, project, reference, value", "choose one of these types")
    } else if !after.tags.is_empty() {
        ("tags", "Claude Code's memories have no tags", "put the words into the description")
    } else if after.lifecycle != Lifecycle::Active && !after.address.is_in_archive() {
        ("status", "What is out of use is in archive/", "move it there")
    } else if after.confidence.is_some() {
        ("confidence", "Claude Code's memories have no confidence", "state in the text how sure you are")
    } else if !after.about.is_empty() {
        ("related_files", "Claude Code's memories name files in their text", "name them there")
    } else if !after.history.is_empty() || after.revised > 0 {
        ("history", "The file has no history", "use `lorelane log`")
    } else {
        return Ok(());
    };
    Err(Refusal::of_field(&after.address, field, expected, "null", fix))
}

/// The last check before a write: the text must parse back to the saved memory.
pub(super) fn refuse_what_reads_differently(file: &MemoryFile, after: &Memory) -> Result<(), Refusal> {
    let again = &file.memory;
    let field = if file.document.text.len() > NOTE_MAX_BYTES || again.body != after.body {
        "content"
    } else if again.title != after.title {
        "description"
    } else if again.kind != after.kind {
        "type"
    } else if again.extra != after.extra {
        "frontmatter"
    } else {
        return Ok(());
    };
    let fix = "remove what YAML frontmatter cannot hold, and spaces around the text";
    Err(Refusal::of_field(&after.address, field, "It should read back unchanged", "null", fix))
}
