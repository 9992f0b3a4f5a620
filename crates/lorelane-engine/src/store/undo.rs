//! What `undo` would do. The same code runs with and without the lock, so that `--dry-run` shows what happens.

use crate::backend::{ChangeState, ChangeTarget, StoreError, Warning};
use lorelane_core::path::RelPath;

use super::blobs::BlobStore;
use super::journal::Intent;
use super::log::undone;
use super::recover::{FileOp, ResolvedIntent};
use super::{Store, marks};

/// The next change to undo.
#[derive(Debug)]
pub(super) struct UndoCandidate {
    pub(super) at: Option<usize>,
    /// `None` if its bytes are erased.
    ops: Option<Vec<FileOp>>,
    pub(super) passed_over: Vec<Warning>,
}

impl UndoCandidate {
    pub(super) fn ops_of(&self, intent: &Intent) -> Result<Vec<FileOp>, StoreError> {
        self.ops.clone().ok_or(StoreError::Purged { number: intent.number })
    }
}

impl Store {
    /// An open change will be settled first, and may then be void.
    pub(super) fn foresee(
        &self,
        history: &mut [(&Intent, ChangeState)],
        pack: &mut BlobStore,
    ) -> Result<(), StoreError> {
        let Some((intent, outcome @ ChangeState::Open)) = history.last_mut() else { return Ok(()) };
        let is_done = match self.resolve(pack, intent)? {
            ResolvedIntent::Ops(ops) => self.is_done(&ops)?,
            ResolvedIntent::Gone => false,
        };
        if !is_done {
            *outcome = ChangeState::Void;
        }
        Ok(())
    }

    /// The newest change that is neither void, nor undone, nor itself an undo. An entry without steps only records
    /// that something was forgotten. A change of a file that was deleted since is skipped as a whole: whoever
    /// deleted it wants neither this version nor the one before, and `restore` has the last one.
    pub(super) fn upcoming(
        &self,
        history: &[(&Intent, ChangeState)],
        pack: &mut BlobStore,
    ) -> Result<UndoCandidate, StoreError> {
        let (undone, mut passed_over) = (undone(history), Vec::new());
        for (at, (intent, outcome)) in history.iter().enumerate().rev() {
            let is_left =
                *outcome != ChangeState::Void && intent.undoes.is_none() && !intent.steps.is_empty();
            if !is_left || undone.contains(&intent.number) {
                continue;
            }
            // Stops here and does not skip it: `undo` right after `forget` would otherwise revert another memory's
            // change.
            let ResolvedIntent::Ops(ops) = self.resolve(pack, intent)? else {
                return Ok(UndoCandidate { at: Some(at), ops: None, passed_over });
            };
            match self.deleted_of(&ops)? {
                Some(path) => passed_over.push(Warning::PassedOver { number: intent.number, path }),
                None => return Ok(UndoCandidate { at: Some(at), ops: Some(ops), passed_over }),
            }
        }
        Ok(UndoCandidate { at: None, ops: None, passed_over })
    }

    /// A file that the change wrote and that is gone.
    fn deleted_of(&self, ops: &[FileOp]) -> Result<Option<RelPath>, StoreError> {
        for op in ops {
            if let FileOp::File { path, new: Some(_), .. } = op
                && self.kind(&self.file(path))?.is_none()
            {
                return Ok(Some(path.clone()));
            }
        }
        Ok(None)
    }

    /// The operations that revert these. With marks among them, the caller holds the marks lock if it writes the
    /// result.
    pub(super) fn reversed(&self, done: Vec<FileOp>, number: u64) -> Result<Vec<FileOp>, StoreError> {
        done.into_iter().rev().map(|op| self.reversed_op(op, number)).collect()
    }

    fn reversed_op(&self, op: FileOp, number: u64) -> Result<FileOp, StoreError> {
        match op {
            FileOp::File { path, old, new, mode } => {
                let FileOp::File { old: now, mode: mode_now, .. } = self.untouched(path.clone())? else {
                    unreachable!("an untouched file is a file")
                };
                if now != new {
                    return Err(StoreError::ChangedOutside { path: path.to_string(), number });
                }
                Ok(FileOp::File { path, old: now, new: old, mode: mode.or(mode_now) })
            }
            FileOp::Mark { text, .. } => match marks::count(&self.read_marks()?, &text) {
                0 => Err(StoreError::ChangedOutside { path: ChangeTarget::Marks.to_string(), number }),
                seen => Ok(FileOp::Unmark { text, seen }),
            },
            FileOp::Unmark { text, .. } => {
                let seen = marks::count(&self.read_marks()?, &text);
                Ok(FileOp::Mark { text, seen })
            }
        }
    }

    /// A file as it is now, as an operation that changes nothing yet.
    pub(super) fn untouched(&self, path: RelPath) -> Result<FileOp, StoreError> {
        let file = self.file(&path);
        self.refuse_unless_inside(&file)?;
        let old = self.read_file(&file)?;
        let stat = self.disk.stat(&file).map_err(StoreError::io("stat", &file))?;
        Ok(FileOp::File { path, new: old.clone(), old, mode: stat.and_then(|stat| stat.mode) })
    }
}
