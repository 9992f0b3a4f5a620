//! Plans become receipts.

mod changes;
mod notes;
mod planner;

pub use changes::{Changes, LaneLogEntry};
pub use notes::{NoteMerge, NotesMove};

use crate::backend::{ChangeTarget, Transaction, Warning};
use crate::git;

use crate::workspace::commit::planner::{StagedPlan, stage};
use crate::workspace::lane::CommittedFiles;
use crate::workspace::{Failure, Workspace};
use lorelane_core::change::{Notice, Plan, Receipt};
use lorelane_core::memory::LaneId;
use lorelane_core::path::RelPath;
use lorelane_core::policy::ConfigProblem;
use lorelane_core::secret;
use std::path::PathBuf;
use std::sync::Arc;

impl Workspace {
    /// Does all of a plan or nothing.
    pub fn commit(&mut self, plan: &Plan) -> Result<Receipt, Failure> {
        let lane = self.lane_of_plan(plan)?;
        self.commit_planned(lane, |_| Ok(plan.clone()))
    }

    /// The lane that a plan changes. Each has a journal of its own, so no plan can be done in two of them as a whole.
    fn lane_of_plan(&mut self, plan: &Plan) -> Result<LaneId, Failure> {
        let mut lane = None;
        for change in &plan.changes {
            let wanted = self.lane_for(change.address())?;
            if lane.is_some_and(|lane| lane != wanted) {
                return Err(Failure::TwoLanes);
            }
            lane = Some(wanted);
        }
        Ok(lane.unwrap_or(LaneId::Records))
    }

    /// Locks, makes the plan from what stands there now, and does it.
    pub(in crate::workspace) fn commit_planned(
        &mut self,
        lane: LaneId,
        make_plan: impl FnOnce(&mut Workspace) -> Result<Plan, Failure>,
    ) -> Result<Receipt, Failure> {
        self.refuse_when_misconfigured()?;
        let documents = Arc::clone(&self.lanes[lane].documents);
        let mut writer = documents.begin()?;
        let mut notices = self.catch_up(lane, &mut *writer)?;
        let plan = make_plan(self)?;
        let staged = self.staged(lane, &plan)?;
        let touched = staged.touched();
        notices.extend(staged.notices);
        // The log is read by people and pasted into issues: a reason may quote what the memory may not hold.
        let because = secret::masked(&plan.because);
        let done = writer.apply(staged.edits, &because, self.now)?;
        notices.extend(warnings(&done.warnings));
        notices.extend(self.settle(lane, writer, &done.changes, &touched, staged.committed, &because));
        Ok(Receipt { number: done.number, at: self.now, outcomes: staged.outcomes, notices })
    }

    /// What a plan would do; nothing is locked or written.
    pub fn preview(&mut self, plan: &Plan) -> Result<Receipt, Failure> {
        self.refuse_when_misconfigured()?;
        let lane = self.lane_of_plan(plan)?;
        self.lanes[lane].refresh()?;
        let staged = self.staged(lane, plan)?;
        Ok(Receipt { number: None, at: self.now, outcomes: staged.outcomes, notices: staged.notices })
    }

    fn staged(&mut self, lane: LaneId, plan: &Plan) -> Result<StagedPlan, Failure> {
        match stage(self, &self.lanes[lane], plan) {
            Err(Failure::Index(fault)) => {
                self.lanes[lane].replace_index(fault)?;
                stage(self, &self.lanes[lane], plan)
            }
            staged => staged,
        }
    }

    pub(in crate::workspace) fn refuse_when_misconfigured(&self) -> Result<(), Failure> {
        self.refuse_untrusted_root()?;
        let stopping: Vec<ConfigProblem> =
            self.policy.problems.iter().filter(|problem| problem.stops_writes).cloned().collect();
        if stopping.is_empty() { Ok(()) } else { Err(Failure::Misconfigured(stopping)) }
    }

    /// Brings the index up to what the lane says before a rule relies on it, and completes what was begun.
    pub(in crate::workspace) fn catch_up(
        &mut self,
        at: LaneId,
        writer: &mut dyn Transaction,
    ) -> Result<Vec<Notice>, Failure> {
        for other in self.lanes.others(at) {
            // A log that cannot be read has no place in the order.
            writer.comes_after(other.documents.log().newest_order().unwrap_or(0));
        }
        let recovered: Vec<RelPath> = writer.recovered().iter().filter_map(ChangeTarget::lane_path).collect();
        let lane = &mut self.lanes[at];
        lane.set_known();
        lane.refresh()?;
        let mut notices = warnings(writer.warnings());
        if !recovered.is_empty() {
            lane.index_paths(&recovered)?;
            notices.extend(lane.write_listing());
        }
        notices.extend(self.maintenance().complete_forgetting(at, writer));
        Ok(notices)
    }

    /// The change is durable; what follows is derived, and its failure is said instead of undoing it.
    pub(in crate::workspace) fn settle(
        &mut self,
        at: LaneId,
        writer: Box<dyn Transaction + '_>,
        changes: &[ChangeTarget],
        touched: &[RelPath],
        committed: CommittedFiles,
        because: &str,
    ) -> Vec<Notice> {
        let mut notices = Vec::new();
        let lane = &mut self.lanes[at];
        lane.set_known();
        lane.changed = true;
        if !touched.is_empty() {
            match lane.index_committed(touched, committed) {
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

    pub(in crate::workspace) fn commit_with_git(
        &self,
        at: LaneId,
        changes: &[ChangeTarget],
        listed: bool,
        because: &str,
    ) -> Option<Notice> {
        let lane = &self.lanes[at];
        // What belongs to no project is in no project's history.
        let files = lane.files.as_ref().filter(|files| files.root.starts_with(&self.project.root))?;
        let mut files: Vec<PathBuf> = changes.iter().map(|place| files.store.path_of(place)).collect();
        files.extend(lane.listing_file().filter(|_| listed));
        let message = format!("memory: {}", because.lines().next().unwrap_or_default());
        let refused = git::commit_only(&self.project.root, &files, &message).err()?;
        Some(Notice::warning(format!("saved, but git did not commit it (auto_commit): {refused}")))
    }
}

pub(in crate::workspace) fn warnings(warnings: &[Warning]) -> Vec<Notice> {
    warnings.iter().map(|warning| Notice::warning(warning.to_string())).collect()
}
