//! `MEMORY.md`: one line per memory, `- [Title](file.md) — hook`, below headings that people choose.
//!
//! It belongs to the client and to the user, so every byte that a change does not concern stays.

use super::loader::{load_index, shown_lines};
use crate::mark::RemovedLine;
use crate::markdown::{LineKind, lines};
use crate::path::RelPath;
use crate::text::{cut, one_line};
use crate::yaml::line_end;
use std::collections::BTreeSet;
use std::ops::Range;

/// The name of the index, or of the only file.
pub const MEMORY_FILE: &str = "MEMORY.md";
/// The client asks its model for entries below this length.
pub const ENTRY_CHARS_MAX: usize = 200;
/// The separators between link and hook that agents write.
const SEPARATORS: [char; 4] = ['—', '–', '-', ':'];
const HOOK_MAX: usize = 150;

/// A parsed `MEMORY.md`.
#[derive(Clone, Debug)]
pub struct MemoryIndex<'t> {
    pub text: &'t str,
    pub lines: Vec<IndexLine<'t>>,
}

#[derive(Clone, Debug)]
pub struct IndexLine<'t> {
    /// From 1.
    pub number: usize,
    /// Without its line ending.
    pub text: &'t str,
    /// With its line ending.
    pub span: Range<usize>,
    pub kind: IndexLineKind<'t>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexLineKind<'t> {
    Blank,
    Heading {
        level: usize,
        title: &'t str,
    },
    Entry(IndexEntry<'t>),
    /// Prose and code.
    Text,
    /// Frontmatter and comments, which the client strips.
    Stripped,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry<'t> {
    pub title: &'t str,
    /// The file it links, relative to the index.
    pub path: RelPath,
    pub hook: &'t str,
    /// The span of the link's target in the text.
    target: Range<usize>,
    hook_span: Range<usize>,
}

impl<'t> MemoryIndex<'t> {
    pub fn parse(text: &'t str) -> MemoryIndex<'t> {
        let shown: BTreeSet<usize> = shown_lines(text).iter().map(|line| line.number).collect();
        let read = |(at, line): (usize, crate::markdown::MarkdownLine<'t>)| {
            let kind = match line.kind {
                _ if !shown.contains(&(at + 1)) => IndexLineKind::Stripped,
                LineKind::Blank => IndexLineKind::Blank,
                LineKind::Heading { level, title } => IndexLineKind::Heading { level, title },
                LineKind::Code => IndexLineKind::Text,
                LineKind::Text => {
                    entry(line.text, line.span.start).map_or(IndexLineKind::Text, IndexLineKind::Entry)
                }
            };
            IndexLine { number: at + 1, text: line.text, span: line.span, kind }
        };
        MemoryIndex { text, lines: lines(text).into_iter().enumerate().map(read).collect() }
    }

    pub fn entries(&self) -> impl Iterator<Item = (&IndexLine<'t>, &IndexEntry<'t>)> {
        self.lines.iter().filter_map(|line| match &line.kind {
            IndexLineKind::Entry(entry) => Some((line, entry)),
            _ => None,
        })
    }

    /// Whether the file is a memory itself: most of its text is not entries. Prose in an index would otherwise be
    /// found by nobody but the client.
    pub fn is_standalone(&self) -> bool {
        let prose = self.lines.iter().filter(|line| line.kind == IndexLineKind::Text).count();
        prose > self.entries().count()
    }

    /// The text with a line for a memory. It comes after the last entry, or before the first one if the client would
    /// not load it there.
    pub fn with_entry(&self, line: &str) -> String {
        let at = self.entries().last().map_or(self.text.len(), |(last, _)| last.span.end);
        let last = self.inserted(at, line);
        let new = self.text[..at].matches('\n').count() + 1;
        match self.entries().next() {
            Some((first, _)) if !load_index(&last).has_line(new) => self.inserted(first.span.start, line),
            _ => last,
        }
    }

    /// The text without the lines of a file; `None` if it has none.
    pub fn without(&self, path: &RelPath) -> Option<(String, Vec<RemovedLine>)> {
        let (mut text, mut removed, mut end) = (String::new(), Vec::new(), 0);
        for (line, _) in self.entries().filter(|(_, entry)| entry.path == *path) {
            text.push_str(&self.text[end..line.span.start]);
            end = line.span.end;
            // Lines are put back in order: the one above is there again by then, those below are not.
            let stays = |line: &&IndexLine<'_>| !matches!(&line.kind, IndexLineKind::Entry(entry) if entry.path == *path);
            let above = line.number.checked_sub(2).and_then(|at| self.lines.get(at));
            let below = self.lines[line.number..].iter().find(stays);
            removed.push(RemovedLine {
                line: self.text[line.span.clone()].to_owned(),
                number: line.number,
                above: above.map(|above| above.text.to_owned()),
                below: below.map(|below| below.text.to_owned()),
            });
        }
        text.push_str(&self.text[end..]);
        (!removed.is_empty()).then_some((text, removed))
    }

    /// The text without the lines of all these files, and how many there were.
    pub fn without_all(&self, is_gone: &dyn Fn(&RelPath) -> bool) -> (String, usize) {
        let gone =
            |line: &&IndexLine<'_>| matches!(&line.kind, IndexLineKind::Entry(entry) if is_gone(&entry.path));
        let (gone, stay): (Vec<_>, Vec<_>) = self.lines.iter().partition(gone);
        (stay.into_iter().map(|line| &self.text[line.span.clone()]).collect(), gone.len())
    }

    /// The text with a removed line where it was. If the lines around it are gone, it is added like a new one.
    pub fn put_back(&self, removed: &RemovedLine) -> String {
        let Some(at) = self.place_of(removed) else { return self.with_entry(removed.line.trim_end()) };
        let (before, after) = self.text.split_at(at);
        let is_whole = before.is_empty() || before.ends_with('\n');
        if is_whole && (after.is_empty() || removed.line.ends_with('\n')) {
            // As it was, with its own line ending or without one.
            return format!("{before}{}{after}", removed.line);
        }
        self.inserted(at, removed.line.trim_end_matches(['\n', '\r']))
    }

    /// The offset where a removed line was: below the line that was above it, or above the one that was below. With
    /// several such lines, the one nearest to its old number.
    fn place_of(&self, removed: &RemovedLine) -> Option<usize> {
        let count = self.lines.len();
        let is = |at: usize, text: &Option<String>| {
            let here = self.lines.get(at).map(|line| line.text);
            here == text.as_deref()
        };
        // A gap is the number of lines above it.
        let fits = |gap: &usize| {
            let above = gap.checked_sub(1).map_or(removed.above.is_none(), |at| is(at, &removed.above));
            (above, is(*gap, &removed.below))
        };
        let near = |gap: &usize| gap.abs_diff(removed.number - 1);
        let both = (0..=count).filter(|gap| fits(gap) == (true, true)).min_by_key(near);
        let said = |gap: &usize| {
            fits(gap).0 && removed.above.as_deref().is_some_and(|above| !above.trim().is_empty())
                || fits(gap).1 && removed.below.as_deref().is_some_and(|below| !below.trim().is_empty())
        };
        let gap = both.or_else(|| (0..=count).filter(said).min_by_key(near))?;
        Some(self.lines.get(gap).map_or(self.text.len(), |line| line.span.start))
    }

    /// The text with the links of a file changed to another, and the hook where it repeats the old description.
    pub fn relinked(&self, from: &RelPath, to: &RelPath, hook: Option<(&str, &str)>) -> String {
        let mut text = String::new();
        let mut end = 0;
        for (_, entry) in self.entries().filter(|(_, entry)| entry.path == *from) {
            text.push_str(&self.text[end..entry.target.start]);
            end = entry.target.start;
            if from != to {
                text.push_str(&target(to));
                end = entry.target.end;
            }
            if let Some((_, new)) = hook.filter(|(old, _)| one_line(entry.hook) == cut(old, HOOK_MAX)) {
                text.push_str(&self.text[end..entry.hook_span.start]);
                text.push_str(&cut(new, HOOK_MAX));
                end = entry.hook_span.end;
            }
        }
        text.push_str(&self.text[end..]);
        text
    }

    fn inserted(&self, at: usize, line: &str) -> String {
        let end = line_end(self.text);
        let (before, after) = self.text.split_at(at);
        let gap = if before.is_empty() || before.ends_with('\n') { "" } else { end };
        format!("{before}{gap}{line}{end}{after}")
    }
}

/// The line of a memory, as the client writes it.
pub fn entry_line(title: &str, path: &RelPath, hook: &str) -> String {
    let title: String = one_line(title).chars().filter(|c| !matches!(c, '[' | ']')).collect();
    let hook = cut(&one_line(hook), HOOK_MAX);
    let link = format!("- [{}]({})", cut(title.trim(), 80), target(path));
    if hook.is_empty() { link } else { format!("{link} — {hook}") }
}

/// A path as the target of a link: spaces and parentheses would end it.
fn target(path: &RelPath) -> String {
    let encoded = |c: char| match c {
        ' ' => "%20".to_owned(),
        '(' => "%28".to_owned(),
        ')' => "%29".to_owned(),
        '%' => "%25".to_owned(),
        c => c.to_string(),
    };
    path.as_str().chars().map(encoded).collect()
}

/// The entry on a line that begins at this offset.
fn entry(line: &str, start: usize) -> Option<IndexEntry<'_>> {
    let item = line.trim_start();
    let link = item.strip_prefix(['-', '*', '+'])?.trim_start().strip_prefix('[')?;
    if !item[1..].starts_with([' ', '\t']) {
        return None;
    }
    let (title, rest) = link.split_once("](")?;
    let (target, after) = rest.split_once(')')?;
    let path = linked(target.trim())?;
    let hook = after.trim();
    let hook = hook.strip_prefix(SEPARATORS).map_or(hook, str::trim_start);
    let (target_at, end) = (start + line.len() - rest.len(), start + line.trim_end().len());
    Some(IndexEntry {
        title: title.trim(),
        path,
        hook,
        target: target_at..target_at + target.len(),
        hook_span: end - hook.len()..end,
    })
}

/// The file that a link's target names, if it is a Markdown file below the index.
fn linked(target: &str) -> Option<RelPath> {
    let target = target.strip_prefix('<').and_then(|target| target.strip_suffix('>')).unwrap_or(target);
    let target = target.strip_prefix("./").unwrap_or(target);
    if !target.ends_with(".md") || target.contains("://") {
        return None;
    }
    let path = crate::fence::spelled_out(target).unwrap_or_else(|| target.to_owned());
    RelPath::parse(&path).ok().filter(|path| path.as_str() != MEMORY_FILE)
}
