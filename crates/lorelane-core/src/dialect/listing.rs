//! Edits of a listing's text: lines out, lines in, every other byte stays.

use memchr::memmem;
use std::borrow::Cow;

/// A line of a listing. `key` orders it; no two memories of a lane have the same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListingLine {
    pub key: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineEdit {
    Remove {
        line: String,
    },
    /// `None` for the end of the listing.
    Insert {
        lines: Vec<String>,
        before: Option<String>,
    },
}

impl LineEdit {
    /// The line of the listing at which it is made.
    fn place(&self) -> Option<&str> {
        match self {
            LineEdit::Remove { line } => Some(line),
            LineEdit::Insert { before, .. } => before.as_deref(),
        }
    }
}

/// Makes the edits whose lines are in this part of a listing, and removes them from `edits`. A part has whole lines
/// only; a listing may be too long to be edited as a whole.
pub fn edited<'p>(part: &'p [u8], edits: &mut Vec<LineEdit>) -> Cow<'p, [u8]> {
    let mut found: Vec<(usize, LineEdit)> = Vec::new();
    edits.retain(|edit| {
        let at = edit.place().and_then(|line| start_of(part, line));
        found.extend(at.map(|at| (at, edit.clone())));
        at.is_none()
    });
    if found.is_empty() {
        return Cow::Borrowed(part);
    }
    found.sort_unstable_by_key(|(at, _)| *at);
    let (mut text, mut end) = (Vec::with_capacity(part.len() + 1024), 0);
    for (at, edit) in found {
        text.extend_from_slice(&part[end..at]);
        end = at;
        match edit {
            LineEdit::Remove { line } => end += line.len() + 1,
            LineEdit::Insert { lines, .. } => text.extend_from_slice(&joined(&lines)),
        }
    }
    text.extend_from_slice(&part[end..]);
    Cow::Owned(text)
}

/// What comes after the last part. `None` if an edit was not made, because its line is missing.
pub fn end_of(edits: Vec<LineEdit>) -> Option<Vec<u8>> {
    let ends = edits.into_iter().map(|edit| match edit {
        LineEdit::Insert { lines, before: None } => Some(joined(&lines)),
        LineEdit::Insert { .. } | LineEdit::Remove { .. } => None,
    });
    Some(ends.collect::<Option<Vec<_>>>()?.concat())
}

fn joined(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| line.bytes().chain([b'\n'])).collect()
}

/// Where a line begins.
fn start_of(part: &[u8], line: &str) -> Option<usize> {
    let is_line = |at: &usize| {
        (*at == 0 || part[at - 1] == b'\n') && part.get(at + line.len()).is_some_and(|byte| *byte == b'\n')
    };
    memmem::find_iter(part, line).find(is_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "# Listing\n\n- a\n- ab\n- b\n";

    fn remove(line: &str) -> LineEdit {
        LineEdit::Remove { line: line.to_owned() }
    }

    fn insert(lines: &[&str], before: Option<&str>) -> LineEdit {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        LineEdit::Insert { lines, before: before.map(str::to_owned) }
    }

    #[test]
    fn edits_are_made_at_whole_lines_in_any_cut_of_the_listing() {
        let table: [(&[LineEdit], Option<&str>); 10] = [
            (&[], Some(LISTING)),
            (&[remove("- a")], Some("# Listing\n\n- ab\n- b\n")),
            (&[remove("- ab"), remove("- b")], Some("# Listing\n\n- a\n")),
            (&[insert(&["- x", "- y"], Some("- a"))], Some("# Listing\n\n- x\n- y\n- a\n- ab\n- b\n")),
            (&[insert(&["- x"], None)], Some("# Listing\n\n- a\n- ab\n- b\n- x\n")),
            (
                &[insert(&["- x"], Some("- b")), remove("- a"), insert(&["- z"], None)],
                Some("# Listing\n\n- ab\n- x\n- b\n- z\n"),
            ),
            (&[remove("- ")], None),
            (&[remove("a")], None),
            (&[remove("- c"), insert(&["- x"], None)], None),
            (&[insert(&["- x"], Some("- c"))], None),
        ];
        for (edits, expected) in table {
            // In one part, and line by line.
            for parts in [vec![LISTING], LISTING.split_inclusive('\n').collect()] {
                let mut left = edits.to_vec();
                let mut text: Vec<u8> =
                    parts.iter().flat_map(|part| edited(part.as_bytes(), &mut left).into_owned()).collect();
                let end = end_of(left);
                text.extend(end.iter().flatten());
                let text = end.map(|_| String::from_utf8(text).unwrap());
                assert_eq!(text.as_deref(), expected, "{edits:?} in {} parts", parts.len());
            }
        }
    }
}
