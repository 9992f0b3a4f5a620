//! Two doors for every face: [`Workspace::recall`] and [`Workspace::commit`].
//!
//! Store and index meet only here. A face asks with plain data and gets plain data; it never sees a lock, a
//! file or a row.

mod bench;
mod brief;
mod commit;
mod consolidate;
mod doctor;
mod error;
mod examine;
mod fence;
mod forget;
mod glance;
mod graph;
mod init;
mod lane;
mod lanes;
mod listing;
mod locate;
mod meaning;
mod notes;
mod project;
mod recall;
mod stage;
mod triage;
mod trust;

pub use bench::Benched;
pub use brief::{Account, Fate};
pub use commit::Logged;
pub use consolidate::{End, How, Report, Task, Work};
pub use doctor::{Diagnosis, Finding, Overview, Sync};
pub use error::{Failure, Unclear};
pub use examine::{Examined, Former, examine_after};
pub use fence::{guard, guard_by_name};
pub use forget::{Checked, Did, Forgotten, InGit};
pub use graph::{Comparison, Duplicate, Duplicates, Inbound, Links};
pub use init::{Founding, init, init_on, plan_init};
pub use locate::{Located, locate, locate_root};
pub use meaning::Learned;
pub use notes::{Merge, Moved};
pub use triage::{Asking, Desk, MayAsk, Spoken, Triaged, Turn};

use crate::captures::Captures;
use crate::config::ConfigFiles;
use crate::disk::{Disk, RealDisk};
use crate::env::{Env, Folders};
use crate::hooklog::HOOK_LOG;
use crate::index::{Index, Rebuild, Seen, Wanted};
use crate::model::{self, Meaning, ModelError, Shelf};
use crate::store::{Place, Store};
use lane::Lane;
use lanes::Lanes;
use lorelane_core::candidate::{self, Candidate, Verdict};
use lorelane_core::change::Notice;
use lorelane_core::corpus::Entry;
use lorelane_core::dialect::Problem;
use lorelane_core::dialect::notes::restored;
use lorelane_core::dialect::records::Records;
use lorelane_core::digest::Revision;
use lorelane_core::fence::spelled_out;
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::{MARKS_FOLDER, Marks};
use lorelane_core::memory::{Address, Category, LaneId, Memory};
use lorelane_core::path::RelPath;
use lorelane_core::policy::Policy;
use lorelane_core::recall::weigh::Weights;
use lorelane_core::recall::{Hit, Query, candidate_if};
use lorelane_core::refusal::Refusal;
use lorelane_core::text::slug;
use lorelane_core::time::Timestamp;
use project::Project;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trust::TRUST_FOLDER;

const JOURNAL: &str = "journal";
const MARKS_FILE: &str = "marks.jsonl";
const LISTING_MAX_BYTES: u64 = 256 << 20;
/// How many memories are read to rank them for a long text: many more than anybody is shown.
const NEAR_MAX: usize = 48;

