//! Files of the working set: what a typed path means, and what is in it.

use super::WorkingSet;
use super::snapshot::{SidecarStamp, TokenStamp};
use crate::disk::{FileType, Stat};
use crate::workspace::Failure;
use lorelane_core::memory::Address;
use lorelane_core::path::{PathFault, RelPath};
use lorelane_core::working_set::{Sidecar, WorkingSetError, sidecar_path};
use std::io::{self, ErrorKind};
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
            let stat = match self.workspace.disk.stat(&path) {
                Ok(Some(stat)) => stat,
                Ok(None) => continue,
                Err(fault) if is_no_name(&fault) => continue,
                Err(source) => return Err(Failure::io("look at", &path, source)),
            };
            let inside = path.strip_prefix(&project).unwrap_or(&path);
            let Some(name) = inside.to_str() else {
                let what = format!("cannot {attempt} {}: its path is not UTF-8", inside.display());
                return Err(WorkingSetError::InvalidArgs { what }.into());
            };
            if name.is_empty() {
                let (path, kind) = (typed.to_owned(), "folder");
                return Err(WorkingSetError::NotAFile { attempt, path, kind }.into());
            }
            return self.checked(
                attempt,
                if cfg!(windows) { name.replace('\\', "/") } else { name.to_owned() },
                stat,
            );
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
                match self.is_behind_a_link(&path)? {
                    true => "file behind a link",
                    false => return Ok(path),
                }
            }
            FileType::Folder => "folder",
            FileType::Symlink => "link",
            FileType::Other => "device, socket or pipe",
        };
        Err(WorkingSetError::NotAFile { attempt, path, kind }.into())
    }

    /// Whether a folder on the way to a file is a link. Nothing is read through one.
    fn is_behind_a_link(&self, path: &str) -> Result<bool, Failure> {
        for (at, _) in path.match_indices('/') {
            let folder = self.file_of(&path[..at]);
            let stat = self.workspace.disk.stat(&folder);
            let stat = stat.map_err(|source| Failure::io("look at", &folder, source))?;
            if stat.is_some_and(|stat| stat.kind == FileType::Symlink) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The name of a file that may be gone: one that the set knows is found without looking at the disk.
    pub fn resolve_known(
        &mut self,
        attempt: &'static str,
        typed: &str,
        start: Option<&Path>,
    ) -> Result<String, Failure> {
        let session_path = self.path_in_project(typed);
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

    /// The file of an entry, or why there is none: a manifest or a log may come with a repository and name any path.
    pub(super) fn file_inside(&self, path: &str) -> Result<PathBuf, String> {
        match RelPath::parse(path) {
            Ok(_) => Ok(self.file_of(path)),
            Err(_) => Err("it is not a path inside the project".to_owned()),
        }
    }

    /// The bytes of an entry's file. Manifests of other programs name files of the session relative to its folder.
    pub(super) fn bytes_of(&self, path: &str) -> Result<Vec<u8>, String> {
        for file in [self.file_inside(path)?, self.path(path)] {
            match self.workspace.disk.read_regular(&file, FILE_MAX_BYTES) {
                Ok(Some(bytes)) => return Ok(bytes),
                Ok(None) => {}
                Err(fault) if is_no_name(&fault) => {}
                Err(source) => return Err(source.to_string()),
            }
        }
        Err("there is no such file".to_owned())
    }

    /// The text of an entry, or why it cannot be read.
    pub(super) fn text_of(&self, path: &str) -> Result<String, String> {
        if let Some(address) = path.strip_prefix(MEMORY) {
            let address = Address::parse(address).ok_or_else(|| "it is not an address".to_owned())?;
            let loaded = self.workspace.load(&address).map_err(|failure| failure.to_string())?;
            return Ok(loaded.document.text);
        }
        String::from_utf8(self.bytes_of(path)?).map_err(|_| "it is not UTF-8".to_owned())
    }

    /// Tokens and lines of an entry; counted again only if the file changed.
    pub(super) fn tokens_of(&mut self, path: &str) -> Result<TokenStamp, String> {
        let stat = match path.starts_with(MEMORY) {
            true => None,
            false => self.workspace.disk.stat(&self.file_inside(path)?).unwrap_or_default(),
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
        self.has_new_counts = true;
        Ok(stamp)
    }

    /// The text of a file's sidecar: lorelane's own, or one beside a session file or a source, which is only read.
    pub(super) fn sidecar_text(&self, path: &str) -> Option<(String, SidecarPlace)> {
        let read = |file: &Path| {
            let bytes = self.workspace.disk.read_regular(file, SIDECAR_MAX_BYTES).ok()??;
            String::from_utf8(bytes).ok()
        };
        // The path may come from a manifest or a log of somebody else.
        RelPath::parse(&sidecar_path(path)).ok()?;
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
        let mut sidecar = self.read_sidecar(path)?;
        sidecar.summarized_in = sidecar.summarized_in.map(|summary| self.project_name(summary));
        Some(sidecar)
    }

    /// What a sidecar says; read again only if it changed.
    fn read_sidecar(&self, path: &str) -> Option<Sidecar> {
        let own = self.path(&self.own_sidecar(path));
        let stat = self.workspace.disk.stat(&own).ok().flatten();
        let is_same = |known: &&SidecarStamp| {
            stat.as_ref().is_some_and(|stat| (stat.len, stat.mtime_ns) == (known.len, known.mtime_ns))
        };
        if let Some(known) = self.sidecars.borrow().get(path).filter(is_same) {
            return Some(known.sidecar.clone());
        }
        let sidecar = self.sidecar_text(path).and_then(|(text, _)| Sidecar::read(&text))?;
        // One of another program, beside its source, is read each time.
        if let Some(stat) = &stat {
            let known = SidecarStamp { len: stat.len, mtime_ns: stat.mtime_ns, sidecar: sidecar.clone() };
            self.sidecars.borrow_mut().insert(path.to_owned(), known);
            self.has_new_sidecars.set(true);
        }
        Some(sidecar)
    }

    /// The name in the project of what another program may have named relative to the session folder.
    pub(super) fn project_name(&self, path: String) -> String {
        let is_own = self.in_session(&path).is_some() || path.starts_with(MEMORY);
        if is_own || RelPath::parse(&path).is_err() || self.workspace.disk.exists(&self.file_of(&path)) {
            return path;
        }
        if self.workspace.disk.exists(&self.path(&path)) { self.path_in_project(&path) } else { path }
    }

    /// Where lorelane writes the sidecar of a file, relative to the session folder.
    pub(super) fn own_sidecar(&self, path: &str) -> String {
        match self.in_session(path) {
            Some(inside) => format!("{inside}.meta.yml"),
            None => sidecar_path(path),
        }
    }
}

/// Whether a path cannot be that of a file: a part of it is a file, or its name is too long.
fn is_no_name(fault: &io::Error) -> bool {
    matches!(fault.kind(), ErrorKind::NotADirectory | ErrorKind::InvalidFilename)
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
