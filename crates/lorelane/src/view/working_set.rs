//! The working set.

use super::path_text;
use lorelane_core::working_set::{
    AdviceDecision, ChainFault, GcReport, MemoryAction, SessionEvent, TokenBudget,
};
use lorelane_engine::workspace::{
    AdviceAnswer, AssembledContext, RestoredFile, SessionStart, SetChange, SetFileStatus, WorkingSetStatus,
    WrittenSummary,
};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct SessionStartView {
    session: String,
    folder: String,
    made: Vec<String>,
}

impl SessionStartView {
    pub fn of(start: &SessionStart) -> SessionStartView {
        SessionStartView {
            session: start.session.clone(),
            folder: path_text(&start.folder),
            made: start.made.iter().map(|path| path_text(path)).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct HandoverView<'h> {
    /// The file, if it was written now.
    written: Option<String>,
    /// What waits for the next session.
    text: Option<&'h str>,
}

impl<'h> HandoverView<'h> {
    pub fn of(written: Option<&std::path::Path>, text: Option<&'h str>) -> HandoverView<'h> {
        HandoverView { written: written.map(path_text), text }
    }
}

#[derive(Debug, Serialize)]
struct BudgetView {
    max_tokens: u64,
    reserved_for_response: u64,
    effective: u64,
    used: u64,
    /// Of `effective`.
    ratio: f64,
    /// Of `max_tokens`.
    ratio_of_max: f64,
}

impl BudgetView {
    fn of(budget: &TokenBudget, used: u64) -> BudgetView {
        let ratio = |of: u64| if of == 0 { 0.0 } else { (used as f64 / of as f64 * 1000.0).round() / 1000.0 };
        BudgetView {
            max_tokens: budget.max,
            reserved_for_response: budget.reserved,
            effective: budget.effective,
            used,
            ratio: ratio(budget.effective),
            ratio_of_max: ratio(budget.max),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct WorkingSetStatusView<'s> {
    session: &'s str,
    folder: String,
    turn: u32,
    events: u64,
    budget: BudgetView,
    files: Vec<SetFileView<'s>>,
    /// Summaries that are gone or older than their sources.
    stale_summaries: Vec<StaleSummaryView<'s>>,
}

#[derive(Debug, Serialize)]
struct StaleSummaryView<'s> {
    path: &'s str,
    sources: &'s [String],
    changed: &'s [String],
    missing: bool,
}

#[derive(Debug, Serialize)]
struct SetFileView<'s> {
    path: &'s str,
    tokens: Option<u64>,
    lines: Option<u32>,
    priority: f64,
    effective_priority: f64,
    hotness: HotnessView,
    touches: u32,
    pinned: bool,
    protected: bool,
    advice: Option<AdviceView<'s>>,
    decision: Option<DecisionView>,
    summary: Option<&'s str>,
    summary_stale: bool,
    /// Whether it is so long that it should have one.
    summary_offered: bool,
    problem: Option<&'s str>,
}

#[derive(Debug, Serialize)]
struct HotnessView {
    score: f64,
    recent_touches: f64,
    in_working_set: f64,
    model_hot_listed: f64,
    user_pinned: f64,
}

#[derive(Debug, Serialize)]
struct AdviceView<'s> {
    list: &'static str,
    why: &'s str,
    turn: u32,
}

#[derive(Debug, Serialize)]
struct DecisionView {
    action_taken: &'static str,
    reason: Option<&'static str>,
}

impl DecisionView {
    fn of(decision: AdviceDecision) -> DecisionView {
        DecisionView { action_taken: decision.action_taken(), reason: decision.reason() }
    }
}

/// Three digits: more would only show the arithmetic.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

impl<'s> WorkingSetStatusView<'s> {
    pub fn of(status: &'s WorkingSetStatus) -> WorkingSetStatusView<'s> {
        WorkingSetStatusView {
            session: &status.session,
            folder: path_text(&status.folder),
            turn: status.turn,
            events: status.events,
            budget: BudgetView::of(&status.budget, status.used),
            files: status.files.iter().map(|file| SetFileView::of(file, status)).collect(),
            stale_summaries: status
                .stale_summaries
                .iter()
                .map(|summary| StaleSummaryView {
                    path: &summary.path,
                    sources: &summary.sources,
                    changed: &summary.changed,
                    missing: summary.is_missing,
                })
                .collect(),
        }
    }
}

impl<'s> SetFileView<'s> {
    fn of(file: &'s SetFileStatus, status: &WorkingSetStatus) -> SetFileView<'s> {
        let factors = &file.factors;
        let hot = file.file.hot.as_ref().map(|note| ("hot", note.why.as_str(), note.turn));
        let cold = file.file.cold.as_ref().map(|note| ("cold", note.why.as_str(), note.turn));
        SetFileView {
            path: &file.path,
            tokens: file.tokens,
            lines: file.lines,
            priority: file.entry.priority,
            effective_priority: rounded(file.priority),
            hotness: HotnessView {
                score: rounded(file.hotness(status.turn)),
                recent_touches: rounded(factors.recent_touches),
                in_working_set: factors.in_working_set,
                model_hot_listed: factors.hot_listed,
                user_pinned: factors.pinned,
            },
            touches: file.file.touches,
            pinned: file.file.pinned,
            protected: file.is_protected,
            advice: cold.or(hot).map(|(list, why, turn)| AdviceView { list, why, turn }),
            decision: file.decision.map(DecisionView::of),
            summary: file.file.summary.as_deref(),
            summary_stale: file.is_summary_stale,
            summary_offered: file.wants_summary(),
            problem: file.problem.as_deref(),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct SetChangeView<'c> {
    did: &'static str,
    paths: &'c [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'c [String],
}

impl<'c> SetChangeView<'c> {
    pub fn of(did: &'static str, change: &'c SetChange, warnings: &'c [String]) -> SetChangeView<'c> {
        SetChangeView { did, paths: &change.paths, warnings }
    }
}

#[derive(Debug, Serialize)]
pub struct AdviceAnswerView<'a> {
    memory_actions: &'a [MemoryAction],
    warnings: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    gc_report: Option<&'a GcReport>,
}

impl<'a> AdviceAnswerView<'a> {
    pub fn of(answer: &'a AdviceAnswer) -> AdviceAnswerView<'a> {
        let AdviceAnswer { memory_actions, warnings, gc } = answer;
        AdviceAnswerView { memory_actions, warnings, gc_report: gc.as_ref() }
    }
}

#[derive(Debug, Serialize)]
pub struct GcReportView<'r> {
    dry_run: bool,
    gc_report: &'r GcReport,
}

impl<'r> GcReportView<'r> {
    pub fn of(gc_report: &'r GcReport, dry_run: bool) -> GcReportView<'r> {
        GcReportView { dry_run, gc_report }
    }
}

#[derive(Debug, Serialize)]
pub struct SummariesView<'s> {
    summaries: Vec<WrittenSummaryView<'s>>,
}

impl<'s> SummariesView<'s> {
    pub fn of(written: &'s [WrittenSummary]) -> SummariesView<'s> {
        let summaries = written.iter().map(|summary| WrittenSummaryView::of(summary, &[]));
        SummariesView { summaries: summaries.collect() }
    }
}

#[derive(Debug, Serialize)]
pub struct RestoredFileView<'r> {
    path: &'r str,
    from_archive: bool,
    earlier_bytes: Option<&'r str>,
}

impl<'r> RestoredFileView<'r> {
    pub fn of(restored: &'r RestoredFile) -> RestoredFileView<'r> {
        RestoredFileView {
            path: &restored.path,
            from_archive: restored.from_archive,
            earlier_bytes: restored.earlier_bytes.as_deref(),
        }
    }
}

/// A summary that was written.
#[derive(Debug, Serialize)]
pub struct WrittenSummaryView<'w> {
    path: &'w str,
    summary_of: &'w [String],
    style: &'static str,
    generator: &'static str,
    tokens_before: u64,
    tokens_after: u64,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'w [String],
}

impl<'w> WrittenSummaryView<'w> {
    pub fn of(written: &'w WrittenSummary, warnings: &'w [String]) -> WrittenSummaryView<'w> {
        WrittenSummaryView {
            path: &written.path,
            summary_of: &written.sources,
            style: written.style.name(),
            generator: written.generator.name(),
            tokens_before: written.tokens_before,
            tokens_after: written.tokens_after,
            warnings,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct AssemblyView<'a> {
    counter: &'a str,
    budget: BudgetView,
    budget_exceeded: Vec<&'a str>,
    included: Vec<IncludedView<'a>>,
    excluded: Vec<ExcludedView<'a>>,
    warnings: Vec<String>,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct IncludedView<'a> {
    path: &'a str,
    tokens: u64,
    original_tokens: u64,
    truncated: bool,
}

#[derive(Debug, Serialize)]
struct ExcludedView<'a> {
    path: &'a str,
    reason: &'static str,
    detail: String,
}

impl<'a> AssemblyView<'a> {
    pub fn of(context: &'a AssembledContext) -> AssemblyView<'a> {
        let assembly = &context.assembly;
        let loaded = context.loaded_by_client.iter().map(|path| ExcludedView {
            path,
            reason: "loaded_by_client",
            detail: "the client loads it by itself".to_owned(),
        });
        let excluded = assembly.excluded.iter().map(|file| ExcludedView {
            path: &file.path,
            reason: file.reason.code(),
            detail: file.reason.to_string(),
        });
        AssemblyView {
            counter: &assembly.counter,
            budget: BudgetView::of(&context.budget, assembly.tokens),
            budget_exceeded: assembly.budget_exceeded().collect(),
            included: assembly
                .included
                .iter()
                .map(|file| IncludedView {
                    path: &file.path,
                    tokens: file.tokens,
                    original_tokens: file.original_tokens,
                    truncated: file.is_truncated,
                })
                .collect(),
            excluded: excluded.chain(loaded).collect(),
            warnings: assembly.warnings.iter().map(ToString::to_string).collect(),
            text: &assembly.text,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct SessionLogView<'e> {
    total: usize,
    events: Vec<&'e SessionEvent>,
}

impl<'e> SessionLogView<'e> {
    /// The newest events, newest first.
    pub fn of(events: &'e [SessionEvent], limit: usize) -> SessionLogView<'e> {
        SessionLogView { total: events.len(), events: events.iter().rev().take(limit).collect() }
    }
}

#[derive(Debug, Serialize)]
pub struct SessionLogCheckView {
    intact: bool,
    faults: Vec<String>,
}

impl SessionLogCheckView {
    pub fn of(faults: &[ChainFault]) -> SessionLogCheckView {
        SessionLogCheckView { intact: faults.is_empty(), faults: super::texts(faults) }
    }
}
