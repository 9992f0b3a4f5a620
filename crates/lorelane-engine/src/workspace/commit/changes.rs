//! Changes that are more than a plan: taking back, rejecting, collecting garbage; and the log of them all.

use crate::backend::{ChangeTarget, LogEntry, LogFault, LogTail, NextUndo, nothing_left};
use crate::workspace::commit::warnings;
use crate::workspace::lane::CommittedFiles;
use crate::workspace::lane::Lane;
use crate::workspace::open::notes::MOVE;
use crate::workspace::{Failure, UnclearName, Workspace};
use lorelane_core::change::{self, Change, Effect, Notice, Plan, Receipt};
use lorelane_core::guard::quarantine;
use lorelane_core::lifecycle::{LifecycleVerb, Status};
use lorelane_core::mark::{MarkKind, Rejection};
use lorelane_core::memory::{Address, LaneId};
use lorelane_core::path::RelPath;
use lorelane_core::retention::{self, GarbageCollection};
use lorelane_core::text::{cut, one_line};
use lorelane_core::time::Timestamp;
use std::sync::Arc;

/// By what changes of several lanes are told apart: the order, the time, the journal's own time.
type ChangeOrder = (u64, Timestamp, Option<i64>);

/// A change of the log, and the lane that it was made in. Each lane counts its own.
#[derive(Clone, Debug)]
pub struct LaneLogEntry {
    pub lane: LaneId,
    pub entry: LogEntry,
}

/// Ways to change memories beside [`Workspace::commit`], and the log.
#[derive(Debug)]
pub struct Changes<'w> {
    pub(super) workspace: &'w mut Workspace,
}

impl Workspace {
    pub fn changes(&mut self) -> Changes<'_> {
        Changes { workspace: self }
    }
}

