//! Keeping a store in order.

use super::args::{AddressArgs, ChangeArgs, Doctor, Gc, LogArgs, Reindex, Reject, StepArgs};
use super::everyday::finish;
use super::{CliError, CliResult, Exit, Session, agents, output, trust};
use crate::view::{
    DiagnosisView, LogCheckView, LogView, NextUndoView, NoGarbageView, ReindexPlanView, ReindexView,
    StatusView, health,
};
use lorelane_core::change::{self, Plan};
use lorelane_core::lifecycle::{LifecycleVerb, Status};
use lorelane_core::mark::MarkKind;
use lorelane_core::memory::{Category, MemoryKind};
use lorelane_core::text::{cut, one_line};
use lorelane_engine::backend::{ChangeState as Settled, LogFault};
use lorelane_engine::index::Rebuild;
use lorelane_engine::workspace::{Diagnosis, Failure, Finding, LaneLogEntry, Sync, Workspace};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::IsTerminal;

pub(super) fn pin(session: &Session<'_>, args: &AddressArgs) -> CliResult {
    mark(session, args, MarkKind::Pin)
}

pub(super) fn unpin(session: &Session<'_>, args: &AddressArgs) -> CliResult {
    mark(session, args, MarkKind::Unpin)
}

fn mark(session: &Session<'_>, args: &AddressArgs, kind: MarkKind) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    let because = format!("{} {address}", kind.name());
    let plan = Plan { changes: vec![change::Change::Mark { address, kind }], because };
    finish(session, &mut workspace, &plan, args.change)
}

pub(super) fn retire(session: &Session<'_>, args: &StepArgs) -> CliResult {
    step(session, &args.address, LifecycleVerb::Retire, &args.reason, args.change)
}

pub(super) fn archive(session: &Session<'_>, args: &StepArgs) -> CliResult {
    step(session, &args.address, LifecycleVerb::Archive, &args.reason, args.change)
}

pub(super) fn restore(session: &Session<'_>, args: &AddressArgs) -> CliResult {
    step(session, &args.address, LifecycleVerb::Restore { from: None }, "", args.change)
}

pub(super) fn reject(session: &Session<'_>, args: &Reject) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    if args.because.trim().is_empty() {
        return Err(CliError::usage(
            format!("cannot reject {address} without a reason"),
            "say why with --because \"…\"",
        ));
    }
    let receipt = match args.change.dry_run {
        true => {
            let plan = workspace.changes().rejection(&address, &args.because)?;
            workspace.preview(&plan)?
        }
        false => workspace.changes().reject(&address, &args.because)?,
    };
    output::receipt(&receipt, session.json, args.change.dry_run);
    Ok(Exit::Done)
}

fn step(
    session: &Session<'_>,
    typed: &str,
    verb: LifecycleVerb,
    reason: &str,
    change: ChangeArgs,
) -> CliResult {
    let mut workspace = session.open()?;
    let address = match verb {
        LifecycleVerb::Restore { .. } => workspace.changes().find_to_restore(typed)?,
        _ => workspace.find(typed)?,
    };
    let mut because = format!("{} {address}", verb.name());
    if !reason.trim().is_empty() {
        let _ = write!(because, ": {}", cut(&one_line(reason), 200));
    }
    let plan = Plan {
        changes: vec![change::Change::Transition { address, verb, reason: reason.to_owned() }],
        because,
    };
    finish(session, &mut workspace, &plan, change)
}

pub(super) fn log(session: &Session<'_>, args: &LogArgs) -> CliResult {
    let mut workspace = session.open()?;
    if args.verify {
        let faults = workspace.changes().verify_logs();
        if session.json {
            output::document(&LogCheckView::of(&faults));
        } else if faults.is_empty() {
            let (_, count) = workspace.changes().recent(0)?;
            output::out(&format!("the log holds: {count} changes, chained and complete\n"));
        } else {
            output::out(&faults.iter().map(|fault| format!("{fault}\n")).collect::<String>());
            let hints: BTreeSet<_> = faults.iter().map(LogFault::hint).collect();
            hints.iter().for_each(|hint| output::err(&format!("hint: {hint}")));
        }
        return Ok(if faults.is_empty() { Exit::Done } else { Exit::Nothing });
    }
    let (logged, total) = workspace.changes().recent(args.limit)?;
    if session.json {
        output::document(&LogView::of(&logged, total));
    } else {
        let mut text = String::new();
        for LaneLogEntry { entry, .. } in &logged {
            let state = match (entry.undone, entry.outcome) {
                (true, _) => " (undone)",
                (_, Settled::Void) => " (taken back)",
                (_, Settled::Open) => " (open)",
                _ => "",
            };
            let mut because = entry.because.as_deref().unwrap_or("(purged)").to_owned();
            if let Some(undid) = &entry.undid {
                let _ = write!(because, " ({undid})");
            }
            let _ = writeln!(text, "{:<4} {}  {}{state}", entry.number, entry.at, one_line(&because));
        }
        output::out(&text);
    }
    Ok(if total == 0 { Exit::Nothing } else { Exit::Done })
}

