//! Git, through its own command: the user's hooks, signing and identity are respected.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Commits exactly these files. The reason of a refusal is git's own.
pub fn commit_only(project: &Path, files: &[PathBuf], message: &str) -> Result<(), String> {
    let is_tracked =
        |file: &&PathBuf| run(git(project).args(["ls-files", "--error-unmatch", "--"]).arg(file)).is_ok();
    let (tracked, unknown): (Vec<&PathBuf>, Vec<&PathBuf>) = files.iter().partition(is_tracked);
    let new: Vec<&PathBuf> = unknown.into_iter().filter(|file| file.exists()).collect();
    // `commit --only` takes files from the worktree, but knows no untracked ones, so those are announced first.
    // The rest of the index is not touched.
    if !new.is_empty() {
        run(git(project).args(["add", "--intent-to-add", "--"]).args(&new))?;
    }
    let committed = run(git(project)
        .args(["commit", "--quiet", "--only", "-m", message, "--"])
        .args(&tracked)
        .args(&new));
    if committed.is_err() && !new.is_empty() {
        // Refused: the index is as it was, so that no later commit of the user takes them along.
        let _ = run(git(project).args(["rm", "--quiet", "--cached", "--force", "--"]).args(&new));
    }
    committed
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
