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

fn text(program: &str, strictness: HookStrictness) -> String {
    let former = format!(
        "former=\"$(dirname \"$0\")/{FORMER}\"\nif [ -x \"$former\" ]; then exec \"$former\" \"$@\"; fi\n"
    );
    format!("{OURS}{}\n{former}", line(program, strictness))
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
    let step = plan(disk, &file, &former, mode, &text(program, strictness))?;
    if !dry_run {
        carry_out(disk, &step, &file, &former, &text(program, strictness))?;
    }
    Ok(step)
}

fn plan(
    disk: &dyn Disk,
    file: &Path,
    former: &Path,
    mode: SetupMode,
    wanted: &str,
) -> Result<GitHookStep, GitHookError> {
    let fault = |source| GitHookError::Io { path: file.to_owned(), source };
    let kind = disk.stat(file).map_err(fault)?.map(|stat| stat.kind);
    if kind.is_some_and(|kind| kind != FileType::File) {
        return Err(GitHookError::NotAFile(file.to_owned()));
    }
    let now = disk.read_regular(file, HOOK_MAX_BYTES).map_err(fault)?;
    let is_ours = now.as_ref().is_some_and(|now| now.starts_with(OURS.as_bytes()));
    let has_former = disk.exists(former);
    let file = file.to_owned();
    Ok(match mode {
        SetupMode::Install if now.as_deref() == Some(wanted.as_bytes()) => GitHookStep::Already { file },
        SetupMode::Install if !is_ours && now.is_some() && has_former => {
            return Err(GitHookError::InTheWay(former.to_owned()));
        }
        SetupMode::Install => {
            GitHookStep::Install { file, keeps_former: has_former || now.is_some() && !is_ours }
        }
        SetupMode::Remove if is_ours => GitHookStep::Remove { file, restores_former: has_former },
        SetupMode::Remove => GitHookStep::Already { file },
    })
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
            match (disk.exists(file), *keeps_former && !disk.exists(former)) {
                (true, true) => disk.rename(file, former).map_err(fault)?,
                (true, false) => disk.remove_file(file).map_err(fault)?,
                (false, _) => {}
            }
            disk.create_new(file, wanted.as_bytes(), Some(EXECUTABLE)).map_err(fault)
        }
        GitHookStep::Remove { restores_former: true, .. } => disk.rename(former, file).map_err(fault),
        GitHookStep::Remove { restores_former: false, .. } => disk.remove_file(file).map_err(fault),
        GitHookStep::Already { .. } | GitHookStep::PrintLine { .. } => Ok(()),
    }
}
