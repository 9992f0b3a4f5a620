//! The working set of a project's sessions: one more store, beside the lanes.
//!
//! A session folder has files that people and agents edit too. A change of lorelane is one commit of the store (lock,
//! journal, atomic files, undo) and one or more events in the session log. Readers take no lock. The rules are in
//! core's `working_set`.

mod archive;
mod assemble;
mod begin;
mod change;
mod collect;
mod examine;
mod handover;
mod location;
mod read;
mod session_log;
mod snapshot;
mod status;
mod summarize;
mod turn;

pub use archive::RestoredFile;
pub use assemble::AssembledContext;
pub use begin::{SessionContext, open_if_working_set};
pub use change::{AddRequest, AdviceAnswer, AdviceRequest, SetChange};
pub use collect::CollectRequest;
pub use handover::GivenHandover;
pub use status::{SetFileStatus, WorkingSetStatus};
pub use summarize::{StaleSummary, SummaryRequest, WrittenSummary};
pub use turn::{ClientSession, TurnSource, TurnTouches};

use super::open::locate;
use super::{Failure, Workspace};
use crate::backend::{ChangeLog, ChangeState, Edit, StoreError, Transaction};
use crate::disk::{Disk, FileType, RealDisk};
use crate::env::Env;
use crate::store::{Store, StoreFolders};
use location::SessionRoot;
use lorelane_core::change::{Notice, Receipt};
use lorelane_core::mark::MARKS_FOLDER;
use lorelane_core::path::RelPath;
use lorelane_core::text::{cut, one_line};
use lorelane_core::time::Timestamp;
use lorelane_core::working_set::{
    ChainFault, ColdManifest, EventAuthor, EventKind, FileState, HotManifest, MANIFEST_MAX_BYTES, MAX_TOKENS,
    ManifestFault, PROTOCOL, SessionEvent, SessionState, SetAction, SetManifest, SummaryLink, TokenBudget,
    WorkingSetError, WorkingSetFile, minimal_manifest, stamped_advice, sync_events,
};
use session_log::{Durability, LoadedLog, LogAppender, LogEnd, PendingEvents, load, part_name};
use snapshot::{SidecarStamp, TokenStamp};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const REASON_MAX: usize = 200;
/// As many broken files of one name are kept.
const RENAMES_MAX: usize = 1000;
const OUTPUT_FILE: &str = "output.md";
const CHECKLIST_FILE: &str = "protocol_checklist.md";

/// The session of a project that commands and hooks work on.
#[derive(Debug)]
pub struct WorkingSet<'w> {
    workspace: &'w mut Workspace,
    root: SessionRoot,
    session: String,
    /// The session's folder, relative to the root; empty for a flat root.
    folder: String,
    store: Arc<Store>,
    state: SessionState,
    end: LogEnd,
    /// The events of the log, if it was read as a whole.
    events: Vec<SessionEvent>,
    /// Token counts of files that did not change since.
    tokens: BTreeMap<String, TokenStamp>,
    /// Sidecars that did not change since.
    sidecars: RefCell<BTreeMap<String, SidecarStamp>>,
    /// Whether a file was counted that the snapshot does not have.
    has_new_counts: bool,
    /// Whether a sidecar was read that the snapshot does not have.
    has_new_sidecars: Cell<bool>,
    /// The last text of `working-set.yml` that was read, and what it says: opening a session asks three times.
    set_manifest: RefCell<Option<(String, SetManifest)>>,
    /// What happened while opening, for the user.
    pub warnings: Vec<String>,
}

/// What `ws init` did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStart {
    pub folder: PathBuf,
    pub session: String,
    /// Files that did not exist before.
    pub made: Vec<PathBuf>,
}

/// How `ws init` sets up a project.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionOptions<'o> {
    /// Another folder than `.agent`.
    pub session_root: Option<&'o str>,
    pub session: Option<&'o str>,
    /// Whether the sessions are meant to be committed.
    pub commit: bool,
}

/// Opens the project around `start`, even if it has no memories.
pub fn open_for_working_set(env: &Env, start: &Path) -> Result<Workspace, Failure> {
    match Workspace::open(env, start) {
        Err(Failure::NoStore { start }) => {
            let disk: Arc<dyn Disk> = Arc::new(RealDisk);
            let bare = locate::locate_bare(&*disk, &start)?;
            Workspace::open_on(disk, env, bare)
        }
        opened => opened,
    }
}

