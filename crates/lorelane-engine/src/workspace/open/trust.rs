//! Whether the user trusts the settings that come with a repository.
//!
//! Trust is stored by repository and by the values that it gives to restricted keys: a file in the state folder
//! for each such pair. Only whether the file exists counts; its text is for people. It is looked up only when
//! something is held back, and then with a few calls of `stat`: hooks open projects, too.

use crate::config::ConfigFiles;
use crate::disk::{Disk, FileType};
use crate::env::Folders;
use crate::git;
use crate::state::journal_of;
use crate::workspace::lane::Lane;
use crate::workspace::open::notes::NOTES_STORAGE;
use crate::workspace::{Failure, JOURNAL, Workspace};
use lorelane_core::change::Notice;
use lorelane_core::json::{self, JsonFormat, Object};
use lorelane_core::policy::{NOTES_ROOT, NotesStorage, Policy, Weakening};
use lorelane_core::time::Timestamp;
use serde::Serialize;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The folder in the state folder.
pub(in crate::workspace) const TRUST_FOLDER: &str = "trust";
/// Exists until somebody was shown why the project is trusted.
pub(super) const UNTOLD: &str = "untold";
/// In a lane's state folder once a version that asks for trust has changed the lane.
const KNOWN: &str = "trust-known";

/// Why a project is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TrustReason {
    /// The user said so.
    #[serde(rename = "trust")]
    Said,
    /// The user's own command set the values.
    #[serde(rename = "config")]
    Set,
    /// The user worked in it before anybody asked for trust.
    Journal,
}

/// The text of a trust file. No code reads it.
#[derive(Serialize)]
struct TrustFile<'t> {
    v: u32,
    #[serde(serialize_with = "json::path_text")]
    repository: &'t Path,
    at: Timestamp,
    because: TrustReason,
    settings: Object,
}

/// Where trust in one repository is stored.
pub(super) struct TrustRecord {
    /// The git folder that all its work trees share; without git the project.
    pub(super) repository: PathBuf,
    pub(super) folder: PathBuf,
}

impl TrustRecord {
    fn of(project: &Path, folders: Option<&Folders>) -> TrustRecord {
        let repository = git::common_dir(project).unwrap_or_else(|| project.to_owned());
        let state =
            folders.map_or_else(|| PathBuf::from("/dev/null/lorelane"), |folders| folders.state.clone());
        let folder = state.join(TRUST_FOLDER).join(Folders::repository_key(&repository));
        TrustRecord { repository, folder }
    }

    fn file(&self, policy: &Policy) -> PathBuf {
        self.folder.join(format!("{}.json", policy.restricted()))
    }

    fn covers(&self, disk: &dyn Disk, policy: &Policy) -> bool {
        matches!(disk.stat(&self.file(policy)), Ok(Some(stat)) if stat.kind == FileType::File)
    }

    fn record(
        &self,
        disk: &dyn Disk,
        policy: &Policy,
        because: TrustReason,
        now: Timestamp,
    ) -> io::Result<()> {
        let settings = policy.held_back.iter().map(|held| (held.key.as_str(), held.value.clone()));
        let repository = &self.repository;
        let file = TrustFile { v: 1, repository, at: now, because, settings: settings.collect() };
        let text = format!("{}\n", json::to_string(&file, JsonFormat::FILE));
        disk.create_private_dir_all(&self.folder)?;
        unless_there(disk.create_new(&self.file(policy), text.as_bytes(), None))?;
        if because == TrustReason::Journal {
            unless_there(disk.create_new(&self.folder.join(UNTOLD), b"", None))?;
        }
        Ok(())
    }

    /// Returns how many values were trusted.
    pub(super) fn remove(&self, disk: &dyn Disk) -> io::Result<usize> {
        let listed = disk.list(&self.folder)?.unwrap_or_default();
        for entry in &listed {
            disk.remove_file(&self.folder.join(&entry.name))?;
        }
        Ok(listed.iter().filter(|entry| entry.name != UNTOLD).count())
    }
}

fn unless_there(created: io::Result<()>) -> io::Result<()> {
    created.or_else(|fault| if fault.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(fault) })
}

/// The settings in force in a project whose records are in `lane`.
pub(in crate::workspace) fn settled(
    disk: &dyn Disk,
    now: Timestamp,
    folders: Option<&Folders>,
    config: &ConfigFiles,
    project: &Path,
    lane: &Path,
) -> Policy {
    let policy = config.read(disk);
    if policy.held_back.is_empty() {
        return policy;
    }
    let trust = TrustRecord::of(project, folders);
    let is_trusted = trust.covers(disk, &policy)
        || take_for_known(disk, folders, project, &[lane, &project.join(NOTES_ROOT)])
            && trust.record(disk, &policy, TrustReason::Journal, now).is_ok();
    if is_trusted { policy.trusting() } else { policy }
}

