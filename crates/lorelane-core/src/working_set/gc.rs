//! Garbage collection of a context: which files leave the set, in which order, and why.
//!
//! Advice comes first, then files that nobody touched for some turns, and only as many as the budget asks for. Leaving
//! the set costs a file nothing: its bytes stay, and it comes back with the next touch.

use super::advice::{JUST_TOUCHED_TURNS, TokenBudget};
use super::assemble::KeepRule;
use super::entry::ColdAction;
use crate::time::Timestamp;
use serde::{Serialize, Serializer};
use std::collections::HashSet;
use std::fmt;

/// A file without a touch in this many turns may leave.
pub const UNTOUCHED_TURNS: u32 = 5;
/// Collection starts above this share of the effective budget.
pub const GC_START_PERCENT: u64 = 80;
/// Collection stops at this share. Stopping where it starts would collect again at every turn.
pub const GC_STOP_PERCENT: u64 = 70;
/// From this share on, a file leaves without the summary that it would get.
pub const GC_URGENT_PERCENT: u64 = 90;
pub const GC_INTERVAL_MINUTES: u64 = 60;
pub const GC_SESSION_TURNS: u32 = 60;
/// A file that left is not chosen again for this many turns: it came back because it was needed.
pub const GC_COOLING_TURNS: u32 = 10;

/// Why a collection runs.
///
/// One that nobody asked for (`budget_pressure`, `interval`, `session_length`) carries out advice, and takes untouched
/// files only if the start mark is passed. One that somebody asked for, or that ends a piece of work (`explicit`,
/// `model_request`, `phase_end`, `session_end`), takes untouched files down to the stop mark without waiting for the
/// start mark. A set below the stop mark loses nothing but what was advised: room that is not needed is no reason to
/// forget, and a resumed session finds its files. Who wants less names a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GcTrigger {
    SessionEnd,
    #[default]
    Explicit,
    BudgetPressure,
    Interval,
    PhaseEnd,
    SessionLength,
    ModelRequest,
}

impl GcTrigger {
    pub const ALL: [GcTrigger; 7] = [
        GcTrigger::SessionEnd,
        GcTrigger::Explicit,
        GcTrigger::BudgetPressure,
        GcTrigger::Interval,
        GcTrigger::PhaseEnd,
        GcTrigger::SessionLength,
        GcTrigger::ModelRequest,
    ];

    pub fn name(self) -> &'static str {
        match self {
            GcTrigger::SessionEnd => "session_end",
            GcTrigger::Explicit => "explicit",
            GcTrigger::BudgetPressure => "budget_pressure",
            GcTrigger::Interval => "interval",
            GcTrigger::PhaseEnd => "phase_end",
            GcTrigger::SessionLength => "session_length",
            GcTrigger::ModelRequest => "model_request",
        }
    }

    /// Reads a name; `budget` is an older one.
    pub fn parse(name: &str) -> Option<GcTrigger> {
        let name = if name == "budget" { "budget_pressure" } else { name };
        GcTrigger::ALL.into_iter().find(|trigger| trigger.name() == name)
    }

    fn waits_for_pressure(self) -> bool {
        matches!(self, GcTrigger::BudgetPressure | GcTrigger::Interval | GcTrigger::SessionLength)
    }
}

impl Serialize for GcTrigger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The set, and how far it is to be collected.
#[derive(Clone, Copy, Debug)]
pub struct GcRequest<'r> {
    pub files: &'r [GcFile],
    pub budget: &'r TokenBudget,
    /// Tokens of the whole set.
    pub used: u64,
    pub turn: u32,
    pub trigger: GcTrigger,
    /// Collect down to this instead of the stop mark.
    pub target_tokens: Option<u64>,
    pub untouched_turns: u32,
}

/// A file of the set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GcFile {
    pub path: String,
    pub tokens: u64,
    /// Its priority after advice.
    pub priority: f64,
    pub touches: u32,
    pub last_touched: Option<u32>,
    /// The turn in which it came into the set.
    pub entered: u32,
    pub last_evicted: Option<u32>,
    pub keep: Option<KeepRule>,
    /// Cold advice that was honoured, or that only waits for a summary.
    pub cold: Option<ColdAction>,
    /// A summary that is not stale.
    pub summary: Option<FreshSummary>,
    /// Whether it should not leave before there is a summary of it.
    pub wants_summary: bool,
    /// Whether it is a file of the session, which may be moved. Files of the project never are.
    pub is_in_session_folder: bool,
    pub is_append_only: bool,
    pub failed_attempt: Option<FailedAttempt>,
    pub is_in_scope: bool,
}

