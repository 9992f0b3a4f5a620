//! Commits plans: lock, stage, write, then update the index, `index.md` and git.

mod changes;
mod index_lines;
mod notes;
mod planner;

pub use changes::{Changes, LaneLogEntry, LogSource};
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
    /// Makes all changes of a plan, or none.
    pub fn commit(&mut self, plan: &Plan) -> Result<Receipt, Failure> {
        let lane = self.lane_of_plan(plan)?;
        self.commit_planned(lane, |_| Ok(plan.clone()))
    }

    /// The lane that a plan changes. Each lane has its own journal, so a plan in two lanes could not be
    /// atomic and is rejected.
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

    /// Locks the lane, makes the plan from its current state, and commits it.
    pub(in crate::workspace) fn commit_planned(
        &mut self,
        lane: LaneId,
        make_plan: impl FnOnce(&mut Workspace) -> Result<Plan, Failure>,
    ) -> Result<Receipt, Failure> {
        self.refuse_when_misconfigured()?;
        let documents = Arc::clone(&self.lanes[lane].documents);
        let mut writer = documents.begin()?;
        let mut notices = self.catch_up(lane, &mut *writer)?;
        // Planned and staged under the lock: a revision is judged by the file that it replaces.
        let plan = make_plan(self)?;
        let staged = self.staged(lane, &plan)?;
        let touched = staged.touched();
        notices.extend(staged.notices);
        // The log is pasted into issues, so secrets in a reason are masked.
        let because = secret::masked(&plan.because);
        let done = writer.apply(staged.edits, &because, self.now)?;
        notices.extend(warnings(&done.warnings));
        notices.extend(self.settle(lane, writer, &done.changes, &touched, staged.committed, &because));
        Ok(Receipt { number: done.number, at: self.now, outcomes: staged.outcomes, notices })
    }

    /// What a plan would do. Takes no lock and writes nothing.
    pub fn preview(&mut self, plan: &Plan) -> Result<Receipt, Failure> {
        self.refuse_when_misconfigured()?;
        let lane = self.lane_of_plan(plan)?;
        self.lanes[lane].refresh()?;
        let staged = self.staged(lane, plan)?;
        Ok(Receipt { number: None, at: self.now, outcomes: staged.outcomes, notices: staged.notices })
    }

    fn staged(&mut self, lane: LaneId, plan: &Plan) -> Result<StagedPlan, Failure> {
        match stage(self, &self.lanes[lane], plan) {
            // A damaged index is rebuilt, or replaced by one in memory, and the plan is staged again.
            Err(Failure::Index(fault)) => {
                self.lanes[lane].replace_index(fault)?;
                stage(self, &self.lanes[lane], plan)
            }
            staged => staged,
        }
    }

    /// A broken configuration stops writes, because it may say where memories go. It never stops a read.
    pub(in crate::workspace) fn refuse_when_misconfigured(&self) -> Result<(), Failure> {
        self.refuse_untrusted_root()?;
        let stopping: Vec<ConfigProblem> =
            self.policy.problems.iter().filter(|problem| problem.stops_writes).cloned().collect();
        if stopping.is_empty() { Ok(()) } else { Err(Failure::Misconfigured(stopping)) }
    }

    /// Updates the index before a rule relies on it, and completes an interrupted `forget`.
    pub(in crate::workspace) fn catch_up(
        &mut self,
        at: LaneId,
        writer: &mut dyn Transaction,
    ) -> Result<Vec<Notice>, Failure> {
        for other in self.lanes.others(at) {
            // All lanes share one order of changes, which `undo` follows. An unreadable log does not take
            // part in it.
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

    /// Updates what is derived from a change: index, `index.md`, git. The change is durable by now, so a
    /// failure here is a warning.
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
                        "the index is not up to date: {failure}; `lorelane reindex` fixes it"
                    )));
                }
            }
        }
        if let Err(fault) = writer.finish() {
            notices.push(Notice::warning(format!(
                "cannot write the journal's last line, which the next change adds: {fault}"
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
        // Notes in the user's data folder are not part of the project's repository.
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
