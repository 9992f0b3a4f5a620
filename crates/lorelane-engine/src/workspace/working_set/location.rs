//! Where the sessions of a project are, and whether its user wants a working set.
//!
//! The choice is in the user's state folder and not in the project: a cloned repository may bring a session folder,
//! but hooks write only where this user ran `ws init`.

use crate::disk::Disk;
use crate::state::StateFolder;
use crate::workspace::Failure;
use lorelane_core::digest::short_digest;
use lorelane_core::json::{self, JsonFormat};
use lorelane_core::path::RelPath;
use lorelane_core::working_set::{WorkingSetError, WorkingSetFile};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file in the project's state that says where its sessions are.
const OPT_IN: &str = "working-set.json";
const OPT_IN_MAX_BYTES: u64 = 64 << 10;
pub(super) const DEFAULT_SESSION_ROOT: &str = ".agent";
/// Folders in which other programs of the protocol keep one session.
const FLAT_ROOTS: [&str; 3] = [".agent", ".moollm", "."];
const SESSIONS: &str = "sessions";
const CURRENT: &str = "sessions/current";
const SESSION_ID_MAX: usize = 100;

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
        let bytes =
            disk.read_bounded(&state.join(OPT_IN), crate::disk::LinkPolicy::Followed, OPT_IN_MAX_BYTES);
        let text = String::from_utf8(bytes.ok()??).ok()?;
        let root: SessionRoot = json::from_str(&text).ok()?;
        root.is_inside().then_some(root)
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
        crate::config::write_plain(disk, &file, text.as_bytes())?;
        Ok(())
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
        crate::config::write_plain(disk, &file, format!("{session}\n").as_bytes())?;
        Ok(())
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
