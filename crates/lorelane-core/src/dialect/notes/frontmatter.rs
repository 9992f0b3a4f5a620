//! Splits a note's text into the frontmatter between two `---` lines and the body.

use crate::passage::{self, Passage};
use crate::steps;
use crate::yaml::{BYTE_ORDER_MARK, MappingSpans, YamlCollection, YamlEntry, YamlProblem, line_end};
use std::ops::Range;

/// Real frontmatter is shorter; anything longer is text between two horizontal rules.
pub const FRONTMATTER_MAX_BYTES: usize = 64 << 10;
pub(super) const FENCE: &str = "---";

#[derive(Clone, Debug)]
pub struct NoteDocument<'t> {
    pub text: &'t str,
    /// The keys between the `---` lines.
    pub frontmatter: Option<YamlCollection<'t>>,
    /// The offset after the frontmatter; empty lines before the body follow it.
    pub after_frontmatter: usize,
    /// Why the text has no frontmatter although it starts with `---`.
    fault: Option<String>,
}

/// The spans of a note without its text, so that one value can own both.
#[derive(Clone, Debug)]
pub(in crate::dialect) struct NoteSpans {
    frontmatter: Option<MappingSpans>,
    after_frontmatter: usize,
    fault: Option<String>,
}

impl NoteSpans {
    pub(in crate::dialect) fn of(document: &NoteDocument<'_>) -> NoteSpans {
        NoteSpans {
            frontmatter: document.frontmatter.as_ref().map(MappingSpans::of),
            after_frontmatter: document.after_frontmatter,
            fault: document.fault.clone(),
        }
    }

    /// Applies the spans to the text they were parsed from, or to one that differs only in its body.
    pub(in crate::dialect) fn in_text<'t>(&self, text: &'t str) -> NoteDocument<'t> {
        NoteDocument {
            text,
            frontmatter: self.frontmatter.as_ref().map(|frontmatter| frontmatter.in_text(text)),
            after_frontmatter: self.after_frontmatter,
            fault: self.fault.clone(),
        }
    }

    /// The passages of the body.
    pub(in crate::dialect) fn passages(&self, text: &str) -> Vec<Passage> {
        let body = self.in_text(text).body();
        let first_line = 1 + text[..body.start].matches('\n').count();
        passage::of_prose(&text[body], first_line)
    }
}

impl<'t> NoteDocument<'t> {
    pub fn read(text: &'t str) -> NoteDocument<'t> {
        let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let mut document = NoteDocument { text, frontmatter: None, after_frontmatter: start, fault: None };
        let Some(opened) = opens(&text[start..]).map(|length| start + length) else { return document };
        match closed(text, opened) {
            Ok((lines, after)) => {
                // If the lines are not a mapping, they are text between two horizontal rules.
                if let Some(frontmatter) = YamlCollection::mapping(text, lines) {
                    steps::parsed();
                    (document.frontmatter, document.after_frontmatter) = (Some(frontmatter), after);
                }
            }
            Err(why) => {
                document.fault = Some(format!("its frontmatter is {why}, so everything is read as text"));
            }
        }
        document
    }

    pub fn entries(&self) -> &[YamlEntry] {
        self.frontmatter.as_ref().map_or(&[], |frontmatter| &frontmatter.entries)
    }

    /// The entry of this key; the last one if there are several.
    pub fn get(&self, key: &str) -> Option<&YamlEntry> {
        self.frontmatter.as_ref()?.get(key)
    }

    /// The source text of an entry's value, ready to be written to another note.
    pub fn source(&self, entry: &YamlEntry) -> String {
        self.frontmatter.as_ref().map(|frontmatter| frontmatter.source(entry)).unwrap_or_default()
    }

    /// The span of the body: from its first line that is not blank to its last character that is not whitespace.
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

    /// The problems of the frontmatter.
    pub fn problems(&self) -> Vec<String> {
        let found = self.frontmatter.iter().flat_map(|frontmatter| &frontmatter.problems);
        self.fault.iter().cloned().chain(found.map(worded)).collect()
    }
}

fn worded(problem: &YamlProblem) -> String {
    match problem {
        YamlProblem::NotAKey { line } => format!("`{line}` in its frontmatter is not a key"),
        YamlProblem::Unreadable { key } => format!("the value of `{key}` in its frontmatter cannot be read"),
        YamlProblem::ColonWithoutQuotes { key } => {
            format!("the value of `{key}` in its frontmatter has a colon and needs quotes")
        }
        YamlProblem::Duplicate { key } => format!("`{key}` appears twice; the last one counts"),
    }
}

/// The length of the first line, if it opens frontmatter.
pub(super) fn opens(text: &str) -> Option<usize> {
    let line = text.split_inclusive('\n').next()?;
    (line.trim_end() == FENCE && line.ends_with('\n')).then_some(line.len())
}

/// The span of the frontmatter's lines and the offset after it, or why there is none.
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
