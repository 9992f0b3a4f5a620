//! Two agents on one session folder of a simulated disk, with crashes at any call: no decision is lost, no line of the
//! log is torn, the files and the log agree, and everything can be undone to the first byte.
//!
//! That the checks see what they are for is proven by disks that leave out one safeguard each.

use lorelane_core::time::Timestamp;
use lorelane_core::working_set::{
    ColdAction, ColdAdvice, ColdManifest, EventAuthor, EventKind, HotAdvice, HotManifest, SessionEvent,
    SessionLog, SessionState, SetManifest, Sidecar, SummaryGenerator, SummaryHead, SummaryStyle, Touch,
    TouchKind, sidecar_path,
};
use lorelane_engine::backend::StoreError;
use lorelane_engine::disk::sim::{Crash, CrashPoint, SimDisk, SimProcess};
use lorelane_engine::disk::{DirEntry, Disk, LinkPolicy, LockGuard, RandomAccessFile, SeededRng, Stat};
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{
    AddRequest, AdviceRequest, Failure, ProjectLocation, SessionOptions, SummaryRequest, TurnTouches,
    WorkingSet, Workspace,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Only on the simulated disk.
const HOME: &str = "/lorelane-simulated-home";
const FOLDER: &str = "/p/.agent/sessions/s";
const SET: &str = "# mine, do not lose it\nfiles: []  # none yet\ncustom: {depth: 4}\n";
const HOT: &str = "# hot of mine\nkeep: []\nnotes:\n  - keep me\n";
const SOURCES: usize = 4;

/// A safeguard that a disk leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Omission {
    LogSync,
    LogTruncate,
    JournalSync,
    Lock,
}

/// The simulated disk without one of its safeguards.
#[derive(Clone, Debug)]
struct OmittingDisk {
    disk: SimDisk,
    omission: Option<Omission>,
    /// A folder that no other process locks.
    own: PathBuf,
}

impl OmittingDisk {
    fn omits(&self, omission: Omission) -> bool {
        self.omission == Some(omission)
    }
}

fn is_log(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("session-log"))
}

impl Disk for OmittingDisk {
    fn read_bounded(&self, path: &Path, links: LinkPolicy, max: u64) -> io::Result<Option<Vec<u8>>> {
        self.disk.read_bounded(path, links, max)
    }
    fn read_tail(&self, path: &Path, max: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
        self.disk.read_tail(path, max)
    }
    fn open(&self, path: &Path, links: LinkPolicy) -> io::Result<Box<dyn RandomAccessFile>> {
        self.disk.open(path, links)
    }
    fn list(&self, folder: &Path) -> io::Result<Option<Vec<DirEntry>>> {
        self.disk.list(folder)
    }
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.disk.stat(path)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.disk.create_dir_all(path)
    }
    fn create_new(&self, path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
        self.disk.create_new(path, bytes, mode)
    }
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.disk.append(path, bytes)
    }
    fn overwrite_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.overwrite_at(path, offset, bytes)
    }
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        if self.omits(Omission::LogTruncate) && is_log(path) { Ok(()) } else { self.disk.truncate(path, len) }
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_file(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_dir(path)
    }
    fn sync_file(&self, path: &Path) -> io::Result<()> {
        let is_omitted = self.omits(Omission::LogSync) && is_log(path)
            || self.omits(Omission::JournalSync) && path.starts_with(HOME);
        if is_omitted { Ok(()) } else { self.disk.sync_file(path) }
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_dir(path)
    }
    fn try_lock_dir(&self, path: &Path) -> io::Result<Option<LockGuard>> {
        if !self.omits(Omission::Lock) {
            return self.disk.try_lock_dir(path);
        }
        self.disk.create_dir_all(&self.own)?;
        self.disk.try_lock_dir(&self.own)
    }
    fn now_ns(&self) -> i64 {
        self.disk.now_ns()
    }
    fn pause(&self, time: Duration) {
        self.disk.pause(time);
    }
    fn nonce(&self) -> [u8; 16] {
        self.disk.nonce()
    }
}

/// What the agents were told, over all processes.
#[derive(Debug, Default)]
struct Told {
    tokens: u64,
    acknowledged: Vec<String>,
}