pub(super) fn undo(session: &Session<'_>, change: ChangeArgs) -> CliResult {
    let mut workspace = session.open()?;
    if change.dry_run {
        let (next, notices) = workspace.changes().next_undo()?;
        output::notices(&notices);
        if session.json {
            output::document(&NextUndoView::of(&next));
        } else {
            let because = next.entry.because.as_deref().unwrap_or("(purged)");
            output::out(&format!("would undo {}: {}\n", next.entry.number, one_line(because)));
        }
        return Ok(Exit::Done);
    }
    let next = workspace.changes().next_undo().ok();
    let receipt = workspace.changes().undo()?;
    output::receipt(&receipt, session.json, false);
    // Marks have no outcome of their own.
    let because = next.and_then(|(next, _)| next.entry.because).filter(|_| receipt.outcomes.is_empty());
    if let Some(because) = because.filter(|_| !session.json) {
        output::out(&format!("undone: {}\n", one_line(&because)));
    }
    Ok(Exit::Done)
}

pub(super) fn status(session: &Session<'_>) -> CliResult {
    let mut workspace = session.open()?;
    let seen = workspace.maintenance().overview()?;
    let count =
        |category, status| seen.counts.get(&(MemoryKind::Record(category), status)).copied().unwrap_or(0);
    let notes = Status::ALL.map(|status| seen.count(status, |kind| kind.note_type().is_some()));
    let policy = workspace.policy();
    let mut attention: Vec<String> = policy.problems.iter().map(ToString::to_string).collect();
    attention.extend(policy.held_back.iter().map(|held| format!("held back until `lorelane trust`: {held}")));
    if workspace.files().left_behind() > 0 {
        attention.push("memory_root hides memories of the usual folder: run `lorelane doctor`".to_owned());
    }
    match seen.listing {
        Sync::InSync { .. } | Sync::Foreign => {}
        Sync::Missing => attention.push("index.md is missing: run `lorelane reindex`".to_owned()),
        Sync::Differs => attention.push("index.md differs from the files: run `lorelane reindex`".to_owned()),
    }
    if seen.unreadable > 0 {
        attention.push(format!("{} file(s) cannot be read: run `lorelane doctor`", seen.unreadable));
    }
    if !seen.heavily_revised.is_empty() {
        attention.push(format!("{} heavily updated memories: worth a review", seen.heavily_revised.len()));
    }
    if session.json {
        output::document(&StatusView::of(&seen, &attention, &workspace));
        return Ok(Exit::Done);
    }
    let mut text =
        format!("{}\n\n                  active  retired  archived\n", workspace.project().display());
    for category in Category::ALL {
        let [active, retired, archived] = Status::ALL.map(|status| count(category, status));
        let off = if workspace.policy().enabled(category) { "" } else { "  (disabled)" };
        let _ = writeln!(text, "{:<16}{active:>8}{retired:>9}{archived:>10}{off}", category.name());
    }
    if notes != [0; 3] {
        let [active, retired, archived] = notes;
        let _ = writeln!(text, "{:<16}{active:>8}{retired:>9}{archived:>10}", "notes");
    }
    let [active, retired, archived] = Status::ALL.map(|status| seen.count(status, |_| true));
    let _ = writeln!(text, "{:<16}{active:>8}{retired:>9}{archived:>10}", "all");
    let _ = writeln!(text, "\npinned   {}", seen.pinned);
    let listing = match seen.listing {
        Sync::InSync { entries: 1 } => "in sync (1 entry)".to_owned(),
        Sync::InSync { entries } => format!("in sync ({entries} entries)"),
        Sync::Missing => "missing".to_owned(),
        Sync::Differs => "differs from the files".to_owned(),
        Sync::Foreign => "none: index.md is another file".to_owned(),
    };
    let _ = writeln!(text, "listing  {listing}");
    for entry in seen.heavily_revised.iter().take(5) {
        let _ = writeln!(text, "updated  {} ({} times)", entry.address, entry.revised);
    }
    for (entry, days) in seen.recently_retired.iter().take(5) {
        let _ = writeln!(text, "retired  {} ({days} day(s) ago)", entry.address);
    }
    if !policy.trusted.is_empty() {
        let _ = writeln!(text, "trusted  {}", trust::keys(&policy.trusted));
    }
    let _ = writeln!(text, "health   {}", health(attention.is_empty()));
    for line in &attention {
        let _ = writeln!(text, "         - {line}");
    }
    text.push_str("\nwrites only in\n");
    for (path, what) in &workspace.files().declared_folders() {
        let _ = writeln!(text, "  {}  ({what})", path.display());
    }
    output::out(&text);
    Ok(Exit::Done)
}

