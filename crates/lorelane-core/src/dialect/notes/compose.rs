//! Turns a draft into a note: keeps the frontmatter unless the draft has one, and rejects what would be lost or
//! misread.

use super::frontmatter::{NoteDocument, NoteSpans};
use super::model::{memory, note_of, note_type, open, problems, tags, text_of, written};
use super::{name, patch};
use crate::change::{Assignment, Draft, Notice, PartialInput};
use crate::dialect::{Composed, Document, MemoryFile, Syntax, WriteContext};
use crate::json::{Json, JsonFormat, Object};
use crate::lifecycle::{Lifecycle, Status};
use crate::markdown;
use crate::memory::{Address, Memory, NoteType};
use crate::refusal::{FieldFault, MergeFault, Refusal};
use crate::text::{cut, fold, one_line};
use crate::time::Timestamp;
use crate::yaml::{BYTE_ORDER_MARK, FieldEdit, YamlEntry, YamlValue};

/// The lifecycle keys other than `status`.
const CIRCUMSTANCES: [&str; 4] = ["retired_at", "retired_reason", "archived_at", "archived_reason"];

/// The text of a new note. Frontmatter in the content is kept: the type is set only if one is given, and the tags
/// are added to those already there.
pub fn draft(content: &str, note_type: Option<NoteType>, tags_to_add: &[String]) -> String {
    let text = tidied(content);
    let document = NoteDocument::read(&text);
    let is_plain = document.frontmatter.is_none();
    let mut edits = Vec::new();
    if note_type.is_some() || is_plain {
        edits.push(("type", FieldEdit::Text(note_type.unwrap_or_default().name())));
    }
    if is_plain {
        edits.push(("status", FieldEdit::Text(Status::Active.name())));
    }
    // Tags that cannot be parsed are left as they are; they are rejected later, with all problems of the
    // frontmatter.
    let all = understood_tags(&document).map(|known| joined(known, tags_to_add)).unwrap_or_default();
    if !all.is_empty() {
        edits.push(("tags", FieldEdit::List(&all)));
    }
    document.with_keys(&edits)
}

/// The draft with this title: as its first heading, or as the key `title` if it already has another heading.
pub fn titled(draft: &str, title: &str) -> String {
    let title = one_line(title);
    let body = &draft[NoteDocument::read(draft).body()];
    match markdown::title(body) {
        Some(known) if one_line(known) == title => draft.to_owned(),
        Some(_) => patch::set(draft, "title", FieldEdit::Text(&title)),
        None => patch::set_body(draft, &format!("# {title}\n\n{body}")),
    }
}

pub(super) fn create(address: &Address, draft: &Draft, context: &WriteContext) -> Result<Composed, Refusal> {
    refuse_name(address)?;
    let (Draft::Whole(draft) | Draft::Edited { text: draft, .. }) = draft else {
        return Err(Refusal::Missing { address: address.clone() });
    };
    let mut notices = Vec::new();
    let text = tidied(draft);
    let document = opened(&text, address)?;
    refuse_new_problems(address, &[], &document)?;
    refuse_empty(address, &text[document.body()])?;
    let note_type = note_type(&document).unwrap_or_default();
    let created = text_of(&document, "created_at").is_some();
    let (given, kept) = (tags(&document), joined(Vec::new(), &tags(&document)));
    let now = context.now.to_string();
    let mut edits =
        vec![("type", FieldEdit::Text(note_type.name())), ("status", FieldEdit::Text(Status::Active.name()))];
    if given != kept || document.get("tags").is_none() {
        edits.push(("tags", FieldEdit::List(&kept)));
    }
    if given != kept {
        notices.push(Notice::fixed("tags", "removed empty tags, duplicates and line breaks"));
    }
    if !created {
        edits.push(("created_at", FieldEdit::Text(&now)));
    }
    edits.extend(CIRCUMSTANCES.map(|key| (key, FieldEdit::Remove)));
    let fresh = document.with_keys(&edits);
    let memory = memory(&opened(&fresh, address)?, address.clone());
    Ok(Composed { memory, base_text: Some(fresh), rename_to: None, notices })
}

