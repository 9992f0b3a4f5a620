//! Every store of memories on this machine, audited without being opened: files are read, and nothing is created for
//! a project that somebody else works in.

use super::{AuditContext, AuditReport, AuditScope, MemoryAudit, Subjects, VerdictCache};
use crate::config::{ConfigFiles, LORELANE_CONFIG};
use crate::disk::{Disk, RealDisk};
use crate::env::{Env, Folders};
use crate::workspace::Failure;
use crate::workspace::lane::Lane;
use crate::workspace::open::auto::{ClientFolder, key_of, repository_root};
use crate::workspace::open::auto_folders::resolved;
use crate::workspace::open::locate::{locate, real_path, settle};
use crate::workspace::open::notes::NotesLocation;
use crate::workspace::open::{AutoFolder, AutoOwner, ClientInventory};
use lorelane_core::dialect::auto::{Auto, IndexReport, MEMORY_FILE, TopicFile};
use lorelane_core::dialect::notes::Notes;
use lorelane_core::dialect::records::Records;
use lorelane_core::json::Json;
use lorelane_core::mark::{MARKS_FOLDER, Marks};
use lorelane_core::memory::LaneId;
use lorelane_core::path::RelPath;
use lorelane_core::policy::{DEFAULT_ROOT, NOTES_ROOT, NotesStorage, Policy};
use lorelane_core::text::tokens;
use lorelane_core::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a project with records, notes or settings has.
const OWN: [&str; 3] = [".claude", NOTES_ROOT, LORELANE_CONFIG];

/// The memories of a project, of a sub-agent, or of a folder that no project uses any more.
#[derive(Clone, Debug)]
pub struct MemoryStore {
    /// Unique: the name of the folder, with as many of the folders above it as are needed.
    pub name: String,
    pub owner: AutoOwner,
    /// Claude Code's memory folder, if it has one.
    pub folder: Option<PathBuf>,
}

/// All stores that are known from Claude Code's folder.
#[derive(Debug)]
pub struct MemoryStores {
    pub stores: Vec<MemoryStore>,
    /// Folders that could not be read, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
    reader: StoreReader,
}

/// What is the same for all stores, read once.
#[derive(Debug)]
struct StoreReader {
    disk: Arc<dyn Disk>,
    now: Timestamp,
    folders: Option<Folders>,
    client: Option<ClientFolder>,
    client_settings: Option<Json>,
    /// Without the settings of any project.
    policy: Policy,
}

/// No store has the name that was typed, or several do.
#[derive(Clone, Debug)]
pub struct NoSuchStore {
    /// Those that it could mean.
    pub near: Vec<String>,
}

/// What the client loads of an index, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexTokens {
    /// At every session start.
    pub loaded: usize,
    /// What topic files have.
    pub on_demand: usize,
    /// What is after the cut.
    pub lost: usize,
    pub lost_entries: usize,
}

#[derive(Clone, Debug)]
pub struct StoreAudit {
    pub store: MemoryStore,
    pub report: AuditReport,
    pub index: IndexTokens,
}

impl MemoryStores {
    pub fn find_all(env: &Env) -> MemoryStores {
        let disk = RealDisk;
        let ClientInventory { folders, roots, unreadable } = ClientInventory::read(&disk, env);
        let mut owned: BTreeSet<PathBuf> = BTreeSet::new();
        for folder in &folders {
            if let AutoOwner::Project { root, shared_with } = &folder.owner {
                owned.extend(shared_with.iter().chain([root]).cloned());
            }
        }
        // Projects without such a folder may have records and notes.
        let others = roots.into_iter().filter(|root| !owned.contains(root));
        let others = others.map(|root| (AutoOwner::Project { root, shared_with: Vec::new() }, None));
        let with_folder = folders.into_iter().map(|AutoFolder { path, owner }| (owner, Some(path)));
        let stores = with_folder.chain(others).map(|(owner, folder)| MemoryStore {
            name: String::new(),
            owner,
            folder,
        });
        let mut stores: Vec<MemoryStore> = stores.collect();
        name(&mut stores);
        MemoryStores { stores, unreadable, reader: StoreReader::new(env) }
    }

