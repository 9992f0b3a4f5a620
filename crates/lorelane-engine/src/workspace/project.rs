//! What belongs to a project as a whole, whichever lanes it has: ledger, captures, drafts, results of `bench`.

use super::lane::lane_state;
use crate::captures::Captures;
use crate::disk::Disk;
use crate::env::Folders;
use crate::ledger::Ledger;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const CAPTURES_FOLDER: &str = "captures";
const DRAFTS_FOLDER: &str = "drafts";

#[derive(Clone, Debug)]
pub(super) struct Project {
    /// Its real folder.
    pub(super) root: PathBuf,
    /// Its own folder in the user's state folder. Without a home nothing can be kept there.
    pub(super) state: PathBuf,
    /// A private folder for drafts of an editor.
    pub(super) drafts: PathBuf,
}

impl Project {
    pub(super) fn new(root: PathBuf, records: &Path, folders: Option<&Folders>) -> Project {
        let key = Folders::lane_key(records);
        let drafts = match folders {
            Some(folders) => folders.state.join(DRAFTS_FOLDER).join(&key),
            None => records.join(".lorelane-drafts"),
        };
        Project { root, state: lane_state(folders, &key), drafts }
    }

    /// What was put into prompts.
    pub(super) fn ledger(&self, disk: &Arc<dyn Disk>) -> Ledger {
        Ledger::new(Arc::clone(disk), self.state.clone())
    }

    /// What triage found in this project's sessions.
    pub(super) fn captures(&self, disk: &Arc<dyn Disk>) -> Captures {
        Captures::new(Arc::clone(disk), self.state.join(CAPTURES_FOLDER))
    }
}
