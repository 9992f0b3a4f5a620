//! Git, through its own command: the user's hooks, signing and identity are respected.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Commits exactly these files. The reason of a refusal is git's own.
pub fn commit_only(project: &Path, files: &[PathBuf], message: &str) -> Result<(), String> {
    // `commit --only` knows no untracked files, so they are added first; others in the index stay untouched.
    let (known, gone): (Vec<&PathBuf>, Vec<&PathBuf>) = files.iter().partition(|file| file.exists());
    if !known.is_empty() {
        run(git(project).args(["add", "--"]).args(&known))?;
    }
    let tracked =
        |file: &&&PathBuf| run(git(project).args(["ls-files", "--error-unmatch", "--"]).arg(file)).is_ok();
    let gone: Vec<&&PathBuf> = gone.iter().filter(tracked).collect();
    run(git(project).args(["commit", "--quiet", "--only", "-m", message, "--"]).args(&known).args(&gone))
}

fn git(project: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(project).stdin(Stdio::null());
    command
}

fn run(command: &mut Command) -> Result<(), String> {
    let output: Output = command.output().map_err(|fault| format!("git could not be started: {fault}"))?;
    if output.status.success() {
        return Ok(());
    }
    let words = [output.stderr, output.stdout].concat();
    Err(String::from_utf8_lossy(&words).trim().to_owned())
}
