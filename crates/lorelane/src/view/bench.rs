//! The results of `bench`: how well recall finds a project's memories.

use super::{Digits, path_text, texts};
use lorelane_core::bench::{BenchQuestion, BenchReport, ExpectationResult, Measures, Miss, Regression};
use lorelane_core::time::Timestamp;
use lorelane_engine::workspace::BenchOutcome;
use serde::Serialize;

/// Limit of failed questions in the document.
const WORST: usize = 50;

#[derive(Debug, Serialize)]
pub struct BenchView<'b> {
    fine: bool,
    memories: usize,
    answerable: usize,
    unanswerable: usize,
    expectations: usize,
    files: Vec<String>,
    measures: Measures,
    compared: Option<ComparedView>,
    fell: Vec<FallView>,
    unmet: Vec<UnmetView<'b>>,
    wrong: Vec<WrongView<'b>>,
    search_ms: Digits,
    baseline: bool,
    kept: bool,
}

#[derive(Debug, Serialize)]
struct ComparedView {
    at: String,
    questions: usize,
    before: Measures,
    now: Measures,
}

#[derive(Debug, Serialize)]
struct FallView {
    measure: &'static str,
    before: Digits,
    now: Digits,
    questions: usize,
}

#[derive(Debug, Serialize)]
struct UnmetView<'b> {
    query: &'b str,
    misses: Vec<String>,
    came: Vec<String>,
}

#[derive(Debug, Serialize)]
struct WrongView<'b> {
    query: &'b str,
    wanted: Option<String>,
    place: Option<usize>,
    came: Vec<String>,
}

impl<'b> BenchView<'b> {
    pub fn of(benched: &'b BenchOutcome, kept: bool) -> BenchView<'b> {
        let report = &benched.report;
        let unmet = report.tried.iter().filter(|tried| !tried.misses.is_empty());
        BenchView {
            fine: report.is_fine(),
            memories: benched.memories,
            answerable: report.measures.answerable,
            unanswerable: report.measures.unanswerable,
            expectations: report.tried.len(),
            files: benched.files.iter().map(|path| path_text(path)).collect(),
            measures: report.measures,
            compared: report.compared.as_ref().map(ComparedView::of),
            fell: report.falls.iter().map(FallView::of).collect(),
            unmet: unmet.map(|tried| UnmetView::of(report, tried)).collect(),
            wrong: report.worst().into_iter().take(WORST).map(WrongView::of).collect(),
            search_ms: Digits::fixed(benched.median.as_secs_f64() * 1000.0, 3),
            baseline: report.kept.is_baseline,
            kept,
        }
    }
}

impl ComparedView {
    fn of((at, before, now): &(Timestamp, Measures, Measures)) -> ComparedView {
        ComparedView {
            at: at.to_string(),
            questions: now.answerable + now.unanswerable,
            before: *before,
            now: *now,
        }
    }
}

impl FallView {
    fn of(fall: &Regression) -> FallView {
        FallView {
            measure: fall.measure.name(),
            before: Digits::shortest(fall.before),
            now: Digits::shortest(fall.now),
            questions: fall.questions,
        }
    }
}

impl<'b> UnmetView<'b> {
    fn of(report: &BenchReport, tried: &'b ExpectationResult) -> UnmetView<'b> {
        UnmetView {
            query: &tried.expectation.query,
            misses: tried.misses.iter().map(|miss| miss_text(report, tried, miss)).collect(),
            came: texts(&tried.came),
        }
    }
}

impl<'b> WrongView<'b> {
    fn of(asked: &'b BenchQuestion) -> WrongView<'b> {
        WrongView {
            query: &asked.question.text,
            wanted: asked.question.wanted.as_ref().map(ToString::to_string),
            place: asked.place,
            came: texts(&asked.came),
        }
    }
}

/// Why an expectation was not met.
pub fn miss_text(report: &BenchReport, tried: &ExpectationResult, miss: &Miss) -> String {
    match miss {
        Miss::Absent(address) => {
            let lost = report.lost.contains(&(tried.expectation.query.clone(), address.clone()));
            let before = if lost { "; in the baseline it was" } else { "" };
            format!("{address} is not in the top {}{before}", tried.expectation.within)
        }
        Miss::Intruder(address, place) => format!("{address} must not be found, but ranked #{place}"),
    }
}
