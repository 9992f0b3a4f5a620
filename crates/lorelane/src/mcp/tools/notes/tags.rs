//! Tags: how often they are used, and which occur together.

use super::search::{beginning, listed};
use super::{ToolCall, open, tool_error};
use crate::mcp::answer::{ToolAnswer, ToolError, ToolResult};
use crate::mcp::schema::{Schema, list_of, of_type, whole_object};
use crate::view::{RelatedTagsView, TagCountView, TagGraphView, TagPairView, TaggedNoteView};
use lorelane_core::graph::{Graph, Scope};
use lorelane_core::memory::Address;
use lorelane_engine::workspace::Workspace;

const DEPTH: usize = 2;
const HITS: usize = 10;
/// Limit of co-occurring tags for each tag in the graph.
const BESIDE: usize = 5;

pub(super) fn cluster(call: &ToolCall<'_>) -> ToolResult {
    let tag = tag(call)?;
    let (workspace, graph) = of_notes(call)?;
    let around = graph.tag_cluster(tag, call.arguments.whole("depth").unwrap_or(DEPTH));
    let around = around.into_iter().take(call.arguments.whole("limit").unwrap_or(HITS));
    let hits = around.filter_map(|(address, distance)| shown(&workspace, address, distance));
    Ok(ToolAnswer::verbatim(&hits.collect::<Vec<_>>()))
}

/// Scores a note by its distance: 1 if it has the tag, 1/2 if it shares a tag with such a note, then 1/3 …
fn shown(workspace: &Workspace, address: &Address, distance: usize) -> Option<TaggedNoteView> {
    let loaded = workspace.load(address).ok()?;
    let share = 1.0 / distance.max(1) as f64;
    let content = beginning(workspace, &loaded);
    Some(TaggedNoteView::of(address, &loaded.memory, share, content, workspace))
}

pub(super) fn cluster_schema() -> Schema {
    listed(vec![
        ("memory_id", of_type("string")),
        ("score", of_type("number")),
        ("content", of_type("string")),
        ("type", of_type("string")),
        ("tags", list_of(of_type("string"))),
        ("file_path", of_type("string")),
    ])
}

pub(super) fn graph(call: &ToolCall<'_>) -> ToolResult {
    let (_, graph) = of_notes(call)?;
    let tagged = graph.tagged();
    let co_occurrences = tagged.keys().copied().flat_map(|tag| {
        let related = graph.related_tags(tag).into_iter().take(BESIDE);
        related.map(move |(related_tag, count)| TagPairView { tag, related_tag, count })
    });
    Ok(ToolAnswer::verbatim(&TagGraphView {
        tag_frequencies: tagged.iter().map(|(tag, notes)| (*tag, notes.len())).collect(),
        co_occurrences: co_occurrences.collect(),
    }))
}

pub(super) fn graph_schema() -> Schema {
    let together =
        vec![("tag", of_type("string")), ("related_tag", of_type("string")), ("count", of_type("integer"))];
    let together = list_of(whole_object(together));
    whole_object(vec![("tag_frequencies", of_type("object")), ("co_occurrences", together)])
}

pub(super) fn related(call: &ToolCall<'_>) -> ToolResult {
    let tag = tag(call)?;
    let (_, graph) = of_notes(call)?;
    let related = graph.related_tags(tag).into_iter();
    let related_tags = related.map(|(tag, count)| TagCountView { tag, count }).collect();
    Ok(ToolAnswer::verbatim(&RelatedTagsView { tag, related_tags }))
}

pub(super) fn related_schema() -> Schema {
    let related = whole_object(vec![("tag", of_type("string")), ("count", of_type("integer"))]);
    whole_object(vec![("tag", of_type("string")), ("related_tags", list_of(related))])
}

fn tag<'c>(call: &'c ToolCall<'_>) -> Result<&'c str, ToolError> {
    let hint = "get_tag_graph lists the tags there are";
    call.arguments.text("tag").ok_or_else(|| ToolError::new("Validation error: tag cannot be empty", hint))
}

/// The graph of notes only: `ragdocs` knows no records.
fn of_notes(call: &ToolCall<'_>) -> Result<(Workspace, Graph), ToolError> {
    let mut workspace = open(call)?;
    let mut graph = workspace.recall().graph(Scope::Active).map_err(tool_error)?;
    graph.relations.retain(|relation| relation.from.is_note());
    Ok((workspace, graph))
}
