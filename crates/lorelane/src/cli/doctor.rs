//! `doctor`: checks the store and the installed hooks, and measures how long the hooks take.

use super::{CliResult, Exit, Session, output, setup};
use crate::view::{DiagnosisView, LatencyView};
use clap::Args;
use lorelane_core::text::one_line;
use lorelane_engine::setup::RUNS;
use lorelane_engine::workspace::{Diagnosis, Failure, Finding, WorkingSet, Workspace, open_for_working_set};
use std::fmt::Write as _;

/// Check the store for problems
///
/// Also checks what `setup` installed. Changes nothing. Exit code 1: problems were found.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane doctor --secrets")]
pub struct DoctorArgs {
    /// Also look for secrets in every memory
    #[arg(long)]
    secrets: bool,
    /// Only compare the index with a rebuild
    #[arg(long)]
    index: bool,
    /// Only measure how long the installed hooks take, run as their agents run them
    #[arg(long)]
    latency: bool,
}

pub(super) fn run(session: &Session<'_>, args: &DoctorArgs) -> CliResult {
    if args.latency {
        return latency(session);
    }
    let diagnosis = if args.index {
        Diagnosis { findings: session.open()?.maintenance().diagnose_index()?, notes: Vec::new() }
    } else {
        let mut diagnosis = match Workspace::open(session.env, &session.env.cwd) {
            Ok(mut workspace) => workspace.maintenance().diagnose(args.secrets)?,
            // Agents are set up per machine, so their settings are checked outside a project too.
            Err(none @ Failure::NoStore { .. }) => {
                let (what, hint) = (none.to_string(), none.hint().into_owned());
                let finding = Finding { check: "store", what, hint };
                let mut findings = vec![finding];
                // A project may have a working set and no memories.
                let bare = open_for_working_set(session.env, &session.env.cwd);
                findings.extend(bare.map(|mut bare| WorkingSet::examine(&mut bare)).unwrap_or_default());
                Diagnosis { findings, notes: Vec::new() }
            }
            Err(failure) => return Err(failure.into()),
        };
        diagnosis.findings.extend(setup_findings(session));
        diagnosis
    };
    let Diagnosis { findings, notes } = &diagnosis;
    if !session.json {
        notes.iter().for_each(|note| output::err(&format!("note: {note}")));
    }
    if session.json {
        output::document(&DiagnosisView::of(&diagnosis));
    } else if findings.is_empty() {
        output::out("No problems found\n");
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

/// Problems with what `setup` installed. Without a home folder nothing can be installed.
fn setup_findings(session: &Session<'_>) -> Vec<Finding> {
    setup::open(session).map(|setup| setup.examine()).unwrap_or_default()
}

fn latency(session: &Session<'_>) -> CliResult {
    let Some(timings) = setup::open(session)?.latency(&session.env.cwd, RUNS)? else {
        output::err("No hooks are installed\nhint: `lorelane setup` connects the agents on this machine");
        return Ok(Exit::Nothing);
    };
    if session.json {
        output::document(&LatencyView::of(&timings));
    } else {
        let mut text =
            format!("{:<12} {:<14} {:>8} {:>8}   wall ms of {RUNS} runs\n", "client", "hook", "p50", "p99");
        for timing in &timings {
            let name = timing.client.name();
            let _ = writeln!(
                text,
                "{name:<12} {:<14} {:>8.1} {:>8.1}",
                timing.event,
                ms(timing.p50),
                ms(timing.p99)
            );
        }
        output::out(&text);
    }
    let mut exit = Exit::Done;
    for timing in &timings {
        if let Some(why) = &timing.failed {
            let name = timing.client.name();
            output::err(&format!(
                "warning: hook {} of {name} failed: {why}\nhint: run `lorelane doctor`",
                timing.event
            ));
            exit = Exit::Nothing;
        }
    }
    Ok(exit)
}

fn ms(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
