//! The working set as text.

use crate::cli::output;
use lorelane_core::text::{cut, one_line};
use lorelane_core::working_set::{GcReport, SUMMARIZE_LINES, SessionEvent, SummaryGenerator};
use lorelane_engine::workspace::{
    AdviceAnswer, AssembledContext, RestoredFile, SessionStart, SetFileStatus, WorkingSetStatus,
    WrittenSummary,
};
use std::fmt::Write as _;

const BAR_WIDTH: u64 = 40;
/// Where garbage collection stops, starts, and does not wait any more.
const MARKS: [u64; 3] = [70, 80, 90];
const PATH_WIDTH: usize = 34;

pub(super) fn started(start: &SessionStart) -> String {
    let mut text = format!("Session {} in {}\n", start.session, start.folder.display());
    for path in &start.made {
        let _ = writeln!(text, "  {}", path.display());
    }
    text.push_str(
        "\nNext: `lorelane ws add PATH --because REASON` adds a file.\n\
         `lorelane setup CLIENT --with working-set` gives an agent the tools for it.\n",
    );
    text
}

pub(super) fn status(status: &WorkingSetStatus) -> String {
    let mut text = format!("Session {}  turn {}  {}\n\n", status.session, status.turn, events(status.events));
    text.push_str(&bar(status));
    if status.files.is_empty() {
        text.push_str("\nNo files. `lorelane ws add PATH --because REASON` adds one.\n");
        return text;
    }
    let _ = writeln!(
        text,
        "\n{:<PATH_WIDTH$} {:>7} {:>8} {:>7} {:>7}  state",
        "file", "tokens", "priority", "hotness", "touches"
    );
    for file in &status.files {
        text.push_str(&line(file, status.turn));
    }
    text.push_str(&summaries(status));
    text
}

/// What is to be done about summaries.
fn summaries(status: &WorkingSetStatus) -> String {
    let mut text = String::new();
    if !status.stale_summaries.is_empty() {
        text.push_str("\nSummaries to make again, with `lorelane ws summarize --stale --because REASON`:\n");
    }
    for summary in &status.stale_summaries {
        let what = if summary.is_missing { "missing; it was of" } else { "stale; changed:" };
        let _ = writeln!(
            text,
            "  {} is {what} {}",
            one_line(&summary.path),
            one_line(&summary.changed.join(", "))
        );
    }
    let offered: Vec<&SetFileStatus> = status.files.iter().filter(|file| file.wants_summary()).collect();
    if !offered.is_empty() {
        let _ = writeln!(
            text,
            "\nOver {SUMMARIZE_LINES} lines; `lorelane ws summarize PATH --because REASON` makes a summary:"
        );
    }
    for file in offered {
        let _ = writeln!(text, "  {} ({} lines)", one_line(&file.path), file.lines.unwrap_or_default());
    }
    text
}

fn events(count: u64) -> String {
    output::count(count, "event", "events")
}

/// `[#######----|--|--|---]`: what is used of the effective budget, with the marks at 70, 80 and 90 %.
fn bar(status: &WorkingSetStatus) -> String {
    let effective = status.budget.effective;
    let percent = (status.used * 100).checked_div(effective).unwrap_or(100);
    let filled = (percent * BAR_WIDTH / 100).min(BAR_WIDTH);
    let cell = |at: u64| match MARKS.iter().any(|mark| at == mark * BAR_WIDTH / 100) {
        true => '|',
        false if at < filled => '#',
        false => '-',
    };
    let cells: String = (0..BAR_WIDTH).map(cell).collect();
    let used = status.used;
    format!("[{cells}] {used} of {effective} tokens ({percent} %), marks at 70, 80 and 90 %\n")
}

fn line(file: &SetFileStatus, turn: u32) -> String {
    let tokens = file.tokens.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string());
    let moved = (file.priority - file.entry.priority).abs() > 0.0005;
    let priority = match moved {
        true => format!("{:.2}>{:.2}", file.entry.priority, file.priority),
        false => format!("{:.2}", file.priority),
    };
    let path = shortened(&file.path);
    let (hotness, touches) = (file.hotness(turn), file.file.touches);
    let mut text = format!("{path:<PATH_WIDTH$} {tokens:>7} {priority:>8} {hotness:>7.2} {touches:>7}");
    let state = state(file);
    if !state.is_empty() {
        let _ = write!(text, "  {}", state.join(", "));
    }
    let factors = &file.factors;
    if turn > 0 && file.file.touches + u32::from(file.file.pinned) + u32::from(file.file.hot.is_some()) > 0 {
        let _ = write!(
            text,
            "\n{:<PATH_WIDTH$} hotness = 0.3 x {:.2} recent + 0.2 x {} in set + 0.3 x {} hot + 0.2 x {} pinned",
            "", factors.recent_touches, factors.in_working_set, factors.hot_listed, factors.pinned
        );
    }
    text.push('\n');
    text
}

/// The end of a long path tells more than its beginning.
fn shortened(path: &str) -> String {
    let path = one_line(path);
    let length = path.chars().count();
    match length > PATH_WIDTH {
        true => format!("…{}", path.chars().skip(length + 1 - PATH_WIDTH).collect::<String>()),
        false => path,
    }
}