    /// Audits every store that has memories. One that cannot be read does not stop the others.
    pub fn audit_all(&mut self, scope: AuditScope) -> Vec<StoreAudit> {
        let mut audited = Vec::new();
        for store in &self.stores {
            match self.reader.audit(store, scope) {
                Ok(found) => audited.extend(found.map(StoreAudit::named)),
                Err(failure) => self.unreadable.push((store.place(), failure.to_string())),
            }
        }
        audited
    }

    /// Reads and scores the memories of a store. `None` if it has none, and nothing that could not be read.
    pub fn audit(&self, store: &MemoryStore, scope: AuditScope) -> Result<Option<StoreAudit>, Failure> {
        self.reader.audit(store, scope)
    }

    /// The store that somebody means: by its name, its path, or a part of one of them that no other has.
    pub fn find(&self, env: &Env, typed: &str) -> Result<MemoryStore, NoSuchStore> {
        if let Some(exact) = self.stores.iter().find(|store| store.name == typed) {
            return Ok(exact.clone());
        }
        let path = real_path(&RealDisk, &env.cwd.join(typed)).ok().filter(|path| RealDisk.is_folder(path));
        if let Some(path) = path.filter(|_| typed.contains(['/', '\\', '.'])) {
            let root =
                locate(&RealDisk, &path).map_or_else(|_| repository_root(&path), |found| found.project);
            let is_meant =
                |store: &&MemoryStore| store.root() == Some(&root) || store.folder.as_ref() == Some(&path);
            return Ok(self.stores.iter().find(is_meant).cloned().unwrap_or_else(|| MemoryStore {
                name: root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned(),
                owner: AutoOwner::Project { root, shared_with: Vec::new() },
                folder: None,
            }));
        }
        let wanted = typed.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let by_name: Vec<&MemoryStore> = self.stores.iter().filter(|store| has(&store.name)).collect();
        let by_path = || self.stores.iter().filter(|store| has(&store.place().to_string_lossy())).collect();
        let near: Vec<&MemoryStore> = if by_name.is_empty() { by_path() } else { by_name };
        match near.as_slice() {
            [only] => Ok((*only).clone()),
            _ => Err(NoSuchStore { near: near.iter().map(|store| store.name.clone()).collect() }),
        }
    }
}

impl StoreAudit {
    /// Its memories say where they are.
    fn named(mut self) -> StoreAudit {
        for memory in &mut self.report.memories {
            memory.store = Some(self.store.name.clone());
        }
        self
    }
}

impl AuditReport {
    /// One report of many stores, with paths that do not depend on where one is.
    pub fn of_stores(audited: Vec<StoreAudit>) -> AuditReport {
        let (mut memories, mut unreadable) = (Vec::new(), Vec::new());
        for StoreAudit { store, report, .. } in audited {
            let whole = |path: String| match store.root() {
                Some(root) => root.join(path).to_string_lossy().into_owned(),
                None => path,
            };
            let named = report.memories.into_iter();
            memories.extend(named.map(|memory| MemoryAudit { path: whole(memory.path.clone()), ..memory }));
            unreadable.extend(report.unreadable.into_iter().map(|(path, why)| (whole(path), why)));
        }
        AuditReport::of(memories, unreadable)
    }
}

/// Gives each store the shortest end of its path that no other has.
fn name(stores: &mut [MemoryStore]) {
    let parts: Vec<Vec<String>> = stores.iter().map(MemoryStore::name_parts).collect();
    let longest = parts.iter().map(Vec::len).max().unwrap_or_default();
    let mut unnamed: Vec<usize> = (0..stores.len()).collect();
    for length in 1..=longest {
        let end = |at: &usize| parts[*at][parts[*at].len().saturating_sub(length)..].join("/");
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        unnamed.iter().for_each(|at| *counts.entry(end(at)).or_default() += 1);
        for at in &unnamed {
            stores[*at].name = end(at);
        }
        unnamed.retain(|at| counts[&end(at)] > 1 && parts[*at].len() > length);
    }
}

impl MemoryStore {
    /// The root of its project, as long as that exists.
    pub fn root(&self) -> Option<&PathBuf> {
        match &self.owner {
            AutoOwner::Project { root, .. } => Some(root),
            AutoOwner::Agent { project, .. } => project.as_ref(),
            AutoOwner::Everyone | AutoOwner::Nobody { .. } => None,
        }
    }

