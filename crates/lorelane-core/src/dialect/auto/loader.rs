//! What Claude Code loads of `MEMORY.md` when a session starts.
//!
//! Measured with the real client (2.1.325) against a scripted model; `cargo xtask clients` repeats it. Topic files
//! are never loaded: the model reads them when the index makes it want to.

use crate::dialect::notes::NoteDocument;
use crate::markdown::{LineKind, MarkdownLine, lines};
use crate::text::cut;
use crate::yaml::BYTE_ORDER_MARK;
use std::borrow::Cow;

/// The line limit is applied first.
pub const LOADED_LINES_MAX: usize = 200;
/// In UTF-16 units, not in bytes: Chinese text is cut where English text is, emoji earlier.
pub const LOADED_UNITS_MAX: usize = 25_000;
/// How much of the first lost line the warning quotes, in characters.
const QUOTE_MAX: usize = 80;

/// The part of an index that the client's model sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedIndex {
    /// Without the warning.
    pub text: String,
    /// What the client appends if it cut something off.
    pub warning: Option<String>,
    /// Lines and UTF-16 units without what is stripped. These count for the limits.
    pub lines: usize,
    pub units: usize,
    /// The first line of the file that is not loaded, from 1. Everything from there on is lost.
    pub cut_at: Option<usize>,
}

impl LoadedIndex {
    /// Whether a line of the file, from 1, is before the cut.
    pub fn has_line(&self, number: usize) -> bool {
        self.cut_at.is_none_or(|cut_at| number < cut_at)
    }
}

/// Loads an index as the client does.
pub fn load_index(text: &str) -> LoadedIndex {
    let shown = trimmed(shown_lines(text));
    let lines = shown.len();
    let sizes: Vec<usize> = shown.iter().map(|line| units(&line.text)).collect();
    let units = sizes.iter().sum::<usize>() + lines.saturating_sub(1);
    let within_lines = lines.min(LOADED_LINES_MAX);
    let mut size = 0;
    let fits = |(at, line): (usize, &usize)| {
        size += line + usize::from(at > 0);
        size <= LOADED_UNITS_MAX
    };
    let whole = sizes[..within_lines].iter().enumerate().map(fits).take_while(|fits| *fits).count();
    // A first line that is too long has no line end to cut at.
    let hard_cut = whole == 0 && lines > 0;
    let text = match hard_cut {
        true => first_units(&shown[0].text, LOADED_UNITS_MAX),
        false => shown[..whole].iter().map(|line| &*line.text).collect::<Vec<_>>().join("\n"),
    };
    let kept = if hard_cut { 1 } else { whole };
    let first_lost = shown.get(kept);
    LoadedIndex {
        text,
        warning: warning(lines, units, kept, hard_cut, first_lost.map(|line| &*line.text)),
        lines,
        units,
        cut_at: first_lost.map(|line| line.number),
    }
}

fn warning(
    lines: usize,
    units: usize,
    kept: usize,
    hard_cut: bool,
    first_lost: Option<&str>,
) -> Option<String> {
    let size = match (lines > LOADED_LINES_MAX, units > LOADED_UNITS_MAX) {
        (false, false) => return None,
        (true, false) => format!("{lines} lines (limit: {LOADED_LINES_MAX})"),
        (false, true) => {
            let limit = kilobytes(LOADED_UNITS_MAX);
            format!("{} (limit: {limit}) — index entries are too long", kilobytes(units))
        }
        (true, true) => format!("{lines} lines and {}", kilobytes(units)),
    };
    let lost = match first_lost {
        _ if hard_cut => {
            format!("everything after the first {LOADED_UNITS_MAX} characters of line 1 was cut off")
        }
        first => format!(
            "{} of {lines} lines were cut off, starting at line {} (\"{}\")",
            lines - kept,
            kept + 1,
            cut(first.unwrap_or_default(), QUOTE_MAX)
        ),
    };
    Some(format!(
        "> WARNING: MEMORY.md is {size}. Only part of it was loaded: {lost}. Keep index entries to one line under ~200 chars; move detail into topic files."
    ))
}

