//! Claude Code's memory folder.

use super::{path_text, texts};
use lorelane_core::dialect::Problem;
use lorelane_core::dialect::auto::{
    IndexReport, LOADED_LINES_MAX, LOADED_UNITS_MAX, RepeatedLine, ReportedEntry,
};
use lorelane_engine::workspace::{IndexSize, TidyReport};
use serde::Serialize;
use std::path::Path;

/// The answer of `auto status`.
#[derive(Debug, Serialize)]
pub struct AutoStatusView<'r> {
    folder: String,
    loaded: bool,
    index: AutoIndexView<'r>,
    tokens: AutoTokensView,
    lost: Vec<AutoEntryView<'r>>,
    without_file: Vec<AutoEntryView<'r>>,
    without_entry: Vec<String>,
    duplicates: Vec<AutoEntryView<'r>>,
    too_long: Vec<AutoEntryView<'r>>,
    repeated: Vec<RepeatedView<'r>>,
    problems: Vec<TopicProblemView<'r>>,
}

#[derive(Debug, Serialize)]
struct AutoIndexView<'r> {
    lines: usize,
    lines_max: usize,
    units: usize,
    units_max: usize,
    entries: usize,
    cut_at: Option<usize>,
    warning: Option<&'r str>,
}

#[derive(Debug, Serialize)]
struct AutoTokensView {
    loaded: usize,
    on_demand: usize,
    lost: usize,
}

#[derive(Debug, Serialize)]
struct AutoEntryView<'r> {
    line: usize,
    file: &'r str,
    title: &'r str,
}

#[derive(Debug, Serialize)]
struct RepeatedView<'r> {
    line: usize,
    text: &'r str,
    file: &'r str,
}

impl<'r> AutoStatusView<'r> {
    pub fn of(folder: &Path, is_loaded: bool, report: &'r IndexReport) -> AutoStatusView<'r> {
        let entries = |entries: &'r [ReportedEntry]| entries.iter().map(AutoEntryView::of).collect();
        let loaded = &report.loaded;
        AutoStatusView {
            folder: path_text(folder),
            loaded: is_loaded,
            index: AutoIndexView {
                lines: loaded.lines,
                lines_max: LOADED_LINES_MAX,
                units: loaded.units,
                units_max: LOADED_UNITS_MAX,
                entries: report.entries,
                cut_at: loaded.cut_at,
                warning: loaded.warning.as_deref(),
            },
            tokens: AutoTokensView {
                loaded: report.loaded_tokens,
                on_demand: report.on_demand_tokens,
                lost: report.lost_tokens,
            },
            lost: entries(&report.lost),
            without_file: entries(&report.without_file),
            without_entry: texts(&report.without_entry),
            duplicates: entries(&report.duplicates),
            too_long: entries(&report.too_long),
            repeated: report.repeated.iter().map(RepeatedView::of).collect(),
            problems: report.problems.iter().map(TopicProblemView::of).collect(),
        }
    }
}

impl<'r> AutoEntryView<'r> {
    fn of(entry: &'r ReportedEntry) -> AutoEntryView<'r> {
        AutoEntryView { line: entry.line, file: entry.path.as_str(), title: &entry.title }
    }
}

impl<'r> RepeatedView<'r> {
    fn of(line: &'r RepeatedLine) -> RepeatedView<'r> {
        RepeatedView { line: line.line, text: &line.text, file: &line.file }
    }
}

#[derive(Debug, Serialize)]
struct TopicProblemView<'r> {
    file: &'r str,
    what: &'r str,
}

impl<'r> TopicProblemView<'r> {
    fn of(problem: &'r Problem) -> TopicProblemView<'r> {
        TopicProblemView { file: problem.path.as_str(), what: &problem.what }
    }
}

/// The answer of `auto tidy`.
#[derive(Debug, Serialize)]
pub struct TidyView {
    changed: bool,
    dry_run: bool,
    #[serde(flatten)]
    tidy: Option<TidyChangeView>,
}

#[derive(Debug, Serialize)]
struct TidyChangeView {
    folder: String,
    before: IndexSizeView,
    after: IndexSizeView,
    topics: Vec<String>,
    original: Option<String>,
}

#[derive(Debug, Serialize)]
struct IndexSizeView {
    lines: usize,
    units: usize,
}

impl TidyView {
    pub fn of(done: Option<&TidyReport>, dry_run: bool) -> TidyView {
        let size = |size: IndexSize| IndexSizeView { lines: size.lines, units: size.units };
        let tidy = done.map(|done| TidyChangeView {
            folder: path_text(&done.folder),
            before: size(done.before),
            after: size(done.after),
            topics: texts(&done.topics),
            original: done.original.as_ref().map(ToString::to_string),
        });
        TidyView { changed: done.is_some() && !dry_run, dry_run, tidy }
    }
}

/// A size as Claude Code names it.
pub fn kilobytes(units: usize) -> String {
    format!("{:.1} KB", units as f64 / 1024.0)
}
