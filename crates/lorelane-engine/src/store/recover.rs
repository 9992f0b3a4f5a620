//! Recovery: settles a change that was journalled and interrupted.
//!
//! If every file is as intended, the change is done. Otherwise it is rolled back, never completed: an interrupted
//! change looks like a rejected one whose rejection did not reach the disk, and a rejected change must never
//! happen. Completing would require that the journal records every failure, which a failing disk may refuse.

use crate::backend::{ChangeTarget, StoreError, Warning};
use std::collections::BTreeSet;
use std::path::Path;

use lorelane_core::path::RelPath;

use super::blobs::{BlobBatch, BlobStore};
use super::faults::FaultSwitch;
use super::journal::{Intent, IntentStep, JournalRecord};
use super::journal_writer::JournalWriter;
use super::write::{FileTarget, FileWork, WriteFailure, folders};
use super::{Store, marks};

/// A step with its bytes.
#[derive(Clone, Debug)]
pub(super) enum FileOp {
    File { path: RelPath, old: Option<Vec<u8>>, new: Option<Vec<u8>>, mode: Option<u32> },
    Mark { text: Vec<u8>, seen: u64 },
    Unmark { text: Vec<u8>, seen: u64 },
}

#[derive(Debug)]
pub(super) enum ResolvedIntent {
    Ops(Vec<FileOp>),
    /// Some of its bytes are erased or damaged.
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileState {
    Before,
    After,
    Foreign,
    /// A later entry has changed it again, so this change was done.
    Superseded,
}

impl Store {
    pub(super) fn recover(
        &self,
        writer: &mut JournalWriter,
        intent: &Intent,
        superseded: &BTreeSet<RelPath>,
        warnings: &mut Vec<Warning>,
        touched: &mut Vec<ChangeTarget>,
    ) -> Result<(), StoreError> {
        let number = intent.number;
        let ResolvedIntent::Ops(ops) = self.resolve(&mut writer.pack(self)?, intent)? else {
            warnings.push(Warning::Abandoned { number });
            return writer.append(self, &[JournalRecord::Void(number)]);
        };
        let shares_marks = ops.iter().any(|op| !matches!(op, FileOp::File { .. }));
        let _marks_lock = if shares_marks { Some(self.lock_marks()?) } else { None };
        touched.extend(ops.iter().map(FileOp::place));

        let mut states = Vec::new();
        for op in &ops {
            states.push(match op {
                FileOp::File { path, .. } if superseded.contains(path) => FileState::Superseded,
                _ => self.state(op)?,
            });
        }
        // Entries of the fallback journal follow this change, so it was settled when they were made: if none of
        // its own files shows it, the power cut took its `void`.
        let overtaken = !superseded.is_empty() && states.contains(&FileState::Before);
        if overtaken && !states.contains(&FileState::After) {
            writer.append(self, &[JournalRecord::Void(number)])?;
            return writer.sync(self);
        }
        let in_state = |wanted: FileState| {
            let with_state = ops.iter().zip(&states);
            with_state.filter(move |(_, state)| **state == wanted).map(|(op, _)| op.clone())
        };
        let is_done = states.iter().all(|state| matches!(state, FileState::After | FileState::Superseded));
        let back: Vec<FileOp> = match is_done {
            true => Vec::new(),
            false => in_state(FileState::After).map(FileOp::reversed).collect(),
        };
        let interrupted = |error| StoreError::Interrupted { number, source: Box::new(error) };
        for op in in_state(FileState::Before) {
            if let FileOp::Mark { text, .. } = op {
                self.cut_begun_marks(&text, warnings).map_err(interrupted)?;
            }
        }
        self.sweep_around(&ops).map_err(interrupted)?;
        let work = work(self, &back, warnings).map_err(interrupted)?;
        self.perform(&work, warnings)
            .map_err(|(WriteFailure::TakenBack(error) | WriteFailure::Stuck(error))| interrupted(error))?;
        self.sync_all(&ops).map_err(interrupted)?;
        if is_done {
            return writer.append(self, &[JournalRecord::Done(number)]);
        }
        let changed_outside = in_state(FileState::Foreign).map(|op| op.place().to_string()).collect();
        warnings.push(Warning::TakenBack { number, changed_outside });
        writer.append(self, &[JournalRecord::Void(number)])?;
        writer.sync(self)
    }

