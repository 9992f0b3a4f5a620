//! Simulation: two writers, crashes and faults, checked against a model.
//!
//! Whatever happens, no acknowledged change is missing, no rejected one is made, none is there in part, no file is
//! torn, the journal verifies and explains the files, and undoing everything restores the first bytes. The same
//! seed gives the same run, so a failure can be reproduced.
//!
//! The writers work on two lanes with one marks file, which exercises the marks lock.

mod model;

use crate::backend::{ChangeLog, Edit, StoreError, Transaction, Warning};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;

use super::faults::ActiveFaults;
use super::{FileTransaction, Store, StoreFolders};
use crate::disk::SeededRng;
use crate::disk::sim::{Crash, CrashPoint, DiskCall, DiskVerb, SimDisk, SimProcess};
use model::{LANES, ModelChange, StoreModel, mark_line};

pub use super::faults::FaultSwitch;

impl FaultSwitch {
    pub const ALL: [FaultSwitch; 13] = [
        FaultSwitch::SkipBlobSync,
        FaultSwitch::SkipJournalSync,
        FaultSwitch::SkipJournalFolderSync,
        FaultSwitch::SkipFileSync,
        FaultSwitch::SkipFolderSync,
        FaultSwitch::SkipNewFolderSync,
        FaultSwitch::SkipMarksSync,
        FaultSwitch::SkipMarksFolderSync,
        FaultSwitch::SkipRecoverySync,
        FaultSwitch::SkipFallbackSync,
        FaultSwitch::SkipRename,
        FaultSwitch::SkipLock,
        FaultSwitch::SkipMarksLock,
    ];
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Attempted changes.
    pub steps: u64,
    pub acknowledged: u64,
    pub refused: u64,
    pub kills: u64,
    pub power_cuts: u64,
    pub recoveries: u64,
    pub fallback_journals: u64,
}

/// The violated property, and the seed that reproduces it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at step {step}: {what}\nhint: reproduce it with round seed {round_seed}")]
pub struct SimulationFailure {
    /// `simulate_round` with this seed reproduces the failure.
    pub round_seed: u64,
    pub step: u64,
    pub what: String,
}

/// Attempts at least `steps` changes in many short rounds.
pub fn simulate(seed: u64, steps: u64, switch: Option<FaultSwitch>) -> Result<Summary, SimulationFailure> {
    let mut rng = SeededRng::new(seed);
    let mut summary = Summary::default();
    while summary.steps < steps {
        simulate_round(rng.number(), switch, &mut summary)?;
    }
    Ok(summary)
}

/// One round: from an empty disk to the final check.
pub fn simulate_round(
    round_seed: u64,
    switch: Option<FaultSwitch>,
    summary: &mut Summary,
) -> Result<(), SimulationFailure> {
    let round = Round::new(round_seed, switch);
    let held = round.run();
    let seen = round.summary();
    summary.steps += seen.steps;
    summary.acknowledged += seen.acknowledged;
    summary.refused += seen.refused;
    summary.kills += seen.kills;
    summary.power_cuts += seen.power_cuts;
    summary.recoveries += seen.recoveries;
    summary.fallback_journals += seen.fallback_journals;
    held.map_err(|what| SimulationFailure { round_seed, step: summary.steps, what })
}

struct Round {
    machine: SimDisk,
    seed: u64,
    switch: Option<FaultSwitch>,
    model: Mutex<StoreModel>,
    summary: Mutex<Summary>,
}

/// The faults injected into one epoch; an error that they explain is not a failure.
#[derive(Clone, Copy, Debug, Default)]
struct FaultPlan {
    fault: bool,
    /// From some call on, nothing can be written.
    read_only: bool,
    is_fallback: bool,
}

impl Round {
    fn new(seed: u64, switch: Option<FaultSwitch>) -> Round {
        Round {
            machine: SimDisk::new(seed),
            seed,
            switch,
            model: Mutex::new(StoreModel::default()),
            summary: Mutex::new(Summary::default()),
        }
    }