pub(super) fn revise(
    address: &Address,
    old: &MemoryFile,
    draft: &Draft,
    context: &WriteContext,
) -> Result<Composed, Refusal> {
    let MemoryFile { document: old, memory: before, .. } = old;
    let document = note_of(old, address)?;
    if address.is_trash() {
        let fix = "restore it first";
        return Err(Refusal::of_field(address, "status", "A note in the trash is deleted", "null", fix));
    }
    let mut notices = Vec::new();
    let text = match draft {
        Draft::Renamed { to } => {
            refuse_name(to)?;
            let wants = Some(to.clone()).filter(|to| to != address);
            // A note without a title of its own takes it from the file name, so a rename changes it.
            let memory = Memory { address: address.clone(), ..memory(&document, to.clone()) };
            return Ok(Composed { memory, base_text: None, rename_to: wants, notices });
        }
        Draft::Whole(text) => overlaid(&document, text, address)?,
        Draft::Append { text } => appended(&document, text, address)?,
        Draft::Edited { text, .. } => match opened(text, address)?.frontmatter {
            Some(_) => text.clone(),
            None => overlaid(&document, text, address)?,
        },
        Draft::Partial { from, set, add_tags, .. } => {
            let mut text = match from {
                Some(PartialInput::Text(text)) => overlaid(&document, text, address)?,
                Some(PartialInput::Fields(fields)) if !fields.is_empty() => {
                    return Err(no_fields(address, fields));
                }
                Some(PartialInput::Fields(_)) | None => old.text.clone(),
            };
            for assignment in set {
                text = assigned(&text, assignment, address)?;
            }
            if !add_tags.is_empty() {
                let known = tags_to_add_to(&NoteDocument::read(&text), address)?;
                let all = joined(known.clone(), add_tags);
                if all != known {
                    text = patch::set(&text, "tags", FieldEdit::List(&all));
                }
            }
            text
        }
    };
    let new = match draft {
        // Appending does not change the frontmatter, so its spans are reused.
        Draft::Append { .. } if document.frontmatter.is_some() => NoteSpans::of(&document).in_text(&text),
        _ => opened(&text, address)?,
    };
    refuse_new_problems(address, &problems(&document), &new)?;
    let body = &text[new.body()];
    if !document.body().is_empty() {
        refuse_empty(address, body)?;
    }
    let mut after = memory(&new, address.clone());
    let is_whole = matches!(draft, Draft::Edited { .. });
    if after == *before {
        // A YAML comment is not part of the memory, but an edit to one is still written.
        let template = (is_whole && text != old.text).then_some(text);
        return Ok(Composed { memory: before.clone(), base_text: template, rename_to: None, notices });
    }
    if document.get("created_at").is_some() && after.created != before.created {
        notices.push(Notice::warning("created_at was not changed: an update cannot set it"));
        after.created = before.created;
    }
    date_the_lifecycle(before, &mut after, context.now);
    // A note without frontmatter does not get one for a date: the file's mtime tells when it changed.
    if document.frontmatter.is_some() || new.frontmatter.is_some() {
        after.updated = Some(context.now);
    }
    // An edited note is written from its draft, which keeps new comments in the frontmatter.
    let template = match is_whole {
        true => {
            let edited = Document { syntax: Syntax::Note(NoteSpans::of(&new)), text };
            Some(written(Some(&edited), &after)?)
        }
        false => None,
    };
    Ok(Composed { memory: after, base_text: template, rename_to: None, notices })
}

/// The draft without a byte-order mark and with one line end at its end. Without frontmatter, leading empty lines
/// are removed as well: they would end up between the text and the frontmatter that is added.
fn tidied(draft: &str) -> String {
    let draft = draft.strip_prefix(BYTE_ORDER_MARK).unwrap_or(draft);
    let document = NoteDocument::read(draft);
    let body = document.body();
    // Text that would parse as frontmatter at the start of the file keeps the empty line above it.
    let start = match document.frontmatter {
        None if !patch::looks_like_frontmatter(&draft[body.clone()]) => body.start,
        _ => 0,
    };
    let end = if body.is_empty() { draft.trim_end().len() } else { body.end };
    format!("{}{}", &draft[start.min(end)..end], document.line_end())
}

fn opened<'t>(text: &'t str, address: &Address) -> Result<NoteDocument<'t>, Refusal> {
    open(text).map_err(|why| Refusal::Unreadable { address: address.clone(), why })
}

