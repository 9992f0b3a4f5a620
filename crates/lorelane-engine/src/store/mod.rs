//! The crash-safe store of one lane: the only code that writes memories.
//!
//! A change is journalled before it touches a file and can be rolled back from the journal alone. A writer that is
//! killed leaves nothing half-done: the next writer settles its change. The order is
//!
//! 1. append the reason, the paths, the old and the new bytes to the pack, sync it;
//! 2. append the intent to the journal, sync it: from here on the change can be rolled back;
//! 3. write temporary files, sync them, append marks, sync them, rename, sync the folders;
//! 4. append `done`, unsynced: if it is lost, the next writer finds the files as intended and writes it again.
//!
//! A change that fails is rolled back, at once or by the next writer. Only [`StoreError::Unsettled`] leaves that
//! open: files were changed, and the disk then refused to change them back.
//!
//! Readers take no lock and see the files as they are. There are two locks, always taken in this order: the lane's
//! folder, then the folder of the marks, which several lanes share.

mod blobs;
mod erase;
mod fallback_journal;
mod faults;
mod journal;
mod journal_writer;
mod lock;
mod log;
mod marks;
mod recover;
#[cfg(feature = "simulation")]
pub mod simulation;
mod transaction;
mod undo;
mod write;

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lorelane_core::path::RelPath;

use crate::backend::{Backend, ChangeLog, ChangeTarget, StoreError, Transaction, Warning, last_lines};
use crate::disk::{DirEntry, Disk, FileType, READ_MAX_BYTES, Stat};
use crate::state::StateFolder;
use faults::ActiveFaults;
use journal_writer::JournalWriter;
pub use lock::LOCK_DEADLINE;
pub use transaction::FileTransaction;

/// The folders that one lane's store writes to. It writes nowhere else.
#[derive(Clone, Debug)]
pub struct StoreFolders {
    /// The lane's real path; whoever found the lane has resolved the links.
    pub lane: PathBuf,
    /// The folder that holds `marks.jsonl`, shared by the lanes of a worktree.
    pub marks: PathBuf,
    /// This lane's own folder in the user's state folder.
    pub state: StateFolder,
}

#[derive(Debug)]
pub struct Store {
    disk: Arc<dyn Disk>,
    home: StoreFolders,
    lock_deadline: Duration,
    /// Whether the lane's folder is ours. If not, no journal is kept in it, and its owner may write at any time.
    is_own: bool,
    faults: ActiveFaults,
}

impl Store {
    pub fn new(disk: Arc<dyn Disk>, home: StoreFolders) -> Store {
        Store { disk, home, lock_deadline: LOCK_DEADLINE, is_own: true, faults: ActiveFaults::default() }
    }

    /// For a folder of another program: without a state folder nothing is written, and a file that the program has
    /// just changed is left alone.
    pub fn of_another_program(mut self) -> Store {
        self.is_own = false;
        self
    }

    pub fn with_lock_deadline(mut self, deadline: Duration) -> Store {
        self.lock_deadline = deadline;
        self
    }

