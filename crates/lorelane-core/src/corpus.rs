//! What the index stores about each memory, so that lists and filters need not open its file.

use crate::lifecycle::{Lifecycle, Status};
use crate::memory::{Address, Memory, MemoryKind};
use crate::path::RelPath;
use crate::time::Timestamp;
use crate::validity::{NotCurrent, Validity};

#[derive(Clone, Debug, PartialEq)]
pub struct MemorySummary {
    pub address: Address,
    pub path: RelPath,
    pub kind: MemoryKind,
    pub title: String,
    pub tags: Vec<String>,
    pub status: Status,
    /// When it was retired or archived, if its file says so.
    pub status_at: Option<Timestamp>,
    pub validity: Validity,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    /// When its content last changed, see [`Memory::content_changed`].
    pub content_changed: Option<Timestamp>,
    /// The file's modification time, if known; a parsed memory alone does not have it.
    pub written: Option<Timestamp>,
    pub revised: u64,
}

impl MemorySummary {
    /// Whether it has a title of its own; without one, the title of a Markdown file is its file name.
    pub fn is_titled(&self) -> bool {
        let file = self.address.name().rsplit('/').next().unwrap_or_default();
        matches!(self.kind, MemoryKind::Record(_)) || self.title != file
    }

    /// When it was last changed, according to the file. A note that was never changed only has `created`.
    pub fn changed(&self) -> Option<Timestamp> {
        self.updated.or(self.created)
    }

    /// The time for filters such as `--since`: the last change, or the file's modification time if it has no date.
    /// Ranking does not use the latter, because it would change with every checkout.
    pub fn dated(&self) -> Option<Timestamp> {
        self.changed().or(self.written)
    }

    /// Why it must not be shown as current, if it must not.
    pub fn not_current(&self, now: Timestamp) -> Option<NotCurrent> {
        self.validity.at(now)
    }

    /// What a list says of it: its status, or why it is not current.
    pub fn state(&self, now: Timestamp) -> &'static str {
        let is_active = self.status == Status::Active;
        self.not_current(now).filter(|_| is_active).map_or(self.status.name(), NotCurrent::name)
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
            validity: memory.validity,
            created: memory.created,
            updated: memory.updated,
            content_changed: memory.content_changed(),
            written: None,
            revised: memory.revised,
        }
    }
}
