//! Tags: how often they are used, and what they come with.

use super::search::{beginning, listed, score};
use super::{Call, file_path, memory_id, object, open, trouble};
use crate::mcp::answer::{Answer, Outcome, Trouble};
use crate::mcp::schema::{self, list_of, of_type};
use lorelane_core::graph::{Graph, Scope};
use lorelane_core::json::{Json, Object};
use lorelane_core::memory::Address;
use lorelane_engine::workspace::Workspace;

const DEPTH: usize = 2;
const HITS: usize = 10;
/// So many of the tags that a tag comes with are told in the graph of all.
const BESIDE: usize = 5;

pub(super) fn cluster(call: &Call<'_>) -> Outcome {
    let tag = tag(call)?;
    let (workspace, graph) = of_notes(call)?;
    let around = graph.tag_cluster(tag, call.arguments.whole("depth").unwrap_or(DEPTH));
    let around = around.into_iter().take(call.arguments.whole("limit").unwrap_or(HITS));
    let hits = around.filter_map(|(address, distance)| shown(&workspace, address, distance));
    Ok(Answer::Verbatim(Json::List(hits.collect())))
}

/// A note with the tag counts 1, one that shares a tag with it half of that, and so on.
fn shown(workspace: &Workspace, address: &Address, distance: usize) -> Option<Json> {
    let loaded = workspace.load(address).ok()?;
    Some(object([
        ("memory_id", memory_id(address)),
        ("score", score(1.0 / distance.max(1) as f64)),
        ("content", Json::text(beginning(workspace, &loaded))),
        ("type", Json::text(loaded.memory.kind.name())),
        ("tags", Json::texts(loaded.memory.tags.clone())),
        ("file_path", file_path(workspace, address)),
    ]))
}

pub(super) fn cluster_schema() -> Json {
    listed(vec![
        ("memory_id", of_type("string")),
        ("score", of_type("number")),
        ("content", of_type("string")),
        ("type", of_type("string")),
        ("tags", list_of(of_type("string"))),
        ("file_path", of_type("string")),
    ])
}

pub(super) fn graph(call: &Call<'_>) -> Outcome {
    let (_, graph) = of_notes(call)?;
    let tagged = graph.tagged();
    let beside = |tag: &&str| {
        let tag = (*tag).to_owned();
        let related = graph.related_tags(&tag).into_iter().take(BESIDE).map(|(other, count)| {
            object([
                ("tag", Json::text(&tag)),
                ("related_tag", Json::text(other)),
                ("count", Json::number(count)),
            ])
        });
        related.collect::<Vec<_>>()
    };
    let together: Vec<Json> = tagged.keys().flat_map(beside).collect();
    let frequencies = tagged.iter().map(|(tag, notes)| (*tag, Json::number(notes.len())));
    Ok(Answer::Verbatim(object([
        ("tag_frequencies", Json::Object(frequencies.collect())),
        ("co_occurrences", Json::List(together)),
    ])))
}

pub(super) fn graph_schema() -> Json {
    let together =
        vec![("tag", of_type("string")), ("related_tag", of_type("string")), ("count", of_type("integer"))];
    let together = list_of(schema::object(together, &["tag", "related_tag", "count"]));
    let properties = vec![("tag_frequencies", of_type("object")), ("co_occurrences", together)];
    Json::Object(schema::object(properties, &["tag_frequencies", "co_occurrences"]))
}

pub(super) fn related(call: &Call<'_>) -> Outcome {
    let tag = tag(call)?;
    let (_, graph) = of_notes(call)?;
    let related = graph.related_tags(tag).into_iter();
    let related =
        related.map(|(other, count)| object([("tag", Json::text(other)), ("count", Json::number(count))]));
    Ok(Answer::Verbatim(object([("tag", Json::text(tag)), ("related_tags", Json::List(related.collect()))])))
}

pub(super) fn related_schema() -> Json {
    let tag: Vec<(&str, Object)> = vec![("tag", of_type("string")), ("count", of_type("integer"))];
    let related = list_of(schema::object(tag, &["tag", "count"]));
    let properties = vec![("tag", of_type("string")), ("related_tags", related)];
    Json::Object(schema::object(properties, &["tag", "related_tags"]))
}

fn tag<'c>(call: &'c Call<'_>) -> Result<&'c str, Trouble> {
    let hint = "get_tag_graph lists the tags there are";
    call.arguments.text("tag").ok_or_else(|| Trouble::new("Validation error: tag cannot be empty", hint))
}

/// The graph of the notes alone: tags of records are another lane's.
fn of_notes(call: &Call<'_>) -> Result<(Workspace, Graph), Trouble> {
    let mut workspace = open(call)?;
    let mut graph = workspace.recall().graph(Scope::Active).map_err(trouble)?;
    graph.relations.retain(|relation| relation.from.is_note());
    Ok((workspace, graph))
}
