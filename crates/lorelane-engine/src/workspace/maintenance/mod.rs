//! Keeping a store in order: status, doctor, reindex, forgetting, measuring.

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

/// What keeps a store in order, for as long as the workspace is borrowed.
#[derive(Debug)]
pub struct Maintenance<'w> {
    workspace: &'w mut Workspace,
}

impl Workspace {
    pub fn maintenance(&mut self) -> Maintenance<'_> {
        Maintenance { workspace: self }
    }
}

impl Maintenance<'_> {
    /// Looks at every file and reads those that changed. A file edited in place leaves its folder's time as it
    /// was: commands that may take a moment look anyway.
    pub fn scan(&mut self) -> Result<(), Failure> {
        self.workspace.open_notes_if_present();
        self.workspace.lanes.iter_mut().try_for_each(Lane::scan)
    }

    /// What could not be read at the last look, though it is there: nothing of it is found, until it can be read.
    pub fn not_read(&mut self) -> Result<Vec<(PathBuf, String)>, Failure> {
        let mut problems = Vec::new();
        for lane in &mut self.workspace.lanes {
            problems.append(&mut lane.not_read()?);
        }
        Ok(problems)
    }

    /// Where a second model lies, or would lie.
    pub fn shelf(&self) -> Result<ModelStore, ModelError> {
        ModelStore::new(Arc::clone(&self.workspace.disk), self.workspace.folders.as_ref())
    }

    /// Writes index and listing anew from the files. Returns the number of listed memories.
    pub fn reindex(&mut self, rebuild: Rebuild) -> Result<(usize, Vec<Notice>), Failure> {
        self.workspace.refuse_when_misconfigured()?;
        let (mut active, mut notices) = (0, Vec::new());
        let open = self.workspace.lanes.ids();
        for &id in &open {
            // A lane without a folder has nothing that could be written anew beside one that has.
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

    /// All that the indexes say, in text.
    pub fn index_dump(&mut self) -> Result<String, Failure> {
        self.workspace.refresh()?;
        self.workspace.lanes.iter_mut().map(|lane| lane.with_index(Index::dump)).collect()
    }

    /// All that indexes made anew from the files would say.
    pub fn rebuilt_dump(&self) -> Result<String, Failure> {
        self.workspace.lanes.iter().map(Lane::rebuilt_dump).collect()
    }
}
