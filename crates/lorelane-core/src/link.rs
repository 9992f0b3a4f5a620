//! What a memory points to, and how it speaks of it.

use crate::memory::Address;
use crate::text::fold;

/// One link in a memory's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub target: Target,
    /// What the text shows instead of the target.
    pub alias: Option<String>,
    /// The part of the target that is meant: a heading, or a line.
    pub anchor: Option<String>,
    /// The text around the link, on one line.
    pub context: String,
    /// What its sentence says of a file.
    pub of_file: Edge,
    /// What its sentence says of a memory.
    pub of_memory: Edge,
}

impl Link {
    /// How the memory relates to its target. A ghost that turns out to be a memory has [`Link::of_memory`].
    pub fn edge(&self) -> Edge {
        match self.target {
            Target::Memory(_) => self.of_memory,
            Target::Ghost(_) => self.of_file,
        }
    }
}

/// What a link points to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The text says that it means a memory.
    Memory(Address),
    /// A path or a name that nobody has looked up: a file of the project, or a memory by its bare name.
    Ghost(String),
}

impl Target {
    /// The same for every way of writing one target: case and accents make no difference.
    pub fn key(&self) -> String {
        match self {
            Target::Memory(address) => fold(&address.to_string()),
            Target::Ghost(path) => fold(path),
        }
    }
}

/// How a memory relates to what it points to. The names are those of the first system's graph.
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
