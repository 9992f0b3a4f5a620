//! Turns a draft into a topic file.

use super::model::{
    METADATA, auto_type, document_of, malformed, memory, open, scalar, set, stem, type_edits, written,
};
use crate::change::{Assignment, Draft, PartialInput};
use crate::dialect::notes::{NoteDocument, NoteSpans, appended, no_fields, why_no_name, with_line_ends};
use crate::dialect::{Composed, Document, MemoryFile, Syntax};
use crate::markdown::{LineKind, lines};
use crate::memory::{Address, AutoType, Memory};
use crate::refusal::{MergeFault, Refusal};
use crate::text::{cut, one_line};
use crate::yaml::{BYTE_ORDER_MARK, FieldEdit};

const DESCRIPTION_MAX: usize = 150;
/// Keys that the client sets.
const CLIENTS_OWN: [&str; 2] = ["modified", "originSessionId"];

pub(super) fn create(address: &Address, draft: &Draft) -> Result<Composed, Refusal> {
    refuse_name(address)?;
    let (Draft::Whole(draft) | Draft::Edited { text: draft, .. }) = draft else {
        return Err(Refusal::Missing { address: address.clone() });
    };
    let draft = draft.strip_prefix(BYTE_ORDER_MARK).unwrap_or(draft);
    let mut text = format!("{}\n", draft.trim_end());
    let document = opened(&text, address)?;
    let body = text[document.body()].to_owned();
    refuse_empty(address, &body)?;
    let wanted = match auto_type(&document) {
        AutoType::Unknown => match said_type(&document) {
            Some(other) => return Err(unknown_type(address, &other)),
            None => AutoType::Project,
        },
        known => known,
    };
    let said = |key: &str| scalar(&document, &[key]).is_some_and(|text| !text.trim().is_empty());
    let (has_name, has_description) = (said("name"), said("description"));
    let is_flat = scalar(&document, &["type"]).is_some();
    if !has_name {
        text = set(&text, &["name"], FieldEdit::Source(stem(address)));
    }
    if !has_description {
        text = set(&text, &["description"], FieldEdit::Text(&description(&body)));
    }
    // A new file has the shape that the client writes today.
    for key in ["type", "kind"].into_iter().filter(|_| is_flat) {
        text = set(&text, &[key], FieldEdit::Remove);
    }
    if scalar(&NoteDocument::read(&text), &[METADATA, "node_type"]).is_none() {
        text = set(&text, &[METADATA, "node_type"], FieldEdit::Source("memory"));
    }
    let edits = type_edits(&NoteDocument::read(&text), wanted);
    text = edits.into_iter().fold(text, |text, (path, edit)| set(&text, &path, edit));
    let memory = memory(&opened(&text, address)?, address.clone());
    Ok(Composed { memory, base_text: Some(text), rename_to: None, notices: Vec::new() })
}

pub(super) fn revise(address: &Address, old: &MemoryFile, draft: &Draft) -> Result<Composed, Refusal> {
    let MemoryFile { document: old, memory: before, .. } = old;
    let document = document_of(old, address)?;
    if let Some(why) = malformed(&document).into_iter().next() {
        return Err(Refusal::Unreadable { address: address.clone(), why });
    }
    if address.is_in_archive() {
        return Err(Refusal::of_field(address, "status", "It is archived", "null", "restore it first"));
    }
    let text = match draft {
        Draft::Renamed { to } => {
            refuse_name(to)?;
            let memory = Memory { address: address.clone(), ..memory(&document, to.clone()) };
            let rename_to = Some(to.clone()).filter(|to| to != address);
            return Ok(Composed { memory, base_text: None, rename_to, notices: Vec::new() });
        }
        Draft::Whole(text) | Draft::Edited { text, .. } => overlaid(&document, text, address)?,
        Draft::Append { text } => appended(&document, text, address)?,
        Draft::Partial { add_tags, .. } if !add_tags.is_empty() => {
            let (expected, fix) =
                ("Claude Code's memories have no tags", "put the words into the description");
            return Err(Refusal::of_field(address, "tags", expected, "null", fix));
        }
        Draft::Partial { from, set, .. } => {
            let text = match from {
                Some(PartialInput::Text(text)) => overlaid(&document, text, address)?,
                Some(PartialInput::Fields(fields)) if !fields.is_empty() => {
                    return Err(no_fields(address, fields));
                }
                Some(PartialInput::Fields(_)) | None => old.text.clone(),
            };
            set.iter().try_fold(text, |text, assignment| assigned(&text, assignment, address))?
        }
    };
    let new = opened(&text, address)?;
    if !document.body().is_empty() {
        refuse_empty(address, &text[new.body()])?;
    }
    let after = memory(&new, address.clone());
    let rewritten = text != old.text;
    let memory = if after == *before { before.clone() } else { after };
    Ok(Composed { memory, base_text: rewritten.then_some(text), rename_to: None, notices: Vec::new() })
}

