//! A note's text, taken apart: the frontmatter between two `---`, and the body.

use crate::steps;
use crate::yaml::{BYTE_ORDER_MARK, MappingSpans, YamlCollection, YamlEntry, YamlProblem, line_end};
use std::ops::Range;

/// No honest frontmatter is longer; what looks like one is a text between two rules.
pub const FRONTMATTER_MAX_BYTES: usize = 64 << 10;
pub(super) const FENCE: &str = "---";

#[derive(Clone, Debug)]
pub struct NoteDocument<'t> {
    pub text: &'t str,
    /// The keys between the fences.
    pub frontmatter: Option<YamlCollection<'t>>,
    /// Where the body's part of the text begins, empty lines included.
    pub after_frontmatter: usize,
    /// Why the text has no frontmatter, though it begins like one.
    fault: Option<String>,
}

/// A note's parts without its text, so that one value can own both.
#[derive(Clone, Debug)]
pub(in crate::dialect) struct NoteSpans {
    frontmatter: Option<MappingSpans>,
    after_frontmatter: usize,
    fault: Option<String>,
}

impl NoteSpans {
    pub(super) fn of(document: &NoteDocument<'_>) -> NoteSpans {
        NoteSpans {
            frontmatter: document.frontmatter.as_ref().map(MappingSpans::of),
            after_frontmatter: document.after_frontmatter,
            fault: document.fault.clone(),
        }
    }

    /// The note in the text that it was read from, or in one that differs in its body only.
    pub(super) fn in_text<'t>(&self, text: &'t str) -> NoteDocument<'t> {
        NoteDocument {
            text,
            frontmatter: self.frontmatter.as_ref().map(|frontmatter| frontmatter.in_text(text)),
            after_frontmatter: self.after_frontmatter,
            fault: self.fault.clone(),
        }
    }
}

impl<'t> NoteDocument<'t> {
    pub fn read(text: &'t str) -> NoteDocument<'t> {
        let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let mut document = NoteDocument { text, frontmatter: None, after_frontmatter: start, fault: None };
        let Some(opened) = opens(&text[start..]).map(|length| start + length) else { return document };
        match closed(text, opened) {
            Ok((lines, after)) => {
                // Otherwise it is a text between two rules.
                if let Some(frontmatter) = YamlCollection::mapping(text, lines) {
                    steps::parsed();
                    (document.frontmatter, document.after_frontmatter) = (Some(frontmatter), after);
                }
            }
            Err(why) => {
                document.fault = Some(format!("its frontmatter is {why}, so all of it counts as text"));
            }
        }
        document
    }

    pub fn entries(&self) -> &[YamlEntry] {
        self.frontmatter.as_ref().map_or(&[], |frontmatter| &frontmatter.entries)
    }

    /// The entry of this key; of duplicates the last.
    pub fn get(&self, key: &str) -> Option<&YamlEntry> {
        self.frontmatter.as_ref()?.get(key)
    }

    /// The value of an entry as it is written, so that it can be put into another note.
    pub fn source(&self, entry: &YamlEntry) -> String {
        self.frontmatter.as_ref().map(|frontmatter| frontmatter.source(entry)).unwrap_or_default()
    }

    /// Where the body is: from its first line that is not empty to its last character that is no space.
    pub fn body(&self) -> Range<usize> {
        let rest = &self.text[self.after_frontmatter..];
        let end = self.after_frontmatter + rest.trim_end().len();
        let mut at = self.after_frontmatter;
        for line in rest.split_inclusive('\n').take_while(|line| line.trim().is_empty()) {
            at += line.len();
        }
        at.min(end)..end
    }

    /// The line end that this text uses.
    pub fn line_end(&self) -> &'static str {
        line_end(self.text)
    }

    /// What of the frontmatter is not as it should be.
    pub fn problems(&self) -> Vec<String> {
        let found = self.frontmatter.iter().flat_map(|frontmatter| &frontmatter.problems);
        self.fault.iter().cloned().chain(found.map(worded)).collect()
    }
}

fn worded(problem: &YamlProblem) -> String {
    match problem {
        YamlProblem::NotAKey { line } => format!("`{line}` in its frontmatter is no key"),
        YamlProblem::Unreadable { key } => format!("the value of `{key}` in its frontmatter cannot be read"),
        YamlProblem::ColonWithoutQuotes { key } => {
            format!("the value of `{key}` in its frontmatter has a colon and no quotes")
        }
        YamlProblem::Duplicate { key } => format!("`{key}` appears twice; the last one counts"),
    }
}

/// The length of the first line, when it opens a frontmatter.
pub(super) fn opens(text: &str) -> Option<usize> {
    let line = text.split_inclusive('\n').next()?;
    (line.trim_end() == FENCE && line.ends_with('\n')).then_some(line.len())
}

/// The lines of the frontmatter and where the text goes on, or why there is none.
fn closed(text: &str, from: usize) -> Result<(Range<usize>, usize), String> {
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return match at - from > FRONTMATTER_MAX_BYTES {
                true => Err(format!("longer than {} KiB", FRONTMATTER_MAX_BYTES >> 10)),
                false => Ok((from..at, at + line.len())),
            };
        }
        at += line.len();
    }
    Err("never closed".to_owned())
}