    /// The project's folder, or the folder of the memories.
    pub fn place(&self) -> PathBuf {
        match (&self.owner, &self.folder) {
            (AutoOwner::Project { root, .. }, _) => root.clone(),
            (_, Some(folder)) => folder.clone(),
            (_, None) => PathBuf::new(),
        }
    }

    fn name_parts(&self) -> Vec<String> {
        let folder = match &self.owner {
            AutoOwner::Nobody { former: Some(former) } => Some(former.clone()),
            // What the client made of a path that nobody knows.
            AutoOwner::Nobody { former: None } => {
                self.folder.as_ref().and_then(|folder| folder.parent()).map(Path::to_owned)
            }
            _ => Some(self.place()),
        };
        let folder = folder.unwrap_or_default();
        let parts = folder.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
        let mut parts: Vec<String> = parts.filter(|part| part != "/").collect();
        if let AutoOwner::Agent { name, project } = &self.owner {
            let project = project.as_ref().and_then(|root| root.file_name());
            parts.truncate(parts.len().saturating_sub(3));
            let of = project.map(|project| format!(" in {}", project.to_string_lossy()));
            parts.push(format!("agent {name}{}", of.unwrap_or_default()));
        }
        parts
    }
}

impl StoreReader {
    fn new(env: &Env) -> StoreReader {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let (folders, client) = (env.folders(), ClientFolder::of(env));
        let user = folders.as_ref().map(|folders| folders.config.as_path());
        // A folder without settings of a project.
        let policy = ConfigFiles::of_project(&*disk, user.unwrap_or(Path::new("/")), user).read(&*disk);
        let client_settings = client.as_ref().and_then(|client| client.settings(&*disk));
        StoreReader { disk, now: env.now, folders, client, client_settings, policy }
    }

    fn audit(&self, store: &MemoryStore, scope: AuditScope) -> Result<Option<StoreAudit>, Failure> {
        let disk = &*self.disk;
        let root = store.root().map(PathBuf::as_path);
        // Most projects have nothing of their own, and then nothing more is looked for.
        let has_own = root.filter(|root| OWN.iter().any(|name| disk.exists(&root.join(name))));
        let user = self.folders.as_ref().map(|folders| folders.config.as_path());
        let policy = has_own.map(|root| ConfigFiles::of_project(disk, root, user).read(disk));
        let policy = policy.as_ref().unwrap_or(&self.policy);
        let (lanes, key) = self.lanes(store, has_own, policy)?;
        let lanes: Vec<&Lane> = lanes.iter().collect();
        let context = AuditContext {
            disk,
            now: self.now,
            policy,
            project: root,
            marks: marks_of(&lanes),
            cache: self.folders.as_ref().map(|folders| VerdictCache::of(folders, &key)),
        };
        let subjects = context.subjects(&lanes, scope.lane)?;
        let auto = lanes.iter().find(|lane| lane.id() == LaneId::Auto);
        let auto = auto.filter(|_| scope.lane.is_none_or(|only| only == LaneId::Auto));
        let mut index = auto.map(|lane| index_tokens(lane, &subjects)).unwrap_or_default();
        let loads = |client: &ClientFolder| {
            let project = has_own.unwrap_or(Path::new("/"));
            client.loads_memory(disk, self.client_settings.as_ref(), project)
        };
        // If the user's settings name one folder for all projects, the client does not load those of projects.
        let is_named =
            self.client_settings.as_ref().is_some_and(|said| said.at("autoMemoryDirectory").is_some());
        let is_unused = match store.owner {
            AutoOwner::Nobody { .. } => true,
            AutoOwner::Project { .. } => is_named,
            AutoOwner::Agent { .. } | AutoOwner::Everyone => false,
        };
        if is_unused || !self.client.as_ref().is_some_and(loads) {
            index = IndexTokens { on_demand: index.on_demand, ..IndexTokens::default() };
        }
        let report = context.report(subjects, &lanes, scope)?;
        let has_nothing = report.memories.is_empty() && report.unreadable.is_empty();
        let is_empty = has_nothing && index == IndexTokens::default();
        Ok((!is_empty).then_some(StoreAudit { store: store.clone(), report, index }))
    }

