//! How long the installed hooks take, run as their client runs them.

use super::{Client, Setup, SetupError, clients, record::Record};
use crate::config::write_plain;
use crate::disk::{Disk, RealDisk};
use lorelane_core::json::{self, JsonFormat, Object};
use serde::Serialize;
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often each hook is run.
pub const RUNS: usize = 50;

/// The session of these runs.
pub const TRIAL_SESSION: &str = "lorelane-doctor-latency";

/// Whether a session is one of these runs. A hook does all its work there, but nothing is kept of it: no line in
/// the ledger, no capture, no request to save.
pub(crate) fn is_trial(session: &str) -> bool {
    session == TRIAL_SESSION
}

/// One hook of one client, and how long it took.
#[derive(Clone, Debug)]
pub struct Timing {
    pub client: Client,
    pub event: &'static str,
    pub p50: Duration,
    pub p99: Duration,
    /// Why the last failed run failed, if any did.
    pub failed: Option<String>,
}

/// How a client starts a hook.
enum Start {
    Shell(String),
    Program { program: String, words: Vec<String> },
}

/// The transcript that the hooks read; removed when the runs are over.
struct Transcript {
    path: PathBuf,
}

impl Drop for Transcript {
    fn drop(&mut self) {
        let _ = RealDisk.remove_file(&self.path);
    }
}

/// Twenty-five questions and answers as lines of a Claude Code transcript. They hold no decision, but are long
/// enough for a session summary, as usual sessions are: triage finds something, and only saving it is left out.
fn everyday_session() -> String {
    let line = |number: usize, role: &str, text: &str| {
        format!(
            "{{\"type\":\"{role}\",\"uuid\":\"{role}-{number}\",\"message\":{{\"id\":\"{role}-{number}\",\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    };
    (0..25)
        .map(|number| {
            let question = line(number, "user", "What does this function return for an empty list?");
            question + &line(number, "assistant", "It returns zero, as the loop has nothing to add.")
        })
        .collect()
}

impl Setup {
    /// Runs every installed hook in `project`, and reports once per hook. `None` when nothing is installed.
    pub fn latency(&self, project: &Path, runs: usize) -> Result<Option<Vec<Timing>>, SetupError> {
        let mut timings = Vec::new();
        let mut installed = false;
        let transcript = Transcript { path: self.agents.join("latency.jsonl") };
        for client in Client::ALL.into_iter().filter(|client| client.has_hooks()) {
            let Some(record) = Record::read(&self.disk, &self.agents, client.name())? else { continue };
            if !installed {
                write_plain(&self.disk, &transcript.path, everyday_session().as_bytes())?;
            }
            installed = true;
            for (event, start) in self.starts(client, &record)? {
                let payload = payload(client, event, project, &transcript.path);
                timings.push(time(client, event, &start, &payload, project, runs));
            }
        }
        Ok(installed.then_some(timings))
    }

    fn starts(&self, client: Client, record: &Record) -> Result<Vec<(&'static str, Start)>, SetupError> {
        let folder = clients::folder(client, &self.env).ok_or(SetupError::NoHome)?;
        let Some((path, hooks)) = clients::hook_entries(client, &folder, &self.agents) else {
            let program = record.program.to_string_lossy().into_owned();
            let words = |event: &str| ["hook", event, "--client", client.name()].map(str::to_owned).to_vec();
            let start = |event| (event, Start::Program { program: program.clone(), words: words(event) });
            return Ok(clients::OPENCODE_EVENTS.into_iter().map(start).collect());
        };
        let text = self.read(&path)?.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let start = |(event, entry)| Some((event, Start::Shell(json::said(&text, &entry)?)));
        Ok(hooks.into_iter().filter_map(start).collect())
    }
}

fn time(
    client: Client,
    event: &'static str,
    start: &Start,
    payload: &str,
    project: &Path,
    runs: usize,
) -> Timing {
    let mut took = Vec::new();
    let mut failed = None;
    for _ in 0..runs {
        let begin = Instant::now();
        let ended = run(start, payload, project);
        took.push(begin.elapsed());
        if let Err(why) = ended {
            failed = Some(why);
        }
    }
    took.sort_unstable();
    // Nearest rank: the smallest value that so many percent of the runs do not exceed.
    let percentile = |percent: usize| took[(took.len() * percent).div_ceil(100).saturating_sub(1)];
    Timing { client, event, p50: percentile(50), p99: percentile(99), failed }
}

fn run(start: &Start, payload: &str, project: &Path) -> Result<(), String> {
    let mut command = match start {
        Start::Shell(line) if cfg!(windows) => {
            let mut command = Command::new("cmd");
            command.arg("/C").arg(line);
            command
        }
        Start::Shell(line) => {
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(line);
            command
        }
        Start::Program { program, words } => {
            let mut command = Command::new(program);
            command.args(words);
            command
        }
    };
    command.current_dir(project).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|fault| fault.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook may answer without having read everything.
        let _ = stdin.write_all(payload.as_bytes());
    }
    let output = child.wait_with_output().map_err(|fault| fault.to_string())?;
    // A hook blocks with 2. Nothing here is to be blocked, so that is a failure too.
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}", output.status, said.lines().next().unwrap_or_default()))
}

