//! What a project has beside its lanes: ledger, captures, drafts, results of `bench`.

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
    /// Its folder, with links resolved.
    pub(super) root: PathBuf,
    /// Its own folder in the user's state folder.
    pub(super) state: StateFolder,
    captures: StateFolder,
    /// A private folder for drafts written in an editor.
    pub(super) drafts: StateFolder,
    pub(super) folders: Option<Folders>,
    /// `None` without a home directory: there is no state folder then.
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

    /// The log of what was injected into sessions.
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

    /// The project's files and folders in the state folder, with their purposes, for `status`.
    pub(super) fn declared(&self) -> Vec<(PathBuf, &'static str)> {
        let id_file = self.own.as_ref().and_then(|own| own.id_file());
        let id_file = id_file.map(|file| (file.to_owned(), "project id: keeps the log if the project moves"));
        let folders = [
            (self.state.declared(), "ledger for `why`, results of `bench`"),
            (self.captures.declared(), "captures: what sessions found worth saving"),
            (self.drafts.declared(), "drafts from your editor"),
        ];
        id_file.into_iter().chain(folders).collect()
    }
}

impl Workspace {
    /// Reports files in place of the project's id, and journals that nothing reads any more.
    pub(super) fn check_project(&self, findings: &mut Vec<Finding>) {
        let wrong = self.project.own.iter().flat_map(|own| own.wrong_files());
        for (file, effect) in wrong {
            findings.push(Finding {
                check: "file",
                what: format!("{} is not this project's id, {effect}", file.display()),
                hint: "remove it".to_owned(),
            });
        }
        for folder in self.lanes.iter().filter_map(|lane| lane.files.as_ref()?.state.left_behind()) {
            findings.push(Finding {
                check: "journal",
                what: format!("{} is a journal of an older version and is not read", folder.display()),
                hint: "the log continues in another folder; remove this one if you do not need it".to_owned(),
            });
        }
    }
}

impl Lane {
    /// A leftover journal of an older version, and how many contents and names of the memory it holds.
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

/// A path that cannot be written, for a process without a home directory: the store then uses the fallback journal
/// inside the lane, and captures are not saved.
pub(super) fn no_state() -> StateFolder {
    "/dev/null/lorelane".into()
}
