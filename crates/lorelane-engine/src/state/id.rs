//! The id of a project, and the file that holds it.
//!
//! The file moves with the project: `lorelane-id` in the git folder that all worktrees share or, without git,
//! `.lorelane/id`. The state folder records in `origin` where the file of an id was. A file that is elsewhere was
//! moved with its project, or copied if the original still exists: a copy gets its own id.
//!
//! A repository can contain a `.lorelane/id`, so one counts only if the state folder knows it. No clone can create
//! a file in the git folder.

use crate::disk::{Disk, FileType, identity};
use crate::git::{EnclosingRepository, Repository, enclosing};
use lorelane_core::mark::MARKS_FOLDER;
use lorelane_core::policy::{DEFAULT_ROOT, NOTES_ROOT};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// In the marks folder.
pub(crate) const ID_FILE: &str = "id";
const ID_FILE_IN_GIT: &str = "lorelane-id";
/// Keeps the id, and itself, out of a repository that is created later.
const IGNORE_FILE: &str = ".gitignore";
const IGNORED: &[u8] = b"id\n.gitignore\n";
/// In the project's state folder: the path of its id file.
const ORIGIN: &str = "origin";
const PROJECTS: &str = "projects";

const ID_DIGITS: usize = 32;
const ID_MAX_BYTES: u64 = 64;
const ORIGIN_MAX_BYTES: u64 = 32 << 10;
/// A hook cannot wait, and the holder is done within a millisecond.
const LOCK_WAIT: Duration = Duration::from_millis(100);

/// 16 random bytes, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectId(String);

/// What is known about a project's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IdStatus {
    /// The state folder knows it as this project's.
    Known(ProjectId),
    /// It is this project's, and the state folder does not know its new path yet.
    Moved(ProjectId),
    /// It is in the project, and has to move to the git folder.
    BeforeGit(ProjectId),
    Missing,
    /// It belongs to another project, and a writer replaces it.
    Foreign,
    /// Something else is in its place, or no id may be created.
    Unusable,
}

/// Where a project's id can be.
#[derive(Clone, Debug)]
pub(crate) struct IdFiles {
    projects: PathBuf,
    root: PathBuf,
    in_git: Option<PathBuf>,
    in_project: PathBuf,
    has_git: bool,
    work_tree: String,
}

impl ProjectId {
    fn random(disk: &dyn Disk) -> ProjectId {
        ProjectId(digits(disk.nonce()))
    }

