//! Waiting for a lock.
//!
//! The deadline counts only time in which nothing changes: a holder that hangs is given up soon, writers that take
//! turns are waited for much longer. A writer that has waited long polls more often, which is roughly fair; a
//! queue of tickets would need files that dead writers leave behind.

use crate::backend::{LOCK_FOLDER, LockHolders, StoreError, Warning};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Store;
use super::faults::FaultSwitch;
use super::journal_writer::JOURNAL;
use crate::disk::{FileType, LockGuard, POLL, Stat};

/// How long a writer waits while nobody changes anything.
pub const LOCK_DEADLINE: Duration = Duration::from_secs(5);
/// Total wait, as a multiple of the deadline, while other writers take turns.
const PATIENCE: u32 = 12;
/// The `claude-memory` scripts hold their lock folder for well under a second; one this old has no running owner.
const LOCK_FOLDER_STALE: Duration = Duration::from_secs(60);

/// One writer's wait for one lock.
struct LockWait<'s> {
    store: &'s Store,
    /// Files that every holder changes.
    signs: &'s [PathBuf],
    seen: Vec<Option<Stat>>,
    waited: Duration,
    /// How long nothing has changed.
    idle: Duration,
}

impl Store {
    pub(super) fn lock_lane(&self) -> Result<LockGuard, StoreError> {
        // The lane's folder itself is locked: no lock file that a dead writer could leave behind or git would have
        // to ignore.
        let journals = [self.home.state.join(JOURNAL), self.fallback_journal().join(JOURNAL)];
        self.lock(&self.home.lane, &journals, FaultSwitch::SkipLock)
    }

    /// Waits for the lock of a folder. `signs` are files that its holders change.
    pub(super) fn lock(
        &self,
        folder: &Path,
        signs: &[PathBuf],
        switch: FaultSwitch,
    ) -> Result<LockGuard, StoreError> {
        if self.faults.skip(switch) {
            return Ok(LockGuard::of_nothing());
        }
        let mut queue = LockWait::new(self, signs);
        loop {
            if let Some(guard) = self.disk.try_lock_dir(folder).map_err(StoreError::io("lock", folder))? {
                return Ok(guard);
            }
            queue.wait(folder)?;
        }
    }

    /// The `claude-memory` scripts lock a lane by creating a folder. We already hold our own lock, so that no
    /// other lorelane gets in after a script finishes.
    pub(super) fn wait_for_old_scripts(&self, warnings: &mut Vec<Warning>) -> Result<(), StoreError> {
        let path = self.home.lane.join(LOCK_FOLDER);
        // Every script creates the folder again, which changes its mtime.
        let signs = [path.clone()];
        let mut queue = LockWait::new(self, &signs);
        loop {
            let stat = self.disk.stat(&path).map_err(StoreError::io("stat", &path))?;
            let Some(stat) = stat.filter(|stat| stat.kind == FileType::Folder) else { return Ok(()) };
            let age_ns = self.disk.now_ns().saturating_sub(stat.mtime_ns);
            // An mtime this far in the future is from another clock: waiting for it to age could take years.
            if age_ns.unsigned_abs() >= LOCK_FOLDER_STALE.as_nanos() as u64 {
                let age = u64::try_from(age_ns).ok().map(Duration::from_nanos);
                // Not removed: it is not ours, and a script that is only slow would lose its lock.
                warnings.push(Warning::StaleLockFolder { path, age });
                return Ok(());
            }
            queue.wait(&path)?;
        }
    }
}

impl<'s> LockWait<'s> {
    fn new(store: &'s Store, signs: &'s [PathBuf]) -> LockWait<'s> {
        LockWait { store, signs, seen: Vec::new(), waited: Duration::ZERO, idle: Duration::ZERO }
    }

    /// Sleeps until the next attempt, or fails.
    fn wait(&mut self, what: &Path) -> Result<(), StoreError> {
        let deadline = self.store.lock_deadline;
        let now: Vec<Option<Stat>> =
            self.signs.iter().map(|sign| self.store.disk.stat(sign).ok().flatten()).collect();
        if now != self.seen {
            self.seen = now;
            self.idle = Duration::ZERO;
        }
        let timeout = |waited, others| StoreError::LockTimeout { what: what.to_owned(), waited, others };
        if self.idle >= deadline {
            return Err(timeout(self.idle, LockHolders::Idle));
        }
        if self.waited >= deadline * PATIENCE {
            return Err(timeout(self.waited, LockHolders::Busy));
        }
        // Five times as often after one deadline as at the start.
        let eagerness = 1 + 4 * self.waited.min(deadline).as_millis() / deadline.as_millis().max(1);
        let pause = POLL / u32::try_from(eagerness).unwrap_or(1);
        self.store.disk.pause(pause);
        self.waited += pause;
        self.idle += pause;
        Ok(())
    }
}
