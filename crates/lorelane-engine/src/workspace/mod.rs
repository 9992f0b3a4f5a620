//! Two doors for every face: [`Workspace::recall`] and [`Workspace::commit`].
//!
//! Store and index meet only here. A face asks with plain data and gets plain data; it never sees a lock, a
//! file or a row.

mod brief;
mod commit;
mod consolidate;
mod doctor;
mod error;
mod examine;
mod fence;
mod forget;
mod glance;
mod init;
mod listing;
mod locate;
mod look;
mod stage;
mod triage;

pub use brief::{Account, Fate};
pub use consolidate::{End, How, Report, Task, Work};
pub use doctor::{Finding, Overview, Sync};
pub use error::{Failure, Unclear};
pub use examine::{Examined, Former, examine_after};
pub use fence::{guard, guard_by_name};
pub use forget::{Checked, Did, Forgotten, InGit};
pub use init::{Founding, init, plan_init};
pub use locate::{Located, locate, locate_root};
pub use triage::{Asking, Desk, MayAsk, Spoken, Triaged, Turn};

use crate::captures::Captures;
use crate::config::ConfigFiles;
use crate::disk::{Disk, Kind, RealDisk};
use crate::env::{Env, Folders};
use crate::hooklog::HOOK_LOG;
use crate::index::{Index, Wanted};
use crate::store::{Home, Place, Store, StoreError};
use lorelane_core::candidate::{self, Candidate, Verdict};
use lorelane_core::corpus::Entry;
use lorelane_core::dialect::records::{RECORD_MAX_BYTES, Records};
use lorelane_core::dialect::{Dialect, Problem};
use lorelane_core::digest::Revision;
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::{MARKS_FOLDER, Marks};
use lorelane_core::memory::{Address, Category, Memory};
use lorelane_core::path::RelPath;
use lorelane_core::policy::Policy;
use lorelane_core::recall::{self, Hit, Query};
use lorelane_core::refusal::Refusal;
use lorelane_core::text::slug;
use lorelane_core::time::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// More marks than any project makes; a larger file is not ours.
const MARKS_MAX_BYTES: u64 = 64 << 20;
const CAPTURES_FOLDER: &str = "captures";
const LISTING_MAX_BYTES: u64 = 256 << 20;
/// How many memories are read to rank them for a long text: many more than anybody is shown.
const NEAR_MAX: usize = 128;

/// The memories of one project.
#[derive(Debug)]
pub struct Workspace {
    now: Timestamp,
    project: PathBuf,
    /// The records' real folder.
    lane: PathBuf,
    /// The lane's own folder in the user's state folder.
    state: PathBuf,
    dialect: Records,
    disk: Arc<dyn Disk>,
    store: Arc<Store>,
    index: Index,
    /// Why the index is not kept: reads go on without a cache.
    index_fault: Option<String>,
    /// The folders that could not be listed at the last look.
    closed: Vec<String>,
    /// Whether this process changed memories: then the index's housekeeping can wait for one that only reads.
    changed: bool,
    policy: Policy,
    config: ConfigFiles,
    folders: Option<Folders>,
}

/// The answer to a query: the best hits as their files say them now, and how many matched in all.
#[derive(Clone, Debug)]
pub struct Recall {
    pub hits: Vec<Hit>,
    pub total: usize,
}

/// A memory as its file says it now.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub memory: Memory,
    pub path: RelPath,
    pub text: String,
    pub revision: Revision,
    pub problems: Vec<Problem>,
}

