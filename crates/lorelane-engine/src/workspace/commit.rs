//! Plans become receipts.

use super::lane::Lane;
use super::notes::MOVE;
use super::stage::{Staged, stage};
use super::{Failure, JOURNAL, RECORDS, Workspace};
use crate::git;
use crate::store::{Entry, Fault, Place, Recent, Transaction, Upcoming};
use lorelane_core::care::{self, Collection};
use lorelane_core::change::{self, Change, Deed, Notice, Plan, Receipt};
use lorelane_core::guard::quarantine;
use lorelane_core::json::Json;
use lorelane_core::lifecycle::{Status, Verb};
use lorelane_core::mark::{MarkKind, Rejection};
use lorelane_core::memory::Address;
use lorelane_core::path::RelPath;
use lorelane_core::policy::{ConfigProblem, Home};
use lorelane_core::secret;
use lorelane_core::text::{cut, one_line};
use lorelane_core::time::Timestamp;
use std::path::PathBuf;
use std::sync::Arc;

/// By what changes of several lanes are told apart: the order, the time, the journal's own time.
type Age = (u64, Timestamp, Option<i64>);

/// A change of the log, and the lane that it was made in. Each lane counts its own.
#[derive(Clone, Debug)]
pub struct Logged {
    pub lane: &'static str,
    pub entry: Entry,
}

impl Workspace {
    /// Does all of a plan or nothing.
    pub fn commit(&mut self, plan: &Plan) -> Result<Receipt, Failure> {
        let lane = self.lane_for(plan)?;
        self.commit_planned(lane, |_| Ok(plan.clone()))
    }

    /// Does garbage collection. What is garbage is decided under the lock: a memory that was restored or revised
    /// while somebody thought about it stays.
    pub fn collect_garbage(&mut self) -> Result<Receipt, Failure> {
        self.commit_planned(RECORDS, |workspace| {
            let Collection { changes, expired, over, .. } = workspace.garbage()?;
            let because = format!("gc: {} expired, {} past their grace", expired.len(), over.len());
            Ok(Plan { changes, because })
        })
    }

    /// Retires a memory and marks what it says as unwanted. What it says is read under the lock.
    pub fn reject(&mut self, address: &Address, because: &str) -> Result<Receipt, Failure> {
        let lane = self.place_of(address)?;
        self.commit_planned(lane, |workspace| workspace.rejection(address, because))
    }

    /// What a rejection does. One that is out of recall already stays where it is.
    pub fn rejection(&self, address: &Address, because: &str) -> Result<Plan, Failure> {
        let memory = self.load(address)?.memory;
        let marks = self.read_marks()?;
        let origins = marks.origins.get(address).map(Vec::as_slice).unwrap_or_default();
        let kind = MarkKind::Reject(Rejection::of(&memory, origins, because));
        let mut changes = vec![Change::Mark { address: address.clone(), kind }];
        if memory.lifecycle.status() == Status::Active {
            let reason = format!("Rejected: {because}");
            changes.push(Change::Step { address: address.clone(), verb: Verb::Retire, reason });
        }
        Ok(Plan { changes, because: format!("reject {address}: {}", cut(&one_line(because), 200)) })
    }

    /// The lane that a plan changes. Each has a journal of its own, so no plan can be done in two of them as a whole.
    fn lane_for(&mut self, plan: &Plan) -> Result<usize, Failure> {
        let mut lane = None;
        for change in &plan.changes {
            let wanted = self.place_of(change.address())?;
            if lane.is_some_and(|lane| lane != wanted) {
                return Err(Failure::TwoLanes);
            }
            lane = Some(wanted);
        }
        Ok(lane.unwrap_or(RECORDS))
    }

    /// Locks, makes the plan from what stands there now, and does it.
    pub(super) fn commit_planned(
        &mut self,
        lane: usize,
        make_plan: impl FnOnce(&mut Workspace) -> Result<Plan, Failure>,
    ) -> Result<Receipt, Failure> {
        self.refuse_when_misconfigured()?;
        let store = Arc::clone(&self.lanes[lane].store);
        let mut writer = store.begin()?;
        let mut notices = self.catch_up(lane, &mut writer)?;
        let plan = make_plan(self)?;
        let staged = self.staged(lane, &plan)?;
        let touched = staged.touched();
        notices.extend(staged.notices);
        // The log is read by people and pasted into issues: a reason may quote what the memory may not hold.
        let because = secret::masked(&plan.because);
        let done = writer.apply(staged.edits, &because, self.now)?;
        notices.extend(warnings(&done.warnings));
        notices.extend(self.settle(lane, writer, &done.changes, &touched, &because));
        Ok(Receipt { number: done.number, at: self.now, outcomes: staged.outcomes, notices })
    }

