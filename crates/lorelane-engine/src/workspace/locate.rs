//! Where the memories of a folder are.

use super::Failure;
use crate::config::ConfigFiles;
use crate::disk::{Disk, Kind};
use lorelane_core::policy::DEFAULT_ROOT;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    pub project: PathBuf,
    /// The records' real folder.
    pub lane: PathBuf,
    /// The records' folder as the project names it.
    pub root_from_project: String,
}

/// The nearest folder upwards that has memories, inside the worktree.
pub fn locate(disk: &dyn Disk, start: &Path) -> Result<Located, Failure> {
    let start = std::fs::canonicalize(start).map_err(|source| Failure::io("open", start, source))?;
    for folder in start.ancestors() {
        if is_folder(disk, &folder.join(DEFAULT_ROOT)) {
            return settle(disk, folder);
        }
        // A worktree's root is the last place to look: what lies above belongs to another project.
        if exists(disk, &folder.join(".git")) {
            break;
        }
    }
    Err(Failure::NoStore { start })
}

/// The project around a folder of records that somebody named.
pub fn locate_root(disk: &dyn Disk, root: &Path) -> Result<Located, Failure> {
    let real = std::fs::canonicalize(root).map_err(|source| Failure::io("open", root, source))?;
    // As the scripts have it: a listing's paths start two folders above its root.
    let project = real.ancestors().nth(2).unwrap_or(&real).to_owned();
    let named = settle(disk, &project);
    match named {
        Ok(located) if located.lane == real => Ok(located),
        _ => {
            let root_from_project =
                real.strip_prefix(&project).unwrap_or(&real).to_string_lossy().replace('\\', "/");
            Ok(Located { project, lane: real, root_from_project })
        }
    }
}

/// The worktree's root for a new store, or the folder itself outside of git.
pub(super) fn project_for_new_store(disk: &dyn Disk, start: &Path) -> Result<PathBuf, Failure> {
    let start = std::fs::canonicalize(start).map_err(|source| Failure::io("open", start, source))?;
    let worktree = start.ancestors().find(|folder| exists(disk, &folder.join(".git")));
    Ok(worktree.unwrap_or(&start).to_owned())
}

fn settle(disk: &dyn Disk, project: &Path) -> Result<Located, Failure> {
    let policy = ConfigFiles::of_project(project, None).read(disk);
    let root = policy.memory_root().to_owned();
    let lane = project.join(&root);
    // A link inside the project is the user's business; one that leads out of it would let a repository
    // choose where on this machine we write.
    let real = match std::fs::canonicalize(&lane) {
        Ok(real) => real,
        Err(_) => lane,
    };
    if !real.starts_with(project) {
        return Err(Failure::Outside { lane: real, project: project.to_owned() });
    }
    Ok(Located { project: project.to_owned(), lane: real, root_from_project: root })
}

fn exists(disk: &dyn Disk, path: &Path) -> bool {
    matches!(disk.stat(path), Ok(Some(_)))
}

/// Follows links: whether they may be followed is decided where they lead.
fn is_folder(disk: &dyn Disk, path: &Path) -> bool {
    match disk.stat(path) {
        Ok(Some(stat)) => stat.kind == Kind::Folder || (stat.kind == Kind::Symlink && path.is_dir()),
        _ => false,
    }
}
