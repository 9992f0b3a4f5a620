//! Merges several notes into one.

use super::compose::draft;
use crate::markdown;
use crate::memory::{Body, Memory};
use crate::text::{fold, one_line};

/// The text of the merged note: the type of the first note, the tags of all, and each body in order under its own
/// heading.
pub fn merged(notes: &[Memory]) -> String {
    let note_type = notes.first().and_then(|note| note.kind.note_type());
    let mut tags: Vec<String> = Vec::new();
    for tag in notes.iter().flat_map(|note| &note.tags) {
        if !tags.iter().any(|known| fold(known) == fold(tag)) {
            tags.push(tag.clone());
        }
    }
    draft(&notes.iter().map(section).collect::<Vec<_>>().join("\n\n"), note_type, &tags)
}

/// A note's body under a heading with its title.
fn section(note: &Memory) -> String {
    let text = match &note.body {
        Body::Prose(text) => text.as_str(),
        Body::Fields(_) => "",
    };
    match markdown::title(text) {
        Some(_) => text.to_owned(),
        None => format!("# {}\n\n{text}", one_line(&note.title)),
    }
}
