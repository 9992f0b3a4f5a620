//! A write transaction: read, decide, change, finish.

use crate::backend::{ChangeTarget, CommitReceipt, Edit, StoreError, Transaction, Warning, nothing_left};
use std::cell::Cell;

use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;

use super::blobs::BlobBatch;
use super::faults::FaultSwitch;
use super::journal::{Intent, JournalRecord};
use super::journal_writer::JournalWriter;
use super::recover::{FileOp, work};
use super::write::{FileWork, WriteFailure};
use super::{Store, log, marks};
use crate::disk::LockGuard;

/// Holds the lane's lock. It may be dropped at any time; without [`Transaction::finish`] the next writer checks
/// the last change once more.
#[derive(Debug)]
pub struct FileTransaction<'s> {
    pub(super) store: &'s Store,
    pub(super) writer: JournalWriter,
    /// The change that is made but has no `done` yet.
    unfinished: Option<u64>,
    /// A change that is still open in the journal: no other may follow it in this transaction.
    stuck: Option<u64>,
    /// Whether something was erased that cannot be restored.
    pub(super) has_erased: Cell<bool>,
    warnings: Vec<Warning>,
    recovered: Vec<ChangeTarget>,
    _lock: LockGuard,
}

impl<'s> FileTransaction<'s> {
    pub(super) fn new(
        store: &'s Store,
        writer: JournalWriter,
        lock: LockGuard,
        warnings: Vec<Warning>,
        recovered: Vec<ChangeTarget>,
    ) -> FileTransaction<'s> {
        FileTransaction {
            store,
            writer,
            unfinished: None,
            stuck: None,
            has_erased: Cell::new(false),
            warnings,
            recovered,
            _lock: lock,
        }
    }

    /// Appends `done` to the journal.
    pub fn finish(mut self) -> Result<(), StoreError> {
        if let Some(number) = self.unfinished.take() {
            // Not synced: if this line is lost, recovery finds the files as intended and appends it again.
            self.writer.append(self.store, &[JournalRecord::Done(number)])?;
            // Only now, so that a rejected change creates no project id.
            self.store.home.state.for_writing();
        }
        Ok(())
    }

    pub fn read(&self, place: &ChangeTarget) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.read_file(&self.store.path_of(place))
    }

    /// Turns edits into the old and new content of each file, without files that do not change.
    fn draft(&self, edits: Vec<Edit>) -> Result<(Vec<FileOp>, Vec<u8>), StoreError> {
        let (mut files, mut lines) = (Vec::new(), Vec::new());
        for edit in edits {
            match edit {
                Edit::Put { path, bytes } => *self.drafted(&mut files, path)? = Some(bytes),
                Edit::Remove { path } => *self.drafted(&mut files, path)? = None,
                Edit::Append { path, bytes } => {
                    self.drafted(&mut files, path)?.get_or_insert_default().extend(bytes);
                }
                Edit::Expect { path, bytes } => {
                    let file = self.store.file(&path);
                    if *self.drafted(&mut files, path)? != bytes {
                        return Err(StoreError::Outdated { path: file });
                    }
                }
                Edit::Mark { lines: added } => {
                    lines.extend(added);
                    if lines.last().is_some_and(|byte| *byte != b'\n') {
                        lines.push(b'\n');
                    }
                }
            }
        }
        files.retain(|op| !matches!(op, FileOp::File { old, new, .. } if old == new));
        Ok((files, lines))
    }

    /// The new content of a path, which starts as its current content.
    fn drafted<'d>(
        &self,
        files: &'d mut Vec<FileOp>,
        path: RelPath,
    ) -> Result<&'d mut Option<Vec<u8>>, StoreError> {
        let known = files.iter().position(|op| matches!(op, FileOp::File { path: p, .. } if *p == path));
        let at = match known {
            Some(at) => at,
            None => {
                files.push(self.store.untouched(path)?);
                files.len() - 1
            }
        };
        match &mut files[at] {
            FileOp::File { new, .. } => Ok(new),
            FileOp::Mark { .. } | FileOp::Unmark { .. } => unreachable!("only files are drafted"),
        }
    }

    /// Journals the file operations, then performs them. With marks among them, the caller holds the marks lock.
    fn commit(
        &mut self,
        ops: &[FileOp],
        undoes: Option<u64>,
        because: &str,
        now: Timestamp,
    ) -> Result<CommitReceipt, StoreError> {
        self.refuse_when_stuck()?;
        if ops.is_empty() {
            return Ok(CommitReceipt::default());
        }
        let number = self.writer.newest + 1;
        let intent = self.pack(ops, number, undoes, because, now)?;
        let earlier = self.writer.clone();
        self.write_intent(intent, &earlier)?;
        let mut warnings = Vec::new();
        let done = work(self.store, ops, &mut warnings)
            .map(|work| FileWork { may_be_outdated: !self.store.is_own, ..work })
            .map_err(WriteFailure::TakenBack)
            .and_then(|work| self.store.perform(&work, &mut warnings));
        match done {
            Ok(()) => {
                self.writer.testify(self.store);
                self.unfinished = Some(number);
                Ok(CommitReceipt {
                    number: Some(number),
                    changes: ops.iter().map(FileOp::place).collect(),
                    warnings,
                })
            }
            Err(WriteFailure::TakenBack(error)) => {
                self.abort(number, &earlier);
                Err(error)
            }
            Err(WriteFailure::Stuck(error)) => {
                self.stuck = Some(number);
                Err(StoreError::Unsettled { number, source: Box::new(error) })
            }
        }
    }

    fn refuse_when_stuck(&self) -> Result<(), StoreError> {
        match self.stuck {
            Some(number) => Err(StoreError::Waiting { journal: self.writer.journal.clone(), number }),
            None => Ok(()),
        }
    }

    fn pack(
        &self,
        ops: &[FileOp],
        number: u64,
        undoes: Option<u64>,
        because: &str,
        at: Timestamp,
    ) -> Result<Intent, StoreError> {
        let pack = &self.writer.blobs;
        let mut batch = BlobBatch::new(&*self.store.disk, pack).map_err(StoreError::io("stat", pack))?;
        let because = batch.add(because.as_bytes());
        let steps = ops.iter().map(|op| op.pack(&mut batch)).collect();
        batch.append(pack).map_err(StoreError::io("write", pack))?;
        self.store.sync_file(pack, FaultSwitch::SkipBlobSync)?;
        let order = self.writer.order + 1;
        Ok(Intent { number, undoes, at, because, steps, order, moved_from: None })
    }

    /// After this the change is made as a whole, or rolled back by its number.
    fn write_intent(&mut self, intent: Intent, earlier: &JournalWriter) -> Result<(), StoreError> {
        let number = intent.number;
        let mut events: Vec<JournalRecord> = self.unfinished.map(JournalRecord::Done).into_iter().collect();
        events.push(JournalRecord::Intent(intent));
        let announced = self.writer.append(self.store, &events).and_then(|()| self.writer.sync(self.store));
        if let Err(error) = announced {
            if self.writer.truncate_to(self.store, earlier).is_err() {
                self.stuck = Some(number);
            }
            return Err(error);
        }
        self.unfinished = None;
        Ok(())
    }

    /// Marks a change as void. On a full disk, which takes no more lines, truncates its intent instead. If the
    /// journal takes neither, the next writer finds all files as before and voids it then.
    fn abort(&mut self, number: u64, earlier: &JournalWriter) {
        let said = self
            .writer
            .append(self.store, &[JournalRecord::Void(number)])
            .and_then(|()| self.writer.sync(self.store));
        if said.is_err() && self.writer.truncate_to(self.store, earlier).is_err() {
            self.stuck = Some(number);
        }
    }
}