/// What a client sends to a hook.
#[derive(Serialize)]
struct TrialPayload<'p> {
    session_id: &'static str,
    cwd: Cow<'p, str>,
    transcript_path: Cow<'p, str>,
    hook_event_name: &'p str,
    #[serde(flatten)]
    fields: Object,
}

/// The same as Copilot names it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CopilotTrialPayload<'p> {
    session_id: &'static str,
    cwd: Cow<'p, str>,
    transcript_path: Cow<'p, str>,
    hook_event_name: &'p str,
    #[serde(flatten)]
    fields: Object,
}

/// The payload of an ordinary turn as the client sends it. Its session id marks it as a trial, see [`is_trial`].
fn payload(client: Client, event: &str, project: &Path, transcript: &Path) -> String {
    let (session_id, hook_event_name) = (TRIAL_SESSION, event);
    let (cwd, transcript_path) = (project.to_string_lossy(), transcript.to_string_lossy());
    let fields = json::from_str(event_fields(client, event)).expect("the fields of an event are JSON");
    let text = if client == Client::Copilot {
        let payload = CopilotTrialPayload { session_id, cwd, transcript_path, hook_event_name, fields };
        json::to_string(&payload, JsonFormat::LINE)
    } else {
        let payload = TrialPayload { session_id, cwd, transcript_path, hook_event_name, fields };
        json::to_string(&payload, JsonFormat::LINE)
    };
    format!("{text}\n")
}

fn event_fields(client: Client, event: &str) -> &'static str {
    match (event, client) {
        ("session-start", _) => r#"{"source": "startup"}"#,
        ("prompt", _) => r#"{"prompt": "How do the services authenticate to each other?"}"#,
        ("before-tool" | "after-tool", Client::Copilot) => {
            r#"{"toolName": "Bash", "toolArgs": "{\"command\": \"cargo test --workspace\"}"}"#
        }
        ("before-tool" | "after-tool", _) => {
            r#"{"tool_name": "Bash", "tool_input": {"command": "cargo test --workspace"}}"#
        }
        ("tool-failure", _) => {
            r#"{"tool_name": "Bash", "tool_input": {"command": "cargo test"}, "error": "Exit code 101"}"#
        }
        ("stop", Client::Copilot) => {
            r#"{"stop_hook_active": false, "lastAssistantMessage": "The tests pass."}"#
        }
        ("stop", _) => r#"{"stop_hook_active": false, "last_assistant_message": "The tests pass."}"#,
        ("pre-compact", _) => r#"{"trigger": "auto"}"#,
        _ => r#"{"reason": "other"}"#,
    }
}
