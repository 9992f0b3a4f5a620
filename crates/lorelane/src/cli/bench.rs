//! `bench`: measures how well recall finds this project's memories.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::{BenchView, miss_text};
use clap::Args;
use lorelane_core::bench::{BenchQuestion, BenchReport, Measure, Measures};
use lorelane_core::memory::Address;
use lorelane_core::text::{cut, one_line};
use lorelane_engine::workspace::BenchOutcome;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Limit of failed questions in the text.
const WORST: usize = 5;
const QUERY_MAX: usize = 80;

/// Measure how well search and reminders find this project's memories
///
/// Runs your expectations (`.lorelane/expectations.jsonl` and --expect files) and questions generated from the memories,
/// some of which no memory answers. The results are stored and compared with the last good run. A line of such a file is
/// {"query": "…", "must": ["decision/use-jwt"], "must_not": [], "within": 5}. Exit code 1: recall got worse, or an
/// expectation is not met.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane bench\n  lorelane bench --expect team.jsonl --dry-run")]
pub struct BenchArgs {
    /// Also read expectations from this file; can be repeated
    #[arg(long, value_name = "FILE")]
    expect: Vec<PathBuf>,
    /// Accept lower results: later runs are compared with this one
    #[arg(long)]
    accept: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &BenchArgs) -> CliResult {
    let mut workspace = session.open()?;
    let given: Vec<PathBuf> = args.expect.iter().map(|path| session.env.cwd.join(path)).collect();
    let mut benched = workspace.maintenance().bench(&given)?;
    if benched.report.is_empty() {
        return Err(CliError::usage(
            "cannot measure recall: no memory has enough text for a question, and there are no expectations",
            "save some memories, or write expectations to .lorelane/expectations.jsonl",
        ));
    }
    if args.accept {
        benched.report.accept();
    }
    if !args.change.dry_run {
        workspace.maintenance().keep_bench(&benched.report.kept)?;
    }
    if session.json {
        output::document(&BenchView::of(&benched, !args.change.dry_run));
    } else {
        output::out(&shown(&benched, args));
    }
    Ok(if benched.report.is_fine() { Exit::Done } else { Exit::Nothing })
}

fn shown(benched: &BenchOutcome, args: &BenchArgs) -> String {
    let BenchOutcome { report, memories, median, .. } = benched;
    let Measures { answerable, unanswerable, .. } = report.measures;
    let mut text = format!(
        "memories      {memories}\n\
         questions     {answerable}, and {unanswerable} that no memory answers\n\
         expectations  {}\n\
         search        {:.1} ms\n\n",
        report.tried.len(),
        median.as_secs_f64() * 1000.0,
    );
    text.push_str(&table(report));
    for tried in report.tried.iter().filter(|tried| !tried.misses.is_empty()) {
        let _ = writeln!(text, "\nunmet  {}", quoted(&tried.expectation.query));
        for miss in &tried.misses {
            let _ = writeln!(text, "       {}", miss_text(report, tried, miss));
        }
        let _ = writeln!(text, "       top results: {}", listed(&tried.came));
    }
    let worst = report.worst();
    for asked in worst.iter().take(WORST) {
        let _ = writeln!(text, "\nwrong  {}\n       {}", quoted(&asked.question.text), went_wrong(asked));
    }
    if worst.len() > WORST {
        let _ = writeln!(text, "\n{} more failed; `--json` lists them", worst.len() - WORST);
    }
    let _ = writeln!(text, "\n{}", verdict(report, args));
    text
}

/// The measures of all questions, and of those that the baseline also has: then and now.
fn table(report: &BenchReport) -> String {
    let mut text = String::new();
    let heading = if report.compared.is_some() { "     baseline  the same now" } else { "" };
    let _ = writeln!(text, "             all{heading}");
    for measure in Measure::ALL {
        let _ = write!(text, "{:<10}{}", measure.name(), points(&report.measures, measure));
        if let Some((_, before, now)) = &report.compared {
            let _ = write!(text, "       {}        {}", points(before, measure), points(now, measure));
        }
        let fell = report.falls.iter().any(|fall| fall.measure == measure);
        text.push_str(if fell { "  fell\n" } else { "\n" });
    }
    text
}

fn points(measures: &Measures, measure: Measure) -> String {
    measures.value(measure).map_or_else(|| "     -".to_owned(), |share| format!("{:>6.1}", share * 100.0))
}

fn went_wrong(asked: &BenchQuestion) -> String {
    let came = listed(&asked.came);
    match (&asked.question.wanted, asked.place) {
        (Some(wanted), Some(place)) => format!("{wanted} ranked #{place}; top results: {came}"),
        (Some(wanted), None) => format!("{wanted} was not found; top results: {came}"),
        (None, _) => format!("no memory answers this; top results: {came}"),
    }
}

fn verdict(report: &BenchReport, args: &BenchArgs) -> String {
    let kept = if args.change.dry_run { " (dry run: not stored)" } else { "" };
    let unmet = report.tried.iter().filter(|tried| !tried.misses.is_empty()).count();
    let mut wrong: Vec<String> = Vec::new();
    if unmet > 0 {
        wrong.push(format!(
            "Not met: {unmet} of {}",
            output::count(report.tried.len(), "expectation", "expectations")
        ));
    }
    if !report.falls.is_empty() && !args.accept {
        let names: Vec<&str> = report.falls.iter().map(|fall| fall.measure.name()).collect();
        wrong.push(format!("{} fell; `--accept` makes this run the baseline", names.join(", ")));
    }
    match (wrong.is_empty(), report.compared.is_some()) {
        (false, _) => format!("{}{kept}", wrong.join("; ")),
        (true, _) if args.accept => format!("Accepted: later runs are compared with this one{kept}"),
        (true, true) => format!("No worse than the baseline{kept}"),
        (true, false) => format!("First run: later runs are compared with it{kept}"),
    }
}

fn quoted(query: &str) -> String {
    format!("\"{}\"", cut(&one_line(query), QUERY_MAX))
}

fn listed(came: &[Address]) -> String {
    let came: Vec<String> = came.iter().map(ToString::to_string).collect();
    if came.is_empty() { "nothing".to_owned() } else { came.join(", ") }
}
