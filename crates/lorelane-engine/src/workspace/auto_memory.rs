//! Claude Code's memory folder as a whole: what the client loads of it, and making its index smaller.

use super::lane::{CommittedFiles, FileContent, Lane, LaneListing};
use super::open::auto::AutoLocation;
use super::open::locate;
use super::{Failure, Workspace};
use crate::backend::{ChangeTarget, Edit};
use crate::disk::{Disk, RealDisk};
use crate::env::Env;
use crate::index::{Index, ListFilter};
use lorelane_core::dialect::Problem;
use lorelane_core::dialect::auto::{
    IndexReport, Instructions, MEMORY_FILE, MemoryIndex, TidyIndex, TopicFile, load_index, split_standalone,
    tidied,
};
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Address, LaneId};
use lorelane_core::path::RelPath;
use lorelane_core::recall::Hit;
use lorelane_core::text::tokens;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files that Claude Code loads besides its index.
const INSTRUCTIONS: [&str; 3] = ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"];
const INSTRUCTIONS_MAX_BYTES: u64 = 1 << 20;
/// What the log says of it.
const TIDY: &str = "auto tidy";
/// The client that loads the index by itself, as hooks name it.
const OWNER: &str = "claude-code";

/// Opens the project around `start` for its auto memory, even if it has no store of its own.
pub fn open_for_auto(env: &Env, start: &Path) -> Result<Workspace, Failure> {
    match Workspace::open(env, start) {
        Err(Failure::NoStore { start }) => {
            let disk: Arc<dyn Disk> = Arc::new(RealDisk);
            let bare = locate::locate_bare(&*disk, &start)?;
            Workspace::open_on(disk, env, bare)
        }
        opened => opened,
    }
}

/// Claude Code's memory folder of a borrowed workspace.
#[derive(Debug)]
pub struct AutoMemory<'w> {
    workspace: &'w mut Workspace,
    location: AutoLocation,
}

/// What `auto tidy` did or would do.
#[derive(Clone, Debug)]
pub struct TidyReport {
    pub folder: PathBuf,
    pub before: IndexSize,
    pub after: IndexSize,
    /// The files that take what left the index.
    pub topics: Vec<RelPath>,
    /// Where the original is kept, if it was not an index.
    pub original: Option<RelPath>,
}

/// The size of an index as the client counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexSize {
    pub lines: usize,
    pub units: usize,
}

impl IndexSize {
    fn of(text: &str) -> IndexSize {
        let loaded = load_index(text);
        IndexSize { lines: loaded.lines, units: loaded.units }
    }
}

impl<'w> AutoMemory<'w> {
    /// An error if the project has no such folder.
    pub fn of(workspace: &'w mut Workspace) -> Result<AutoMemory<'w>, Failure> {
        let location = workspace.auto.clone().ok_or(Failure::NoAutoMemory)?;
        Ok(AutoMemory { workspace, location })
    }
}

impl AutoMemory<'_> {
    pub fn folder(&self) -> &Path {
        &self.location.root
    }

    /// Whether the client loads the index when a session starts.
    pub fn is_loaded(&self) -> bool {
        self.location.is_loaded
    }

    fn lane(&mut self) -> &mut Lane {
        &mut self.workspace.lanes[LaneId::Auto]
    }

    /// What the client loads, what it loses, and what is wrong with the index.
    pub fn report(&mut self) -> Result<IndexReport, Failure> {
        let text = index_text(self.lane())?;
        let (mut topics, mut problems) = (Vec::new(), Vec::new());
        for address in self.active()?.into_iter().filter(|address| !address.is_memory_file()) {
            let Ok(loaded) = self.workspace.load(&address) else { continue };
            problems.extend(loaded.problems);
            topics.push(TopicFile { path: loaded.path, tokens: tokens(&loaded.memory.body.prose()) });
        }
        problems.extend(self.unreadable());
        let mut files = Vec::new();
        for name in INSTRUCTIONS {
            let path = self.workspace.project.root.join(name);
            let read = self.workspace.disk.read_regular(&path, INSTRUCTIONS_MAX_BYTES).ok().flatten();
            files.extend(read.map(|bytes| (name, String::from_utf8_lossy(&bytes).into_owned())));
        }
        let files: Vec<Instructions<'_>> =
            files.iter().map(|(name, text)| Instructions { name, text }).collect();
        let lane = self.lane();
        let report = IndexReport::of(&text, &topics, &files, &|path| lane.stands(path));
        Ok(IndexReport { problems, ..report })
    }

