//! The answers of the `ragdocs` tools: a contract, field by field.

use super::{Digits, Members, path_text};
use lorelane_core::graph::GraphRelation;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Address, Memory};
use lorelane_core::recall::Hit;
use lorelane_core::validity::NotCurrent;
use lorelane_engine::workspace::{DuplicateGroup, Inbound, Workspace};
use serde::Serialize;
use std::collections::BTreeMap;

/// Decimal places of a score.
const PLACES: i32 = 3;

/// An error with its hint.
#[derive(Debug, Serialize)]
pub struct ErrorView<'e> {
    pub error: &'e str,
    pub hint: &'e str,
}

/// A note that was created, changed or appended to.
#[derive(Debug, Serialize)]
pub struct NoteChangeView {
    pub status: &'static str,
    pub filename: String,
    pub path: String,
}

#[derive(Debug, Serialize)]
pub struct NoteTextView {
    pub filename: String,
    pub content: String,
    pub path: String,
}

#[derive(Debug, Serialize)]
pub struct NoteDeletionView {
    pub status: &'static str,
    pub filename: String,
    pub moved_to: String,
}

#[derive(Debug, Serialize)]
pub struct NoteMergeView {
    pub status: &'static str,
    pub target_file: String,
    pub sources_merged: usize,
    pub target_path: String,
}

#[derive(Debug, Serialize)]
pub struct NoteHitView {
    memory_id: String,
    score: Digits,
    content: String,
    #[serde(rename = "type")]
    note_type: &'static str,
    status: &'static str,
    tags: Vec<String>,
    file_path: String,
    header_path: String,
}

impl NoteHitView {
    pub fn of(hit: &Hit, content: String, header_path: String, file_path: String) -> NoteHitView {
        NoteHitView {
            memory_id: memory_id(&hit.address),
            score: Digits::rounded(hit.share(), PLACES),
            content,
            note_type: hit.kind.name(),
            status: match hit.status {
                Status::Active => hit.not_current.map_or(hit.status.name(), NotCurrent::name),
                other => other.name(),
            },
            tags: hit.tags.clone(),
            file_path,
            header_path,
        }
    }
}

/// A note that links to a file.
#[derive(Debug, Serialize)]
pub struct LinkedNoteView {
    memory_id: String,
    score: Digits,
    content: String,
    anchor_context: String,
    edge_type: &'static str,
    file_path: String,
}

impl LinkedNoteView {
    pub fn of(link: &Inbound, share: f64, content: String, workspace: &Workspace) -> LinkedNoteView {
        LinkedNoteView {
            memory_id: memory_id(&link.from.address),
            score: Digits::rounded(share, PLACES),
            content,
            anchor_context: link.context.clone(),
            edge_type: link.edge.name(),
            file_path: file_path(workspace, &link.from.address),
        }
    }
}

/// Notes that could be merged.
#[derive(Debug, Serialize)]
pub struct MergeableView {
    cluster_id: usize,
    score: Digits,
    reason: String,
    memory_count: usize,
    memories: Vec<MergeableNoteView>,
}

#[derive(Debug, Serialize)]
struct MergeableNoteView {
    id: String,
    file_path: String,
    preview: String,
}

impl MergeableView {
    pub fn of(at: usize, group: &DuplicateGroup, threshold: f64, workspace: &Workspace) -> MergeableView {
        let memories = group.memories.iter().map(|memory| MergeableNoteView {
            id: memory_id(&memory.entry.address),
            file_path: file_path(workspace, &memory.entry.address),
            preview: memory.preview.clone(),
        });
        MergeableView {
            cluster_id: at,
            score: Digits::rounded(group.score, PLACES),
            reason: format!("High vector similarity (> {threshold})"),
            memory_count: group.memories.len(),
            memories: memories.collect(),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct VersionsView {
    version_chain: Vec<VersionView>,
    count: usize,
}

#[derive(Debug, Serialize)]
struct VersionView {
    memory_id: String,
    file_path: String,
}

impl VersionsView {
    pub fn of(versions: &[Address], workspace: &Workspace) -> VersionsView {
        let version = |address: &Address| VersionView {
            memory_id: memory_id(address),
            file_path: file_path(workspace, address),
        };
        VersionsView { version_chain: versions.iter().map(version).collect(), count: versions.len() }
    }
}

/// Another memory, and the text in which a note states the relation.
#[derive(Debug, Serialize)]
pub struct RelationView {
    memory_id: String,
    file_path: String,
    context: String,
}

impl RelationView {
    /// `None` if the relation is to something that is not a memory.
    pub fn of(relation: &GraphRelation, workspace: &Workspace) -> Option<RelationView> {
        let memory = relation.to.memory()?;
        Some(RelationView {
            memory_id: memory_id(memory),
            file_path: file_path(workspace, memory),
            context: relation.context.clone(),
        })
    }
}

/// Has only the relations that were asked for.
#[derive(Debug, Serialize)]
pub struct RelationshipsView {
    pub memory_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<Vec<RelationView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<RelationView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<Vec<RelationView>>,
}

#[derive(Debug, Serialize)]
pub struct NotesStatsView<'n> {
    pub count: usize,
    pub total_size: String,
    pub tags: Members<&'n str, usize>,
    pub types: Members<&'n str, usize>,
    pub memory_path: String,
}

/// A note that has a tag, or one that occurs together with it.
#[derive(Debug, Serialize)]
pub struct TaggedNoteView {
    memory_id: String,
    score: Digits,
    content: String,
    #[serde(rename = "type")]
    note_type: &'static str,
    tags: Vec<String>,
    file_path: String,
}

impl TaggedNoteView {
    pub fn of(
        address: &Address,
        note: &Memory,
        share: f64,
        content: String,
        workspace: &Workspace,
    ) -> TaggedNoteView {
        TaggedNoteView {
            memory_id: memory_id(address),
            score: Digits::rounded(share, PLACES),
            content,
            note_type: note.kind.name(),
            tags: note.tags.clone(),
            file_path: file_path(workspace, address),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct TagGraphView<'n> {
    pub tag_frequencies: BTreeMap<&'n str, usize>,
    pub co_occurrences: Vec<TagPairView<'n>>,
}

#[derive(Debug, Serialize)]
pub struct TagPairView<'n> {
    pub tag: &'n str,
    pub related_tag: &'n str,
    pub count: usize,
}

#[derive(Debug, Serialize)]
pub struct RelatedTagsView<'n> {
    pub tag: &'n str,
    pub related_tags: Vec<TagCountView<'n>>,
}

#[derive(Debug, Serialize)]
pub struct TagCountView<'n> {
    pub tag: &'n str,
    pub count: usize,
}

/// The `ragdocs` id of a note; for any other memory its address.
pub fn memory_id(address: &Address) -> String {
    match address.is_note() {
        true => format!("memory:{}", address.name()),
        false => address.to_string(),
    }
}

pub fn file_path(workspace: &Workspace, address: &Address) -> String {
    workspace.files().file(address).map(|path| path_text(&path)).unwrap_or_default()
}
