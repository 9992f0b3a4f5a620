//! Makes an index small enough: what does not fit moves to topic files, by section, each linked by one line.
//!
//! Nothing is lost: every line that leaves the index is in one of the new files.

use super::index::{IndexLineKind, MEMORY_FILE, MemoryIndex, entry_line};
use super::loader::load_index;
use crate::path::RelPath;
use crate::text::{cut, one_line, slug};
use crate::time::Timestamp;
use crate::yaml::{FieldEdit, line_end};
use std::collections::{BTreeMap, BTreeSet};

/// The size that the client asks its model to get an index down to: 70 % of what it loads.
pub const TIDY_LINES_MAX: usize = 140;
pub const TIDY_UNITS_MAX: usize = 17_500;

/// The most topics that one run makes. The rest stays in the index: nobody reads a folder of thousands.
const TOPICS_MAX: usize = 500;
const ARCHIVE: &str = "archive";
/// The name of what comes before the first section.
const PREAMBLE: &str = "General";

/// A new index and the files that take what left it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TidyIndex {
    pub index: String,
    pub topics: Vec<(RelPath, String)>,
}

/// What a standalone `MEMORY.md` becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitIndex {
    pub index: String,
    pub topics: Vec<(RelPath, String)>,
    /// Where the original is kept.
    pub original: RelPath,
}

/// Splits a standalone file: all prose of a section becomes a topic.
pub fn split_standalone(text: &str, now: Timestamp, taken: &dyn Fn(&RelPath) -> bool) -> SplitIndex {
    let index = MemoryIndex::parse(text);
    let sections = sections(&index);
    let moved = by_prose(&sections).iter().flat_map(|section| section.prose.iter().copied()).collect();
    let TidyIndex { index, topics } = without_lines(&index, &sections, &moved, &mut TopicNames::new(taken));
    let original = free(&format!("{ARCHIVE}/MEMORY.{}", now.date()), &|path| taken(path));
    SplitIndex { index, topics, original }
}

/// The index within its limits; `None` if it is already. `useful` ranks the linked files: the least useful go first.
pub fn tidied(
    text: &str,
    taken: &dyn Fn(&RelPath) -> bool,
    useful: &dyn Fn(&RelPath) -> i64,
) -> Option<TidyIndex> {
    if fits(text) {
        return None;
    }
    let index = MemoryIndex::parse(text);
    let sections = sections(&index);
    let by_prose = by_prose(&sections);
    let mut names = TopicNames::new(taken);
    let prose = |count: usize| by_prose[..count].iter().flat_map(|section| section.prose.iter().copied());
    let fewest =
        fewest(by_prose.len(), |count| without_lines(&index, &sections, &prose(count).collect(), &mut names));
    if fits(&fewest.index) {
        return Some(fewest);
    }
    let entries = goes_first(&index, &sections, by_prose.len(), useful);
    Some(self::fewest(entries.len(), |count| {
        let moved = prose(by_prose.len()).chain(entries[..count].iter().copied()).collect();
        without_lines(&index, &sections, &moved, &mut names)
    }))
}

/// The result for the smallest count that fits, or for `max`. Searched by halves: a long index has thousands.
fn fewest(max: usize, mut result: impl FnMut(usize) -> TidyIndex) -> TidyIndex {
    let (mut low, mut high) = (0, max);
    while low < high {
        let middle = low + (high - low) / 2;
        if fits(&result(middle).index) { high = middle } else { low = middle + 1 }
    }
    result(low)
}

/// The sections whose prose moves, those with the most of it first.
fn by_prose(sections: &[IndexSection]) -> Vec<&IndexSection> {
    let mut by_prose: Vec<&IndexSection> =
        sections.iter().filter(|section| !section.prose.is_empty()).collect();
    by_prose.sort_by_key(|section| std::cmp::Reverse(section.prose.len()));
    by_prose.truncate(TOPICS_MAX);
    by_prose
}

