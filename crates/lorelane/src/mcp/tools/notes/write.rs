//! Creates, reads, changes, deletes and merges notes.

use super::{SEARCH_HINT, ToolCall, filename, find, note_type, open, tool_error};
use crate::mcp::answer::{ToolAnswer, ToolError, ToolResult};
use crate::mcp::schema::{Schema, of_type, whole_object};
use crate::view::{NoteChangeView, NoteDeletionView, NoteMergeView, NoteTextView, file_path};
use lorelane_core::change::{Change, Draft, Plan};
use lorelane_core::dialect::notes;
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::memory::Address;
use lorelane_core::refusal::Refusal;
use lorelane_engine::workspace::{Failure, NoteMerge, Workspace};

/// More than a model reads at once. A longer note is an error and not cut: the next update would lose the rest.
const READ_MAX: usize = 400_000;

pub(super) fn create(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = open(call)?;
    let address = named(call.arguments.exact("filename"))?;
    let note_type = note_type(call.arguments.text("memory_type"));
    let text = notes::draft(call.arguments.exact("content"), note_type, &call.arguments.texts("tags"));
    let because = format!("create {address}");
    let change = Change::Create { address: address.clone(), text };
    workspace.commit(&Plan { changes: vec![change], because }).map_err(|failure| match failure {
        Failure::Refused(Refusal::Exists { .. }) => ToolError::new(
            format!("Memory file already exists: {}", filename(address.name())),
            "append_memory adds to it, update_memory replaces what it says",
        ),
        failure => tool_error(failure),
    })?;
    Ok(done("created", &workspace, &address))
}

fn named(typed: &str) -> Result<Address, ToolError> {
    notes::named(typed).map_err(|fault| ToolError::new(fault.to_string(), fault.hint()))
}

fn done(status: &'static str, workspace: &Workspace, address: &Address) -> ToolAnswer {
    let (filename, path) = (filename(address.name()), file_path(workspace, address));
    ToolAnswer::verbatim(&NoteChangeView { status, filename, path })
}

pub(super) fn read(call: &ToolCall<'_>) -> ToolResult {
    let workspace = open(call)?;
    let address = existing(call, &workspace)?;
    let loaded = workspace.load(&address).map_err(tool_error)?;
    if loaded.document.text.chars().nth(READ_MAX).is_some() {
        let what =
            format!("cannot give {}: it has more than {READ_MAX} characters", filename(address.name()));
        return Err(ToolError::new(what, "search_memories gives passages of it; or read its file"));
    }
    let (filename, path) = (filename(address.name()), file_path(&workspace, &address));
    Ok(ToolAnswer::verbatim(&NoteTextView { filename, content: loaded.document.text, path }))
}

pub(super) fn update(call: &ToolCall<'_>) -> ToolResult {
    let draft = Draft::Whole(call.arguments.exact("content").to_owned());
    revise(call, draft, "update", "updated")
}

pub(super) fn append(call: &ToolCall<'_>) -> ToolResult {
    let draft = Draft::Append { text: call.arguments.exact("content").to_owned() };
    revise(call, draft, "append to", "appended")
}

fn revise(call: &ToolCall<'_>, draft: Draft, verb: &str, status: &'static str) -> ToolResult {
    let mut workspace = open(call)?;
    let address = existing(call, &workspace)?;
    let because = format!("{verb} {address}");
    let change = Change::Revise { address: address.clone(), expects: None, draft };
    workspace.commit(&Plan { changes: vec![change], because }).map_err(tool_error)?;
    Ok(done(status, &workspace, &address))
}

pub(super) fn delete(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = open(call)?;
    let address = existing(call, &workspace)?;
    let because = format!("delete {address}");
    let change =
        Change::Transition { address: address.clone(), verb: LifecycleVerb::Retire, reason: String::new() };
    let receipt = workspace.commit(&Plan { changes: vec![change], because }).map_err(tool_error)?;
    let trash = receipt.outcomes.first().map_or(&address, |outcome| &outcome.address);
    let (filename, moved_to) = (filename(address.name()), file_path(&workspace, trash));
    Ok(ToolAnswer::verbatim(&NoteDeletionView { status: "deleted", filename, moved_to }))
}

pub(super) fn merge(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = open(call)?;
    let typed = call.arguments.texts("source_files");
    if typed.is_empty() {
        return Err(ToolError::new("No source files provided", Failure::NoSources.hint()));
    }
    let mut sources = Vec::new();
    for typed in &typed {
        let source = found(&workspace, typed, "Source file not found")?;
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let target = named(call.arguments.exact("target_file"))?;
    let text = Some(call.arguments.exact("summary_content").to_owned());
    let merged = sources.len();
    workspace.changes().merge(&NoteMerge { sources, target: target.clone(), text }).map_err(|failure| {
        match failure {
            Failure::Refused(Refusal::Exists { .. }) => ToolError::new(
                format!("Target file already exists: {}", filename(target.name())),
                "choose another name, or name it among the sources too",
            ),
            failure => tool_error(failure),
        }
    })?;
    Ok(ToolAnswer::verbatim(&NoteMergeView {
        status: "merged",
        target_file: filename(target.name()),
        sources_merged: merged,
        target_path: file_path(&workspace, &target),
    }))
}

fn existing(call: &ToolCall<'_>, workspace: &Workspace) -> Result<Address, ToolError> {
    found(workspace, call.arguments.exact("filename"), "Memory file not found")
}

fn found(workspace: &Workspace, typed: &str, missing: &str) -> Result<Address, ToolError> {
    find(workspace, typed).ok_or_else(|| {
        let what = format!("{missing}: {}", filename(typed));
        ToolError::new(what, SEARCH_HINT)
    })
}

pub(super) fn schema() -> Schema {
    texts(&["status", "filename", "path"])
}

pub(super) fn read_schema() -> Schema {
    texts(&["filename", "content", "path"])
}

pub(super) fn delete_schema() -> Schema {
    texts(&["status", "filename", "moved_to"])
}

fn texts(names: &[&'static str]) -> Schema {
    whole_object(names.iter().map(|name| (*name, of_type("string"))).collect())
}

pub(super) fn merge_schema() -> Schema {
    whole_object(vec![
        ("status", of_type("string")),
        ("target_file", of_type("string")),
        ("sources_merged", of_type("integer")),
        ("target_path", of_type("string")),
    ])
}
