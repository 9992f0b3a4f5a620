//! `search_memories`.

use super::{ToolCall, moment, note_type, open, tool_error};
use crate::mcp::answer::{LISTED, ToolAnswer, ToolError, ToolResult};
use crate::mcp::schema::{Schema, list_of, of_type, whole_object};
use crate::view::{NoteHitView, file_path};
use lorelane_core::memory::{Body, LaneId};
use lorelane_core::passage::Passage;
use lorelane_core::recall::{Hit, Query};
use lorelane_core::text::cut;
use lorelane_core::time::Timestamp;
use lorelane_engine::workspace::{LoadedMemory, Workspace};

const HITS: usize = 5;
/// Limit of a whole note in a list of hits; `read_memory` returns all of it.
const WHOLE_MAX: usize = 40_000;
const DAY: i64 = 86_400;

pub(super) fn search(call: &ToolCall<'_>) -> ToolResult {
    let arguments = &call.arguments;
    let (after, before) = (moment(call, "after_timestamp"), moment(call, "before_timestamp"));
    if let (Some(after), Some(before)) = (after, before)
        && after >= before
    {
        let what = format!("after_timestamp ({}) must be less than before_timestamp ({})", after.0, before.0);
        return Err(ToolError::new(format!("Validation error: {what}"), "exchange them"));
    }
    let mut workspace = open(call)?;
    let Some(text) = arguments.text("query") else { return Ok(ToolAnswer::verbatim(&[(); 0])) };
    let mut query = of_notes(text, workspace.now());
    query.tags = arguments.texts("filter_tags");
    // `ragdocs` filters by the time of creation; everywhere else filters mean the last change.
    query.by_creation = true;
    query.types = note_type(arguments.text("filter_type")).into_iter().collect();
    query.include_archived = arguments.flag("include_archived");
    (query.after, query.before) =
        match arguments.whole("relative_days").and_then(|days| i64::try_from(days).ok()) {
            Some(days) => (Some(Timestamp(query.now.0 - days * DAY)), None),
            None => (after, before),
        };
    let found =
        workspace.recall().search(&query, arguments.whole("limit").unwrap_or(HITS)).map_err(tool_error)?;
    let whole = arguments.flag("load_full_memory");
    let hits = found.hits.iter().filter_map(|hit| shown(&workspace, hit, whole));
    Ok(ToolAnswer::verbatim(&hits.collect::<Vec<_>>()))
}

/// A query for notes only.
pub(super) fn of_notes(text: &str, now: Timestamp) -> Query {
    let mut query = Query::of_person(text, now);
    query.lanes = vec![LaneId::Notes];
    query
}

/// Renders a hit from its current file; `None` if the file is gone by now.
fn shown(workspace: &Workspace, hit: &Hit, whole: bool) -> Option<NoteHitView> {
    let (loaded, passage) = workspace.files().load_hit(hit)?;
    let content = match &passage {
        Some(passage) if !whole => passage.text.clone(),
        _ => cut(&loaded.memory.body.prose(), WHOLE_MAX),
    };
    let headers = passage.map(|passage| passage.headings.join(" > ")).unwrap_or_default();
    Some(NoteHitView::of(hit, content, headers, file_path(workspace, &loaded.memory.address)))
}

/// The beginning of a note: its first passage, or the whole text if it has none.
pub(super) fn beginning(workspace: &Workspace, loaded: &LoadedMemory) -> String {
    let first: Option<Passage> = workspace.files().passages(loaded).into_iter().next();
    first.map(|passage| passage.text).unwrap_or_else(|| match &loaded.memory.body {
        Body::Prose(text) => cut(text, WHOLE_MAX),
        Body::Fields(_) => String::new(),
    })
}

pub(super) fn schema() -> Schema {
    listed(vec![
        ("memory_id", of_type("string")),
        ("score", of_type("number")),
        ("content", of_type("string")),
        ("type", of_type("string")),
        ("status", of_type("string")),
        ("tags", list_of(of_type("string"))),
        ("file_path", of_type("string")),
        ("header_path", of_type("string")),
    ])
}

/// The schema of a list of objects with these required members.
pub(super) fn listed(members: Vec<(&'static str, Schema)>) -> Schema {
    whole_object(vec![(LISTED, list_of(whole_object(members)))])
}
