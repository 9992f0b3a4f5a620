//! Edits to a note's text that keep all other bytes.

use super::frontmatter::{FENCE, NoteDocument, NoteSpans, opens};
use crate::yaml::{FieldEdit, YamlCollection, YamlValue};
use std::borrow::Cow;

/// The text with one key edited. A new key is added last; a note without frontmatter gets one.
pub fn set(text: &str, key: &str, edit: FieldEdit<'_>) -> String {
    NoteDocument::read(text).with_keys(&[(key, edit)])
}

/// The text with another body. The whitespace before and after the body stays.
pub fn set_body(text: &str, body: &str) -> String {
    NoteDocument::read(text).with_body(body)
}

impl NoteDocument<'_> {
    /// The text with these keys edited and, if given, another body.
    pub(in crate::dialect) fn edited(&self, edits: &[(&str, FieldEdit<'_>)], body: Option<&str>) -> String {
        match body {
            None => self.with_keys(edits),
            // The keys come before the body, so their spans stay valid when it changes.
            Some(body) if self.frontmatter.is_some() => {
                let text = self.with_body(body);
                NoteSpans::of(self).in_text(&text).with_keys(edits)
            }
            Some(body) => NoteDocument::read(&self.with_keys(edits)).with_body(body),
        }
    }

    /// The text with these keys edited. Each key may occur once.
    pub(in crate::dialect) fn with_keys(&self, edits: &[(&str, FieldEdit<'_>)]) -> String {
        let Some(frontmatter) = &self.frontmatter else { return self.with_frontmatter(edits) };
        let rendered: Vec<String> = edits.iter().map(|(_, edit)| edit.rendered()).collect();
        let mut usable: Vec<(&str, FieldEdit<'_>)> = Vec::with_capacity(edits.len());
        for ((key, edit), rendered) in edits.iter().zip(&rendered) {
            let is_read = frontmatter.get(key).is_none_or(|entry| entry.value != YamlValue::Other);
            usable.push(match edit {
                // A value that was not parsed cannot be compared with the new one, so it is always rewritten.
                FieldEdit::Text(_) | FieldEdit::List(_) if !is_read => (key, FieldEdit::Source(rendered)),
                edit => (key, *edit),
            });
        }
        frontmatter.edited_all(&usable).unwrap_or_else(|| {
            // An edit failed on malformed lines, or two edits overlap: apply them one by one and skip the failing.
            let mut text = Cow::Borrowed(self.text);
            for (key, edit) in &usable {
                let document = NoteDocument::read(&text);
                let edited = document.frontmatter.and_then(|frontmatter| frontmatter.edited(&[key], *edit));
                if let Some(edited) = edited {
                    text = Cow::Owned(edited);
                }
            }
            text.into_owned()
        })
    }

    fn with_frontmatter(&self, edits: &[(&str, FieldEdit<'_>)]) -> String {
        let added: Vec<_> =
            edits.iter().copied().filter(|(_, edit)| !matches!(edit, FieldEdit::Remove)).collect();
        if added.is_empty() {
            return self.text.to_owned();
        }
        let end = self.line_end();
        let (before, body) = self.text.split_at(self.after_frontmatter);
        let fields = YamlCollection::mapping("", 0..0).and_then(|empty| empty.edited_all(&added));
        let fields = fields.unwrap_or_default().replace('\n', end);
        let gap = if body.is_empty() { "" } else { end };
        format!("{before}{FENCE}{end}{fields}{FENCE}{end}{gap}{body}")
    }

    pub(super) fn with_body(&self, body: &str) -> String {
        let (text, old, end) = (self.text, self.body(), self.line_end());
        let has_frontmatter = self.frontmatter.is_some();
        // A body that starts with `---` is not parsed as frontmatter if an empty line is above it.
        let misread = !has_frontmatter && looks_like_frontmatter(body);
        if !old.is_empty() {
            let before = &text[..old.start];
            let gap = if misread && !before.contains('\n') { end } else { "" };
            return format!("{before}{gap}{body}{}", &text[old.end..]);
        }
        let before = &text[..self.after_frontmatter];
        let closed = if has_frontmatter && !before.ends_with('\n') { end } else { "" };
        let gap = if has_frontmatter || misread { end } else { "" };
        if body.is_empty() { before.to_owned() } else { format!("{before}{closed}{gap}{body}{end}") }
    }
}

/// Whether a body would be parsed as frontmatter at the start of a file.
pub(super) fn looks_like_frontmatter(body: &str) -> bool {
    opens(body).is_some()
}
