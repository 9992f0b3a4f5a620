//! Links to a file, related memories, near duplicates.

use super::{Digits, texts};
use lorelane_core::graph::{Related, RelationReason};
use lorelane_core::memory::Address;
use lorelane_core::text::shell_word;
use lorelane_engine::workspace::{Duplicate, DuplicateGroup, Inbound, LinkReport, Workspace};
use serde::Serialize;

/// Decimal places of a score or cosine.
const PLACES: i32 = 4;

#[derive(Debug, Serialize)]
pub struct LinksView<'l> {
    target: String,
    former: &'l [String],
    links: Vec<LinkView<'l>>,
}

#[derive(Debug, Serialize)]
struct LinkView<'l> {
    address: String,
    path: String,
    title: &'l str,
    status: &'static str,
    edge: &'static str,
    target: &'l str,
    anchor: Option<&'l str>,
    context: &'l str,
}

impl<'l> LinksView<'l> {
    pub fn of(links: &'l LinkReport, workspace: &Workspace) -> LinksView<'l> {
        LinksView {
            target: links.target.to_string(),
            former: &links.former,
            links: links.links.iter().map(|link| LinkView::of(link, workspace)).collect(),
        }
    }
}

impl<'l> LinkView<'l> {
    fn of(link: &'l Inbound, workspace: &Workspace) -> LinkView<'l> {
        LinkView {
            address: link.from.address.to_string(),
            path: workspace.files().listed_path(&link.from.address),
            title: &link.from.title,
            status: link.from.status.name(),
            edge: link.edge.name(),
            target: &link.target,
            anchor: link.anchor.as_deref(),
            context: &link.context,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct NeighboursView<'r> {
    address: String,
    related: Vec<RelatedView<'r>>,
}

#[derive(Debug, Serialize)]
struct RelatedView<'r> {
    address: String,
    points: Digits,
    reasons: Vec<ReasonView<'r>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
enum ReasonView<'r> {
    LinksTo { edge: &'static str, context: &'r str },
    LinkedFrom { edge: &'static str, context: &'r str },
    File { file: &'r str },
    Tag { tag: &'r str },
    Meaning { cosine: Digits },
}

impl<'r> NeighboursView<'r> {
    pub fn of(address: &Address, related: &'r [Related]) -> NeighboursView<'r> {
        let related = related.iter().map(|found| RelatedView {
            address: found.address.to_string(),
            points: Digits::rounded(f64::from(found.points), PLACES),
            reasons: found.reasons.iter().map(ReasonView::of).collect(),
        });
        NeighboursView { address: address.to_string(), related: related.collect() }
    }
}

impl<'r> ReasonView<'r> {
    fn of(reason: &'r RelationReason) -> ReasonView<'r> {
        match reason {
            RelationReason::LinksTo { edge, context } => ReasonView::LinksTo { edge: edge.name(), context },
            RelationReason::LinkedFrom { edge, context } => {
                ReasonView::LinkedFrom { edge: edge.name(), context }
            }
            RelationReason::File(path) => ReasonView::File { file: path },
            RelationReason::Tag(tag) => ReasonView::Tag { tag },
            RelationReason::Meaning(cosine) => {
                ReasonView::Meaning { cosine: Digits::rounded(f64::from(*cosine), PLACES) }
            }
        }
    }
}

/// Near duplicates, in the fields of `ragdocs`' answer, with the command that merges them.
#[derive(Debug, Serialize)]
pub struct DuplicatesView<'d> {
    threshold: Digits,
    groups: Vec<GroupView<'d>>,
}

#[derive(Debug, Serialize)]
struct GroupView<'d> {
    cluster_id: usize,
    score: Digits,
    reason: String,
    memory_count: usize,
    memories: Vec<DuplicateView<'d>>,
    merge: Option<String>,
}

#[derive(Debug, Serialize)]
struct DuplicateView<'d> {
    id: String,
    file_path: &'d str,
    preview: &'d str,
}

impl<'d> DuplicatesView<'d> {
    pub fn of(groups: &'d [DuplicateGroup], threshold: f64) -> DuplicatesView<'d> {
        let group = |(at, group): (usize, &'d DuplicateGroup)| GroupView {
            cluster_id: at,
            score: Digits::rounded(group.score, PLACES),
            reason: format!("High vector similarity (>= {threshold})"),
            memory_count: group.memories.len(),
            memories: group.memories.iter().map(DuplicateView::of).collect(),
            merge: merge_command(group),
        };
        let groups = groups.iter().enumerate().map(group).collect();
        DuplicatesView { threshold: Digits::shortest(threshold), groups }
    }
}

impl<'d> DuplicateView<'d> {
    fn of(memory: &'d Duplicate) -> DuplicateView<'d> {
        DuplicateView {
            id: memory.entry.address.to_string(),
            file_path: &memory.path,
            preview: &memory.preview,
        }
    }
}

/// The command that merges the notes of a group. Records have fields, which no command merges.
pub fn merge_command(group: &DuplicateGroup) -> Option<String> {
    let notes = group.memories.iter().map(|memory| &memory.entry.address).filter(|address| address.is_note());
    let notes: Vec<String> = texts(notes).iter().map(|address| shell_word(address)).collect();
    let (first, true) = (notes.first()?, notes.len() > 1) else { return None };
    Some(format!("lorelane merge {} --into {first}", notes.join(" ")))
}
