//! One call of git: in a worktree that lorelane located itself, with a fixed environment and a time limit.
//!
//! Much of what git reads in a repository names programs: monitors, hooks, pagers, converters, transports. A
//! repository may come from anybody, so a query runs none of them, whatever its settings say.

use crate::disk::{Disk, LinkPolicy, RealDisk};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Git answers in milliseconds. A hook's own deadline is shorter and ends the process first.
const QUESTION_LIMIT: Duration = Duration::from_secs(5);
/// A user's hook may run tests before it lets a commit pass.
const COMMIT_LIMIT: Duration = Duration::from_secs(60);
/// More than the names of 100,000 memories in a long history.
const OUTPUT_MAX_BYTES: u64 = 64 << 20;
const GIT_FILE_MAX_BYTES: u64 = 4 << 10;

/// The git variables that are the user's: identity and settings. All others refer to another repository or name
/// programs.
const OF_THE_USER: [&str; 4] = ["GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG", "GIT_EXEC_PATH"];

/// For every call. `safe.bareRepository`: a repository may contain a bare one as an ordinary folder.
const SETTINGS: [&str; 3] = ["safe.bareRepository=explicit", "core.fsmonitor=false", "core.pager=cat"];
/// For every call except a commit.
const WITHOUT_PROGRAMS: [&str; 7] = [
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.alternateRefsCommand=false",
    "credential.helper=",
    "diff.ignoreSubmodules=all",
    "log.showSignature=false",
    "submodule.recurse=false",
];
/// Missing objects are not fetched: a transport is a program too.
const OFFLINE: [(&str, &str); 6] = [
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_ASKPASS", ""),
    ("GIT_EDITOR", "false"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("LC_ALL", "C"),
];

/// For queries that compare texts.
pub(super) const PLAIN_DIFF: [&str; 2] = ["--no-ext-diff", "--no-textconv"];

/// What a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GitCallPolicy {
    /// Nothing but git.
    GitAlone,
    /// What the user has set up for a commit: hooks, filters, signing. For a trusted project.
    WhatCommitsRun,
}

/// A worktree with its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorkTree {
    pub(super) root: PathBuf,
    pub(super) git_dir: PathBuf,
}

impl WorkTree {
    /// The worktree that a path is in, or would be in. Recognized by `.git` alone: no clone can contain that name,
    /// while a folder with four names looks like a bare repository.
    pub(super) fn around(path: &Path) -> Option<WorkTree> {
        let root = path.ancestors().find(|folder| is_there(&folder.join(".git")))?;
        let git_dir = git_dir(root).filter(|git_dir| is_repository(git_dir))?;
        Some(WorkTree { root: root.to_owned(), git_dir })
    }

    /// A path as git knows it here.
    pub(super) fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// The index that a running `git commit` has made for its hook: that of `commit -a` and `commit PATH` is not the
    /// usual one. Only a file of this repository counts.
    pub(super) fn index_of_commit(&self) -> Option<PathBuf> {
        let named = std::env::var_os("GIT_INDEX_FILE").filter(|named| !named.is_empty())?;
        let real = RealDisk.real_path(&self.root.join(named)).ok()?;
        real.starts_with(&self.git_dir).then_some(real)
    }

    /// A call that compares: what is staged is what the commit at hand has.
    pub(super) fn git_comparing(&self, is_staged: bool) -> Command {
        let mut asked = self.git(GitCallPolicy::GitAlone);
        if let Some(index) = self.index_of_commit().filter(|_| is_staged) {
            asked.env("GIT_INDEX_FILE", index);
        }
        asked
    }

