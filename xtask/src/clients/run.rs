//! Runs one client through one scenario and returns everything that came of it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use lorelane_core::json::{Format, Json};

use super::client::Client;
use super::hooks::Places;
use super::install::{self, Cellar};
use super::scenario::Scenario;
use super::stub::{Exchange, Stub};
use crate::failure::Failure;
use crate::sandbox::Sandbox;

/// Longer than any client took; a client that waits for something never answers.
const PATIENCE: Duration = Duration::from_secs(90);

/// The folder beside home and project for what belongs to neither.
pub const HARNESS: &str = "harness";

/// Everything one run leaves.
#[derive(Debug)]
pub struct Outcome {
    pub exchanges: Vec<Exchange>,
    pub sessions: Vec<Ended>,
    /// Home, project and the harness's own files; gone when this is dropped, unless kept.
    pub sandbox: Sandbox,
}

/// How one session of a client ended.
#[derive(Debug)]
pub struct Ended {
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
}

/// How hooks get into a client: the product's, or the recorder's.
pub trait Hooking {
    /// Called when home and project exist and the client's own settings are written. `command` runs a program in
    /// the project as the client will run its hooks. Returns the plugin folder, for a client that takes one.
    fn hook(
        &self,
        client: &Client,
        places: &Places<'_>,
        command: &dyn Fn(&str) -> Command,
    ) -> Result<Option<PathBuf>, Failure>;
}

/// Runs every session of a scenario in one fresh home and project.
pub fn run(
    cellar: &Cellar,
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
    let path = install::search_path(&[bin, cellar.node_folder()])?;
    let command = |program: &Path| {
        let mut command = Command::new(program);
        command.env_clear().current_dir(&project).env("PATH", &path).env("HOME", &home);
        command.envs([("TERM", "dumb"), ("LANG", "C.UTF-8"), ("SHELL", "/bin/bash")]);
        // Claude Code leaves a folder there and asks its own variable first.
        command.env("TMPDIR", &temp).env("CLAUDE_CODE_TMPDIR", &temp);
        // What is proven is the answer; a busy machine must not make it late.
        command.env("LORELANE_HOOK_DEADLINE_MS", "4000");
        command.envs(scenario.env.iter().map(|(name, value)| (name, value)));
        command
    };
    // A program that is only named is looked for in the PATH of the run.
    let named = |name: &str| command(&found(name, &path));
    finish(named("git").args(["init", "--quiet"]))?;
    for words in &scenario.prepare {
        let [program, arguments @ ..] = words.as_slice() else { continue };
        finish(named(program).args(arguments))?;
    }
    client.kind.point_at_model(&home, &project, stub.port())?;
    let places = Places { home: &home, project: &project, scratch: &scratch };
    let plugin = hooking.hook(client, &places, &named)?;

    let mut sessions = Vec::new();
    for session in &scenario.sessions {
        let mut client_call = command(&cellar.program(client));
        client_call.args(client.kind.arguments(&session.prompt, plugin.as_deref(), &session.arguments));
        client_call.envs(client.kind.environment(stub.port()));
        let ended = await_client(client_call, &scratch, &client.id());
        if keep {
            keep_requests(&scratch, &stub.exchanges())?;
        }
        sessions.push(ended?);
    }
    let exchanges = stub.exchanges();
    Ok(Outcome { exchanges, sessions, sandbox })
}

impl Outcome {
    /// The requests of the agent itself.
    pub fn agent_requests(&self) -> Vec<&Exchange> {
        self.exchanges.iter().filter(|exchange| exchange.by_agent).collect()
    }

    /// What Claude Code printed as the answer of its last session.
    pub fn result(&self) -> Option<String> {
        let lines = self.sessions.last()?.stdout.lines().rev();
        let mut results = lines.filter_map(|line| {
            let line = Json::parse(line).ok()?;
            let is_result = line.at("type").and_then(Json::as_text) == Some("result");
            is_result.then(|| line.at("result").and_then(Json::as_text).map(str::to_owned))
        });
        results.next().flatten()
    }
}

