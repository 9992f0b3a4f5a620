//! `forget`: erases a memory from every file that lorelane writes, and reports what git still has.
//!
//! This is not journalled: the journal would hold what is to be erased. Instead, a private request file
//! beside the journal names the memory before anything is touched. Every step can be repeated and syncs what
//! it did, and the request is removed last. If the process is killed, the request stays, and the next writer
//! or the same command completes it. If `forget` fails before anything is erased, it removes the request, so
//! that nothing happens later; if it fails after that, or the request cannot be removed, it returns
//! [`Failure::HalfForgotten`]. A request that cannot be parsed was never synced, so nothing had begun.

use super::Maintenance;
use crate::append_log;
use crate::backend::{ChangeTarget, ErasePredicate, Transaction};
use crate::disk::{FileType, READ_MAX_BYTES};
use crate::drafts;
use crate::git::{self, GitError, GitTraces};
use crate::hooklog::{self, HOOK_LOG};
use crate::workspace::act::map_path as act_map_path;
use crate::workspace::commit::warnings;
use crate::workspace::lane::{Lane, LaneFiles};
use crate::workspace::{Failure, MARKS_FILE};
use lorelane_core::act::ActEntry;
use lorelane_core::audit::{AuditedMemory, BrokenMemory};
use lorelane_core::change::Notice;
use lorelane_core::dialect::auto::{MEMORY_FILE, MemoryIndex};
use lorelane_core::forget::{EraseMode, EraseRequest, Traces};
use lorelane_core::guard::quarantine;
use lorelane_core::mark::{self, Marks};
use lorelane_core::memory::{Address, Body, LaneId};
use lorelane_core::path::RelPath;
use lorelane_core::secret;
use lorelane_core::text::words;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NOTE: &str = "forgetting";
const NOTE_MAX_BYTES: u64 = 1 << 20;
/// A note with fewer words occurs in other memories by chance.
const WORDS_MIN: usize = 3;
const PRIVATE: Option<u32> = Some(0o600);

/// What `forget` did, place by place.
#[derive(Debug)]
pub struct ForgetReport {
    pub address: Address,
    pub receipt: Option<u64>,
    pub places: Vec<EraseCheck>,
    /// Other memories that name it or repeat its text. They are reported and not changed.
    pub mentioned_by: Vec<Address>,
    /// Every git repository that it may have been committed to.
    pub git: Vec<RepositoryTraces>,
    pub notices: Vec<Notice>,
}

/// One place that was searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EraseCheck {
    pub place: &'static str,
    pub path: PathBuf,
    pub did: EraseResult,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EraseResult {
    /// How many files, lines, rows or blobs were removed, or would be in a preview.
    Removed(usize),
    Nothing,
    /// Why something may still be there. The next change tries again.
    Stays(String),
}

/// What one repository has of the memory, or why git could not be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryTraces {
    pub repository: PathBuf,
    pub held: Result<GitTraces, String>,
}

impl ForgetReport {
    /// Whether nothing is left, neither in our files nor in git.
    pub fn is_complete(&self) -> bool {
        self.git.iter().all(|git| git.held.as_ref().is_ok_and(GitTraces::is_empty)) && all_done(&self.places)
    }
}