    /// Cleans up after changes that were rolled back: temporary files, and new folders whose names may not be
    /// synced. The next change would take such a folder for an old one and not sync it.
    pub(super) fn settle_refused(
        &self,
        writer: &JournalWriter,
        refused: &[Intent],
    ) -> Result<(), StoreError> {
        for intent in refused {
            if let ResolvedIntent::Ops(ops) = self.resolve(&mut writer.pack(self)?, intent)? {
                self.sweep_around(&ops)?;
                self.sync_all(&ops)?;
            }
        }
        Ok(())
    }

    pub(super) fn resolve(
        &self,
        pack: &mut BlobStore,
        intent: &Intent,
    ) -> Result<ResolvedIntent, StoreError> {
        let mut ops = Vec::new();
        for step in &intent.steps {
            let Some(op) = op(pack, step)? else { return Ok(ResolvedIntent::Gone) };
            ops.push(op);
        }
        Ok(ResolvedIntent::Ops(ops))
    }

    /// Whether the whole change is in place.
    pub(super) fn is_done(&self, ops: &[FileOp]) -> Result<bool, StoreError> {
        for op in ops {
            if self.state(op)? != FileState::After {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn state(&self, op: &FileOp) -> Result<FileState, StoreError> {
        match op {
            FileOp::File { path, old, new, .. } => {
                let file = self.file(path);
                match self.refuse_unless_inside(&file) {
                    Ok(()) => {}
                    Err(StoreError::Symlink { .. } | StoreError::NotAFile { .. }) => {
                        return Ok(FileState::Foreign);
                    }
                    Err(error) => return Err(error),
                }
                let now = self.read_file(&file)?;
                Ok(match now {
                    now if now == *new => FileState::After,
                    now if now == *old => FileState::Before,
                    _ => FileState::Foreign,
                })
            }
            FileOp::Mark { text, seen } => {
                let done = marks::count(&self.read_marks()?, text) > *seen;
                Ok(if done { FileState::After } else { FileState::Before })
            }
            FileOp::Unmark { text, seen } => {
                let done = marks::count(&self.read_marks()?, text) < *seen;
                Ok(if done { FileState::After } else { FileState::Before })
            }
        }
    }

    fn sweep_around(&self, ops: &[FileOp]) -> Result<(), StoreError> {
        let targets: Vec<FileTarget> = ops.iter().map(|op| op.bare_target(self)).collect();
        for folder in folders(&targets) {
            self.sweep(folder)?;
        }
        Ok(())
    }

    /// A step that the dead writer had done may be in the page cache only. Once `done` is written nobody checks
    /// again, so all of it is synced first, including the folders up to the root.
    fn sync_all(&self, ops: &[FileOp]) -> Result<(), StoreError> {
        if self.faults.skip(FaultSwitch::SkipRecoverySync) {
            return Ok(());
        }
        let exists = |path: &Path| {
            self.disk.stat(path).map(|stat| stat.is_some()).map_err(StoreError::io("stat", path))
        };
        let targets: Vec<FileTarget> = ops.iter().map(|op| op.bare_target(self)).collect();
        if ops.iter().any(|op| matches!(op, FileOp::Mark { .. })) && exists(&self.marks_file())? {
            self.sync_file(&self.marks_file(), FaultSwitch::SkipMarksSync)?;
        }
        for folder in folders(&targets) {
            if exists(folder)? {
                self.sync_dir(folder, FaultSwitch::SkipFolderSync)?;
            }
            let root = if folder == self.home.marks { folder.parent() } else { Some(&*self.home.lane) };
            for above in folder.ancestors().skip(1).take_while(|_| Some(folder) != root) {
                if exists(above)? {
                    self.sync_dir(above, FaultSwitch::SkipNewFolderSync)?;
                }
                if Some(above) == root {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn op(pack: &mut BlobStore, step: &IntentStep) -> Result<Option<FileOp>, StoreError> {
    Ok(match step {
        IntentStep::Mark { text, seen } => pack.held(*text)?.map(|text| FileOp::Mark { text, seen: *seen }),
        IntentStep::Unmark { text, seen } => {
            pack.held(*text)?.map(|text| FileOp::Unmark { text, seen: *seen })
        }
        IntentStep::File { path, old, new, mode } => {
            let Some(path) = pack.held(*path)?.and_then(|path| lane_path(&path)) else { return Ok(None) };
            let mut contents = [None, None];
            for (content, blob) in contents.iter_mut().zip([old, new]) {
                if let Some(blob) = blob {
                    let Some(bytes) = pack.held(*blob)? else { return Ok(None) };
                    *content = Some(bytes);
                }
            }
            let [old, new] = contents;
            Some(FileOp::File { path, old, new, mode: *mode })
        }
    })
}

/// The files to write for these operations.
pub(super) fn work(
    store: &Store,
    ops: &[FileOp],
    warnings: &mut Vec<Warning>,
) -> Result<FileWork, StoreError> {
    let mut work = FileWork::default();
    for op in ops {
        let mut target = op.bare_target(store);
        match op {
            FileOp::File { old, new, mode, .. } => {
                (target.old, target.new, target.mode) = (old.clone(), new.clone(), *mode);
                work.targets.push(target);
            }
            FileOp::Mark { text, .. } => work.marks.get_or_insert_default().extend(text),
            FileOp::Unmark { text, .. } => {
                let content = store.read_marks()?;
                target.new = Some(marks::without(store.sound_marks(&content, warnings), text));
                target.old = Some(content);
                work.targets.push(target);
            }
        }
    }
    Ok(work)
}

impl FileOp {
    pub(super) fn place(&self) -> ChangeTarget {
        match self {
            FileOp::File { path, .. } => ChangeTarget::Lane(path.clone()),
            FileOp::Mark { .. } | FileOp::Unmark { .. } => ChangeTarget::Marks,
        }
    }

    pub(super) fn pack(&self, batch: &mut BlobBatch<'_>) -> IntentStep {
        match self {
            FileOp::File { path, old, new, mode } => IntentStep::File {
                path: batch.add(path.as_str().as_bytes()),
                old: old.as_ref().map(|bytes| batch.add(bytes)),
                new: new.as_ref().map(|bytes| batch.add(bytes)),
                mode: *mode,
            },
            FileOp::Mark { text, seen } => IntentStep::Mark { text: batch.add(text), seen: *seen },
            FileOp::Unmark { text, seen } => IntentStep::Unmark { text: batch.add(text), seen: *seen },
        }
    }

    fn reversed(self) -> FileOp {
        match self {
            FileOp::File { path, old, new, mode } => FileOp::File { path, old: new, new: old, mode },
            FileOp::Mark { text, seen } => FileOp::Unmark { text, seen: seen + 1 },
            FileOp::Unmark { text, seen } => FileOp::Mark { text, seen: seen.saturating_sub(1) },
        }
    }

    /// The path alone, without bytes.
    fn bare_target(&self, store: &Store) -> FileTarget {
        FileTarget { path: store.path_of(&self.place()), old: None, new: None, mode: None }
    }
}

pub(super) fn lane_path(bytes: &[u8]) -> Option<RelPath> {
    RelPath::parse(std::str::from_utf8(bytes).ok()?).ok()
}