    /// What a plan would do; nothing is locked or written.
    pub fn preview(&mut self, plan: &Plan) -> Result<Receipt, Failure> {
        self.refuse_when_misconfigured()?;
        let lane = self.lane_for(plan)?;
        self.lanes[lane].refresh()?;
        let staged = self.staged(lane, plan)?;
        Ok(Receipt { number: None, at: self.now, outcomes: staged.outcomes, notices: staged.notices })
    }

    fn staged(&mut self, lane: usize, plan: &Plan) -> Result<Staged, Failure> {
        match stage(self, &self.lanes[lane], plan) {
            Err(Failure::Index(fault)) => {
                self.lanes[lane].replace_index(fault)?;
                stage(self, &self.lanes[lane], plan)
            }
            staged => staged,
        }
    }

    /// Takes back the newest change that is not undone yet.
    pub fn undo(&mut self) -> Result<Receipt, Failure> {
        self.refuse_when_misconfigured()?;
        let (lane, _) = self.newest_undo()?;
        let store = Arc::clone(&self.lanes[lane].store);
        let mut writer = store.begin()?;
        let mut notices = self.catch_up(lane, &mut writer)?;
        let done = writer.undo(self.now)?;
        notices.extend(warnings(&done.warnings));
        let touched: Vec<RelPath> = done.changes.iter().filter_map(Place::lane_path).collect();
        let because = done.number.map_or_else(String::new, |number| format!("undo, receipt {number}"));
        notices.extend(self.settle(lane, writer, &done.changes, &touched, &because));
        let outcomes = touched.iter().filter_map(|path| undone(&self.lanes[lane], path)).collect();
        Ok(Receipt { number: done.number, at: self.now, outcomes, notices })
    }

    /// The newest changes of all lanes, newest first, and how many there are.
    pub fn recent(&self, limit: usize) -> Result<(Vec<Logged>, usize), Failure> {
        let (mut logged, mut all) = (Vec::new(), 0);
        for lane in &self.lanes {
            let Recent { entries, total } = lane.store.recent(limit)?;
            logged.extend(entries.into_iter().map(|entry| Logged { lane: lane.dialect.lane(), entry }));
            all += total;
        }
        // Stable: those of one second and lane stay in their order.
        logged.sort_by_key(|logged| std::cmp::Reverse((logged.entry.order, logged.entry.at)));
        logged.truncate(limit);
        Ok((logged, all))
    }

    /// The change that an undo would take back, and what it would say. Judged as the undo judges it.
    pub fn next_undo(&self) -> Result<(Logged, Vec<Notice>), Failure> {
        self.refuse_when_misconfigured()?;
        let (at, Upcoming { entry, refused, passed_over }) = self.newest_undo()?;
        match (entry, refused) {
            (Some(_), Some(refused)) => Err(refused.into()),
            (Some(entry), None) => {
                Ok((Logged { lane: self.lanes[at].dialect.lane(), entry }, warnings(&passed_over)))
            }
            (None, _) => Err(crate::store::nothing_left(&passed_over).into()),
        }
    }

    /// The lane of the newest change that can be undone. Clocks are set back, so the order is counted; changes from
    /// before that was so are told apart by their times, and two of the same second by their journals. Where nothing
    /// can be undone, a lane whose changes are passed over says so, or else the records'.
    fn newest_undo(&self) -> Result<(usize, Upcoming), Failure> {
        let mut newest: Option<((Option<Age>, bool), usize, Upcoming)> = None;
        for (at, lane) in self.lanes.iter().enumerate() {
            let upcoming = lane.store.next_undo()?;
            let age = upcoming.entry.as_ref().map(|entry| {
                let written = self.disk.stat(&lane.state.join(JOURNAL)).ok().flatten();
                (entry.order, entry.at, written.map(|stat| stat.mtime_ns))
            });
            let rank = (age, !upcoming.passed_over.is_empty());
            if newest.as_ref().is_none_or(|(newest, ..)| rank > *newest) {
                newest = Some((rank, at, upcoming));
            }
        }
        let (at, upcoming) = newest.map_or_else(Default::default, |(_, at, upcoming)| (at, upcoming));
        // Half of a move is in another lane's journal: to take back this half would remove every note.
        if upcoming.entry.as_ref().is_some_and(is_move) {
            return Err(Failure::UndoesMove);
        }
        Ok((at, upcoming))
    }

    /// What is wrong with the logs of all lanes.
    pub fn verify_logs(&self) -> Vec<Fault> {
        self.lanes.iter().flat_map(|lane| lane.store.verify()).collect()
    }