    /// Files of the folder that are no memories because they cannot be read.
    fn unreadable(&mut self) -> Vec<Problem> {
        let lane = self.lane();
        let in_use =
            |path: &RelPath| lane.dialect.address_of(path).is_none_or(|address| !address.is_in_archive());
        let LaneListing { files, .. } = lane.files();
        let unread = files.into_iter().filter(in_use).filter_map(|path| match lane.content(&path) {
            FileContent::Unread { what, .. } => Some(vec![Problem { path, what }]),
            FileContent::Read { bytes, .. } => {
                let mut file = lane.parse(&path, bytes);
                let problems = std::mem::take(&mut file.problems);
                file.into_memory().is_err().then_some(problems)
            }
            FileContent::Gone => None,
        });
        unread.flatten().collect()
    }

    /// The addresses of the memories in use.
    fn active(&mut self) -> Result<Vec<Address>, Failure> {
        let lane = self.lane();
        lane.scan()?;
        let filter = ListFilter { kind: None, status: Some(Status::Active) };
        let entries = lane.with_index(|index: &Index| index.entries(filter))?;
        Ok(entries.into_iter().map(|entry| entry.address).collect())
    }

    /// What [`AutoMemory::tidy`] would do; `None` if the index is small enough.
    pub fn preview_tidy(&mut self) -> Result<Option<TidyReport>, Failure> {
        let text = index_text(self.lane())?;
        Ok(self.planned_tidy(&text)?.map(|(report, _)| report))
    }

    /// Brings the index below its limits: what does not fit moves to topic files.
    pub fn tidy(&mut self) -> Result<Option<TidyReport>, Failure> {
        self.workspace.refuse_when_misconfigured()?;
        // An index that is small enough needs no lock.
        if self.preview_tidy()?.is_none() {
            return Ok(None);
        }
        let documents = Arc::clone(&self.lane().documents);
        let mut writer = documents.begin()?;
        self.workspace.catch_up(LaneId::Auto, &mut *writer)?;
        // Planned under the lock: another writer may have changed the index while we waited.
        let text = index_text(self.lane())?;
        let Some((report, edits)) = self.planned_tidy(&text)? else { return Ok(None) };
        let done = writer.apply(edits, TIDY, self.workspace.now)?;
        let touched: Vec<RelPath> = done.changes.iter().filter_map(ChangeTarget::lane_path).collect();
        let committed = CommittedFiles::default();
        self.workspace.settle(LaneId::Auto, writer, &done.changes, &touched, committed, TIDY);
        Ok(Some(report))
    }

    fn planned_tidy(&mut self, text: &str) -> Result<Option<(TidyReport, Vec<Edit>)>, Failure> {
        let useful = self.usefulness()?;
        let now = self.workspace.now;
        let lane = self.lane();
        let taken = |path: &RelPath| lane.stands(path);
        let useful = |path: &RelPath| useful.get(path).copied().unwrap_or_default();
        let (TidyIndex { index, topics }, original) = match MemoryIndex::parse(text).is_standalone() {
            true => {
                let split = split_standalone(text, now, &taken);
                (TidyIndex { index: split.index, topics: split.topics }, Some(split.original))
            }
            false => match tidied(text, &taken, &useful) {
                Some(tidy) => (tidy, None),
                None => return Ok(None),
            },
        };
        let report = TidyReport {
            folder: self.location.root.clone(),
            before: IndexSize::of(text),
            after: IndexSize::of(&index),
            topics: topics.iter().map(|(path, _)| path.clone()).collect(),
            original: original.clone(),
        };
        let mut files = topics;
        files.extend(original.map(|path| (path, text.to_owned())));
        // The lock does not keep the client from writing meanwhile.
        let new = files.iter().map(|(path, _)| Edit::Expect { path: path.clone(), bytes: None });
        let mut edits: Vec<Edit> = new.collect();
        edits.push(Edit::Expect { path: memory_file(), bytes: Some(text.into()) });
        files.push((memory_file(), index));
        edits.extend(files.into_iter().map(|(path, text)| Edit::Put { path, bytes: text.into_bytes() }));
        Ok(Some((report, edits)))
    }