impl Changes<'_> {
    /// Does garbage collection. What is garbage is decided under the lock: a memory that was restored or revised
    /// while somebody thought about it stays.
    pub fn collect_garbage(&mut self) -> Result<Receipt, Failure> {
        self.workspace.commit_planned(LaneId::Records, |workspace| {
            let GarbageCollection { changes, expired, over, .. } = workspace.changes().garbage()?;
            let because = format!("gc: {} expired, {} past their grace", expired.len(), over.len());
            Ok(Plan { changes, because })
        })
    }

    /// Retires a memory and marks what it says as unwanted. What it says is read under the lock.
    pub fn reject(&mut self, address: &Address, because: &str) -> Result<Receipt, Failure> {
        let lane = self.workspace.lane_for(address)?;
        self.workspace.commit_planned(lane, |workspace| workspace.changes().rejection(address, because))
    }

    /// What a rejection does. One that is out of recall already stays where it is.
    pub fn rejection(&self, address: &Address, because: &str) -> Result<Plan, Failure> {
        let memory = self.workspace.load(address)?.memory;
        let marks = self.workspace.read_marks()?;
        let origins = marks.origins.get(address).map(Vec::as_slice).unwrap_or_default();
        let kind = MarkKind::Reject(Rejection::of(&memory, origins, because));
        let mut changes = vec![Change::Mark { address: address.clone(), kind }];
        if memory.lifecycle.status() == Status::Active {
            let reason = format!("Rejected: {because}");
            changes.push(Change::Transition {
                address: address.clone(),
                verb: LifecycleVerb::Retire,
                reason,
            });
        }
        Ok(Plan { changes, because: format!("reject {address}: {}", cut(&one_line(because), 200)) })
    }

    /// Takes back the newest change that is not undone yet.
    pub fn undo(&mut self) -> Result<Receipt, Failure> {
        self.workspace.refuse_when_misconfigured()?;
        let (lane, _) = self.newest_undo()?;
        let documents = Arc::clone(&self.workspace.lanes[lane].documents);
        let mut writer = documents.begin()?;
        let mut notices = self.workspace.catch_up(lane, &mut *writer)?;
        let done = writer.undo(self.workspace.now)?;
        notices.extend(warnings(&done.warnings));
        let touched: Vec<RelPath> = done.changes.iter().filter_map(ChangeTarget::lane_path).collect();
        let because = done.number.map_or_else(String::new, |number| format!("undo, receipt {number}"));
        notices.extend(self.workspace.settle(
            lane,
            writer,
            &done.changes,
            &touched,
            CommittedFiles::new(),
            &because,
        ));
        let outcomes = touched.iter().filter_map(|path| undone(&self.workspace.lanes[lane], path)).collect();
        Ok(Receipt { number: done.number, at: self.workspace.now, outcomes, notices })
    }

    /// The newest changes of all lanes, newest first, and how many there are.
    pub fn recent(&self, limit: usize) -> Result<(Vec<LaneLogEntry>, usize), Failure> {
        let (mut logged, mut all) = (Vec::new(), 0);
        for lane in &self.workspace.lanes {
            let LogTail { entries, total } = lane.documents.log().recent(limit)?;
            logged.extend(entries.into_iter().map(|entry| LaneLogEntry { lane: lane.id(), entry }));
            all += total;
        }
        // Stable: those of one second and lane stay in their order.
        logged.sort_by_key(|logged| std::cmp::Reverse((logged.entry.order, logged.entry.at)));
        logged.truncate(limit);
        Ok((logged, all))
    }

    /// The change that an undo would take back, and what it would say. Judged as the undo judges it.
    pub fn next_undo(&self) -> Result<(LaneLogEntry, Vec<Notice>), Failure> {
        self.workspace.refuse_when_misconfigured()?;
        let (lane, NextUndo { entry, refused, passed_over }) = self.newest_undo()?;
        match (entry, refused) {
            (Some(_), Some(refused)) => Err(refused.into()),
            (Some(entry), None) => Ok((LaneLogEntry { lane, entry }, warnings(&passed_over))),
            (None, _) => Err(nothing_left(&passed_over).into()),
        }
    }

    /// The lane of the newest change that can be undone. Clocks are set back, so the order is counted; changes from
    /// before that was so are told apart by their times, and two of the same second by their journals. Where nothing
    /// can be undone, a lane whose changes are passed over says so, or else the records'.
    fn newest_undo(&self) -> Result<(LaneId, NextUndo), Failure> {
        let mut newest: Option<((Option<ChangeOrder>, bool), LaneId, NextUndo)> = None;
        for lane in &self.workspace.lanes {
            let upcoming = lane.documents.log().next_undo()?;
            let age = upcoming
                .entry
                .as_ref()
                .map(|entry| (entry.order, entry.at, lane.documents.log().written_ns()));
            let rank = (age, !upcoming.passed_over.is_empty());
            if newest.as_ref().is_none_or(|(newest, ..)| rank > *newest) {
                newest = Some((rank, lane.id(), upcoming));
            }
        }
        let (_, lane, upcoming) = newest.expect("the records are always open");
        // Half of a move is in another lane's journal: to take back this half would remove every note.
        if upcoming.entry.as_ref().is_some_and(is_move) {
            return Err(Failure::UndoesMove);
        }
        Ok((lane, upcoming))
    }

    /// What is wrong with the logs of all lanes.
    pub fn verify_logs(&self) -> Vec<LogFault> {
        self.workspace.lanes.iter().flat_map(|lane| lane.documents.log().verify()).collect()
    }

    /// What garbage collection would do now.
    pub fn garbage(&mut self) -> Result<GarbageCollection, Failure> {
        let records = self.workspace.lanes.records_mut();
        records.scan()?;
        let entries = records.with_index(|index| index.entries(crate::index::ListFilter::default()))?;
        Ok(retention::collect(entries.iter(), &self.workspace.policy, self.workspace.now))
    }

    /// The memory that a person means to restore: also one whose file was deleted outside, while the log has it.
    pub fn find_to_restore(&mut self, typed: &str) -> Result<Address, Failure> {
        let unclear = match self.workspace.find(typed) {
            Err(Failure::Unclear(unclear)) => unclear,
            found => return found,
        };
        let same = self.workspace.deleted_outside(typed)?;
        match same.as_slice() {
            [] => Err(Failure::Unclear(unclear)),
            [only] => Ok(only.clone()),
            _ => Err(Failure::Unclear(UnclearName {
                typed: typed.to_owned(),
                near: same,
                deleted: Vec::new(),
            })),
        }
    }
}

fn is_move(entry: &LogEntry) -> bool {
    entry.because.as_deref().is_some_and(|because| because.starts_with(MOVE))
}

/// `None` for a file that was in quarantine: it is no memory.
fn undone(lane: &Lane, path: &RelPath) -> Option<change::Outcome> {
    if quarantine::is_aside(path.file_name()) {
        return None;
    }
    let memory = lane.read(path).ok()?.and_then(|bytes| lane.dialect.read(path, bytes).memory);
    let address = lane.dialect.address_of(path)?;
    let title = memory.map_or_else(String::new, |memory| memory.title);
    Some(change::Outcome { address, path: path.clone(), title, deed: Effect::Undone })
}