/// The draft's body and the keys of its frontmatter, applied to the old file; other keys stay.
fn overlaid(old: &NoteDocument<'_>, draft: &str, address: &Address) -> Result<String, Refusal> {
    let draft = with_line_ends(draft.strip_prefix(BYTE_ORDER_MARK).unwrap_or(draft), old.line_end());
    let new = opened(&draft, address)?;
    let given = memory(&new, address.clone());
    let text = old.edited(&[], Some(&draft[new.body()]));
    if new.frontmatter.is_none() {
        return Ok(text);
    }
    let base = memory(&NoteDocument::read(&text), address.clone());
    let mut after = Memory { title: given.title, kind: given.kind, ..base.clone() };
    for (key, value) in given.extra.iter() {
        after.extra.set(key, value.clone());
    }
    if given.kind.auto_type() == Some(AutoType::Unknown) {
        after.kind = base.kind;
    }
    let spans = NoteSpans::of(&NoteDocument::read(&text));
    written(Some(&Document { text, syntax: Syntax::Note(spans) }), &after)
}

fn assigned(text: &str, assignment: &Assignment, address: &Address) -> Result<String, Refusal> {
    let (key, append) = match assignment.path.strip_suffix('+') {
        Some(key) => (key, true),
        None => (assignment.path.as_str(), false),
    };
    let document = NoteDocument::read(text);
    let value = with_line_ends(&assignment.value, document.line_end());
    let last = key.strip_prefix("metadata.").unwrap_or(key);
    match key {
        "content" | "body" if append => appended(&document, &value, address),
        "content" | "body" => overlaid(&document, &value, address),
        "tags" => Err(Refusal::of_field(
            address,
            "tags",
            "Claude Code's memories have no tags",
            &value,
            "leave them out",
        )),
        "type" | "metadata.type" => match AutoType::parse(&value) {
            AutoType::Unknown => Err(unknown_type(address, &value)),
            to => {
                let edits = type_edits(&document, to);
                Ok(edits.into_iter().fold(text.to_owned(), |text, (path, edit)| set(&text, &path, edit)))
            }
        },
        "status" => Err(fixed_field(
            address,
            "status",
            "Use `lorelane retire`, `lorelane archive` or `lorelane restore`",
        )),
        _ if CLIENTS_OWN.contains(&last) => Err(fixed_field(address, "metadata", "Claude Code sets it")),
        "" => Err(Refusal::of_field(address, "frontmatter", "A key needs a name", "\"\"", "name the key")),
        "title" => Ok(set(text, &["description"], FieldEdit::Text(&value))),
        key if last != key => Ok(set(text, &[METADATA, last], FieldEdit::Text(&value))),
        key => Ok(set(text, &[key], FieldEdit::Text(&value))),
    }
}

fn opened<'t>(text: &'t str, address: &Address) -> Result<NoteDocument<'t>, Refusal> {
    let unreadable = |why| Refusal::Unreadable { address: address.clone(), why };
    let document = open(text).map_err(unreadable)?;
    match malformed(&document).into_iter().next() {
        Some(why) => Err(unreadable(why)),
        None => Ok(document),
    }
}

fn said_type(document: &NoteDocument<'_>) -> Option<String> {
    let said = scalar(document, &[METADATA, "type"]).or_else(|| scalar(document, &["type"]))?;
    Some(said).filter(|said| !said.trim().is_empty())
}

/// The first line of the text that says something.
fn description(body: &str) -> String {
    let lines = lines(body);
    let said = lines.iter().find_map(|line| match line.kind {
        LineKind::Heading { title, .. } if !title.is_empty() => Some(title),
        LineKind::Text => Some(line.text),
        _ => None,
    });
    cut(&one_line(said.unwrap_or(body)), DESCRIPTION_MAX)
}

fn refuse_name(address: &Address) -> Result<(), Refusal> {
    let expected = match why_no_name(address.name()) {
        Some(why) => format!("Not a valid name: {why}"),
        None if address.is_memory_file() || address.is_in_archive() => {
            "Not a valid name: the index and the archive have it".to_owned()
        }
        None => return Ok(()),
    };
    Err(Refusal::of_field(address, "filename", &expected, &cut(address.name(), 200), "choose another name"))
}

fn refuse_empty(address: &Address, body: &str) -> Result<(), Refusal> {
    if !body.trim().is_empty() {
        return Ok(());
    }
    let (expected, fix) = ("A memory should not be empty", "write what is worth remembering");
    Err(Refusal::of_field(address, "content", expected, "\"\"", fix))
}

fn unknown_type(address: &Address, got: &str) -> Refusal {
    let known: Vec<&str> =
        AutoType::ALL.into_iter().filter(|known| *known != AutoType::Unknown).map(AutoType::name).collect();
    let expected = format!("One of {}", known.join(", "));
    Refusal::of_field(address, "type", &expected, &cut(got, 200), "choose one of these types")
}

fn fixed_field(address: &Address, field: &'static str, fix: &str) -> Refusal {
    let fault = MergeFault { field, rule: "immutable via UPDATE", details: Vec::new(), fix: fix.to_owned() };
    Refusal::Merge { address: address.clone(), fault }
}
