//! How long the installed hooks take, run as their client runs them.

use super::{Client, Setup, SetupError, clients, record::Record};
use crate::config::write_plain;
use crate::disk::{Disk, RealDisk};
use lorelane_core::json::{self, Json, JsonFormat, Object};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often each hook is run.
pub const RUNS: usize = 50;

/// The session of these runs.
pub const TRIAL_SESSION: &str = "lorelane-doctor-latency";

/// Whether nobody asked or said anything in a session. A hook does all its work there and nothing is kept of it: no
/// line in the ledger, no capture, no request to save.
pub(crate) fn is_trial(session: &str) -> bool {
    session == TRIAL_SESSION
}

/// One hook of one client, and how it did.
#[derive(Clone, Debug)]
pub struct Timing {
    pub client: Client,
    pub event: &'static str,
    pub p50: Duration,
    pub p99: Duration,
    /// Runs that ended in another way than a hook may: what the last one said.
    pub failed: Option<String>,
}

/// How a client starts a hook.
enum Start {
    Shell(String),
    Program { program: String, words: Vec<String> },
}

/// A session for the hooks to read, gone when the runs are over.
struct Transcript {
    path: PathBuf,
}

impl Drop for Transcript {
    fn drop(&mut self) {
        let _ = RealDisk.remove_file(&self.path);
    }
}

/// Twenty-five questions and answers as Claude Code writes them down. No decision is in them, but by their number they
/// are worth a summary, as in any session of a morning: the triage finds something, and only keeping it is left out.
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
            let Some(record) = Record::read(&self.disk, &self.agents, client)? else { continue };
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
    // The smallest value that so many percent of the runs do not exceed.
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
    // 2 is how a hook says no; with nothing to say no to, it is a failure too.
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}", output.status, said.lines().next().unwrap_or_default()))
}

/// A payload of an everyday turn in the words of the client. Its session is named, so that what it leaves is known.
fn payload(client: Client, event: &str, project: &Path, transcript: &Path) -> String {
    let mut object = Object::new();
    let camel = client == Client::Copilot;
    let mut set = |snake: &str, camel_name: &str, value: Json| {
        object.set(if camel { camel_name } else { snake }, value);
    };
    set("session_id", "sessionId", Json::text(TRIAL_SESSION));
    set("cwd", "cwd", Json::text(project.to_string_lossy()));
    set("transcript_path", "transcriptPath", Json::text(transcript.to_string_lossy()));
    set("hook_event_name", "hookEventName", Json::text(event));
    let input = Json::Object(Object::from_iter([("command", Json::text("cargo test --workspace"))]));
    match event {
        "session-start" => set("source", "source", Json::text("startup")),
        "prompt" => set("prompt", "prompt", Json::text("How do the services authenticate to each other?")),
        "before-tool" | "after-tool" => {
            set("tool_name", "toolName", Json::text("Bash"));
            let input = if camel { Json::text(input.render(JsonFormat::LINE)) } else { input };
            set("tool_input", "toolArgs", input);
        }
        "stop" => {
            set("stop_hook_active", "stop_hook_active", Json::Bool(false));
            set("last_assistant_message", "lastAssistantMessage", Json::text("The tests pass."));
        }
        "pre-compact" => set("trigger", "trigger", Json::text("auto")),
        _ => set("reason", "reason", Json::text("other")),
    }
    format!("{}\n", Json::Object(object).render(JsonFormat::LINE))
}