    fn run(&self) -> Result<(), String> {
        let mut rng = SeededRng::new(self.seed ^ 0x5eed);
        for _ in 0..2 + rng.below(6) {
            self.epoch(&mut rng)?;
        }
        self.judge(&mut rng)
    }

    /// Two processes compete until they have finished or died.
    fn epoch(&self, rng: &mut SeededRng) -> Result<(), String> {
        let plan = self.inject_faults(rng);
        let start = self.machine.calls();
        let crashes: &[Crash] = match rng.below(5) {
            0 => &[],
            1 => &[Crash::Kill],
            2 => &[Crash::PowerCut],
            // The next writer builds on what a killed one left in the page cache, then that is lost.
            _ => &[Crash::Kill, Crash::PowerCut],
        };
        let mut at = start + 1;
        for crash in crashes {
            at += rng.below(if *crash == Crash::Kill { 160 } else { 120 }) as u64;
            let when = if rng.one_in(2) { CrashPoint::SyncAfter(at) } else { CrashPoint::Call(at) };
            self.machine.crash_at(when, *crash);
        }
        let mut jobs: Vec<(SimDisk, SimProcess<'_, Result<(), String>>)> = Vec::new();
        for _ in 0..2 {
            let disk = self.machine.process();
            let mut writer_rng = SeededRng::new(rng.number());
            let process = disk.clone();
            jobs.push((disk, Box::new(move || self.write(&process, &mut writer_rng, plan))));
        }
        let processes: Vec<SimDisk> = jobs.iter().map(|(disk, _)| disk.clone()).collect();
        let outcomes = SimDisk::compete(jobs);
        self.machine.heal();
        let dead = processes.iter().filter(|disk| !disk.alive()).count();
        match dead {
            0 => {}
            1 => self.summary().kills += 1,
            _ => self.summary().power_cuts += 1,
        }
        outcomes.into_iter().collect()
    }

    fn inject_faults(&self, rng: &mut SeededRng) -> FaultPlan {
        let mut plan = FaultPlan::default();
        if rng.one_in(4) {
            plan.fault = true;
            let at = self.machine.calls() + 1 + rng.below(200) as u64;
            let kinds = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::Other];
            let kind = *rng.pick(&kinds);
            self.machine.fail_when(move |call| (call.number == at).then_some(kind));
        }
        if rng.one_in(6) {
            plan.read_only = true;
            let at = self.machine.calls() + 1 + rng.below(200) as u64;
            // The journal is on the same disk as the memories, or on another one.
            let root = *rng.pick(&["/", "/project"]);
            self.machine.fail_when(move |call: &DiskCall<'_>| {
                let writes = !matches!(call.verb, DiskVerb::Read | DiskVerb::Lock);
                let refused = writes && call.number >= at && call.path.starts_with(root);
                refused.then_some(ErrorKind::ReadOnlyFilesystem)
            });
        }
        if rng.one_in(6) {
            plan.is_fallback = true;
            self.machine.fail_when(|call: &DiskCall<'_>| {
                let writes = !matches!(call.verb, DiskVerb::Read | DiskVerb::Lock);
                (writes && call.path.starts_with("/state")).then_some(ErrorKind::PermissionDenied)
            });
        }
        plan
    }

    /// One process from start to end.
    fn write(&self, disk: &SimDisk, rng: &mut SeededRng, plan: FaultPlan) -> Result<(), String> {
        for _ in 0..1 + rng.below(4) {
            let lane = rng.below(LANES);
            let store = self.store(lane, disk);
            let begun = store.begin();
            // Counted after the first disk call: before it, the processes do not run in a fixed order.
            self.summary().steps += 1;
            let outcome = begun.map_err(RoundError::Begin).and_then(|mut transaction| {
                let changed = self.change(lane, disk, &mut transaction, rng);
                if changed.is_ok() && !rng.one_in(4) {
                    // A lost `done` is what recovery is for.
                    let _ = transaction.finish();
                }
                changed
            });
            match outcome {
                Ok(()) => {}
                Err(RoundError::Wrong(what)) => return Err(what),
                Err(_) if !disk.alive() => return Ok(()),
                Err(RoundError::Begin(error) | RoundError::Change(error)) => {
                    self.summary().refused += 1;
                    excuse(&error, plan).map_err(|what| format!("lane {lane}: {what}"))?;
                }
            }
        }
        Ok(())
    }

    fn change(
        &self,
        lane: usize,
        disk: &SimDisk,
        transaction: &mut FileTransaction<'_>,
        rng: &mut SeededRng,
    ) -> Result<(), RoundError> {
        self.look_at_beginning(lane, transaction).map_err(RoundError::Wrong)?;
        let undo = rng.below(10) < 3;
        let (edits, proposal) = if undo {
            (Vec::new(), self.model().propose_undo(lane))
        } else {
            self.draft(lane, transaction, rng)?
        };
        let is_fallback =
            transaction.warnings().iter().any(|warning| matches!(warning, Warning::FallbackJournal { .. }));
        let possible = proposal.is_some();
        self.model().lanes[lane].in_flight = proposal;
        let applied = match undo {
            true => transaction.undo(Timestamp(0)),
            false => transaction.apply(edits, "simulated", Timestamp(0)),
        };
        // No disk call happens between the acknowledgement and this, so no other writer can intervene.
        let mut model = self.model();
        let held = match &applied {
            Ok(receipt) => {
                self.summary().acknowledged += 1;
                if possible || receipt.number.is_none() {
                    model.acknowledge(lane)
                } else {
                    Err("undid something although nothing was left to undo".to_owned())
                }
            }
            Err(StoreError::NothingToUndo) if !possible || is_fallback => model.abort(lane),
            Err(StoreError::NothingToUndo) => Err("found nothing to undo, but there is something".to_owned()),
            // Whether it happened shows when the lane is opened again. After any other error it never has.
            Err(StoreError::Unsettled { .. }) => return applied.map(drop).map_err(RoundError::Change),
            Err(_) if !disk.alive() => return applied.map(drop).map_err(RoundError::Change),
            Err(_) => model.abort(lane),
        };
        held.and_then(|()| model.check(lane, &self.machine)).map_err(RoundError::Wrong)?;
        match applied {
            Ok(_) | Err(StoreError::NothingToUndo) => Ok(()),
            Err(error) => Err(RoundError::Change(error)),
        }
    }

    fn look_at_beginning(&self, lane: usize, transaction: &FileTransaction<'_>) -> Result<(), String> {
        for warning in transaction.warnings() {
            match warning {
                Warning::TakenBack { changed_outside, .. } if changed_outside.is_empty() => {
                    self.summary().recoveries += 1;
                }
                Warning::Abandoned { .. } | Warning::TakenBack { .. } => return Err(warning.to_string()),
                Warning::FallbackJournal { .. } => self.summary().fallback_journals += 1,
                _ => {}
            }
        }
        self.model().settle(lane, &self.machine)
    }

    /// Chooses a change that depends on what is read under the lock, so that a lost update is noticed.
    fn draft(
        &self,
        lane: usize,
        transaction: &FileTransaction<'_>,
        rng: &mut SeededRng,
    ) -> Result<(Vec<Edit>, Option<ModelChange>), RoundError> {
        let kind = rng.below(7);
        let files = match kind {
            0 => 0,
            1 | 2 => 2 + rng.below(2),
            _ => 1,
        };
        let mut edits = Vec::new();
        for _ in 0..files {
            let path = path(rng);
            let place = super::ChangeTarget::Lane(path.clone());
            let read = transaction.read(&place).map_err(RoundError::Change)?;
            let token = self.model().token();
            edits.push(match rng.below(4) {
                0 => Edit::Remove { path },
                1 => Edit::Append { path, bytes: format!("{token}\n").into_bytes() },
                _ => {
                    let mut bytes = read.unwrap_or_default();
                    bytes.extend(format!("{token}\n").bytes());
                    Edit::Put { path, bytes }
                }
            });
        }
        if files == 0 || rng.one_in(4) {
            let token = self.model().token();
            edits.push(Edit::Mark { lines: mark_line(lane, token).into_bytes() });
        }
        let proposal = self.model().propose(lane, &edits);
        Ok((edits, Some(proposal)))
    }

    /// Final check: the disk must hold exactly what was acknowledged.
    fn judge(&self, rng: &mut SeededRng) -> Result<(), String> {
        let disk = self.machine.process();
        let undo_all = rng.one_in(3);
        for lane in 0..LANES {
            let store = self.store(lane, &disk);
            let mut transaction = store.begin().map_err(|error| error.to_string())?;
            self.look_at_beginning(lane, &transaction)?;
            self.model().check(lane, &self.machine)?;
            model::check_no_leftovers(lane, &self.machine)?;
            let faults = store.verify();
            if !faults.is_empty() {
                return Err(format!("lane {lane}: {faults:?}"));
            }
            let changed = store.changed_outside().map_err(|error| error.to_string())?;
            if !changed.is_empty() {
                return Err(format!("lane {lane}: no log entry explains {changed:?}"));
            }
            if undo_all {
                self.undo_everything(lane, &mut transaction)?;
            }
        }
        self.model().check_marks_whole(&self.machine)
    }

    fn undo_everything(&self, lane: usize, transaction: &mut FileTransaction<'_>) -> Result<(), String> {
        loop {
            let mut model = self.model();
            let Some(proposal) = model.propose_undo(lane) else { return Ok(()) };
            model.lanes[lane].in_flight = Some(proposal);
            transaction.undo(Timestamp(0)).map_err(|error| error.to_string())?;
            model.acknowledge(lane)?;
            model.check(lane, &self.machine)?;
        }
    }

    fn store(&self, lane: usize, disk: &SimDisk) -> Store {
        let home = StoreFolders {
            lane: lane_folder(lane),
            marks: PathBuf::from("/project/.lorelane"),
            state: PathBuf::from(format!("/state/lorelane/lane-{lane}")).into(),
        };
        Store { faults: ActiveFaults { switch: self.switch }, ..Store::new(Arc::new(disk.clone()), home) }
    }

    fn model(&self) -> MutexGuard<'_, StoreModel> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn summary(&self) -> MutexGuard<'_, Summary> {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum RoundError {
    Begin(StoreError),
    Change(StoreError),
    /// An invariant does not hold.
    Wrong(String),
}

/// An error is accepted if an injected fault explains it.
fn excuse(error: &StoreError, plan: FaultPlan) -> Result<(), String> {
    let bad = plan.fault || plan.is_fallback || plan.read_only;
    match error {
        StoreError::Io { .. } | StoreError::Interrupted { .. } if bad => Ok(()),
        // After a single fault the rollback succeeds at once.
        StoreError::Unsettled { .. } if plan.read_only => Ok(()),
        // A fault during recovery leaves the change to the next writer.
        StoreError::Waiting { .. } if bad => Ok(()),
        other => Err(format!("refused without a reason: {other}")),
    }
}

fn lane_folder(lane: usize) -> PathBuf {
    Path::new("/project").join(format!("lane-{lane}"))
}

fn path(rng: &mut SeededRng) -> RelPath {
    let folder = rng.pick(&["", "decisions/", "deep/er/"]);
    let name = rng.pick(&["a.json", "b.json"]);
    RelPath::parse(&format!("{folder}{name}")).expect("made of good parts")
}
