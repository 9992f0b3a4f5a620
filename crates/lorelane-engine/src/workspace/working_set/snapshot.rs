//! The state of a session in the cache: hooks have no time to read a whole log.

use super::WorkingSet;
use super::session_log::{LoadedLog, LogEnd, load_since};
use crate::disk::LinkPolicy;
use crate::env::Folders;
use crate::workspace::Failure;
use lorelane_core::json::{self, JsonFormat};
use lorelane_core::working_set::{SessionState, Sidecar};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The folder in the cache.
pub(super) const SNAPSHOTS: &str = "working-sets";
const SNAPSHOT_MAX_BYTES: u64 = 32 << 20;
/// Changes with the meaning of the fields.
const VERSION: u32 = 3;

#[derive(Debug, Serialize)]
struct SnapshotRef<'s> {
    v: u32,
    end: &'s LogEnd,
    state: &'s SessionState,
    tokens: &'s BTreeMap<String, TokenStamp>,
    sidecars: &'s BTreeMap<String, SidecarStamp>,
}

#[derive(Debug, Deserialize)]
struct Snapshot {
    v: u32,
    end: LogEnd,
    state: SessionState,
    tokens: BTreeMap<String, TokenStamp>,
    sidecars: BTreeMap<String, SidecarStamp>,
}

/// How many tokens a file has, for the size and time it had then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TokenStamp {
    pub(super) len: u64,
    pub(super) mtime_ns: i64,
    pub(super) tokens: u64,
    pub(super) lines: u32,
}

/// What a sidecar says, for the size and time it had then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SidecarStamp {
    pub(super) len: u64,
    pub(super) mtime_ns: i64,
    pub(super) sidecar: Sidecar,
}

impl WorkingSet<'_> {
    fn snapshot_file(&self) -> Option<PathBuf> {
        let folders = self.workspace.folders.as_ref()?;
        Some(folders.cache.join(SNAPSHOTS).join(format!("{}.json", Folders::lane_key(&self.path("")))))
    }

    fn read_snapshot(&self) -> Option<Snapshot> {
        let file = self.snapshot_file()?;
        let bytes =
            self.workspace.disk.read_bounded(&file, LinkPolicy::Followed, SNAPSHOT_MAX_BYTES).ok()??;
        let snapshot: Snapshot = json::from_str(&String::from_utf8(bytes).ok()?).ok()?;
        (snapshot.v == VERSION).then_some(snapshot)
    }

    /// Takes from the snapshot what was counted and read of files; the log is read in any case.
    pub(super) fn read_caches(&mut self) {
        if let Some(snapshot) = self.read_snapshot() {
            (self.tokens, self.sidecars) = (snapshot.tokens, RefCell::new(snapshot.sidecars));
        }
    }

    /// Reads the snapshot and what was logged since; without one, the whole log.
    pub(super) fn load_fast(&mut self) -> Result<(), Failure> {
        let Some(snapshot) = self.read_snapshot() else { return self.load() };
        (self.tokens, self.sidecars) = (snapshot.tokens, RefCell::new(snapshot.sidecars));
        let disk = &*self.workspace.disk;
        match load_since(disk, &self.path(""), &snapshot.end, snapshot.state) {
            Some(LoadedLog { state, end, .. }) => {
                (self.state, self.end) = (state, end);
                Ok(())
            }
            None => self.load(),
        }
    }

    /// A cache: if it cannot be written, the next hook reads the log.
    pub(super) fn save_snapshot(&self) {
        let Some(file) = self.snapshot_file() else { return };
        let sidecars = self.sidecars.borrow();
        let (end, state, tokens) = (&self.end, &self.state, &self.tokens);
        let snapshot = SnapshotRef { v: VERSION, end, state, tokens, sidecars: &sidecars };
        let text = json::to_string(&snapshot, JsonFormat::LINE);
        let _ = crate::config::write_plain(&*self.workspace.disk, &file, text.as_bytes());
    }
}