impl GcFile {
    /// Turns since its last touch, or since it came into the set.
    fn idle(&self, turn: u32) -> u32 {
        turn.saturating_sub(self.last_touched.unwrap_or(0).max(self.entered))
    }

    fn is_just_touched(&self, turn: u32) -> bool {
        self.last_touched.is_some_and(|touched| turn.saturating_sub(touched) <= JUST_TOUCHED_TURNS)
    }

    fn is_cooling(&self, turn: u32) -> bool {
        self.last_evicted.is_some_and(|evicted| turn.saturating_sub(evicted) <= GC_COOLING_TURNS)
    }

    /// What keeping it is worth: the lowest leaves first.
    ///
    /// The form was chosen on seeded sessions (`cargo xtask traces`). Size counts because one large file makes the room
    /// of several small ones, each of which might be needed again. The roots keep one very old or very large file from
    /// outweighing everything else.
    fn worth(&self, turn: u32) -> f64 {
        let priority = if self.priority.is_nan() { 0.0 } else { self.priority.clamp(0.0, 1.0) };
        let touches = f64::from(self.touches.clamp(1, TOUCHES_FULL));
        let weight = f64::from(self.idle(turn).max(1)) * self.tokens.max(1) as f64;
        touches * (PRIORITY_BASE + priority) / weight.sqrt()
    }
}

/// More touches do not make a file worth more: what was read often in one phase is not needed in all of them.
const TOUCHES_FULL: u32 = 4;
/// Even a file of the lowest priority is worth something if it is touched.
const PRIORITY_BASE: f64 = 0.5;

/// A summary whose sources have not changed since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreshSummary {
    pub path: String,
    pub tokens: u64,
}

/// A file that records what did not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedAttempt {
    WithPostmortem,
    WithoutPostmortem,
}

/// What a collection does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GcPlan {
    pub trigger: GcTrigger,
    /// In the order in which they are carried out. No path is in it twice.
    pub actions: Vec<GcAction>,
    /// Files that would have left, but for a rule.
    pub deferred: Vec<GcDeferral>,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