impl Transaction for FileTransaction<'_> {
    fn log_erasure(&mut self, because: &str, now: Timestamp) -> Result<u64, StoreError> {
        self.refuse_when_stuck()?;
        let number = self.writer.newest + 1;
        // Without steps: undo skips it, and the log does not name what was erased.
        let intent = self.pack(&[], number, None, because, now)?;
        let earlier = self.writer.clone();
        self.write_intent(intent, &earlier)?;
        self.unfinished = Some(number);
        Ok(number)
    }

    fn unlog_erasure(&mut self) {
        if let Some(number) = self.unfinished.take() {
            // If the disk refuses this, the log has an entry too many, which has no effect.
            let voided = self.writer.append(self.store, &[JournalRecord::Void(number)]);
            let _ = voided.and_then(|()| self.writer.sync(self.store));
        }
    }

    fn apply(
        &mut self,
        edits: Vec<Edit>,
        because: &str,
        now: Timestamp,
    ) -> Result<CommitReceipt, StoreError> {
        let (files, lines) = self.draft(edits)?;
        let mut ops = files;
        let _marks_lock = match lines.is_empty() {
            true => None,
            false => {
                let lock = self.store.lock_marks()?;
                let seen = marks::count(&self.store.read_marks()?, &lines);
                ops.push(FileOp::Mark { text: lines, seen });
                Some(lock)
            }
        };
        self.commit(&ops, None, because, now)
    }

    fn undo(&mut self, now: Timestamp) -> Result<CommitReceipt, StoreError> {
        let chain = self.writer.read_all(self.store)?;
        let history = log::history(&chain.lines);
        let upcoming = self.store.upcoming(&history, &mut self.writer.pack(self.store)?)?;
        let Some(at) = upcoming.at else { return Err(nothing_left(&upcoming.passed_over)) };
        let (number, done) = (history[at].0.number, upcoming.ops_of(history[at].0)?);
        let shares_marks = done.iter().any(|op| !matches!(op, FileOp::File { .. }));
        let _marks_lock = if shares_marks { Some(self.store.lock_marks()?) } else { None };
        let ops = self.store.reversed(done, number)?;
        let mut receipt = self.commit(&ops, Some(number), &format!("undo of {number}"), now)?;
        receipt.warnings.extend(upcoming.passed_over);
        if shares_marks {
            self.store.remove_empty_marks();
        }
        Ok(receipt)
    }

    fn comes_after(&mut self, order: u64) {
        self.writer.order = self.writer.order.max(order);
    }

    fn order(&self) -> u64 {
        self.writer.order
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn recovered(&self) -> &[ChangeTarget] {
        &self.recovered
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        FileTransaction::finish(*self)
    }
}