/// Runs a short command to its end; its words matter only when it fails.
pub fn finish(command: &mut Command) -> Result<(), Failure> {
    let call = format!("{command:?}");
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure::new(format!("cannot run {call}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Err(Failure::new(format!("{call} failed: {}\n{}", output.status, said.trim())))
}

/// Output goes to files: a pipe that nobody empties stops a client that talks much.
fn await_client(mut command: Command, scratch: &Path, id: &str) -> Result<Ended, Failure> {
    let files = [scratch.join("stdout"), scratch.join("stderr")];
    let [stdout, stderr] = &files;
    command.stdin(Stdio::null()).stdout(create(stdout)?).stderr(create(stderr)?);
    lead_group(&mut command);
    let start = Instant::now();
    let child = command.spawn().map_err(|error| Failure::new(format!("cannot start {id}: {error}")))?;
    let status = await_group(child, start + PATIENCE)
        .map_err(|error| Failure::new(format!("cannot await {id}: {error}")))?;
    let said = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let [stdout, stderr] = files.map(|path| said(&path).unwrap_or_default());
    let ended = Ended { stdout, stderr, seconds: start.elapsed().as_secs_f64() };
    match status {
        Some(status) if status.success() => Ok(ended),
        Some(status) => Err(Failure::new(format!("{id} ended with {status}\n{}", ended.tail()))),
        None => Err(Failure::new(format!(
            "{id} did not end within {} s and was killed\n{}",
            PATIENCE.as_secs(),
            ended.tail()
        ))),
    }
}

impl Ended {
    /// The last lines of both outputs, for the message of a failure.
    pub fn tail(&self) -> String {
        let last = |text: &str| {
            let lines: Vec<&str> = text.lines().rev().take(8).collect();
            let lines = lines.iter().rev().map(|line| line.chars().take(400).collect::<String>());
            lines.collect::<Vec<_>>().join("\n")
        };
        format!("{}\n{}", last(&self.stdout), last(&self.stderr)).trim().to_owned()
    }
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| Failure::on("create", path, error))
}

fn keep_requests(scratch: &Path, exchanges: &[Exchange]) -> Result<(), Failure> {
    for (at, exchange) in exchanges.iter().enumerate() {
        let path = scratch.join(format!("request-{:03}.json", at + 1));
        let text = exchange.to_json().render(Format::FILE);
        fs::write(&path, text).map_err(|error| Failure::on("write", &path, error))?;
    }
    Ok(())
}

/// `Command` looks in our own PATH, not in the one that it sets.
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

#[cfg(unix)]
fn lead_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn lead_group(_: &mut Command) {}

/// Waits until the client ended, or kills it; `None` when it was killed. What it started is killed in either
/// case: some clients leave a server behind.
#[cfg(unix)]
fn await_group(mut child: Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    let id = child.id();
    let mut in_time = true;
    while !has_ended(id)? {
        if Instant::now() > deadline {
            in_time = false;
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // The ended leader was not yet awaited, so its number cannot belong to another group.
    // SAFETY: killpg takes two numbers and touches no memory of ours.
    unsafe { libc::killpg(id.cast_signed(), libc::SIGKILL) };
    let status = child.wait()?;
    Ok(in_time.then_some(status))
}

/// Asks without awaiting: an awaited process gives its number back.
#[cfg(unix)]
fn has_ended(id: u32) -> std::io::Result<bool> {
    // SAFETY: siginfo_t is plain numbers, for which all zeroes are a value.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` outlives the call and is ours alone.
    match unsafe { libc::waitid(libc::P_PID, id, &raw mut info, flags) } {
        // SAFETY: waitid filled the fields of a child, or left them zero.
        0 => Ok(unsafe { info.si_pid() } != 0),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(not(unix))]
fn await_group(mut child: Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