    fn parse(bytes: &[u8]) -> Option<ProjectId> {
        let text = std::str::from_utf8(bytes.strip_suffix(b"\n").unwrap_or(bytes)).ok()?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == ID_DIGITS && text.bytes().all(is_digit)).then(|| ProjectId(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl IdStatus {
    pub(crate) fn id(&self) -> Option<&ProjectId> {
        match self {
            IdStatus::Known(id) | IdStatus::Moved(id) | IdStatus::BeforeGit(id) => Some(id),
            IdStatus::Missing | IdStatus::Foreign | IdStatus::Unusable => None,
        }
    }
}

impl IdFiles {
    /// For the project in `root`, a path without links.
    pub(crate) fn of(disk: &dyn Disk, state: &Path, root: &Path) -> IdFiles {
        let around = enclosing(disk, root);
        let has_git = around != EnclosingRepository::Nothing;
        let (in_git, work_tree) = match around {
            EnclosingRepository::Repository(around) => (Some(file_in_git(&around)), around.work_tree),
            EnclosingRepository::Nothing | EnclosingRepository::Unproven => (None, String::new()),
        };
        let in_project = root.join(MARKS_FOLDER).join(ID_FILE);
        IdFiles {
            projects: state.join(PROJECTS),
            root: root.to_owned(),
            in_git,
            in_project,
            has_git,
            work_tree,
        }
    }

    /// The name of the linked worktree that the project is in; empty in the main one and without git.
    pub(crate) fn work_tree(&self) -> &str {
        &self.work_tree
    }

    /// The folder with the state folders of all projects.
    pub(crate) fn projects(&self) -> &Path {
        &self.projects
    }

    /// The project's own folder in the state folder.
    pub(crate) fn folder(&self, id: &ProjectId) -> PathBuf {
        self.projects.join(id.as_str())
    }

    /// The file that holds the id, or would hold it; `None` where none may be created.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.in_git {
            Some(file) => Some(file),
            None => (!self.has_git).then_some(&self.in_project),
        }
    }

    /// A file in the project that is not its id, while the id is in the git folder.
    pub(crate) fn stray_file(&self, disk: &dyn Disk) -> Option<&Path> {
        let is_stray = self.has_git
            && self.look(disk, &self.in_project).id().is_none()
            && matches!(disk.stat(&self.in_project), Ok(Some(_)));
        is_stray.then_some(&self.in_project)
    }

    pub(crate) fn status(&self, disk: &dyn Disk) -> IdStatus {
        let Some(in_git) = &self.in_git else {
            return match self.look(disk, &self.in_project) {
                IdStatus::Missing | IdStatus::Foreign if self.has_git => IdStatus::Unusable,
                status => status,
            };
        };
        match self.look(disk, in_git) {
            IdStatus::Missing => match self.look(disk, &self.in_project) {
                IdStatus::Known(id) | IdStatus::Moved(id) => IdStatus::BeforeGit(id),
                _ => IdStatus::Missing,
            },
            status => status,
        }
    }

    /// Gives the project an id that the state folder knows, if possible. Only one process at a time does this.
    pub(crate) fn settle(&self, disk: &dyn Disk) -> IdStatus {
        let made = disk.create_private_dir_all(&self.projects);
        let lock = made.ok().and_then(|()| disk.lock_dir(&self.projects, LOCK_WAIT).ok());
        let status = self.status(disk);
        let (Some(_lock), Some(file)) = (lock, self.file()) else { return status };
        let settled = match &status {
            IdStatus::Known(id) => Ok(id.clone()),
            IdStatus::Moved(id) => self.put_origin(disk, id, file),
            IdStatus::BeforeGit(id) => self.put_id(disk, id, file),
            IdStatus::Missing | IdStatus::Foreign => self.make(disk, file),
            IdStatus::Unusable => return status,
        };
        // If the id cannot be written, another process may still have created one.
        settled.map_or_else(|_| self.status(disk), IdStatus::Known)
    }

    /// Removes the id file from before the project had git.
    pub(crate) fn clear_project(&self, disk: &dyn Disk, id: &ProjectId) {
        if self.in_git.is_none() || read_id(disk, &self.in_project).as_ref() != Some(id) {
            return;
        }
        let ignore = self.in_project.with_file_name(IGNORE_FILE);
        if matches!(disk.read_regular(&ignore, ID_MAX_BYTES), Ok(Some(bytes)) if bytes == IGNORED) {
            let _ = disk.remove_file(&ignore);
        }
        // Last, because this file is what brings us here again after a crash.
        let _ = disk.remove_file(&self.in_project);
    }

    fn look(&self, disk: &dyn Disk, file: &Path) -> IdStatus {
        let id = match disk.read_regular(file, ID_MAX_BYTES) {
            Ok(None) => return IdStatus::Missing,
            Ok(Some(bytes)) => ProjectId::parse(&bytes),
            Err(_) => None,
        };
        let Some(id) = id else { return IdStatus::Unusable };
        let Ok(origin) = disk.read_regular(&self.folder(&id).join(ORIGIN), ORIGIN_MAX_BYTES) else {
            return IdStatus::Unusable;
        };
        let Some(origin) = origin.as_deref().map(path_of) else {
            let is_in_git = self.in_git.as_deref() == Some(file);
            return if is_in_git { IdStatus::Moved(id) } else { IdStatus::Foreign };
        };
        if origin == file || is_same_folder(&origin, file) {
            IdStatus::Known(id)
        } else if origin != self.in_project && read_id(disk, &origin).as_ref() == Some(&id) {
            // A copy: the project it was made from still exists.
            IdStatus::Foreign
        } else {
            IdStatus::Moved(id)
        }
    }

    fn make(&self, disk: &dyn Disk, file: &Path) -> io::Result<ProjectId> {
        if file == self.in_project {
            self.make_folder(disk)?;
        }
        self.put_id(disk, &ProjectId::random(disk), file)
    }

    /// State that is written under an id must not outlive it, so the id is synced. The file is replaced
    /// atomically.
    fn put_id(&self, disk: &dyn Disk, id: &ProjectId, file: &Path) -> io::Result<ProjectId> {
        put(disk, file, format!("{}\n", id.as_str()).as_bytes())?;
        self.put_origin(disk, id, file)
    }

    fn put_origin(&self, disk: &dyn Disk, id: &ProjectId, file: &Path) -> io::Result<ProjectId> {
        let folder = self.folder(id);
        disk.create_private_dir_all(&folder)?;
        put(disk, &folder.join(ORIGIN), file.as_os_str().as_encoded_bytes())?;
        disk.sync_dir(&self.projects)?;
        disk.sync_dir(parent(&self.projects))?;
        Ok(id.clone())
    }

    /// Creates the folder for an id inside the project. A folder without memories is not a project and gets no id.
    fn make_folder(&self, disk: &dyn Disk) -> io::Result<()> {
        let is_folder =
            |path: &Path| matches!(disk.stat(path), Ok(Some(stat)) if stat.kind == FileType::Folder);
        if ![DEFAULT_ROOT, NOTES_ROOT].iter().any(|memories| is_folder(&self.root.join(memories))) {
            return Err(ErrorKind::Unsupported.into());
        }
        let folder = parent(&self.in_project);
        if !disk.create_dir_all(folder)?.is_empty() {
            disk.sync_dir(&self.root)?;
        }
        // A user's own file of that name stays.
        let _ = disk.create_new(&folder.join(IGNORE_FILE), IGNORED, None);
        Ok(())
    }
}

/// The folders of the projects that have an id, as far as they still exist; for one with git, its main worktree.
pub(crate) fn known_projects(disk: &dyn Disk, state: &Path) -> Vec<PathBuf> {
    let projects = state.join(PROJECTS);
    let listed = disk.list(&projects).ok().flatten().unwrap_or_default();
    let origin = |name: &str| {
        let bytes = disk.read_regular(&projects.join(name).join(ORIGIN), ORIGIN_MAX_BYTES).ok()??;
        let file = path_of(&bytes);
        // A project that moved away left its id to nobody.
        let is_its = read_id(disk, &file).is_some_and(|id| id.as_str() == name);
        let folder = file.parent().filter(|_| is_its)?;
        let is_project = folder.ends_with(MARKS_FOLDER) || folder.ends_with(".git");
        folder.parent().filter(|_| is_project).map(Path::to_owned)
    };
    listed.iter().filter_map(|entry| origin(&entry.name)).collect()
}

/// Several projects in one repository have an id each.
fn file_in_git(around: &Repository) -> PathBuf {
    let project = around.project.as_os_str().as_encoded_bytes();
    let name = match project {
        [] => ID_FILE_IN_GIT.to_owned(),
        _ => format!("{ID_FILE_IN_GIT}-{}", &blake3::hash(project).to_hex()[..16]),
    };
    around.common_dir.join(name)
}

fn read_id(disk: &dyn Disk, file: &Path) -> Option<ProjectId> {
    ProjectId::parse(&disk.read_regular(file, ID_MAX_BYTES).ok()??)
}

/// One project may be reached by two paths, for example in a container.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    let folder = identity(parent(one));
    folder.is_some() && folder == identity(parent(other)) && one.file_name() == other.file_name()
}

/// Replaces a file atomically and syncs it.
pub(super) fn put(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_file_name(format!(".lorelane-{}.tmp", digits(disk.nonce())));
    let written = disk
        .create_new(&temporary, bytes, None)
        .and_then(|()| disk.sync_file(&temporary))
        .and_then(|()| disk.rename(&temporary, path));
    if written.is_err() {
        let _ = disk.remove_file(&temporary);
    }
    written?;
    disk.sync_dir(parent(path))
}

pub(super) fn digits(bytes: [u8; 16]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}
