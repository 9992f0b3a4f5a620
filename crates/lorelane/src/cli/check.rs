//! `check`: finds what a change breaks in memories.

use super::{CliError, CliResult, Exit, Session, output};
use crate::view::CheckView;
use clap::Args;
use lorelane_core::settle::Verdict;
use lorelane_core::text::one_line;
use lorelane_engine::git::DiffBase;
use lorelane_engine::workspace::{BrokenMention, CheckReport, CheckScope};
use std::fmt::Write as _;

const NO_COMMIT: &str = "there is no commit to compare with";

/// Find memories that a change makes wrong
///
/// Looks only at memories that mention what the change removes or renames. Exit code 1: a memory broke. A path that git
/// found elsewhere is named, and breaks nothing.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane check --since main")]
pub struct CheckArgs {
    /// Check what is staged for the next commit
    #[arg(long, conflicts_with_all = ["since", "changed"])]
    staged: bool,
    /// Check the commits since this one
    #[arg(long, value_name = "REV", conflicts_with = "changed")]
    since: Option<String>,
    /// Check the worktree against the last commit; the default
    #[arg(long)]
    changed: bool,
    /// Check AGENTS.md, CLAUDE.md and GEMINI.md too
    #[arg(long)]
    instructions: bool,
}

pub(super) fn run(session: &Session<'_>, args: &CheckArgs) -> CliResult {
    let against = match (&args.since, args.staged) {
        (Some(revision), _) => DiffBase::Commit(revision.clone()),
        (None, true) => DiffBase::Staged,
        (None, false) => DiffBase::WorkTree,
    };
    let mut workspace = session.open()?;
    let scope = CheckScope { against, instructions: args.instructions };
    let report = match (workspace.maintenance().check(scope)?, &args.since) {
        (Some(report), _) => report,
        (None, Some(revision)) => {
            let what = format!("cannot compare with '{revision}': git does not know this commit");
            return Err(CliError::usage(what, "pass a commit, a branch or a tag"));
        }
        (None, None) => CheckReport::unchecked(NO_COMMIT.to_owned()),
    };
    if session.json {
        output::document(&CheckView::of(&report));
    } else {
        output::out(&text(&report, args.since.is_some()));
    }
    Ok(match &report.unchecked {
        // Before the first commit nothing can break; a git that does not answer must not look like success.
        Some(why) if why != NO_COMMIT => Exit::Failed,
        _ if report.broken.iter().any(|one| !is_move(one)) => Exit::Nothing,
        _ => Exit::Done,
    })
}

/// Whether git knows the new place: `audit --fix` can write it, though only once it is committed.
fn is_move(broken: &BrokenMention) -> bool {
    matches!(broken.claim.verdict, Verdict::Moved(_)) && !broken.claim.evidence.by_name
}

fn text(report: &CheckReport, is_committed: bool) -> String {
    let files = output::count(report.touched, "file", "files");
    if let Some(why) = &report.unchecked {
        return format!("Not checked: {}\n", one_line(why));
    }
    if report.broken.is_empty() {
        return format!("No memory breaks ({files} changed)\n");
    }
    let mut text = String::new();
    for broken in &report.broken {
        let claim = &broken.claim;
        let line = claim.lines.first().map_or(String::new(), |line| format!(":{line}"));
        let name = broken.address.as_ref().map_or_else(|| broken.path.clone(), ToString::to_string);
        let (named, why) = (one_line(&claim.text), one_line(&claim.evidence.why));
        let _ = writeln!(text, "{name}: {} `{named}`: {why} ({}{line})", claim.kind, broken.path);
        let _ = writeln!(text, "  fix: {}", fix(broken, is_committed));
    }
    let moves = report.broken.iter().filter(|one| is_move(one)).count();
    let counts = [
        (report.broken.len() - moves, "claim breaks", "claims break"),
        (moves, "claim moves", "claims move"),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, one, many)| output::count(count, one, many)).collect();
    let _ = writeln!(text, "{} in {files} changed", counts.join(", "));
    text
}

/// The command that fixes a broken memory.
fn fix(broken: &BrokenMention, is_committed: bool) -> String {
    match (&broken.address, is_move(broken)) {
        (None, _) => format!("edit {}", broken.path),
        (Some(_), true) if is_committed => "lorelane audit --fix".to_owned(),
        (Some(_), true) => "lorelane audit --fix, after the commit".to_owned(),
        (Some(address), false) => format!("lorelane edit {address}, or lorelane retire {address}"),
    }
}
