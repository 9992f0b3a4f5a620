//! What belongs to a project as a whole, whichever lanes it has: ledger, captures, drafts, results of `bench`.

use super::lane::Lane;
use super::{Failure, Workspace};
use crate::backend::ChangeLog;
use crate::captures::Captures;
use crate::disk::Disk;
use crate::env::Folders;
use crate::finding::Finding;
use crate::ledger::Ledger;
use crate::state::{ProjectState, StateFolder};
use crate::store::{Store, StoreFolders};
use lorelane_core::forget::Traces;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Project {
    /// Its real folder.
    pub(super) root: PathBuf,
    /// Its own folder in the user's state folder.
    pub(super) state: StateFolder,
    captures: StateFolder,
    /// A private folder for drafts of an editor.
    pub(super) drafts: StateFolder,
    pub(super) folders: Option<Folders>,
    /// Without a home nothing can be kept in a state folder.
    own: Option<Arc<ProjectState>>,
}

impl Project {
    pub(super) fn new(
        disk: &Arc<dyn Disk>,
        root: PathBuf,
        records: &Path,
        folders: Option<&Folders>,
    ) -> Project {
        let own = folders.map(|folders| Arc::new(ProjectState::of(disk, folders, &root, records)));
        Project {
            root,
            state: own.as_ref().map_or_else(no_state, ProjectState::folder),
            captures: own.as_ref().map_or_else(no_state, ProjectState::captures),
            drafts: match &own {
                Some(own) => own.drafts(),
                None => records.join(".lorelane-drafts").into(),
            },
            folders: folders.cloned(),
            own,
        }
    }

    /// What was put into prompts.
    pub(super) fn ledger(&self, disk: &Arc<dyn Disk>) -> Ledger {
        Ledger::new(Arc::clone(disk), self.state.clone())
    }

    /// What triage found in this project's sessions.
    pub(super) fn captures(&self, disk: &Arc<dyn Disk>) -> Captures {
        Captures::new(Arc::clone(disk), self.captures.clone())
    }

    /// The folder of a lane's journal.
    pub(super) fn journal(&self, lane: &Path) -> StateFolder {
        self.own.as_ref().map_or_else(no_state, |own| own.journal(lane))
    }

    /// What `status` says of the project's part of the state folder.
    pub(super) fn declared(&self) -> Vec<(PathBuf, &'static str)> {
        let id_file = self.own.as_ref().and_then(|own| own.id_file());
        let id_file =
            id_file.map(|file| (file.to_owned(), "id of the project: finds its log if it is moved"));
        let folders = [
            (self.state.declared(), "ledger, results of bench: why"),
            (self.captures.declared(), "captures: what sessions left to be saved"),
            (self.drafts.declared(), "drafts of an editor"),
        ];
        id_file.into_iter().chain(folders).collect()
    }
}

impl Workspace {
    /// Whether the project can be told by its id, and whether a second journal is left.
    pub(super) fn check_project(&self, findings: &mut Vec<Finding>) {
        let wrong = self.project.own.iter().flat_map(|own| own.wrong_files());
        for (file, effect) in wrong {
            findings.push(Finding {
                check: "file",
                what: format!("{} is not the id of this project, {effect}", file.display()),
                hint: "remove it".to_owned(),
            });
        }
        for folder in self.lanes.iter().filter_map(|lane| lane.files.as_ref()?.state.left_behind()) {
            findings.push(Finding {
                check: "journal",
                what: format!("{} is a journal of an older version, so it is not read", folder.display()),
                hint: "the log goes on in another folder; remove this one if you do not need it".to_owned(),
            });
        }
    }
}

impl Lane {
    /// How much a second journal holds of a memory, and where it is.
    pub(super) fn count_left_behind(&self, traces: &Traces) -> Option<(PathBuf, Result<usize, Failure>)> {
        let files = self.files.as_ref()?;
        let folder = files.state.left_behind()?.to_owned();
        let home = StoreFolders {
            lane: files.root.clone(),
            marks: files.root.clone(),
            state: folder.clone().into(),
        };
        let store = Store::new(Arc::clone(&files.disk), home);
        let count = self.with_unwanted(traces, |unwanted| store.count_in_log(unwanted));
        Some((folder, count.map_err(Failure::from)))
    }
}

/// Without a home it is a path that cannot be written: the journal then shelters inside the lane, and captures are not
/// kept.
fn no_state() -> StateFolder {
    "/dev/null/lorelane".into()
}