    /// The lanes of a store, and the path that its verdicts are kept by.
    fn lanes(
        &self,
        store: &MemoryStore,
        has_own: Option<&Path>,
        policy: &Policy,
    ) -> Result<(Vec<Lane>, PathBuf), Failure> {
        let (disk, mut lanes) = (&self.disk, Vec::new());
        let project = Some(&store.owner).and_then(|owner| match owner {
            AutoOwner::Project { root, .. } => Some(root),
            _ => None,
        });
        let records = match project {
            Some(root) if has_own.is_some() => {
                let located = settle(&**disk, root)?;
                if disk.is_folder(&located.lane) {
                    let (dialect, known_as) =
                        (Records::new(&located.root_from_project), &located.root_from_project);
                    let (root, marks) = (located.lane.clone(), root.join(MARKS_FOLDER));
                    lanes.push(Lane::read_only(disk, Box::new(dialect), root, known_as, marks));
                }
                Some(located.lane)
            }
            _ => project.map(|root| root.join(DEFAULT_ROOT)),
        };
        let keeps_notes = policy.notes_enabled() && policy.notes_storage() == NotesStorage::Project;
        if let Some(root) = project.filter(|_| has_own.is_some() && keeps_notes) {
            let found = NotesLocation::find(&**disk, root, None, NotesStorage::Project).ok().flatten();
            if let Some(notes) = found.filter(|notes| disk.is_folder(&notes.root)) {
                let known_as = inside(Some(root), &notes.root);
                lanes.push(Lane::read_only(disk, Box::new(Notes), notes.root, &known_as, notes.marks));
            }
        }
        let committed = records.as_ref().filter(|records| disk.exists(&records.join(MEMORY_FILE))).cloned();
        let folder = store.folder.as_ref().and_then(|folder| resolved(&**disk, folder)).or(committed);
        let key = match (&records, &folder) {
            (Some(records), _) => records.clone(),
            (None, Some(folder)) => key_of(folder),
            (None, None) => store.place(),
        };
        if let Some(folder) = folder {
            let root = store.root().map(PathBuf::as_path);
            let marks = match (root.filter(|root| folder.starts_with(root)), &self.folders) {
                (Some(root), _) => root.join(MARKS_FOLDER),
                (None, Some(folders)) => ClientFolder::marks_of(folders, &folder),
                (None, None) => folder.clone(),
            };
            let dialect = Auto { shares_records: records.as_ref() == Some(&folder) };
            let known_as = inside(root, &folder);
            lanes.push(Lane::read_only(disk, Box::new(dialect), folder, &known_as, marks));
        }
        Ok((lanes, key))
    }
}

/// A folder as listings show it: relative to its project.
fn inside(root: Option<&Path>, folder: &Path) -> String {
    let below = root.and_then(|root| folder.strip_prefix(root).ok());
    below.unwrap_or(folder).to_string_lossy().replace('\\', "/")
}

/// The marks of all lanes. What cannot be read says nothing.
fn marks_of(lanes: &[&Lane]) -> Marks {
    let files: BTreeMap<String, &Lane> =
        lanes.iter().map(|lane| (lane.documents.marks_key(), *lane)).collect();
    let mut lines = Vec::new();
    for lane in files.values() {
        lines.append(&mut lane.read_marks().unwrap_or_default());
        lines.push(b'\n');
    }
    Marks::read(&lines)
}

/// What the client loads of a folder.
fn index_tokens(lane: &Lane, subjects: &Subjects) -> IndexTokens {
    let path = RelPath::parse(MEMORY_FILE).expect("a file name is a path");
    let text = lane.read(&path).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let of_lane = subjects
        .readable
        .iter()
        .map(|subject| &subject.loaded)
        .filter(|loaded| loaded.memory.address.is_auto() && !loaded.memory.address.is_memory_file());
    let topics: Vec<TopicFile> = of_lane
        .map(|loaded| TopicFile { path: loaded.path.clone(), tokens: tokens(&loaded.memory.body.prose()) })
        .collect();
    let report = IndexReport::of(&text, &topics, &[], &|_| true);
    IndexTokens {
        loaded: report.loaded_tokens,
        on_demand: report.on_demand_tokens,
        lost: report.lost_tokens,
        lost_entries: report.lost.len(),
    }
}