/// As the client writes a size: one decimal, unless it is zero.
fn kilobytes(units: usize) -> String {
    let text = format!("{:.1}", units as f64 / 1024.0);
    format!("{}KB", text.strip_suffix(".0").unwrap_or(&text))
}

pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

fn first_units(text: &str, max: usize) -> String {
    let mut left = max;
    let fits = |c: &char| left.checked_sub(c.len_utf16()).map(|rest| left = rest).is_some();
    text.chars().take_while(fits).collect()
}

/// A line that the client does not strip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownLine<'t> {
    /// Its number in the file, from 1.
    pub(super) number: usize,
    pub(super) text: Cow<'t, str>,
}

/// The lines without frontmatter and without block comments. A comment in code, in a list item or behind text is
/// kept. The blank lines after a comment go with it.
pub(super) fn shown_lines(text: &str) -> Vec<ShownLine<'_>> {
    let start = NoteDocument::read(text).after_frontmatter;
    let above = text[..start].matches('\n').count();
    let lines = lines(&text[start..]);
    let mut shown: Vec<ShownLine<'_>> = Vec::new();
    // A comment that never ends is text. Looked for once: a hostile file may begin thousands.
    let last_end = lines.iter().rposition(|line| line.text.contains("-->"));
    let mut at = 0;
    while at < lines.len() {
        let number = above + at + 1;
        let before = shown.last().map(|line| &*line.text);
        let has_end = last_end.is_some_and(|end| end >= at) && may_hold_block(&lines[at], before);
        match has_end.then(|| comment_block(&lines[at..])).flatten() {
            Some((count, rest)) if rest.trim().is_empty() => {
                let blank = |line: &&MarkdownLine<'_>| line.kind == LineKind::Blank;
                at += count + lines[at + count..].iter().take_while(blank).count();
            }
            Some((count, rest)) => {
                shown.push(ShownLine { number, text: Cow::Owned(rest) });
                at += count;
            }
            None => {
                shown.push(ShownLine { number, text: Cow::Borrowed(lines[at].text) });
                at += 1;
            }
        }
    }
    shown
}

/// Indented below a list item, a comment is part of the item.
fn may_hold_block(line: &MarkdownLine<'_>, before: Option<&str>) -> bool {
    let indent = line.text.len() - line.text.trim_start().len();
    let in_item = || before.is_some_and(|before| before.starts_with([' ', '\t']) || is_item(before));
    line.kind == LineKind::Text && (indent == 0 || indent <= 3 && !in_item())
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['-', '*', '+']) && line[1..].starts_with([' ', '\t'])
}

/// How many lines a comment takes that begins on the first of these, and what is left of them. `None` if no comment
/// begins there, or if it never ends.
fn comment_block(lines: &[MarkdownLine<'_>]) -> Option<(usize, String)> {
    let first = lines.first().filter(|line| line.text.trim_start().starts_with("<!--"))?;
    let (mut text, mut count) = (first.text.to_owned(), 1);
    while !lines[count - 1].text.contains("-->") {
        text.push('\n');
        text.push_str(lines.get(count)?.text);
        count += 1;
    }
    let mut rest = String::new();
    let mut left = text.as_str();
    while let Some((before, comment)) = left.split_once("<!--") {
        let Some((_, after)) = comment.split_once("-->") else { break };
        rest.push_str(before);
        left = after;
    }
    rest.push_str(left);
    Some((count, rest))
}

/// Without whitespace at both ends of the text.
fn trimmed(mut shown: Vec<ShownLine<'_>>) -> Vec<ShownLine<'_>> {
    let is_space = |c: char| c.is_whitespace() || c == BYTE_ORDER_MARK;
    let blank = |line: &ShownLine<'_>| line.text.trim_matches(is_space).is_empty();
    let start = shown.iter().take_while(|line| blank(line)).count();
    shown.drain(..start);
    while shown.last().is_some_and(blank) {
        shown.pop();
    }
    if let Some(first) = shown.first_mut() {
        first.text = Cow::Owned(first.text.trim_start_matches(is_space).to_owned());
    }
    if let Some(last) = shown.last_mut() {
        last.text = Cow::Owned(last.text.trim_end_matches(is_space).to_owned());
    }
    shown
}
