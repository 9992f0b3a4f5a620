//! Agents on this machine: which were found, what `setup` did, how fast their hooks are.

use super::{Digits, path_text};
use lorelane_engine::setup::{Client, DetectedClient, GitHookStep, RUNS, SetupError, SetupPlan, Timing};
use serde::Serialize;
use std::time::Duration;

#[derive(Debug, Serialize)]
pub struct AgentsView {
    found: Vec<AgentView>,
}

#[derive(Debug, Serialize)]
struct AgentView {
    client: &'static str,
    found: String,
    installed: bool,
    hooks: bool,
}

impl AgentsView {
    pub fn of(found: &[DetectedClient]) -> AgentsView {
        let agent = |found: &DetectedClient| AgentView {
            client: found.client.name(),
            found: path_text(&found.because),
            installed: found.installed,
            hooks: found.client.has_hooks(),
        };
        AgentsView { found: found.iter().map(agent).collect() }
    }
}

#[derive(Debug, Serialize)]
pub struct SetupView<'s> {
    pub dry_run: bool,
    pub clients: Vec<ClientSetupView<'s>>,
}

#[derive(Debug, Serialize)]
pub struct ClientSetupView<'s> {
    client: &'static str,
    #[serde(flatten)]
    result: SetupResultView<'s>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum SetupResultView<'s> {
    Done { files: Vec<String>, warnings: &'s [String], left: &'s [String] },
    Failed { error: String, hint: Option<String> },
}

impl<'s> ClientSetupView<'s> {
    pub fn of(client: Client, result: &'s Result<SetupPlan, SetupError>) -> ClientSetupView<'s> {
        let result = match result {
            Ok(plan) => SetupResultView::Done {
                files: plan.steps.iter().map(|step| path_text(&step.path)).collect(),
                warnings: &plan.warnings,
                left: &plan.left,
            },
            Err(fault) => {
                SetupResultView::Failed { error: fault.to_string(), hint: fault.hint().map(str::to_owned) }
            }
        };
        ClientSetupView { client: client.name(), result }
    }
}

#[derive(Debug, Serialize)]
pub struct LatencyView<'s> {
    runs: usize,
    hooks: Vec<TimingView<'s>>,
}

#[derive(Debug, Serialize)]
struct TimingView<'s> {
    client: &'static str,
    hook: &'static str,
    p50_ms: Digits,
    p99_ms: Digits,
    failed: Option<&'s str>,
}

impl<'s> LatencyView<'s> {
    pub fn of(timings: &'s [Timing]) -> LatencyView<'s> {
        let ms = |time: Duration| Digits::fixed(time.as_secs_f64() * 1000.0, 2);
        let timing = |timing: &'s Timing| TimingView {
            client: timing.client.name(),
            hook: timing.event,
            p50_ms: ms(timing.p50),
            p99_ms: ms(timing.p99),
            failed: timing.failed.as_deref(),
        };
        LatencyView { runs: RUNS, hooks: timings.iter().map(timing).collect() }
    }
}

/// What was done about the pre-commit hook.
#[derive(Debug, Serialize)]
pub struct GitHookView {
    did: &'static str,
    file: Option<String>,
    line: Option<String>,
    dry_run: bool,
}

impl GitHookView {
    pub fn of(step: &GitHookStep, dry_run: bool) -> GitHookView {
        let (did, file, line) = match step {
            GitHookStep::Install { file, .. } => ("install", Some(file), None),
            GitHookStep::Remove { file, .. } => ("remove", Some(file), None),
            GitHookStep::TakeOut { file } => ("take-out", Some(file), None),
            GitHookStep::Already { file } => ("nothing", Some(file), None),
            GitHookStep::PrintLine { line, .. } => ("print", None, Some(line.clone())),
        };
        GitHookView { did, file: file.map(|file| file.display().to_string()), line, dry_run }
    }
}