pub(super) fn doctor(session: &Session<'_>, args: &Doctor) -> CliResult {
    if args.latency {
        return agents::latency(session);
    }
    let diagnosis = if args.index {
        Diagnosis { findings: session.open()?.maintenance().diagnose_index()?, notes: Vec::new() }
    } else {
        let mut diagnosis = match Workspace::open(session.env, &session.env.cwd) {
            Ok(mut workspace) => workspace.maintenance().diagnose(args.secrets)?,
            // Agents are set up for a machine, and can be wrong anywhere.
            Err(none @ Failure::NoStore { .. }) => {
                let (what, hint) = (none.to_string(), none.hint().into_owned());
                let finding = Finding { check: "store", what, hint };
                Diagnosis { findings: vec![finding], notes: Vec::new() }
            }
            Err(failure) => return Err(failure.into()),
        };
        diagnosis.findings.extend(agents::findings(session));
        diagnosis
    };
    let Diagnosis { findings, notes } = &diagnosis;
    if !session.json {
        notes.iter().for_each(|note| output::err(&format!("note: {note}")));
    }
    if session.json {
        output::document(&DiagnosisView::of(&diagnosis));
    } else if findings.is_empty() {
        output::out("everything is as it should be\n");
    } else {
        let mut text = String::new();
        for finding in findings {
            let _ =
                writeln!(text, "{}: {}\n  hint: {}", finding.check, one_line(&finding.what), finding.hint);
        }
        output::out(&text);
    }
    Ok(if findings.is_empty() { Exit::Done } else { Exit::Nothing })
}

pub(super) fn reindex(session: &Session<'_>, args: &Reindex) -> CliResult {
    let mut workspace = session.open()?;
    if args.change.dry_run {
        let differs = matches!(workspace.maintenance().overview()?.listing, Sync::Missing | Sync::Differs);
        let listing = if differs { "would change" } else { "would stay as it is" };
        if session.json {
            output::document(&ReindexPlanView { listing_differs: differs, dry_run: true });
        } else {
            output::out(&format!("would make the index anew; the listing {listing}\n"));
        }
        return Ok(Exit::Done);
    }
    let extent = if args.full { Rebuild::All } else { Rebuild::Changed };
    let (listed, notices) = workspace.maintenance().reindex(extent)?;
    output::notices(&notices);
    if session.json {
        output::document(&ReindexView { listed });
    } else {
        output::out(&format!("index and listing are made anew: {listed} active memories\n"));
    }
    Ok(Exit::Done)
}

pub(super) fn gc(session: &Session<'_>, args: &Gc) -> CliResult {
    let mut workspace = session.open()?;
    let garbage = workspace.changes().garbage()?;
    for entry in &garbage.undated {
        output::err(&format!("warning: {} is retired but does not say since when; it stays", entry.address));
    }
    let deletes = garbage.changes.iter().any(|change| matches!(change, change::Change::Delete { .. }));
    if deletes && !args.yes && !args.change.dry_run {
        let count = garbage.over.len();
        let days = workspace.policy().grace_period_days();
        if session.json || !std::io::stdin().is_terminal() {
            return Err(CliError::usage(
                format!(
                    "cannot delete {count} memories that were retired more than {days} days ago: nobody can be asked"
                ),
                "nothing was changed; `--yes` deletes them, `--dry-run` shows them",
            ));
        }
        if !output::ask(&format!("delete {count} memories that were retired more than {days} days ago?")) {
            output::err("nothing was deleted");
            return Ok(Exit::Nothing);
        }
    }
    if garbage.changes.is_empty() {
        if session.json {
            output::document(&NoGarbageView::default());
        } else {
            output::out("nothing to collect\n");
        }
        return Ok(Exit::Done);
    }
    let receipt = match args.change.dry_run {
        true => workspace.preview(&Plan { changes: garbage.changes, because: "gc".to_owned() })?,
        false => workspace.changes().collect_garbage()?,
    };
    output::receipt(&receipt, session.json, args.change.dry_run);
    Ok(Exit::Done)
}