/// The lines of the entries, from 0, in the order in which they leave. Only those whose sections may have a topic,
/// when `topics` of those with prose have one already.
fn goes_first(
    index: &MemoryIndex<'_>,
    sections: &[IndexSection],
    topics: usize,
    useful: &dyn Fn(&RelPath) -> i64,
) -> Vec<usize> {
    let mut entries: Vec<(i64, usize)> =
        index.entries().map(|(line, entry)| (useful(&entry.path), line.number - 1)).collect();
    // Of two that are as useful, the one further down is lost first anyway.
    entries.sort_by_key(|(useful, at)| (*useful, std::cmp::Reverse(*at)));
    let mut more = BTreeSet::new();
    let may_go = |at: &usize| {
        let section = sections.partition_point(|section| section.lines.start <= *at).saturating_sub(1);
        let has_topic = !sections[section].prose.is_empty() && topics < TOPICS_MAX || more.contains(&section);
        has_topic || topics + more.len() < TOPICS_MAX && more.insert(section)
    };
    entries.into_iter().map(|(_, at)| at).filter(may_go).collect()
}

fn fits(text: &str) -> bool {
    let loaded = load_index(text);
    loaded.lines < TIDY_LINES_MAX && loaded.units < TIDY_UNITS_MAX
}

/// A section of the index: a heading of level 1 or 2, and what is below it.
struct IndexSection {
    title: String,
    /// The line of its heading, from 0; `None` for what comes first.
    heading: Option<usize>,
    /// Its lines of prose and its deeper headings, from 0.
    prose: Vec<usize>,
    lines: std::ops::Range<usize>,
}

fn sections(index: &MemoryIndex<'_>) -> Vec<IndexSection> {
    let mut sections =
        vec![IndexSection { title: PREAMBLE.to_owned(), heading: None, prose: Vec::new(), lines: 0..0 }];
    for (at, line) in index.lines.iter().enumerate() {
        match &line.kind {
            IndexLineKind::Heading { level: 1 | 2, title } => sections.push(IndexSection {
                title: one_line(title),
                heading: Some(at),
                prose: Vec::new(),
                lines: at..at,
            }),
            IndexLineKind::Text => sections.last_mut().expect("the first one").prose.push(at),
            _ => {}
        }
        sections.last_mut().expect("the first one").lines.end = at + 1;
    }
    for section in &mut sections {
        if section.title.is_empty() {
            section.title = PREAMBLE.to_owned();
        }
        // Blank lines and subheadings stay with the prose around them.
        if let (Some(first), Some(last)) = (section.prose.first().copied(), section.prose.last().copied()) {
            let goes = |at: &usize| !matches!(index.lines[*at].kind, IndexLineKind::Entry(_));
            section.prose = (first..=last).filter(goes).collect();
        }
    }
    sections
}

/// The index without these lines, and a topic per section that has some of them, linked by one line.
fn without_lines(
    index: &MemoryIndex<'_>,
    sections: &[IndexSection],
    moved: &BTreeSet<usize>,
    names: &mut TopicNames<'_>,
) -> TidyIndex {
    names.start_again();
    let end = line_end(index.text);
    let mut result = TidyIndex::default();
    let shown = index.lines.iter().position(|line| line.kind != IndexLineKind::Stripped);
    let is_above = |at: usize| shown.is_none_or(|shown| at < shown);
    for section in sections {
        let goes: Vec<usize> = section.lines.clone().filter(|at| moved.contains(at)).collect();
        let mut stays = String::new();
        // Where the link of the first section goes: above frontmatter it would turn that into text.
        let mut top = 0;
        for at in section.lines.clone().filter(|at| !moved.contains(at)) {
            let is_blank = index.lines[at].kind == IndexLineKind::Blank;
            // What was between two blank lines is gone.
            if !goes.is_empty() && is_blank && stays.ends_with(&format!("{end}{end}")) {
                continue;
            }
            stays.push_str(&index.text[index.lines[at].span.clone()]);
            if Some(at) == section.heading && !goes.is_empty() {
                stays.push_str(&link(index, section, &goes, names, &mut result.topics, end));
            }
            if is_above(at) {
                top = stays.len();
            }
        }
        if section.heading.is_none() && !goes.is_empty() {
            stays.insert_str(top, &link(index, section, &goes, names, &mut result.topics, end));
        }
        result.index.push_str(&stays);
    }
    result
}