    /// A call without its arguments yet. Git looks for no other repository: it starts where `.git` is and may not
    /// look higher. It gets no `--git-dir`, because then it would not check who owns the repository.
    pub(super) fn git(&self, runs: GitCallPolicy) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root).args(["--no-pager", "--literal-pathspecs"]);
        for name in std::env::vars_os().map(|(name, _)| name).filter(|name| !is_kept(name)) {
            command.env_remove(name);
        }
        command.env("GIT_CEILING_DIRECTORIES", self.root.parent().unwrap_or(&self.root));
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_PAGER", "cat");
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        if runs == GitCallPolicy::GitAlone {
            // Whatever the repository's settings say. Not for a commit: its hooks would inherit it.
            command.arg("--work-tree").arg(&self.root);
            command.args(WITHOUT_PROGRAMS.iter().flat_map(|setting| ["-c", setting]));
            command.envs(OFFLINE);
        }
        command
    }
}

/// Why a git call failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("there is no git repository here")]
    NoRepository,
    #[error("cannot run git: {0}")]
    NotRun(#[source] io::Error),
    #[error("git did not answer within {} s", .0.as_secs())]
    TooSlow(Duration),
    #[error("git printed more than {} MiB", OUTPUT_MAX_BYTES >> 20)]
    TooLong,
    /// Git's own message.
    #[error("{0}")]
    Refused(String),
    #[error("git failed with {0} and printed nothing")]
    Silent(ExitStatus),
    #[error("a hook rejected it without a message, or nothing has changed since the last commit")]
    SilentCommit,
}

/// Runs git with this input and returns its output.
pub(super) fn run(command: &mut Command, input: Vec<u8>) -> Result<Vec<u8>, GitError> {
    let (status, output, words) = answer(command, input, QUESTION_LIMIT)?;
    if status.success() {
        return Ok(output);
    }
    Err(reason(&words, &output).unwrap_or(GitError::Silent(status)))
}

/// The same for a commit, which may run hooks.
pub(super) fn run_commit(command: &mut Command, input: Vec<u8>) -> Result<(), GitError> {
    let (status, output, words) = answer(command, input, COMMIT_LIMIT)?;
    if status.success() {
        return Ok(());
    }
    Err(reason(&words, &output).unwrap_or(GitError::SilentCommit))
}

/// The output, also when git exits with 1 because it found nothing.
pub(super) fn run_search(command: &mut Command) -> Result<Vec<u8>, GitError> {
    answer(command, Vec::new(), QUESTION_LIMIT).map(|(_, output, _)| output)
}

/// The same for a query that filters its input.
pub(super) fn run_filter(command: &mut Command, input: Vec<u8>) -> Result<Vec<u8>, GitError> {
    answer(command, input, QUESTION_LIMIT).map(|(_, output, _)| output)
}

/// Stdin, stdout and stderr have their own threads: none may block the others, nor us beyond the limit.
fn answer(
    command: &mut Command,
    input: Vec<u8>,
    limit: Duration,
) -> Result<(ExitStatus, Vec<u8>, Vec<u8>), GitError> {
    let until = Instant::now() + limit;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    end_with_us(command);
    let mut child = command.spawn().map_err(GitError::NotRun)?;
    if let Some(mut stdin) = child.stdin.take() {
        // Git may fail before it has read everything: then stderr says why.
        thread::spawn(move || stdin.write_all(&input));
    }
    let (output, words) = (reading(child.stdout.take()), reading(child.stderr.take()));
    let (output, words) = (before(until, &output), before(until, &words));
    let ended = match (&output, &words) {
        (Some(_), Some(_)) => Some(child.wait().map_err(GitError::NotRun)?),
        // A process that a hook left running may hold the pipes open after git has ended.
        _ => child.try_wait().map_err(GitError::NotRun)?,
    };
    let Some(status) = ended else {
        stop(&mut child);
        return Err(GitError::TooSlow(limit));
    };
    let output = output.unwrap_or_default();
    if output.len() as u64 > OUTPUT_MAX_BYTES {
        return Err(GitError::TooLong);
    }
    Ok((status, output, words.unwrap_or_default()))
}

