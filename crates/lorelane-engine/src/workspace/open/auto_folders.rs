//! Every memory folder of Claude Code on this machine, and whose it is.

use super::auto::{ClientFolder, MEMORY, folders_in, is_slug_of, repository_root, text};
use super::locate::{locate, project_for_new_store, real_path};
use crate::disk::{Disk, FileType};
use crate::env::Env;
use crate::state::known_projects;
use lorelane_core::dialect::auto::project_slug;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The folders of the memories of sub-agents.
const AGENT_MEMORY: &str = "agent-memory";
const AGENT_MEMORY_LOCAL: &str = "agent-memory-local";

/// A memory folder of Claude Code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoFolder {
    pub path: PathBuf,
    pub owner: AutoOwner,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AutoOwner {
    /// The project whose sessions use it, by the root of its repository, and others with the same name that use it too.
    Project { root: PathBuf, shared_with: Vec<PathBuf> },
    /// A sub-agent, in one project or in all of them.
    Agent { name: String, project: Option<PathBuf> },
    /// The user's settings name it for all projects.
    Everyone,
    /// No session uses it any more: its project is gone, or it is of a work tree that an older version of the client
    /// gave a folder of its own.
    Nobody { former: Option<PathBuf> },
}

/// What Claude Code's folder tells about this machine.
#[derive(Clone, Debug, Default)]
pub struct ClientInventory {
    /// In the order of their paths. Folders without files are left out.
    pub folders: Vec<AutoFolder>,
    /// The roots of all projects that sessions ran in and that still exist, the current one, and those that have state
    /// of ours.
    pub roots: BTreeSet<PathBuf>,
    /// Folders that could not be read, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
}

impl ClientInventory {
    /// A folder's name cannot be turned back into a path, so the sessions say whose it is.
    pub fn read(disk: &dyn Disk, env: &Env) -> ClientInventory {
        let mut inventory = ClientInventory::default();
        let Some(client) = ClientFolder::of(env) else { return inventory };
        let named = client.named_folder(disk);
        let projects = inventory.folders_below(disk, &client.projects());
        let used_by: Vec<(PathBuf, Vec<PathBuf>)> =
            projects.into_iter().map(|folder| (folder.clone(), folders_in(disk, &folder))).collect();
        // Sessions in a subfolder or work tree tell of a folder that has no sessions itself.
        let mut root_of: BTreeMap<&Path, PathBuf> = BTreeMap::new();
        for cwd in used_by.iter().flat_map(|(_, cwds)| cwds) {
            if !root_of.contains_key(cwd.as_path()) && disk.is_folder(cwd) {
                root_of.insert(cwd, repository_root(cwd));
            }
        }
        inventory.roots = root_of.values().cloned().collect();
        inventory.add_known_roots(disk, env);
        let mut by_slug: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for root in &inventory.roots {
            by_slug.entry(project_slug(&text(root))).or_default().push(root.clone());
        }
        for (folder, cwds) in &used_by {
            let path = folder.join(MEMORY);
            let Some(name) = folder.file_name().filter(|_| inventory.has_files(disk, &path)) else {
                continue;
            };
            let name = name.to_string_lossy();
            let own = cwds.iter().filter_map(|cwd| root_of.get(cwd.as_path()));
            let own = own.filter(|root| client.gives(&name, root)).cloned();
            let elsewhere = by_slug.get(name.as_ref()).into_iter().flatten().cloned();
            let mut own: Vec<PathBuf> = own.chain(elsewhere).collect();
            if own.is_empty() {
                own.extend(inventory.roots.iter().filter(|root| is_slug_of(&name, root)).cloned());
            }
            let mut seen = BTreeSet::new();
            own.retain(|root| seen.insert(root.clone()));
            let owner = match own.is_empty() {
                false => AutoOwner::Project { root: own.remove(0), shared_with: own },
                true => AutoOwner::Nobody { former: cwds.first().cloned() },
            };
            inventory.folders.push(AutoFolder { path, owner });
        }
        inventory.add_agents(disk, &client.config().join(AGENT_MEMORY), None);
        for root in inventory.roots.clone() {
            for name in [AGENT_MEMORY, AGENT_MEMORY_LOCAL] {
                inventory.add_agents(disk, &root.join(".claude").join(name), Some(&root));
            }
        }
        if let Some(path) = named.filter(|path| inventory.has_files(disk, path)) {
            inventory.folders.retain(|folder| folder.path != path);
            inventory.folders.push(AutoFolder { path, owner: AutoOwner::Everyone });
        }
        inventory.folders.sort_by(|one, other| one.path.cmp(&other.path));
        // A link may lead to a folder that is listed already.
        let mut real = BTreeSet::new();
        inventory.folders.retain(|folder| resolved(disk, &folder.path).is_some_and(|path| real.insert(path)));
        inventory
    }

