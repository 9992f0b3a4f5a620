//! What is wrong with an index, and what it costs: the answer of `auto status`.

use super::index::{ENTRY_CHARS_MAX, IndexEntry, IndexLine, IndexLineKind, MemoryIndex};
use super::loader::{LoadedIndex, load_index, shown_lines};
use crate::dialect::Problem;
use crate::path::RelPath;
use crate::text::{fold, one_line, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// Shorter lines are headings and commands that any two files share.
const REPEATED_MIN: usize = 20;

/// A topic file, as the report needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicFile {
    pub path: RelPath,
    /// Of its text, without frontmatter.
    pub tokens: usize,
}

/// A file of instructions that the client loads too.
#[derive(Clone, Copy, Debug)]
pub struct Instructions<'t> {
    pub name: &'t str,
    pub text: &'t str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexReport {
    pub loaded: LoadedIndex,
    /// What every session of the client starts with.
    pub loaded_tokens: usize,
    /// What the client's model can read in topic files.
    pub on_demand_tokens: usize,
    /// What the index has after the cut.
    pub lost_tokens: usize,
    pub entries: usize,
    pub topics: usize,
    pub lost: Vec<ReportedEntry>,
    pub without_file: Vec<ReportedEntry>,
    pub without_entry: Vec<RelPath>,
    /// Entries that link a file which an earlier one links.
    pub duplicates: Vec<ReportedEntry>,
    /// Entries that are longer than the client wants them.
    pub too_long: Vec<ReportedEntry>,
    pub repeated: Vec<RepeatedLine>,
    /// Of the topic files. Whoever read them adds these.
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedEntry {
    /// In the index, from 1.
    pub line: usize,
    pub path: RelPath,
    pub title: String,
}

/// A line of the index that a file of instructions has, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedLine {
    pub line: usize,
    pub text: String,
    pub file: String,
}

impl IndexReport {
    /// `is_there` tells whether a linked file exists.
    pub fn of(
        text: &str,
        topics: &[TopicFile],
        instructions: &[Instructions<'_>],
        is_there: &dyn Fn(&RelPath) -> bool,
    ) -> IndexReport {
        let (index, loaded) = (MemoryIndex::parse(text), load_index(text));
        let linked: BTreeSet<&RelPath> = index.entries().map(|(_, entry)| &entry.path).collect();
        let mut seen = BTreeSet::new();
        let entries_where =
            |wanted: &mut dyn FnMut(&IndexLine<'_>, &IndexEntry<'_>) -> bool| -> Vec<ReportedEntry> {
                let found = index.entries().filter(|(line, entry)| wanted(line, entry));
                found.map(|(line, entry)| reported(line, entry)).collect()
            };
        let whole: Vec<String> = shown_lines(text).into_iter().map(|line| line.text.into_owned()).collect();
        let (all, loaded_tokens) = (tokens(whole.join("\n").trim()), tokens(&loaded.text));
        IndexReport {
            loaded_tokens,
            on_demand_tokens: topics.iter().map(|topic| topic.tokens).sum(),
            lost_tokens: if loaded.warning.is_some() { all.saturating_sub(loaded_tokens) } else { 0 },
            entries: index.entries().count(),
            topics: topics.len(),
            lost: entries_where(&mut |line, _| !loaded.has_line(line.number)),
            without_file: entries_where(&mut |_, entry| !is_there(&entry.path)),
            without_entry: topics
                .iter()
                .map(|topic| &topic.path)
                .filter(|path| !linked.contains(path))
                .cloned()
                .collect(),
            duplicates: entries_where(&mut |_, entry| !seen.insert(entry.path.clone())),
            too_long: entries_where(&mut |line, _| line.text.chars().count() > ENTRY_CHARS_MAX),
            repeated: repeated(&index, instructions),
            problems: Vec::new(),
            loaded,
        }
    }
}

fn reported(line: &IndexLine<'_>, entry: &IndexEntry<'_>) -> ReportedEntry {
    ReportedEntry { line: line.number, path: entry.path.clone(), title: one_line(entry.title) }
}

fn repeated(index: &MemoryIndex<'_>, instructions: &[Instructions<'_>]) -> Vec<RepeatedLine> {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for file in instructions {
        for line in file.text.lines() {
            known.entry(statement(line)).or_insert(file.name);
        }
    }
    let said = |line: &IndexLine<'_>| match &line.kind {
        IndexLineKind::Entry(entry) => Some(entry.hook.to_owned()),
        IndexLineKind::Text => Some(line.text.to_owned()),
        _ => None,
    };
    let repeats = |line: &IndexLine<'_>| {
        let said = statement(&said(line)?);
        let file = known.get(&said).filter(|_| said.chars().count() >= REPEATED_MIN)?;
        Some(RepeatedLine { line: line.number, text: one_line(line.text.trim()), file: (*file).to_owned() })
    };
    index.lines.iter().filter_map(repeats).collect()
}

/// A line for comparison: without list signs, emphasis and the dot at its end.
fn statement(line: &str) -> String {
    let line = line.trim().trim_start_matches(['-', '*', '+', '>', '#', ' ', '\t']);
    let plain: String = line.chars().filter(|c| !matches!(c, '*' | '_' | '`')).collect();
    fold(one_line(&plain).trim_end_matches('.'))
}
