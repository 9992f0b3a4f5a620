//! Memories that come with a tool call: those that name the file, program or error it is about.
//!
//! This runs before or after every tool that writes or runs something, so it opens no workspace and no SQLite: it
//! looks into the act map, and reads settings, memories and ledger only if something was found there.

mod map;

pub(in crate::workspace) use map::path as map_path;

use crate::config::ConfigFiles;
use crate::disk::{Disk, RealDisk};
use crate::env::{Env, Folders};
use crate::failure::Failure;
use crate::index::Index;
use crate::setup::is_trial;
use crate::workspace::audit::BrokenClaims;
use crate::workspace::auto_memory::ClientContext;
use crate::workspace::open::auto::AutoLocation;
use crate::workspace::open::{ProjectLocation, notes, trust};
use crate::workspace::project::Project;
use crate::workspace::write_guard::{LINKS_MAX, ToolProject, real_path, text, with_slashes};
use crate::workspace::{Reminders, Workspace};
use lorelane_core::act::{ActEntry, Command, FailureOutput, ToolAct};
use lorelane_core::briefing::{CurrentMemory, FreshMemory, ReminderRule};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::Dialect;
use lorelane_core::dialect::auto::Auto;
use lorelane_core::dialect::notes::Notes;
use lorelane_core::dialect::records::Records;
use lorelane_core::digest::Revision;
use lorelane_core::guard::{ShellContext, ToolUse, normal};
use lorelane_core::ledger::{LedgerEvent, LedgerLine, shown_in_session};
use lorelane_core::memory::{Address, LaneId};
use lorelane_core::path::RelPath;
use lorelane_core::policy::Policy;
use lorelane_core::time::Timestamp;
use map::ActMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One tool call of a session.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'c> {
    pub client: &'c str,
    pub session: &'c str,
    pub tools: &'c [ToolUse],
    /// What a failed command printed.
    pub failure: Option<&'c str>,
}

impl ToolProject<'_> {
    /// The text that comes with a tool call; `None` for nearly all. Each memory comes once per session, and again if
    /// it changed.
    pub fn reminder(&self, call: &ToolCall<'_>) -> Result<Option<String>, Failure> {
        // Without a session it would come with every call.
        if call.session.is_empty() || (call.tools.is_empty() && call.failure.is_none()) {
            return Ok(None);
        }
        let Some(located) = self.located() else { return Ok(None) };
        let Some(path) = map::path_in(self.env, &located.lane) else { return Ok(None) };
        let Ok(mut map) = ActMap::open(&RealDisk, &path) else { return Ok(None) };
        let act = self.with_context(|around| tool_act(around, &located.project, call));
        let mut entries: Vec<ActEntry> = Vec::new();
        for probe in act.probes() {
            // A map that cannot be read is written again by the next prompt.
            entries.extend(map.with_prefix(&probe).unwrap_or_default());
        }
        entries.retain(|entry| act.touches(&entry.key));
        if entries.is_empty() {
            return Ok(None);
        }
        ActContext::open(self.env, located.clone())?.remind(call, &act, entries)
    }
}

/// What the tools of a call touch, with paths relative to the project.
fn tool_act(around: &ShellContext<'_>, project: &Path, call: &ToolCall<'_>) -> ToolAct {
    let mut act = ToolAct { failure: call.failure.map(FailureOutput::of), ..ToolAct::default() };
    for tool in call.tools {
        let tool = with_slashes(tool);
        let targets = tool.targets(around).places;
        let files = targets.iter().filter_map(|target| target.file());
        act.paths.extend(files.filter_map(|file| inside(project, file)));
        for run in tool.programs(around) {
            let script = |program: &str| match (program.starts_with('/'), &run.folder) {
                (true, _) => inside(project, program),
                (false, Some(folder)) => inside(project, &format!("{folder}/{program}")),
                (false, None) => None,
            };
            act.commands.push(Command::of(&run, script));
            act.commands.extend(Command::of_script(&run, script));
        }
    }
    act
}

/// The path below the project, by its name or with links resolved.
fn inside(project: &Path, path: &str) -> Option<RelPath> {
    let below = |path: &str| {
        let root = normal(&text(project));
        let rest = path.strip_prefix(&root)?;
        RelPath::parse(rest.strip_prefix('/')?).ok()
    };
    let named = normal(path);
    below(&named).or_else(|| below(&text(&real_path(Path::new(&named), LINKS_MAX))))
}

/// What a reminder needs of a project: less than a workspace, which would open the index.
struct ActContext {
    policy: Policy,
    now: Timestamp,
    disk: Arc<dyn Disk>,
    project: Project,
    records: (Records, PathBuf),
    notes: Option<PathBuf>,
    broken: BrokenClaims,
    auto: Option<AutoLocation>,
}