impl GcPlan {
    /// Leaves all but the first actions to a later run.
    pub fn shorten(&mut self, max: usize) {
        let later = self.actions.split_off(max.min(self.actions.len()));
        self.tokens_after += later.iter().map(|action| action.freed).sum::<u64>();
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GcAction {
    pub path: String,
    pub kind: GcActionKind,
    /// The summary that stands for the file from now on.
    pub summary: Option<String>,
    pub cause: GcCause,
    /// Tokens that the set loses by it.
    pub freed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GcActionKind {
    /// It left the set.
    Evicted,
    /// It left the set, and a summary is kept.
    Summarized,
    /// It left the set, and is moved to the archive of the session.
    Archived,
    /// Its summary takes its place in the set; its bytes are in the archive.
    Compressed,
}

impl GcActionKind {
    pub fn name(self) -> &'static str {
        match self {
            GcActionKind::Evicted => "evicted",
            GcActionKind::Summarized => "summarized",
            GcActionKind::Archived => "archived",
            GcActionKind::Compressed => "compressed",
        }
    }
}

/// Why a file leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcCause {
    Advised(ColdAction),
    Untouched {
        turns: u32,
    },
    /// As one of the others, and the budget was too full to wait for a summary.
    WithoutSummary {
        advised: Option<ColdAction>,
        turns: u32,
    },
}

impl fmt::Display for GcCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let untouched = |f: &mut fmt::Formatter<'_>, turns: u32| match turns {
            1 => f.write_str("untouched for 1 turn"),
            turns => write!(f, "untouched for {turns} turns"),
        };
        match *self {
            GcCause::Advised(action) => write!(f, "advised: {}", action.name()),
            GcCause::Untouched { turns } => untouched(f, turns),
            GcCause::WithoutSummary { advised, turns } => {
                match advised {
                    Some(action) => write!(f, "advised: {}", action.name())?,
                    None => untouched(f, turns)?,
                }
                write!(f, "; not summarized, the budget is at {GC_URGENT_PERCENT} % or more")
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GcDeferral {
    pub path: String,
    pub reason: GcDeferReason,
}

/// Why a file stays although advice or pressure would have it leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GcDeferReason {
    /// Advice against a file that is never evicted: it is overridden.
    Overridden(KeepRule),
    TouchedRecently,
    PendingSummary,
    /// A failed attempt is archived with its postmortem, or not at all.
    NoPostmortem,
    /// A file that is only appended to is neither moved nor replaced.
    AppendOnly,
    /// Its summary would take as many tokens as the file.
    NotSmaller,
    ReturnedRecently,
    /// It is the summary that takes the place of a file in the same run.
    StandsIn,
}

impl GcDeferReason {
    pub fn code(self) -> &'static str {
        match self {
            GcDeferReason::Overridden(rule) => rule.name(),
            GcDeferReason::TouchedRecently => "touched_recently",
            GcDeferReason::PendingSummary => "pending_summary",
            GcDeferReason::NoPostmortem => "no_postmortem",
            GcDeferReason::AppendOnly => "append_only",
            GcDeferReason::NotSmaller => "not_smaller",
            GcDeferReason::ReturnedRecently => "returned_recently",
            GcDeferReason::StandsIn => "stands_in",
        }
    }

    /// Whether only the form of the advice was refused, so that the file may still leave the set.
    fn is_about_form(self) -> bool {
        matches!(self, GcDeferReason::AppendOnly | GcDeferReason::NotSmaller)
    }
}

/// The report of a collection, with the names of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GcReport {
    pub triggered_by: GcTrigger,
    pub timestamp: Timestamp,
    /// What counted the tokens.
    pub counter: String,
    pub actions: Vec<GcReportAction>,
    pub deferred: Vec<GcReportDeferral>,
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// Before minus after.
    pub tokens_freed: u64,
    /// Distinct paths in `actions`.
    pub files_affected: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GcReportAction {
    pub path: String,
    pub action: &'static str,
    pub summary: Option<String>,
    /// Why the file left.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GcReportDeferral {
    pub path: String,
    pub reason: &'static str,
}

impl GcReport {
    pub fn new(plan: &GcPlan, now: Timestamp, counter: &str) -> GcReport {
        let paths: HashSet<&str> = plan.actions.iter().map(|action| action.path.as_str()).collect();
        let action = |action: &GcAction| GcReportAction {
            path: action.path.clone(),
            action: action.kind.name(),
            summary: action.summary.clone(),
            reason: action.cause.to_string(),
        };
        let deferral = |deferral: &GcDeferral| GcReportDeferral {
            path: deferral.path.clone(),
            reason: deferral.reason.code(),
        };
        GcReport {
            triggered_by: plan.trigger,
            timestamp: now,
            counter: counter.to_owned(),
            actions: plan.actions.iter().map(action).collect(),
            deferred: plan.deferred.iter().map(deferral).collect(),
            tokens_before: plan.tokens_before,
            tokens_after: plan.tokens_after,
            tokens_freed: plan.tokens_before.saturating_sub(plan.tokens_after),
            files_affected: paths.len(),
        }
    }
}

/// The trigger that is due without anybody asking. Pressure comes first: it is the only one that is urgent.
pub fn due_trigger(
    budget: &TokenBudget,
    used: u64,
    minutes_since_gc: u64,
    turns_since_gc: u32,
) -> Option<GcTrigger> {
    if is_above(used, budget, GC_START_PERCENT) {
        Some(GcTrigger::BudgetPressure)
    } else if minutes_since_gc >= GC_INTERVAL_MINUTES {
        Some(GcTrigger::Interval)
    } else if turns_since_gc >= GC_SESSION_TURNS {
        Some(GcTrigger::SessionLength)
    } else {
        None
    }
}

fn is_above(used: u64, budget: &TokenBudget, percent: u64) -> bool {
    used.saturating_mul(100) > budget.effective.saturating_mul(percent)
}