/// Whether a version that did not ask for trust has changed one of these lanes, and none that does; true only
/// once. The journal is in the user's state folder: no repository can bring one.
fn take_for_known(disk: &dyn Disk, folders: Option<&Folders>, project: &Path, lanes: &[&Path]) -> bool {
    let Some(folders) = folders else { return false };
    let states: Vec<PathBuf> = lanes.iter().map(|lane| journal_of(disk, folders, project, lane)).collect();
    let has_changes = |state: &PathBuf| matches!(disk.stat(&state.join(JOURNAL)), Ok(Some(stat)) if stat.kind == FileType::File && stat.len > 0);
    // Only a journal without `trust-known` is a reason to trust: otherwise a clone could weaken the settings after its
    // first memory.
    let is_known = |state: &PathBuf| matches!(disk.stat(&state.join(KNOWN)), Ok(Some(_)));
    if states.iter().any(is_known) {
        return false;
    }
    let mut worked_in = states.iter().filter(|state| has_changes(state)).peekable();
    worked_in.peek().is_some()
        && worked_in.all(|state| disk.create_new(&state.join(KNOWN), b"", None).is_ok())
}

pub(super) fn keys(weakenings: &[Weakening]) -> String {
    weakenings.iter().map(|weakening| weakening.key.as_str()).collect::<Vec<_>>().join(", ")
}

impl Lane {
    /// From now on its journal is no reason to trust the project. If the folder is missing, there is no journal.
    pub(in crate::workspace) fn set_known(&self) {
        if let Some(files) = &self.files {
            let _ = files.disk.create_new(&files.state.join(KNOWN), b"", None);
        }
    }
}

impl Workspace {
    pub(super) fn trust_file(&self) -> TrustRecord {
        TrustRecord::of(&self.project.root, self.folders.as_ref())
    }

    pub(super) fn record_trust(&mut self, because: TrustReason) -> Result<(), Failure> {
        let trust = self.trust_file();
        let recorded = trust.record(&*self.disk, &self.policy, because, self.now);
        recorded.map_err(|source| Failure::io("write", &trust.folder, source))?;
        self.policy = self.settled();
        Ok(())
    }

    pub(in crate::workspace) fn settled(&self) -> Policy {
        let (folders, lane) = (self.folders.as_ref(), &self.lanes.records().folder(""));
        settled(&*self.disk, self.now, folders, &self.config, &self.project.root, lane)
    }

    /// Puts in force what the user's own command has just set.
    pub(in crate::workspace) fn settle_own(&mut self) -> Option<Notice> {
        let after = self.settled();
        let before = std::mem::replace(&mut self.policy, after);
        self.keep_trust(&before)
    }

    /// The same for the place of the notes, which has to take effect: that key is the user's own even if an
    /// interrupted move left it held back, and [`Workspace::refuse_untrusted_place`] checked that nothing else
    /// is.
    pub(in crate::workspace) fn settle_notes_place(&mut self) -> Result<Option<Notice>, Failure> {
        let after = self.settled();
        let before = std::mem::replace(&mut self.policy, after);
        if self.policy.held_back.iter().any(|held| held.key == NOTES_STORAGE) {
            self.record_trust(TrustReason::Set)?;
        }
        Ok(self.keep_trust(&before))
    }

    /// Trust covers all settings of a repository or none: while another one is held back, a place of the notes
    /// outside the project would be, too, and the notes there would not be read.
    pub(in crate::workspace) fn refuse_untrusted_place(&self, to: NotesStorage) -> Result<(), Failure> {
        let other = self.policy.held_back.iter().find(|held| held.key != NOTES_STORAGE);
        match other.filter(|_| to == NotesStorage::User) {
            Some(held) => Err(Failure::Untrusted { held: held.clone() }),
            None => Ok(()),
        }
    }

    /// After the user's own command changed the settings: it revokes no trust, and grants none to what was held
    /// back before.
    pub(in crate::workspace) fn keep_trust(&mut self, before: &Policy) -> Option<Notice> {
        let mut failure = None;
        if before.held_back.is_empty() && !self.policy.held_back.is_empty() {
            failure = self.record_trust(TrustReason::Set).err();
        }
        if self.policy.held_back.is_empty() {
            return None;
        }
        let why = failure.map(|failure| format!(" ({failure})")).unwrap_or_default();
        Some(Notice::warning(format!(
            "held back until `lorelane trust`: {}{why}",
            keys(&self.policy.held_back)
        )))
    }

    /// Memories are read where a repository put them; nothing is written there unless the user trusts it.
    pub(in crate::workspace) fn refuse_untrusted_root(&self) -> Result<(), Failure> {
        match self.policy.untrusted_root() {
            Some(held) => Err(Failure::Untrusted { held: held.clone() }),
            None => Ok(()),
        }
    }
}
