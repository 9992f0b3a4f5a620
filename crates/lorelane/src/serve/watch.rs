//! Polls the lanes for changes made by hand, by git or by another process while the server runs.
//!
//! A scan compares names, sizes and times and opens no file. One scan of 10,000 memories takes about 20 ms, and
//! the thread then rests fifty times as long. So the index catches up with hand edits by itself. A file
//! notification service would be one more dependency, and network folders have none.

use super::factory::WorkspaceFactory;
use lorelane_core::memory::Address;
use lorelane_engine::index::FileStamp;
use lorelane_engine::model::ModelError;
use lorelane_engine::workspace::Failure;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::broadcast::{self, Sender};

const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);
/// The rest after a scan, as a multiple of its duration.
const REST: u32 = 50;
/// How often the indexes are verified, so that damage in pages that nobody reads is found before they are needed.
const VERIFY_EVERY: Duration = Duration::from_secs(3600);
/// Changes that are queued for a slow client; beyond that it has to list everything again.
const WAITING: usize = 64;

/// What changed between two scans.
#[derive(Debug, Default)]
pub(crate) struct WatchEvent {
    /// Memories were added or removed.
    pub(crate) listed: bool,
    /// Memories whose files were changed or removed.
    pub(crate) updated: Vec<Address>,
    pub(crate) warning: Option<WatchWarning>,
}

/// A warning that belongs to no request.
#[derive(Debug)]
pub(crate) enum WatchWarning {
    /// Why searches cannot see a change.
    Index(Failure),
    /// Why searches do without the second model.
    Model(ModelError),
}

type WatchedMemories = BTreeMap<Address, FileStamp>;

/// Starts the watcher thread.
pub(super) fn start(factory: Arc<WorkspaceFactory>) -> Sender<Arc<WatchEvent>> {
    let (sender, _) = broadcast::channel(WAITING);
    let told = sender.clone();
    let mut before = scan(&factory);
    // Detached: it holds nothing that needs cleanup, and ends with the process.
    std::thread::spawn(move || {
        let mut rest = SHORTEST;
        let mut verified: Option<Instant> = None;
        loop {
            std::thread::sleep(rest);
            let begun = Instant::now();
            let now = scan(&factory);
            if let Some(mut changes) = between(&before, &now) {
                // Indexed before clients are notified, so that their next search finds the change.
                let looked = factory.open().and_then(|mut workspace| workspace.maintenance().scan());
                changes.warning = looked.err().map(WatchWarning::Index);
                let _ = told.send(Arc::new(changes));
            }
            before = now;
            if verified.is_none_or(|at| at.elapsed() > VERIFY_EVERY) {
                // The error is ignored: a damaged index is rebuilt by its next reader.
                let _ = factory.open().and_then(|mut workspace| workspace.maintenance().verify_indexes());
                verified = Some(Instant::now());
            }
            rest = (begun.elapsed() * REST).clamp(SHORTEST, LONGEST);
        }
    });
    sender
}

/// Empty for a project that has no store yet.
fn scan(factory: &WorkspaceFactory) -> WatchedMemories {
    factory.open().map(|workspace| workspace.files().sightings()).unwrap_or_default()
}

fn between(before: &WatchedMemories, now: &WatchedMemories) -> Option<WatchEvent> {
    let mut changes = WatchEvent::default();
    for (address, seen) in before {
        if now.get(address) != Some(seen) {
            changes.listed |= !now.contains_key(address);
            changes.updated.push(address.clone());
        }
    }
    changes.listed |= now.keys().any(|address| !before.contains_key(address));
    (changes.listed || !changes.updated.is_empty()).then_some(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lorelane_core::memory::Category;

    #[test]
    fn what_comes_goes_or_changes_is_told() {
        let lane = |files: &[(&str, u64)]| -> WatchedMemories {
            let seen = |size| FileStamp { size, mtime_ns: 0 };
            files
                .iter()
                .map(|(slug, size)| (Address::record(Category::Decision, slug), seen(*size)))
                .collect()
        };
        let b = Address::record(Category::Decision, "b");
        let before = lane(&[("a", 1), ("b", 1)]);
        for (now, listed, updated) in [
            (lane(&[("a", 1), ("b", 2)]), false, vec![b.clone()]),
            (lane(&[("a", 1)]), true, vec![b]),
            (lane(&[("a", 1), ("b", 1), ("c", 1)]), true, vec![]),
        ] {
            let changes = between(&before, &now).map(|changes| (changes.listed, changes.updated));
            assert_eq!(changes, Some((listed, updated)), "{now:?}");
        }
        assert!(between(&before, &before).is_none());
    }
}
