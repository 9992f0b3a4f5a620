//! An open project: [`Workspace::recall`] reads, [`Workspace::commit`] writes.
//!
//! Store and index meet only here. A face passes plain data in and gets plain data back; it never sees a lock, a
//! file handle or an index row.

mod act;
mod audit;
mod auto_memory;
mod capture;
mod commit;
mod files;
mod find;
mod lane;
mod lanes;
mod maintenance;
mod open;
mod project;
mod recall;
mod working_set;
mod write_guard;

pub use crate::failure::{Failure, UnclearName};
pub use crate::finding::Finding;
pub use act::ToolCall;
pub use audit::{
    AuditReport, AuditScope, BrokenMention, CheckReport, CheckScope, IndexTokens, MemoryAudit, MemoryStore,
    MemoryStores, NoSuchStore, StoreAudit,
};
pub use auto_memory::{AutoMemory, IndexSize, TidyReport, open_for_auto};
pub use capture::{
    AskPolicy, ConsolidationReport, DraftRequest, ExtractReport, ExtractedItem, InboxAction, InboxEntry,
    ItemOutcome, ItemResult, LeftOut, SessionCapture, SessionChoice, SessionChoiceError, SessionFile,
    StopContext, StopRequest, Task, TranscriptSource, Turn, UnreadSession,
};
pub use commit::{Changes, LaneLogEntry, LogSource, NoteMerge, NotesMove};
pub use files::Files;
pub use find::LoadedMemory;
pub use maintenance::{
    BenchOutcome, Diagnosis, EraseCheck, EraseResult, ForgetReport, Maintenance, Overview, RepositoryTraces,
    Sync,
};
pub use open::{AutoFolder, AutoOwner, ClientInventory};
pub use open::{InitReport, ProjectLocation, Settings, init, init_on, locate, locate_root, plan_init};
pub use recall::{
    Comparison, Duplicate, DuplicateGroup, EmbedProgress, Inbound, LinkReport, Recall, ReminderOutcome,
    Reminders, WhyReport, sort_newest_first,
};
pub use working_set::{
    AddRequest, AdviceAnswer, AdviceRequest, AssembledContext, ClientSession, CollectRequest, GivenHandover,
    RestoredFile, SessionContext, SessionOptions, SessionStart, SetChange, SetFileStatus, StaleSummary,
    SummaryRequest, TurnSource, TurnTouches, WorkingSet, WorkingSetStatus, WrittenSummary,
    open_for_working_set, open_if_working_set,
};
pub use write_guard::{
    AuditResult, ExternalWrites, PreviousMemory, ToolProject, audit_external_writes, guard, guard_by_name,
};

use crate::backend::Backend;
use crate::captures::Captures;
use crate::config::ConfigFiles;
use crate::disk::{Disk, RealDisk};
use crate::env::{Env, Folders};
use crate::index::Index;
use crate::ledger::Ledger;
use crate::model::Embedder;
use audit::BrokenClaims;
use lane::Lane;
use lanes::Lanes;
use lorelane_core::dialect::notes::Notes;
use lorelane_core::dialect::records::Records;
use lorelane_core::mark::{MARKS_FOLDER, Marks};
use lorelane_core::memory::{Address, LaneId};
use lorelane_core::policy::{DEFAULT_ROOT, Policy};
use lorelane_core::recall::score::Weights;
use lorelane_core::time::Timestamp;
use open::auto::AutoLocation;
use open::{notes, trust};
use project::Project;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

const JOURNAL: &str = "journal";
const MARKS_FILE: &str = "marks.jsonl";
const LISTING_MAX_BYTES: u64 = 256 << 20;
/// How many memories are ranked for a prompt. A briefing shows far fewer; `why` reports any other as outranked.
const NEAR_MAX: usize = 20;

/// The memories of one project.
#[derive(Debug)]
pub struct Workspace {
    now: Timestamp,
    project: Project,
    lanes: Lanes,
    /// The folder of the notes, whether it exists or not.
    notes: Option<notes::NotesLocation>,
    /// Claude Code's memory folder, if it exists.
    auto: Option<AutoLocation>,
    disk: Arc<dyn Disk>,
    policy: Policy,
    config: ConfigFiles,
    folders: Option<Folders>,
    /// The added model. Set only in long-running processes.
    model: Option<Arc<dyn Embedder>>,
    /// The weight of each recall signal.
    weights: Weights,
    /// Broken claims of the last audit, read when the first reminder needs them.
    broken: OnceCell<BrokenClaims>,
}

