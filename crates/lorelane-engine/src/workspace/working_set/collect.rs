//! Garbage collection of a context: plans, carries out and reports what leaves the set.

use super::archive::ArchiveReason;
use super::change::{keeps_bytes, required};
use super::status::SetFileStatus;
use super::summarize::{ComposedSummary, SummaryRequest};
use super::{SessionDraft, WorkingSet};
use crate::workspace::Failure;
use lorelane_core::text::{EstimatedTokens, TokenCounter, tokens};
use lorelane_core::working_set::{
    AdviceDecision, ColdAction, ColdManifest, DeferReason, EventAuthor, EventKind, FailedAttempt,
    FreshSummary, GcActionKind, GcActionRecord, GcFile, GcPlan, GcReport, GcReportAction, GcRequest,
    GcTrigger, HotManifest, KeepRule, Role, SUMMARIZE_LINES, SetAction, SetEntry, SetManifest, SidecarEdit,
    SidecarStatus, SummaryHead, SummaryStyle, TruncateStrategy, WorkingSetFile, decide, default_strategy,
    due_trigger, earlier_text, is_failed_attempt, is_match, plan_gc,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

const SECONDS_PER_MINUTE: i64 = 60;
/// Files that one look counts. The next look goes on.
const COUNTED_MAX: usize = 32;

/// What a collection is asked to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectRequest {
    pub trigger: GcTrigger,
    /// Collect down to this many tokens.
    pub target_tokens: Option<u64>,
    /// Globs; only files that match one may leave. Empty: all files.
    pub scope: Vec<String>,
    /// Stop after this many files.
    pub max_actions: Option<usize>,
}

impl CollectRequest {
    /// A collection of everything that somebody asked for.
    pub fn asked_by(by: EventAuthor) -> CollectRequest {
        let trigger = if by == EventAuthor::Model { GcTrigger::ModelRequest } else { GcTrigger::Explicit };
        CollectRequest { trigger, ..CollectRequest::default() }
    }
}

/// A plan with the summaries that carrying it out would write.
#[derive(Debug)]
struct PlannedCollection {
    plan: GcPlan,
    report: GcReport,
    new_summaries: NewSummaries,
}

/// The new summary of a file, with its place in the session folder.
type NewSummaries = BTreeMap<String, (String, ComposedSummary)>;

