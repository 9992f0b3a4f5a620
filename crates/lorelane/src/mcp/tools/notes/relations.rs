//! Links of notes to files and to each other, and near duplicates.

use super::search::{beginning, listed, of_notes};
use super::{SEARCH_HINT, ToolCall, find, note_type, open, tool_error};
use crate::mcp::answer::{ToolAnswer, ToolError, ToolResult};
use crate::mcp::schema::{Schema, list_of, object_with, of_type, whole_object};
use crate::view::{LinkedNoteView, MergeableView, RelationView, RelationshipsView, VersionsView, memory_id};
use lorelane_core::graph::{Graph, RelationKind, Scope};
use lorelane_core::json::Json;
use lorelane_core::memory::link::Edge;
use lorelane_core::memory::{Address, MemoryKind};
use lorelane_engine::workspace::{Comparison, Inbound, Workspace};
use std::collections::BTreeMap;

const HITS: usize = 5;
/// Search results that are considered to rank the notes that link to a file.
const RANKED: usize = 1000;
const GROUPS: usize = 5;
const ALIKE: f64 = 0.85;

pub(super) fn linked(call: &ToolCall<'_>) -> ToolResult {
    let Some(target) = call.arguments.text("target_document") else {
        let hint = "name a file from the project's root, such as src/auth.py";
        return Err(ToolError::new("Validation error: target_document cannot be empty", hint));
    };
    let mut workspace = open(call)?;
    let links = workspace.recall().links_to(target, Scope::Active).map_err(tool_error)?.links;
    // A note is listed once, with its first link.
    let mut first: BTreeMap<Address, Inbound> = BTreeMap::new();
    for link in links.into_iter().filter(|link| link.from.address.is_note()) {
        first.entry(link.from.address.clone()).or_insert(link);
    }
    let scores = match call.arguments.text("query") {
        Some(query) => scores(&mut workspace, query)?,
        None => BTreeMap::new(),
    };
    let share = |link: &Inbound| scores.get(&link.from.address).copied().unwrap_or_default();
    let mut links: Vec<Inbound> = first.into_values().collect();
    links.sort_by(|a, b| share(b).total_cmp(&share(a)));
    links.truncate(call.arguments.whole("limit").unwrap_or(HITS));
    let hits = links.iter().filter_map(|link| {
        Some(LinkedNoteView::of(link, share(link), around(&workspace, link)?, &workspace))
    });
    Ok(ToolAnswer::verbatim(&hits.collect::<Vec<_>>()))
}

/// The score of each note that a query finds.
fn scores(workspace: &mut Workspace, query: &str) -> Result<BTreeMap<Address, f64>, ToolError> {
    let query = of_notes(query, workspace.now());
    let found = workspace.recall().search(&query, RANKED).map_err(tool_error)?;
    let each = found.hits.into_iter().flat_map(|hit| {
        let share = hit.share();
        std::iter::once(hit.address).chain(hit.same).map(move |address| (address, share))
    });
    Ok(each.collect())
}

/// The passage with the link; `None` if the note is gone by now.
fn around(workspace: &Workspace, link: &Inbound) -> Option<String> {
    let loaded = workspace.load(&link.from.address).ok()?;
    let mut passages = workspace.files().passages(&loaded).into_iter();
    let holds = passages.find(|passage| passage.text.contains(&link.target));
    Some(holds.map_or_else(|| beginning(workspace, &loaded), |passage| passage.text))
}

pub(super) fn linked_schema() -> Schema {
    listed(vec![
        ("memory_id", of_type("string")),
        ("score", of_type("number")),
        ("content", of_type("string")),
        ("anchor_context", of_type("string")),
        ("edge_type", of_type("string")),
        ("file_path", of_type("string")),
    ])
}

