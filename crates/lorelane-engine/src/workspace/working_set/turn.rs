//! Turns and touches, as hooks see them.

use super::session_log::Durability;
use super::{WorkingSet, complete_log};
use crate::workspace::Failure;
use lorelane_core::working_set::{EventKind, Touch};
use std::sync::Arc;

/// What happened since the last look at a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnTouches {
    /// The user's messages.
    pub turns: u32,
    pub touches: Vec<Touch>,
    /// How far the transcript was read.
    pub read_to: Option<u64>,
}

impl WorkingSet<'_> {
    /// Logs touches. They are appended without a sync: what a crash loses is read from the transcript again. If
    /// another writer holds the lock, they wait for the next look.
    pub fn record(&mut self, seen: TurnTouches) -> Result<bool, Failure> {
        if seen == TurnTouches::default() || seen.turns == 0 && seen.touches.is_empty() {
            return Ok(true);
        }
        let disk = Arc::clone(&self.workspace.disk);
        let root = self.store_root();
        let lock = disk.try_lock_dir(&root).map_err(|source| Failure::io("lock", &root, source))?;
        let Some(_lock) = lock else { return Ok(false) };
        self.load_fast()?;
        self.end.turn = self.end.turn.saturating_add(seen.turns);
        let TurnTouches { touches, read_to, .. } = seen;
        self.append(vec![EventKind::ModelTurn { touches, read_to }], Durability::Unsynced)?;
        self.save_snapshot();
        Ok(true)
    }

    /// Ends the session.
    pub fn close(&mut self, reason: &str) -> Result<(), Failure> {
        let session_id = self.session.clone();
        self.commit(&format!("ws end: {reason}"), |_, draft| {
            draft.events.push(EventKind::SessionEnd { session_id, reason: reason.to_owned() });
            Ok(())
        })
    }

    /// Completes what an interrupted writer left in the log.
    pub fn complete(&mut self) -> Result<(), Failure> {
        let store = Arc::clone(&self.store);
        let writer = store.begin()?;
        complete_log(self.workspace, &store)?;
        writer.finish()?;
        Ok(())
    }
}
