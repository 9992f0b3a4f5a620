//! A pre-commit hook that checks memories. An existing hook is renamed and run after ours; removal renames it back.

use super::SetupMode;
use crate::disk::{Disk, FileType, RealDisk};
use crate::git;
use std::io;
use std::path::{Path, PathBuf};

const HOOK: &str = "pre-commit";
/// The name of the hook that was there before.
const FORMER: &str = "pre-commit.before-lorelane";
/// The first lines of ours: a hook without them is somebody else's.
const OURS: &str =
    "#!/bin/sh\n# Written by `lorelane setup git hook`; `lorelane setup --remove git hook` removes it.\n";
const HOOK_MAX_BYTES: u64 = 4 << 20;
/// What our line has, whatever the program's name and strictness.
const CALL: &str = " check --staged >&2 || ";
const EXECUTABLE: u32 = 0o755;

/// What the hook does when a memory breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookStrictness {
    Warn,
    Block,
}

/// What has to be done, or was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitHookStep {
    /// Ours is written to this file; an existing hook is kept beside it.
    Install {
        file: PathBuf,
        keeps_former: bool,
    },
    Remove {
        file: PathBuf,
        restores_former: bool,
    },
    /// Somebody added lines to ours: only our own are removed.
    TakeOut {
        file: PathBuf,
    },
    /// Nothing to do.
    Already {
        file: PathBuf,
    },
    /// Hooks are in a folder that the repository or the user manages: this line belongs into its hook.
    PrintLine {
        folder: String,
        line: String,
    },
}

