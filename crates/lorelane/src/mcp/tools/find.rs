//! Searching, reading and listing.

use super::{ToolCall, filter};
use crate::mcp::answer::{self, ToolAnswer, ToolError, ToolResult};
use crate::mcp::cursor;
use crate::view::{PageEntryView, PageView};
use lorelane_core::briefing;
use lorelane_core::corpus::MemorySummary;
use lorelane_core::fence::{self, inline};
use lorelane_core::lifecycle::Status;
use lorelane_core::recall::{Hit, Query, SearchResults};
use lorelane_core::text::fold;
use lorelane_engine::index::ListFilter;
use lorelane_engine::workspace::{Failure, Workspace};

const HITS: usize = 10;
const PAGE: usize = 50;
/// Characters shown of the passage that matched.
/// The reasons quote words of the query, which are not ours.
const REASONS_MAX: usize = 200;
const PASSAGE_MAX: usize = 600;

pub(super) fn search(call: &ToolCall<'_>) -> ToolResult {
    let Some(text) = call.arguments.text("query") else {
        return Err(ToolError::new("cannot search: `query` is empty", "give a question or keywords"));
    };
    let mut workspace = call.factory.open()?;
    let mut query = Query::of_person(text, workspace.now());
    filter::kinds(&call.arguments, &mut query);
    query.include_retired = call.arguments.flag("include_retired");
    query.tags = call.arguments.texts("tags");
    query.after = filter::moment(&call.arguments, "after", query.now)?;
    query.before = filter::moment(&call.arguments, "before", query.now)?;
    let SearchResults { hits, total } =
        workspace.recall().search(&query, call.arguments.whole("limit").unwrap_or(HITS))?;
    let mut left_out =
        left_out(&mut workspace)?.map_or_else(String::new, |warning| format!("warning: {warning}\n"));
    for (path, what) in workspace.recall().unreadable(&query)? {
        left_out.push_str(&format!("unreadable: {} ({})\n", fence::name(&path), inline(&what, 300)));
    }
    if hits.is_empty() {
        return Ok(ToolAnswer::Text(format!("No relevant memories found.\n{left_out}")));
    }
    let explain = call.arguments.flag("explain");
    let lines: Vec<String> = hits.iter().filter_map(|hit| line(&workspace, hit, explain)).collect();
    let more = if total > lines.len() { format!(" of {total}") } else { String::new() };
    let tail = format!("{}{more} found. memory_read shows one in full.\n{left_out}", lines.len());
    Ok(ToolAnswer::fenced("", &lines.join("\n"), &tail))
}

/// Warns of unreadable files, which the answer leaves out.
fn left_out(workspace: &mut Workspace) -> Result<Option<String>, Failure> {
    let count = workspace.maintenance().not_read()?.len();
    let names = "call memory_status with `check` to see why";
    Ok((count > 0).then(|| format!("unreadable files left out: {count}; {names}")))
}

/// Renders a hit from its current file; `None` if the file is gone by now.
fn line(workspace: &Workspace, hit: &Hit, explain: bool) -> Option<String> {
    let (loaded, passage) = workspace.files().load_hit(hit)?;
    let mut line = briefing::reminder(&loaded.memory, workspace.now());
    if let Some(passage) = passage.filter(|_| hit.kind.category().is_none()) {
        line.push_str(&format!(" — {}", inline(&passage.text, PASSAGE_MAX)));
    }
    if let Some(state) = hit.state() {
        line.push_str(&format!(" [{}]", fence::name(&state)));
    }
    if let Some(relevance) = &hit.relevance {
        let mark = if hit.would_remind(workspace.policy()) { "" } else { ", too low for a reminder" };
        line.push_str(&format!(" (relevance {} %{mark})", relevance.percent()));
    }
    if explain {
        if let Some(relevance) = &hit.relevance {
            line.push_str(&format!(" ({})", inline(&relevance.reasons.join("; "), REASONS_MAX)));
        }
        let parts: Vec<String> =
            hit.explain.iter().map(|part| format!("{} {}", part.signal.name(), part.points)).collect();
        line.push_str(&format!(" (score {}: {})", hit.score, parts.join(", ")));
    }
    Some(line)
}

pub(super) fn read(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = call.factory.open()?;
    let address = workspace.find(call.arguments.text("address").unwrap_or_default())?;
    let loaded = workspace.load(&address)?;
    let mut head = format!("{}, revision {}\n", fence::name(&address.to_string()), loaded.revision);
    let path = fence::name(&workspace.files().listed_path(&address));
    head.push_str(&format!("{path}, {}", loaded.memory.lifecycle.status()));
    if let Some(rule) = loaded.memory.validity.at(workspace.now()) {
        head.push_str(&format!(", not current: {}", rule.says()));
    }
    if let Some(by) = workspace.files().successor(&address) {
        head.push_str(&format!("\nsuperseded by {}", fence::name(&by.to_string())));
    }
    for old in workspace.files().predecessors(&address) {
        head.push_str(&format!("\nsupersedes {}", fence::name(&old.to_string())));
    }
    for problem in &loaded.problems {
        head.push_str(&format!("\nwarning: {}", inline(&problem.what, 300)));
    }
    let (text, is_whole) = answer::whole(&loaded.document.text);
    let tail = if is_whole { "" } else { "The rest is omitted: read the file.\n" };
    Ok(ToolAnswer::fenced(&head, &text, tail))
}

pub(super) fn list(call: &ToolCall<'_>) -> ToolResult {
    let last = match call.arguments.text("cursor") {
        Some(text) => Some(cursor::key(text).ok_or_else(|| {
            ToolError::new(
                "cannot list from this cursor: it is invalid",
                "pass `next_cursor` unchanged, or omit it",
            )
        })?),
        None => None,
    };
    let mut workspace = call.factory.open()?;
    let mut asked = Query::new("", workspace.now());
    filter::kinds(&call.arguments, &mut asked);
    asked.after = filter::moment(&call.arguments, "since", asked.now)?;
    let status = match call.arguments.text("status") {
        Some("all") => None,
        Some(name) => Status::ALL.into_iter().find(|status| status.name() == name),
        None => Some(Status::Active),
    };
    let tags: Vec<String> = call.arguments.texts("tags").iter().map(|tag| fold(tag)).collect();
    // `ListFilter` selects the status, so the query must not filter by it again.
    asked.include_retired = true;
    let mut entries = workspace.recall().entries(ListFilter { kind: None, status })?;
    entries.retain(|entry| {
        asked.wants(entry) && tags.iter().all(|tag| entry.tags.iter().any(|own| fold(own) == *tag))
    });
    entries.sort_by_cached_key(key);
    let total = entries.len();
    let size = call.arguments.whole("limit").unwrap_or(PAGE);
    let (page, next) = cursor::page(entries, last.as_deref(), size, key);
    let pinned = workspace.files().marks().pinned;
    let memories =
        page.iter().map(|entry| PageEntryView::of(entry, pinned.contains(&entry.address), asked.now));
    let warning = left_out(&mut workspace)?;
    Ok(ToolAnswer::document(&PageView { total, memories: memories.collect(), next_cursor: next, warning }))
}

/// The sort key: last changed first, then by address.
fn key(entry: &MemorySummary) -> String {
    let changed = entry.changed().map_or(0, |changed| changed.0);
    format!("{:020} {}", i64::MAX - changed, entry.address)
}
