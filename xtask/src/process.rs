//! Runs other programs to their end, with a timeout, and kills what they leave running.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// Longer than any program took. One that waits for input would never end.
const PATIENCE: Duration = Duration::from_secs(90);

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
}

/// Runs a short command. Its output is shown only if it fails.
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

/// Runs a program that may hang; anything but success is an error.
pub fn run(command: Command, folder: &Path, id: &str) -> Result<Ended, Failure> {
    let (status, ended) = run_out(command, folder, id)?;
    match status.success() {
        true => Ok(ended),
        false => Err(Failure::new(format!("{id} ended with {status}\n{}", ended.tail()))),
    }
}

/// Runs a program that may hang, and kills what it left running. Its outputs go to files in `folder`: a pipe that
/// nobody reads would block a program with much output.
pub fn run_out(mut command: Command, folder: &Path, id: &str) -> Result<(ExitStatus, Ended), Failure> {
    let files = [folder.join("stdout"), folder.join("stderr")];
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
    let Some(status) = status else {
        let patience = PATIENCE.as_secs();
        let tail = ended.tail();
        return Err(Failure::new(format!("{id} did not end within {patience} s and was killed\n{tail}")));
    };
    Ok((status, ended))
}

impl Ended {
    /// The last lines of both outputs, for an error message.
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

#[cfg(unix)]
fn lead_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn lead_group(_: &mut Command) {}

/// Waits until the program ends, or kills it after the timeout; `None` if it was killed. Its process group is
/// killed in either case: some clients leave a server running.
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
    // The leader is not reaped yet, so its pid cannot belong to another group.
    // SAFETY: killpg takes two numbers and touches no memory of ours.
    unsafe { libc::killpg(id.cast_signed(), libc::SIGKILL) };
    let status = child.wait()?;
    Ok(in_time.then_some(status))
}

/// Checks without reaping: the pid of a reaped process may be reused.
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