/// A change that is being planned: new contents of files, and the events that report them.
#[derive(Debug, Default)]
struct SessionDraft {
    /// Contents by path relative to the session folder; `None` for a file that goes.
    files: BTreeMap<String, Option<Vec<u8>>>,
    events: Vec<EventKind>,
    /// For the user, once the change is made.
    warnings: Vec<String>,
}

impl SessionDraft {
    fn put(&mut self, path: impl Into<String>, text: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), Some(text.into()));
    }
}

impl<'w> WorkingSet<'w> {
    /// Opens a session; without a name, the current one. Broken manifests are replaced first.
    pub fn open(workspace: &'w mut Workspace, session: Option<&str>) -> Result<WorkingSet<'w>, Failure> {
        let project = workspace.project.root.clone();
        let not_there = || WorkingSetError::NotInitialized { project: project.display().to_string() };
        let root = SessionRoot::chosen(&*workspace.disk, &workspace.project.state).ok_or_else(not_there)?;
        let named = session.map(location::session_id);
        let current = || root.current(&*workspace.disk, &project);
        let session = match (named, root.is_flat) {
            (Some(session), _) => session,
            (None, true) => "current".to_owned(),
            (None, false) => current().ok_or_else(not_there)?,
        };
        let mut set = WorkingSet::at(workspace, root, session);
        if !set.workspace.disk.is_folder(&set.path("")) {
            return Err(WorkingSetError::NoSession { session: set.session }.into());
        }
        set.read_caches();
        set.load()?;
        if let Some(fault) = &set.end.fault {
            let part = part_name(set.end.part);
            set.warnings.push(format!("the session log was edited: {fault}; new events go to {part}"));
        }
        set.settle_manifests()?;
        Ok(set)
    }

    /// Whether this user asked for a working set in this project.
    pub fn is_used(workspace: &Workspace) -> bool {
        SessionRoot::chosen(&*workspace.disk, &workspace.project.state).is_some()
    }

    /// The store of the project's sessions, if there are any.
    pub(in crate::workspace) fn store(workspace: &Workspace) -> Option<Store> {
        let root = SessionRoot::chosen(&*workspace.disk, &workspace.project.state)?;
        Some(store_of(workspace, &root))
    }

    /// Undoes the newest change in a session folder. The log is not cut: it gets an event of what changed back.
    pub(in crate::workspace) fn undo(workspace: &mut Workspace) -> Result<Receipt, Failure> {
        let mut set = WorkingSet::open(workspace, None)?;
        let store = Arc::clone(&set.store);
        let mut writer = store.begin()?;
        complete_log(set.workspace, &store)?;
        let undone = store.next_undo()?.entry;
        let done = writer.undo(set.workspace.now)?;
        set.load()?;
        set.end.change = done.number.unwrap_or(set.end.change);
        let reason = undone.as_ref().and_then(|entry| entry.because.as_deref()).unwrap_or_default();
        let what = reason.lines().next().unwrap_or_default().to_owned();
        let mut events = vec![EventKind::Undone { number: undone.map_or(0, |entry| entry.number), what }];
        events.extend(set.manifest_events(EventAuthor::Undo)?);
        events.extend(set.sidecar_events(EventAuthor::Undo));
        set.append(events, Durability::Synced)?;
        writer.finish()?;
        set.save_snapshot();
        let notices = done.warnings.iter().map(|warning| Notice::warning(warning.to_string())).collect();
        Ok(Receipt { number: done.number, at: set.workspace.now, outcomes: Vec::new(), notices })
    }

    /// Pins and summaries that differ between the sidecars and the log. The sidecars are right.
    fn sidecar_events(&self, by: EventAuthor) -> Vec<EventKind> {
        let (mut pinned, mut unpinned, mut links) = (Vec::new(), Vec::new(), Vec::new());
        let is_known = |file: &FileState| file.pinned || file.entry.is_some() || file.summary.is_some();
        for (path, file) in self.state.files.iter().filter(|(_, file)| is_known(file)) {
            let sidecar = self.sidecar(path);
            let is_pinned = sidecar.as_ref().is_some_and(|sidecar| sidecar.pin);
            match (file.pinned, is_pinned) {
                (false, true) => pinned.push(path.clone()),
                (true, false) => unpinned.push(path.clone()),
                _ => {}
            }
            let summary = sidecar.and_then(|sidecar| sidecar.summarized_in);
            if summary != file.summary {
                links.push(SummaryLink { path: path.clone(), summary });
            }
        }
        let event = |(action, paths): (SetAction, Vec<String>)| {
            let (why, files, max_tokens) = ("edited in the sidecar".to_owned(), Vec::new(), None);
            EventKind::WorkingSetUpdate { action, by, why, files, paths, max_tokens }
        };
        let changed = [(SetAction::Pin, pinned), (SetAction::Unpin, unpinned)];
        let pins = changed.into_iter().filter(|(_, paths)| !paths.is_empty()).map(event);
        let links = (!links.is_empty()).then_some(EventKind::SummaryLinks { by, links });
        pins.chain(links).collect()
    }

    fn at(workspace: &'w mut Workspace, root: SessionRoot, session: String) -> WorkingSet<'w> {
        let store = Arc::new(store_of(workspace, &root));
        let folder = root.folder_of(&session);
        let (state, end) = (SessionState::default(), LogEnd::default());
        WorkingSet {
            workspace,
            root,
            session,
            folder,
            store,
            state,
            end,
            events: Vec::new(),
            tokens: BTreeMap::new(),
            sidecars: RefCell::default(),
            has_new_counts: false,
            has_new_sidecars: Cell::new(false),
            set_manifest: RefCell::default(),
            warnings: Vec::new(),
        }
    }

    /// Creates a session and opts the project in.
    pub fn init(workspace: &'w mut Workspace, options: SessionOptions<'_>) -> Result<SessionStart, Failure> {
        let root = SessionRoot::for_new(&*workspace.disk, &workspace.project.root, options.session_root)?;
        let session = match options.session {
            Some(named) => location::session_id(named),
            None if root.is_flat => "current".to_owned(),
            None => new_session_id(workspace.now),
        };
        let ignore = (!options.commit && root.root == location::DEFAULT_SESSION_ROOT).then_some(".gitignore");
        let mut set = WorkingSet::at(workspace, root, session);
        let mut made = set.start(None)?;
        if let Some(name) = ignore {
            let file = set.store_root().join(name);
            if !set.workspace.disk.exists(&file) {
                crate::config::write_plain(&*set.workspace.disk, &file, b"*\n")?;
                made.push(file);
            }
        }
        // Last: a folder that cannot be used is not chosen.
        set.root.remember(&*set.workspace.disk, &set.workspace.project.state)?;
        set.root.set_current(&*set.workspace.disk, &set.workspace.project.root, &set.session)?;
        Ok(SessionStart { folder: set.path(""), session: set.session, made })
    }

    /// Opens the session of a client, creating it if it is new, and makes it the current one. `None` if this user
    /// did not ask for a working set here.
    pub fn for_client(
        workspace: &'w mut Workspace,
        client: &str,
        session: &str,
    ) -> Result<Option<WorkingSet<'w>>, Failure> {
        let Some(root) = SessionRoot::chosen(&*workspace.disk, &workspace.project.state) else {
            return Ok(None);
        };
        if session.is_empty() && !root.is_flat {
            return Ok(None);
        }
        let session = if root.is_flat { "current".to_owned() } else { location::session_id(session) };
        let mut set = WorkingSet::at(workspace, root, session);
        if set.workspace.disk.is_folder(&set.path("")) {
            set.load_fast()?;
        }
        if set.end.seq == 0 {
            set.start(Some(client))?;
        }
        Ok(Some(set))
    }

    /// Makes this session the one that commands mean.
    pub fn make_current(&mut self) -> Result<(), Failure> {
        let project = &self.workspace.project.root;
        if self.root.current(&*self.workspace.disk, project).as_deref() == Some(&self.session) {
            return Ok(());
        }
        self.root.set_current(&*self.workspace.disk, project, &self.session)
    }

    pub fn state(&self) -> &SessionState {
        &self.state
    }

    pub fn session(&self) -> &str {
        &self.session
    }

    /// The events of the log, oldest first.
    pub fn events(&self) -> &[SessionEvent] {
        &self.events
    }

    /// Checks the chain of the whole log.
    pub fn verify(&self) -> Result<Vec<ChainFault>, Failure> {
        session_log::verify(&*self.workspace.disk, &self.path(""))
    }

    /// A path in the session folder.
    pub fn path(&self, relative: &str) -> PathBuf {
        let root = self.store_root();
        [self.folder.as_str(), relative]
            .iter()
            .filter(|part| !part.is_empty())
            .fold(root, |path, part| path.join(part))
    }

    fn store_root(&self) -> PathBuf {
        self.root.path(&self.workspace.project.root)
    }

    /// The path of a session file, relative to the project, as the working set names it.
    fn path_in_project(&self, relative: &str) -> String {
        let root = if self.root.root == "." { "" } else { &self.root.root };
        let parts = [root, self.folder.as_str(), relative];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    }

    /// The part of a project path that is inside the session folder.
    fn in_session<'p>(&self, path: &'p str) -> Option<&'p str> {
        let folder = self.path_in_project("");
        if folder.is_empty() {
            return None;
        }
        path.strip_prefix(&folder)?.strip_prefix('/')
    }

    fn rel_path(&self, relative: &str) -> Result<RelPath, Failure> {
        let path =
            if self.folder.is_empty() { relative.to_owned() } else { format!("{}/{relative}", self.folder) };
        RelPath::parse(&path).map_err(|fault| {
            WorkingSetError::InvalidPath { attempt: "write", path: relative.to_owned(), fault }.into()
        })
    }

    /// Reads the whole log and checks its chain. After an edit of the log, writing continues in a new file.
    fn load(&mut self) -> Result<(), Failure> {
        let LoadedLog { state, end, faults, events } = load(&*self.workspace.disk, &self.path(""))?;
        self.end = end.after(&faults);
        (self.state, self.events) = (state, events);
        Ok(())
    }

    /// The first files of a session, and its first event. Returns the files that did not exist.
    fn start(&mut self, client: Option<&str>) -> Result<Vec<PathBuf>, Failure> {
        let now = self.workspace.now;
        let (session, is_flat) = (self.session.clone(), self.root.is_flat);
        let client = client.map(str::to_owned);
        let mut made = Vec::new();
        self.commit("start the session", |set, draft| {
            for file in WorkingSetFile::ALL {
                set.draft_missing(draft, file.name(), &minimal_manifest(file, now), &mut made);
            }
            set.draft_missing(draft, OUTPUT_FILE, "# Output\n", &mut made);
            set.draft_missing(draft, CHECKLIST_FILE, CHECKLIST, &mut made);
            if set.state.seq == 0 || is_flat {
                draft.events.push(EventKind::SessionStart {
                    session_id: session,
                    protocol: PROTOCOL.to_owned(),
                    client,
                });
            }
            Ok(())
        })?;
        made.push(self.path(&part_name(1)));
        Ok(made)
    }

    fn draft_missing(&self, draft: &mut SessionDraft, name: &str, text: &str, made: &mut Vec<PathBuf>) {
        let file = self.path(name);
        if !self.workspace.disk.exists(&file) {
            draft.put(name, text);
            made.push(file);
        }
    }

    /// Plans and makes a change under the lock, and appends its events to the log.
    fn commit<T>(
        &mut self,
        reason: &str,
        plan: impl FnOnce(&mut WorkingSet<'w>, &mut SessionDraft) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let store = Arc::clone(&self.store);
        let mut writer = store.begin()?;
        self.warnings.extend(writer.warnings().iter().map(ToString::to_string));
        let undone = complete_log(self.workspace, &store)?;
        // What was read before the lock may be outdated.
        self.load()?;
        let logged = self.state.clone();
        // An undo that a crash kept out of the log shows in the files.
        let is_undone = undone.is_some_and(|number| number > self.state.change);
        let by = if is_undone { EventAuthor::Undo } else { EventAuthor::File };
        let mut draft = SessionDraft { events: self.unlogged_events(by)?, ..SessionDraft::default() };
        draft.events.iter().for_each(|kind| self.state.apply(&self.planned(kind)));
        let planned = plan(self, &mut draft)?;
        self.warnings.append(&mut draft.warnings);
        self.state = logged;
        let edits = draft.files.into_iter().map(|(path, bytes)| {
            let path = self.rel_path(&path)?;
            Ok(match bytes {
                Some(bytes) => Edit::Put { path, bytes },
                None => Edit::Remove { path },
            })
        });
        let edits: Vec<Edit> = edits.collect::<Result<_, Failure>>()?;
        let reason = cut(&one_line(reason), REASON_MAX);
        let pending = PendingEvents {
            folder: self.folder.clone(),
            session: self.session.clone(),
            events: draft.events,
        };
        let mut is_made = false;
        if !edits.is_empty() {
            writer.comes_after(self.newest_order()?);
            let done = writer.apply(edits, &pending.because(&reason), self.workspace.now)?;
            self.warnings.extend(done.warnings.iter().map(ToString::to_string));
            self.end.change = done.number.unwrap_or(self.end.change);
            is_made = done.number.is_some();
        }
        match self.append(pending.events, Durability::Synced) {
            // The change is made, so it is no failure: the journal has its events.
            Err(failure) if is_made => {
                self.warnings.push(format!("{failure}; the next change completes the session log"));
            }
            appended => appended?,
        }
        writer.finish()?;
        self.save_snapshot();
        Ok(planned)
    }

    /// An event that is not in the log yet, for planning.
    fn planned(&self, kind: &EventKind) -> SessionEvent {
        let (at, seq, turn) = (self.workspace.now, self.state.seq, self.state.turn);
        SessionEvent { at, seq, turn, change: self.state.change, prev: String::new(), kind: kind.clone() }
    }

    fn append(&mut self, kinds: Vec<EventKind>, durability: Durability) -> Result<(), Failure> {
        if kinds.is_empty() {
            return Ok(());
        }
        let disk = Arc::clone(&self.workspace.disk);
        let folder = self.path("");
        let appender = LogAppender { disk: &*disk, folder, session: &self.session, now: self.workspace.now };
        let events = appender.append(&mut self.end, kinds, durability)?;
        events.iter().for_each(|event| self.state.apply(event));
        self.events.extend(events);
        Ok(())
    }

    /// The newest change of any lane, so that `undo` knows what came last.
    fn newest_order(&self) -> Result<u64, Failure> {
        let orders = self.workspace.lanes.iter().map(|lane| lane.documents.log().newest_order());
        Ok(orders.collect::<Result<Vec<_>, StoreError>>()?.into_iter().max().unwrap_or(0))
    }

    /// What people changed in the files since the last event.
    fn unlogged_events(&self, by: EventAuthor) -> Result<Vec<EventKind>, Failure> {
        let mut events = self.manifest_events(by)?;
        events.extend(self.sidecar_events(by));
        Ok(events)
    }

    /// A manifest that cannot be used says nothing; opening the session replaced it.
    fn manifest_events(&self, by: EventAuthor) -> Result<Vec<EventKind>, Failure> {
        let set = self.manifest_or(WorkingSetFile::Set, by, |text| self.read_set(text).ok())?;
        let hot = self.manifest_or(WorkingSetFile::Hot, by, |text| HotManifest::read(text).ok())?;
        let cold = self.manifest_or(WorkingSetFile::Cold, by, |text| ColdManifest::read(text).ok())?;
        Ok(sync_events(&self.state, set.as_ref(), hot.as_ref(), cold.as_ref(), by))
    }

    /// A manifest that somebody removed says nothing. One that an undo removed was made by what is undone, so it says
    /// that the list is empty again.
    fn manifest_or<M: Default>(
        &self,
        file: WorkingSetFile,
        by: EventAuthor,
        read: impl FnOnce(&str) -> Option<M>,
    ) -> Result<Option<M>, Failure> {
        Ok(match self.manifest(file)? {
            Some(text) => text.ok().and_then(|text| read(&text)),
            None if by == EventAuthor::Undo => Some(M::default()),
            None => None,
        })
    }

    /// The text of a manifest; `None` if there is no such file.
    fn manifest(&self, file: WorkingSetFile) -> Result<Option<Result<String, ManifestFault>>, Failure> {
        let path = self.path(file.name());
        match self.workspace.disk.read_regular(&path, MANIFEST_MAX_BYTES) {
            Ok(None) => Ok(None),
            Ok(Some(bytes)) => Ok(Some(String::from_utf8(bytes).map_err(|_| ManifestFault::NotText))),
            Err(fault) if is_no_file(&*self.workspace.disk, &path, &fault) => {
                Ok(Some(Err(ManifestFault::NotAFile { why: "it is not a file that can be read".to_owned() })))
            }
            Err(source) => Err(Failure::io("read", &path, source)),
        }
    }

    /// What a text of `working-set.yml` says.
    fn read_set(&self, text: &str) -> Result<SetManifest, ManifestFault> {
        if let Some((_, manifest)) = self.set_manifest.borrow().as_ref().filter(|(known, _)| known == text) {
            return Ok(manifest.clone());
        }
        let manifest = SetManifest::read(text)?;
        self.set_manifest.replace(Some((text.to_owned(), manifest.clone())));
        Ok(manifest)
    }

    /// Renames manifests that cannot be used, and writes minimal ones.
    fn settle_manifests(&mut self) -> Result<(), Failure> {
        for file in WorkingSetFile::ALL {
            if self.manifest_fault(file)?.is_some() {
                self.replace_broken(file)?;
            }
        }
        let unlogged = self.unlogged_events(EventAuthor::File)?;
        unlogged.iter().for_each(|kind| self.state.apply(&self.planned(kind)));
        Ok(())
    }

    /// Why a manifest cannot be used; `None` if it can, or is missing.
    fn manifest_fault(&mut self, file: WorkingSetFile) -> Result<Option<ManifestFault>, Failure> {
        let Some(text) = self.manifest(file)? else { return Ok(None) };
        Ok(match (file, text) {
            (_, Err(fault)) => Some(fault),
            (WorkingSetFile::Set, Ok(text)) => {
                let read = self.read_set(&text);
                read.map(|manifest| self.warn_of(&manifest)).err()
            }
            (WorkingSetFile::Hot, Ok(text)) => HotManifest::read(&text).err(),
            (WorkingSetFile::Cold, Ok(text)) => ColdManifest::read(&text).err(),
        })
    }

    /// What `working-set.yml` says and what is not done.
    fn warn_of(&mut self, manifest: &SetManifest) {
        let name = WorkingSetFile::Set.name();
        self.warnings.extend(manifest.skipped.iter().map(|what| format!("{name}: {what}; it is ignored")));
        let SetManifest { max_tokens, reserved, effective, .. } = *manifest;
        let budget = TokenBudget::new(max_tokens.unwrap_or(MAX_TOKENS), reserved, effective);
        if budget.disagrees {
            let TokenBudget { max, reserved, effective, .. } = budget;
            self.warnings.push(format!(
                "{name}: budget.effective is not max_tokens - reserved_for_response ({max} - {reserved}); the \
                 smaller one counts: {effective} tokens"
            ));
        }
    }

    fn replace_broken(&mut self, file: WorkingSetFile) -> Result<(), Failure> {
        let (name, now) = (file.name(), self.workspace.now);
        self.commit(&format!("replace {name}"), |set, draft| {
            // Another process may have been faster.
            if let Some(fault) = set.manifest_fault(file)? {
                set.set_aside(draft, name, &fault.to_string())?;
                draft.put(name, minimal_manifest(file, now));
            }
            Ok(())
        })
    }

    /// Keeps what is in a file's place under another name, within a change that writes the file anew. Bytes that can
    /// be read are part of the change; a folder, a pipe, a link or what is too large is renamed at once.
    fn set_aside(&self, draft: &mut SessionDraft, name: &str, problem: &str) -> Result<(), Failure> {
        let (disk, place) = (&self.workspace.disk, self.path(name));
        let bytes = match disk.read_regular(&place, MANIFEST_MAX_BYTES) {
            Ok(None) => return Ok(()),
            Ok(Some(bytes)) => Some(bytes),
            Err(fault) if is_no_file(&**disk, &place, &fault) => None,
            Err(source) => return Err(Failure::io("read", &place, source)),
        };
        let names = std::iter::once(format!("{name}.corrupted"));
        let mut names = names.chain((2..).map(|number| format!("{name}.corrupted-{number}")));
        let is_free = |name: &String| matches!(disk.stat(&self.path(name)), Ok(None));
        let renamed_to = names.by_ref().take(RENAMES_MAX).find(is_free);
        let renamed_to = renamed_to.unwrap_or_else(|| format!("{name}.corrupted"));
        match bytes {
            Some(bytes) => draft.put(renamed_to.clone(), bytes),
            None => disk
                .rename(&place, &self.path(&renamed_to))
                .map_err(|source| Failure::io("rename", &place, source))?,
        }
        draft.warnings.push(format!("{name}: {problem}; it was renamed to {renamed_to}"));
        let (path, problem) = (name.to_owned(), problem.to_owned());
        draft.events.push(EventKind::Recovery { path, problem, renamed_to });
        Ok(())
    }

    /// The text of a manifest for a change: as it is, as planned so far, or made from the state if it is missing.
    fn drafted_manifest(&self, draft: &SessionDraft, file: WorkingSetFile) -> Result<String, Failure> {
        if let Some(Some(bytes)) = draft.files.get(file.name()) {
            return Ok(String::from_utf8_lossy(bytes).into_owned());
        }
        if let Some(Ok(text)) = self.manifest(file)? {
            return Ok(text);
        }
        let mut text = minimal_manifest(file, self.workspace.now);
        if file == WorkingSetFile::Set {
            let entries: Vec<_> = self.state.set().map(|(_, _, entry)| entry.clone()).collect();
            text = SetManifest::with_entries(&text, &entries).unwrap_or(text);
        }
        Ok(text)
    }

    /// Edits a manifest within a change, and stamps it.
    fn edit_manifest(
        &self,
        draft: &mut SessionDraft,
        file: WorkingSetFile,
        edit: impl FnOnce(&str) -> Option<String>,
    ) -> Result<(), Failure> {
        let text = self.drafted_manifest(draft, file)?;
        let unwritable = || WorkingSetError::Unwritable { file: file.name().to_owned() };
        let edited = edit(&text).ok_or_else(unwritable)?;
        if edited == text && draft.files.contains_key(file.name()) {
            return Ok(());
        }
        let now = self.workspace.now;
        let stamped = match file {
            WorkingSetFile::Set => SetManifest::stamped(&edited, now),
            WorkingSetFile::Hot | WorkingSetFile::Cold => stamped_advice(&edited, now),
        };
        draft.put(file.name(), stamped.unwrap_or(edited));
        Ok(())
    }
}