impl Maintenance<'_> {
    /// Resolves what somebody typed to a memory to forget. Its file may be gone, as long as the log, git or
    /// another place still has something of it.
    pub fn find_forgettable(&mut self, typed: &str) -> Result<Address, Failure> {
        let unclear = match self.workspace.find(typed) {
            Err(Failure::Unclear(unclear)) => unclear,
            found => return found,
        };
        let several = unclear.near.iter().any(|near| near.name() == typed);
        let left: Vec<Address> = match Address::parse(typed) {
            Some(address) if self.is_left_somewhere(&address)? => vec![address],
            None if !several => self.named_in_log(typed)?,
            _ => Vec::new(),
        };
        match left.as_slice() {
            [only] => Ok(only.clone()),
            _ => Err(Failure::Unclear(unclear)),
        }
    }

    /// The memories with this name in any log or in an interrupted `forget`.
    fn named_in_log(&mut self, name: &str) -> Result<Vec<Address>, Failure> {
        self.open_every_lane();
        let mut named = BTreeSet::new();
        for lane in &self.workspace.lanes {
            let changes =
                lane.documents.log().recent(usize::MAX)?.entries.into_iter().flat_map(|entry| entry.changes);
            named.extend(changes.filter_map(|changed| match changed.place? {
                ChangeTarget::Lane(path) => lane.dialect.address_of(&path),
                ChangeTarget::Marks => None,
            }));
            named.extend(lane.unfinished_forgets()?.into_iter().flat_map(|left| left.traces.addresses));
        }
        Ok(named.into_iter().filter(|address| address.name() == name).collect())
    }

    fn is_left_somewhere(&mut self, address: &Address) -> Result<bool, Failure> {
        self.open_every_lane();
        let Some(lane) = self.workspace.lanes.of(address) else { return Ok(false) };
        if lane.unfinished_forgets()?.is_some_and(|left| left.traces.addresses.contains(address)) {
            return Ok(true);
        }
        let seen = self.preview_forgetting(address)?;
        let in_git = |git: &RepositoryTraces| git.held.as_ref().is_ok_and(|held| !held.is_empty());
        Ok(seen.git.iter().any(in_git)
            || seen.places.iter().any(|checked| matches!(checked.did, EraseResult::Removed(_))))
    }

    /// Opens the notes even if their folder is gone: their log may still have the memory.
    fn open_every_lane(&mut self) {
        // If notes cannot be opened, they have no log either.
        let _ = self.workspace.open_notes();
    }

    /// What `forget` would remove. Takes no lock and writes nothing.
    pub fn preview_forgetting(&mut self, address: &Address) -> Result<ForgetReport, Failure> {
        let lane = self.workspace.lane_for(address)?;
        self.workspace.lanes[lane].refresh()?;
        let traces = self.traces(lane, address)?;
        let mentioned_by = self.mentioning(address, &traces);
        let places = self.go_through(lane, &traces, None)?;
        let git = self.in_git(lane, &traces);
        let address = address.clone();
        Ok(ForgetReport { address, receipt: None, places, mentioned_by, git, notices: Vec::new() })
    }

    /// Erases a memory from every file that lorelane writes. Only after [`Failure::HalfForgotten`] does the next
    /// writer continue it.
    pub fn forget(&mut self, address: &Address, because: &str) -> Result<ForgetReport, Failure> {
        self.try_forget(address, because).map_err(|failure| match self.is_half_forgotten(address) {
            true => half_forgotten(address, failure),
            false => failure,
        })
    }

    fn is_half_forgotten(&self, address: &Address) -> bool {
        let left = self.workspace.lanes.of(address).and_then(|lane| lane.unfinished_forgets().ok().flatten());
        left.is_some_and(|left| left.traces.addresses.contains(address))
    }

    fn try_forget(&mut self, address: &Address, because: &str) -> Result<ForgetReport, Failure> {
        self.workspace.refuse_when_misconfigured()?;
        let lane = self.workspace.lane_for(address)?;
        let documents = Arc::clone(&self.workspace.lanes[lane].documents);
        let mut writer = documents.begin()?;
        if writer.uses_fallback_journal() {
            // The journal in the state folder could not be erased.
            return Err(Failure::FallbackJournal { state: self.workspace.lanes[lane].log_place() });
        }
        self.workspace.lanes[lane].scan()?;
        let mut notices = warnings(writer.warnings());
        let (forgetting, is_new) = match self.workspace.lanes[lane].unfinished_forgets()? {
            Some(same) if same.traces.addresses.contains(address) => (same, false),
            other => {
                notices.extend(other.map(|other| self.complete(lane, &mut *writer, &other)));
                let because = secret::masked(because).into_owned();
                let begun =
                    EraseRequest { traces: self.traces(lane, address)?, after: writer.newest(), because };
                if let Err(failure) = self.workspace.lanes[lane].keep_note(&begun) {
                    return Err(self.workspace.lanes[lane].withdraw(address, failure));
                }
                (begun, true)
            }
        };
        let mentioned_by = self.mentioning(address, &forgetting.traces);
        let (receipt, places) = match self.carry_through(lane, &mut *writer, &forgetting) {
            Err(failure) if is_new && !writer.has_erased() => {
                writer.unlog_erasure();
                return Err(self.workspace.lanes[lane].withdraw(address, failure));
            }
            // The request file stays, even if it cannot be read back now.
            carried => carried.map_err(|failure| half_forgotten(address, failure))?,
        };
        if let Err(fault) = writer.finish() {
            notices.push(Notice::warning(format!(
                "cannot write the journal's last line, which the next change adds: {fault}"
            )));
        }
        let traces = &forgetting.traces;
        if self.workspace.policy.auto_commit() {
            let mut changes: Vec<ChangeTarget> = self.workspace.lanes[lane]
                .paths(&traces.addresses)
                .into_iter()
                .map(ChangeTarget::Lane)
                .collect();
            changes.push(ChangeTarget::Marks);
            notices.extend(self.workspace.commit_with_git(lane, &changes, true, "forget a memory"));
        }
        let git = self.in_git(lane, traces);
        let address = address.clone();
        Ok(ForgetReport { address, receipt: Some(receipt), places, mentioned_by, git, notices })
    }

    /// Completes an interrupted `forget`. Every writer does this before its own work.
    pub(in crate::workspace) fn complete_forgetting(
        &mut self,
        lane: LaneId,
        writer: &mut dyn Transaction,
    ) -> Option<Notice> {
        if writer.uses_fallback_journal() {
            // The state folder cannot be written now: a later writer completes it.
            return None;
        }
        match self.workspace.lanes[lane].unfinished_forgets() {
            Ok(left) => left.map(|left| self.complete(lane, writer, &left)),
            Err(failure) => {
                Some(Notice::warning(format!("cannot check for an interrupted `forget`: {failure}")))
            }
        }
    }

    fn complete(&mut self, lane: LaneId, writer: &mut dyn Transaction, forgetting: &EraseRequest) -> Notice {
        let error = match self.carry_through(lane, writer, forgetting) {
            Ok((_, places)) => places.into_iter().find_map(|checked| match checked.did {
                EraseResult::Stays(why) => Some(why),
                EraseResult::Removed(_) | EraseResult::Nothing => None,
            }),
            Err(failure) => Some(failure.to_string()),
        };
        Notice::warning(match error {
            None => "completed an interrupted `forget`".to_owned(),
            Some(why) => {
                format!("a memory is not completely forgotten yet; the next change tries again: {why}")
            }
        })
    }

    fn carry_through(
        &mut self,
        lane: LaneId,
        writer: &mut dyn Transaction,
        forgetting: &EraseRequest,
    ) -> Result<(u64, Vec<EraseCheck>), Failure> {
        self.workspace.lanes[lane].changed = true;
        // The log entry comes first: it syncs the journal lines before it, so that recovery never meets an
        // unfinished change whose bytes are already erased.
        if writer.newest() == forgetting.after {
            writer.log_erasure(&forgetting.reason(), self.workspace.now)?;
        }
        let mut places = self.go_through(lane, &forgetting.traces, Some(writer))?;
        if all_done(&places)
            && let Err(failure) = self.workspace.lanes[lane].discard_note()
        {
            let (path, did) =
                (self.workspace.lanes[lane].log_place().join(NOTE), EraseResult::Stays(failure.to_string()));
            places.push(EraseCheck { place: "note", path, did });
        }
        Ok((forgetting.after + 1, places))
    }

    /// Searches every place, and with a writer erases what it finds. The order does not matter: the request
    /// file has everything that a step needs.
    fn go_through(
        &mut self,
        at: LaneId,
        traces: &Traces,
        writer: Option<&dyn Transaction>,
    ) -> Result<Vec<EraseCheck>, Failure> {
        let act = if writer.is_some() { EraseMode::Purge } else { EraseMode::Look };
        let former = if at == LaneId::Records { None } else { self.workspace.former_notes() };
        let lane = &self.workspace.lanes[at];
        let places = lane.paths(&traces.addresses);
        let files: BTreeSet<RelPath> = places.iter().cloned().chain(lane.put_aside(&places)?).collect();
        let listed = lane.count_listed(&places);
        let client_index = lane.client_index();
        let without = |bytes: &[u8]| lane.without_links(bytes, traces);
        // First, because the client may have changed it just now: then nothing is erased yet.
        let linked = match (&client_index, writer) {
            (Some(index), Some(writer)) => writer.erase_lines(index, &without)?,
            (Some(index), None) => lane.read(index)?.map_or(0, |bytes| without(&bytes).1),
            (None, _) => 0,
        };
        let (in_lane, in_journal, in_marks) = lane.with_unwanted(traces, |unwanted| match writer {
            Some(writer) => Ok::<_, Failure>((
                writer.erase_documents(&files)?,
                writer.erase_from_log(unwanted)?,
                writer.erase_from_marks(unwanted)?,
            )),
            None => Ok((
                files.iter().filter(|path| lane.stands(path)).count(),
                lane.documents.log().count_in_log(unwanted)?,
                lane.documents.log().count_in_marks(unwanted)?,
            )),
        })?;
        let removed = |count| if count == 0 { EraseResult::Nothing } else { EraseResult::Removed(count) };
        let soft = |done: Result<usize, Failure>| {
            done.map_or_else(|why| EraseResult::Stays(why.to_string()), removed)
        };
        let mut checked = Vec::new();
        let mut check = |place, path, did| checked.push(EraseCheck { place, path, did });
        let lane = &mut self.workspace.lanes[at];
        check("memories", lane.folder(""), removed(in_lane));
        if let Some(index) = client_index {
            check("lines of the client's index", lane.file(&index), removed(linked));
        }
        check("log and undo", lane.log_place().join("blobs"), removed(in_journal));
        check("marks", lane.marks_place(), removed(in_marks));
        check("index", lane.index_file.clone(), lane.forget_in_index(&places, act));
        if let Some(file) = lane.listing_file() {
            let listing = match act {
                EraseMode::Look => Ok(listed),
                EraseMode::Purge => lane.put_listing_for_good(&file).map(|()| listed),
            };
            check("listing", file, soft(listing));
        }
        let mut marks = BTreeSet::from([self.workspace.lanes[at].marks_place()]);
        for other in self.others(at, former.as_ref()) {
            let in_log = other.forget_in_log(traces, act);
            check("log and undo", other.log_place().join("blobs"), soft(in_log));
            let file = other.marks_place();
            if marks.insert(file.clone()) {
                check("marks", file, soft(other.forget_in_marks(traces, act)));
            }
        }
        for (folder, count) in self.workspace.lanes.iter().filter_map(|lane| lane.count_left_behind(traces)) {
            check("older log", folder, stays_behind(count));
        }
        if let Some(mut former) = former {
            check("index", former.index_file.clone(), former.forget_in_index(&places, act));
        }
        if let Some((map, lines)) = self.forget_in_act_map(traces, act) {
            check("act map", map, soft(lines));
        }
        for (file, lines) in self.forget_verdicts(traces, act) {
            check("verdicts of audits", file, soft(lines));
        }
        check(
            "ledger",
            self.workspace.project.state.join("ledger.jsonl"),
            soft(self.workspace.ledger().forget(traces, act)),
        );
        check(
            "captures",
            self.workspace.captures().folder(),
            soft(self.workspace.captures().forget(traces, act)),
        );
        let folder = self.workspace.project.drafts.path();
        let drafts = drafts::forget(&*self.workspace.disk, &folder, traces, act);
        check("drafts", folder, soft(drafts));
        if let Some(folders) = &self.workspace.folders {
            let log = folders.state.join(HOOK_LOG);
            let lines = hooklog::forget(&*self.workspace.disk, &log, traces, act);
            check("log of hooks", log, soft(lines));
        }
        Ok(checked)
    }

    /// Erases what the memory names from the act map, which is then removed: the next hook writes it again.
    fn forget_in_act_map(
        &self,
        traces: &Traces,
        act: EraseMode,
    ) -> Option<(PathBuf, Result<usize, Failure>)> {
        let disk = &*self.workspace.disk;
        let records = self.workspace.lanes.records().files.as_ref()?;
        let map = act_map_path(self.workspace.folders.as_ref()?, &records.root);
        let is_of = |line: &str| ActEntry::parse(line).is_some_and(|entry| traces.own(&entry.address));
        let erased = append_log::redact_lines(disk, &[&map], act, &is_of).and_then(|count| {
            if act == EraseMode::Purge && disk.stat(&map)?.is_some() {
                disk.remove_file(&map)?;
            }
            Ok(count)
        });
        let erased = erased.map_err(|source| Failure::io("erase lines of", &map, source));
        Some((map, erased))
    }

    /// The same for the verdicts of the last audit, which have texts of the memory.
    fn forget_verdicts(&self, traces: &Traces, act: EraseMode) -> Vec<(PathBuf, Result<usize, Failure>)> {
        let disk = &*self.workspace.disk;
        let Some(cache) = self.workspace.verdict_cache() else { return Vec::new() };
        let address = |line: &str| AuditedMemory::parse(line).map(|memory| memory.address);
        let address = |line: &str| address(line).or_else(|| Some(BrokenMemory::parse(line)?.address));
        let is_of = |line: &str| address(line).is_some_and(|address| traces.own(&address));
        let erase = |file: PathBuf| {
            let erased = append_log::redact_lines(disk, &[&file], act, &is_of);
            let erased = erased.map_err(|source| Failure::io("erase lines of", &file, source));
            (file, erased)
        };
        cache.files().into_iter().filter(|file| disk.exists(file)).map(erase).collect()
    }

    /// The other lanes with a log: a reason or a mark there may name the memory.
    fn others<'w>(&'w self, at: LaneId, former: Option<&'w Lane>) -> impl Iterator<Item = &'w Lane> {
        self.workspace.lanes.others(at).chain(former).filter(|lane| lane.has_log())
    }

    /// The memories that name it or repeat its text. Reads every file: the index has only the words of the
    /// content, not those of histories, reasons and unknown keys.
    fn mentioning(&self, address: &Address, traces: &Traces) -> Vec<Address> {
        let said = self.workspace.load(address).ok().and_then(|loaded| match loaded.memory.body {
            Body::Prose(text) => Some(text.trim().to_owned()).filter(|text| words(text).len() >= WORDS_MIN),
            Body::Fields(_) => None,
        });
        let mut mentioning = Vec::new();
        for lane in &self.workspace.lanes {
            let mentions = |path: &RelPath| {
                let text = lane.documents.read(path, lane.dialect.max_bytes() as u64);
                let text = text.ok().flatten().unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                traces.are_named_in(&text) || said.as_ref().is_some_and(|said| text.contains(said.as_str()))
            };
            let files = lane.files().files.into_iter();
            let others = files.filter_map(|path| Some((lane.dialect.address_of(&path)?, path)));
            let others = others.filter(|(other, path)| !traces.own(other) && mentions(path));
            mentioning.extend(others.map(|(other, _)| other));
        }
        mentioning
    }

    /// Asks every repository that contains, or contained, the memory's folder: notes may have been moved here from
    /// another one.
    fn in_git(&self, at: LaneId, traces: &Traces) -> Vec<RepositoryTraces> {
        let lane = &self.workspace.lanes[at];
        let mut roots = vec![lane.folder("")];
        let mut lists: Vec<PathBuf> = lane.listing_file().into_iter().collect();
        lists.extend(self.workspace.lanes.iter().map(|lane| lane.marks_place()));
        if let Some(other) = self.workspace.other_notes_place().filter(|_| at != LaneId::Records) {
            lists.push(other.marks.join(MARKS_FILE));
            roots.push(other.root);
        }
        let addresses: Vec<String> = traces.addresses.iter().map(ToString::to_string).collect();
        let paths = lane.paths(&traces.addresses);
        let names: Vec<&str> =
            addresses.iter().map(String::as_str).chain(paths.iter().map(RelPath::as_str)).collect();
        let is_of = |path: &str| {
            let address = RelPath::parse(path).ok().and_then(|path| lane.whose(&path));
            address.is_some_and(|address| traces.own(&address))
        };
        let repositories: BTreeSet<PathBuf> =
            roots.iter().chain(&lists).filter_map(|path| git::repository_of(path)).collect();
        let ask = |repository: &Path| -> Result<GitTraces, GitError> {
            let inside = |paths: &[PathBuf]| -> Vec<PathBuf> {
                let inside = |path: &&PathBuf| git::repository_of(path).as_deref() == Some(repository);
                paths.iter().filter(inside).cloned().collect()
            };
            let mut files = Vec::new();
            // Every path that git ever had there, filtered by our own rule for names: a pattern would match
            // `alpha_2` for `alpha`.
            for root in inside(&roots) {
                files.append(&mut git::ever_in(repository, &root, &is_of)?);
            }
            git::held(repository, &files, &inside(&lists), &names)
        };
        let asked = repositories.into_iter().map(|repository| RepositoryTraces {
            held: ask(&repository).map_err(|fault| fault.to_string()),
            repository,
        });
        asked.collect()
    }

    fn traces(&self, at: LaneId, address: &Address) -> Result<Traces, Failure> {
        let mut marks = self.workspace.read_marks()?;
        let lane = &self.workspace.lanes[at];
        if let Some(elsewhere) = self.workspace.former_notes().filter(|_| at != LaneId::Records) {
            // `notes move` leaves aliases in the old marks file.
            marks.aliases.extend(Marks::read(&elsewhere.read_marks()?).aliases);
        }
        let mut former = marks.former(address);
        former.extend(lane.dialect.restored_to(address));
        let (mut taken, mut addresses): (BTreeSet<Address>, BTreeSet<Address>) =
            former.into_iter().partition(|former| lane.exists(former));
        addresses.insert(address.clone());
        // A deleted note in the trash with this address goes too. One in the trash with a former address of this
        // memory is another memory and stays.
        for other in lane.files().files.iter().filter_map(|path| lane.dialect.address_of(path)) {
            match lane.dialect.restored_to(&other) {
                Some(origin) if origin == *address => drop(addresses.insert(other)),
                Some(origin) if addresses.contains(&origin) || taken.contains(&origin) => {
                    taken.extend(Some(other).filter(|other| !addresses.contains(other)));
                }
                _ => {}
            }
        }
        let title = self.workspace.load(address).ok().map(|loaded| loaded.memory.title);
        let origins = addresses.iter().filter_map(|address| marks.origins.get(address)).flatten();
        let sessions = origins.map(|origin| origin.session.clone()).collect();
        Ok(Traces { addresses, taken, titles: title.into_iter().collect(), sessions })
    }
}

