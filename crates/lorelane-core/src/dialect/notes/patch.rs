//! Edits of a note's text that leave every other byte.

use super::frontmatter::{FENCE, NoteDocument, opens};
use crate::yaml::{FieldEdit, YamlCollection, YamlValue};

/// The text with one key edited. A key that is new goes last; a note without a frontmatter gets one.
pub fn set(text: &str, key: &str, edit: FieldEdit<'_>) -> String {
    let document = NoteDocument::read(text);
    let Some(frontmatter) = &document.frontmatter else {
        return match edit {
            FieldEdit::Remove => text.to_owned(),
            edit => with_frontmatter(&document, key, edit),
        };
    };
    let rendered = edit.rendered();
    let edit = match (frontmatter.get(key).map(|entry| &entry.value), edit) {
        // What a note does not read is written again, even if it says the same.
        (Some(YamlValue::Other), FieldEdit::Text(_) | FieldEdit::List(_)) => FieldEdit::Source(&rendered),
        (_, edit) => edit,
    };
    frontmatter.edited(&[key], edit).unwrap_or_else(|| text.to_owned())
}

fn with_frontmatter(document: &NoteDocument<'_>, key: &str, edit: FieldEdit<'_>) -> String {
    let end = document.line_end();
    let (before, body) = document.text.split_at(document.after_frontmatter);
    let field = YamlCollection::mapping("", 0..0).and_then(|empty| empty.edited(&[key], edit));
    let field = field.unwrap_or_default().replace('\n', end);
    let gap = if body.is_empty() { "" } else { end };
    format!("{before}{FENCE}{end}{field}{FENCE}{end}{gap}{body}")
}

/// The text with another body. What is between frontmatter and body, and after the body, stays.
pub fn set_body(text: &str, body: &str) -> String {
    let document = NoteDocument::read(text);
    let (old, end) = (document.body(), document.line_end());
    let has_frontmatter = document.frontmatter.is_some();
    // A body that begins as a frontmatter does is none below an empty line.
    let misread = !has_frontmatter && looks_like_frontmatter(body);
    if !old.is_empty() {
        let before = &text[..old.start];
        let gap = if misread && !before.contains('\n') { end } else { "" };
        return format!("{before}{gap}{body}{}", &text[old.end..]);
    }
    let before = &text[..document.after_frontmatter];
    let closed = if has_frontmatter && !before.ends_with('\n') { end } else { "" };
    let gap = if has_frontmatter || misread { end } else { "" };
    if body.is_empty() { before.to_owned() } else { format!("{before}{closed}{gap}{body}{end}") }
}

/// Whether a body would be read as frontmatter at the start of a file.
pub(super) fn looks_like_frontmatter(body: &str) -> bool {
    opens(body).is_some()
}