fn state(file: &SetFileStatus) -> Vec<String> {
    let mut state = Vec::new();
    if file.is_protected {
        state.push("protected".to_owned());
    }
    if file.file.pinned {
        state.push("pinned".to_owned());
    }
    if file.file.hot.is_some() {
        state.push("hot".to_owned());
    }
    if let Some(cold) = &file.file.cold {
        state.push(format!("cold ({})", cold.action.name()));
    }
    if let Some(decision) = file.decision {
        let reason = decision.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
        state.push(format!("{}{reason}", decision.action_taken()));
    }
    if let Some(summary) = &file.file.summary {
        let stale = if file.is_summary_stale { " (stale)" } else { "" };
        state.push(format!("summary {}{stale}", one_line(summary)));
    }
    if let Some(problem) = &file.problem {
        state.push(one_line(problem));
    }
    state
}

pub(super) fn decisions(answer: &AdviceAnswer) -> String {
    let mut text = String::new();
    for action in &answer.memory_actions {
        let reason = action.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let _ = writeln!(text, "{}{reason}  {}", action.action_taken, one_line(&action.path));
    }
    if let Some(report) = &answer.gc {
        text.push_str(&collected(report, false));
    }
    text
}

pub(super) fn summarized(written: &[WrittenSummary]) -> String {
    if written.is_empty() {
        return "No change: every summary is up to date\n".to_owned();
    }
    let mut text = String::new();
    for summary in written {
        let sources = output::count(summary.sources.len(), "file", "files");
        let kind = match summary.generator {
            SummaryGenerator::Model => "your text",
            SummaryGenerator::Extractive => "an extract",
        };
        let WrittenSummary { path, tokens_before, tokens_after, .. } = summary;
        let _ = writeln!(
            text,
            "summarized {sources} in {}: {kind}, {tokens_before} -> {tokens_after} tokens",
            one_line(path)
        );
    }
    text
}

/// The report of a collection.
pub(super) fn collected(report: &GcReport, is_preview: bool) -> String {
    let mut text = String::new();
    for action in &report.actions {
        let _ = write!(text, "{:<10} {}", action.action, one_line(&action.path));
        if let Some(summary) = &action.summary {
            let _ = write!(text, " -> {}", one_line(summary));
        }
        let _ = writeln!(text, " ({})", one_line(&action.reason));
    }
    for deferral in &report.deferred {
        let _ =
            writeln!(text, "{:<10} {}: {}", "kept", one_line(&deferral.path), kept_because(deferral.reason));
    }
    let (before, after) = (report.tokens_before, report.tokens_after);
    if report.actions.is_empty() {
        let _ = writeln!(text, "Nothing to collect: the set has {before} tokens");
        return text;
    }
    let files = output::count(report.files_affected, "file", "files");
    let did = if is_preview { "would leave" } else { "left" };
    let freed = report.tokens_freed;
    let _ = writeln!(text, "{files} {did} the set: {before} -> {after} tokens, {freed} freed");
    text
}

/// The reason codes of a report in words.
fn kept_because(code: &str) -> &str {
    match code {
        "protected" => "it is protected",
        "pinned" => "it is pinned; `lorelane unpin PATH` lets it go",
        "touched_recently" => "it was used in the last two turns",
        "pending_summary" => "it waits for a summary (`lorelane ws summarize`)",
        "no_postmortem" => "a failed attempt is archived with a postmortem (`ws advise --postmortem`)",
        "append_only" => "it is only appended to, so that it is neither moved nor replaced",
        "not_smaller" => "its summary would be as large as the file",
        "returned_recently" => "it came back in the last ten turns",
        "stands_in" => "it stands for a compressed file",
        other => other,
    }
}

pub(super) fn restored(restored: &RestoredFile) -> String {
    let path = one_line(&restored.path);
    let mut text = match restored.from_archive {
        true => format!("restored {path} from the archive; it is in the set again\n"),
        false => format!("{path} is in the set again\n"),
    };
    if let Some(place) = &restored.earlier_bytes {
        let _ = writeln!(
            text,
            "It changed since it was compressed; the bytes from then are in {}",
            one_line(place)
        );
    }
    text
}

/// What is in the context and what is not, for people: the context itself goes to stdout.
/// A large set leaves out thousands of files.
const LEFT_OUT_SHOWN: usize = 20;

pub(super) fn assembly(context: &AssembledContext) -> String {
    let assembly = &context.assembly;
    let files = output::count(assembly.included.len(), "file", "files");
    let mut text = format!("{files}, {} of {} tokens\n", assembly.tokens, context.budget.effective);
    for file in assembly.included.iter().filter(|file| file.is_truncated) {
        let _ = writeln!(text, "cut      {} ({} of {} tokens)", file.path, file.tokens, file.original_tokens);
    }
    for file in assembly.excluded.iter().take(LEFT_OUT_SHOWN) {
        let _ = writeln!(text, "left out {}: {}", one_line(&file.path), file.reason);
    }
    let more = assembly.excluded.len().saturating_sub(LEFT_OUT_SHOWN);
    if more > 0 {
        let _ = writeln!(text, "left out {more} more; `--json` lists all");
    }
    for path in &context.loaded_by_client {
        let _ = writeln!(text, "left out {}: the client loads it by itself", one_line(path));
    }
    for warning in &assembly.warnings {
        let _ = writeln!(text, "{}: {warning}", warning.code());
    }
    text
}

pub(super) fn log(events: &[SessionEvent], limit: usize) -> String {
    let mut text = String::new();
    for event in events.iter().rev().take(limit) {
        let why = cut(&one_line(event.kind.why()), 120);
        let why = if why.is_empty() { why } else { format!("  {why}") };
        let _ = writeln!(
            text,
            "{:<4} {}  turn {:<3} {}{why}",
            event.seq,
            event.at,
            event.turn,
            event.kind.title()
        );
    }
    text
}
