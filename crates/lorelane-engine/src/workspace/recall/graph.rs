//! Links, related memories and duplicates, across all lanes.
//!
//! These commands may take a moment, so they scan every file first: a file edited in place leaves its
//! folder's mtime as it was, and their results come from the index alone.

use super::Recall;
use crate::git;
use crate::index::{Index, ListFilter};
use crate::workspace::Failure;
use crate::workspace::open::locate::real_path;
use lorelane_core::corpus::MemorySummary;
use lorelane_core::graph::{self, Graph, MemoryLink, Names, NodeId, Related, Scope};
use lorelane_core::memory::link::{Edge, LinkTarget};
use lorelane_core::memory::{Address, Body, MemoryKind};
use lorelane_core::near_duplicates::{self, Fingerprint};
use lorelane_core::recall::Query;
use lorelane_core::text::{cut, one_line};
use std::collections::BTreeMap;
use std::path::Path;

/// Below this cosine a reader would not call two memories related.
const NEAR: f32 = 0.5;
/// How many memories are related by their embedding at most.
const NEAR_COUNT: usize = 20;
/// Characters of a memory in the preview of a duplicate.
const PREVIEW: usize = 100;

/// The links to a file or a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkReport {
    /// The resolved target: a memory, or a ghost for anything else.
    pub target: NodeId,
    /// Former names of the file, from git.
    pub former: Vec<String>,
    /// By the address of the linking memory, then in the order of its text.
    pub links: Vec<Inbound>,
}

/// One link to a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Inbound {
    pub from: MemorySummary,
    /// The target as the memory writes it.
    pub target: String,
    pub anchor: Option<String>,
    pub edge: Edge,
    /// About a hundred characters on each side of the link; empty for a `related_files` entry of a record.
    pub context: String,
}

/// Which memories are compared for duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The lowest cosine of two duplicates, above 0 and up to 1.
    pub threshold: f64,
    pub limit: usize,
    pub kind: Option<MemoryKind>,
}

/// Memories that say nearly the same.
#[derive(Clone, Debug, PartialEq)]
pub struct DuplicateGroup {
    /// The mean cosine of its pairs.
    pub score: f64,
    pub memories: Vec<Duplicate>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Duplicate {
    pub entry: MemorySummary,
    /// The file, as in `index.md`.
    pub path: String,
    /// Its first words, on one line.
    pub preview: String,
}

/// Every memory and every link in the indexes.
struct KnownLinks {
    entries: Vec<MemorySummary>,
    links: Vec<MemoryLink>,
}

impl Recall<'_> {
    /// The whole graph: links from the memories in scope to any memory, file or tag.
    pub fn graph(&mut self, scope: Scope) -> Result<Graph, Failure> {
        let KnownLinks { entries, links } = self.known_links()?;
        Ok(Graph::new(entries, &links, &self.workspace.marks(), |entry| scope.has(entry.status)))
    }

    /// The links to a file or a memory, in any spelling. A file that was renamed in git is also found by its
    /// former names.
    pub fn links_to(&mut self, typed: &str, scope: Scope) -> Result<LinkReport, Failure> {
        self.workspace.maintenance().scan()?;
        let marks = self.workspace.marks();
        let entries: BTreeMap<Address, MemorySummary> = self
            .entries(ListFilter::default())?
            .into_iter()
            .map(|entry| (entry.address.clone(), entry))
            .collect();
        let names = Names::new(entries.keys(), &marks);
        let path = typed.split_once('#').map_or(typed, |(path, _)| path);
        let Some(target) = LinkTarget::parse(path) else {
            return Ok(LinkReport {
                target: NodeId::Ghost(String::new()),
                former: Vec::new(),
                links: Vec::new(),
            });
        };
        let meant = names.resolve(&target).cloned();
        // Git is asked only here, and only for files that are not memories: following a file's history costs more
        // than everything else.
        let former = match (&meant, &target) {
            (None, LinkTarget::Ghost(path)) => git::former_names(&self.workspace.project.root, path),
            _ => Vec::new(),
        };
        let keys = match &meant {
            Some(address) => Names::keys(address, &marks),
            None => {
                let old = former.iter().filter_map(|path| LinkTarget::parse(path));
                old.chain([target.clone()]).map(|target| target.key()).collect()
            }
        };
        let mut links = Vec::new();
        for lane in &mut self.workspace.lanes {
            links.append(&mut lane.with_index(|index| index.links_to(&keys))?);
        }
        let mut links: Vec<Inbound> = links
            .into_iter()
            .filter(|linked| names.resolve(&linked.link.target) == meant.as_ref())
            .filter_map(|MemoryLink { from, link }| {
                let edge = if meant.is_some() { link.of_memory } else { link.edge() };
                let from = entries.get(&from).filter(|entry| is_shown(entry, scope))?.clone();
                let target = link.target.shown();
                Some(Inbound { from, target, anchor: link.anchor, edge, context: link.context })
            })
            .collect();
        // A stable sort: links of one memory stay in the order of its text.
        links.sort_by(|a, b| a.from.address.cmp(&b.from.address));
        let target = meant.map_or_else(|| NodeId::Ghost(target.shown()), NodeId::Memory);
        Ok(LinkReport { target, former, links })
    }