/// Counts, so that a run that tested nothing fails.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    acknowledged: usize,
    undone: usize,
    dead: usize,
}

struct Round {
    machine: SimDisk,
    omission: Option<Omission>,
    told: Mutex<Told>,
    undone: Mutex<usize>,
    dead: usize,
}

impl Round {
    fn new(seed: u64, omission: Option<Omission>) -> Round {
        let machine = SimDisk::new(seed);
        Round { machine, omission, told: Mutex::default(), undone: Mutex::default(), dead: 0 }
    }

    fn disk(&self, disk: &SimDisk) -> OmittingDisk {
        let own = PathBuf::from(format!("/locks/{disk:?}"));
        OmittingDisk { disk: disk.clone(), omission: self.omission, own }
    }

    fn workspace(&self, disk: &SimDisk) -> Result<Workspace, Failure> {
        let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), HOME.to_owned())]);
        let env = Env { now: Timestamp(1_790_000_000), cwd: "/p".into(), vars };
        let located = ProjectLocation {
            project: "/p".into(),
            lane: "/p/.claude/memory".into(),
            root_from_project: ".claude/memory".to_owned(),
            has_notes: false,
        };
        Workspace::open_on(Arc::new(self.disk(disk)), &env, located)
    }

    fn run(&mut self, seed: u64) -> Result<Seen, String> {
        let mut rng = SeededRng::new(seed ^ 0x5eed);
        self.begin().map_err(|failure| format!("beginning: {failure}"))?;
        for _ in 0..3 {
            self.epoch(&mut rng)?;
            self.judge()?;
        }
        if rng.one_in(3) {
            self.undo_everything()?;
        }
        let (told, undone) = (self.told.lock().unwrap(), *self.undone.lock().unwrap());
        Ok(Seen { acknowledged: told.acknowledged.len(), undone, dead: self.dead })
    }

    /// A session whose manifests somebody wrote, on a disk that has everything synced.
    fn begin(&self) -> Result<(), Failure> {
        let disk = &self.machine;
        let io = |path: &str| {
            let path = PathBuf::from(path);
            move |source| Failure::Io { attempt: "prepare", path, source }
        };
        for folder in ["/p/src", "/p/.agent", "/p/.agent/sessions", FOLDER, HOME] {
            disk.create_dir_all(Path::new(folder)).map_err(io(folder))?;
        }
        let sources = (0..SOURCES).map(|number| (format!("/p/src/{number}.rs"), source(number)));
        let manifests = [("working-set.yml", SET), ("hot.yml", HOT)];
        let manifests = manifests.map(|(name, text)| (format!("{FOLDER}/{name}"), text.to_owned()));
        for (path, text) in sources.chain(manifests) {
            disk.create_new(Path::new(&path), text.as_bytes(), None).map_err(io(&path))?;
            disk.sync_file(Path::new(&path)).map_err(io(&path))?;
        }
        for folder in ["/", "/p", "/p/src", "/p/.agent", "/p/.agent/sessions", FOLDER] {
            disk.sync_dir(Path::new(folder)).map_err(io(folder))?;
        }
        let mut workspace = self.workspace(disk)?;
        let options = SessionOptions { session: Some("s"), ..SessionOptions::default() };
        WorkingSet::init(&mut workspace, options).map(drop)
    }

    fn epoch(&mut self, rng: &mut SeededRng) -> Result<(), String> {
        let crashes: &[Crash] = match rng.below(5) {
            0 => &[],
            1 => &[Crash::Kill],
            2 => &[Crash::PowerCut],
            // The next writer builds on what a killed one left in the page cache, then that is lost.
            _ => &[Crash::Kill, Crash::PowerCut],
        };
        let mut at = self.machine.calls();
        for crash in crashes {
            at += 1 + rng.below(700) as u64;
            let when = if rng.one_in(2) { CrashPoint::SyncAfter(at) } else { CrashPoint::Call(at) };
            self.machine.crash_at(when, *crash);
        }
        let mut jobs: Vec<(SimDisk, SimProcess<'_, Result<(), String>>)> = Vec::new();
        for _ in 0..2 {
            let disk = self.machine.process();
            let (process, mut rng) = (disk.clone(), SeededRng::new(rng.number()));
            let round = &*self;
            jobs.push((disk, Box::new(move || round.agent(&process, &mut rng))));
        }
        let processes: Vec<SimDisk> = jobs.iter().map(|(disk, _)| disk.clone()).collect();
        let outcomes = SimDisk::compete(jobs);
        self.machine.heal();
        self.dead += processes.iter().filter(|disk| !disk.alive()).count();
        outcomes.into_iter().collect()
    }

    fn agent(&self, disk: &SimDisk, rng: &mut SeededRng) -> Result<(), String> {
        for _ in 0..1 + rng.below(5) {
            match self.step(disk, rng) {
                Err(_) if !disk.alive() => return Ok(()),
                Ok(()) | Err(Failure::Store(StoreError::NothingToUndo)) => {}
                // Another agent was first.
                Err(Failure::WorkingSet(_)) => {}
                Err(failure) => return Err(format!("an agent was refused: {failure}")),
            }
        }
        Ok(())
    }

    fn token(&self) -> String {
        let mut told = self.told.lock().unwrap();
        told.tokens += 1;
        format!("token {} of this round", told.tokens)
    }

    fn step(&self, disk: &SimDisk, rng: &mut SeededRng) -> Result<(), Failure> {
        let mut workspace = self.workspace(disk)?;
        let (path, why) = (format!("src/{}.rs", rng.below(SOURCES)), self.token());
        if rng.one_in(8) {
            workspace.changes().undo()?;
            *self.undone.lock().unwrap() += 1;
            return Ok(());
        }
        let mut set = WorkingSet::open(&mut workspace, None)?;
        let by = EventAuthor::Model;
        let is_made = match rng.below(8) {
            0 | 1 => {
                let priority = Some(rng.below(10) as f64 / 10.0);
                set.add(&[AddRequest { path, priority, ..AddRequest::default() }], by, &why)?;
                true
            }
            2 => {
                set.remove(&[path], by, &why)?;
                true
            }
            3 => !set.pin(&path, rng.one_in(2), by, &why)?.paths.is_empty(),
            4 => {
                let hot = vec![HotAdvice { path, why: why.clone(), weight: 1.0 }];
                set.advise(&AdviceRequest { hot, ..AdviceRequest::default() }, by, &why)?;
                true
            }
            5 => {
                let suggested_action = ColdAction::SummarizeThenEvict;
                let cold = vec![ColdAdvice { path, why: why.clone(), suggested_action }];
                set.advise(&AdviceRequest { cold, ..AdviceRequest::default() }, by, &why)?;
                true
            }
            6 => {
                let style = SummaryStyle::Bullet;
                let paths = vec![path, "src/0.rs".to_owned()];
                let request = SummaryRequest { paths, style, keep_refs: true, ..SummaryRequest::default() };
                set.summarize(&request, &why)?;
                true
            }
            _ => {
                let touches = vec![Touch { path, by: TouchKind::Read }];
                set.record(TurnTouches { turns: 1, touches, read_to: None })?;
                false
            }
        };
        if is_made {
            // No disk call happens in between, so no crash can come between the change and this.
            self.told.lock().unwrap().acknowledged.push(why);
        }
        Ok(())
    }

    /// What must hold once another agent has worked there.
    fn judge(&self) -> Result<(), String> {
        let disk = self.machine.process();
        let fault = |failure: Failure| format!("judging: {failure}");
        let mut workspace = self.workspace(&disk).map_err(fault)?;
        let mut set = WorkingSet::open(&mut workspace, None).map_err(fault)?;
        let why = self.token();
        let last = AddRequest { path: "src/3.rs".to_owned(), ..AddRequest::default() };
        set.add(&[last], EventAuthor::User, &why).map_err(fault)?;
        self.told.lock().unwrap().acknowledged.push(why);
        let mut workspace = self.workspace(&disk).map_err(fault)?;
        let set = WorkingSet::open(&mut workspace, None).map_err(fault)?;
        if !set.warnings.is_empty() {
            return Err(format!("{:?}", set.warnings));
        }
        self.check_log(set.events())?;
        self.check_files(&SessionState::of(set.events()))
    }

    fn check_log(&self, events: &[SessionEvent]) -> Result<(), String> {
        if self.machine.peek(Path::new(&format!("{FOLDER}/session-log-2.md"))).is_some() {
            return Err("the log was taken for an edited one".to_owned());
        }
        let text = self.text("session-log.md");
        let log = SessionLog::read(&text);
        if !log.faults.is_empty() || log.torn_at.is_some() {
            return Err(format!("the log has {:?}, torn at {:?}", log.faults, log.torn_at));
        }
        let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
        if numbers != (1..=events.len() as u64).collect::<Vec<_>>() {
            return Err(format!("the events are {numbers:?}"));
        }
        let told = self.told.lock().unwrap();
        for token in (1..=told.tokens).map(|number| format!("token {number} of this round")) {
            let found = events.iter().filter(|event| event.kind.why() == token).count();
            let is_told = told.acknowledged.contains(&token);
            if found > 1 || is_told && found == 0 {
                return Err(format!("{token} is logged {found} times, acknowledged: {is_told}"));
            }
        }
        let is_by_hand = |event: &&SessionEvent| match &event.kind {
            EventKind::WorkingSetUpdate { by, .. }
            | EventKind::CacheAdvice { by, .. }
            | EventKind::SummaryLinks { by, .. } => *by == EventAuthor::File,
            kind => matches!(kind, EventKind::Recovery { .. } | EventKind::Warning { .. }),
        };
        match events.iter().find(is_by_hand) {
            Some(event) => Err(format!("nobody edited a file, but: {event:?}")),
            None => Ok(()),
        }
    }

    /// The log alone rebuilds what the files say.
    fn check_files(&self, state: &SessionState) -> Result<(), String> {
        let set = SetManifest::read(&self.text("working-set.yml")).map_err(|fault| fault.to_string())?;
        let listed: BTreeMap<_, _> = set.entries.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        let logged: BTreeMap<_, _> = state.set().map(|(path, _, entry)| (path, entry)).collect();
        if listed != logged {
            return Err(format!("the set is {listed:?}, but the log says {logged:?}"));
        }
        let hot = HotManifest::read(&self.text("hot.yml")).map_err(|fault| fault.to_string())?;
        // It was made for the first advice, so an undo of that removes it. One that is missing says nothing.
        let cold = match self.text("cold.yml").as_str() {
            "" => ColdManifest::default(),
            text => ColdManifest::read(text).map_err(|fault| fault.to_string())?,
        };
        let hot: BTreeSet<String> = hot.keep.into_iter().map(|advice| advice.path).collect();
        let cold: BTreeSet<String> = cold.evict.into_iter().map(|advice| advice.path).collect();
        for (path, file) in &state.files {
            let sidecar = Sidecar::read(&self.text(&sidecar_path(path))).unwrap_or_default();
            let found = (hot.contains(path), cold.contains(path), sidecar.pin, sidecar.summarized_in);
            let logged = (file.hot.is_some(), file.cold.is_some(), file.pinned, file.summary.clone());
            if found != logged {
                return Err(format!("{path}: the files say {found:?}, the log says {logged:?}"));
            }
            if let Some(summary) = &file.summary
                && self.machine.peek(&Path::new("/p").join(summary)).is_none()
            {
                return Err(format!("{path}: its summary {summary} is gone"));
            }
        }
        let kept = self.text("working-set.yml").starts_with("# mine, do not lose it\n")
            && self.text("working-set.yml").contains("custom: {depth: 4}\n")
            && self.text("hot.yml").starts_with("# hot of mine\n")
            && self.text("hot.yml").contains("notes:\n  - keep me\n");
        if !kept {
            return Err(format!("lost: {} {}", self.text("working-set.yml"), self.text("hot.yml")));
        }
        let is_same = |number: &usize| {
            let bytes = self.machine.peek(Path::new(&format!("/p/src/{number}.rs")));
            bytes == Some(source(*number).into_bytes())
        };
        if (0..SOURCES).all(|number| is_same(&number)) { Ok(()) } else { Err("a source changed".to_owned()) }
    }

    fn undo_everything(&self) -> Result<(), String> {
        let disk = self.machine.process();
        for _ in 0..500 {
            let mut workspace = self.workspace(&disk).map_err(|failure| failure.to_string())?;
            match workspace.changes().undo() {
                Ok(_) => {}
                Err(Failure::Store(StoreError::NothingToUndo)) => {
                    let found = (self.text("working-set.yml"), self.text("hot.yml"));
                    let is_first = found == (SET.to_owned(), HOT.to_owned());
                    return if is_first { Ok(()) } else { Err(format!("undone to {found:?}")) };
                }
                Err(failure) => return Err(format!("undoing everything: {failure}")),
            }
        }
        Err("undoing does not end".to_owned())
    }

    fn text(&self, name: &str) -> String {
        let bytes = self.machine.peek(&Path::new(FOLDER).join(name)).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

fn source(number: usize) -> String {
    format!("// Source {number}\n{}", "fn f() -> u32 { 100 }\n".repeat(number + 1))
}

fn simulate(seed: u64, omission: Option<Omission>) -> Result<Seen, String> {
    Round::new(seed, omission).run(seed).map_err(|what| format!("seed {seed}: {what}"))
}

// Issue 15: no decision lost, no log line torn, no byte unrecoverable.
#[test]
fn two_agents_lose_nothing_whatever_crashes() {
    let mut seen = Seen::default();
    for seed in 0..150 {
        let round = simulate(seed, None).unwrap_or_else(|what| panic!("{what}"));
        seen.acknowledged += round.acknowledged;
        seen.undone += round.undone;
        seen.dead += round.dead;
    }
    assert!(seen.acknowledged > 600 && seen.undone > 50 && seen.dead > 100, "too kind a world: {seen:?}");
    assert!(!Path::new(HOME).exists(), "everything was on the simulated disk");
}

#[test]
fn every_safeguard_of_a_session_is_missed_when_it_is_gone() {
    for omission in [Omission::LogSync, Omission::LogTruncate, Omission::JournalSync, Omission::Lock] {
        let noticed = (0..600).find(|seed| simulate(*seed, Some(omission)).is_err());
        assert!(noticed.is_some(), "{omission:?} was not noticed");
    }
}

/// A disk that is full before, during or after any step of a change: the change happened as a whole or not at all, and
/// with space again everything goes on.
#[test]
fn a_full_disk_loses_no_decision() {
    let (mut refused, mut made) = (0, 0);
    for space in (0..9_000).step_by(97) {
        let round = Round::new(space, None);
        round.begin().unwrap();
        let disk = round.machine.process();
        round.judge().unwrap();
        round.machine.space(Some(space));
        let token = round.token();
        let hot = vec![HotAdvice { path: "src/1.rs".to_owned(), why: token.clone(), weight: 1.0 }];
        let request = AdviceRequest { hot, ..AdviceRequest::default() };
        let advised = round.workspace(&disk).and_then(|mut workspace| {
            WorkingSet::open(&mut workspace, None)?.advise(&request, EventAuthor::Model, &token)
        });
        match advised {
            Ok(_) => {
                made += 1;
                round.told.lock().unwrap().acknowledged.push(token);
            }
            Err(failure) => {
                refused += 1;
                assert_eq!(failure.hint(), "free some space and try again", "{space}: {failure}");
            }
        }
        let touches = vec![Touch { path: "src/2.rs".to_owned(), by: TouchKind::Write }];
        let _ = round.workspace(&disk).and_then(|mut workspace| {
            WorkingSet::open(&mut workspace, None)?.record(TurnTouches { turns: 1, touches, read_to: None })
        });
        round.machine.heal();
        round.judge().unwrap_or_else(|what| panic!("{space}: {what}"));
    }
    assert!(refused > 10 && made > 10, "{refused} refused, {made} made");
}

// Section 3, numbers 18 to 20; section 4: double backlinks after a summary, and the stale flag after an edit.
#[test]
fn c18_c19_c20_a_summary_is_linked_both_ways_and_stale_when_a_source_changes() {
    let round = Round::new(1, None);
    round.begin().unwrap();
    let disk = round.machine.process();
    let sources = ["src/0.rs".to_owned(), "src/1.rs".to_owned()];
    let styles = [
        (SummaryStyle::Bullet, Some("- what it does"), true),
        (SummaryStyle::Narrative, None, true),
        (SummaryStyle::Schema, Some("f: u32"), false),
        (SummaryStyle::Diff, None, false),
        (SummaryStyle::Decision, Some("keep both"), true),
    ];
    for (style, text, keep_refs) in styles {
        let mut workspace = round.workspace(&disk).unwrap();
        let mut set = WorkingSet::open(&mut workspace, None).unwrap();
        let request =
            SummaryRequest { paths: sources.to_vec(), style, text, keep_refs, ..SummaryRequest::default() };
        assert!(set.summarize(&request, " ").unwrap_err().to_string().contains("MISSING_WHY"));
        let written = set.summarize(&request, "for the table").unwrap();
        let summary = round.machine.peek(&Path::new("/p").join(&written.path)).unwrap();
        let summary = String::from_utf8(summary).unwrap();
        let head = SummaryHead::read(&summary).unwrap();
        let named: Vec<&str> = head.sources.iter().map(|source| source.path.as_str()).collect();
        assert!(summary.starts_with("---\n"), "{summary}");
        assert_eq!(named, sources, "{style:?}: in the frontmatter, whatever keep_refs says");
        assert_eq!(summary.contains("References:"), keep_refs, "{style:?}");
        let generator = if text.is_some() { SummaryGenerator::Model } else { SummaryGenerator::Extractive };
        assert_eq!((head.style, head.generator), (style, generator));
        for source in &sources {
            let sidecar = Sidecar::read(&round.text(&sidecar_path(source))).unwrap();
            assert_eq!(sidecar.summarized_in.as_ref(), Some(&written.path), "{style:?}");
        }
        assert_eq!(set.stale_summaries(), []);
    }
    // A source changes.
    let place = Path::new("/p/src/1.rs");
    disk.overwrite_at(place, 3, b"other text").unwrap();
    let mut workspace = round.workspace(&disk).unwrap();
    let mut set = WorkingSet::open(&mut workspace, None).unwrap();
    let [stale] = set.stale_summaries().try_into().unwrap();
    assert_eq!((stale.changed, stale.is_missing), (vec!["src/1.rs".to_owned()], false));
    let [again] = set.refresh_summaries("its source changed").unwrap().try_into().unwrap();
    assert_eq!(again.path, stale.path, "it is made again in its place");
    let text = round.machine.peek(&Path::new("/p").join(&again.path)).unwrap();
    assert!(String::from_utf8(text).unwrap().contains("keep both"), "what a model wrote is kept");
    assert_eq!(set.stale_summaries(), []);
    // It is gone, which is named, and made again.
    disk.remove_file(&Path::new("/p").join(&stale.path)).unwrap();
    let [missing] = set.stale_summaries().try_into().unwrap();
    assert!(missing.is_missing);
    assert_eq!(set.refresh_summaries("repair").unwrap().len(), 1);
    assert_eq!(set.stale_summaries(), []);
}

// The log kept the summary that was undone, so that it was reported as missing and made again.
#[test]
fn a_summary_that_is_undone_is_not_missed() {
    let round = Round::new(2, None);
    round.begin().unwrap();
    let disk = round.machine.process();
    let mut workspace = round.workspace(&disk).unwrap();
    let mut set = WorkingSet::open(&mut workspace, None).unwrap();
    let paths = vec!["src/0.rs".to_owned()];
    let request = SummaryRequest { paths, keep_refs: true, ..SummaryRequest::default() };
    let written = set.summarize(&request, "for the table").unwrap();
    workspace.changes().undo().unwrap();
    assert_eq!(round.machine.peek(&Path::new("/p").join(&written.path)), None);
    let set = WorkingSet::open(&mut workspace, None).unwrap();
    assert_eq!(set.stale_summaries(), []);
    assert_eq!(SessionState::of(set.events()).files["src/0.rs"].summary, None);
}