/// Plans a collection.
///
/// Protected and pinned files never leave, and what was touched in the last two turns neither. Honoured advice is
/// carried out first. Then untouched files leave, the least worth first, until the set is small enough.
pub fn plan_gc(request: &GcRequest<'_>) -> GcPlan {
    let mut planner = GcPlanner::new(request);
    let mut victims = Vec::new();
    for file in request.files.iter().filter(|file| file.is_in_scope) {
        let is_victim = match file.cold {
            Some(advised) => !planner.follow_advice(file, advised),
            None => true,
        };
        // A file without tokens gives no room.
        if is_victim && file.keep.is_none() && file.tokens > 0 && planner.is_untouched(file) {
            victims.push(file);
        }
    }
    if let Some(target) = target(request) {
        planner.evict(&victims, target);
    }
    planner.plan
}

/// How small the set is to become, if files may leave without advice.
fn target(request: &GcRequest<'_>) -> Option<u64> {
    let is_due =
        !request.trigger.waits_for_pressure() || is_above(request.used, request.budget, GC_START_PERCENT);
    let stop = request.budget.effective.saturating_mul(GC_STOP_PERCENT) / 100;
    request.target_tokens.or(is_due.then_some(stop))
}

struct GcPlanner<'r> {
    request: &'r GcRequest<'r>,
    plan: GcPlan,
    is_urgent: bool,
    /// What is in the set, and the summaries that come into it: none of them is counted twice.
    in_set: HashSet<&'r str>,
    /// Summaries that stand for a file from now on, so that they must not leave in the same run.
    stand_ins: HashSet<&'r str>,
    deferred: HashSet<&'r str>,
}