    /// Projects without transcripts: the current one, and those that have state of ours.
    fn add_known_roots(&mut self, disk: &dyn Disk, env: &Env) {
        let located = locate(disk, &env.cwd).map(|located| located.project);
        let here = located.or_else(|_| project_for_new_store(disk, &env.cwd)).ok();
        let state = env.folders().map(|folders| known_projects(disk, &folders.state)).unwrap_or_default();
        for root in here.into_iter().chain(state) {
            let repository = repository_root(&root);
            // A work tree has the folder of its repository; a project in a subfolder has memories of its own.
            let is_inside = root != repository && root.starts_with(&repository);
            for root in [Some(repository), Some(root).filter(|_| is_inside)].into_iter().flatten() {
                // A session may have reached it by a link.
                let is_same = |known: &PathBuf| {
                    known.file_name() == root.file_name()
                        && real_path(disk, known).is_ok_and(|real| real == root)
                };
                if !self.roots.contains(&root) && !self.roots.iter().any(is_same) {
                    self.roots.insert(root);
                }
            }
        }
    }

    fn add_agents(&mut self, disk: &dyn Disk, folder: &Path, project: Option<&Path>) {
        for path in self.folders_below(disk, folder) {
            let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
                continue;
            };
            if self.has_files(disk, &path) {
                let owner = AutoOwner::Agent { name, project: project.map(Path::to_owned) };
                self.folders.push(AutoFolder { path, owner });
            }
        }
    }

    fn folders_below(&mut self, disk: &dyn Disk, folder: &Path) -> Vec<PathBuf> {
        let listed = match disk.list(folder) {
            Ok(listed) => listed.unwrap_or_default(),
            Err(fault) => return self.skip(folder, &fault),
        };
        let mut folders = Vec::new();
        for entry in listed {
            let path = folder.join(&entry.name);
            match entry.kind {
                FileType::Folder => folders.push(path),
                FileType::Symlink => match disk.stat_target(&path) {
                    Ok(target) if target.is_some_and(|stat| stat.kind == FileType::Folder) => {
                        folders.push(path)
                    }
                    Ok(_) => {}
                    Err(fault) => self.skip(&path, &fault),
                },
                FileType::File | FileType::Other => {}
            }
        }
        folders
    }

    /// Whether a folder has files or folders that may be memories. One that cannot be listed may have some.
    fn has_files(&mut self, disk: &dyn Disk, folder: &Path) -> bool {
        match disk.list(folder) {
            Ok(listed) => listed
                .unwrap_or_default()
                .iter()
                .any(|listed| listed.kind == FileType::Folder || listed.name.ends_with(".md")),
            Err(fault) => {
                self.skip::<()>(folder, &fault);
                false
            }
        }
    }

    fn skip<T: Default>(&mut self, path: &Path, fault: &std::io::Error) -> T {
        self.unreadable.push((path.to_owned(), fault.to_string()));
        T::default()
    }
}

/// A folder without the link in its place. Its parents are as the client wrote them: resolving each would cost more than
/// reading the folder.
pub(in crate::workspace) fn resolved(disk: &dyn Disk, folder: &Path) -> Option<PathBuf> {
    let is_link = disk.stat(folder).ok()??.kind == FileType::Symlink;
    if is_link { real_path(disk, folder).ok() } else { Some(folder.to_owned()) }
}
