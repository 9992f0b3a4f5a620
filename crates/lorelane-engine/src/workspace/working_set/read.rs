//! Files of the working set: what a typed path means, and what is in it.

use super::WorkingSet;
use super::snapshot::TokenStamp;
use crate::disk::{FileType, Stat};
use crate::workspace::Failure;
use lorelane_core::memory::Address;
use lorelane_core::path::{PathFault, RelPath};
use lorelane_core::working_set::{Sidecar, WorkingSetError, sidecar_path};
use std::path::{Component, Path, PathBuf};

/// A longer file is not text for a model.
pub(super) const FILE_MAX_BYTES: u64 = 16 << 20;
const SIDECAR_MAX_BYTES: u64 = 256 << 10;
/// How an entry names a memory.
pub(super) const MEMORY: &str = "memory:";

impl WorkingSet<'_> {
    /// The name under which the set keeps what somebody typed: a file relative to `start`, to the session folder or
    /// to the project, or the address of a memory.
    pub fn resolve(
        &mut self,
        attempt: &'static str,
        typed: &str,
        start: Option<&Path>,
    ) -> Result<String, Failure> {
        if let Some(address) = typed.strip_prefix(MEMORY) {
            let address = self.workspace.find(address)?;
            return Ok(format!("{MEMORY}{address}"));
        }
        let project = self.workspace.project.root.clone();
        let (session, here) = (self.path(""), start.unwrap_or(&project).to_owned());
        let mut escapes = false;
        for base in [here.as_path(), session.as_path(), project.as_path()] {
            let Some(path) = normal(&base.join(typed)).filter(|path| path.starts_with(&project)) else {
                escapes = true;
                continue;
            };
            let stat =
                self.workspace.disk.stat(&path).map_err(|source| Failure::io("look at", &path, source))?;
            let Some(stat) = stat else { continue };
            let name = path.strip_prefix(&project).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            return self.checked(attempt, name, stat);
        }
        match self.workspace.find(typed) {
            Ok(address) => Ok(format!("{MEMORY}{address}")),
            Err(_) if escapes => Err(WorkingSetError::Escapes { attempt, path: typed.to_owned() }.into()),
            Err(_) => Err(WorkingSetError::NotFound { attempt, path: typed.to_owned() }.into()),
        }
    }

    fn checked(&self, attempt: &'static str, path: String, stat: Stat) -> Result<String, Failure> {
        let kind = match stat.kind {
            FileType::File => {
                let invalid =
                    |fault: PathFault| WorkingSetError::InvalidPath { attempt, path: path.clone(), fault };
                RelPath::parse(&path).map_err(invalid)?;
                return Ok(path);
            }
            FileType::Folder => "folder",
            FileType::Symlink => "link",
            FileType::Other => "device, socket or pipe",
        };
        Err(WorkingSetError::NotAFile { attempt, path, kind }.into())
    }

    /// The name of a file that may be gone: one that the set knows is found without looking at the disk.
    pub fn resolve_known(
        &mut self,
        attempt: &'static str,
        typed: &str,
        start: Option<&Path>,
    ) -> Result<String, Failure> {
        let session_path = self.from_project(typed);
        let known =
            [typed, session_path.as_str()].into_iter().find(|path| self.state.files.contains_key(*path));
        match known {
            Some(path) => Ok(path.to_owned()),
            None => self.resolve(attempt, typed, start),
        }
    }

    pub(super) fn file_of(&self, path: &str) -> PathBuf {
        self.workspace.project.root.join(path)
    }

    /// The text of an entry, or why it cannot be read.
    pub(super) fn text_of(&self, path: &str) -> Result<String, String> {
        if let Some(address) = path.strip_prefix(MEMORY) {
            let address = Address::parse(address).ok_or_else(|| "it is not an address".to_owned())?;
            let loaded = self.workspace.load(&address).map_err(|failure| failure.to_string())?;
            return Ok(loaded.document.text);
        }
        let file = self.file_of(path);
        match self.workspace.disk.read_regular(&file, FILE_MAX_BYTES) {
            Ok(Some(bytes)) => String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned()),
            Ok(None) => Err("there is no such file".to_owned()),
            Err(source) => Err(source.to_string()),
        }
    }

    /// Tokens and lines of an entry; counted again only if the file changed.
    pub(super) fn tokens_of(&mut self, path: &str) -> Result<TokenStamp, String> {
        let stat = match path.starts_with(MEMORY) {
            true => None,
            false => self.workspace.disk.stat(&self.file_of(path)).map_err(|source| source.to_string())?,
        };
        let (len, mtime_ns) = stat.map_or((0, 0), |stat| (stat.len, stat.mtime_ns));
        let is_same = |known: &&TokenStamp| stat.is_some() && (known.len, known.mtime_ns) == (len, mtime_ns);
        if let Some(known) = self.tokens.get(path).filter(is_same) {
            return Ok(*known);
        }
        let text = self.text_of(path)?;
        let stamp = TokenStamp {
            len,
            mtime_ns,
            tokens: lorelane_core::text::tokens(&text) as u64,
            lines: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
        };
        self.tokens.insert(path.to_owned(), stamp);
        Ok(stamp)
    }

    /// The text of a file's sidecar: lorelane's own, or one beside a session file or a source, which is only read.
    pub(super) fn sidecar_text(&self, path: &str) -> Option<(String, SidecarPlace)> {
        let read = |file: &Path| {
            let bytes = self.workspace.disk.read_regular(file, SIDECAR_MAX_BYTES).ok()??;
            String::from_utf8(bytes).ok()
        };
        if let Some(inside) = self.in_session(path) {
            let beside = format!("{inside}.meta.yml");
            return Some((read(&self.path(&beside))?, SidecarPlace::InSession(beside)));
        }
        let own = sidecar_path(path);
        if let Some(text) = read(&self.path(&own)) {
            return Some((text, SidecarPlace::InSession(own)));
        }
        if path.starts_with(MEMORY) {
            return None;
        }
        let file = self.file_of(path);
        let name = file.file_name()?.to_string_lossy().into_owned();
        let text = read(&file.with_file_name(format!("{name}.meta.yml")))?;
        Some((text, SidecarPlace::Foreign))
    }

    pub(super) fn sidecar(&self, path: &str) -> Option<Sidecar> {
        self.sidecar_text(path).and_then(|(text, _)| Sidecar::read(&text))
    }

    /// Where lorelane writes the sidecar of a file, relative to the session folder.
    pub(super) fn own_sidecar(&self, path: &str) -> String {
        match self.in_session(path) {
            Some(inside) => format!("{inside}.meta.yml"),
            None => sidecar_path(path),
        }
    }
}

/// Where a sidecar was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SidecarPlace {
    /// Relative to the session folder.
    InSession(String),
    /// Beside a source: somebody else's.
    Foreign,
}

/// The path without `.` and `..`; `None` if it leads above the root. Links are not followed: the disk refuses them.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                if !normal.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    Some(normal)
}
