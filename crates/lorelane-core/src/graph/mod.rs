//! The graph of memories, the files they mention, and their tags.
//!
//! Nodes are memories, ghosts and tags. A ghost is a link target that is not a memory: a file of the project,
//! whether it exists or not, or a memory that is not written yet. Edge names are those of `ragdocs`. Cycles are
//! allowed.

mod names;
mod related;
mod render;

pub use names::Names;
pub use related::{Related, RelationReason, related};

use crate::corpus::MemorySummary;
use crate::dialect::records::fields::NO_TAG;
use crate::lifecycle::Status;
use crate::mark::Marks;
use crate::memory::Address;
use crate::memory::link::{Edge, Link};
use crate::text::fold;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;

/// A link and the memory that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLink {
    pub from: Address,
    pub link: Link,
}

/// Whose links are included. Their targets are always included, with their status, because a memory that was
/// replaced is often archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Active,
    /// Also retired and archived memories.
    All,
}

impl Scope {
    pub fn has(self, status: Status) -> bool {
        self == Scope::All || status == Status::Active
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeId {
    Memory(Address),
    /// A path, as the first link to it wrote it.
    Ghost(String),
    /// Lowercase.
    Tag(String),
}

impl NodeId {
    pub fn tag(name: &str) -> NodeId {
        NodeId::Tag(name.trim().to_lowercase())
    }

    pub fn memory(&self) -> Option<&Address> {
        if let NodeId::Memory(address) = self { Some(address) } else { None }
    }
}

/// `decision/use-jwt`, `ghost:src/auth.py`, `tag:auth`.
impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeId::Memory(address) => write!(f, "{address}"),
            NodeId::Ghost(path) => write!(f, "ghost:{path}"),
            NodeId::Tag(name) => write!(f, "tag:{name}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RelationKind {
    Link(Edge),
    HasTag,
}

impl RelationKind {
    pub fn name(self) -> &'static str {
        match self {
            RelationKind::Link(edge) => edge.name(),
            RelationKind::HasTag => "HAS_TAG",
        }
    }
}

/// One edge. There is one per memory, target and kind, with the context of the first link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphRelation {
    pub from: Address,
    pub to: NodeId,
    pub kind: RelationKind,
    pub anchor: Option<String>,
    /// The text around the link; empty for a tag and for `related_files`.
    pub context: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The memories in scope and those they link to.
    pub memories: BTreeMap<Address, MemorySummary>,
    pub ghosts: BTreeSet<String>,
    pub tags: BTreeSet<String>,
    /// Sorted by source memory, then in text order.
    pub relations: Vec<GraphRelation>,
}

impl Graph {
    /// The graph of the memories that `counts` accepts. Deleted notes are left out: a link to one is a ghost until
    /// the note is restored.
    pub fn new(
        entries: Vec<MemorySummary>,
        links: &[MemoryLink],
        marks: &Marks,
        counts: impl Fn(&MemorySummary) -> bool,
    ) -> Graph {
        let entries: BTreeMap<Address, MemorySummary> = entries
            .into_iter()
            .filter(|entry| !entry.address.is_trash())
            .map(|entry| (entry.address.clone(), entry))
            .collect();
        let names = Names::new(entries.keys(), marks);
        let mut links_of: HashMap<&Address, Vec<&Link>> = HashMap::new();
        links.iter().for_each(|linked| links_of.entry(&linked.from).or_default().push(&linked.link));
        let mut ghosts = MissingTargets::default();
        let mut graph = Graph::default();
        for entry in entries.values().filter(|entry| counts(entry)) {
            graph.memories.insert(entry.address.clone(), entry.clone());
            let mut met = BTreeSet::new();
            for link in links_of.get(&entry.address).into_iter().flatten() {
                let (to, edge) = match names.resolve(&link.target) {
                    Some(address) => (NodeId::Memory(address.clone()), link.of_memory),
                    None => (NodeId::Ghost(ghosts.name_of(link)), link.edge()),
                };
                graph.relate(&entry.address, to, RelationKind::Link(edge), Some(link), &mut met);
            }
            // The placeholder tag would connect all memories without tags.
            for tag in entry.tags.iter().filter(|tag| *tag != NO_TAG) {
                let tag = NodeId::tag(tag);
                graph.relate(&entry.address, tag, RelationKind::HasTag, None, &mut met);
            }
        }
        for relation in &graph.relations {
            match &relation.to {
                // A target outside the scope is a node too, but its own links are not followed.
                NodeId::Memory(address) if !graph.memories.contains_key(address) => {
                    graph.memories.insert(address.clone(), entries[address].clone());
                }
                NodeId::Memory(_) => {}
                NodeId::Ghost(path) => drop(graph.ghosts.insert(path.clone())),
                NodeId::Tag(name) => drop(graph.tags.insert(name.clone())),
            }
        }
        graph
    }

