//! Finds the memories related to one, with reasons.

use super::{Graph, NodeId, RelationKind};
use crate::memory::Address;
use crate::memory::link::Edge;
use std::collections::{BTreeMap, BTreeSet};

/// A link is explicit; a shared file or tag is a guess, and counts more the fewer memories share it. Without
/// shared files, records would hardly be related: they have no other links.
const LINK: f32 = 1.0;
const FILE: f32 = 0.5;
const TAG: f32 = 0.3;

/// Why two memories are related.
#[derive(Clone, Debug, PartialEq)]
pub enum RelationReason {
    /// The given memory links to it.
    LinksTo { edge: Edge, context: String },
    /// It links to the given memory.
    LinkedFrom { edge: Edge, context: String },
    /// Both link to this file.
    File(String),
    /// Both have this tag.
    Tag(String),
    /// Similar meaning: the cosine of their embeddings.
    Meaning(f32),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Related {
    pub address: Address,
    pub points: f32,
    pub reasons: Vec<RelationReason>,
}

/// The memories related to this one, highest score first. `near` are those with a similar embedding, with the
/// cosine.
pub fn related(graph: &Graph, address: &Address, near: &[(Address, f32)], limit: usize) -> Vec<Related> {
    let mut found: BTreeMap<&Address, Vec<(f32, RelationReason)>> = BTreeMap::new();
    let own = NodeId::Memory(address.clone());
    for relation in graph.from(address, None) {
        if let (RelationKind::Link(edge), NodeId::Memory(to)) = (relation.kind, &relation.to) {
            let reason = RelationReason::LinksTo { edge, context: relation.context.clone() };
            found.entry(to).or_default().push((LINK, reason));
        }
    }
    for relation in graph.to(&own) {
        if let RelationKind::Link(edge) = relation.kind {
            let reason = RelationReason::LinkedFrom { edge, context: relation.context.clone() };
            found.entry(&relation.from).or_default().push((LINK, reason));
        }
    }
    let shared: BTreeSet<&NodeId> =
        graph.from(address, None).map(|relation| &relation.to).filter(|to| to.memory().is_none()).collect();
    for node in shared {
        let others: BTreeSet<&Address> = graph.to(node).map(|relation| &relation.from).collect();
        let (worth, reason) = match node {
            NodeId::Tag(name) => (TAG, RelationReason::Tag(name.clone())),
            NodeId::Ghost(path) => (FILE, RelationReason::File(path.clone())),
            NodeId::Memory(_) => continue,
        };
        let points = worth * idf(others.len(), graph.memories.len());
        for other in others {
            found.entry(other).or_default().push((points, reason.clone()));
        }
    }
    for (other, cosine) in near {
        found.entry(other).or_default().push((*cosine, RelationReason::Meaning(*cosine)));
    }
    // A shared file or tag leads back to the memory itself as well.
    found.remove(address);
    let mut related: Vec<Related> = found
        .into_iter()
        .map(|(address, reasons)| Related {
            address: address.clone(),
            points: reasons.iter().map(|(points, _)| points).sum(),
            reasons: reasons.into_iter().map(|(_, reason)| reason).collect(),
        })
        .collect();
    related.sort_by(|a, b| b.points.total_cmp(&a.points).then_with(|| a.address.cmp(&b.address)));
    related.truncate(limit);
    related
}

/// 1 if only two memories share it, towards 0 if all do.
fn idf(sharing: usize, all: usize) -> f32 {
    if all <= 2 { 1.0 } else { 1.0 - (sharing.saturating_sub(2)) as f32 / (all - 1) as f32 }
}
