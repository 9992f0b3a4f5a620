//! Runs one client through one scenario and returns the results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lorelane_core::json::{Json, JsonFormat};

use super::client::{Client, Kind};
use super::hooks::Places;
use super::scenario::Scenario;
use super::stub::{Exchange, Stub};
use crate::failure::Failure;
use crate::process::{self, Ended};
use crate::sandbox::Sandbox;
use crate::tool_cache::{ToolCache, search_path};

/// A folder for what belongs neither to the home nor to the project.
pub const HARNESS: &str = "harness";

/// The results of one run.
#[derive(Debug)]
pub struct Outcome {
    pub kind: Kind,
    pub exchanges: Vec<Exchange>,
    pub sessions: Vec<Ended>,
    /// Home, project and the harness's own files; removed when this is dropped, unless kept.
    pub sandbox: Sandbox,
}

/// Installs hooks into a client: the product's, or the recorder's.
pub trait Hooking {
    /// Called after home and project were created and the client's settings written. `command` runs a program
    /// in the project like the client runs its hooks. Returns the plugin folder, for a client that takes one.
    fn hook(
        &self,
        client: &Client,
        places: &Places<'_>,
        command: &dyn Fn(&str) -> Command,
    ) -> Result<Option<PathBuf>, Failure>;
}

/// Runs every session of a scenario in one fresh home and project.
pub fn run(
    tool_cache: &ToolCache,
    client: &Client,
    scenario: Scenario,
    binary: &Path,
    hooking: &dyn Hooking,
    keep: bool,
) -> Result<Outcome, Failure> {
    let mut sandbox = Sandbox::empty("clients")?;
    if keep {
        sandbox.keep();
    }
    let (home, project, scratch) = (sandbox.home(), sandbox.project(), sandbox.scratch(HARNESS));
    let (bin, temp) = (scratch.join("bin"), scratch.join("temp"));
    for folder in [&bin, &temp] {
        fs::create_dir_all(folder).map_err(|error| Failure::on("create", folder, error))?;
    }
    link(binary, &bin.join("lorelane"))?;

    let stub = Stub::start(scenario.rules, &scenario.default)?;
    let path = search_path(&[bin, tool_cache.node_folder()])?;
    let command = |program: &Path| {
        let mut command = Command::new(program);
        command.env_clear().current_dir(&project).env("PATH", &path).env("HOME", &home);
        command.envs([("TERM", "dumb"), ("LANG", "C.UTF-8"), ("SHELL", "/bin/bash")]);
        // Claude Code leaves a folder there and reads its own variable first.
        command.env("TMPDIR", &temp).env("CLAUDE_CODE_TMPDIR", &temp);
        // A run proves the answer and not its time: a busy machine must not make a hook miss its deadline.
        command.env("LORELANE_HOOK_DEADLINE_MS", "4000");
        command.envs(scenario.env.iter().map(|(name, value)| (name, value)));
        command
    };
    // A program without a path is searched in the PATH of the run.
    let named = |name: &str| command(&found(name, &path));
    process::finish(named("git").args(["init", "--quiet"]))?;
    for words in &scenario.prepare {
        let [program, arguments @ ..] = words.as_slice() else { continue };
        process::finish(named(program).args(arguments))?;
    }
    client.kind.point_at_model(&home, &project, stub.port())?;
    let places = Places { home: &home, project: &project, scratch: &scratch };
    let plugin = hooking.hook(client, &places, &named)?;

    let mut sessions = Vec::new();
    for session in &scenario.sessions {
        let mut client_call = command(&tool_cache.program(&client.package()));
        client_call.args(client.kind.arguments(&session.prompt, plugin.as_deref(), &session.arguments));
        client_call.envs(client.kind.environment(stub.port()));
        let ended = process::run(client_call, &scratch, &client.id());
        if keep {
            keep_requests(&scratch, &stub.exchanges())?;
        }
        sessions.push(ended?);
    }
    let exchanges = stub.exchanges();
    Ok(Outcome { kind: client.kind, exchanges, sessions, sandbox })
}

impl Outcome {
    /// The agent's own requests.
    pub fn agent_requests(&self) -> Vec<&Exchange> {
        self.exchanges.iter().filter(|exchange| exchange.by_agent).collect()
    }

    /// What the client printed as the answer of a session, counted from 1. If it prints several, all of them.
    pub fn result(&self, session: usize) -> Option<String> {
        let printed = &self.sessions.get(session.checked_sub(1)?)?.stdout;
        match self.kind {
            Kind::ClaudeCode => answers(printed, "type", "result", "result").pop(),
            Kind::Codex => Some(answers(printed, "item.type", "agent_message", "item.text").join("\n")),
            Kind::Gemini => Some(Json::parse(printed).ok()?.at("response")?.as_text()?.to_owned()),
            Kind::Copilot | Kind::Opencode => Some(printed.trim().to_owned()),
        }
    }
}

/// The texts at `answer` in the JSON lines that have `wanted` at `key`.
fn answers(printed: &str, key: &str, wanted: &str, answer: &str) -> Vec<String> {
    let lines = printed.lines().filter_map(|line| Json::parse(line).ok());
    let fitting = lines.filter(|line| line.at(key).and_then(Json::as_text) == Some(wanted));
    fitting.filter_map(|line| line.at(answer)?.as_text().map(str::to_owned)).collect()
}

fn keep_requests(scratch: &Path, exchanges: &[Exchange]) -> Result<(), Failure> {
    for (at, exchange) in exchanges.iter().enumerate() {
        let path = scratch.join(format!("request-{:03}.json", at + 1));
        let text = exchange.to_json().render(JsonFormat::FILE);
        fs::write(&path, text).map_err(|error| Failure::on("write", &path, error))?;
    }
    Ok(())
}

/// `Command` searches our own PATH, not the one that it sets for the child.
fn found(name: &str, path: &std::ffi::OsStr) -> PathBuf {
    let folders = std::env::split_paths(path);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file()).unwrap_or_else(|| PathBuf::from(name))
}

#[cfg(unix)]
fn link(binary: &Path, name: &Path) -> Result<(), Failure> {
    std::os::unix::fs::symlink(binary, name).map_err(|error| Failure::on("link", name, error))
}

#[cfg(not(unix))]
fn link(binary: &Path, name: &Path) -> Result<(), Failure> {
    let name = name.with_extension("exe");
    fs::copy(binary, &name).map(drop).map_err(|error| Failure::on("write", &name, error))
}
