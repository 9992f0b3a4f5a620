//! `gc`, `reject`, `undo`, and the log.

use crate::backend::{ChangeLog, ChangeTarget, LogEntry, LogFault, LogTail, NextUndo, nothing_left};
use crate::workspace::commit::warnings;
use crate::workspace::lane::CommittedFiles;
use crate::workspace::lane::Lane;
use crate::workspace::open::notes::MOVE;
use crate::workspace::working_set::WorkingSet;
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

/// Sort key for changes of several lanes: the shared order, the time, the journal's mtime.
type ChangeOrder = (u64, Timestamp, Option<i64>);

/// What a log is about. Each numbers its own entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSource {
    Lane(LaneId),
    WorkingSet,
}

impl LogSource {
    pub fn name(self) -> &'static str {
        match self {
            LogSource::Lane(lane) => lane.name(),
            LogSource::WorkingSet => "working-set",
        }
    }
}

/// A log entry and where it is from.
#[derive(Clone, Debug)]
pub struct LaneLogEntry {
    pub lane: LogSource,
    pub entry: LogEntry,
}

/// Changes that are not a ready-made plan, and the log, for a borrowed workspace.
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
    /// Collects garbage. What is garbage is decided again under the lock: a memory that was restored or
    /// revised since the preview stays.
    pub fn collect_garbage(&mut self) -> Result<Receipt, Failure> {
        self.workspace.commit_planned(LaneId::Records, |workspace| {
            let GarbageCollection { changes, expired, over, .. } = workspace.changes().garbage()?;
            let because = format!("gc: {} expired, {} past the grace period", expired.len(), over.len());
            Ok(Plan { changes, because })
        })
    }

    /// Retires a memory and marks its content as rejected, so that it is not captured again. The content is
    /// read under the lock.
    pub fn reject(&mut self, address: &Address, because: &str) -> Result<Receipt, Failure> {
        let lane = self.workspace.lane_for(address)?;
        self.workspace.commit_planned(lane, |workspace| workspace.changes().rejection(address, because))
    }

    /// The plan of a rejection. A retired or archived memory keeps its status: it is out of recall already.
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

    /// Undoes the newest change of any lane that is not undone yet.
    pub fn undo(&mut self) -> Result<Receipt, Failure> {
        self.workspace.refuse_when_misconfigured()?;
        let lane = match self.newest_undo()? {
            (LogSource::Lane(lane), _) => lane,
            (LogSource::WorkingSet, _) => return WorkingSet::undo(self.workspace),
        };
        let documents = Arc::clone(&self.workspace.lanes[lane].documents);
        let mut writer = documents.begin()?;
        let mut notices = self.workspace.catch_up(lane, &mut *writer)?;
        let done = writer.undo(self.workspace.now)?;
        notices.extend(warnings(&done.warnings));
        let touched: Vec<RelPath> = done.changes.iter().filter_map(ChangeTarget::lane_path).collect();
        let because = done.number.map_or_else(String::new, |number| format!("undo, change {number}"));
        notices.extend(self.workspace.settle(
            lane,
            writer,
            &done.changes,
            &touched,
            CommittedFiles::default(),
            &because,
        ));
        let outcomes = touched.iter().filter_map(|path| undone(&self.workspace.lanes[lane], path)).collect();
        Ok(Receipt { number: done.number, at: self.workspace.now, outcomes, notices })
    }

    /// The `limit` newest changes of all lanes, newest first, and how many there are in all.
    pub fn recent(&self, limit: usize) -> Result<(Vec<LaneLogEntry>, usize), Failure> {
        let (mut logged, mut all) = (Vec::new(), 0);
        for lane in &self.workspace.lanes {
            let LogTail { entries, total } = lane.documents.log().recent(limit)?;
            let lane = LogSource::Lane(lane.id());
            logged.extend(entries.into_iter().map(|entry| LaneLogEntry { lane, entry }));
            all += total;
        }
        if let Some(store) = WorkingSet::store(self.workspace) {
            let LogTail { entries, total } = ChangeLog::recent(&store, limit)?;
            logged.extend(entries.into_iter().map(of_working_set));
            all += total;
        }
        // A stable sort: changes of one lane in the same second keep their order.
        logged.sort_by_key(|logged| std::cmp::Reverse((logged.entry.order, logged.entry.at)));
        logged.truncate(limit);
        Ok((logged, all))
    }

    /// The change that `undo` would revert, and its warnings. Runs the same checks as `undo`, without the lock.
    pub fn next_undo(&self) -> Result<(LaneLogEntry, Vec<Notice>), Failure> {
        self.workspace.refuse_when_misconfigured()?;
        let (lane, NextUndo { entry, refused, passed_over }) = self.newest_undo()?;
        match (entry, refused) {
            (Some(_), Some(refused)) => Err(refused.into()),
            (Some(entry), None) => Ok((LaneLogEntry { lane, entry }, warnings(&passed_over))),
            (None, _) => Err(nothing_left(&passed_over).into()),
        }
    }

    /// The lane of the newest change that can be undone. Clocks can be set back, so changes carry an order. Older
    /// entries without one are compared by time, and within a second by the mtime of their journals. If nothing
    /// can be undone, returns a lane whose changes were passed over, which explains why, or else the records.
    fn newest_undo(&self) -> Result<(LogSource, NextUndo), Failure> {
        let mut newest: Option<((Option<ChangeOrder>, bool), LogSource, NextUndo)> = None;
        let lanes = self.workspace.lanes.iter();
        let lanes = lanes.map(|lane| (LogSource::Lane(lane.id()), lane.documents.log()));
        let sessions = WorkingSet::store(self.workspace);
        let sessions = sessions.iter().map(|store| (LogSource::WorkingSet, store as &dyn ChangeLog));
        for (source, log) in lanes.chain(sessions) {
            let mut upcoming = log.next_undo()?;
            if source == LogSource::WorkingSet {
                upcoming.entry = upcoming.entry.map(|entry| of_working_set(entry).entry);
            }
            let age = upcoming.entry.as_ref().map(|entry| (entry.order, entry.at, log.written_ns()));
            let rank = (age, !upcoming.passed_over.is_empty());
            if newest.as_ref().is_none_or(|(newest, ..)| rank > *newest) {
                newest = Some((rank, source, upcoming));
            }
        }
        let (_, lane, upcoming) = newest.expect("the records are always open");
        // The other half of a move is in another lane's journal: undoing this half alone would remove every note.
        if upcoming.entry.as_ref().is_some_and(is_move) {
            return Err(Failure::UndoesMove);
        }
        Ok((lane, upcoming))
    }

    /// Verifies the logs of all lanes.
    pub fn verify_logs(&self) -> Vec<LogFault> {
        let lanes = self.workspace.lanes.iter().flat_map(|lane| lane.documents.log().verify());
        let sessions = WorkingSet::store(self.workspace);
        lanes.chain(sessions.iter().flat_map(ChangeLog::verify)).collect()
    }

    /// What `gc` would do now.
    pub fn garbage(&mut self) -> Result<GarbageCollection, Failure> {
        let records = self.workspace.lanes.records_mut();
        records.scan()?;
        let entries = records.with_index(|index| index.entries(crate::index::ListFilter::default()))?;
        Ok(retention::collect(entries.iter(), &self.workspace.policy, self.workspace.now))
    }

    /// Resolves what somebody typed to a memory to restore. Its file may have been deleted outside lorelane,
    /// as long as the log has it.
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

/// The first line of the reason is for people; the events below it are for recovery.
fn of_working_set(mut entry: LogEntry) -> LaneLogEntry {
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_owned();
    entry.because = entry.because.map(first_line);
    entry.undid = entry.undid.map(first_line);
    LaneLogEntry { lane: LogSource::WorkingSet, entry }
}

fn is_move(entry: &LogEntry) -> bool {
    entry.because.as_deref().is_some_and(|because| because.starts_with(MOVE))
}

/// `None` for a quarantined file, which is not a memory.
fn undone(lane: &Lane, path: &RelPath) -> Option<change::Outcome> {
    if quarantine::is_aside(path.file_name()) {
        return None;
    }
    let bytes = lane.read(path).ok()?;
    let address = lane.dialect.address_of(path)?;
    // Only what is gone has no title. A file that is no memory, such as an index, is known by its name.
    let title = bytes.map_or_else(String::new, |bytes| {
        let title = lane.dialect.read(path, bytes).memory.map(|memory| memory.title);
        title.filter(|title| !title.is_empty()).unwrap_or_else(|| path.file_name().to_owned())
    });
    Some(change::Outcome { address, path: path.clone(), title, effect: Effect::Undone })
}
