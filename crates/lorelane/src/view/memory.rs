//! One memory with its contents, and lists of memories.

use super::{path_text, texts};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::digest::md5;
use lorelane_core::fence;
use lorelane_core::json::{Json, Object};
use lorelane_core::memory::{Address, Body, Memory};
use lorelane_core::time::Timestamp;
use lorelane_core::validity::NotCurrent;
use lorelane_engine::workspace::{InitReport, LoadedMemory, Workspace};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct StoreView {
    lane: String,
    made: Vec<String>,
    dry_run: bool,
}

impl StoreView {
    pub fn of(founding: &InitReport, dry_run: bool) -> StoreView {
        let made = founding.made.iter().map(|path| path_text(path)).collect();
        StoreView { lane: path_text(&founding.lane), made, dry_run }
    }
}

#[derive(Debug, Serialize)]
pub struct ListView<'e> {
    pub total: usize,
    pub memories: Vec<EntryView<'e>>,
}

#[derive(Debug, Serialize)]
pub struct EntryView<'e> {
    address: String,
    path: String,
    category: &'static str,
    title: &'e str,
    tags: &'e [String],
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_current: Option<&'static str>,
    pinned: bool,
    created: Option<String>,
    updated: Option<String>,
    times_updated: u64,
}

impl<'e> EntryView<'e> {
    pub fn of(entry: &'e MemorySummary, pinned: bool, workspace: &Workspace) -> EntryView<'e> {
        EntryView {
            address: entry.address.to_string(),
            path: workspace.files().listed_path(&entry.address),
            category: entry.kind.name(),
            title: &entry.title,
            tags: &entry.tags,
            status: entry.status.name(),
            not_current: entry.not_current(workspace.now()).map(NotCurrent::name),
            pinned,
            created: time(entry.created),
            updated: time(entry.updated),
            times_updated: entry.revised,
        }
    }
}

/// One page of a list, for a model.
#[derive(Debug, Serialize)]
pub struct PageView<'e> {
    pub total: usize,
    pub memories: Vec<PageEntryView<'e>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct PageEntryView<'e> {
    address: String,
    title: &'e str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_current: Option<&'static str>,
    tags: &'e [String],
    pinned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated: Option<String>,
}

impl<'e> PageEntryView<'e> {
    pub fn of(entry: &'e MemorySummary, pinned: bool, now: Timestamp) -> PageEntryView<'e> {
        PageEntryView {
            address: fence::name(&entry.address.to_string()),
            title: &entry.title,
            status: entry.status.name(),
            not_current: entry.not_current(now).map(NotCurrent::name),
            tags: &entry.tags,
            pinned,
            updated: time(entry.changed()),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct MemoryView<'m> {
    address: String,
    path: String,
    md5: String,
    blake3: String,
    pinned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_current: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    supersedes: Vec<String>,
    problems: Vec<&'m str>,
    memory: BodyView<'m>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum BodyView<'m> {
    Record(Json),
    Note(NoteView<'m>),
}

#[derive(Debug, Serialize)]
struct NoteView<'m> {
    title: &'m str,
    #[serde(rename = "type")]
    note_type: &'static str,
    status: &'static str,
    tags: &'m [String],
    created_at: Option<String>,
    updated_at: Option<String>,
    frontmatter: &'m Object,
    content: &'m str,
}

impl<'m> MemoryView<'m> {
    pub fn of(address: &Address, loaded: &'m LoadedMemory, workspace: &Workspace) -> MemoryView<'m> {
        MemoryView {
            address: address.to_string(),
            path: workspace.files().listed_path(address),
            md5: md5(loaded.document.text.as_bytes()),
            blake3: loaded.revision.to_string(),
            pinned: workspace.files().marks().pinned.contains(address),
            not_current: loaded.memory.validity.at(workspace.now()).map(NotCurrent::name),
            superseded_by: workspace.files().successor(address).map(|by| by.to_string()),
            supersedes: texts(workspace.files().predecessors(address)),
            problems: loaded.problems.iter().map(|problem| problem.what.as_str()).collect(),
            memory: match &loaded.memory.body {
                // The whole document, because a file may have fields that `Memory` does not have.
                Body::Fields(_) => {
                    let text = loaded.document.text.trim_start_matches('\u{feff}');
                    BodyView::Record(Json::parse(text).unwrap_or_default())
                }
                Body::Prose(text) => BodyView::Note(NoteView::of(&loaded.memory, text)),
            },
        }
    }
}

impl<'m> NoteView<'m> {
    fn of(note: &'m Memory, text: &'m str) -> NoteView<'m> {
        NoteView {
            title: &note.title,
            note_type: note.kind.name(),
            status: note.lifecycle.status().name(),
            tags: &note.tags,
            created_at: time(note.created),
            updated_at: time(note.updated),
            frontmatter: &note.extra,
            content: text,
        }
    }
}

/// The result of `notes move`.
#[derive(Debug, Serialize)]
pub struct MoveView {
    from: String,
    to: String,
    files: Vec<String>,
    dry_run: bool,
}

impl MoveView {
    pub fn of(moved: &lorelane_engine::workspace::NotesMove, dry_run: bool) -> MoveView {
        MoveView {
            from: path_text(&moved.from),
            to: path_text(&moved.to),
            files: texts(&moved.files),
            dry_run,
        }
    }
}

fn time(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string())
}
