//! The sessions on this machine, by the transcripts that their clients wrote, and whose they are.

use super::SessionCapture;
use crate::disk::{Disk, FileType, LinkPolicy};
use crate::env::{Env, Var};
use crate::workspace::locate;
use crate::workspace::open::auto::{ClientFolder, cwd_of, repository_root, text};
use lorelane_core::conversation::TranscriptFormat;
use lorelane_core::dialect::auto::project_slug;
use lorelane_core::json::Json;
use lorelane_core::time::Timestamp;
use std::path::{Path, PathBuf};

const CLAUDE_CODE: &str = "claude-code";
const CODEX: &str = "codex";
/// The newest sessions that are looked at.
const SESSIONS_MAX: usize = 5_000;
/// Codex sorts sessions into folders by year, month and day.
const DEPTH_MAX: usize = 4;
/// Where a transcript says in which folder it ran: nearly always in its first lines, which may be long.
const STARTS: [usize; 2] = [64 << 10, 2 << 20];
/// The first line of a transcript, to tell its client.
const FIRST_LINE_MAX: u64 = 256 << 10;
/// An id of this form ends the name of a Codex transcript.
const UUID_LENGTH: usize = 36;

/// The transcript of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    /// As the client's hooks name it.
    pub id: String,
    pub client: &'static str,
    pub path: PathBuf,
    pub modified: Timestamp,
    pub length: u64,
}

/// Which sessions are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionChoice<'a> {
    /// Those that were not extracted yet, or have grown since.
    New,
    Since(Timestamp),
    All,
    /// An id, the beginning of one, or a path.
    Named(&'a str),
}

#[derive(Debug, thiserror::Error)]
pub enum SessionChoiceError {
    #[error("cannot find a session '{name}'")]
    Missing { name: String },
    #[error("'{name}' is the beginning of several sessions: {}", .ids.join(", "))]
    Unclear { name: String, ids: Vec<String> },
}

/// Whose a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SessionOwner {
    ThisProject,
    /// It ran in this folder.
    Other(PathBuf),
    /// Nothing says in which folder it ran.
    Unknown,
}

impl SessionFile {
    pub(super) fn format(&self) -> TranscriptFormat {
        if self.client == CODEX { TranscriptFormat::Codex } else { TranscriptFormat::ClaudeCode }
    }

    /// A file that exists, whatever wrote it.
    fn at(disk: &dyn Disk, path: &Path) -> Option<SessionFile> {
        let stat = disk.stat(path).ok()??;
        if stat.kind != FileType::File {
            return None;
        }
        let mut file = disk.open(path, LinkPolicy::Refused).ok()?;
        let start = file.read_at(0, stat.len.min(FIRST_LINE_MAX) as usize).ok()?;
        let is_codex = is_codex(&start);
        Some(SessionFile::new(if is_codex { CODEX } else { CLAUDE_CODE }, path, stat.len, stat.mtime_ns))
    }

    fn new(client: &'static str, path: &Path, length: u64, mtime_ns: i64) -> SessionFile {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let id = match stem.len().checked_sub(UUID_LENGTH) {
            Some(start) if client == CODEX => stem.get(start..).unwrap_or(&stem),
            _ => &stem,
        };
        SessionFile {
            id: id.to_owned(),
            client,
            path: path.to_owned(),
            modified: Timestamp(mtime_ns.div_euclid(1_000_000_000)),
            length,
        }
    }
}

/// Lines of Codex keep everything in a payload. The last line may be cut off.
fn is_codex(start: &[u8]) -> bool {
    let mut lines = start.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let first = lines.find_map(|line| Json::parse(line).ok());
    first.map_or_else(
        || memchr::memmem::find(start, b"\"type\":\"session_meta\"").is_some(),
        |line| line.at("payload").is_some_and(|payload| payload.as_object().is_some()),
    )
}

impl SessionCapture<'_> {
    /// The sessions that are meant, newest first, of any project.
    pub fn sessions(
        &self,
        env: &Env,
        choice: SessionChoice<'_>,
    ) -> Result<Vec<SessionFile>, SessionChoiceError> {
        let disk = &*self.workspace.disk;
        if let SessionChoice::Named(name) = choice {
            return named(disk, env, name).map(|session| vec![session]);
        }
        let mut all = all(disk, env);
        match choice {
            SessionChoice::Since(since) => all.retain(|session| session.modified >= since),
            SessionChoice::New => {
                let extracted = self.extracted();
                all.retain(|session| !extracted.has(session));
            }
            SessionChoice::All | SessionChoice::Named(_) => {}
        }
        all.truncate(SESSIONS_MAX);
        Ok(all)
    }

    /// Whose a session is: by the folder it ran in. The name of its folder cannot be turned back into a path, so it only
    /// counts where the transcript says nothing.
    pub(super) fn owner(&self, session: &SessionFile) -> SessionOwner {
        let (disk, root) = (&*self.workspace.disk, &self.workspace.project.root);
        let cwd = cwd_of(disk, &session.path, &STARTS);
        let Some(cwd) = cwd else {
            let folder = session.path.parent().and_then(Path::file_name).unwrap_or_default();
            let is_own = session.client == CLAUDE_CODE
                && [root.clone(), repository_root(root)]
                    .iter()
                    .any(|root| project_slug(&text(root)) == folder.to_string_lossy());
            return if is_own { SessionOwner::ThisProject } else { SessionOwner::Unknown };
        };
        if is_in_project(disk, &cwd, root) { SessionOwner::ThisProject } else { SessionOwner::Other(cwd) }
    }
}

