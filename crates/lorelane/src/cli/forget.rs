//! `forget`: removes a memory everywhere, and lists each place and what git still has.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::ForgottenView;
use clap::Args;
use lorelane_core::memory::Address;
use lorelane_engine::git::{Commit, GitTraces};
use lorelane_engine::workspace::{EraseCheck, EraseResult, ForgetReport, RepositoryTraces};
use std::fmt::Write as _;
use std::path::Path;

/// Limit of commits in the text; `--json` has all of them.
const COMMITS_SHOWN: usize = 10;

/// Remove a memory permanently, also from the log and the index
///
/// Prints each place that was checked, and the commits in which git still has the memory; rewriting them is up to you.
/// It cannot be undone. It also works for a memory whose file no longer exists. Exit code 1: you did not confirm, or a
/// place could not be changed; the next change tries again.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane forget use-jwt-for-service-auth --because \"a customer asked\"")]
pub struct ForgetArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    /// Reason, for the log; it is not logged if it names the memory
    #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
    because: Option<String>,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &ForgetArgs) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.maintenance().find_forgettable(&args.address)?;
    let dry_run = args.change.dry_run;
    if !dry_run && !args.yes && !agreed(session, &address)? {
        output::err("Nothing was changed");
        return Ok(Exit::Nothing);
    }
    let report = match dry_run {
        true => workspace.maintenance().preview_forgetting(&address)?,
        false => workspace.maintenance().forget(&address, args.because.as_deref().unwrap_or_default())?,
    };
    output::notices(&report.notices);
    match session.json {
        true => output::document(&ForgottenView::of(&report, dry_run)),
        false => output::out(&text(&report, dry_run)),
    }
    warn(&report);
    let left = report.places.iter().any(|checked| matches!(checked.did, EraseResult::Stays(_)));
    Ok(if left { Exit::Nothing } else { Exit::Done })
}

fn agreed(session: &Session<'_>, address: &Address) -> Result<bool, CliError> {
    if !session.can_ask() {
        return Err(CliError::usage(
            format!("cannot forget {address}: {}", Session::needs_confirmation()),
            "nothing was changed; forgetting cannot be undone, `--dry-run` shows what would be removed",
        ));
    }
    Ok(output::ask(&format!("Forget {address}? This cannot be undone.")))
}

fn text(report: &ForgetReport, dry_run: bool) -> String {
    let address = &report.address;
    let mut text = match (dry_run, report.is_complete()) {
        (true, _) => format!("Would forget {address}\n"),
        (false, true) => format!("Forgot {address}\n"),
        (false, false) => format!("Removed {address}, but not everywhere\n"),
    };
    for EraseCheck { place, path, did } in &report.places {
        let did = match did {
            EraseResult::Removed(count) if dry_run => format!("{count} to remove"),
            EraseResult::Removed(count) => format!("removed {count}"),
            EraseResult::Nothing => "nothing found".to_owned(),
            EraseResult::Stays(_) => "cannot be changed".to_owned(),
        };
        let _ = writeln!(text, "  {place:<13} {did:<18} {}", path.display());
    }
    if report.git.is_empty() {
        let _ = writeln!(text, "  {:<13} no repository", "git");
    }
    for RepositoryTraces { repository, held } in &report.git {
        let (did, commits) = match held {
            Ok(held) if held.is_empty() => ("nothing found".to_owned(), String::new()),
            Ok(held) => (traces_text(held), commits(held)),
            Err(_) => ("could not be read".to_owned(), String::new()),
        };
        let _ = writeln!(text, "  {:<13} {did:<18} {}{commits}", "git", repository.display());
    }
    text
}

fn traces_text(held: &GitTraces) -> String {
    let mut text = match held.commits.len() {
        0 => "has it".to_owned(),
        1 => "has it in 1 commit".to_owned(),
        count => format!("has it in {count} commits"),
    };
    if held.staged {
        text.push_str(if held.commits.is_empty() { " in its index" } else { " and in its index" });
    }
    text
}

fn commits(held: &GitTraces) -> String {
    let mut text = String::new();
    for Commit { id, date } in held.commits.iter().take(COMMITS_SHOWN) {
        let _ = write!(text, "\n    {} {date}", id.get(..12).unwrap_or(id));
    }
    if held.commits.len() > COMMITS_SHOWN {
        let _ = write!(text, "\n    and {} more; `--json` lists all", held.commits.len() - COMMITS_SHOWN);
    }
    text
}

/// What the user still has to do.
fn warn(report: &ForgetReport) {
    for EraseCheck { place, did, .. } in &report.places {
        if let EraseResult::Stays(why) = did {
            output::err(&format!("warning: {place}: {why}\nhint: run it again; the next change also tries"));
        }
    }
    if !report.mentioned_by.is_empty() {
        let names: Vec<String> = report.mentioned_by.iter().map(ToString::to_string).collect();
        output::err(&format!(
            "warning: other memories mention it and were not changed: {}\nhint: change them with `lorelane edit`",
            names.join(", ")
        ));
    }
    for RepositoryTraces { repository, held } in &report.git {
        match held {
            Ok(held) if held.is_empty() => {}
            Ok(held) => output::err(&format!("warning: git still has it\n{}", hint(repository, held))),
            Err(why) => output::err(&format!("warning: cannot tell what git still has: {why}")),
        }
    }
}

fn hint(repository: &Path, held: &GitTraces) -> String {
    if held.commits.is_empty() {
        return "hint: `git rm --cached` removes it from git's index, `git gc --prune=now` its contents"
            .to_owned();
    }
    format!(
        "hint: rewrite the history of {} with `git filter-repo --invert-paths --path FILE` and of index.md with\n\
         `--replace-text`, drop stashes (`git stash list`), then `git reflog expire --expire=now --all` and\n\
         `git gc --prune=now`; remotes and clones have it until they are replaced",
        repository.display()
    )
}
