//! Which parts of the user's state folder belong to a project or a lane.
//!
//! `projects/<id>` holds what belongs to a project, `lanes/<id>-<digest>` the journal of one lane in one worktree.
//! The first writer creates the id; readers create nothing. Without an id, and for notes that belong to no
//! project, the lane's path is the key. Before there were ids it was the key for everything: what is still there
//! is read there, and the next writer moves it (`takeover`).

mod id;
mod takeover;

pub(crate) use id::{ID_FILE, known_projects};

use crate::disk::Disk;
use crate::env::Folders;
use id::{IdFiles, IdStatus, ProjectId};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const LANES: &str = "lanes";
const DRAFTS: &str = "drafts";
const CAPTURES: &str = "captures";
const JOURNAL: &str = "journal";
/// Says where a project's sessions are, if its user asked for a working set.
pub(crate) const WORKING_SET_FILE: &str = "working-set.json";

/// A folder in the user's state folder.
#[derive(Clone, Debug)]
pub struct StateFolder {
    /// Its path without a project id.
    by_path: PathBuf,
    by_id: Option<(Arc<ProjectState>, StatePart)>,
}

#[derive(Clone, Debug)]
enum StatePart {
    /// What belongs to the project: the ledger, `bench` results.
    Project,
    Captures,
    Drafts,
    /// A lane's journal, with a digest that distinguishes it from the project's other journals.
    Journal(String),
}

/// The state folder's parts for one project.
#[derive(Debug)]
pub(crate) struct ProjectState {
    disk: Arc<dyn Disk>,
    state: PathBuf,
    root: PathBuf,
    /// Where an older version kept it, by the path of the records.
    former: PathBuf,
    former_drafts: PathBuf,
    files: IdFiles,
    status: Mutex<IdStatus>,
}

impl StateFolder {
    /// Its current path.
    pub fn path(&self) -> PathBuf {
        let own = self.by_id.as_ref().and_then(|(project, part)| {
            let own = project.place(&project.current_id()?, part);
            let may_be_former = matches!(part, StatePart::Journal(_));
            (!may_be_former || !is_former(&*project.disk, &own, &self.by_path)).then_some(own)
        });
        own.unwrap_or_else(|| self.by_path.clone())
    }

    /// Its path without a project id. What was written before there was one is there until a writer moves it.
    pub(crate) fn path_without_id(&self) -> &Path {
        &self.by_path
    }

    /// Its path for a writer: creates the project's id if needed, and moves what an older version left. For a
    /// journal the caller holds the lane's lock.
    pub fn for_writing(&self) -> PathBuf {
        if let Some((project, part)) = &self.by_id
            && let Some(id) = project.claim()
            && matches!(part, StatePart::Journal(_))
        {
            let (disk, own) = (&*project.disk, project.place(&id, part));
            if !is_there(disk, &own) && takeover::kept_by_project(disk, &self.by_path).is_empty() {
                // One rename within one folder, so that no crash splits a journal. If it fails, the journal stays
                // where it is. It is synced, because the former key is lost once the project is moved.
                let moved = disk.rename(&self.by_path, &own);
                let _ = moved.and_then(|()| disk.sync_dir(&project.state.join(LANES)));
            }
        }
        self.path()
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Whether a path is in it, under either name.
    pub fn holds(&self, path: &Path) -> bool {
        let holds = |(project, part): &(Arc<ProjectState>, StatePart)| {
            let status = project.status();
            status.id().is_some_and(|id| path.starts_with(project.place(id, part)))
        };
        path.starts_with(&self.by_path) || self.by_id.as_ref().is_some_and(holds)
    }

    /// What `status` lists: this folder or, before there is an id, the folder it will be created in.
    pub(crate) fn declared(&self) -> PathBuf {
        match &self.by_id {
            Some((project, part)) => match (project.status().id(), project.files.file()) {
                (Some(id), _) => project.place(id, part),
                (None, Some(_)) if matches!(part, StatePart::Journal(_)) => project.state.join(LANES),
                (None, Some(_)) => project.files.projects().to_owned(),
                (None, None) => self.by_path.clone(),
            },
            None => self.by_path.clone(),
        }
    }

    /// A second journal, written by an older version that was used again after the first was moved. It is never
    /// read.
    pub(crate) fn left_behind(&self) -> Option<&Path> {
        let (project, _) = self.by_id.as_ref()?;
        let journal = project.disk.stat(&self.by_path.join(JOURNAL)).ok()??;
        (journal.len > 0 && self.path() != self.by_path).then_some(&self.by_path)
    }
}

/// A folder with a fixed path.
impl From<PathBuf> for StateFolder {
    fn from(by_path: PathBuf) -> StateFolder {
        StateFolder { by_path, by_id: None }
    }
}

impl From<&str> for StateFolder {
    fn from(path: &str) -> StateFolder {
        PathBuf::from(path).into()
    }
}

impl ProjectState {
    /// For the project in `root` with these records. Both paths are without links.
    pub(crate) fn of(disk: &Arc<dyn Disk>, folders: &Folders, root: &Path, records: &Path) -> ProjectState {
        let files = IdFiles::of(&**disk, &folders.state, root);
        let status = Mutex::new(files.status(&**disk));
        ProjectState {
            disk: Arc::clone(disk),
            state: folders.state.clone(),
            root: root.to_owned(),
            former: lane_by_path(&folders.state, records),
            former_drafts: folders.state.join(DRAFTS).join(Folders::lane_key(records)),
            files,
            status,
        }
    }

