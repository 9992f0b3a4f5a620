//! Creates a store: folders and a configuration with every default.

use crate::backend::StoreError;
use crate::config::{ConfigFiles, RECORDS_CONFIG, write_plain};
use crate::disk::{Disk, RealDisk};
use crate::env::Env;
use crate::store::LOCK_DEADLINE;
use crate::workspace::open::locate::{project_for_new_store, real_path, settle};
use crate::workspace::open::trust::settled;
use crate::workspace::{Failure, Workspace};
use lorelane_core::json::{Json, JsonFormat, Object};
use lorelane_core::memory::Category;
use lorelane_core::policy::{ConfigFile, DEFAULT_ROOT, Policy, all_keys};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the store is, and what `init` created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitReport {
    pub lane: PathBuf,
    /// What did not exist before; empty when the store was complete.
    pub made: Vec<PathBuf>,
}

/// Creates a store for the project around `start`. What exists stays as it is.
pub fn init(env: &Env, start: &Path) -> Result<InitReport, Failure> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let project = match crate::workspace::open::locate(&*disk, start) {
        Ok(located) => located.project,
        Err(Failure::NoStore { .. }) => project_for_new_store(&*disk, start)?,
        Err(other) => return Err(other),
    };
    init_on(&disk, env, &project)
}

/// Creates a store in a project, on any disk. What was created is synced.
pub fn init_on(whole: &Arc<dyn Disk>, env: &Env, project: &Path) -> Result<InitReport, Failure> {
    let below = whole.below(project, &[]).map_err(|source| Failure::io("open", project, source))?;
    let disk: &dyn Disk = below.as_deref().unwrap_or(&**whole);
    let root = real_path(disk, &project.join(DEFAULT_ROOT))?;
    let mut made = make_folder(disk, project, &root)?;
    let config = root.join(RECORDS_CONFIG);
    let there = disk.stat(&config).map_err(|source| Failure::io("look at", &config, source))?;
    let before = before_founding(disk, env, project, &root);
    if there.is_none() {
        // Without a configuration this folder is the lane.
        let _lock = disk.lock_dir(&root, LOCK_DEADLINE).map_err(|fault| StoreError::lock(&root, fault))?;
        write_plain(disk, &config, default_config().as_bytes())?;
        disk.sync_file(&config).map_err(|source| Failure::io("sync", &config, source))?;
        disk.sync_dir(&root).map_err(|source| Failure::io("sync", &root, source))?;
        made.push(config);
    }
    // Opened again, because the configuration may name another folder.
    let mut workspace = Workspace::open_on(Arc::clone(whole), env, settle(&**whole, project)?)?;
    workspace.keep_trust(&before);
    workspace.refuse_when_misconfigured()?;
    let lane = workspace.lanes.records().folder("");
    for category in Category::ALL {
        made.extend(make_folder(disk, project, &lane.join(category.folder()))?);
    }
    let listing = lane.join(lorelane_core::dialect::records::LISTING);
    if disk.stat(&listing).map_err(|source| Failure::io("look at", &listing, source))?.is_none() {
        workspace.maintenance().reindex(crate::index::Rebuild::Changed)?;
        made.push(listing);
    }
    Ok(InitReport { lane, made })
}

/// The settings in force before there is a configuration of the records.
fn before_founding(disk: &dyn Disk, env: &Env, project: &Path, root: &Path) -> Policy {
    let folders = env.folders();
    let user = folders.as_ref().map(|folders| folders.config.as_path());
    settled(disk, env.now, folders.as_ref(), &ConfigFiles::of_project(disk, project, user), project, root)
}

/// What `init` would create.
pub fn plan_init(start: &Path) -> Result<InitReport, Failure> {
    let disk = RealDisk;
    let (project, lane) = match crate::workspace::open::locate(&disk, start) {
        Ok(located) => (located.project, located.lane),
        Err(Failure::NoStore { .. }) => {
            let project = project_for_new_store(&disk, start)?;
            let lane = project.join(DEFAULT_ROOT);
            (project, lane)
        }
        Err(other) => return Err(other),
    };
    let config = project.join(DEFAULT_ROOT).join(RECORDS_CONFIG);
    let listing = lane.join(lorelane_core::dialect::records::LISTING);
    let folders = Category::ALL.into_iter().map(|category| lane.join(category.folder()));
    let made = [config, listing].into_iter().chain(folders).filter(|path| !disk.exists(path)).collect();
    Ok(InitReport { lane, made })
}

/// Creates a folder below the project, whose disk follows no symlink. Its path has none, but may lead out of the
/// project.
fn make_folder(disk: &dyn Disk, project: &Path, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !folder.starts_with(project) {
        return Err(Failure::Outside { lane: folder.to_owned(), project: project.to_owned() });
    }
    let created = disk.create_dir_all(folder).map_err(|source| Failure::io("create", folder, source))?;
    for above in created.iter().filter_map(|created| created.parent()) {
        disk.sync_dir(above).map_err(|source| Failure::io("sync", above, source))?;
    }
    Ok(created)
}

/// Every key of the records with its default. `archive_retired` is on: without the key retired memories are
/// deleted, as the `claude-memory` scripts did, and a new user should lose nothing.
fn default_config() -> String {
    let mut root = Object::new();
    let policy = Policy::settle(&[], Vec::new());
    for (_, name, _) in all_keys().filter(|(key, ..)| key.home == ConfigFile::Records) {
        let value = match name.as_str() {
            "delete.archive_retired" => Some(Json::of(&true)),
            _ => policy.get(&name).and_then(|setting| setting.value.clone()),
        };
        if let (Some(value), Some((object, key))) = (value, root.nest(&name)) {
            object.set(key, value);
        }
    }
    format!("{}\n", root.render(JsonFormat::FILE))
}
