//! The repository of a project, found without running git: hooks need it.
//!
//! A `.git` file may name any folder, and an archive may contain one. So the folder it names is the project's
//! repository only if it names the worktree in turn: a linked worktree by its file `gitdir`, a submodule by
//! `core.worktree`.

use super::call::named_in;
use crate::disk::{Disk, FileType};
use std::path::{Path, PathBuf};

const FILE_MAX_BYTES: u64 = 64 << 10;

/// The repository around a project, if it provably belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EnclosingRepository {
    Nothing,
    /// There is a `.git`, but the folder it names does not name this worktree.
    Unproven,
    Repository(Repository),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The folder that all worktrees share.
    pub(crate) common_dir: PathBuf,
    /// The name of a linked worktree; empty for the main one.
    pub(crate) work_tree: String,
    /// The project's path relative to the root of its worktree.
    pub(crate) project: PathBuf,
}

/// Finds the repository around a project, whose path is without links.
pub(crate) fn enclosing(disk: &dyn Disk, project: &Path) -> EnclosingRepository {
    let kind = |path: &Path| disk.stat(path).ok().flatten().map(|stat| stat.kind);
    let found = project.ancestors().find_map(|root| Some((root, kind(&root.join(".git"))?)));
    let Some((root, kind)) = found else { return EnclosingRepository::Nothing };
    let dirs = match kind {
        FileType::Folder => main_dir(disk, root.join(".git")),
        FileType::File => linked_dir(disk, root),
        FileType::Symlink | FileType::Other => None,
    };
    let project = project.strip_prefix(root).unwrap_or(project).to_owned();
    dirs.filter(|(common_dir, _)| is_repository(disk, common_dir)).map_or(
        EnclosingRepository::Unproven,
        |(common_dir, work_tree)| {
            EnclosingRepository::Repository(Repository { common_dir, work_tree, project })
        },
    )
}

/// A `.git` folder must not have a `commondir`.
fn main_dir(disk: &dyn Disk, git_dir: PathBuf) -> Option<(PathBuf, String)> {
    (!is_there(disk, &git_dir.join("commondir"))).then_some((git_dir, String::new()))
}

fn linked_dir(disk: &dyn Disk, root: &Path) -> Option<(PathBuf, String)> {
    let text = |path: PathBuf| {
        let bytes = disk.read_regular(&path, FILE_MAX_BYTES).ok()??;
        String::from_utf8(bytes).ok()
    };
    let real = |path: PathBuf| disk.real_path(&path).ok();
    let git_file = root.join(".git");
    let git_dir = real(root.join(named_in(&text(git_file.clone())?)?))?;
    if let Some(common_dir) = text(git_dir.join("commondir")) {
        let common_dir = real(git_dir.join(common_dir.trim()))?;
        let back = real(git_dir.join(text(git_dir.join("gitdir"))?.trim()))?;
        let is_linked = git_dir.parent()? == common_dir.join("worktrees") && back == real(git_file)?;
        let name = git_dir.file_name()?.to_string_lossy().into_owned();
        return is_linked.then_some((common_dir, name));
    }
    let work_tree = core_worktree(&text(git_dir.join("config"))?)?;
    (real(git_dir.join(work_tree))? == real(root.to_owned())?).then_some((git_dir, String::new()))
}

/// `core.worktree`, in the form that git writes for a submodule.
fn core_worktree(config: &str) -> Option<String> {
    let mut lines = config.lines().map(str::trim).skip_while(|line| *line != "[core]").skip(1);
    let in_core = lines.by_ref().take_while(|line| !line.starts_with('['));
    let mut values = in_core.filter_map(|line| line.split_once('='));
    let (_, value) = values.find(|(key, _)| key.trim() == "worktree")?;
    Some(value.trim().trim_matches('"').to_owned())
}

fn is_repository(disk: &dyn Disk, git_dir: &Path) -> bool {
    ["HEAD", "objects"].iter().all(|name| is_there(disk, &git_dir.join(name)))
}

fn is_there(disk: &dyn Disk, path: &Path) -> bool {
    matches!(disk.stat(path), Ok(Some(_)))
}