/// The memories of one project.
#[derive(Debug)]
pub struct Workspace {
    now: Timestamp,
    project: Project,
    lanes: Lanes,
    /// Where notes lie, or would lie.
    notes: Option<notes::Place>,
    disk: Arc<dyn Disk>,
    policy: Policy,
    config: ConfigFiles,
    folders: Option<Folders>,
    /// The added model, in a process that lives long.
    model: Option<Arc<dyn Meaning>>,
    /// What each signal of recall counts.
    weights: Weights,
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
        match locate(&*disk, start) {
            Ok(located) => Workspace::open_on(disk, env, located),
            // Notes of the user's own are there in every folder.
            Err(Failure::NoStore { start }) => match locate::locate_bare(&*disk, &start) {
                Ok(bare) if notes::are_the_users(&*disk, env, &bare.project) => {
                    Workspace::open_on(disk, env, bare)
                }
                _ => Err(Failure::NoStore { start }),
            },
            Err(failure) => Err(failure),
        }
    }

    /// Opens the project whose records lie in `root`, as the scripts name it.
    pub fn open_root(env: &Env, root: &Path) -> Result<Workspace, Failure> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let located = locate_root(&*disk, root)?;
        Workspace::open_on(disk, env, located)
    }

    /// Opens a project that was found before, on any disk.
    pub fn open_on(disk: Arc<dyn Disk>, env: &Env, located: Located) -> Result<Workspace, Failure> {
        let Located { project, lane, root_from_project, has_notes } = located;
        let folders = env.folders();
        let own = folders.as_ref().map(Folders::all).unwrap_or_default();
        let below = disk.below(&project, &own).map_err(|source| Failure::io("open", &project, source))?;
        let disk = below.unwrap_or(disk);
        let config =
            ConfigFiles::of_project(&project, folders.as_ref().map(|folders| folders.config.as_path()));
        let mut policy = trust::settled(&*disk, env.now, folders.as_ref(), &config, &project, &lane);
        let project = Project::new(&disk, project, &lane, folders.as_ref());
        let records = Lane::open(
            Arc::clone(&disk),
            &project,
            Box::new(Records::new(&root_from_project)),
            lane,
            &root_from_project,
            project.root.join(MARKS_FOLDER),
        );
        let notes = match has_notes {
            true => notes::place(&*disk, &project.root, folders.as_ref(), &mut policy),
            false => None,
        };
        let lanes = Lanes::new(records);
        let (now, weights) = (env.now, Weights::of(&policy));
        let mut workspace =
            Workspace { now, project, lanes, notes, disk, policy, config, folders, model: None, weights };
        workspace.meet_notes();
        Ok(workspace)
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    pub fn project(&self) -> &Path {
        &self.project.root
    }

    /// The records' real folder.
    pub fn lane(&self) -> &Path {
        &self.lanes.records().root
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

    /// The records' store.
    pub fn store(&self) -> &Store {
        &self.lanes.records().store
    }

    /// The path of a memory's file from the project's root, as listings and scripts know it; in full for one that
    /// lies elsewhere.
    pub fn listed_path(&self, address: &Address) -> String {
        let lane = self.lanes.of(address).unwrap_or_else(|| self.lanes.records());
        lane.dialect.place(address).map_or_else(String::new, |path| lane.listed_path(&path))
    }

    /// The file that an address has, or would have.
    pub fn file(&self, address: &Address) -> Option<PathBuf> {
        let lane = self.lanes.of(address)?;
        lane.dialect.place(address).map(|path| lane.file(&path))
    }

    /// The lane of an address, opened for a change if need be.
    fn lane_for(&mut self, address: &Address) -> Result<LaneId, Failure> {
        match address.lane() {
            LaneId::Records => Ok(LaneId::Records),
            LaneId::Notes => self.open_notes(),
        }
    }

    /// Makes every index fresh if a folder changed since it was written.
    fn refresh(&mut self) -> Result<(), Failure> {
        self.meet_notes();
        self.lanes.iter_mut().try_for_each(Lane::refresh)
    }

    /// Looks at every file and reads those that changed. A file edited in place leaves its folder's time as it
    /// was: commands that may take a moment look anyway.
    pub fn look_at_every_file(&mut self) -> Result<(), Failure> {
        self.meet_notes();
        self.lanes.iter_mut().try_for_each(Lane::look)
    }

    /// What could not be read at the last look, though it is there: nothing of it is found, until it can be read.
    pub fn not_read(&mut self) -> Result<Vec<(PathBuf, String)>, Failure> {
        let mut problems = Vec::new();
        for lane in &mut self.lanes {
            problems.append(&mut lane.not_read()?);
        }
        Ok(problems)
    }

    /// How every file of a memory looks from outside, without asking the index: two such maps tell a watcher what
    /// changed between them, also what another process took into the index meanwhile.
    pub fn sightings(&self) -> BTreeMap<Address, Seen> {
        self.lanes.iter().flat_map(Lane::sightings).collect()
    }

    /// The folders that are written to, and what for.
    pub fn declared_folders(&self) -> Vec<(PathBuf, &'static str)> {
        let lane = &self.lanes.records().root;
        let key = Folders::lane_key(lane);
        let mut declared = vec![
            (lane.clone(), "memories, listing, settings of the records"),
            (self.project.root.join(MARKS_FOLDER), "marks: pins, former addresses, origins, rejections"),
            (self.config.project.clone(), "settings of lorelane"),
        ];
        if !self.config.records.starts_with(lane) {
            declared.push((self.config.records.clone(), "settings of the records"));
        }
        if let Some(notes) = &self.notes {
            declared.push((notes.root.clone(), "notes"));
            if notes.marks != self.project.root.join(MARKS_FOLDER) {
                declared.push((notes.marks.join(MARKS_FILE), "marks of the notes"));
            }
        }
        if let Some(folders) = &self.folders {
            if let Some(notes) = &self.notes {
                let key = Folders::lane_key(&notes.root);
                let journal = self.project.journal(&notes.root).declared();
                declared.push((journal, "journal of the notes: log, undo"));
                declared.push((folders.cache.join("lanes").join(&key), "index of the notes: may be deleted"));
            }
            declared.push((self.project.journal(lane).declared(), "journal: log, undo"));
            declared.extend(self.project.declared());
            declared.push((folders.cache.join("lanes").join(&key), "index: may be deleted"));
            declared.push((folders.state.join(HOOK_LOG), "what hooks could not do"));
            declared.push((folders.state.join(TRUST_FOLDER), "projects whose settings you trust"));
            declared.push((model::folder(folders), "the second model, if one was added"));
            declared.push((crate::setup::folder(folders), "what `setup` installed, and backups"));
        }
        declared
    }

    /// Where a second model lies, or would lie.
    pub fn shelf(&self) -> Result<Shelf, ModelError> {
        Shelf::new(Arc::clone(&self.disk), self.folders.as_ref())
    }

    /// A private folder for drafts of this project, which somebody writes to now.
    pub fn drafts_folder(&self) -> PathBuf {
        self.project.drafts.for_writing()
    }

    /// What triage found in this project's sessions. Without a home there is no private place for it: nothing is
    /// found there, and saving fails.
    pub fn captures(&self) -> Captures {
        self.project.captures(&self.disk)
    }

    pub fn entries(&mut self, wanted: Wanted) -> Result<Vec<Entry>, Failure> {
        self.refresh()?;
        let mut entries = Vec::new();
        for lane in &mut self.lanes {
            entries.append(&mut lane.ask(|index| index.entries(wanted))?);
        }
        Ok(entries)
    }

    /// The memories in a status that changed last, newest first and then by their addresses, and how many there are.
    /// Reads no more than it returns.
    pub fn newest(&mut self, status: Status, limit: usize) -> Result<(Vec<Entry>, usize), Failure> {
        self.refresh()?;
        let (mut entries, mut total) = (Vec::new(), 0);
        for lane in &mut self.lanes {
            entries.append(&mut lane.ask(|index| index.newest(status, limit))?);
            total += lane.ask(|index| index.count_of(status))?;
        }
        sort_newest_first(&mut entries);
        entries.truncate(limit);
        Ok((entries, total))
    }

    /// Whether new information belongs to a memory of this category, and what may be done with it. By name first; a
    /// memory that is called something else and says the same is found by what it says.
    pub fn candidate(
        &mut self,
        category: Category,
        new_info: &str,
        lifecycle_event: Option<&str>,
    ) -> Result<Verdict, Failure> {
        let mut query = Query::new(new_info, self.now);
        query.categories = vec![category];
        let is_about = |hit: &Hit| candidate::is_about(&hit.explain, &hit.title);
        let found = match self.best_named(&query, is_about)? {
            Some(named) => Some(named),
            None => self.same_subject(&query)?,
        };
        Ok(self.verdict(category, found, lifecycle_event))
    }

    /// The same by names alone, as the first system has it.
    pub fn candidate_by_name(
        &mut self,
        category: Category,
        new_info: &str,
        lifecycle_event: Option<&str>,
    ) -> Result<Verdict, Failure> {
        let mut query = Query::new(new_info, self.now);
        query.categories = vec![category];
        let found = self.best_named(&query, |_| true)?;
        Ok(self.verdict(category, found, lifecycle_event))
    }

    fn best_named(&mut self, query: &Query, passes: fn(&Hit) -> bool) -> Result<Option<Hit>, Failure> {
        self.lanes.records_mut().refresh()?;
        let mut found = self.nearest(query, passes)?;
        if found.as_ref().is_some_and(|hit| !self.stands(query, hit, passes)) {
            // The index lags behind a file that was edited in place.
            self.lanes.records_mut().look()?;
            found = self.nearest(query, passes)?;
        }
        Ok(found)
    }

    fn verdict(&self, category: Category, found: Option<Hit>, lifecycle_event: Option<&str>) -> Verdict {
        let candidate = found.and_then(|hit| {
            let loaded = self.load(&hit.address).ok()?;
            Some(Candidate { path: self.listed_path(&hit.address), memory: loaded.memory, score: hit.score })
        });
        candidate::decide(category, candidate, lifecycle_event)
    }

    fn nearest(&mut self, query: &Query, passes: fn(&Hit) -> bool) -> Result<Option<Hit>, Failure> {
        self.lanes.records_mut().ask(|index| {
            index.with_named(query, usize::MAX, |reaching| candidate_if(query, reaching, passes))
        })
    }

    /// Whether the file of a hit still says what the index says of it.
    fn stands(&self, query: &Query, hit: &Hit, passes: fn(&Hit) -> bool) -> bool {
        self.load(&hit.address).is_ok_and(|loaded| {
            let entry = Entry::of(&loaded.memory, &loaded.path);
            candidate_if(query, std::iter::once((i32::MAX, &entry)), passes).as_ref() == Some(hit)
        })
    }

    /// What is marked, as far as it can be read: a file of marks that cannot be is for `doctor` to report.
    pub fn marks(&self) -> Marks {
        self.read_marks().unwrap_or_default()
    }

    /// The last of what is marked, see `marks_not_read`: for what must not take longer because of a file that a
    /// repository brought.
    pub(crate) fn recent_marks(&self) -> Marks {
        self.marks_by(Lane::read_recent_marks).unwrap_or_default()
    }

    /// What recall and hooks do not read of the marks, if they do not read all of them.
    pub fn marks_not_read(&self) -> Option<String> {
        let large = self.lanes.iter().find_map(|lane| Some((lane, lane.has_more_marks()?)));
        large.map(|(lane, bytes)| {
            let file = lane.store.path_of(&Place::Marks);
            let size = bytes.div_ceil(1 << 20);
            format!("{} has {size} MiB: recall and hooks read only its last MiB", file.display())
        })
    }

    fn read_marks(&self) -> Result<Marks, Failure> {
        self.marks_by(Lane::read_marks)
    }

    /// Lanes of one project share a file.
    fn marks_by(&self, read: fn(&Lane) -> Result<Vec<u8>, Failure>) -> Result<Marks, Failure> {
        let mut files = BTreeSet::new();
        let mut lines = Vec::new();
        for lane in self.lanes.iter().filter(|lane| files.insert(lane.store.path_of(&Place::Marks))) {
            lines.append(&mut read(lane)?);
            lines.push(b'\n');
        }
        Ok(Marks::read(&lines))
    }

    /// The memory that has this address, or had it before it was renamed.
    pub fn at(&self, address: &Address) -> Option<Address> {
        let known =
            std::iter::once(address.clone()).chain(address.spellings()).find(|spelled| self.exists(spelled));
        if known.is_some() {
            return known;
        }
        let marks = self.marks();
        let now = Some(marks.follow(address)).filter(|now| self.exists(now));
        now.cloned().or_else(|| self.spelled_out(address))
    }

    /// The note whose name a model read with its signs by their numbers.
    fn spelled_out(&self, address: &Address) -> Option<Address> {
        let name = Some(address.name()).filter(|name| address.is_note() && name.contains('%'))?;
        Address::note(&spelled_out(name)?).filter(|note| self.exists(note))
    }

    /// The memory a person means: an address, an old address, a path, or a slug that is unique.
    pub fn find(&mut self, typed: &str) -> Result<Address, Failure> {
        if let Some(address) = Address::parse(typed).and_then(|address| self.at(&address)) {
            return Ok(address);
        }
        let marks = self.marks();
        let name = typed.rsplit('/').next().unwrap_or(typed);
        let name = name.strip_suffix(".json").unwrap_or(name);
        let same: Vec<Address> = self.called(typed, name)?;
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
        let several = !same.is_empty();
        let near = if same.is_empty() { similar(&self.entries(Wanted::default())?, name) } else { same };
        // A log that cannot be read is named by whoever asks for it.
        let deleted = if several { Vec::new() } else { self.deleted_outside(typed).unwrap_or_default() };
        Err(Failure::Unclear(Unclear { typed: typed.to_owned(), near, deleted }))
    }

    /// The memory that a person means to restore: also one whose file was deleted outside, while the log has it.
    pub fn find_to_restore(&mut self, typed: &str) -> Result<Address, Failure> {
        let unclear = match self.find(typed) {
            Err(Failure::Unclear(unclear)) => unclear,
            found => return found,
        };
        let same = self.deleted_outside(typed)?;
        match same.as_slice() {
            [] => Err(Failure::Unclear(unclear)),
            [only] => Ok(only.clone()),
            _ => Err(Failure::Unclear(Unclear { typed: typed.to_owned(), near: same, deleted: Vec::new() })),
        }
    }

    /// Memories that are or were called so, whose files are gone, while the log has their bytes.
    fn deleted_outside(&self, typed: &str) -> Result<Vec<Address>, Failure> {
        let (marks, asked) = (self.marks(), Address::parse(typed));
        let is_called = |address: &Address| {
            let called = !typed.contains('/') && address.name() == typed;
            called || Some(address) == asked.as_ref() || self.listed_path(address) == typed
        };
        let mut deleted = Vec::new();
        for lane in &self.lanes {
            let paths = lane.store.outside()?.deleted;
            deleted.extend(paths.iter().filter_map(|path| lane.dialect.address_of(path)));
        }
        deleted.retain(|address| is_called(address) || marks.former(address).iter().any(is_called));
        Ok(deleted)
    }

    /// The memories that are called so: records by their slug, notes by their path or the last part of it, and if
    /// there is none, deleted notes by the name that they had.
    fn called(&mut self, typed: &str, name: &str) -> Result<Vec<Address>, Failure> {
        let bare = !typed.contains('/');
        let note = typed.strip_suffix(".md").unwrap_or(typed);
        let records = Category::ALL.into_iter().filter(|_| bare).map(|of| Address::record(of, name));
        let notes = Address::note(note).map(|note| [note.clone()].into_iter().chain(note.spellings()));
        let note_here = notes.into_iter().flatten().find(|note| self.exists(note));
        let mut same: Vec<Address> =
            records.filter(|address| self.exists(address)).chain(note_here).collect();
        if !same.is_empty() || self.lanes.get(LaneId::Notes).is_none() {
            return Ok(same);
        }
        let asked = Address::parse(typed).or_else(|| Address::note(note));
        let is_last = |address: &Address| {
            let last = |address: &Address| address.name().rsplit('/').next() == Some(note);
            last(address) || address.spellings().iter().any(last)
        };
        let was_called = |address: &Address| {
            let former = restored(address);
            former.is_some_and(|former| Some(&former) == asked.as_ref() || bare && is_last(&former))
        };
        let entries = self.entries(Wanted::default())?;
        let notes = || entries.iter().map(|entry| &entry.address).filter(|address| address.is_note());
        same.extend(notes().filter(|address| bare && !address.is_trash() && is_last(address)).cloned());
        if same.is_empty() {
            same.extend(notes().filter(|address| was_called(address)).cloned());
        }
        Ok(same)
    }

    fn exists(&self, address: &Address) -> bool {
        self.lanes.of(address).is_some_and(|lane| lane.exists(address))
    }

    /// Reads a memory from its file.
    pub fn load(&self, address: &Address) -> Result<Loaded, Failure> {
        match self.lanes.of(address) {
            Some(lane) => lane.load(address),
            None => Err(Refusal::Missing { address: address.clone() }.into()),
        }
    }

    /// Writes index and listing anew from the files. Returns the number of listed memories.
    pub fn reindex(&mut self, rebuild: Rebuild) -> Result<(usize, Vec<Notice>), Failure> {
        self.refuse_when_misconfigured()?;
        let (mut active, mut notices) = (0, Vec::new());
        let open = self.lanes.ids();
        for &id in &open {
            // A lane without a folder has nothing that could be written anew beside one that has.
            if open.len() > 1 && !locate::is_folder(&*self.disk, &self.lanes[id].root) {
                continue;
            }
            let store = Arc::clone(&self.lanes[id].store);
            let mut writer = store.begin()?;
            notices.extend(commit::warnings(writer.warnings()));
            notices.extend(self.complete_forgetting(id, &mut writer));
            active += self.lanes[id].reindex(rebuild, &mut notices)?;
            writer.finish()?;
        }
        Ok((active, notices))
    }

    /// All that the indexes say, in text.
    pub fn index_dump(&mut self) -> Result<String, Failure> {
        self.refresh()?;
        self.lanes.iter_mut().map(|lane| lane.ask(Index::dump)).collect()
    }

    /// All that indexes made anew from the files would say.
    pub fn rebuilt_dump(&self) -> Result<String, Failure> {
        self.lanes.iter().map(Lane::rebuilt_dump).collect()
    }
}

/// Those that changed last first, then by their addresses.
pub fn sort_newest_first(entries: &mut [Entry]) {
    entries.sort_by(|a, b| b.changed().cmp(&a.changed()).then_with(|| a.address.cmp(&b.address)));
}

fn similar(entries: &[Entry], name: &str) -> Vec<Address> {
    let wanted = slug(name);
    let near = |entry: &&Entry| {
        let own = entry.address.name();
        !wanted.is_empty() && (own.contains(&wanted) || wanted.contains(own))
    };
    entries.iter().filter(near).map(|entry| entry.address.clone()).take(8).collect()
}
