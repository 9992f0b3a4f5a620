//! `POINTERS.yml`: where archived files of a session are.

use super::manifest::{quoted, removed, upserted};
use crate::text::one_line;
use crate::time::Timestamp;

pub const POINTERS_FILE: &str = "POINTERS.yml";
const POINTERS: &str = "pointers";

/// A file that was moved to the archive.
#[derive(Clone, Copy, Debug)]
pub struct ArchivePointer<'p> {
    /// Where it was, relative to the session folder.
    pub path: &'p str,
    /// Where it is now, relative to the session folder.
    pub to: &'p str,
    /// Where its bytes are kept besides.
    pub bytes_in: &'p str,
    pub why: &'p str,
    pub at: Timestamp,
    pub summary: Option<&'p str>,
    pub superseded_by: Option<&'p str>,
    pub postmortem: Option<&'p str>,
}

impl ArchivePointer<'_> {
    /// What is left in the place of the file; `name` is its path in the project.
    pub fn tombstone(&self, name: &str) -> String {
        let links = [
            ("Summary", self.summary),
            ("Superseded by", self.superseded_by),
            ("Postmortem", self.postmortem),
        ];
        let links =
            links.into_iter().filter_map(|(title, link)| Some(format!("- {title}: {}\n", one_line(link?))));
        format!(
            "# {} was archived\n\n- Now in: {}\n- When: {}\n- Why: {}\n{}\n`lorelane ws restore {}` brings it back.\n",
            one_line(self.path),
            one_line(self.to),
            self.at,
            one_line(self.why),
            links.collect::<String>(),
            one_line(name),
        )
    }
}

/// The text with a pointer; one of the same path is replaced. `None` if its lines are too broken for that.
pub fn with_pointer(text: &str, pointer: &ArchivePointer<'_>) -> Option<String> {
    let text = if text.trim().is_empty() { "pointers: []\n" } else { text };
    let mut fields = vec![
        ("to", quoted(pointer.to)),
        ("bytes_in", quoted(pointer.bytes_in)),
        ("archived_at", quoted(&pointer.at.to_string())),
        ("why", quoted(&one_line(pointer.why))),
    ];
    let links = [
        ("summary", pointer.summary),
        ("superseded_by", pointer.superseded_by),
        ("postmortem", pointer.postmortem),
    ];
    fields.extend(links.into_iter().filter_map(|(key, link)| Some((key, quoted(link?)))));
    // What an older pointer of this path said besides is not true any more.
    let text = without_pointer(text, pointer.path)?;
    upserted(&text, POINTERS, pointer.path, &fields)
}

/// The text without the pointer of a file that came back.
pub fn without_pointer(text: &str, path: &str) -> Option<String> {
    removed(text, &[POINTERS], path)
}
