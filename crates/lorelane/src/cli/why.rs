//! `why`: shows why a memory was injected into a prompt, or was not.

use super::search::explained;
use super::{CliResult, Exit, Session, output};
use crate::view::{LastPromptView, WhyView};
use clap::Args;
use lorelane_core::audit::CheckedClaim;
use lorelane_core::ledger::{LedgerEvent, LedgerLine, ShownReason};
use lorelane_core::memory::Address;
use lorelane_core::recall::ScorePart;
use lorelane_core::text::one_line;
use lorelane_engine::workspace::{ReminderOutcome, WhyReport, Workspace};
use std::fmt::Write as _;

/// Show what was injected into prompts and tool calls, and why
///
/// `last`, or no argument, shows the last prompt, session start or tool call that got reminders: each injected memory with the parts of its score,
/// and each memory that was left out with the rule that dropped it. With an address, shows whether that memory was
/// injected, and why or why not. Exit code 1: it was not.
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
    let report = workspace.reminders().why(&address)?;
    if session.json {
        output::document(&WhyView::of(&address, &report));
    } else {
        output::out(&explanation(&address, &report));
    }
    Ok(if report.outcome == ReminderOutcome::Shown { Exit::Done } else { Exit::Nothing })
}

/// An address that was typed. The ledger may have one whose memory no longer exists.
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
    let is_shown = |line: &LedgerLine| line.event != LedgerEvent::Compaction;
    let line = workspace.files().ledger().lines().into_iter().find(is_shown);
    if session.json {
        output::document(&LastPromptView::of(line.as_ref()));
    } else {
        match &line {
            Some(line) => output::out(&whole(line)),
            None => {
                output::out("No prompt is logged for this project yet; `lorelane setup` connects an agent\n")
            }
        }
    }
    Ok(if line.is_some() { Exit::Done } else { Exit::Nothing })
}

fn whole(line: &LedgerLine) -> String {
    let mut text = event(line);
    if line.shown.is_empty() {
        text.push_str("Shown: nothing\n");
    } else {
        let _ = writeln!(text, "Shown ({}):", output::count(line.tokens, "token", "tokens"));
    }
    for shown in &line.shown {
        match &shown.reason {
            ShownReason::Asked { score, parts, relevance, .. } => {
                let _ = writeln!(text, "  {}\n{}", shown.address, reasons(relevance, *score, parts));
            }
            ShownReason::Standing { because } => {
                let _ = writeln!(text, "  {} ({because})", shown.address);
            }
            ShownReason::Named { names } => {
                let _ = writeln!(text, "  {} (it names {})", shown.address, one_line(names));
            }
        }
    }
    if !line.left_out.is_empty() {
        text.push_str("Left out:\n");
    }
    for left in &line.left_out {
        let percent =
            left.relevance.split_once(':').map_or(String::new(), |(percent, _)| format!(" ({percent})"));
        let _ = writeln!(text, "  {}{percent}: {}", left.address, left.rule.says());
    }
    text
}

/// The estimate with its reasons; for the scoring of the `claude-memory` scripts, the parts of the score.
fn reasons(relevance: &str, score: i32, parts: &[ScorePart]) -> String {
    if relevance.is_empty() {
        format!("    {score} = {}", explained(parts))
    } else {
        format!("    relevance {}", one_line(relevance))
    }
}

fn event(line: &LedgerLine) -> String {
    let mut text = format!("{} {}, {}, session {}\n", line.at, line.client, line.event.name(), line.session);
    if !line.query.is_empty() {
        let kind = if line.event == LedgerEvent::Tool { "Tool" } else { "Prompt" };
        let _ = writeln!(text, "{kind}: {}", one_line(&line.query));
    }
    text
}

/// What the memory names that is gone, with the evidence.
fn broken(report: &WhyReport) -> String {
    let line = |claim: &CheckedClaim| {
        format!("Broken: {} `{}`: {}\n", claim.kind, one_line(&claim.text), one_line(&claim.evidence.why))
    };
    report.broken.iter().map(line).collect()
}

fn explanation(address: &Address, report: &WhyReport) -> String {
    let mut text = match report.outcome {
        ReminderOutcome::Shown => format!("{address} was shown\n"),
        ReminderOutcome::Dropped(rule) => format!("{address} was not shown: {}\n", rule.says()),
        ReminderOutcome::WouldShow => {
            format!("{address} was not shown: it or the settings changed since then; it would be shown now\n")
        }
    };
    let by = report.superseded_by.as_ref();
    let successor = by.map_or_else(String::new, |by| format!("Superseded by {by}\n"));
    let Some(line) = &report.line else {
        text.push_str(&successor);
        text.push_str(&broken(report));
        text.push_str("No prompt is logged for this project yet\n");
        return text;
    };
    for shown in line.shown.iter().filter(|shown| shown.address == *address) {
        let _ = match &shown.reason {
            ShownReason::Asked { score, parts, relevance, .. } => {
                writeln!(text, "{}", reasons(relevance, *score, parts))
            }
            ShownReason::Standing { because } => writeln!(text, "{because}"),
            ShownReason::Named { names } => writeln!(text, "it names {}", one_line(names)),
        };
    }
    // Memories left out at a session start have no score.
    let scored = line.left_out.iter().filter(|left| left.address == *address && !left.parts.is_empty());
    for left in scored {
        let _ = writeln!(text, "{}", reasons(&left.relevance, left.score, &left.parts));
    }
    if let Some(hit) = &report.hit {
        let relevance = hit.relevance.as_ref().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "{}", reasons(&relevance, hit.score, &hit.explain));
    }
    text.push_str(&event(line));
    text.push_str(&successor);
    text.push_str(&broken(report));
    if let Some(rule) = report.since {
        let _ = writeln!(text, "It would not be shown now: {}", rule.says());
    }
    text
}
