//! `status`, `doctor`, `reindex`, `forget` and `bench`.

mod bench;
mod doctor;
mod forget;
mod listing;

pub use bench::BenchOutcome;
pub use doctor::{Diagnosis, Overview, Sync};
pub use forget::{EraseCheck, EraseResult, ForgetReport, RepositoryTraces};

use crate::index::{Index, Rebuild};
use crate::model::{ModelError, ModelStore};
use crate::workspace::commit::warnings;
use crate::workspace::lane::Lane;
use crate::workspace::{Failure, Workspace};
use lorelane_core::change::Notice;
use std::path::PathBuf;
use std::sync::Arc;

/// Maintenance of a borrowed workspace.
#[derive(Debug)]
pub struct Maintenance<'w> {
    pub(in crate::workspace) workspace: &'w mut Workspace,
}

impl Workspace {
    pub fn maintenance(&mut self) -> Maintenance<'_> {
        Maintenance { workspace: self }
    }
}

impl Maintenance<'_> {
    /// Stats every file and reads those that changed. A refresh compares only the mtimes of folders, which do not
    /// change when a file is edited in place, so commands that may take a moment scan.
    pub fn scan(&mut self) -> Result<(), Failure> {
        self.workspace.open_notes_if_present();
        self.workspace.lanes.iter_mut().try_for_each(Lane::scan)
    }

    /// Files and folders that exist but could not be read at the last scan. Search does not find their memories.
    pub fn not_read(&mut self) -> Result<Vec<(PathBuf, String)>, Failure> {
        let mut problems = Vec::new();
        for lane in &mut self.workspace.lanes {
            problems.append(&mut lane.not_read()?);
        }
        Ok(problems)
    }

    /// The folder of the added model, whether there is one or not.
    pub fn model_store(&self) -> Result<ModelStore, ModelError> {
        ModelStore::new(Arc::clone(&self.workspace.disk), self.workspace.folders.as_ref())
    }

    /// Rewrites the index and `index.md` from the files. Returns the number of listed memories.
    pub fn reindex(&mut self, rebuild: Rebuild) -> Result<(usize, Vec<Notice>), Failure> {
        self.workspace.refuse_when_misconfigured()?;
        let (mut active, mut notices) = (0, Vec::new());
        let open = self.workspace.lanes.ids();
        for &id in &open {
            // Beside another lane, one without a folder is skipped: there is nothing to index, and it is not
            // created.
            if open.len() > 1 && !self.workspace.lanes[id].has_folder() {
                continue;
            }
            let documents = Arc::clone(&self.workspace.lanes[id].documents);
            let mut writer = documents.begin()?;
            notices.extend(warnings(writer.warnings()));
            notices.extend(self.complete_forgetting(id, &mut *writer));
            active += self.workspace.lanes[id].reindex(rebuild, &mut notices)?;
            writer.finish()?;
        }
        Ok((active, notices))
    }

    /// Dumps all indexes as text.
    pub fn index_dump(&mut self) -> Result<String, Failure> {
        self.workspace.refresh()?;
        self.workspace.lanes.iter_mut().map(|lane| lane.with_index(Index::dump)).collect()
    }

    /// The dump of indexes rebuilt from the files, for comparison.
    pub fn rebuilt_dump(&self) -> Result<String, Failure> {
        self.workspace.lanes.iter().map(Lane::rebuilt_dump).collect()
    }
}
