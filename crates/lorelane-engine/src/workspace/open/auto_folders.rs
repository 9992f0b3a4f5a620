//! Every memory folder of Claude Code on this machine, and whose it is.

use super::auto::{ClientFolder, MEMORY, folders_in, repository_root, text};
use crate::disk::{Disk, FileType};
use crate::env::Env;
use lorelane_core::dialect::auto::project_slug;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folder of the memories of sub-agents.
const AGENT_MEMORY: &str = "agent-memory";

/// A memory folder of Claude Code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoFolder {
    pub path: PathBuf,
    pub owner: AutoOwner,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AutoOwner {
    /// The project whose sessions use it, by the root of its repository.
    Project { root: PathBuf },
    /// A sub-agent that the user has in every project.
    Agent { name: String },
    /// No session uses it any more: its project is gone, or it is of a work tree that an older version of the client
    /// gave a folder of its own.
    Nobody { former: Option<PathBuf> },
}

/// All memory folders of projects and of the user's sub-agents, in the order of their paths. A name cannot be turned
/// back into a path, so the sessions say whose a folder is. Folders without files are left out.
pub fn auto_folders(disk: &dyn Disk, env: &Env) -> Vec<AutoFolder> {
    let Some(client) = ClientFolder::of(env) else { return Vec::new() };
    let projects = folders_below(disk, &client.projects());
    let used_by: Vec<(PathBuf, Vec<PathBuf>)> =
        projects.into_iter().map(|folder| (folder.clone(), folders_in(disk, &folder))).collect();
    // Sessions in a subfolder or work tree tell of a folder that has no sessions itself.
    let cwds = used_by.iter().flat_map(|(_, cwds)| cwds).filter(|cwd| disk.is_folder(cwd));
    let roots: BTreeSet<PathBuf> = cwds.map(|cwd| repository_root(cwd)).collect();
    let of_projects = used_by.into_iter().filter_map(|(folder, cwds)| {
        let path = Some(folder.join(MEMORY)).filter(|path| has_files(disk, path))?;
        let name = folder.file_name()?.to_string_lossy().into_owned();
        let root = roots.iter().find(|root| project_slug(&text(root)) == name);
        let owner = match root {
            Some(root) => AutoOwner::Project { root: root.clone() },
            None => AutoOwner::Nobody { former: cwds.into_iter().next() },
        };
        Some(AutoFolder { path, owner })
    });
    let of_agents = folders_below(disk, &client.config().join(AGENT_MEMORY)).into_iter().filter_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        has_files(disk, &path).then_some(AutoFolder { path, owner: AutoOwner::Agent { name } })
    });
    let mut found: Vec<AutoFolder> = of_projects.chain(of_agents).collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn folders_below(disk: &dyn Disk, folder: &Path) -> Vec<PathBuf> {
    let listed = disk.list(folder).ok().flatten().unwrap_or_default();
    let folders = listed.into_iter().filter(|listed| listed.kind == FileType::Folder);
    folders.map(|listed| folder.join(listed.name)).collect()
}

fn has_files(disk: &dyn Disk, folder: &Path) -> bool {
    let listed = disk.list(folder).ok().flatten().unwrap_or_default();
    listed.iter().any(|listed| listed.kind == FileType::File && listed.name.ends_with(".md"))
}
