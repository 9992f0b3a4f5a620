//! What is known of every memory without opening its file: one row per memory.

use crate::lifecycle::{Lifecycle, Status};
use crate::memory::{Address, Memory, MemoryKind};
use crate::path::RelPath;
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq)]
pub struct MemorySummary {
    pub address: Address,
    pub path: RelPath,
    pub kind: MemoryKind,
    pub title: String,
    pub tags: Vec<String>,
    pub status: Status,
    /// Since when it has that status, for a retired or archived one that says so.
    pub status_at: Option<Timestamp>,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    /// When its file was written, where that is known: only files and their index know.
    pub written: Option<Timestamp>,
    pub revised: u64,
}

impl MemorySummary {
    /// Whether somebody gave it a title; a note without one is called as its file.
    pub fn is_titled(&self) -> bool {
        let file = self.address.name().rsplit('/').next().unwrap_or_default();
        matches!(self.kind, MemoryKind::Record(_)) || self.title != file
    }

    /// When it was last changed, as far as it says so. A note that was never changed says only when it was made.
    pub fn changed(&self) -> Option<Timestamp> {
        self.updated.or(self.created)
    }

    /// What filters of time go by: its last change, and without any date the time of its file.
    pub fn dated(&self) -> Option<Timestamp> {
        self.changed().or(self.written)
    }

    pub fn of(memory: &Memory, path: &RelPath) -> MemorySummary {
        MemorySummary {
            address: memory.address.clone(),
            path: path.clone(),
            kind: memory.kind,
            title: memory.title.clone(),
            tags: memory.tags.clone(),
            status: memory.lifecycle.status(),
            status_at: match &memory.lifecycle {
                Lifecycle::Active => None,
                Lifecycle::Retired { at, .. } | Lifecycle::Archived { at, .. } => *at,
            },
            created: memory.created,
            updated: memory.updated,
            written: None,
            revised: memory.revised,
        }
    }
}
