//! Changing settings, and trusting those that came with the repository.

use super::trust::{TrustReason, UNTOLD, keys};
use crate::workspace::lane::Lane;
use crate::workspace::{Failure, Workspace};
use lorelane_core::change::Notice;
use lorelane_core::json::Json;
use lorelane_core::memory::LaneId;
use lorelane_core::policy::ConfigFile;
use std::path::PathBuf;
use std::sync::Arc;

/// The settings of a borrowed workspace.
#[derive(Debug)]
pub struct Settings<'w> {
    workspace: &'w mut Workspace,
}

impl Workspace {
    pub fn settings(&mut self) -> Settings<'_> {
        Settings { workspace: self }
    }
}

impl Settings<'_> {
    /// Sets one key in the file it belongs to, and returns that file.
    pub fn set_config(
        &mut self,
        home: ConfigFile,
        key: &str,
        value: &Json,
        dry_run: bool,
    ) -> Result<(PathBuf, Vec<Notice>), Failure> {
        self.workspace.refuse_untrusted_root()?;
        if dry_run {
            self.workspace.config.with(&*self.workspace.disk, home, key, value)?;
            return Ok((self.workspace.config.file_of(home).to_owned(), Vec::new()));
        }
        // Under a lane's lock, so that two commands that set keys at once do not lose one. Locking a lane
        // creates its folder, so one that exists is preferred.
        let lane =
            self.workspace.lanes.iter().find(|lane| lane.has_folder()).map_or(LaneId::Records, Lane::id);
        let documents = Arc::clone(&self.workspace.lanes[lane].documents);
        let mut writer = documents.begin()?;
        let mut notices = self.workspace.catch_up(lane, &mut *writer)?;
        self.workspace.policy = self.workspace.settled();
        let text = self.workspace.config.with(&*self.workspace.disk, home, key, value)?;
        let file = self.workspace.config.save(&*self.workspace.disk, home, &text)?;
        notices.extend(self.workspace.settle_own());
        Ok((file, notices))
    }

    /// Trusts this repository: settings that were held back take effect.
    pub fn trust(&mut self) -> Result<(), Failure> {
        self.workspace.record_trust(TrustReason::Said)
    }

    /// Revokes all trust in this repository and returns how many trust files there were.
    pub fn distrust(&mut self) -> Result<usize, Failure> {
        // An existing journal counts as trust unless it is marked as known, so trust would come back.
        self.workspace.lanes.iter().for_each(Lane::set_known);
        let trust = self.workspace.trust_file();
        let removed = trust
            .remove(&*self.workspace.disk)
            .map_err(|source| Failure::io("remove", &trust.folder, source))?;
        self.workspace.policy = self.workspace.settled();
        Ok(removed)
    }

    /// The repository that trust in this project is recorded for.
    pub fn repository(&self) -> PathBuf {
        self.workspace.trust_file().repository
    }

    /// A warning that is shown once: the settings are trusted because of an existing journal.
    pub fn trust_notice(&self) -> Option<Notice> {
        if self.workspace.policy.trusted.is_empty() {
            return None;
        }
        self.workspace.disk.remove_file(&self.workspace.trust_file().folder.join(UNTOLD)).ok()?;
        Some(Notice::warning(format!(
            "the settings of this project are trusted because you have worked in it before: {}; \
             `lorelane trust --remove` revokes this",
            keys(&self.workspace.policy.trusted)
        )))
    }
}
