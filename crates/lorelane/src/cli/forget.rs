//! Forgetting, and the account of it: every place with what was done there, and what git still holds.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::ForgottenView;
use clap::Args;
use lorelane_core::memory::Address;
use lorelane_engine::git::{Commit, GitTraces};
use lorelane_engine::workspace::{EraseCheck, EraseResult, ForgetReport, RepositoryTraces};
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;

/// The others are counted; `--json` has them all.
const COMMITS_SHOWN: usize = 10;

/// Remove a memory for good, from log, index and every other file
///
/// Shows each place that was checked, and the commits in which git still holds it: those are yours to rewrite.
/// Cannot be undone. It also works for a memory whose file is gone already. Exit code 1 says that a place could
/// not be changed; the next change tries again.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane forget use-jwt-for-service-auth --because \"a customer asked\"")]
pub struct ForgetArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    /// Why, for the log; left out there if it names the memory
    #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
    because: Option<String>,
    /// Forget without asking; needed where nobody can be asked
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
        output::err("nothing was forgotten");
        return Ok(Exit::Nothing);
    }
    let told = match dry_run {
        true => workspace.maintenance().preview_forgetting(&address)?,
        false => workspace.maintenance().forget(&address, args.because.as_deref().unwrap_or_default())?,
    };
    output::notices(&told.notices);
    match session.json {
        true => output::document(&ForgottenView::of(&told, dry_run)),
        false => output::out(&text(&told, dry_run)),
    }
    warn(&told);
    let left = told.places.iter().any(|checked| matches!(checked.did, EraseResult::Stays(_)));
    Ok(if left { Exit::Nothing } else { Exit::Done })
}

fn agreed(session: &Session<'_>, address: &Address) -> Result<bool, CliError> {
    if session.json || !std::io::stdin().is_terminal() {
        return Err(CliError::usage(
            format!("cannot forget {address}: nobody can be asked, and it cannot be undone"),
            "nothing was changed; `--yes` forgets it, `--dry-run` shows what would go",
        ));
    }
    Ok(output::ask(&format!("forget {address} for good? This cannot be undone.")))
}

fn text(told: &ForgetReport, dry_run: bool) -> String {
    let address = &told.address;
    let mut text = match (dry_run, told.is_complete()) {
        (true, _) => format!("would forget {address}\n"),
        (false, true) => format!("forgot {address}\n"),
        (false, false) => format!("removed {address}, but it is not gone everywhere\n"),
    };
    for EraseCheck { place, path, did } in &told.places {
        let did = match did {
            EraseResult::Removed(count) if dry_run => format!("{count} to remove"),
            EraseResult::Removed(count) => format!("removed {count}"),
            EraseResult::Nothing => "nothing found".to_owned(),
            EraseResult::Stays(_) => "cannot be changed".to_owned(),
        };
        let _ = writeln!(text, "  {place:<13} {did:<18} {}", path.display());
    }
    if told.git.is_empty() {
        let _ = writeln!(text, "  {:<13} no repository", "git");
    }
    for RepositoryTraces { repository, held } in &told.git {
        let (did, commits) = match held {
            Ok(held) if held.is_empty() => ("nothing found".to_owned(), String::new()),
            Ok(held) => (holding(held), commits(held)),
            Err(_) => ("could not be asked".to_owned(), String::new()),
        };
        let _ = writeln!(text, "  {:<13} {did:<18} {}{commits}", "git", repository.display());
    }
    text
}

fn holding(held: &GitTraces) -> String {
    let mut text = match held.commits.len() {
        0 => "holds it".to_owned(),
        1 => "holds it in 1 commit".to_owned(),
        count => format!("holds it in {count} commits"),
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
        let _ = write!(text, "\n    and {} more: `--json` has them all", held.commits.len() - COMMITS_SHOWN);
    }
    text
}

/// What is left to do for the person who wants it gone.
fn warn(told: &ForgetReport) {
    for EraseCheck { place, did, .. } in &told.places {
        if let EraseResult::Stays(why) = did {
            output::err(&format!("warning: {place}: {why}\nhint: run it again; the next change tries too"));
        }
    }
    if !told.mentioned_by.is_empty() {
        let names: Vec<String> = told.mentioned_by.iter().map(ToString::to_string).collect();
        output::err(&format!(
            "warning: other memories name or repeat it, and stay as they are: {}\nhint: `lorelane edit` changes them",
            names.join(", ")
        ));
    }
    for RepositoryTraces { repository, held } in &told.git {
        match held {
            Ok(held) if held.is_empty() => {}
            Ok(held) => output::err(&format!(
                "warning: git still holds it: it is not forgotten\n{}",
                hint(repository, held)
            )),
            Err(why) => output::err(&format!("warning: git could not be asked what it still holds: {why}")),
        }
    }
}

fn hint(repository: &Path, held: &GitTraces) -> String {
    if held.commits.is_empty() {
        return "hint: `git rm --cached` takes it out of git's index, `git gc --prune=now` its bytes"
            .to_owned();
    }
    format!(
        "hint: rewrite the history of {} with `git filter-repo --invert-paths --path FILE` and of the listing with\n\
         `--replace-text`, drop stashes (`git stash list`), then `git reflog expire --expire=now --all` and\n\
         `git gc --prune=now`; remotes and clones hold it too until they are replaced",
        repository.display()
    )
}
