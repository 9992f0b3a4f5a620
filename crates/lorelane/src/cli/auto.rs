//! `auto`: Claude Code's own memory folder.

use super::shared_args::ChangeArgs;
use super::{CliResult, Exit, Session, output};
use crate::view::{AutoStatusView, TidyView, kilobytes};
use clap::Subcommand;
use lorelane_core::dialect::auto::{
    ENTRY_CHARS_MAX, IndexReport, LOADED_LINES_MAX, LOADED_UNITS_MAX, ReportedEntry,
};
use lorelane_core::text::{cut, one_line};
use lorelane_engine::workspace::{AutoMemory, IndexSize, TidyReport, open_for_auto};
use std::fmt::Write as _;
use std::path::Path;

/// The lines of a list that are printed; `--json` has all of them.
const LISTED_MAX: usize = 20;
/// The width of what is printed.
const WIDTH: usize = 80;

/// Show or tidy Claude Code's own memory folder
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  lorelane auto status")]
pub enum AutoCommand {
    /// Show what Claude Code loads of its MEMORY.md, and what it loses
    ///
    /// Claude Code loads the first 200 lines and 25,000 characters of MEMORY.md when a session starts. Also lists
    /// entries without a file, files without an entry, duplicates, entries that are too long, and lines that repeat
    /// CLAUDE.md or AGENTS.md. Changes nothing.
    #[command(after_help = "Example:\n  lorelane auto status --json")]
    Status,
    /// Move what does not fit in MEMORY.md to topic files
    ///
    /// Gets the index below 140 lines and 17,500 characters. What leaves it goes to topic files, one per section, each
    /// linked by one line. A MEMORY.md without entries becomes an index; the original is kept in archive/.
    #[command(after_help = "Example:\n  lorelane auto tidy --dry-run")]
    Tidy {
        #[command(flatten)]
        change: ChangeArgs,
    },
}

pub(super) fn run(session: &Session<'_>, command: &AutoCommand) -> CliResult {
    match command {
        AutoCommand::Status => status(session),
        AutoCommand::Tidy { change } => tidy(session, *change),
    }
}

fn status(session: &Session<'_>) -> CliResult {
    let mut workspace = open_for_auto(session.env, &session.env.cwd)?;
    output::not_read(&mut workspace)?;
    let mut auto = AutoMemory::of(&mut workspace)?;
    let report = auto.report()?;
    let (folder, is_loaded) = (auto.folder().to_owned(), auto.is_loaded());
    if session.json {
        output::document(&AutoStatusView::of(&folder, is_loaded, &report));
    } else {
        output::out(&text(&folder, is_loaded, &report));
    }
    Ok(Exit::Done)
}

fn text(folder: &Path, is_loaded: bool, report: &IndexReport) -> String {
    let loaded = &report.loaded;
    let mut text = format!("{}\n\n", folder.display());
    let size = IndexSize { lines: loaded.lines, units: loaded.units };
    let cut_off = loaded.cut_at.map(|line| format!(", cut off at line {line}")).unwrap_or_default();
    let _ = writeln!(text, "MEMORY.md  {}{cut_off}", size_text(size));
    let _ = writeln!(text, "limits     {LOADED_LINES_MAX} lines, {}", kilobytes(LOADED_UNITS_MAX));
    let at = if is_loaded { "loaded at every session start" } else { "not loaded: auto memory is off" };
    let _ = writeln!(text, "loaded     {:>6} tokens  {at}", report.loaded_tokens);
    let topics = output::count(report.topics, "topic file", "topic files");
    let _ = writeln!(text, "on demand  {:>6} tokens  {topics}", report.on_demand_tokens);
    let lost = output::count(report.lost.len(), "entry", "entries");
    let _ = writeln!(text, "lost       {:>6} tokens  {lost} after the cut", report.lost_tokens);
    section(&mut text, "Lost entries (Claude Code does not see them)", report.lost.iter().map(entry));
    section(&mut text, "Entries without a file", report.without_file.iter().map(entry));
    let files = report.without_entry.iter().map(|path| one_line(path.as_str()));
    section(&mut text, "Files without an entry", files);
    section(&mut text, "Entries for a file that has one already", report.duplicates.iter().map(entry));
    let long = format!("Entries over {ENTRY_CHARS_MAX} characters");
    section(&mut text, &long, report.too_long.iter().map(entry));
    let repeated =
        report.repeated.iter().map(|line| format!("{:>4}  {}: {}", line.line, line.file, line.text));
    section(&mut text, "Lines that repeat your instructions", repeated);
    let problems = report.problems.iter();
    let problems = problems.map(|problem| format!("{}: {}", one_line(problem.path.as_str()), problem.what));
    section(&mut text, "Problems in topic files", problems);
    if loaded.warning.is_some() {
        text.push_str("\n`lorelane auto tidy --dry-run` shows how to make it fit.\n");
    }
    text
}

fn entry(entry: &ReportedEntry) -> String {
    format!("{:>4}  {}  {}", entry.line, one_line(entry.path.as_str()), one_line(&entry.title))
}

/// A list under its title; nothing if it is empty.
fn section(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}: {}", lines.len());
    for line in lines.iter().take(LISTED_MAX) {
        let _ = writeln!(text, "  {}", cut(line, WIDTH - 2));
    }
    if lines.len() > LISTED_MAX {
        let _ = writeln!(text, "        … {} more", lines.len() - LISTED_MAX);
    }
}

fn tidy(session: &Session<'_>, change: ChangeArgs) -> CliResult {
    let mut workspace = open_for_auto(session.env, &session.env.cwd)?;
    let mut auto = AutoMemory::of(&mut workspace)?;
    let done = if change.dry_run { auto.preview_tidy()? } else { auto.tidy()? };
    if session.json {
        output::document(&TidyView::of(done.as_ref(), change.dry_run));
    } else {
        output::out(&done.map_or_else(
            || "No change: MEMORY.md is small enough\n".to_owned(),
            |done| tidy_text(&done, change.dry_run),
        ));
    }
    Ok(Exit::Done)
}

fn tidy_text(done: &TidyReport, dry_run: bool) -> String {
    let did = if dry_run { "Would shorten" } else { "Shortened" };
    let (before, after) = (size_text(done.before), size_text(done.after));
    let mut text = format!("{did} MEMORY.md from {before} to {after}\n");
    for path in &done.topics {
        let _ = writeln!(text, "  {}", one_line(path.as_str()));
    }
    if let Some(original) = &done.original {
        let kept = if dry_run { "The original would be kept" } else { "The original is kept" };
        let _ = writeln!(text, "{kept} in {original}");
    }
    text
}

fn size_text(size: IndexSize) -> String {
    format!("{}, {}", output::count(size.lines, "line", "lines"), kilobytes(size.units))
}