impl Workspace {
    /// Opens the project that contains `start`.
    pub fn open(env: &Env, start: &Path) -> Result<Workspace, Failure> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        match locate(&*disk, start) {
            Ok(located) => Workspace::open_on(disk, env, located),
            // Notes in the user's data folder are available in every folder, even without a store.
            Err(Failure::NoStore { start }) => match locate::locate_bare(&*disk, &start) {
                Ok(bare) if notes::are_the_users(&*disk, env, &bare.project) => {
                    Workspace::open_on(disk, env, bare)
                }
                _ => Err(Failure::NoStore { start }),
            },
            Err(failure) => Err(failure),
        }
    }

    /// Opens the project whose records are in `root`: the `claude-memory` scripts pass this folder, not the
    /// project.
    pub fn open_root(env: &Env, root: &Path) -> Result<Workspace, Failure> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let located = locate_root(&*disk, root)?;
        Workspace::open_on(disk, env, located)
    }

    /// Opens a project that was already located, on any disk.
    pub fn open_on(disk: Arc<dyn Disk>, env: &Env, located: ProjectLocation) -> Result<Workspace, Failure> {
        let ProjectLocation { project, lane, root_from_project, has_notes } = located;
        let folders = env.folders();
        let own = folders.as_ref().map(Folders::all).unwrap_or_default();
        let below = disk.below(&project, &own).map_err(|source| Failure::io("open", &project, source))?;
        let disk = below.unwrap_or(disk);
        let config = ConfigFiles::of_project(
            &*disk,
            &project,
            folders.as_ref().map(|folders| folders.config.as_path()),
        );
        let mut policy = trust::settled(&*disk, env.now, folders.as_ref(), &config, &project, &lane);
        let auto = has_notes.then(|| AutoLocation::of(&*disk, env, &project, &lane)).flatten();
        let project = Project::new(&disk, project, &lane, folders.as_ref());
        let dialect = if has_notes { Records::new } else { Records::for_scripts };
        let records = Lane::open(
            Arc::clone(&disk),
            &project,
            Box::new(dialect(&root_from_project)),
            lane,
            &root_from_project,
            project.root.join(MARKS_FOLDER),
        );
        let notes = match has_notes {
            true => notes::place(&*disk, &project.root, folders.as_ref(), &mut policy),
            false => None,
        };
        let mut lanes = Lanes::new(records);
        if let Some(auto) = &auto {
            lanes.open(auto.open(&disk, &project));
        }
        let (now, weights, broken) = (env.now, Weights::of(&policy), OnceCell::new());
        let mut workspace = Workspace {
            now,
            project,
            lanes,
            notes,
            auto,
            disk,
            policy,
            config,
            folders,
            model: None,
            weights,
            broken,
        };
        workspace.open_notes_if_present();
        Ok(workspace)
    }

    /// Opens a project whose documents are not files. Its index is in memory and goes with the workspace.
    pub fn open_backends(
        env: &Env,
        project: &Path,
        records: Arc<dyn Backend>,
        notes: Arc<dyn Backend>,
    ) -> Workspace {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let folders = env.folders();
        let config = ConfigFiles::of_project(
            &*disk,
            project,
            folders.as_ref().map(|folders| folders.config.as_path()),
        );
        let policy = config.read(&*disk);
        let mut lanes =
            Lanes::new(Lane::on(records, Box::new(Records::new(DEFAULT_ROOT)), Index::in_memory()));
        lanes.open(Lane::on(notes, Box::new(Notes), Index::in_memory()));
        Workspace {
            now: env.now,
            project: Project::new(&disk, project.to_owned(), project, folders.as_ref()),
            lanes,
            notes: None,
            auto: None,
            disk,
            weights: Weights::of(&policy),
            policy,
            config,
            folders,
            model: None,
            broken: OnceCell::new(),
        }
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    pub fn project(&self) -> &Path {
        &self.project.root
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The path of a memory's file relative to the project's root, as in `index.md` and in the output of scripts;
    /// absolute if the file is outside the project.
    fn listed_path(&self, address: &Address) -> String {
        let lane = self.lanes.of(address).unwrap_or_else(|| self.lanes.records());
        lane.dialect.place(address).map_or_else(String::new, |path| lane.listed_path(&path))
    }

    /// The lane of an address. Notes are opened for a change if they were not open.
    fn lane_for(&mut self, address: &Address) -> Result<LaneId, Failure> {
        match address.lane() {
            LaneId::Records => Ok(LaneId::Records),
            LaneId::Notes => self.open_notes(),
            LaneId::Auto => self.lanes.get(LaneId::Auto).map(Lane::id).ok_or(Failure::NoAutoMemory),
        }
    }

    fn ledger(&self) -> Ledger {
        self.project.ledger(&self.disk)
    }

    fn captures(&self) -> Captures {
        self.project.captures(&self.disk)
    }

    /// Updates every index whose folders changed since it was written.
    fn refresh(&mut self) -> Result<(), Failure> {
        self.open_notes_if_present();
        self.lanes.iter_mut().try_for_each(Lane::refresh)
    }

    /// The marks. An unreadable marks file counts as empty, so that reading goes on; `doctor` reports it.
    fn marks(&self) -> Marks {
        self.read_marks().unwrap_or_default()
    }

    /// The last MiB of the marks (see `marks_not_read`), for recall and hooks: a huge marks file in a repository
    /// must not slow them down.
    pub(crate) fn recent_marks(&self) -> Marks {
        self.marks_by(Lane::read_recent_marks).unwrap_or_default()
    }

    fn read_marks(&self) -> Result<Marks, Failure> {
        self.marks_by(Lane::read_marks)
    }

    /// Reads each marks file once: lanes of one project may share one.
    fn marks_by(&self, read: fn(&Lane) -> Result<Vec<u8>, Failure>) -> Result<Marks, Failure> {
        let mut files = BTreeSet::new();
        let mut lines = Vec::new();
        for lane in self.lanes.iter().filter(|lane| files.insert(lane.documents.marks_key())) {
            lines.append(&mut read(lane)?);
            lines.push(b'\n');
        }
        Ok(Marks::read(&lines))
    }
}