/// Whether work in a folder belongs to a project: it is the nearest one above, or another work tree of its repository.
fn is_in_project(disk: &dyn Disk, cwd: &Path, root: &Path) -> bool {
    let Ok(real) = disk.real_path(cwd) else {
        // A work tree or subfolder that is gone.
        return cwd.starts_with(root) || cwd.starts_with(repository_root(root));
    };
    let is_top = |folder: &Path| disk.exists(&folder.join(".git"));
    let top = match locate(disk, &real) {
        Ok(located) if located.project == *root => return true,
        // A part of a repository may have memories of its own.
        Ok(located) => Some(located.project).filter(|project| is_top(project)),
        Err(_) => real.ancestors().find(|folder| is_top(folder)).map(Path::to_owned),
    };
    top.is_some_and(|top| is_top(root) && repository_root(&top) == repository_root(root))
}

/// All sessions, newest first.
fn all(disk: &dyn Disk, env: &Env) -> Vec<SessionFile> {
    let mut found = Vec::new();
    if let Some(client) = ClientFolder::of(env) {
        let projects = client.projects();
        for folder in entries(disk, &projects, FileType::Folder) {
            // Transcripts of sub-agents have nothing that a person said.
            let is_session = |name: &str| name.ends_with(".jsonl") && !name.starts_with("agent-");
            add_files(disk, CLAUDE_CODE, &projects.join(folder), is_session, &mut found);
        }
    }
    let codex = env.path(Var::CodexHome).or_else(|| env.home().map(|home| home.join(".codex")));
    if let Some(codex) = codex {
        let mut folders = vec![(codex.join("sessions"), 0)];
        while let Some((folder, depth)) = folders.pop() {
            add_files(disk, CODEX, &folder, |name| name.ends_with(".jsonl"), &mut found);
            if depth < DEPTH_MAX {
                let below = entries(disk, &folder, FileType::Folder).into_iter();
                folders.extend(below.map(|name| (folder.join(name), depth + 1)));
            }
        }
    }
    found.sort_by(|one, other| other.modified.cmp(&one.modified).then_with(|| one.path.cmp(&other.path)));
    found
}

fn entries(disk: &dyn Disk, folder: &Path, kind: FileType) -> Vec<String> {
    let listed = disk.list(folder).ok().flatten().unwrap_or_default();
    listed.into_iter().filter(|listed| listed.kind == kind).map(|listed| listed.name).collect()
}

fn add_files(
    disk: &dyn Disk,
    client: &'static str,
    folder: &Path,
    is_session: impl Fn(&str) -> bool,
    found: &mut Vec<SessionFile>,
) {
    for name in entries(disk, folder, FileType::File).into_iter().filter(|name| is_session(name)) {
        let path = folder.join(name);
        if let Ok(Some(stat)) = disk.stat(&path) {
            found.push(SessionFile::new(client, &path, stat.len, stat.mtime_ns));
        }
    }
}

/// A session by its path, its id or the beginning of its id.
fn named(disk: &dyn Disk, env: &Env, name: &str) -> Result<SessionFile, SessionChoiceError> {
    let path = env.cwd.join(name);
    if let Some(session) = disk.real_path(&path).ok().and_then(|path| SessionFile::at(disk, &path)) {
        return Ok(session);
    }
    let missing = || SessionChoiceError::Missing { name: name.to_owned() };
    if name.is_empty() {
        return Err(missing());
    }
    let mut alike: Vec<SessionFile> =
        all(disk, env).into_iter().filter(|session| session.id.starts_with(name)).collect();
    if let Some(at) = alike.iter().position(|session| session.id == name) {
        return Ok(alike.swap_remove(at));
    }
    match alike.len() {
        0 => Err(missing()),
        1 => Ok(alike.swap_remove(0)),
        _ => {
            let ids = alike.into_iter().take(5).map(|session| session.id).collect();
            Err(SessionChoiceError::Unclear { name: name.to_owned(), ids })
        }
    }
}
