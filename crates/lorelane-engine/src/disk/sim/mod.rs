//! A disk in memory with crashes, faults and competing processes, all decided by one seed.
//!
//! Each handle is one process. Competing processes run on real threads but one at a time: at every disk call the
//! seeded scheduler may switch to another. A killed process gets an error from this call and every later one, so
//! it changes nothing more; what it wrote stays in the page cache. A power cut does that to all processes and
//! drops what was not synced.

mod cache;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{DirEntry, Disk, FileType, LinkPolicy, LockGuard, RandomAccessFile, SeededRng, Stat, too_large};
use cache::Cache;

/// Simulated time that each call takes.
const CALL_NS: i64 = 100_000;
/// Start of the simulated clock, so that no mtime is zero.
const START_NS: i64 = 1_700_000_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskVerb {
    Read,
    CreateDir,
    CreateNew,
    Append,
    Overwrite,
    Truncate,
    Rename,
    RemoveFile,
    RemoveDir,
    SyncFile,
    SyncDir,
    Lock,
}

/// One disk call, as fault injection sees it before it is made.
#[derive(Clone, Copy, Debug)]
pub struct DiskCall<'a> {
    pub verb: DiskVerb,
    pub path: &'a Path,
    /// Counted over all processes since the start.
    pub number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The process that makes the call dies; the page cache survives.
    Kill,
    PowerCut,
}

/// When a crash happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashPoint {
    /// At the call with this number, counted as in [`DiskCall::number`], or the next that can crash.
    Call(u64),
    /// At the first sync from this call on: the most revealing moment for a crash-safe program.
    SyncAfter(u64),
}

/// One process on the simulated machine. A clone is the same process.
#[derive(Clone)]
pub struct SimDisk {
    machine: Arc<Machine>,
    process: usize,
}

/// The code of a competing process.
pub type SimProcess<'a, T> = Box<dyn FnOnce() -> T + Send + 'a>;

struct Machine {
    world: Mutex<World>,
    baton: Condvar,
}

struct World {
    cache: Cache,
    rng: SeededRng,
    clock_ns: i64,
    calls: u64,
    syncs: u64,
    processes: usize,
    dead: HashSet<usize>,
    locks: HashMap<u64, usize>,
    competing: Vec<ScheduledProcess>,
    running: Option<usize>,
    crashes: Vec<PlannedCrash>,
    faults: Vec<FaultRule>,
    space: Option<u64>,
}

struct PlannedCrash {
    when: CrashPoint,
    crash: Crash,
}