    /// Locks the lane for writing and settles a change that a crash interrupted.
    ///
    /// Creates the lane's folder if it is missing. If the lock cannot be taken, that is an error and nothing is
    /// written.
    pub fn begin(&self) -> Result<FileTransaction<'_>, StoreError> {
        self.create_folder(&self.home.lane)?;
        let lock = self.lock_lane()?;
        let mut warnings = Vec::new();
        // Under our own lock, so that a script that finishes is not followed by another lorelane first.
        self.wait_for_old_scripts(&mut warnings)?;
        let mut touched = Vec::new();
        let writer = self.open_writer(&mut warnings, &mut touched)?;
        touched.sort();
        touched.dedup();
        Ok(FileTransaction::new(self, writer, lock, warnings, touched))
    }

    /// The folder of its documents.
    pub fn root(&self) -> &Path {
        &self.home.lane
    }

    pub fn path_of(&self, place: &ChangeTarget) -> PathBuf {
        match place {
            ChangeTarget::Lane(path) => self.file(path),
            ChangeTarget::Marks => self.marks_file(),
        }
    }

    fn file(&self, path: &RelPath) -> PathBuf {
        self.home.lane.join(path.as_str())
    }

    /// Our own journal may have any length; a file in the lane may have come with a repository, so it is limited.
    fn read_file(&self, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        let max = if self.home.state.holds(path) { u64::MAX } else { READ_MAX_BYTES };
        self.disk.read_regular(path, max).map_err(StoreError::io("read", path))
    }

    /// Opens the journal in the state folder, or the fallback journal inside the lane if that is not possible, and
    /// settles whatever is open in either.
    fn open_writer(
        &self,
        warnings: &mut Vec<Warning>,
        touched: &mut Vec<ChangeTarget>,
    ) -> Result<JournalWriter, StoreError> {
        let (fallback, has_fallback) = (self.fallback_journal(), self.has_fallback_journal()?);
        let state = self.home.state.path();
        let why = match JournalWriter::prepare(self, &state) {
            Ok(()) => {
                if !has_fallback {
                    return self.recovered_writer(&state, &BTreeSet::new(), warnings, touched);
                }
                let fallback_writer =
                    self.recovered_writer(&fallback, &BTreeSet::new(), warnings, touched)?;
                let superseded = self.paths_in(&fallback_writer)?;
                let mut writer = self.recovered_writer(&state, &superseded, warnings, touched)?;
                self.migrate(&mut writer, &fallback_writer, warnings)?;
                return Ok(writer);
            }
            Err(why) if !self.is_own => return Err(why),
            Err(why) => why,
        };
        // A change that is open there is older than any that we could make, so ours must not overtake it. In a
        // sandbox that does not even let us read it, there is nothing to wait for.
        match JournalWriter::waiting(self, &state) {
            Ok(None) => {}
            Ok(Some(number)) => {
                let journal = state.join(journal_writer::JOURNAL);
                return Err(StoreError::Waiting { journal, number });
            }
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
        self.begin_fallback_journal()?;
        JournalWriter::prepare(self, &fallback)?;
        let why = why.to_string().lines().next().unwrap_or_default().to_owned();
        warnings.push(Warning::FallbackJournal { state, fallback: fallback.clone(), why });
        self.recovered_writer(&fallback, &BTreeSet::new(), warnings, touched)
    }

    fn recovered_writer(
        &self,
        folder: &Path,
        superseded: &BTreeSet<RelPath>,
        warnings: &mut Vec<Warning>,
        touched: &mut Vec<ChangeTarget>,
    ) -> Result<JournalWriter, StoreError> {
        let (mut writer, left) = JournalWriter::open(self, folder, warnings)?;
        self.settle_refused(&writer, &left.refused)?;
        if let Some(intent) = left.open {
            self.recover(&mut writer, &intent, superseded, warnings, touched)?;
        }
        Ok(writer)
    }
}

/// More marks than any project has; a larger file is not ours.
const MARKS_MAX_BYTES: u64 = 64 << 20;

impl Backend for Store {
    fn list(&self, folder: &str) -> io::Result<Option<Vec<DirEntry>>> {
        self.disk.list(&self.home.lane.join(folder))
    }

    fn each_entry(&self, folder: &str, each: &mut dyn FnMut(&str, FileType)) -> io::Result<bool> {
        self.disk.each_entry(&self.home.lane.join(folder), each)
    }

    fn stat(&self, path: &str) -> io::Result<Option<Stat>> {
        self.disk.stat(&self.home.lane.join(path))
    }

    fn read(&self, path: &RelPath, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
        self.disk.read_regular(&self.file(path), max_bytes)
    }

    fn read_with_stat(&self, path: &RelPath, max_bytes: u64) -> io::Result<Option<(Vec<u8>, Stat)>> {
        self.disk.read_with_stat(&self.file(path), max_bytes)
    }

    fn marks(&self, limit: Option<u64>) -> Result<Vec<u8>, StoreError> {
        let path = self.marks_file();
        let is_larger = |limit: &u64| self.marks_size().is_some_and(|size| size > *limit);
        let read = match limit.filter(is_larger) {
            // One more byte shows whether the first line is whole.
            Some(limit) => self.disk.read_tail(&path, limit + 1).map(|tail| {
                tail.map(|(bytes, _)| last_lines(bytes, usize::try_from(limit).unwrap_or(usize::MAX)))
            }),
            None => self.disk.read_regular(&path, MARKS_MAX_BYTES),
        };
        Ok(read.map_err(StoreError::io("read", &path))?.unwrap_or_default())
    }

    fn marks_size(&self) -> Option<u64> {
        let stat = self.disk.stat(&self.marks_file()).ok()??;
        (stat.kind == FileType::File).then_some(stat.len)
    }

    fn marks_key(&self) -> String {
        self.marks_file().display().to_string()
    }

    fn now_ns(&self) -> i64 {
        self.disk.now_ns()
    }

    fn begin(&self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        Ok(Box::new(Store::begin(self)?))
    }

    fn log(&self) -> &dyn ChangeLog {
        self
    }
}