fn store_of(workspace: &Workspace, root: &SessionRoot) -> Store {
    let path = root.path(&workspace.project.root);
    let folders = StoreFolders {
        marks: workspace.project.root.join(MARKS_FOLDER),
        state: workspace.project.journal(&path),
        lane: path,
    };
    Store::new(Arc::clone(&workspace.disk), folders)
}

/// Whether a file cannot be read because it is none, or is too large: a link, a folder, a pipe, a socket, a device.
/// Something has to be there: behind a folder that is a link, every name is refused.
fn is_no_file(disk: &dyn Disk, path: &Path, fault: &io::Error) -> bool {
    let Ok(Some(stat)) = disk.stat(path) else { return false };
    stat.kind != FileType::File || fault.kind() == io::ErrorKind::InvalidData
}

/// Appends the events of the newest change if a crash kept them out of their log. The caller holds the lock. Returns
/// the number of the newest change if it is an undo, whose events follow from the files.
fn complete_log(workspace: &Workspace, store: &Store) -> Result<Option<u64>, Failure> {
    let Some(entry) = ChangeLog::recent(store, 1)?.entries.into_iter().next() else { return Ok(None) };
    let is_made = entry.outcome != ChangeState::Void;
    if is_made && entry.undoes.is_some() {
        return Ok(Some(entry.number));
    }
    let Some(pending) = entry.because.as_deref().filter(|_| is_made).and_then(PendingEvents::of) else {
        return Ok(None);
    };
    let folder = match pending.folder.as_str() {
        "" => store.root().to_owned(),
        folder => store.root().join(folder),
    };
    let disk = &*workspace.disk;
    if disk.stat(&folder).ok().flatten().is_none_or(|stat| stat.kind != FileType::Folder) {
        return Ok(None);
    }
    let mut end = session_log::end_of(disk, &folder)?;
    if end.change >= entry.number {
        return Ok(None);
    }
    end.change = entry.number;
    let appender = LogAppender { disk, folder, session: &pending.session, now: entry.at };
    appender.append(&mut end, pending.events, Durability::Synced)?;
    Ok(None)
}

/// A name that sorts by time.
fn new_session_id(now: Timestamp) -> String {
    now.to_string().replace(['T', ':'], "-").trim_end_matches('Z').to_owned()
}

const CHECKLIST: &str = "# Protocol checklist

- [ ] working-set.yml, hot.yml and cold.yml can be read
- [ ] every change of the set has a reason
- [ ] every summary links its sources, and every source its summary
- [ ] the session log is appended to and never edited
";