impl Lane {
    fn paths(&self, addresses: &BTreeSet<Address>) -> BTreeSet<RelPath> {
        addresses.iter().filter_map(|address| self.dialect.place(address)).collect()
    }

    /// The memory a path belongs to, or belonged to before its file was quarantined.
    fn whose(&self, path: &RelPath) -> Option<Address> {
        let address = |path: &RelPath| self.dialect.address_of(path);
        address(path).or_else(|| address(&quarantine::came_from(path)?))
    }

    /// Calls `ask` with the predicates for what to erase from this lane's files, journal and marks.
    pub(in crate::workspace) fn with_unwanted<T>(
        &self,
        traces: &Traces,
        ask: impl FnOnce(&ErasePredicate<'_>) -> T,
    ) -> T {
        ask(&ErasePredicate {
            is_path: &|path| self.whose(path).is_some_and(|address| traces.own(&address)),
            until_left: &|path| self.dialect.place(&traces.lost(&self.whose(path)?)?),
            in_document: &|path, bytes| {
                self.client_index().as_ref() == Some(path) && self.without_links(bytes, traces).1 > 0
            },
            in_reason: &|reason| traces.are_told_in(reason),
            without: &|marks| mark::purged(marks, traces),
        })
    }

    /// The client's index, which has a line with title and description of each memory.
    fn client_index(&self) -> Option<RelPath> {
        if self.id() == LaneId::Auto { RelPath::parse(MEMORY_FILE).ok() } else { None }
    }

    /// A version of the client's index without the lines of a memory, and how many there were.
    fn without_links(&self, bytes: &[u8], traces: &Traces) -> (Vec<u8>, usize) {
        let is_of = |path: &RelPath| self.whose(path).is_some_and(|address| traces.own(&address));
        let Ok(text) = std::str::from_utf8(bytes) else { return (bytes.to_vec(), 0) };
        let (text, count) = MemoryIndex::parse(text).without_all(&is_of);
        (text.into_bytes(), count)
    }

    pub(in crate::workspace) fn has_log(&self) -> bool {
        self.documents.log().written_ns().is_some()
    }

    /// Quarantined files that were written to these paths by hand.
    fn put_aside(&self, places: &BTreeSet<RelPath>) -> Result<Vec<RelPath>, Failure> {
        let folders: BTreeSet<&str> = places.iter().filter_map(RelPath::folder).collect();
        let mut aside = Vec::new();
        for folder in folders {
            let fault = |source| Failure::io("list", &self.folder(folder), source);
            let listed = self.documents.list(folder).map_err(fault)?;
            let files = listed.unwrap_or_default().into_iter().filter(|listed| listed.kind == FileType::File);
            let paths = files.filter_map(|file| RelPath::parse(&format!("{folder}/{}", file.name)).ok());
            let was_there =
                |path: &RelPath| quarantine::came_from(path).is_some_and(|from| places.contains(&from));
            aside.extend(paths.filter(was_there));
        }
        Ok(aside)
    }

    /// Erases a memory from the log of another lane. A memory with the same address in that lane is a
    /// different one.
    fn forget_in_log(&self, traces: &Traces, act: EraseMode) -> Result<usize, Failure> {
        let traces = traces.with_taken(|address| self.exists(address));
        self.with_unwanted(&traces, |unwanted| match act {
            EraseMode::Look => Ok(self.documents.log().count_in_log(unwanted)?),
            EraseMode::Purge => {
                let writer = self.documents.begin()?;
                let purged = writer.erase_from_log(unwanted)?;
                writer.finish()?;
                Ok(purged)
            }
        })
    }

    fn forget_in_marks(&self, traces: &Traces, act: EraseMode) -> Result<usize, Failure> {
        let traces = traces.with_taken(|address| self.exists(address));
        self.with_unwanted(&traces, |unwanted| match act {
            EraseMode::Look => Ok(self.documents.log().count_in_marks(unwanted)?),
            EraseMode::Purge => {
                let writer = self.documents.begin()?;
                let purged = writer.erase_from_marks(unwanted)?;
                writer.finish()?;
                Ok(purged)
            }
        })
    }

    fn forget_in_index(&mut self, places: &BTreeSet<RelPath>, act: EraseMode) -> EraseResult {
        match self.try_forget_in_index(places, act) {
            Err(failure) => EraseResult::Stays(failure.to_string()),
            // We used an index in memory: the file could not be written and may still have the memory.
            Ok(_) if self.index_fault.is_some() && self.has_index_file() => {
                EraseResult::Stays(self.index_fault.clone().unwrap_or_default())
            }
            Ok(0) => EraseResult::Nothing,
            Ok(rows) => EraseResult::Removed(rows),
        }
    }

    fn try_forget_in_index(&mut self, places: &BTreeSet<RelPath>, act: EraseMode) -> Result<usize, Failure> {
        let mut rows = 0;
        for path in places {
            rows += usize::from(self.with_index(|index| index.seen_at(path))?.is_some());
        }
        if act == EraseMode::Purge {
            self.index_paths(&places.iter().cloned().collect::<Vec<_>>())?;
            self.index.scrub()?;
        }
        Ok(rows)
    }

    fn count_listed(&self, places: &BTreeSet<RelPath>) -> usize {
        let (Some(files), Some(file)) = (&self.files, self.listing_file()) else { return 0 };
        let listing = files.disk.read_regular(&file, READ_MAX_BYTES).ok().flatten().unwrap_or_default();
        let listed: Vec<String> = places.iter().map(|path| self.listed_path(path)).collect();
        let text = String::from_utf8_lossy(&listing);
        text.lines().filter(|line| listed.iter().any(|path| line.contains(path.as_str()))).count()
    }

    /// Writes `index.md` and syncs it, unlike elsewhere: a power cut must not bring the old one back.
    fn put_listing_for_good(&mut self, file: &Path) -> Result<(), Failure> {
        self.put_listing()?;
        self.files.as_ref().map_or(Ok(()), |files| files.sync(file, &files.root))
    }

    fn has_index_file(&self) -> bool {
        let files = self.files.as_ref();
        files.is_some_and(|files| matches!(files.disk.stat(&self.index_file), Ok(Some(_))))
    }

    /// The folder of the log, for messages.
    fn log_place(&self) -> PathBuf {
        self.files.as_ref().map_or_else(|| self.folder(""), |files| files.state.path())
    }

    /// The marks file, for messages.
    pub(in crate::workspace) fn marks_place(&self) -> PathBuf {
        let files = self.files.as_ref();
        files.map_or_else(|| self.folder(MARKS_FILE), |files| files.store.path_of(&ChangeTarget::Marks))
    }

    /// The request of an interrupted `forget`. Only the files backend has one: other backends erase everything at
    /// once.
    pub(in crate::workspace) fn unfinished_forgets(&self) -> Result<Option<EraseRequest>, Failure> {
        self.files.as_ref().map_or(Ok(None), LaneFiles::forgetting_left)
    }

    fn keep_note(&self, forgetting: &EraseRequest) -> Result<(), Failure> {
        self.files.as_ref().map_or(Ok(()), |files| files.keep_note(forgetting))
    }

    /// Removes the request of a `forget` that failed before it erased anything, so that no writer continues it.
    fn withdraw(&self, address: &Address, failure: Failure) -> Failure {
        match self.discard_note() {
            Ok(()) => failure,
            Err(_) => half_forgotten(address, failure),
        }
    }

    fn discard_note(&self) -> Result<(), Failure> {
        self.files.as_ref().map_or(Ok(()), LaneFiles::discard_note)
    }
}

impl LaneFiles {
    fn note_file(&self) -> PathBuf {
        self.state.join(NOTE)
    }