    pub(crate) fn folder(self: &Arc<ProjectState>) -> StateFolder {
        self.part(StatePart::Project, self.former.clone())
    }

    pub(crate) fn captures(self: &Arc<ProjectState>) -> StateFolder {
        self.part(StatePart::Captures, self.former.join(CAPTURES))
    }

    pub(crate) fn drafts(self: &Arc<ProjectState>) -> StateFolder {
        self.part(StatePart::Drafts, self.former_drafts.clone())
    }

    /// The journal of a lane. A lane outside the project belongs to no project.
    pub(crate) fn journal(self: &Arc<ProjectState>, lane: &Path) -> StateFolder {
        let by_path = lane_by_path(&self.state, lane);
        match lane.strip_prefix(&self.root) {
            Ok(lane) => self.part(StatePart::Journal(digest(self.files.work_tree(), lane)), by_path),
            Err(_) => by_path.into(),
        }
    }

    /// The file of the id, whether it exists or not; `None` where none may be created.
    pub(crate) fn id_file(&self) -> Option<&Path> {
        self.files.file()
    }

    /// Files in the place of an id that are not one, and the consequence.
    pub(crate) fn wrong_files(&self) -> Vec<(&Path, &'static str)> {
        let is_wrong = *self.status() == IdStatus::Unusable;
        let unusable = self.files.file().filter(|file| is_wrong && is_there(&*self.disk, file));
        let unusable = unusable.map(|file| (file, "so the log of this project is kept by its path"));
        let stray = self.files.stray_file(&*self.disk).map(|file| (file, "so it is ignored"));
        unusable.into_iter().chain(stray).collect()
    }

    fn part(self: &Arc<ProjectState>, part: StatePart, by_path: PathBuf) -> StateFolder {
        StateFolder { by_path, by_id: Some((Arc::clone(self), part)) }
    }

    fn place(&self, id: &ProjectId, part: &StatePart) -> PathBuf {
        let own = self.files.folder(id);
        match part {
            StatePart::Project => own,
            StatePart::Captures => own.join(CAPTURES),
            StatePart::Drafts => own.join(DRAFTS),
            StatePart::Journal(digest) => lane_by_id(&self.state, id, digest),
        }
    }

    /// The id, created if there is none. Moves what an older version left of the project.
    fn claim(&self) -> Option<ProjectId> {
        let mut status = self.status();
        if !matches!(*status, IdStatus::Known(_) | IdStatus::Unusable) {
            *status = self.files.settle(&*self.disk);
        }
        let id = status.id()?.clone();
        takeover::project(&*self.disk, &self.former, &self.former_drafts, &self.files.folder(&id));
        self.files.clear_project(&*self.disk, &id);
        Some(id)
    }

    /// Checks again: another process may have created it since.
    fn current_id(&self) -> Option<ProjectId> {
        let mut status = self.status();
        if status.id().is_none() {
            *status = self.files.status(&*self.disk);
        }
        status.id().cloned()
    }

    fn status(&self) -> MutexGuard<'_, IdStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lane's journal, for callers that have not opened the project.
pub(crate) fn journal_of(disk: &dyn Disk, folders: &Folders, root: &Path, lane: &Path) -> PathBuf {
    let files = IdFiles::of(disk, &folders.state, root);
    let by_path = lane_by_path(&folders.state, lane);
    match (files.status(disk).id(), lane.strip_prefix(root)) {
        (Some(id), Ok(lane)) => {
            let own = lane_by_id(&folders.state, id, &digest(files.work_tree(), lane));
            if is_former(disk, &own, &by_path) { by_path } else { own }
        }
        _ => by_path,
    }
}

/// Whether a journal is still where an older version had it. A writer that holds the lane's lock moves it.
fn is_former(disk: &dyn Disk, own: &Path, by_path: &Path) -> bool {
    !is_there(disk, own) && is_there(disk, by_path)
}

fn lane_by_id(state: &Path, id: &ProjectId, digest: &str) -> PathBuf {
    state.join(LANES).join(format!("{}-{digest}", id.as_str()))
}

/// Where an older version kept a lane's journal and, for the records, what belongs to the project.
fn lane_by_path(state: &Path, lane: &Path) -> PathBuf {
    state.join(LANES).join(Folders::lane_key(lane))
}

/// Distinguishes the journals of a project.
fn digest(work_tree: &str, lane: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(work_tree.as_bytes()).update(b"\0").update(lane.as_os_str().as_encoded_bytes());
    hasher.finalize().to_hex()[..16].to_owned()
}

fn is_there(disk: &dyn Disk, path: &Path) -> bool {
    matches!(disk.stat(path), Ok(Some(_)))
}