/// The draft's body and the keys of its frontmatter, applied to the old note; other keys stay.
fn overlaid(old: &NoteDocument<'_>, draft: &str, address: &Address) -> Result<String, Refusal> {
    let draft = with_line_ends(draft.strip_prefix(BYTE_ORDER_MARK).unwrap_or(draft), old.line_end());
    let document = opened(&draft, address)?;
    refuse_new_problems(address, &[], &document)?;
    let mut given: Vec<(&str, String)> = Vec::new();
    for entry in document.entries() {
        let same = |standing: &YamlEntry| match (standing.value_text(), entry.value_text()) {
            (None, None) => old.source(standing) == document.source(entry),
            (standing, given) => standing == given,
        };
        if !old.get(&entry.key).is_some_and(same) {
            given.push((&entry.key, document.source(entry)));
        }
    }
    let edits: Vec<_> = given.iter().map(|(key, source)| (*key, FieldEdit::Source(source))).collect();
    Ok(old.edited(&edits, Some(&draft[document.body()])))
}

/// The old body, one blank line, and the new text.
pub(in crate::dialect) fn appended(
    old: &NoteDocument<'_>,
    more: &str,
    address: &Address,
) -> Result<String, Refusal> {
    let end = old.line_end();
    let more = with_line_ends(more.strip_prefix(BYTE_ORDER_MARK).unwrap_or(more), end);
    let document = NoteDocument::read(&more);
    if document.frontmatter.is_some() {
        let fix = "leave the frontmatter out, or change the note's own with `lorelane update`";
        return Err(Refusal::of_field(address, "content", "Text without frontmatter", "frontmatter", fix));
    }
    let more = &more[document.body()];
    refuse_empty(address, more)?;
    let body = &old.text[old.body()];
    let all = if body.is_empty() { more.to_owned() } else { format!("{body}{end}{end}{more}") };
    Ok(old.with_body(&all))
}

fn assigned(text: &str, assignment: &Assignment, address: &Address) -> Result<String, Refusal> {
    let (key, append) = match assignment.path.strip_suffix('+') {
        Some(key) => (key, true),
        None => (assignment.path.as_str(), false),
    };
    let document = NoteDocument::read(text);
    let value = with_line_ends(&assignment.value, document.line_end());
    match key {
        "content" | "body" if append => appended(&document, &value, address),
        "content" | "body" => overlaid(&document, &value, address),
        "tags" => {
            let typed: Vec<String> = value.split(',').map(str::to_owned).collect();
            let known = if append { tags_to_add_to(&document, address)? } else { Vec::new() };
            let all = joined(known, &typed);
            Ok(document.with_keys(&[("tags", FieldEdit::List(&all))]))
        }
        "created_at" | "updated_at" => Err(fixed_field(address, "created_at", "lorelane sets it")),
        "status" | "retired_at" | "retired_reason" | "archived_at" | "archived_reason" => {
            let fix = "Use `lorelane retire`, `lorelane archive` or `lorelane restore`";
            Err(fixed_field(address, "status", fix))
        }
        "type" if NoteType::parse(&value).is_none() => Err(unknown_type(address, &value)),
        "" => Err(Refusal::of_field(address, "frontmatter", "A key needs a name", "\"\"", "name the key")),
        key => Ok(document.with_keys(&[(key, FieldEdit::Text(&value))])),
    }
}

fn fixed_field(address: &Address, field: &'static str, fix: &str) -> Refusal {
    let fault = MergeFault { field, rule: "immutable via UPDATE", details: Vec::new(), fix: fix.to_owned() };
    Refusal::Merge { address: address.clone(), fault }
}

/// Rejects record fields given for a note: they are not converted to text.
pub fn no_fields(address: &Address, fields: &Object) -> Refusal {
    let fault = |(field, value): (&str, &Json)| {
        let (expected, fix) = match field {
            "confidence" => ("A note has no confidence", "state in the text how sure you are"),
            "related_files" => ("A note links files in its text", "link them there, as in [[src/auth.rs]]"),
            "content" => ("A note's content is text", "give it as text, not as fields"),
            _ => ("A note has no such field", "put it in the text"),
        };
        let got = cut(&value.render(JsonFormat::LINE), 200);
        FieldFault { field: field.to_owned(), expected: expected.to_owned(), got, fix: fix.to_owned() }
    };
    Refusal::Invalid { address: address.clone(), faults: fields.iter().map(fault).collect() }
}