    fn forgetting_left(&self) -> Result<Option<EraseRequest>, Failure> {
        let path = self.note_file();
        let bytes = self.disk.read_regular(&path, NOTE_MAX_BYTES);
        let bytes = bytes.map_err(|source| Failure::io("read", &path, source))?;
        Ok(bytes.and_then(|bytes| EraseRequest::read(std::str::from_utf8(&bytes).ok()?)))
    }

    fn keep_note(&self, forgetting: &EraseRequest) -> Result<(), Failure> {
        self.discard_note()?;
        let path = self.note_file();
        self.disk
            .create_new(&path, forgetting.to_text().as_bytes(), PRIVATE)
            .map_err(|source| Failure::io("write", &path, source))?;
        self.sync(&path, &self.state.path())
    }

    fn discard_note(&self) -> Result<(), Failure> {
        let path = self.note_file();
        let fault = |attempt, source| Failure::io(attempt, &path, source);
        if self.disk.stat(&path).map_err(|source| fault("read", source))?.is_some() {
            self.disk.remove_file(&path).map_err(|source| fault("remove", source))?;
            self.disk.sync_dir(&self.state.path()).map_err(|source| fault("sync", source))?;
        }
        Ok(())
    }

    fn sync(&self, file: &Path, folder: &Path) -> Result<(), Failure> {
        let synced = self.disk.sync_file(file).and_then(|()| self.disk.sync_dir(folder));
        synced.map_err(|source| Failure::io("sync", file, source))
    }
}

fn half_forgotten(address: &Address, failure: Failure) -> Failure {
    match failure {
        Failure::HalfForgotten { .. } => failure,
        why => Failure::HalfForgotten { address: address.clone(), why: Box::new(why) },
    }
}

/// A leftover journal of an older version is only reported: we do not write to it.
fn stays_behind(count: Result<usize, Failure>) -> EraseResult {
    match count {
        Ok(0) => EraseResult::Nothing,
        Ok(_) => EraseResult::Stays("an older version of lorelane wrote it; remove the folder".to_owned()),
        Err(why) => EraseResult::Stays(why.to_string()),
    }
}

fn all_done(places: &[EraseCheck]) -> bool {
    !places.iter().any(|checked| matches!(checked.did, EraseResult::Stays(_)))
}
