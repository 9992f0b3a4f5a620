//! Finds the project of a folder, and its records.

use crate::config::ConfigFiles;
use crate::disk::Disk;
use crate::failure::Failure;
use lorelane_core::policy::{DEFAULT_ROOT, NOTES_ROOT};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectLocation {
    pub project: PathBuf,
    /// The folder of the records, with links resolved.
    pub lane: PathBuf,
    /// The folder of the records as configured, relative to the project.
    pub root_from_project: String,
    /// Whether notes are opened too. Not if a folder of records was given: then only these are meant.
    pub has_notes: bool,
}

/// The nearest folder upwards that has memories, up to the root of the worktree.
pub fn locate(disk: &dyn Disk, start: &Path) -> Result<ProjectLocation, Failure> {
    let start = disk.real_path(start).map_err(|source| Failure::io("open", start, source))?;
    for folder in start.ancestors() {
        if [DEFAULT_ROOT, NOTES_ROOT].iter().any(|root| disk.is_folder(&folder.join(root))) {
            return settle(disk, folder);
        }
        // A folder above the worktree's root belongs to another project.
        if exists(disk, &folder.join(".git")) {
            break;
        }
    }
    Err(Failure::NoStore { start })
}

/// The project of a given folder of records. The folder need not exist yet.
pub fn locate_root(disk: &dyn Disk, root: &Path) -> Result<ProjectLocation, Failure> {
    let real = real_path(disk, root)?;
    // As in the `claude-memory` scripts, paths in `index.md` start two folders above the records. For the
    // default name they are counted before links are resolved, because a link in its place must not choose
    // another project.
    let project = match root.ancestors().nth(2) {
        Some(project) if root.ends_with(DEFAULT_ROOT) => real_path(disk, project)?,
        _ => real.ancestors().nth(2).unwrap_or(&real).to_owned(),
    };
    let Ok(from_project) = real.strip_prefix(&project) else {
        return Err(Failure::Outside { lane: real, project });
    };
    match settle(disk, &project) {
        Ok(located) if located.lane == real => Ok(ProjectLocation { has_notes: false, ..located }),
        _ => {
            let root_from_project = from_project.to_string_lossy().replace('\\', "/");
            Ok(ProjectLocation { project, lane: real, root_from_project, has_notes: false })
        }
    }
}

/// A project without a store, for notes in the user's data folder.
pub(in crate::workspace) fn locate_bare(disk: &dyn Disk, start: &Path) -> Result<ProjectLocation, Failure> {
    settle(disk, &project_for_new_store(disk, start)?)
}

/// The path with links resolved. The part that does not exist is kept as it is.
pub(in crate::workspace) fn real_path(disk: &dyn Disk, path: &Path) -> Result<PathBuf, Failure> {
    let here = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match (disk.real_path(here), here.parent(), here.file_name()) {
        (Ok(real), ..) => Ok(real),
        (Err(fault), Some(parent), Some(name)) if fault.kind() == std::io::ErrorKind::NotFound => {
            Ok(real_path(disk, parent)?.join(name))
        }
        (Err(source), ..) => Err(Failure::io("open", path, source)),
    }
}

/// Where `init` creates a store: the worktree's root, or the folder itself outside git.
pub(in crate::workspace) fn project_for_new_store(disk: &dyn Disk, start: &Path) -> Result<PathBuf, Failure> {
    let start = disk.real_path(start).map_err(|source| Failure::io("open", start, source))?;
    let worktree = start.ancestors().find(|folder| exists(disk, &folder.join(".git")));
    Ok(worktree.unwrap_or(&start).to_owned())
}

pub(in crate::workspace) fn settle(disk: &dyn Disk, project: &Path) -> Result<ProjectLocation, Failure> {
    let root = ConfigFiles::of_project(disk, project, None).memory_root(disk);
    let lane = project.join(&root);
    // A link inside the project is fine. One that leads out of it would let a repository choose where on this
    // machine we write.
    let real = real_path(disk, &lane)?;
    if !real.starts_with(project) {
        return Err(Failure::Outside { lane: real, project: project.to_owned() });
    }
    Ok(ProjectLocation { project: project.to_owned(), lane: real, root_from_project: root, has_notes: true })
}

fn exists(disk: &dyn Disk, path: &Path) -> bool {
    matches!(disk.stat(path), Ok(Some(_)))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;
    use std::fs;
    use std::os::unix::fs::symlink;

    struct ProbeFolder(PathBuf);

    impl ProbeFolder {
        fn new(name: &str) -> ProbeFolder {
            let folder = std::env::temp_dir().join(format!("lorelane-locate-{name}-{}", std::process::id()));
            fs::create_dir_all(folder.join("project/.claude")).unwrap();
            ProbeFolder(fs::canonicalize(folder).unwrap())
        }
    }

    impl Drop for ProbeFolder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_root_that_does_not_exist_yet_is_located_where_it_will_be() {
        let scratch = ProbeFolder::new("missing");
        let root = scratch.0.join("project/.claude/memory");
        let before = locate_root(&RealDisk, &root).unwrap();
        fs::create_dir_all(&root).unwrap();
        assert_eq!(before, locate_root(&RealDisk, &root).unwrap());
        assert_eq!(before.lane, root);
        assert_eq!(before.root_from_project, DEFAULT_ROOT);
    }

    // A repository could contain a link in place of its memory folder and have us write anywhere.
    #[test]
    fn a_named_root_that_leads_out_of_its_project_is_refused() {
        let scratch = ProbeFolder::new("outside");
        let root = scratch.0.join("project/.claude/memory");
        fs::create_dir_all(scratch.0.join("elsewhere/a/b")).unwrap();
        symlink(scratch.0.join("elsewhere/a/b"), &root).unwrap();
        assert!(matches!(locate_root(&RealDisk, &root), Err(Failure::Outside { .. })));
    }

    #[test]
    fn a_named_root_may_be_a_link_inside_its_project() {
        let scratch = ProbeFolder::new("inside");
        let root = scratch.0.join("project/.claude/memory");
        fs::create_dir_all(scratch.0.join("project/memories")).unwrap();
        symlink("../memories", &root).unwrap();
        let located = locate_root(&RealDisk, &root).unwrap();
        assert_eq!(located.project, scratch.0.join("project"));
        assert_eq!(located.root_from_project, DEFAULT_ROOT);
    }
}
