//! Where the sessions of a project are, and whether its user wants a working set.
//!
//! The choice is in the user's state folder and not in the project: a cloned repository may bring a session folder,
//! but hooks write only where this user ran `ws init`.

use crate::disk::Disk;
use crate::state::{StateFolder, WORKING_SET_FILE as OPT_IN};
use crate::workspace::Failure;
use lorelane_core::digest::short_digest;
use lorelane_core::json::{self, JsonFormat};
use lorelane_core::path::RelPath;
use lorelane_core::working_set::{WorkingSetError, WorkingSetFile};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const OPT_IN_MAX_BYTES: u64 = 64 << 10;
pub(super) const DEFAULT_SESSION_ROOT: &str = ".agent";
/// Folders in which other programs of the protocol keep one session.
const FLAT_ROOTS: [&str; 4] = [".agent", ".agent/sessions/current", ".moollm", "."];
pub(super) const SESSIONS: &str = "sessions";
const CURRENT: &str = "sessions/current";
const SESSION_ID_MAX: usize = 100;
/// The folders above a file that may have been created for it, and the one that holds them.
const NEW_FOLDERS_MAX: usize = 4;

/// The folder of the sessions, relative to the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SessionRoot {
    pub(super) root: String,
    /// Whether the root is the one session folder, as other programs have it.
    pub(super) is_flat: bool,
}

impl SessionRoot {
    /// What `ws init` chose, if it was run here.
    pub(super) fn chosen(disk: &dyn Disk, state: &StateFolder) -> Option<SessionRoot> {
        let read = |file: &Path| {
            disk.read_bounded(file, crate::disk::LinkPolicy::Followed, OPT_IN_MAX_BYTES).ok().flatten()
        };
        let bytes = read(&state.join(OPT_IN)).or_else(|| read(&state.path_without_id().join(OPT_IN)))?;
        let text = String::from_utf8(bytes).ok()?;
        let root: SessionRoot = json::from_str(&text).ok()?;
        root.is_inside().then_some(root)
    }

    /// Whether `ws init` was run here, at the cost of a look or two.
    pub(super) fn is_remembered(disk: &dyn Disk, state: &StateFolder) -> bool {
        disk.exists(&state.join(OPT_IN)) || disk.exists(&state.path_without_id().join(OPT_IN))
    }

    /// Where `ws init` puts the sessions: the folder that was named, one that exists, or `.agent/sessions`.
    pub(super) fn for_new(
        disk: &dyn Disk,
        project: &Path,
        named: Option<&str>,
    ) -> Result<SessionRoot, Failure> {
        let has_set = |root: &str| disk.exists(&project.join(root).join(WorkingSetFile::Set.name()));
        let root = match named {
            Some(named) => {
                let root = named.trim_end_matches('/');
                SessionRoot { is_flat: has_set(root), root: root.to_owned() }
            }
            None => match FLAT_ROOTS.into_iter().find(|root| has_set(root)) {
                Some(root) => SessionRoot { root: root.to_owned(), is_flat: true },
                None => SessionRoot { root: DEFAULT_SESSION_ROOT.to_owned(), is_flat: false },
            },
        };
        match root.is_inside() {
            true => Ok(root),
            false => Err(WorkingSetError::Escapes { attempt: "use", path: root.root }.into()),
        }
    }

    fn is_inside(&self) -> bool {
        self.root == "." || RelPath::parse(&self.root).is_ok()
    }

    pub(super) fn remember(&self, disk: &dyn Disk, state: &StateFolder) -> Result<(), Failure> {
        let folder = state.for_writing();
        disk.create_private_dir_all(&folder).map_err(|source| Failure::io("create", &folder, source))?;
        let file = folder.join(OPT_IN);
        let text = json::to_string(self, JsonFormat::FILE);
        write_durably(disk, &file, text.as_bytes())
    }

    pub(super) fn path(&self, project: &Path) -> PathBuf {
        if self.root == "." { project.to_owned() } else { project.join(&self.root) }
    }

    /// The folder of a session, relative to the root; empty for the one flat session.
    pub(super) fn folder_of(&self, session: &str) -> String {
        if self.is_flat { String::new() } else { format!("{SESSIONS}/{session}") }
    }

    /// The session that commands without one mean.
    pub(super) fn current(&self, disk: &dyn Disk, project: &Path) -> Option<String> {
        let file = self.path(project).join(CURRENT);
        let bytes = disk.read_regular(&file, OPT_IN_MAX_BYTES).ok()??;
        let id = String::from_utf8(bytes).ok()?.trim().to_owned();
        is_session_id(&id).then_some(id)
    }

    pub(super) fn set_current(&self, disk: &dyn Disk, project: &Path, session: &str) -> Result<(), Failure> {
        if self.is_flat {
            return Ok(());
        }
        let file = self.path(project).join(CURRENT);
        write_durably(disk, &file, format!("{session}\n").as_bytes())
    }

    /// The ids of all sessions, by name.
    pub(super) fn sessions(&self, disk: &dyn Disk, project: &Path) -> Vec<String> {
        let listed = disk.list(&self.path(project).join(SESSIONS)).ok().flatten().unwrap_or_default();
        let folders = listed.into_iter().filter(|entry| entry.kind == crate::disk::FileType::Folder);
        let mut ids: Vec<String> =
            folders.map(|entry| entry.name).filter(|name| is_session_id(name)).collect();
        ids.sort();
        ids
    }
}

/// Without these files nothing finds a session, so they survive a power cut as what was written to it does.
fn write_durably(disk: &dyn Disk, file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    crate::config::write_plain(disk, file, bytes)?;
    disk.sync_file(file).map_err(|source| Failure::io("sync", file, source))?;
    // A folder that cannot be opened was not created for this file, and neither were those above it.
    let _ = file.ancestors().skip(1).take(NEW_FOLDERS_MAX).try_for_each(|folder| disk.sync_dir(folder));
    Ok(())
}

/// The folder name of a client's session: its id, or a digest if that is not a file name.
pub(super) fn session_id(given: &str) -> String {
    if is_session_id(given) { given.to_owned() } else { short_digest(given, 32) }
}

fn is_session_id(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !id.is_empty()
        && id.len() <= SESSION_ID_MAX
        && id.chars().all(is_plain)
        && !id.starts_with('.')
        && id != "current"
}