impl<'r> GcPlanner<'r> {
    fn new(request: &'r GcRequest<'r>) -> GcPlanner<'r> {
        let urgent = request.budget.effective.saturating_mul(GC_URGENT_PERCENT);
        let plan = GcPlan {
            trigger: request.trigger,
            actions: Vec::new(),
            deferred: Vec::new(),
            tokens_before: request.used,
            tokens_after: request.used,
        };
        // Only a compression puts a summary into the set.
        let compresses = request.files.iter().any(|file| file.cold == Some(ColdAction::Compress));
        let paths = request.files.iter().filter(|_| compresses).map(|file| file.path.as_str());
        let in_set = paths.collect();
        GcPlanner {
            request,
            plan,
            is_urgent: request.used > 0 && request.used.saturating_mul(100) >= urgent,
            in_set,
            stand_ins: HashSet::new(),
            deferred: HashSet::new(),
        }
    }

    fn is_untouched(&self, file: &GcFile) -> bool {
        file.idle(self.request.turn) >= self.request.untouched_turns
            && !file.is_just_touched(self.request.turn)
    }

    /// Carries out advice, or defers it; `false` if the file may still leave as any other.
    fn follow_advice(&mut self, file: &'r GcFile, advised: ColdAction) -> bool {
        let (kind, without_summary) = match self.advised_action(file, advised) {
            Ok(found) => found,
            Err(reason) => {
                self.defer(file, reason);
                return !reason.is_about_form();
            }
        };
        let turns = file.idle(self.request.turn);
        let cause = match without_summary {
            true => GcCause::WithoutSummary { advised: Some(advised), turns },
            false => GcCause::Advised(advised),
        };
        self.act(file, kind, cause);
        true
    }

    /// The action, and whether it does not wait for a summary.
    fn advised_action(
        &self,
        file: &GcFile,
        advised: ColdAction,
    ) -> Result<(GcActionKind, bool), GcDeferReason> {
        if let Some(rule) = file.keep {
            return Err(GcDeferReason::Overridden(rule));
        }
        if file.is_just_touched(self.request.turn) {
            return Err(GcDeferReason::TouchedRecently);
        }
        if self.stand_ins.contains(file.path.as_str()) {
            return Err(GcDeferReason::StandsIn);
        }
        match (advised, &file.summary) {
            (ColdAction::DeleteFromWorkingSet, _) => Ok((GcActionKind::Evicted, false)),
            // A file of the project is never moved: it just leaves the set.
            (ColdAction::Archive, _) if !file.is_in_session_folder => Ok((GcActionKind::Evicted, false)),
            (ColdAction::Archive | ColdAction::Compress, _) if file.is_append_only => {
                Err(GcDeferReason::AppendOnly)
            }
            (ColdAction::Archive, _) if file.failed_attempt == Some(FailedAttempt::WithoutPostmortem) => {
                Err(GcDeferReason::NoPostmortem)
            }
            (ColdAction::Archive, _) => Ok((GcActionKind::Archived, false)),
            (ColdAction::SummarizeThenEvict, Some(_)) => Ok((GcActionKind::Summarized, false)),
            (ColdAction::Compress, Some(summary)) if self.summary_cost(summary) >= file.tokens => {
                Err(GcDeferReason::NotSmaller)
            }
            (ColdAction::Compress, Some(_)) => Ok((GcActionKind::Compressed, false)),
            (ColdAction::SummarizeThenEvict | ColdAction::Compress, None) if self.is_urgent => {
                Ok((GcActionKind::Evicted, true))
            }
            (ColdAction::SummarizeThenEvict | ColdAction::Compress, None) => {
                Err(GcDeferReason::PendingSummary)
            }
        }
    }

    /// The tokens that a summary adds to the set.
    fn summary_cost(&self, summary: &FreshSummary) -> u64 {
        if self.in_set.contains(summary.path.as_str()) { 0 } else { summary.tokens }
    }

    /// Files leave, the least worth first, until the set has no more tokens than the target.
    fn evict(&mut self, victims: &[&'r GcFile], target: u64) {
        let turn = self.request.turn;
        let mut ranked: Vec<(f64, &GcFile)> = victims.iter().map(|file| (file.worth(turn), *file)).collect();
        ranked.sort_by(|(a, x), (b, y)| a.total_cmp(b).then_with(|| x.path.cmp(&y.path)));
        let mut left = HashSet::new();
        for (_, file) in ranked {
            if self.plan.tokens_after <= target {
                break;
            }
            if self.stand_ins.contains(file.path.as_str()) {
                continue;
            }
            if file.is_cooling(turn) {
                self.defer(file, GcDeferReason::ReturnedRecently);
                continue;
            }
            let turns = file.idle(turn);
            let (kind, cause) = match (&file.summary, file.wants_summary) {
                (Some(_), _) => (GcActionKind::Summarized, GcCause::Untouched { turns }),
                (None, false) => (GcActionKind::Evicted, GcCause::Untouched { turns }),
                (None, true) if self.is_urgent => {
                    (GcActionKind::Evicted, GcCause::WithoutSummary { advised: None, turns })
                }
                (None, true) => {
                    self.defer(file, GcDeferReason::PendingSummary);
                    continue;
                }
            };
            self.act(file, kind, cause);
            if file.cold.is_some() {
                left.insert(file.path.as_str());
            }
        }
        // Advice whose form was refused is not open any more once the file has left.
        self.plan.deferred.retain(|deferral| !left.contains(deferral.path.as_str()));
    }

    fn act(&mut self, file: &'r GcFile, kind: GcActionKind, cause: GcCause) {
        let summary = match kind {
            GcActionKind::Summarized | GcActionKind::Compressed => file.summary.as_ref(),
            GcActionKind::Evicted | GcActionKind::Archived => None,
        };
        let mut freed = file.tokens;
        self.in_set.remove(file.path.as_str());
        if let (GcActionKind::Compressed, Some(summary)) = (kind, summary) {
            freed = freed.saturating_sub(self.summary_cost(summary));
            self.in_set.insert(&summary.path);
            self.stand_ins.insert(&summary.path);
        }
        self.plan.tokens_after = self.plan.tokens_after.saturating_sub(freed);
        let (path, summary) = (file.path.clone(), summary.map(|summary| summary.path.clone()));
        self.plan.actions.push(GcAction { path, kind, summary, cause, freed });
    }

    fn defer(&mut self, file: &'r GcFile, reason: GcDeferReason) {
        // What was refused about the advice is the first thing to know.
        if self.deferred.insert(&file.path) {
            self.plan.deferred.push(GcDeferral { path: file.path.clone(), reason });
        }
    }
}