fn unknown_type(address: &Address, got: &str) -> Refusal {
    let known = NoteType::ALL.map(NoteType::name).join(", ");
    Refusal::of_field(address, "type", &format!("One of {known}"), &cut(got, 200), "choose one, or use a tag")
}

/// Only problems that a change adds are rejected; one that was in the file before does not block the change.
fn refuse_new_problems(
    address: &Address,
    standing: &[String],
    new: &NoteDocument<'_>,
) -> Result<(), Refusal> {
    let fresh: Vec<FieldFault> = problems(new)
        .into_iter()
        .filter(|what| !standing.contains(what))
        .map(|what| FieldFault {
            field: "frontmatter".to_owned(),
            expected: what,
            got: "null".to_owned(),
            fix: "correct it in the draft; a text that begins with `---` needs an empty line before it"
                .to_owned(),
        })
        .collect();
    if fresh.is_empty() { Ok(()) } else { Err(Refusal::Invalid { address: address.clone(), faults: fresh }) }
}

fn refuse_name(address: &Address) -> Result<(), Refusal> {
    let Some(why) = name::why_not(address.name()) else { return Ok(()) };
    let (expected, got) = (format!("Not a valid name: {why}"), cut(address.name(), 200));
    Err(Refusal::of_field(address, "filename", &expected, &got, "choose another name"))
}

fn refuse_empty(address: &Address, body: &str) -> Result<(), Refusal> {
    if !body.trim().is_empty() {
        return Ok(());
    }
    Err(Refusal::of_field(
        address,
        "content",
        "A note should not be empty",
        "\"\"",
        "write what is worth remembering",
    ))
}

/// The tags of a document; `None` if the value of `tags` is not a list of strings.
fn understood_tags(document: &NoteDocument<'_>) -> Option<Vec<String>> {
    let is_opaque = document.get("tags").is_some_and(|entry| entry.value == YamlValue::Other);
    (!is_opaque).then(|| tags(document))
}

/// Tags cannot be added to a value that was not parsed: rewriting the list would lose it.
fn tags_to_add_to(document: &NoteDocument<'_>, address: &Address) -> Result<Vec<String>, Refusal> {
    understood_tags(document).ok_or_else(|| {
        let got = document.get("tags").map(|entry| document.source(entry)).unwrap_or_default();
        let fix = format!(
            "fix the line in the file, or set all tags again: `lorelane update {address} --set tags=a,b`"
        );
        let expected = "A list of strings, to which tags can be added";
        Refusal::of_field(address, "tags", expected, &cut(&one_line(&got), 200), &fix)
    })
}

/// Adds tags, each reduced to one line; skips empty ones and duplicates, ignoring case.
fn joined(mut tags: Vec<String>, more: &[String]) -> Vec<String> {
    for tag in more.iter().map(|tag| one_line(tag)).filter(|tag| !tag.is_empty()) {
        if !tags.iter().any(|known| fold(known) == fold(&tag)) {
            tags.push(tag);
        }
    }
    tags
}

/// A status set by a draft takes effect now. It is accepted because `ragdocs` has no other way to archive a note.
fn date_the_lifecycle(before: &Memory, after: &mut Memory, now: Timestamp) {
    if before.lifecycle.status() == after.lifecycle.status() {
        return;
    }
    if let Lifecycle::Retired { at, .. } | Lifecycle::Archived { at, .. } = &mut after.lifecycle {
        at.get_or_insert(now);
    }
}

pub(in crate::dialect) fn with_line_ends(text: &str, end: &str) -> String {
    let text = text.replace("\r\n", "\n");
    if end == "\n" { text } else { text.replace('\n', end) }
}

impl YamlEntry {
    /// The value regardless of quoting and layout; `None` where it was not parsed.
    fn value_text(&self) -> Option<Vec<&str>> {
        match &self.value {
            YamlValue::Null => Some(Vec::new()),
            YamlValue::Scalar(token) => Some(vec![&token.text]),
            YamlValue::List(items, _) => Some(items.iter().map(|item| item.text.as_str()).collect()),
            YamlValue::Other => None,
        }
    }
}