pub(super) fn merges(call: &ToolCall<'_>) -> ToolResult {
    let arguments = &call.arguments;
    let threshold = arguments.get("threshold").and_then(Json::as_f64).unwrap_or(ALIKE);
    let kind = Some(MemoryKind::Note(note_type(arguments.text("filter_type")).unwrap_or_default()));
    let limit = arguments.whole("limit").unwrap_or(GROUPS);
    let mut workspace = open(call)?;
    let groups = workspace.recall().duplicates(Comparison { threshold, limit, kind }).map_err(tool_error)?;
    let groups = groups.iter().enumerate();
    let groups = groups.map(|(at, group)| MergeableView::of(at, group, threshold, &workspace));
    Ok(ToolAnswer::verbatim(&groups.collect::<Vec<_>>()))
}

pub(super) fn merges_schema() -> Schema {
    let memory =
        vec![("id", of_type("string")), ("file_path", of_type("string")), ("preview", of_type("string"))];
    listed(vec![
        ("cluster_id", of_type("integer")),
        ("score", of_type("number")),
        ("reason", of_type("string")),
        ("memory_count", of_type("integer")),
        ("memories", list_of(whole_object(memory))),
    ])
}

pub(super) fn versions(call: &ToolCall<'_>) -> ToolResult {
    let (workspace, graph, address) = asked(call)?;
    let versions = graph.reached(&address, Edge::Supersedes);
    Ok(ToolAnswer::verbatim(&VersionsView::of(&versions, &workspace)))
}

pub(super) fn versions_schema() -> Schema {
    let version = vec![("memory_id", of_type("string")), ("file_path", of_type("string"))];
    whole_object(vec![("version_chain", list_of(whole_object(version))), ("count", of_type("integer"))])
}

pub(super) fn dependencies(call: &ToolCall<'_>) -> ToolResult {
    let (workspace, graph, address) = asked(call)?;
    Ok(ToolAnswer::verbatim(&said_of_memories(&workspace, &graph, &address, Edge::DependsOn)))
}

pub(super) fn contradictions(call: &ToolCall<'_>) -> ToolResult {
    let (workspace, graph, address) = asked(call)?;
    Ok(ToolAnswer::verbatim(&said_of_memories(&workspace, &graph, &address, Edge::Contradicts)))
}

pub(super) fn relationships(call: &ToolCall<'_>) -> ToolResult {
    let only = call.arguments.text("relationship_type");
    let (workspace, graph, address) = asked(call)?;
    let wanted = |name: &str, edge| {
        only.is_none_or(|only| only == name).then(|| said_of_memories(&workspace, &graph, &address, edge))
    };
    Ok(ToolAnswer::verbatim(&RelationshipsView {
        memory_id: memory_id(&address),
        supersedes: wanted("supersedes", Edge::Supersedes),
        depends_on: wanted("depends_on", Edge::DependsOn),
        contradicts: wanted("contradicts", Edge::Contradicts),
    }))
}

/// The note that a call names, and the graph.
fn asked(call: &ToolCall<'_>) -> Result<(Workspace, Graph, Address), ToolError> {
    let mut workspace = open(call)?;
    let typed = call.arguments.exact("filename");
    let address = find(&workspace, typed).ok_or_else(|| {
        let name = typed.strip_prefix("memory:").unwrap_or(typed);
        let what = format!("Memory not found: memory:{}", name.strip_suffix(".md").unwrap_or(name));
        ToolError::new(what, SEARCH_HINT)
    })?;
    let graph = workspace.recall().graph(Scope::Active).map_err(tool_error)?;
    Ok((workspace, graph, address))
}

/// The memories to which a note has this relation, with the text that states it.
fn said_of_memories(
    workspace: &Workspace,
    graph: &Graph,
    address: &Address,
    edge: Edge,
) -> Vec<RelationView> {
    let said = graph.from(address, Some(RelationKind::Link(edge)));
    said.filter_map(|relation| RelationView::of(relation, workspace)).collect()
}

fn relation() -> Vec<(&'static str, Schema)> {
    vec![("memory_id", of_type("string")), ("file_path", of_type("string")), ("context", of_type("string"))]
}

pub(super) fn related_schema() -> Schema {
    listed(relation())
}

pub(super) fn relationships_schema() -> Schema {
    let list = || list_of(whole_object(relation()));
    let properties = vec![
        ("memory_id", of_type("string")),
        ("supersedes", list()),
        ("depends_on", list()),
        ("contradicts", list()),
    ];
    object_with("memory_id", properties)
}
