//! Blocks tool calls that would write to a lane directly.
//!
//! It runs before every tool call of an agent, so it opens no workspace: a few stats are all it may cost.

mod audit;
mod change_stamp;

pub use audit::{AuditResult, ExternalWrites, PreviousMemory, audit_external_writes};

use super::MARKS_FILE;
use crate::disk::{Disk, RealDisk};
use crate::env::{Env, Var};
use crate::state::ID_FILE;
use crate::workspace::lane::is_foreign;
use crate::workspace::open::ProjectLocation;
use crate::workspace::open::locate::locate;
use crate::workspace::open::trust::TRUST_FOLDER;
use lorelane_core::dialect::records::LISTING;
use lorelane_core::guard::{
    Case, Denial, GuardedLanes, OtherProjects, ResolvedPath, ShellContext, ToolUse, normal,
};
use lorelane_core::mark::MARKS_FOLDER;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// Longer paths are judged as text, without resolving links.
const PATH_MAX: usize = 4_096;
/// How many links are followed: as many as any system follows.
pub(in crate::workspace) const LINKS_MAX: usize = 40;

/// The folder that tools run in, and its project, which is located at most once: a hook before a tool has no time
/// to do it twice.
#[derive(Debug)]
pub struct ToolProject<'e> {
    pub(in crate::workspace) env: &'e Env,
    pub(in crate::workspace) start: PathBuf,
    located: OnceCell<Option<ProjectLocation>>,
}

impl<'e> ToolProject<'e> {
    pub fn new(env: &'e Env, start: &Path) -> ToolProject<'e> {
        ToolProject { env, start: env.cwd.join(start), located: OnceCell::new() }
    }

    /// Why a tool call is denied; `None` if it may run.
    pub fn guard(&self, tool: &ToolUse) -> Option<Denial> {
        self.judge(tool, OtherProjects::WhereItExists)
    }

    pub(in crate::workspace) fn located(&self) -> Option<&ProjectLocation> {
        self.located.get_or_init(|| locate(&RealDisk, &self.start).ok()).as_ref()
    }
}

/// Why a tool call in the folder `start` is denied; `None` if it may run.
pub fn guard(env: &Env, start: &Path, tool: &ToolUse) -> Option<Denial> {
    ToolProject::new(env, start).guard(tool)
}

/// Like [`guard`], and also for a `.claude/memory` that does not exist yet, as in the `claude-memory` scripts.
pub fn guard_by_name(env: &Env, start: &Path, tool: &ToolUse) -> Option<Denial> {
    ToolProject::new(env, start).judge(tool, OtherProjects::ByName)
}

impl ToolProject<'_> {
    fn judge(&self, tool: &ToolUse, usual: OtherProjects) -> Option<Denial> {
        let targets = self.with_context(|around| with_slashes(tool).targets(around));
        if targets.is_empty() {
            return None;
        }
        self.fence(usual).judge(&targets, &resolve)
    }

    /// Calls `read` with the values that words of a command are expanded from.
    pub(in crate::workspace) fn with_context<T>(&self, read: impl FnOnce(&ShellContext<'_>) -> T) -> T {
        let (folder, home) = (text(&self.start), self.env.home().map(|home| text(&home)));
        let project = self.env.var(Var::ClaudeProjectDir).map(|project| project.replace('\\', "/"));
        read(&ShellContext { folder: &folder, home: home.as_deref(), project: project.as_deref() })
    }

    /// The guarded paths of this folder's project. The lane is in it twice: with links resolved and as the
    /// project names it, because a path may be written either way. Only a lane that exists is guarded.
    fn fence(&self, usual: OtherProjects) -> GuardedLanes {
        let case = if cfg!(any(target_os = "macos", windows)) { Case::Ignored } else { Case::Counts };
        let (mut lanes, mut marks, mut id) = (Vec::new(), None, None);
        if let Some(located) = self.located()
            && RealDisk.is_folder(&located.lane)
        {
            let named = normal(&text(&located.project.join(&located.root_from_project)));
            lanes.push(normal(&text(&located.lane)));
            if !lanes.contains(&named) {
                lanes.push(named);
            }
            let own = |name| normal(&text(&located.project.join(MARKS_FOLDER).join(name)));
            (marks, id) = (Some(own(MARKS_FILE)), Some(own(ID_FILE)));
        }
        let trust = self.env.folders().map(|folders| normal(&text(&folders.state.join(TRUST_FOLDER))));
        GuardedLanes { lanes, marks, id, trust, usual, case }
    }
}

/// On Windows tools write paths with backslashes. A shell command is left alone: there a backslash escapes, as on
/// other systems.
pub(in crate::workspace) fn with_slashes(tool: &ToolUse) -> Cow<'_, ToolUse> {
    match tool {
        ToolUse::Write { path } if cfg!(windows) => {
            Cow::Owned(ToolUse::Write { path: path.replace('\\', "/") })
        }
        ToolUse::Shell { command, folder: Some(folder) } if cfg!(windows) => {
            Cow::Owned(ToolUse::Shell { command: command.clone(), folder: Some(folder.replace('\\', "/")) })
        }
        _ => Cow::Borrowed(tool),
    }
}

fn resolve(path: &str) -> ResolvedPath {
    if path.len() > PATH_MAX {
        return ResolvedPath { path: normal(path), exists: false, is_foreign_listing: false };
    }
    let real = real_path(Path::new(path), LINKS_MAX);
    let named = Path::new(path);
    ResolvedPath {
        path: normal(&text(&real)),
        exists: matches!(RealDisk.stat(&real), Ok(Some(_))),
        is_foreign_listing: named.ends_with(LISTING) && is_foreign(&RealDisk, named),
    }
}

/// The path with links resolved, as far as it exists. A dangling link is followed too: writing to it creates
/// the file that it points to.
pub(in crate::workspace) fn real_path(path: &Path, links_left: usize) -> PathBuf {
    if let Ok(real) = RealDisk.real_path(path) {
        return real;
    }
    let Some(parent) = path.parent() else { return path.to_owned() };
    let folder = real_path(parent, links_left);
    let Some(name) = path.file_name() else {
        // The path ends with `..`.
        return folder.parent().unwrap_or(&folder).to_owned();
    };
    let here = folder.join(name);
    match RealDisk.read_link(&here) {
        Ok(to) if links_left > 0 => real_path(&folder.join(to), links_left - 1),
        _ => here,
    }
}

/// A path as core expects it: with forward slashes, and without the `\\?\` prefix of Windows.
pub(in crate::workspace) fn text(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.trim_start_matches(r"\\?\").replace('\\', "/") } else { text.into_owned() }
}
