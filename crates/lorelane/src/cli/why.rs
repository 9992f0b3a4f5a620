//! Why an agent saw a memory, or did not.

use super::search::explained;
use super::{CliResult, Exit, Session, output};
use crate::view::{LastPromptView, WhyView};
use clap::Args;
use lorelane_core::ledger::{LedgerLine, ShownReason};
use lorelane_core::memory::Address;
use lorelane_core::text::one_line;
use lorelane_engine::workspace::{ReminderOutcome, WhyReport, Workspace};
use std::fmt::Write as _;

/// Show what was put into prompts, and why
///
/// `last`, or nothing, shows the last prompt or session start that was answered: what was shown with the parts of
/// each score, and what was left out with the rule that dropped it. An address shows what became of that
/// memory. Exit code 1 says that it was not shown.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane why\n  lorelane why use-jwt-for-service-auth")]
pub struct WhyArgs {
    /// `last`, an address such as decision/use-jwt, or a unique name
    #[arg(default_value = "last", value_name = "last|ADDRESS")]
    what: String,
}

pub(super) fn run(session: &Session<'_>, args: &WhyArgs) -> CliResult {
    let mut workspace = session.open()?;
    if args.what == "last" {
        return last(session, &workspace);
    }
    let address = named(&mut workspace, &args.what)?;
    let account = workspace.reminders().why(&address)?;
    if session.json {
        output::document(&WhyView::of(&address, &account));
    } else {
        output::out(&told(&address, &account));
    }
    Ok(if account.outcome == ReminderOutcome::Shown { Exit::Done } else { Exit::Nothing })
}

/// The ledger may know a memory that is gone.
fn named(workspace: &mut Workspace, typed: &str) -> Result<Address, super::CliError> {
    match workspace.find(typed) {
        Ok(address) => Ok(address),
        Err(failure) => {
            let address = Address::parse(typed);
            let known = |address: &Address| {
                workspace.files().ledger().lines().iter().any(|line| line.mentions(address))
            };
            address.filter(known).ok_or_else(|| failure.into())
        }
    }
}

fn last(session: &Session<'_>, workspace: &Workspace) -> CliResult {
    let line = workspace.files().ledger().lines().into_iter().next();
    if session.json {
        output::document(&LastPromptView::of(line.as_ref()));
    } else {
        match &line {
            Some(line) => output::out(&whole(line)),
            None => output::out(
                "No prompt was answered in this project yet; `lorelane setup` connects an agent.\n",
            ),
        }
    }
    Ok(if line.is_some() { Exit::Done } else { Exit::Nothing })
}

fn whole(line: &LedgerLine) -> String {
    let mut text = asked(line);
    if line.shown.is_empty() {
        text.push_str("shown: nothing\n");
    } else {
        let _ = writeln!(text, "shown ({} tokens):", line.tokens);
    }
    for shown in &line.shown {
        match &shown.reason {
            ShownReason::Asked { score, parts, .. } => {
                let _ = writeln!(text, "{score:>5}  {}\n       = {}", shown.address, explained(parts));
            }
            ShownReason::Standing { because } => {
                let _ = writeln!(text, "       {} ({because})", shown.address);
            }
        }
    }
    if !line.left_out.is_empty() {
        text.push_str("left out:\n");
    }
    for left in &line.left_out {
        let _ = writeln!(text, "{:>5}  {}: {}", left.score, left.address, left.rule.says());
    }
    text
}

fn asked(line: &LedgerLine) -> String {
    let mut text = format!("{} {}, {}, session {}\n", line.at, line.client, line.event.name(), line.session);
    if !line.query.is_empty() {
        let _ = writeln!(text, "prompt: {}", one_line(&line.query));
    }
    text
}

fn told(address: &Address, account: &WhyReport) -> String {
    let mut text = match account.outcome {
        ReminderOutcome::Shown => format!("{address} was shown\n"),
        ReminderOutcome::Dropped(rule) => format!("{address} was not shown: {}\n", rule.says()),
        ReminderOutcome::WouldShow => {
            format!("{address} was not shown: it or the settings changed since; now it would be\n")
        }
    };
    let Some(line) = &account.line else {
        text.push_str("No prompt was answered in this project yet.\n");
        return text;
    };
    for shown in line.shown.iter().filter(|shown| shown.address == *address) {
        let _ = match &shown.reason {
            ShownReason::Asked { score, parts, .. } => writeln!(text, "{score} = {}", explained(parts)),
            ShownReason::Standing { because } => writeln!(text, "{because}"),
        };
    }
    // A session's start has no scores.
    let scored = line.left_out.iter().filter(|left| left.address == *address && !left.parts.is_empty());
    for left in scored {
        let _ = writeln!(text, "{} = {}", left.score, explained(&left.parts));
    }
    if let Some(hit) = &account.hit {
        let _ = writeln!(text, "{} = {}", hit.score, explained(&hit.explain));
    }
    text.push_str(&asked(line));
    if let Some(rule) = account.since {
        let _ = writeln!(text, "now it would not be: {}", rule.says());
    }
    text
}