impl WorkingSet<'_> {
    /// What a collection would do now. Nothing is written.
    pub fn preview_collection(&mut self, request: &CollectRequest) -> Result<GcReport, Failure> {
        Ok(self.plan_collection(request)?.report)
    }

    /// Collects, and reports what was done. The plan is made under the lock.
    pub fn collect(&mut self, request: &CollectRequest, why: &str) -> Result<GcReport, Failure> {
        required("collect", why)?;
        self.commit(&format!("ws gc ({}): {why}", request.trigger.name()), |set, draft| {
            let PlannedCollection { plan, report, new_summaries } = set.plan_collection(request)?;
            // Pressure is looked at in every turn: a collection that can do nothing is no event.
            if plan.actions.is_empty() && request.trigger == GcTrigger::BudgetPressure {
                return Ok(report);
            }
            set.draft_new_summaries(draft, &report, new_summaries, why)?;
            let gone: HashSet<&str> = plan.actions.iter().map(|action| action.path.as_str()).collect();
            if !gone.is_empty() {
                set.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::without_all(text, &gone))?;
            }
            for (action, reported) in plan.actions.iter().zip(&report.actions) {
                set.draft_action(draft, action.kind, reported, why)?;
            }
            let followed = set.draft_followed(draft, &plan)?;
            draft.events.extend(followed);
            draft.events.push(gc_event(&report, why));
            let stand_ins = set.draft_stand_ins(draft, &plan)?;
            draft.events.extend(stand_ins);
            Ok(report)
        })
    }

    /// The trigger that is due without anybody asking, by what the state knows.
    pub fn due_collection(&mut self) -> Result<Option<GcTrigger>, Failure> {
        let budget = self.budget(None)?;
        let uncounted =
            self.state.set().map(|(path, ..)| path).filter(|path| !self.tokens.contains_key(*path));
        let uncounted: Vec<String> = uncounted.take(COUNTED_MAX).map(str::to_owned).collect();
        self.count(&uncounted);
        let known = |path: &str| self.tokens.get(path).map_or(0, |stamp| stamp.tokens);
        let used = self.state.set().map(|(path, ..)| known(path)).sum();
        let since = self.state.last_gc_at.or(self.state.started_at);
        let seconds = since.map_or(0, |at| self.workspace.now.0.saturating_sub(at.0));
        let minutes = u64::try_from(seconds / SECONDS_PER_MINUTE).unwrap_or(0);
        let turns = self.state.turn.saturating_sub(self.state.last_gc_turn);
        Ok(due_trigger(&budget, used, minutes, turns))
    }

    fn plan_collection(&mut self, request: &CollectRequest) -> Result<PlannedCollection, Failure> {
        let budget = self.budget(None)?;
        let files = self.set_files();
        let used = files.iter().filter_map(|file| file.tokens).sum();
        let moved = files.iter().filter(|file| {
            self.cold_note(&file.path, &file.file).is_some_and(|note| keeps_bytes(note.action))
        });
        let modified = self.modified(moved.map(|file| file.path.as_str()));
        let mut new_summaries = NewSummaries::new();
        let mut judged = Vec::new();
        for file in files {
            judged.push(self.gc_file(file, request, &modified, &mut new_summaries));
        }
        let mut plan = plan_gc(&GcRequest {
            files: &judged,
            budget: &budget,
            used,
            turn: self.state.turn,
            trigger: request.trigger,
            target_tokens: request.target_tokens,
            untouched_turns: self.workspace.policy.untouched_turns(),
        });
        if let Some(max) = request.max_actions {
            plan.shorten(max);
        }
        let mut report = GcReport::new(&plan, self.workspace.now, EstimatedTokens.name());
        for action in &mut report.actions {
            if let Some(successor) = self.sidecar(&action.path).and_then(|sidecar| sidecar.superseded_by) {
                action.reason.push_str(&format!("; superseded by {successor}"));
            }
        }
        Ok(PlannedCollection { plan, report, new_summaries })
    }

    fn gc_file(
        &self,
        file: SetFileStatus,
        request: &CollectRequest,
        modified: &BTreeSet<String>,
        new_summaries: &mut NewSummaries,
    ) -> GcFile {
        let note = self.cold_note(&file.path, &file.file).cloned();
        let mut facts = self.advice_facts(&file.path, &file.file);
        facts.has_unsaved_changes = modified.contains(&file.path);
        // A summary can be made here, and a missing postmortem is reported: neither settles the advice.
        (facts.lacks_summary, facts.lacks_postmortem) = (false, false);
        let is_open = matches!(
            decide(&facts),
            Some(
                AdviceDecision::Honored
                    | AdviceDecision::Overridden(_)
                    | AdviceDecision::Deferred(DeferReason::TouchedRecently)
            )
        );
        let cold = note.as_ref().filter(|_| facts.cold_age.is_some() && is_open).map(|note| note.action);
        let (turn, untouched) = (self.state.turn, self.workspace.policy.untouched_turns());
        // Advice that a file is needed counts as a use of it.
        let hot = file.file.hot.as_ref().map(|note| note.turn).filter(|_| cold.is_none());
        let last_used = file.file.last_touch().max(hot);
        let idle = turn.saturating_sub(last_used.unwrap_or(0).max(file.file.entered_turn));
        let inside = self.in_session(&file.path);
        let is_log = default_strategy(&file.path, Role::Context) == TruncateStrategy::Start;
        let is_long = inside.is_some() && file.lines.is_some_and(|lines| lines > SUMMARIZE_LINES);
        let wants_summary = match cold {
            Some(action) => matches!(action, ColdAction::SummarizeThenEvict | ColdAction::Compress),
            // An old log keeps its key events: the next run may write another one in its place.
            None => is_log || is_long,
        };
        let may_leave = cold.is_some() || idle >= untouched;
        let existing = file.file.summary.clone().filter(|_| !file.is_summary_stale);
        let summary = match existing {
            Some(path) => {
                let tokens = self.text_of(&path).map_or(0, |text| tokens(&text) as u64);
                Some(FreshSummary { path, tokens })
            }
            // Nobody will write a better summary of a log, nor where nobody is asked for one.
            None if wants_summary && may_leave && (is_log || makes_extracts(request.trigger)) => {
                self.planned_summary(&file, new_summaries)
            }
            None => None,
        };
        let keep = match (file.is_protected, file.file.pinned) {
            (true, _) => Some(KeepRule::Protected),
            (false, true) => Some(KeepRule::Pinned),
            (false, false) => None,
        };
        let why = note.as_ref().map_or("", |note| note.why.as_str());
        let postmortem = self.path(&self.postmortem_place(&file.path));
        let failed_attempt = inside.filter(|inside| is_failed_attempt(inside, why)).map(|_| {
            match self.workspace.disk.exists(&postmortem) {
                true => FailedAttempt::WithPostmortem,
                false => FailedAttempt::WithoutPostmortem,
            }
        });
        let is_append_only = |inside: &str| inside.starts_with("session-log") || inside == super::OUTPUT_FILE;
        let in_scope =
            |glob: &String| is_match(glob, &file.path) || inside.is_some_and(|inside| is_match(glob, inside));
        GcFile {
            tokens: file.tokens.unwrap_or(0),
            priority: file.priority,
            touches: file.file.touches,
            last_touched: last_used,
            entered: file.file.entered_turn,
            last_evicted: file.file.evicted_turn,
            keep,
            cold,
            summary,
            wants_summary,
            is_in_session_folder: self.is_movable(&file.path),
            is_append_only: inside.is_some_and(is_append_only),
            failed_attempt,
            is_in_scope: request.scope.is_empty() || request.scope.iter().any(in_scope),
            path: file.path,
        }
    }

    /// The summary that this run would write. A stale one of this file alone is made again in its place.
    fn planned_summary(
        &self,
        file: &SetFileStatus,
        new_summaries: &mut NewSummaries,
    ) -> Option<FreshSummary> {
        let paths = vec![file.path.clone()];
        let stale = file.file.summary.as_deref().and_then(|path| {
            let (inside, text) = (self.summary_inside(path)?, self.summary_text(path)?);
            let head = SummaryHead::read(&text)?;
            (head.sources.iter().map(|source| &source.path).eq(&paths)).then_some((inside, head, text))
        });
        let taken: BTreeSet<&str> = new_summaries.values().map(|(inside, _)| inside.as_str()).collect();
        let inside = match &stale {
            Some((inside, ..)) => inside.clone(),
            None => self.new_summary_name(&paths, &taken),
        };
        let request = SummaryRequest {
            paths,
            into: None,
            style: stale.as_ref().map_or(SummaryStyle::Bullet, |(_, head, _)| head.style),
            text: None,
            earlier: stale.as_ref().and_then(|(_, _, text)| earlier_text(text)),
            keep_refs: true,
        };
        let composed = self.composed_summary(&request, &inside).ok()?;
        let tokens = tokens(&composed.text) as u64;
        let path = composed.summary.path.clone();
        new_summaries.insert(file.path.clone(), (inside, composed));
        Some(FreshSummary { path, tokens })
    }

    /// Writes the planned summaries that the report names.
    fn draft_new_summaries(
        &self,
        draft: &mut SessionDraft,
        report: &GcReport,
        mut new_summaries: NewSummaries,
        why: &str,
    ) -> Result<(), Failure> {
        for action in report.actions.iter().filter(|action| action.summary.is_some()) {
            if let Some((inside, composed)) = new_summaries.remove(&action.path) {
                self.draft_summary(draft, composed, &inside, why)?;
            }
        }
        Ok(())
    }

    fn draft_action(
        &self,
        draft: &mut SessionDraft,
        kind: GcActionKind,
        action: &GcReportAction,
        why: &str,
    ) -> Result<(), Failure> {
        let path = &action.path;
        match kind {
            GcActionKind::Archived => {
                let sidecar = self.sidecar(path);
                let superseded_by = sidecar.as_ref().and_then(|sidecar| sidecar.superseded_by.as_deref());
                let reason = format!("{}; {why}", action.reason);
                self.draft_archived(draft, path, ArchiveReason { why: &reason, superseded_by })
            }
            GcActionKind::Compressed => self.draft_compressed(draft, path),
            GcActionKind::Summarized => {
                let edit = SidecarEdit { status: Some(SidecarStatus::Summarized), ..SidecarEdit::default() };
                self.edit_sidecar(draft, path, &edit)
            }
            GcActionKind::Evicted => Ok(()),
        }
    }

    /// Advice about files that left is on no list any more.
    fn draft_followed(&self, draft: &mut SessionDraft, plan: &GcPlan) -> Result<Option<EventKind>, Failure> {
        let mut dropped = Vec::new();
        for action in &plan.actions {
            let (path, file) = (&action.path, self.state.files.get(&action.path));
            let is_cold = file.is_some_and(|file| file.cold.is_some());
            let is_hot = file.is_some_and(|file| file.hot.is_some());
            if is_cold {
                self.edit_manifest(draft, WorkingSetFile::Cold, |text| ColdManifest::without(text, path))?;
            }
            if is_hot {
                self.edit_manifest(draft, WorkingSetFile::Hot, |text| HotManifest::without(text, path))?;
            }
            if is_cold || is_hot {
                dropped.push(path.clone());
            }
        }
        let (by, why) = (EventAuthor::Orchestrator, "the files left the set".to_owned());
        let (hot, cold, memory_actions) = (Vec::new(), Vec::new(), Vec::new());
        let event = EventKind::CacheAdvice { by, why, hot, cold, dropped: dropped.clone(), memory_actions };
        Ok((!dropped.is_empty()).then_some(event))
    }

    /// The summaries of compressed files take their place in the set.
    fn draft_stand_ins(&self, draft: &mut SessionDraft, plan: &GcPlan) -> Result<Option<EventKind>, Failure> {
        let mut files: Vec<SetEntry> = Vec::new();
        for action in plan.actions.iter().filter(|action| action.kind == GcActionKind::Compressed) {
            let Some(summary) = &action.summary else { continue };
            let is_known = self.state.files.get(summary).is_some_and(|file| file.entry.is_some());
            if is_known || files.iter().any(|entry| entry.path == *summary) {
                continue;
            }
            let known = self.state.files.get(&action.path).and_then(|file| file.entry.as_ref());
            let entry = SetEntry::new(summary, known.map_or(SetEntry::PRIORITY, |entry| entry.priority));
            self.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::with_entry(text, &entry))?;
            self.draft_sidecar(draft, summary, EventAuthor::Orchestrator)?;
            files.push(entry);
        }
        let (action, by) = (SetAction::Add, EventAuthor::Orchestrator);
        let why = "stands for a compressed file".to_owned();
        let (paths, max_tokens) = (Vec::new(), None);
        let is_empty = files.is_empty();
        let event = EventKind::WorkingSetUpdate { action, by, why, files, paths, max_tokens };
        Ok((!is_empty).then_some(event))
    }
}

/// Whether a collection makes extracts: nobody will be asked for a better summary.
fn makes_extracts(trigger: GcTrigger) -> bool {
    matches!(
        trigger,
        GcTrigger::Explicit | GcTrigger::SessionEnd | GcTrigger::PhaseEnd | GcTrigger::ModelRequest
    )
}

/// The event of a collection: what the report says, path by path.
fn gc_event(report: &GcReport, why: &str) -> EventKind {
    let done = report.actions.iter().map(|action| GcActionRecord {
        path: action.path.clone(),
        action: action.action.to_owned(),
        summary: action.summary.clone(),
        reason: Some(action.reason.clone()),
    });
    let deferred = report.deferred.iter().map(|deferral| GcActionRecord {
        path: deferral.path.clone(),
        action: "deferred".to_owned(),
        summary: None,
        reason: Some(deferral.reason.to_owned()),
    });
    EventKind::GcRun {
        trigger: report.triggered_by.name().to_owned(),
        why: why.to_owned(),
        freed_tokens: report.tokens_freed,
        files_affected: report.files_affected,
        report: done.chain(deferred).collect(),
    }
}