/// Why the hook cannot be installed.
#[derive(Debug, thiserror::Error)]
pub enum GitHookError {
    #[error("there is no git repository here")]
    NoRepository,
    #[error("{0} is not a regular file")]
    NotAFile(PathBuf),
    #[error("{0} is in the way")]
    InTheWay(PathBuf),
    #[error("cannot change {path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

/// The line that checks what is staged, with the program by this name.
fn line(program: &str, strictness: HookStrictness) -> String {
    let program = lorelane_core::text::shell_word(program);
    match strictness {
        HookStrictness::Warn => format!("{program} check --staged >&2 || true"),
        // Only a broken memory: a program that is missing or fails must not stop commits.
        HookStrictness::Block => format!("{program} check --staged >&2 || [ $? -ne 1 ] || exit 1"),
    }
}

/// The lines that run the hook that was there before.
fn former_call() -> String {
    format!(
        "former=\"$(dirname \"$0\")/{FORMER}\"\nif [ -x \"$former\" ]; then exec \"$former\" \"$@\"; fi\n"
    )
}

fn text(program: &str, strictness: HookStrictness) -> String {
    format!("{OURS}{}\n{}", line(program, strictness), former_call())
}

/// Our hook with this text, if it is as we wrote it, else with what was added to it and our line renewed.
fn renewed(now: &str, wanted: &str) -> String {
    let call = |text: &str| text.lines().find(|line| line.contains(CALL)).map(str::to_owned);
    match (call(now), call(wanted)) {
        (Some(old), Some(new)) if !added(now).is_empty() => now.replacen(&old, &new, 1),
        _ => wanted.to_owned(),
    }
}

/// The lines of our hook that we did not write.
fn added(now: &str) -> Vec<&str> {
    let former = former_call();
    let is_ours = |line: &&str| {
        OURS.lines().chain(former.lines()).any(|own| own == *line) || line.contains(CALL) || line.is_empty()
    };
    now.lines().filter(|line| !is_ours(line)).collect()
}

/// Our hook without our lines. The hook that was there before still runs.
fn without_ours(now: &str, has_former: bool) -> String {
    let kept = now.replacen(OURS, "#!/bin/sh\n", 1);
    let kept = if has_former { kept } else { kept.replacen(&former_call(), "", 1) };
    kept.split_inclusive('\n').filter(|line| !line.contains(CALL)).collect()
}

/// The hook of a project, if it is ours.
pub(crate) fn installed_git_hook(disk: &dyn Disk, project: &Path) -> Option<PathBuf> {
    let file = git::common_dir(project)?.join("hooks").join(HOOK);
    let text = disk.read_regular(&file, HOOK_MAX_BYTES).ok()??;
    text.starts_with(OURS.as_bytes()).then_some(file)
}

/// Decides what has to be done, and does it unless this is a dry run.
pub fn set_up_git_hook(
    project: &Path,
    program: &str,
    mode: SetupMode,
    strictness: HookStrictness,
    dry_run: bool,
) -> Result<GitHookStep, GitHookError> {
    let folder = git::common_dir(project).ok_or(GitHookError::NoRepository)?.join("hooks");
    // What was installed before the setting is removed all the same.
    let managed = git::hooks_path(project).filter(|_| mode == SetupMode::Install);
    if let Some(folder) = managed {
        return Ok(GitHookStep::PrintLine { folder, line: line(program, strictness) });
    }
    let disk: &dyn Disk = &RealDisk;
    let (file, former) = (folder.join(HOOK), folder.join(FORMER));
    let wanted = text(program, strictness);
    let (step, text) = plan(disk, &file, &former, mode, &wanted)?;
    if !dry_run {
        carry_out(disk, &step, &file, &former, &text)?;
    }
    Ok(step)
}

fn plan(
    disk: &dyn Disk,
    file: &Path,
    former: &Path,
    mode: SetupMode,
    wanted: &str,
) -> Result<(GitHookStep, String), GitHookError> {
    let fault = |source| GitHookError::Io { path: file.to_owned(), source };
    let kind = disk.stat(file).map_err(fault)?.map(|stat| stat.kind);
    if kind.is_some_and(|kind| kind != FileType::File) {
        return Err(GitHookError::NotAFile(file.to_owned()));
    }
    let now = disk.read_regular(file, HOOK_MAX_BYTES).map_err(fault)?;
    let is_ours = now.as_ref().is_some_and(|now| now.starts_with(OURS.as_bytes()));
    let has_former = disk.exists(former);
    let file = file.to_owned();
    // Ours is plain text; what was added may be anything.
    let own = now.as_ref().filter(|_| is_ours).map(|now| String::from_utf8_lossy(now).into_owned());
    let text = match (&own, mode) {
        (Some(own), SetupMode::Install) => renewed(own, wanted),
        (Some(own), SetupMode::Remove) => without_ours(own, has_former),
        (None, _) => wanted.to_owned(),
    };
    let step = match mode {
        SetupMode::Install if now.as_deref() == Some(text.as_bytes()) => GitHookStep::Already { file },
        SetupMode::Install if !is_ours && now.is_some() && has_former => {
            return Err(GitHookError::InTheWay(former.to_owned()));
        }
        SetupMode::Install => {
            GitHookStep::Install { file, keeps_former: has_former || now.is_some() && !is_ours }
        }
        SetupMode::Remove if own.is_some_and(|own| !added(&own).is_empty()) => GitHookStep::TakeOut { file },
        SetupMode::Remove if is_ours => GitHookStep::Remove { file, restores_former: has_former },
        SetupMode::Remove => GitHookStep::Already { file },
    };
    Ok((step, text))
}

fn carry_out(
    disk: &dyn Disk,
    step: &GitHookStep,
    file: &Path,
    former: &Path,
    wanted: &str,
) -> Result<(), GitHookError> {
    let fault = |source| GitHookError::Io { path: file.to_owned(), source };
    match step {
        GitHookStep::Install { keeps_former, .. } => {
            if let Some(folder) = file.parent() {
                disk.create_dir_all(folder).map_err(fault)?;
            }
            if disk.exists(file) && *keeps_former && !disk.exists(former) {
                disk.rename(file, former).map_err(fault)?;
            }
            put(disk, file, wanted).map_err(fault)
        }
        GitHookStep::TakeOut { .. } => put(disk, file, wanted).map_err(fault),
        GitHookStep::Remove { restores_former: true, .. } => disk.rename(former, file).map_err(fault),
        GitHookStep::Remove { restores_former: false, .. } => disk.remove_file(file).map_err(fault),
        GitHookStep::Already { .. } | GitHookStep::PrintLine { .. } => Ok(()),
    }
}

/// Writes a hook beside its place and renames it, so that nobody finds half of it.
fn put(disk: &dyn Disk, file: &Path, text: &str) -> io::Result<()> {
    let beside = file.with_extension("lorelane-new");
    if disk.exists(&beside) {
        disk.remove_file(&beside)?;
    }
    disk.create_new(&beside, text.as_bytes(), Some(EXECUTABLE))?;
    disk.rename(&beside, file)
}