impl ActContext {
    fn open(env: &Env, located: ProjectLocation) -> Result<ActContext, Failure> {
        let ProjectLocation { project, lane, root_from_project, has_notes } = located;
        let folders = env.folders();
        let own = folders.as_ref().map(Folders::all).unwrap_or_default();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let below = disk.below(&project, &own).map_err(|source| Failure::io("open", &project, source))?;
        let disk = below.unwrap_or(disk);
        let user = folders.as_ref().map(|folders| folders.config.as_path());
        let config = ConfigFiles::of_project(&*disk, &project, user);
        let mut policy = trust::settled(&*disk, env.now, folders.as_ref(), &config, &project, &lane);
        let notes = match has_notes {
            true => notes::place(&*disk, &project, folders.as_ref(), &mut policy).map(|notes| notes.root),
            false => None,
        };
        let auto = AutoLocation::of(&*disk, env, &project, &lane);
        let records = (Records::new(&root_from_project), lane.clone());
        let broken = BrokenClaims::read(&disk, folders.as_ref(), &lane, &project);
        let project = Project::new(&disk, project, &lane, folders.as_ref());
        Ok(ActContext { policy, now: env.now, disk, project, records, notes, auto, broken })
    }

    fn remind(
        &self,
        call: &ToolCall<'_>,
        act: &ToolAct,
        entries: Vec<ActEntry>,
    ) -> Result<Option<String>, Failure> {
        let rule = ReminderRule { policy: &self.policy, now: self.now };
        if !rule.answers_tools() {
            return Ok(None);
        }
        let ledger = self.project.ledger(&self.disk);
        let shown =
            shown_in_session(&ledger.lines_of_event(call.session, LedgerEvent::Tool), &[LedgerEvent::Tool]);
        let context = ClientContext::of(&*self.disk, self.auto.as_ref(), call.client);
        let entries = entries.into_iter().filter(|entry| !context.has(&entry.address)).collect();
        let briefing = rule.select_for_act(act, entries, &shown, |address| self.current(address));
        if briefing.reminders.is_empty() {
            return Ok(None);
        }
        // First the ledger: what is not in it would come with every call.
        if !is_trial(call.session) {
            ledger.append(&LedgerLine::of_tool(self.now, call.client, call.session, act, &briefing))?;
        }
        Ok(Some(briefing.text()))
    }

    /// A memory as its file is now.
    fn current(&self, address: &Address) -> CurrentMemory {
        let (dialect, root): (&dyn Dialect, &Path) = match address.lane() {
            LaneId::Records => (&self.records.0, &self.records.1),
            LaneId::Notes => (&Notes, self.notes.as_deref()?),
            LaneId::Auto => (&Auto { shares_records: false }, &self.auto.as_ref()?.root),
        };
        let path = dialect.place(address)?;
        let file = root.join(path.as_str());
        let bytes = self.disk.read_regular(&file, dialect.max_bytes() as u64).ok()??;
        let revision = Revision::of(&bytes);
        let memory = dialect.read(&path, bytes).into_memory().ok()?.memory;
        let entry = MemorySummary::of(&memory, &path);
        Some(FreshMemory { entry, memory, broken: self.broken.of(address, &revision) })
    }
}

impl Workspace {
    /// Writes the act map if what the memories name has changed.
    pub(in crate::workspace) fn update_act_map(&mut self) -> Result<(), Failure> {
        let Some(files) = &self.lanes.records().files else { return Ok(()) };
        let Some(path) = self.folders.as_ref().map(|folders| map::path(folders, &files.root)) else {
            return Ok(());
        };
        let generations = self.act_generations()?;
        let lanes = &mut self.lanes;
        let is_new = map::update(&*self.disk, &path, &generations, || {
            let mut lines = Vec::new();
            for lane in lanes {
                lines.append(&mut lane.with_index(Index::act_lines)?);
            }
            Ok(lines)
        })?;
        // A `forget` that came between must not find its memory in a map that is written after it.
        if is_new && self.act_generations()? != generations {
            self.disk.remove_file(&path).map_err(|source| Failure::io("remove", &path, source))?;
        }
        Ok(())
    }

    fn act_generations(&mut self) -> Result<Vec<i64>, Failure> {
        self.lanes.iter_mut().map(|lane| lane.with_index(Index::act_generation)).collect()
    }
}

impl Reminders<'_> {
    /// Brings the act map up to date with the index.
    pub fn update_act_map(&mut self) -> Result<(), Failure> {
        self.workspace.update_act_map()
    }
}