type FaultRule = Box<dyn FnMut(&DiskCall<'_>) -> Option<ErrorKind> + Send>;

#[derive(Clone, Copy)]
struct ScheduledProcess {
    process: usize,
    wakes_ns: i64,
    started: bool,
}

impl SimDisk {
    pub fn new(seed: u64) -> SimDisk {
        let world = World {
            cache: Cache::new(),
            rng: SeededRng::new(seed),
            clock_ns: START_NS,
            calls: 0,
            syncs: 0,
            processes: 1,
            dead: HashSet::new(),
            locks: HashMap::new(),
            competing: Vec::new(),
            running: None,
            crashes: Vec::new(),
            faults: Vec::new(),
            space: None,
        };
        let machine = Machine { world: Mutex::new(world), baton: Condvar::new() };
        SimDisk { machine: Arc::new(machine), process: 0 }
    }

    /// Starts another process on the same machine.
    pub fn process(&self) -> SimDisk {
        let mut world = self.world();
        world.processes += 1;
        SimDisk { machine: Arc::clone(&self.machine), process: world.processes - 1 }
    }

    pub fn alive(&self) -> bool {
        !self.world().dead.contains(&self.process)
    }

    /// Number of calls so far, over all processes.
    pub fn calls(&self) -> u64 {
        self.world().calls
    }

    /// Number of synced files and folders so far.
    pub fn syncs(&self) -> u64 {
        self.world().syncs
    }

    /// Plans a crash at a call, which is the last of its process.
    pub fn crash_at(&self, when: CrashPoint, crash: Crash) {
        self.world().crashes.push(PlannedCrash { when, crash });
    }

    pub fn power_cut(&self) {
        self.world().strike(self.process, Crash::PowerCut);
    }

    /// Fails every call for which `judge` returns an error.
    pub fn fail_when(&self, judge: impl FnMut(&DiskCall<'_>) -> Option<ErrorKind> + Send + 'static) {
        self.world().faults.push(Box::new(judge));
    }

    /// Allows this many more bytes, then reports a full disk; `None` lifts the limit.
    pub fn space(&self, bytes: Option<u64>) {
        self.world().space = bytes;
    }

    /// Removes all injected faults and the crashes that have not happened.
    pub fn heal(&self) {
        let mut world = self.world();
        world.faults.clear();
        world.space = None;
        world.crashes.clear();
    }

    /// The content of a file without a disk call: for checks outside the simulated time.
    pub fn peek(&self, path: &Path) -> Option<Vec<u8>> {
        self.world().cache.file(path).ok().flatten().map(<[u8]>::to_vec)
    }

    pub fn peek_list(&self, folder: &Path) -> Vec<DirEntry> {
        self.world().cache.list(folder).ok().flatten().unwrap_or_default()
    }

    /// Runs each job as one of the competing processes; returns when all have ended.
    pub fn compete<T: Send>(jobs: Vec<(SimDisk, SimProcess<'_, T>)>) -> Vec<T> {
        for (disk, _) in &jobs {
            let mut world = disk.world();
            let wakes_ns = world.clock_ns;
            world.competing.push(ScheduledProcess { process: disk.process, wakes_ns, started: false });
        }
        // Chosen before any thread runs: which thread starts first must not matter.
        if let Some((disk, _)) = jobs.first() {
            disk.world().hand_over();
        }
        std::thread::scope(|scope| {
            let threads: Vec<_> = jobs
                .into_iter()
                .map(|(disk, job)| {
                    scope.spawn(move || {
                        // A guard, so that a panicking job does not leave the others waiting for it.
                        let _leaving = ProcessExit(disk);
                        job()
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.machine.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for its turn, advances the clock, and applies what was planned for this call.
    fn enter(&self, verb: DiskVerb, path: &Path) -> io::Result<MutexGuard<'_, World>> {
        let mut world = self.world();
        if world.seat(self.process).is_some() {
            world = self.take_turn(world, 0);
        }
        world.clock_ns += CALL_NS;
        world.calls += 1;
        if world.dead.contains(&self.process) {
            return Err(dead());
        }
        let call = DiskCall { verb, path, number: world.calls };
        let mut faults = std::mem::take(&mut world.faults);
        let fault = faults.iter_mut().find_map(|judge| judge(&call));
        world.faults = faults;
        match fault {
            Some(kind) => Err(kind.into()),
            None => Ok(world),
        }
    }

    /// A yield point: the scheduler may choose another process; this one continues when it is chosen.
    fn take_turn<'a>(&'a self, mut world: MutexGuard<'a, World>, sleep_ns: i64) -> MutexGuard<'a, World> {
        let wakes_ns = world.clock_ns + sleep_ns;
        let seat = world.seat(self.process).expect("the caller asked");
        // The first call only waits: when a thread starts depends on the real machine, not on the seed.
        if std::mem::replace(&mut seat.started, true) {
            seat.wakes_ns = wakes_ns;
            world.hand_over();
            self.machine.baton.notify_all();
        }
        while world.running != Some(self.process) {
            world = self.machine.baton.wait(world).unwrap_or_else(PoisonError::into_inner);
        }
        world
    }

    /// One call that changes something. If it is the process's last, a random part of it happens.
    fn change(
        &self,
        verb: DiskVerb,
        path: &Path,
        bytes: &[u8],
        act: impl FnOnce(&mut World, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut world = self.enter(verb, path)?;
        if let Some(crash) = world.due(verb) {
            let kept = world.rng.below(bytes.len() + 1);
            if world.rng.one_in(2) {
                // The dying process does not see this result.
                let _ = act(&mut world, &bytes[..kept]);
            }
            world.strike(self.process, crash);
            return Err(dead());
        }
        let room = world.space.map_or(bytes.len(), |space| bytes.len().min(space as usize));
        if let Some(space) = &mut world.space {
            *space -= room as u64;
        }
        act(&mut world, &bytes[..room])?;
        if room < bytes.len() { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn look<T>(&self, path: &Path, look: impl FnOnce(&World) -> io::Result<T>) -> io::Result<T> {
        let mut world = self.enter(DiskVerb::Read, path)?;
        if let Some(crash) = world.due(DiskVerb::Read) {
            world.strike(self.process, crash);
            return Err(dead());
        }
        look(&world)
    }
}

impl World {
    fn seat(&mut self, process: usize) -> Option<&mut ScheduledProcess> {
        self.competing.iter_mut().find(|seat| seat.process == process)
    }

    fn hand_over(&mut self) {
        let Some(earliest) = self.competing.iter().map(|seat| seat.wakes_ns).min() else {
            self.running = None;
            return;
        };
        // If nobody is awake, the clock advances until somebody is.
        self.clock_ns = self.clock_ns.max(earliest);
        let awake: Vec<usize> = self
            .competing
            .iter()
            .filter(|seat| seat.wakes_ns <= self.clock_ns)
            .map(|seat| seat.process)
            .collect();
        let stays = self.running.is_some_and(|running| awake.contains(&running));
        if !stays || self.rng.one_in(4) {
            self.running = Some(*self.rng.pick(&awake));
        }
    }

    fn due(&mut self, verb: DiskVerb) -> Option<Crash> {
        let syncs = matches!(verb, DiskVerb::SyncFile | DiskVerb::SyncDir);
        let at = self.crashes.iter().position(|planned| match planned.when {
            CrashPoint::Call(call) => self.calls >= call,
            CrashPoint::SyncAfter(call) => syncs && self.calls >= call,
        })?;
        Some(self.crashes.swap_remove(at).crash)
    }

    fn strike(&mut self, process: usize, crash: Crash) {
        match crash {
            Crash::Kill => {
                self.dead.insert(process);
                self.locks.retain(|_, holder| *holder != process);
            }
            Crash::PowerCut => {
                self.dead.extend(0..self.processes);
                self.locks.clear();
                self.cache.power_cut(&mut self.rng);
            }
        }
    }
}

/// Looks the path up at each read: the store replaces no file while it is open.
#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    path: PathBuf,
}

impl RandomAccessFile for SimFile {
    fn size(&self) -> io::Result<u64> {
        self.disk.look(&self.path, |world| {
            Ok(world.cache.file(&self.path)?.ok_or(ErrorKind::NotFound)?.len() as u64)
        })
    }

    fn read_at(&mut self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.disk.look(&self.path, |world| {
            let content = world.cache.file(&self.path)?.ok_or(ErrorKind::NotFound)?;
            let end = (offset as usize).saturating_add(len);
            content.get(offset as usize..end).map(<[u8]>::to_vec).ok_or(ErrorKind::UnexpectedEof.into())
        })
    }
}

impl Disk for SimDisk {
    fn read_bounded(&self, path: &Path, _links: LinkPolicy, max: u64) -> io::Result<Option<Vec<u8>>> {
        self.look(path, |world| match world.cache.file(path)? {
            Some(content) if content.len() as u64 > max => Err(too_large(max)),
            content => Ok(content.map(<[u8]>::to_vec)),
        })
    }

    fn read_tail(&self, path: &Path, max: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
        self.look(path, |world| {
            Ok(world.cache.file(path)?.map(|content| {
                let offset = content.len().saturating_sub(max as usize);
                (content[offset..].to_vec(), offset as u64)
            }))
        })
    }

    fn open(&self, path: &Path, _links: LinkPolicy) -> io::Result<Box<dyn RandomAccessFile>> {
        self.look(path, |world| world.cache.file(path)?.map(drop).ok_or(ErrorKind::NotFound.into()))?;
        Ok(Box::new(SimFile { disk: self.clone(), path: path.to_owned() }))
    }

    fn list(&self, folder: &Path) -> io::Result<Option<Vec<DirEntry>>> {
        self.look(folder, |world| world.cache.list(folder))
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.look(path, |world| Ok(world.cache.stat(path)))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let missing: Vec<&Path> = self.look(path, |world| {
            let missing = |folder: &&Path| world.cache.folder_id(folder).is_err();
            Ok(path.ancestors().take_while(missing).collect())
        })?;
        let mut created = Vec::new();
        for folder in missing.into_iter().rev() {
            self.change(DiskVerb::CreateDir, folder, &[], |world, _| {
                let now = world.clock_ns;
                if world.cache.create_dir(folder, now)? {
                    created.push(folder.to_owned());
                }
                Ok(())
            })?;
        }
        Ok(created)
    }

    fn create_new(&self, path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
        self.change(DiskVerb::CreateNew, path, bytes, |world, bytes| {
            world.cache.create_file(path, bytes, mode.unwrap_or(0o644), world.clock_ns)
        })
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.change(DiskVerb::Append, path, bytes, |world, bytes| {
            let now = world.clock_ns;
            if world.cache.stat(path).is_none() {
                return world.cache.create_file(path, bytes, 0o644, now);
            }
            if bytes.is_empty() {
                return Ok(());
            }
            world.cache.edit(path, now, |content| content.extend_from_slice(bytes))
        })
    }

    fn overwrite_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.change(DiskVerb::Overwrite, path, bytes, |world, bytes| {
            let (start, end) = (offset as usize, offset as usize + bytes.len());
            world.cache.edit(path, world.clock_ns, |content| {
                content.resize(content.len().max(end), 0);
                content[start..end].copy_from_slice(bytes);
            })
        })
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.change(DiskVerb::Truncate, path, &[], |world, _| {
            world.cache.edit(path, world.clock_ns, |content| content.resize(len as usize, 0))
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(DiskVerb::Rename, to, &[], |world, _| world.cache.rename(from, to, world.clock_ns))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.change(DiskVerb::RemoveFile, path, &[], |world, _| {
            world.cache.remove(path, FileType::File, world.clock_ns)
        })
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.change(DiskVerb::RemoveDir, path, &[], |world, _| {
            world.cache.remove(path, FileType::Folder, world.clock_ns)
        })
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.change(DiskVerb::SyncFile, path, &[], |world, _| {
            world.syncs += 1;
            world.cache.sync(path)
        })
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.change(DiskVerb::SyncDir, path, &[], |world, _| {
            world.syncs += 1;
            world.cache.sync(path)
        })
    }

    fn try_lock_dir(&self, path: &Path) -> io::Result<Option<LockGuard>> {
        let mut world = self.enter(DiskVerb::Lock, path)?;
        let folder = world.cache.folder_id(path)?;
        if world.locks.contains_key(&folder) {
            return Ok(None);
        }
        world.locks.insert(folder, self.process);
        Ok(Some(LockGuard::holding(SimLock { disk: self.clone(), folder })))
    }

    fn now_ns(&self) -> i64 {
        self.world().clock_ns
    }

    fn pause(&self, time: Duration) {
        let mut world = self.world();
        let sleep_ns = time.as_nanos() as i64;
        if world.seat(self.process).is_some() {
            drop(self.take_turn(world, sleep_ns));
        } else {
            world.clock_ns += sleep_ns;
        }
    }

    fn nonce(&self) -> [u8; 16] {
        let mut world = self.world();
        let (low, high) = (world.rng.number(), world.rng.number());
        (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimDisk(process {})", self.process)
    }
}

struct SimLock {
    disk: SimDisk,
    folder: u64,
}

impl Drop for SimLock {
    fn drop(&mut self) {
        let mut world = self.disk.world();
        if world.locks.get(&self.folder) == Some(&self.disk.process) {
            world.locks.remove(&self.folder);
        }
    }
}

struct ProcessExit(SimDisk);

impl Drop for ProcessExit {
    fn drop(&mut self) {
        let mut world = self.0.world();
        world.competing.retain(|seat| seat.process != self.0.process);
        if world.running == Some(self.0.process) || world.competing.is_empty() {
            world.running = None;
            world.hand_over();
        }
        self.0.machine.baton.notify_all();
    }
}

fn dead() -> io::Error {
    io::Error::other("the simulated process was killed")
}