/// A hook that runs out of time ends our process, and git must not stay behind waiting for a pipe.
#[cfg(target_os = "linux")]
fn end_with_us(command: &mut Command) {
    use rustix::process::{Signal, set_parent_process_death_signal};
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec it makes one system call, and neither allocates nor locks.
    unsafe { command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?)) };
}

#[cfg(not(target_os = "linux"))]
fn end_with_us(_command: &mut Command) {}

fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads in a thread, at most one byte more than the limit; then the pipe is closed, which ends the writer.
fn reading(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let _ = pipe.take(OUTPUT_MAX_BYTES + 1).read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}

fn before(until: Instant, receiver: &Receiver<Vec<u8>>) -> Option<Vec<u8>> {
    receiver.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
}

fn reason(words: &[u8], output: &[u8]) -> Option<GitError> {
    let said = String::from_utf8_lossy(&[words, output].concat()).trim().to_owned();
    (!said.is_empty()).then_some(GitError::Refused(said))
}

fn is_kept(name: &OsStr) -> bool {
    let name: OsString = name.to_ascii_uppercase();
    let name = name.to_string_lossy();
    !name.starts_with("GIT_") || OF_THE_USER.iter().any(|kept| name.starts_with(kept))
}

/// The folder `.git`, or the one that a `.git` file names in a linked worktree or submodule.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let entry = root.join(".git");
    let named = if RealDisk.is_folder(&entry) { entry } else { root.join(named_by(&entry)?) };
    let (real, root) = (RealDisk.real_path(&named).ok()?, RealDisk.real_path(root).ok()?);
    // Any other folder of the worktree may have come with a clone.
    let is_ordinary = |inside: &Path| !inside.components().any(|part| part.as_os_str() == ".git");
    (!real.strip_prefix(&root).is_ok_and(is_ordinary)).then_some(real)
}

/// The repository's own folder, which the folder of a linked worktree names.
pub(super) fn common_dir(git_dir: PathBuf) -> PathBuf {
    let named = text_of(&git_dir.join("commondir"));
    let common = named.and_then(|named| RealDisk.real_path(&git_dir.join(named.trim())).ok());
    common.unwrap_or(git_dir)
}

fn named_by(file: &Path) -> Option<String> {
    named_in(&text_of(file)?).map(str::to_owned)
}

/// The folder that a `.git` file names.
pub(super) fn named_in(text: &str) -> Option<&str> {
    text.strip_prefix("gitdir:").map(str::trim)
}

fn text_of(file: &Path) -> Option<String> {
    let bytes = RealDisk.read_bounded(file, LinkPolicy::Refused, GIT_FILE_MAX_BYTES).ok()??;
    String::from_utf8(bytes).ok()
}

/// On the real disk, as git will see it. A link counts, wherever it leads.
pub(super) fn is_there(path: &Path) -> bool {
    matches!(RealDisk.stat(path), Ok(Some(_)))
}

fn is_repository(git_dir: &Path) -> bool {
    let has = |name: &str| is_there(&git_dir.join(name));
    has("HEAD") && (has("objects") || has("commondir"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_does_not_answer_is_ended() {
        let mut asleep = Command::new("sleep");
        let answered = answer(asleep.arg("600"), Vec::new(), Duration::ZERO);
        assert_eq!(answered.unwrap_err().to_string(), "git did not answer within 0 s");
    }

    #[test]
    fn of_the_variables_of_git_only_the_users_stay() {
        for (name, kept) in [
            ("PATH", true),
            ("GIT_AUTHOR_NAME", true),
            ("GIT_COMMITTER_EMAIL", true),
            ("GIT_CONFIG_GLOBAL", true),
            ("GIT_DIR", false),
            ("GIT_EXTERNAL_DIFF", false),
            ("GIT_SSH_COMMAND", false),
            ("GIT_TRACE", false),
        ] {
            assert_eq!(is_kept(OsStr::new(name)), kept, "{name}");
        }
    }
}