    /// Sets one key in the file where it belongs; returns that file.
    pub fn set_config(
        &mut self,
        home: Home,
        key: &str,
        value: &Json,
        dry_run: bool,
    ) -> Result<(PathBuf, Vec<Notice>), Failure> {
        self.refuse_untrusted_root()?;
        if dry_run {
            self.config.with(&*self.disk, home, key, value)?;
            return Ok((self.config.file_of(home).to_owned(), Vec::new()));
        }
        // A lane's lock: two settings at once must not lose one another. To lock one makes its folder.
        let stands = |lane: &Lane| self.disk.is_folder(&lane.root);
        let lane = self.lanes.iter().position(stands).unwrap_or(RECORDS);
        let store = Arc::clone(&self.lanes[lane].store);
        let mut writer = store.begin()?;
        let mut notices = self.catch_up(lane, &mut writer)?;
        self.policy = self.settled();
        let text = self.config.with(&*self.disk, home, key, value)?;
        let file = self.config.save(&*self.disk, home, &text)?;
        notices.extend(self.settle_own());
        Ok((file, notices))
    }

    /// What garbage collection would do now.
    pub fn garbage(&mut self) -> Result<Collection, Failure> {
        let records = self.records_mut();
        records.look()?;
        let entries = records.ask(|index| index.entries(crate::index::Wanted::default()))?;
        Ok(care::collect(entries.iter(), &self.policy, self.now))
    }

    pub(super) fn refuse_when_misconfigured(&self) -> Result<(), Failure> {
        self.refuse_untrusted_root()?;
        let stopping: Vec<ConfigProblem> =
            self.policy.problems.iter().filter(|problem| problem.stops_writes).cloned().collect();
        if stopping.is_empty() { Ok(()) } else { Err(Failure::Misconfigured(stopping)) }
    }

    /// Brings the index up to what the lane says before a rule relies on it, and completes what was begun.
    pub(super) fn catch_up(
        &mut self,
        at: usize,
        writer: &mut Transaction<'_>,
    ) -> Result<Vec<Notice>, Failure> {
        for (_, other) in self.lanes.iter().enumerate().filter(|(other, _)| *other != at) {
            // A log that cannot be read has no place in the order.
            writer.comes_after(other.store.newest_order().unwrap_or(0));
        }
        let recovered: Vec<RelPath> = writer.recovered().iter().filter_map(Place::lane_path).collect();
        let lane = &mut self.lanes[at];
        lane.set_known();
        lane.refresh()?;
        let mut notices = warnings(writer.warnings());
        if !recovered.is_empty() {
            lane.note(&recovered)?;
            notices.extend(lane.write_listing());
        }
        notices.extend(self.complete_forgetting(at, writer));
        Ok(notices)
    }

    /// The change is durable; what follows is derived, and its failure is said instead of undoing it.
    pub(super) fn settle(
        &mut self,
        at: usize,
        writer: Transaction<'_>,
        changes: &[Place],
        touched: &[RelPath],
        because: &str,
    ) -> Vec<Notice> {
        let mut notices = Vec::new();
        let lane = &mut self.lanes[at];
        lane.set_known();
        lane.changed = true;
        if !touched.is_empty() {
            match lane.note(touched) {
                Ok(()) => notices.extend(lane.write_listing()),
                Err(failure) => {
                    notices.push(Notice::warning(format!(
                        "the index is not up to date: {failure}; `lorelane reindex` mends it"
                    )));
                }
            }
        }
        if let Err(fault) = writer.finish() {
            notices.push(Notice::warning(format!(
                "the journal's last line is missing and comes with the next change: {fault}"
            )));
        }
        if self.policy.auto_commit() && !changes.is_empty() {
            notices.extend(self.commit_with_git(at, changes, !touched.is_empty(), because));
        }
        notices
    }

    pub(super) fn commit_with_git(
        &self,
        at: usize,
        changes: &[Place],
        listed: bool,
        because: &str,
    ) -> Option<Notice> {
        let lane = &self.lanes[at];
        if !lane.root.starts_with(&self.project) {
            // It belongs to no project, so no project's history has it.
            return None;
        }
        let mut files: Vec<PathBuf> = changes.iter().map(|place| lane.store.path_of(place)).collect();
        files.extend(lane.listing_file().filter(|_| listed));
        let message = format!("memory: {}", because.lines().next().unwrap_or_default());
        let refused = git::commit_only(&self.project, &files, &message).err()?;
        Some(Notice::warning(format!("saved, but git did not commit it (auto_commit): {refused}")))
    }
}

fn is_move(entry: &Entry) -> bool {
    entry.because.as_deref().is_some_and(|because| because.starts_with(MOVE))
}

/// `None` for a file that was in quarantine: it is no memory.
fn undone(lane: &Lane, path: &RelPath) -> Option<change::Outcome> {
    if quarantine::is_aside(path.file_name()) {
        return None;
    }
    let memory = lane.read(path).ok()?.and_then(|bytes| lane.dialect.read(path, &bytes).memory);
    let address = lane.dialect.address_of(path)?;
    let title = memory.map_or_else(String::new, |memory| memory.title);
    Some(change::Outcome { address, path: path.clone(), title, deed: Deed::Undone })
}

pub(super) fn warnings(warnings: &[crate::store::Warning]) -> Vec<Notice> {
    warnings.iter().map(|warning| Notice::warning(warning.to_string())).collect()
}
