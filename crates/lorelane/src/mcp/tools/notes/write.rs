//! Notes created, read, changed, deleted and merged.

use super::{Call, SEARCH_HINT, filename, find, note_type, open, trouble};
use crate::mcp::answer::{Answer, Outcome, Trouble};
use crate::mcp::schema::{Schema, of_type, whole_object};
use crate::view::{NoteChangeView, NoteDeletionView, NoteMergeView, NoteTextView, file_path};
use lorelane_core::change::{Change, Draft, Plan};
use lorelane_core::dialect::notes;
use lorelane_core::lifecycle::Verb;
use lorelane_core::memory::Address;
use lorelane_core::refusal::Refusal;
use lorelane_engine::workspace::{Failure, Merge, Workspace};

/// More than any model reads at once. A longer note is not cut: what is cut would be lost by the next update.
const READ_MAX: usize = 400_000;

pub(super) fn create(call: &Call<'_>) -> Outcome {
    let mut workspace = open(call)?;
    let address = named(call.arguments.exact("filename"))?;
    let note_type = note_type(call.arguments.text("memory_type"));
    let text = notes::draft(call.arguments.exact("content"), note_type, &call.arguments.texts("tags"));
    let because = format!("create {address}");
    let change = Change::Create { address: address.clone(), text };
    workspace.commit(&Plan { changes: vec![change], because }).map_err(|failure| match failure {
        Failure::Refused(Refusal::Exists { .. }) => Trouble::new(
            format!("Memory file already exists: {}", filename(address.name())),
            "append_memory adds to it, update_memory replaces what it says",
        ),
        failure => trouble(failure),
    })?;
    Ok(done("created", &workspace, &address))
}

fn named(typed: &str) -> Result<Address, Trouble> {
    notes::named(typed).map_err(|fault| Trouble::new(fault.to_string(), fault.hint()))
}

fn done(status: &'static str, workspace: &Workspace, address: &Address) -> Answer {
    let (filename, path) = (filename(address.name()), file_path(workspace, address));
    Answer::verbatim(&NoteChangeView { status, filename, path })
}

pub(super) fn read(call: &Call<'_>) -> Outcome {
    let workspace = open(call)?;
    let address = existing(call, &workspace)?;
    let loaded = workspace.load(&address).map_err(trouble)?;
    if loaded.text.chars().nth(READ_MAX).is_some() {
        let what =
            format!("cannot give {}: it has more than {READ_MAX} characters", filename(address.name()));
        return Err(Trouble::new(what, "search_memories gives passages of it; or read its file"));
    }
    let (filename, path) = (filename(address.name()), file_path(&workspace, &address));
    Ok(Answer::verbatim(&NoteTextView { filename, content: loaded.text, path }))
}

pub(super) fn update(call: &Call<'_>) -> Outcome {
    let draft = Draft::Whole(call.arguments.exact("content").to_owned());
    revise(call, draft, "update", "updated")
}

pub(super) fn append(call: &Call<'_>) -> Outcome {
    let draft = Draft::Append { text: call.arguments.exact("content").to_owned() };
    revise(call, draft, "append to", "appended")
}

fn revise(call: &Call<'_>, draft: Draft, verb: &str, status: &'static str) -> Outcome {
    let mut workspace = open(call)?;
    let address = existing(call, &workspace)?;
    let because = format!("{verb} {address}");
    let change = Change::Revise { address: address.clone(), expects: None, draft };
    workspace.commit(&Plan { changes: vec![change], because }).map_err(trouble)?;
    Ok(done(status, &workspace, &address))
}

pub(super) fn delete(call: &Call<'_>) -> Outcome {
    let mut workspace = open(call)?;
    let address = existing(call, &workspace)?;
    let because = format!("delete {address}");
    let change = Change::Step { address: address.clone(), verb: Verb::Retire, reason: String::new() };
    let receipt = workspace.commit(&Plan { changes: vec![change], because }).map_err(trouble)?;
    let trash = receipt.outcomes.first().map_or(&address, |outcome| &outcome.address);
    let (filename, moved_to) = (filename(address.name()), file_path(&workspace, trash));
    Ok(Answer::verbatim(&NoteDeletionView { status: "deleted", filename, moved_to }))
}

pub(super) fn merge(call: &Call<'_>) -> Outcome {
    let mut workspace = open(call)?;
    let typed = call.arguments.texts("source_files");
    if typed.is_empty() {
        return Err(Trouble::new("No source files provided", Failure::NoSources.hint()));
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
    workspace.changes().merge(&Merge { sources, target: target.clone(), text }).map_err(|failure| {
        match failure {
            Failure::Refused(Refusal::Exists { .. }) => Trouble::new(
                format!("Target file already exists: {}", filename(target.name())),
                "choose another name, or name it among the sources too",
            ),
            failure => trouble(failure),
        }
    })?;
    Ok(Answer::verbatim(&NoteMergeView {
        status: "merged",
        target_file: filename(target.name()),
        sources_merged: merged,
        target_path: file_path(&workspace, &target),
    }))
}

fn existing(call: &Call<'_>, workspace: &Workspace) -> Result<Address, Trouble> {
    found(workspace, call.arguments.exact("filename"), "Memory file not found")
}

fn found(workspace: &Workspace, typed: &str, missing: &str) -> Result<Address, Trouble> {
    find(workspace, typed).ok_or_else(|| {
        let what = format!("{missing}: {}", filename(typed));
        Trouble::new(what, SEARCH_HINT)
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