    fn relate(
        &mut self,
        from: &Address,
        to: NodeId,
        kind: RelationKind,
        link: Option<&Link>,
        met: &mut BTreeSet<(NodeId, RelationKind)>,
    ) {
        if met.insert((to.clone(), kind)) {
            let anchor = link.and_then(|link| link.anchor.clone());
            let context = link.map(|link| link.context.clone()).unwrap_or_default();
            self.relations.push(GraphRelation { from: from.clone(), to, kind, anchor, context });
        }
    }

    /// The edges from a memory, of one kind or all.
    pub fn from<'g>(
        &'g self,
        address: &'g Address,
        kind: Option<RelationKind>,
    ) -> impl Iterator<Item = &'g GraphRelation> {
        self.relations.iter().filter(move |relation| {
            relation.from == *address && kind.is_none_or(|kind| relation.kind == kind)
        })
    }

    /// The edges to a node.
    pub fn to<'g>(&'g self, node: &'g NodeId) -> impl Iterator<Item = &'g GraphRelation> {
        self.relations.iter().filter(move |relation| relation.to == *node)
    }

    /// A memory and all memories reachable from it by one kind of edge, nearest first. With [`Edge::Supersedes`]
    /// these are its versions, with [`Edge::DependsOn`] its dependencies.
    pub fn reached(&self, from: &Address, edge: Edge) -> Vec<Address> {
        let mut next: HashMap<&Address, Vec<&Address>> = HashMap::new();
        for relation in self.relations.iter().filter(|relation| relation.kind == RelationKind::Link(edge)) {
            next.entry(&relation.from).or_default().extend(relation.to.memory());
        }
        let mut reached = vec![from.clone()];
        let mut at = 0;
        while let Some(address) = reached.get(at).cloned() {
            for other in next.get(&address).into_iter().flatten() {
                // Each memory once, because there may be cycles.
                if !reached.contains(other) {
                    reached.push((*other).clone());
                }
            }
            at += 1;
        }
        reached
    }

    /// The memories of each tag.
    pub fn tagged(&self) -> BTreeMap<&str, BTreeSet<&Address>> {
        let mut tagged: BTreeMap<&str, BTreeSet<&Address>> = BTreeMap::new();
        for relation in &self.relations {
            if let NodeId::Tag(name) = &relation.to {
                tagged.entry(name).or_default().insert(&relation.from);
            }
        }
        tagged
    }

    /// The number of memories with both tags, per pair of tags; each pair is sorted.
    pub fn tag_pairs(&self) -> BTreeMap<(&str, &str), usize> {
        let mut pairs = BTreeMap::new();
        for tags in self.tags_of().values() {
            for (one, other) in tags.iter().enumerate().flat_map(|(at, one)| {
                tags.iter().skip(at + 1).map(move |other| (*one.min(other), *one.max(other)))
            }) {
                *pairs.entry((one, other)).or_default() += 1;
            }
        }
        pairs
    }

    /// The tags that occur together with this one, with the number of memories, most frequent first.
    pub fn related_tags(&self, tag: &str) -> Vec<(&str, usize)> {
        let NodeId::Tag(tag) = NodeId::tag(tag) else { return Vec::new() };
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for tags in self.tags_of().values().filter(|tags| tags.contains(&&*tag)) {
            tags.iter()
                .filter(|other| **other != tag)
                .for_each(|other| *counts.entry(other).or_default() += 1);
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        counts
    }

    /// The memories around a tag with their distance, nearest first: 1 for those with the tag, 2 for those that
    /// share a tag with one of these, and so on.
    pub fn tag_cluster(&self, tag: &str, depth: usize) -> Vec<(&Address, usize)> {
        let NodeId::Tag(tag) = NodeId::tag(tag) else { return Vec::new() };
        let (tagged, tags_of) = (self.tagged(), self.tags_of());
        let mut met_tags = BTreeSet::from([tag.as_str()]);
        let mut met = BTreeSet::new();
        let mut cluster = Vec::new();
        let mut waiting = VecDeque::from([(tag.as_str(), 1)]);
        while let Some((tag, distance)) = waiting.pop_front().filter(|(_, distance)| *distance <= depth) {
            for address in tagged.get(tag).into_iter().flatten().filter(|address| met.insert(**address)) {
                cluster.push((*address, distance));
                let tags = tags_of.get(address).into_iter().flatten();
                waiting.extend(tags.filter(|tag| met_tags.insert(tag)).map(|tag| (*tag, distance + 1)));
            }
        }
        cluster
    }

    fn tags_of(&self) -> BTreeMap<&Address, Vec<&str>> {
        let mut tags: BTreeMap<&Address, Vec<&str>> = BTreeMap::new();
        for relation in &self.relations {
            if let NodeId::Tag(name) = &relation.to {
                tags.entry(&relation.from).or_default().push(name);
            }
        }
        tags
    }
}

/// One name per ghost, however its links are spelled.
#[derive(Debug, Default)]
struct MissingTargets(HashMap<String, String>);

impl MissingTargets {
    fn name_of(&mut self, link: &Link) -> String {
        let shown = link.target.shown();
        self.0.entry(fold(&shown)).or_insert(shown).clone()
    }
}
