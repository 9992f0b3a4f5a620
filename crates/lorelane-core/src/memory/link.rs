//! Links from a memory to files and other memories, and what they mean.

use super::{Address, Category, Memory};
use crate::path::RelPath;
use crate::text::fold;

/// All links of a memory: those in its text in order, then the files it is about.
pub fn links_of(memory: &Memory) -> impl Iterator<Item = Link> {
    memory.links.iter().cloned().chain(memory.about.iter().filter_map(|path| Link::about(path)))
}

/// The path of a file or folder, if the reference is nothing else: no URL, glob or line number.
pub fn plain_path(reference: &str) -> Option<RelPath> {
    let path = reference.trim().trim_start_matches("./").trim_end_matches('/');
    // Globs, placeholders, anchors, URLs, line numbers, and what a shell would expand.
    if path.contains(['*', '?', '[', ']', '{', '}', '<', '>', '#', ':', '~', '$']) {
        return None;
    }
    RelPath::parse(path).ok()
}

/// One link in a memory's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub target: LinkTarget,
    /// The text shown instead of the target.
    pub alias: Option<String>,
    /// The part of the target: a heading or a line.
    pub anchor: Option<String>,
    /// The text around the link, on one line.
    pub context: String,
    /// The meaning of the link if its target is a file.
    pub of_file: Edge,
    /// The meaning of the link if its target is a memory.
    pub of_memory: Edge,
}

impl Link {
    /// A link to a file from `related_files`, which has no sentence and so no specific meaning.
    pub fn about(path: &str) -> Option<Link> {
        Some(Link {
            target: LinkTarget::parse(path)?,
            alias: None,
            anchor: None,
            context: String::new(),
            of_file: Edge::RelatedToFile,
            of_memory: Edge::RelatedToMemory,
        })
    }

    /// How the memory relates to its target. Use [`Link::of_memory`] for a ghost that resolves to a memory.
    pub fn edge(&self) -> Edge {
        match self.target {
            LinkTarget::Memory(_) => self.of_memory,
            LinkTarget::Ghost(_) => self.of_file,
        }
    }
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkTarget {
    /// Written as the address of a memory.
    Memory(Address),
    /// A path or name that is not resolved yet: a file of the project, or a memory by its bare name.
    Ghost(String),
}

impl LinkTarget {
    /// Parses a path as people write it. `None` if nothing is left after normalisation.
    pub fn parse(path: &str) -> Option<LinkTarget> {
        let path = normal_path(path);
        if path.is_empty() {
            return None;
        }
        let address = is_address(&path).then(|| Address::parse(&path)).flatten();
        // A name such as ` .` does not survive normalisation, so it could not be written back.
        let address = address.filter(|address| normal_path(&address.to_string()) == address.to_string());
        Some(address.map_or(LinkTarget::Ghost(path), LinkTarget::Memory))
    }

    /// The target as text; [`LinkTarget::parse`] returns the same target for it.
    pub fn shown(&self) -> String {
        match self {
            LinkTarget::Memory(address) => address.to_string(),
            LinkTarget::Ghost(path) => path.clone(),
        }
    }

    /// The lookup key. Case and accents are folded, because people write links from memory.
    pub fn key(&self) -> String {
        match self {
            LinkTarget::Memory(address) => fold(&address.to_string()),
            LinkTarget::Ghost(path) => fold(path),
        }
    }
}

/// Whether a path is meant as an address. `docs/decisions/0001-x` is not, though [`Address::parse`] accepts it.
fn is_address(path: &str) -> bool {
    let named = |(group, _): (&str, &str)| Category::ALL.iter().any(|category| category.name() == group);
    let lanes = ["notes/", "auto/", "memory:", ".memories/", ".claude/memory/"];
    lanes.iter().any(|lane| path.starts_with(lane)) || path.split_once('/').is_some_and(named)
}

/// Normalises a path: `./src//a.py`, `/src/a.py` and `src\b\..\a.py` become `src/a.py`.
fn normal_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part.trim() {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// How a memory relates to the target of a link. The names are those of the graph in `ragdocs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    Refactors,
    Plans,
    Debugs,
    Mentions,
    RelatedToFile,
    Supersedes,
    Extends,
    Contradicts,
    DependsOn,
    RelatedToMemory,
}

impl Edge {
    pub const ALL: [Edge; 10] = [
        Edge::Refactors,
        Edge::Plans,
        Edge::Debugs,
        Edge::Mentions,
        Edge::RelatedToFile,
        Edge::Supersedes,
        Edge::Extends,
        Edge::Contradicts,
        Edge::DependsOn,
        Edge::RelatedToMemory,
    ];

    /// Parses a name. Case matters: `related_to` is for files and `RELATED_TO` for memories.
    pub fn parse(name: &str) -> Option<Edge> {
        Edge::ALL.into_iter().find(|edge| edge.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Edge::Refactors => "refactors",
            Edge::Plans => "plans",
            Edge::Debugs => "debugs",
            Edge::Mentions => "mentions",
            Edge::RelatedToFile => "related_to",
            Edge::Supersedes => "SUPERSEDES",
            Edge::Extends => "EXTENDS",
            Edge::Contradicts => "CONTRADICTS",
            Edge::DependsOn => "DEPENDS_ON",
            Edge::RelatedToMemory => "RELATED_TO",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_target_is_the_same_however_it_is_written() {
        let table = [
            ("src/auth.py", Some("src/auth.py")),
            (" ./src//auth.py ", Some("src/auth.py")),
            ("/src/b/../auth.py", Some("src/auth.py")),
            ("src\\auth.py", Some("src/auth.py")),
            ("memory:auth-plan", Some("notes/auth-plan")),
            (".memories/plans/x.md", Some("notes/plans/x")),
            (".claude/memory/decisions/use-jwt.json", Some("decision/use-jwt")),
            ("docs/decisions/use-jwt.json", Some("docs/decisions/use-jwt.json")),
            ("memory: .", Some("memory: .")),
            ("./", None),
            ("", None),
        ];
        for (path, expected) in table {
            assert_eq!(LinkTarget::parse(path).map(|target| target.shown()).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn every_edge_is_read_by_its_name() {
        Edge::ALL.into_iter().for_each(|edge| assert_eq!(Edge::parse(edge.name()), Some(edge)));
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(path in "([./]|memory:|notes/|decision/|[a-zé .#\\\\]{0,4}){0,6}") {
            if let Some(target) = LinkTarget::parse(&path) {
                prop_assert_eq!(LinkTarget::parse(&target.shown()), Some(target));
            }
        }
    }
}
