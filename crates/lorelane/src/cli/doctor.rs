//! `doctor`: checks the store and what is installed into agents, and times the installed hooks.

use super::{CliResult, Exit, Session, output, setup};
use crate::view::{DiagnosisView, LatencyView};
use clap::Args;
use lorelane_core::text::one_line;
use lorelane_engine::setup::RUNS;
use lorelane_engine::workspace::{Diagnosis, Failure, Finding, Workspace};
use std::fmt::Write as _;

/// Look for everything that is not as it should be
///
/// Changes nothing. Exit code 1 says that something was found.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane doctor --secrets")]
pub struct DoctorArgs {
    /// Look for secrets in every memory
    #[arg(long)]
    secrets: bool,
    /// Only compare the index with a rebuild
    #[arg(long)]
    index: bool,
    /// Only run the installed hooks as their agents do, and print how long they take
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
            // Agents are set up for a machine, and can be wrong anywhere.
            Err(none @ Failure::NoStore { .. }) => {
                let (what, hint) = (none.to_string(), none.hint().into_owned());
                let finding = Finding { check: "store", what, hint };
                Diagnosis { findings: vec![finding], notes: Vec::new() }
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

/// What is wrong with what is installed. Without a home there is nothing that could be.
fn setup_findings(session: &Session<'_>) -> Vec<Finding> {
    setup::open(session).map(|setup| setup.examine()).unwrap_or_default()
}

fn latency(session: &Session<'_>) -> CliResult {
    let Some(timings) = setup::open(session)?.latency(&session.env.cwd, RUNS)? else {
        output::err("no hook is installed\nhint: `lorelane setup` connects the agents on this machine");
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
    let mut ending = Exit::Done;
    for timing in &timings {
        if let Some(why) = &timing.failed {
            let name = timing.client.name();
            output::err(&format!(
                "warning: the hook {} of {name} failed: {why}\nhint: `lorelane doctor` looks for why",
                timing.event
            ));
            ending = Exit::Nothing;
        }
    }
    Ok(ending)
}

fn ms(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
