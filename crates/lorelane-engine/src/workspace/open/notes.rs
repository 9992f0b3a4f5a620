//! Finds and opens the notes of a project: in the project, or in the user's data folder.

use crate::config::ConfigFiles;
use crate::disk::Disk;
use crate::env::{Env, Folders};
use crate::workspace::lane::Lane;
use crate::workspace::open::locate::real_path;
use crate::workspace::open::trust::settled;
use crate::workspace::project::Project;
use crate::workspace::{Failure, JOURNAL, Workspace};
use lorelane_core::dialect::notes::Notes;
use lorelane_core::mark::MARKS_FOLDER;
use lorelane_core::memory::LaneId;
use lorelane_core::path::RelPath;
use lorelane_core::policy::{ConfigProblem, DEFAULT_ROOT, NOTES_ROOT, NotesStorage, Policy};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `notes move` reads files up to this size: nobody writes a larger note.
pub(in crate::workspace) const MOVED_MAX_BYTES: u64 = 64 << 20;
/// The folder of notes in our own data folder.
const OWN_NOTES: &str = "memories";
/// The index folder of `mcp-markdown-ragdocs`, which may be among the notes.
pub(in crate::workspace) const FORMER_INDEX: &str = "indices";

/// The configuration key for where notes are stored.
pub(in crate::workspace) const NOTES_STORAGE: &str = "notes.storage";

/// The reason of a move in the log begins with this; `undo` recognises moves by it.
pub(in crate::workspace) const MOVE: &str = "notes move --to ";

/// The folder of the notes, whether it exists or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workspace) struct NotesLocation {
    pub(in crate::workspace) root: PathBuf,
    known_as: String,
    pub(in crate::workspace) marks: PathBuf,
}

impl NotesLocation {
    /// The folder that the settings name. A link that leads out of the project would let a repository choose where
    /// on this machine we write, so it is a problem, and notes are not opened.
    pub(in crate::workspace) fn find(
        disk: &dyn Disk,
        project: &Path,
        folders: Option<&Folders>,
        storage: NotesStorage,
    ) -> Result<Option<NotesLocation>, ConfigProblem> {
        let problem = |what: String| ConfigProblem {
            key: NOTES_STORAGE.to_owned(),
            file: NOTES_ROOT.to_owned(),
            what,
            stops_writes: false,
        };
        match (storage, folders) {
            (NotesStorage::Project, _) => {
                let root = real_path(disk, &project.join(NOTES_ROOT))
                    .map_err(|failure| problem(format!("notes are not read: {failure}")))?;
                if !root.starts_with(project) {
                    let to = root.display();
                    return Err(problem(format!(
                        "it leads out of the project to {to}, so notes are not read"
                    )));
                }
                let marks = project.join(MARKS_FOLDER);
                Ok(Some(NotesLocation { root, known_as: NOTES_ROOT.to_owned(), marks }))
            }
            (NotesStorage::User, None) => Ok(None),
            (NotesStorage::User, Some(folders)) => {
                let root = match disk.is_folder(&folders.former_notes) {
                    true => &folders.former_notes,
                    false => &folders.data.join(OWN_NOTES),
                };
                let root = real_path(disk, root).unwrap_or_else(|_| root.clone());
                let known_as = root.display().to_string();
                Ok(Some(NotesLocation { root, known_as, marks: folders.data.clone() }))
            }
        }
    }

    pub(in crate::workspace) fn open(&self, disk: &Arc<dyn Disk>, project: &Project) -> Lane {
        let (root, marks) = (self.root.clone(), self.marks.clone());
        Lane::open(Arc::clone(disk), project, Box::new(Notes), root, &self.known_as, marks)
    }
}

/// The folder that the settings give the notes of a project, if any.
pub(in crate::workspace) fn place(
    disk: &dyn Disk,
    project: &Path,
    folders: Option<&Folders>,
    policy: &mut Policy,
) -> Option<NotesLocation> {
    if !policy.notes_enabled() {
        return None;
    }
    NotesLocation::find(disk, project, folders, policy.notes_storage()).unwrap_or_else(|problem| {
        policy.problems.push(problem);
        None
    })
}

/// Whether a project's settings put notes in the user's data folder, and that folder exists.
pub(in crate::workspace) fn are_the_users(disk: &dyn Disk, env: &Env, project: &Path) -> bool {
    let folders = env.folders();
    let config =
        ConfigFiles::of_project(disk, project, folders.as_ref().map(|folders| folders.config.as_path()));
    let mut policy = settled(disk, env.now, folders.as_ref(), &config, project, &project.join(DEFAULT_ROOT));
    let notes = place(disk, project, folders.as_ref(), &mut policy);
    policy.notes_storage() == NotesStorage::User && notes.is_some_and(|notes| disk.is_folder(&notes.root))
}

impl Workspace {
    /// The lane of the notes before `notes move`, if it has a log.
    pub(in crate::workspace) fn former_notes(&self) -> Option<Lane> {
        let other = self.other_notes_place()?;
        let journal = self.project.journal(&other.root).join(JOURNAL);
        let has_log = matches!(self.disk.stat(&journal), Ok(Some(_)));
        has_log.then(|| other.open(&self.disk, &self.project))
    }

    /// Notes that still exist in the former folder with the same bytes: leftovers of an interrupted move.
    pub(in crate::workspace) fn copies_left(&self) -> Option<(Lane, Vec<RelPath>)> {
        let (other, lane) = (self.former_notes()?, self.notes_lane()?);
        let bytes = |lane: &Lane, path: &RelPath| lane.read(path).ok().flatten();
        let mut files = other.files().files;
        files.retain(|path| bytes(&other, path).is_some_and(|copy| bytes(lane, path) == Some(copy)));
        (!files.is_empty()).then_some((other, files))
    }

    /// The other folder that notes can be in, and may have been moved from.
    pub(in crate::workspace) fn other_notes_place(&self) -> Option<NotesLocation> {
        let now = self.notes.as_ref()?;
        let places = [NotesStorage::Project, NotesStorage::User].map(|storage| self.notes_place(storage));
        places.into_iter().flatten().find(|place| place.root != now.root)
    }

    pub(in crate::workspace) fn notes_place(&self, storage: NotesStorage) -> Result<NotesLocation, Failure> {
        let found = NotesLocation::find(&*self.disk, &self.project.root, self.folders.as_ref(), storage);
        found.map_err(|problem| Failure::Misconfigured(vec![problem]))?.ok_or(Failure::NotesOff)
    }

    pub(in crate::workspace) fn notes_lane(&self) -> Option<&Lane> {
        self.lanes.get(LaneId::Notes)
    }

    /// Opens the notes once their folder exists: another process may have created it.
    pub(in crate::workspace) fn open_notes_if_present(&mut self) {
        let Some(place) = self.notes.as_ref().filter(|_| self.notes_lane().is_none()) else { return };
        if self.disk.is_folder(&place.root) {
            let lane = place.open(&self.disk, &self.project);
            self.lanes.open(lane);
        }
    }

    /// Opens the notes for a change, which creates their folder if there is none.
    pub(in crate::workspace) fn open_notes(&mut self) -> Result<LaneId, Failure> {
        if self.notes_lane().is_none() {
            let place = self.notes.as_ref().ok_or(Failure::NotesOff)?;
            let lane = place.open(&self.disk, &self.project);
            self.lanes.open(lane);
        }
        Ok(LaneId::Notes)
    }
}