impl Workspace {
    /// Opens the project that `start` lies in.
    pub fn open(env: &Env, start: &Path) -> Result<Workspace, Failure> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let located = locate(&*disk, start)?;
        Workspace::open_on(disk, env, located)
    }

    /// Opens the project whose records lie in `root`, as the scripts name it.
    pub fn open_root(env: &Env, root: &Path) -> Result<Workspace, Failure> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let located = locate_root(&*disk, root)?;
        Workspace::open_on(disk, env, located)
    }

    /// Opens a project that was found before, on any disk.
    pub fn open_on(disk: Arc<dyn Disk>, env: &Env, located: Located) -> Result<Workspace, Failure> {
        let Located { project, lane, root_from_project } = located;
        let folders = env.folders();
        let config =
            ConfigFiles::of_project(&project, folders.as_ref().map(|folders| folders.config.as_path()));
        let policy = config.read(&*disk);
        let key = Folders::lane_key(&lane);
        let state = lane_state(folders.as_ref(), &key);
        let home = Home { lane: lane.clone(), marks: project.join(MARKS_FOLDER), state: state.clone() };
        let (index, index_fault) = open_index(&*disk, folders.as_ref(), &key);
        Ok(Workspace {
            now: env.now,
            dialect: Records::new(&root_from_project),
            store: Arc::new(Store::new(Arc::clone(&disk), home)),
            project,
            lane,
            state,
            disk,
            index,
            index_fault,
            closed: Vec::new(),
            changed: false,
            policy,
            config,
            folders,
        })
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    pub fn project(&self) -> &Path {
        &self.project
    }

    pub fn lane(&self) -> &Path {
        &self.lane
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    pub fn config(&self) -> &ConfigFiles {
        &self.config
    }

    pub fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The path from the project's root, as listings and scripts know it.
    pub fn listed_path(&self, path: &RelPath) -> String {
        self.dialect.listed_path(path)
    }

    /// The folders that are written to, and what for.
    pub fn declared_folders(&self) -> Vec<(PathBuf, &'static str)> {
        let key = Folders::lane_key(&self.lane);
        let mut declared = vec![
            (self.lane.clone(), "memories, listing, settings of the records"),
            (self.project.join(MARKS_FOLDER), "marks: pins, former addresses, origins, rejections"),
            (self.config.project.clone(), "settings of lorelane"),
        ];
        if !self.config.records.starts_with(&self.lane) {
            declared.push((self.config.records.clone(), "settings of the records"));
        }
        if let Some(folders) = &self.folders {
            declared.push((folders.state.join("lanes").join(&key), "journal and ledger: log, undo, why"));
            declared.push((
                folders.state.join("lanes").join(&key).join(CAPTURES_FOLDER),
                "captures: what sessions left to be saved",
            ));
            declared.push((folders.state.join("drafts").join(&key), "drafts of an editor"));
            declared.push((folders.cache.join("lanes").join(&key), "index: may be deleted"));
            declared.push((folders.state.join(HOOK_LOG), "what hooks could not do"));
            declared.push((crate::setup::folder(folders), "what `setup` installed, and backups"));
        }
        declared
    }

    /// A private folder for drafts of this project.
    pub fn drafts_folder(&self) -> PathBuf {
        let key = Folders::lane_key(&self.lane);
        match &self.folders {
            Some(folders) => folders.state.join("drafts").join(key),
            None => self.lane.join(".lorelane-drafts"),
        }
    }

    /// What triage found in this project's sessions. Without a home there is no private place for it: nothing is
    /// found there, and saving fails.
    pub fn captures(&self) -> Captures {
        Captures::new(Arc::clone(&self.disk), self.state.join(CAPTURES_FOLDER))
    }

    pub fn entries(&mut self, wanted: Wanted) -> Result<Vec<Entry>, Failure> {
        self.refresh()?;
        self.ask(|index| index.entries(wanted))
    }

    /// The memories that a query asks for, best first. What is shown stands in its file now.
    pub fn recall(&mut self, query: &Query, limit: usize) -> Result<Recall, Failure> {
        let status = if query.include_retired { None } else { Some(Status::Active) };
        let category = if let [only] = query.categories.as_slice() { Some(*only) } else { None };
        self.refresh()?;
        let wanted = Wanted { category, status, prose: true };
        let mut hits =
            self.ask(|index| index.with_entries(wanted, |entries| recall::rank(query, entries)))?;
        let total = hits.len();
        hits.truncate(limit);
        // An index may lag behind a file that was edited in place: what is shown is read and judged anew.
        let current: Vec<Entry> = hits
            .iter()
            .filter_map(|hit| self.load(&hit.address).ok())
            .map(|loaded| Entry::of(&loaded.memory, &loaded.path))
            .collect();
        Ok(Recall { hits: recall::rank(query, current.iter()), total })
    }

    /// The memories that a long text may be about, best first: those whose names it mentions, and of these the
    /// ones that are mentioned most. Quicker than [`Workspace::recall`], and as the index has them: whoever shows
    /// one reads it from its file.
    pub fn near(&mut self, query: &Query) -> Result<Vec<Hit>, Failure> {
        self.refresh()?;
        self.ask(|index| {
            index
                .with_named(query, true, NEAR_MAX, |named| recall::rank(query, named.map(|(_, entry)| entry)))
        })
    }

    /// Whether new information belongs to a memory of this category, and what may be done with it.
    pub fn candidate(
        &mut self,
        category: Category,
        new_info: &str,
        lifecycle_event: Option<&str>,
    ) -> Result<Verdict, Failure> {
        let mut query = Query::new(new_info, self.now);
        query.categories = vec![category];
        self.refresh()?;
        let mut found = self.nearest(&query)?;
        if found.as_ref().is_some_and(|hit| !self.stands(&query, hit)) {
            // The index lags behind a file that was edited in place.
            self.look_at_every_file()?;
            found = self.nearest(&query)?;
        }
        let candidate = found.and_then(|hit| {
            let loaded = self.load(&hit.address).ok()?;
            Some(Candidate { path: self.listed_path(&loaded.path), memory: loaded.memory, score: hit.score })
        });
        Ok(candidate::decide(category, candidate, lifecycle_event))
    }

    fn nearest(&mut self, query: &Query) -> Result<Option<Hit>, Failure> {
        self.ask(|index| {
            index.with_named(query, false, usize::MAX, |reaching| recall::candidate(query, reaching))
        })
    }

    /// Whether the file of a hit still says what the index says of it.
    fn stands(&self, query: &Query, hit: &Hit) -> bool {
        self.load(&hit.address).is_ok_and(|loaded| {
            let entry = Entry::of(&loaded.memory, &loaded.path);
            recall::candidate(query, std::iter::once((u32::MAX, &entry))).as_ref() == Some(hit)
        })
    }

    /// What is marked, as far as it can be read: a file of marks that cannot be is for `doctor` to report.
    pub fn marks(&self) -> Marks {
        self.read_marks().unwrap_or_default()
    }

    fn read_marks(&self) -> Result<Marks, Failure> {
        let path = self.store.path_of(&Place::Marks);
        let bytes = self.disk.read_regular(&path, MARKS_MAX_BYTES);
        Ok(Marks::read(&bytes.map_err(|source| Failure::io("read", &path, source))?.unwrap_or_default()))
    }

    /// The memory a person means: an address, an old address, a path, or a slug that is unique.
    pub fn find(&mut self, typed: &str) -> Result<Address, Failure> {
        let marks = self.marks();
        if let Some(address) = Address::parse(typed) {
            if self.exists(&address) {
                return Ok(address);
            }
            let now = marks.follow(&address);
            if *now != address && self.exists(now) {
                return Ok(now.clone());
            }
        }
        let name = typed.rsplit('/').next().unwrap_or(typed);
        let name = name.strip_suffix(".json").unwrap_or(name);
        let mut same = Vec::new();
        for category in Category::ALL.into_iter().filter(|_| !typed.contains('/')) {
            let address = Address::record(category, name);
            if self.exists(&address) {
                same.push(address);
            }
        }
        if let [only] = same.as_slice() {
            return Ok(only.clone());
        }
        if same.is_empty() {
            let former: Vec<&Address> =
                marks.aliases.keys().filter(|old| !typed.contains('/') && old.name() == name).collect();
            if let [only] = former.as_slice() {
                let now = marks.follow(only);
                if self.exists(now) {
                    return Ok(now.clone());
                }
            }
        }
        let near = if same.is_empty() { similar(&self.entries(Wanted::default())?, name) } else { same };
        Err(Failure::Unclear(Unclear { typed: typed.to_owned(), near }))
    }

    /// What stands in a folder that may not be looked into is not there for us.
    fn exists(&self, address: &Address) -> bool {
        let place = self.dialect.place(address);
        place.is_some_and(|path| matches!(self.disk.stat(&self.lane.join(path.as_str())), Ok(Some(_))))
    }

    /// Reads a memory from its file.
    pub fn load(&self, address: &Address) -> Result<Loaded, Failure> {
        let missing = || Failure::from(Refusal::Missing { address: address.clone() });
        let path = self.dialect.place(address).ok_or_else(missing)?;
        let unreadable = |why| Failure::from(Refusal::Unreadable { address: address.clone(), why });
        let bytes = match self.read_lane(&path) {
            Ok(bytes) => bytes.ok_or_else(missing)?,
            Err(Failure::Store(StoreError::Symlink { .. })) => {
                return Err(unreadable("it is not a regular file".to_owned()));
            }
            Err(Failure::Io { source, .. }) => return Err(unreadable(source.to_string())),
            Err(other) => return Err(other),
        };
        let reading = self.dialect.read(&path, &bytes);
        let why = reading.problems.first().map(|problem| problem.what.clone()).unwrap_or_default();
        let Some(memory) = reading.memory else { return Err(unreadable(why)) };
        let revision = Revision::of(&bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Loaded { memory, path, text, revision, problems: reading.problems })
    }

    /// Reads a memory's file: a regular one, in a real folder, of a size that a record can have.
    fn read_lane(&self, path: &RelPath) -> Result<Option<Vec<u8>>, Failure> {
        let file = self.lane.join(path.as_str());
        let folder = path.folder().map_or_else(|| self.lane.clone(), |folder| self.lane.join(folder));
        for link in [&folder, &file] {
            if matches!(self.disk.stat(link), Ok(Some(stat)) if stat.kind == Kind::Symlink) {
                return Err(StoreError::Symlink { path: link.clone() }.into());
            }
        }
        self.disk
            .read_regular(&file, RECORD_MAX_BYTES as u64)
            .map_err(|source| Failure::io("read", &file, source))
    }
}

/// The lane's own folder in the user's state folder. Without a home it is a path that cannot be written: the
/// journal then shelters inside the lane, and captures are not kept.
fn lane_state(folders: Option<&Folders>, key: &str) -> PathBuf {
    let state = folders.map(|folders| folders.state.join("lanes").join(key));
    state.unwrap_or_else(|| PathBuf::from("/dev/null/lorelane"))
}

/// The index's log of writes may grow to this before a process that only reads shortens it. Whoever opens the index
/// reads its log: 0.4 ms for each MiB.
const LOG_MAX_AFTER_READS: u64 = 128 << 10;

impl Drop for Workspace {
    fn drop(&mut self) {
        // A change has its five syncs and no more.
        if !self.changed {
            self.index.shorten_log(LOG_MAX_AFTER_READS);
        }
    }
}

/// The index in the cache folder, or one in memory and the reason for it.
fn open_index(disk: &dyn Disk, folders: Option<&Folders>, key: &str) -> (Index, Option<String>) {
    let Some(folders) = folders else {
        return (Index::in_memory(), Some("no home folder is known".to_owned()));
    };
    let folder = folders.cache.join("lanes").join(key);
    let opened = disk
        .create_private_dir_all(&folder)
        .map_err(|fault| format!("{}: {fault}", folder.display()))
        .and_then(|_| Index::open(&folder.join("index.db")).map_err(|fault| fault.to_string()));
    match opened {
        Ok(index) => (index, None),
        Err(why) => (Index::in_memory(), Some(why)),
    }
}

fn similar(entries: &[Entry], name: &str) -> Vec<Address> {
    let wanted = slug(name);
    let near = |entry: &&Entry| {
        let own = entry.address.name();
        !wanted.is_empty() && (own.contains(&wanted) || wanted.contains(own))
    };
    entries.iter().filter(near).map(|entry| entry.address.clone()).take(8).collect()
}