    /// The memories related to this one, best first, each with its reasons.
    pub fn related(&mut self, address: &Address, limit: usize) -> Result<Vec<Related>, Failure> {
        let KnownLinks { entries, links } = self.known_links()?;
        let counts = |entry: &MemorySummary| is_shown(entry, Scope::Active) || entry.address == *address;
        let graph = Graph::new(entries, &links, &self.workspace.marks(), counts);
        let near = self.near_to(address)?;
        Ok(graph::related(&graph, address, &near, limit))
    }

    /// The active memories with the nearest embeddings, nearest first.
    fn near_to(&mut self, address: &Address) -> Result<Vec<(Address, f32)>, Failure> {
        let at = self.workspace.lane_for(address)?;
        let Some(path) = self.workspace.lanes[at].dialect.place(address) else { return Ok(Vec::new()) };
        let vector = self.workspace.lanes[at].with_index(|index| index.embedding_of(&path))?;
        let filter = Query::new("", self.workspace.now);
        let mut near = Vec::new();
        for lane in &mut self.workspace.lanes {
            near.append(&mut lane.with_index(|index| index.near(&vector, &filter))?);
        }
        near.retain(|(entry, cosine)| entry.address != *address && *cosine >= NEAR);
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.address.cmp(&b.0.address)));
        near.truncate(NEAR_COUNT);
        Ok(near.into_iter().map(|(entry, cosine)| (entry.address, cosine)).collect())
    }

    /// Groups of active memories that say nearly the same, most similar first.
    pub fn duplicates(&mut self, comparison: Comparison) -> Result<Vec<DuplicateGroup>, Failure> {
        self.workspace.maintenance().scan()?;
        let filter = Query::new("", self.workspace.now);
        let mut found: Vec<(MemorySummary, Fingerprint)> = Vec::new();
        for lane in &mut self.workspace.lanes {
            found.append(&mut lane.with_index(|index| index.shapes(&filter))?);
        }
        found.retain(|(entry, _)| comparison.kind.is_none_or(|kind| entry.kind == kind));
        let (entries, shapes): (Vec<MemorySummary>, Vec<Fingerprint>) = found.into_iter().unzip();
        let groups = near_duplicates::groups(&shapes, comparison.threshold);
        let duplicate = |at: &usize| {
            let entry = entries[*at].clone();
            Duplicate {
                path: self.workspace.listed_path(&entry.address),
                preview: self.preview_of(&entry),
                entry,
            }
        };
        let groups = groups.into_iter().take(comparison.limit);
        Ok(groups
            .map(|group| DuplicateGroup {
                score: group.score,
                memories: group.members.iter().map(duplicate).collect(),
            })
            .collect())
    }

    fn preview_of(&self, entry: &MemorySummary) -> String {
        let said = self.workspace.load(&entry.address).map(|loaded| match loaded.memory.body {
            Body::Prose(text) => text,
            Body::Fields(_) => format!("{}: {}", entry.title, loaded.memory.body.prose()),
        });
        cut(&one_line(&said.unwrap_or_default()), PREVIEW)
    }

    fn known_links(&mut self) -> Result<KnownLinks, Failure> {
        self.workspace.maintenance().scan()?;
        let mut links = Vec::new();
        for lane in &mut self.workspace.lanes {
            links.append(&mut lane.with_index(Index::links)?);
        }
        Ok(KnownLinks { entries: self.entries(ListFilter::default())?, links })
    }

    /// The path of a file from the project's root, as memories write it. `typed` is relative to `folder`.
    pub fn path_from_root(&self, folder: &Path, typed: &str) -> String {
        let path = typed.split_once('#').map_or(typed, |(path, _)| path);
        let file = folder.join(path);
        // A file that does not exist, or is outside the project, may still be what a memory links to: it stays as
        // it was typed.
        let stands = matches!(self.workspace.disk.stat(&file), Ok(Some(_)));
        let real = || real_path(&*self.workspace.disk, &file).ok();
        let inside = |file: &Path| {
            let inside = file.strip_prefix(&self.workspace.project.root).ok()?;
            Some(inside.to_string_lossy().replace('\\', "/"))
        };
        let found = if stands { inside(&file).or_else(|| inside(&real()?)) } else { None };
        found.filter(|path| !path.is_empty()).unwrap_or_else(|| typed.to_owned())
    }
}

fn is_shown(entry: &MemorySummary, scope: Scope) -> bool {
    scope.has(entry.status) && !entry.address.is_trash()
}