/// Adds the topic of a section, and returns the line that links it.
fn link(
    index: &MemoryIndex<'_>,
    section: &IndexSection,
    goes: &[usize],
    names: &mut TopicNames<'_>,
    topics: &mut Vec<(RelPath, String)>,
    end: &str,
) -> String {
    let name = match slug(&section.title).as_str() {
        // On some systems `memory.md` is the index itself.
        "" | "memory" | "index" => "general".to_owned(),
        name => name.to_owned(),
    };
    let path = names.next(&name);
    let lines: Vec<&str> = goes.iter().map(|at| index.lines[*at].text).collect();
    let described = described(index, goes);
    topics.push((path.clone(), topic(&path, &format!("{}: {described}", section.title), &lines)));
    // A line end before it, should the heading have none.
    let gap = match section.heading.map(|at| &index.text[index.lines[at].span.clone()]) {
        Some(heading) if !heading.ends_with('\n') => end,
        _ => "",
    };
    format!("{gap}{}{end}", entry_line(&section.title, &path, &described))
}

/// What these lines are about, in a few words.
fn described(index: &MemoryIndex<'_>, goes: &[usize]) -> String {
    let said: Vec<_> =
        goes.iter().map(|at| &index.lines[*at]).filter(|line| !line.text.trim().is_empty()).collect();
    let first = said.first().map(|line| match &line.kind {
        IndexLineKind::Entry(entry) => entry.title,
        _ => line.text.trim_start_matches(['-', '*', '+', ' ', '#']),
    });
    let first = cut(&one_line(first.unwrap_or_default()), 80);
    match said.len() {
        0 | 1 => first,
        count => format!("{first} (and {} more)", count - 1),
    }
}

/// A topic file in the client's shape.
fn topic(path: &RelPath, description: &str, lines: &[&str]) -> String {
    let (name, body) = (path.stem(), lines.join("\n"));
    let description = FieldEdit::Text(description).rendered();
    format!(
        "---\nname: {name}\ndescription: {description}\nmetadata:\n  node_type: memory\n  type: project\n---\n\n{}\n",
        body.trim_end()
    )
}

/// Names for topics that are neither on the disk nor given before. A file may have thousands of sections with one
/// title, so each name continues where it stopped, and the disk is asked once per path.
struct TopicNames<'t> {
    taken: &'t dyn Fn(&RelPath) -> bool,
    asked: BTreeMap<RelPath, bool>,
    given: BTreeSet<RelPath>,
    next: BTreeMap<String, usize>,
}

impl<'t> TopicNames<'t> {
    fn new(taken: &'t dyn Fn(&RelPath) -> bool) -> TopicNames<'t> {
        TopicNames { taken, asked: BTreeMap::new(), given: BTreeSet::new(), next: BTreeMap::new() }
    }

    /// Forgets what was given, not what the disk said.
    fn start_again(&mut self) {
        self.given.clear();
        self.next.clear();
    }

    fn next(&mut self, name: &str) -> RelPath {
        let mut number = self.next.get(name).copied().unwrap_or(1);
        loop {
            let path = numbered(name, number);
            number += 1;
            let Some(path) = path else { continue };
            let taken = *self.asked.entry(path.clone()).or_insert_with(|| (self.taken)(&path));
            if !taken && self.given.insert(path.clone()) {
                self.next.insert(name.to_owned(), number);
                return path;
            }
        }
    }
}

/// The first free path for a name.
fn free(name: &str, taken: &dyn Fn(&RelPath) -> bool) -> RelPath {
    let mut free = (1_usize..).filter_map(|number| numbered(name, number)).filter(|path| !taken(path));
    free.next().expect("numbers do not run out")
}

fn numbered(name: &str, number: usize) -> Option<RelPath> {
    let path = match number {
        1 => format!("{name}.md"),
        number => format!("{name}-{number}.md"),
    };
    RelPath::parse(&path).ok().filter(|path| path.as_str() != MEMORY_FILE)
}