    /// How useful each file is: pinned ones most, then what was changed last.
    fn usefulness(&mut self) -> Result<BTreeMap<RelPath, i64>, Failure> {
        let pinned = self.workspace.marks().pinned;
        let lane = self.lane();
        lane.scan()?;
        let entries = lane.with_index(|index: &Index| index.entries(ListFilter::default()))?;
        let useful =
            |address: &Address, changed: i64| if pinned.contains(address) { i64::MAX } else { changed };
        let ranked = entries.into_iter().map(|entry| {
            let changed = entry.dated().map_or(0, |at| at.0);
            (entry.path.clone(), useful(&entry.address, changed))
        });
        Ok(ranked.collect())
    }
}

fn memory_file() -> RelPath {
    RelPath::parse(MEMORY_FILE).expect("a file name is a path")
}

/// The text of the index; empty if there is none.
fn index_text(lane: &Lane) -> Result<String, Failure> {
    let bytes = lane.read(&memory_file())?.unwrap_or_default();
    String::from_utf8(bytes).map_err(|_| Failure::NotText { file: lane.file(&memory_file()) })
}

/// The memories that a client's model has seen when its session starts.
#[derive(Clone, Debug, Default)]
pub(in crate::workspace) struct ClientContext {
    linked: BTreeSet<Address>,
    /// The first line of `MEMORY.md` that is not loaded; `None` if all of it is, or if it is not loaded at all.
    standalone: Option<StandaloneFile>,
}

#[derive(Clone, Copy, Debug)]
struct StandaloneFile {
    cut_at: Option<usize>,
}

impl ClientContext {
    /// What this client loads of the folder by itself: what its index links before the cut. Other clients load
    /// nothing.
    pub(in crate::workspace) fn of(
        disk: &dyn Disk,
        location: Option<&AutoLocation>,
        client: &str,
    ) -> ClientContext {
        let Some(location) = location.filter(|location| location.is_loaded && client == OWNER) else {
            return ClientContext::default();
        };
        let file = location.root.join(MEMORY_FILE);
        let bytes = disk.read_regular(&file, INSTRUCTIONS_MAX_BYTES).ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let (index, loaded) = (MemoryIndex::parse(&text), load_index(&text));
        let is_loaded = |number: usize| loaded.has_line(number);
        let linked = index.entries().filter(|(line, _)| is_loaded(line.number));
        let linked = linked.filter_map(|(_, entry)| Address::auto(entry.path.as_str().strip_suffix(".md")?));
        ClientContext {
            linked: linked.collect(),
            standalone: index.is_standalone().then_some(StandaloneFile { cut_at: loaded.cut_at }),
        }
    }

    pub(in crate::workspace) fn has(&self, address: &Address) -> bool {
        self.has_passage(address, None)
    }

    /// Whether the part of a memory that was found is in the client's context.
    pub(in crate::workspace) fn has_hit(&self, hit: &Hit) -> bool {
        self.has_passage(&hit.address, hit.lines)
    }

    fn has_passage(&self, address: &Address, lines: Option<(usize, usize)>) -> bool {
        match self.standalone.filter(|_| address.is_memory_file()) {
            Some(file) => file.cut_at.is_none_or(|cut_at| lines.is_some_and(|(_, last)| last < cut_at)),
            None => self.linked.contains(address),
        }
    }
}
