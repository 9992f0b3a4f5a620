//! Captures on disk: a private file per session in the project's state folder.

use crate::disk::{Disk, FileType, READ_MAX_BYTES};
use crate::failure::Failure;
use crate::state::StateFolder;
use lorelane_core::capture::{Capture, is_outdated};
use lorelane_core::digest::short_digest;
use lorelane_core::forget::{EraseMode, Traces};
use lorelane_core::json::{self, JsonFormat};
use lorelane_core::memory::Category;
use lorelane_core::secret;
use lorelane_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// More than the excerpts of six categories can be.
const CAPTURE_MAX_BYTES: u64 = 4 << 20;
/// A session start has room for no more.
const PENDING_MAX: usize = 10;
/// Each of them is read, and a session start has no time for more.
const LOOKED_AT_MAX: usize = 50;
/// A hook has no time to wait, and the holder is done in a millisecond.
const LOCK_WAIT: Duration = Duration::from_millis(100);
/// `forget` may wait: a person asked for it.
const FORGET_WAIT: Duration = Duration::from_secs(5);
const PRIVATE: Option<u32> = Some(0o600);

/// The name of the file next to a capture that says which transcript is to be read again.
const UNREAD: &str = "unread";

/// A transcript that did not have the last answer yet when its session stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadTranscript {
    pub session: String,
    pub client: String,
    #[serde(serialize_with = "json::path_text")]
    pub path: PathBuf,
    /// How long it was then.
    pub length: u64,
}

/// What triage found, session by session.
#[derive(Debug)]
pub struct Captures {
    disk: Arc<dyn Disk>,
    folder: StateFolder,
}

impl Captures {
    pub fn new(disk: Arc<dyn Disk>, folder: impl Into<StateFolder>) -> Captures {
        Captures { disk, folder: folder.into() }
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.path()
    }

    /// The file of a session. Its id is foreign text: the name has its readable characters, and a digest that
    /// makes it unique.
    pub fn path_of(&self, session: &str) -> PathBuf {
        self.folder.join(&format!("{}.json", file_stem(session)))
    }

    /// What was found in a session before. A file that cannot be read counts as none.
    pub fn load(&self, session: &str) -> Option<Capture> {
        self.read(&self.path_of(session)).filter(|capture| capture.session == session)
    }

    /// Saves the capture of a session and removes outdated files. Returns the file.
    pub fn save(&self, capture: &Capture) -> Result<PathBuf, Failure> {
        self.locked(LOCK_WAIT, || {
            let path = self.path_of(&capture.session);
            self.keep(&path, capture)?;
            self.clear_away(capture.at);
            Ok(path)
        })
    }

    /// The sessions with open items, newest first, and only these items.
    pub fn pending(&self) -> Vec<Capture> {
        let mut files: Vec<(i64, PathBuf)> = self.files().collect();
        files.sort_by(|a, b| b.cmp(a));
        let captures = files.iter().take(LOOKED_AT_MAX).filter_map(|(_, path)| self.read(path));
        let mut pending: Vec<Capture> =
            captures.filter(|capture| capture.open_items().next().is_some()).collect();
        pending.iter_mut().for_each(|capture| capture.items.retain(|item| !item.settled));
        pending.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.session.cmp(&b.session)));
        pending.truncate(PENDING_MAX);
        pending
    }

    /// Records a transcript that is to be read again.
    pub fn put_unread(&self, unread: &UnreadTranscript) -> Result<(), Failure> {
        let text = json::to_string(unread, JsonFormat::LINE);
        self.put_beside(&unread.session, UNREAD, &text).map(drop)
    }

    /// The transcripts that have grown since they were recorded. Each is returned once: one that cannot be read
    /// would hold up every session start.
    pub fn take_unread(&self) -> Vec<UnreadTranscript> {
        let folder = self.folder.path();
        let listed = self.disk.list(&folder).ok().flatten().unwrap_or_default();
        let named = listed.into_iter().filter(|listed| listed.kind == FileType::File);
        let marked = named.filter(|listed| listed.name.ends_with(&format!("-{UNREAD}")));
        let files = marked.map(|listed| folder.join(listed.name)).take(LOOKED_AT_MAX);
        files
            .filter_map(|file| self.unread_in(&file).filter(|_| self.disk.remove_file(&file).is_ok()))
            .collect()
    }

    fn unread_in(&self, file: &Path) -> Option<UnreadTranscript> {
        let bytes = self.disk.read_regular(file, CAPTURE_MAX_BYTES).ok()??;
        let unread: UnreadTranscript = json::from_str(std::str::from_utf8(&bytes).ok()?).ok()?;
        let length = self.disk.stat(&unread.path).ok()??.len;
        (length > unread.length).then_some(unread)
    }

    /// Settles a category of a session: it was saved, or rejected for good.
    pub fn settle(&self, session: &str, category: Category) -> Result<(), Failure> {
        if self.load(session).is_none() {
            return Ok(());
        }
        self.locked(LOCK_WAIT, || {
            let Some(mut capture) = self.load(session) else { return Ok(()) };
            capture.settle(category);
            self.keep(&self.path_of(session), &capture)
        })
    }

    /// Writes a text for another program next to the captures, under a name that belongs to this session.
    pub fn put_beside(&self, session: &str, name: &str, text: &str) -> Result<PathBuf, Failure> {
        self.locked(LOCK_WAIT, || {
            let path = self.beside(session, name);
            self.put(&path, secret::masked(text).as_bytes())?;
            Ok(path)
        })
    }

    /// The path of such a text.
    pub fn beside(&self, session: &str, name: &str) -> PathBuf {
        self.folder.join(&format!("{}-{name}", file_stem(session)))
    }

    /// Removes such a text. One that cannot be removed goes when it is outdated.
    pub fn discard_beside(&self, session: &str, name: &str) {
        let _ = self.disk.remove_file(&self.beside(session, name));
    }

    /// Erases words that may be a forgotten memory's, in captures and in the files next to them. The capture
    /// itself stays: otherwise the same words would be captured again. Returns how many places had such words.
    pub fn forget(&self, traces: &Traces, act: EraseMode) -> Result<usize, Failure> {
        let folder = self.folder.path();
        let stat = self.disk.stat(&folder).map_err(|source| Failure::io("look at", &folder, source))?;
        if stat.is_none() {
            return Ok(0);
        }
        if act == EraseMode::Look {
            return self.forget_words(traces, act);
        }
        self.locked(FORGET_WAIT, || {
            let count = self.forget_words(traces, act)?;
            let folder = self.folder.path();
            self.disk.sync_dir(&folder).map_err(|source| Failure::io("sync", &folder, source))?;
            Ok(count)
        })
    }

    fn forget_words(&self, traces: &Traces, act: EraseMode) -> Result<usize, Failure> {
        let mut count = 0;
        for (_, path) in self.files() {
            if let Some(mut capture) = self.read(&path) {
                let emptied = capture.forget(traces);
                count += emptied;
                if act == EraseMode::Purge {
                    if emptied > 0 {
                        self.keep(&path, &capture)?;
                    }
                    self.sync_if_there(&path)?;
                }
            } else if self.is_told_in(traces, &path)? {
                count += 1;
                if act == EraseMode::Purge {
                    self.disk.remove_file(&path).map_err(|source| Failure::io("remove", &path, source))?;
                }
            }
        }
        Ok(count)
    }

    /// Whether a file that is not a capture may mention the memory: a text next to one, or what an interrupted
    /// write left.
    fn is_told_in(&self, traces: &Traces, path: &Path) -> Result<bool, Failure> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".tmp") || traces.sessions.iter().any(|from| name.starts_with(&file_stem(from))) {
            return Ok(true);
        }
        let text = self
            .disk
            .read_regular(path, READ_MAX_BYTES)
            .map_err(|source| Failure::io("read", path, source))?;
        Ok(traces.are_told_in(&String::from_utf8_lossy(&text.unwrap_or_default())))
    }

    fn sync_if_there(&self, path: &Path) -> Result<(), Failure> {
        match self.disk.sync_file(path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Failure::io("sync", path, source)),
            _ => Ok(()),
        }
    }

    /// Two sessions may settle the same capture at once.
    fn locked<T>(&self, wait: Duration, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let folder = self.folder.for_writing();
        let fault = |attempt, source| Failure::io(attempt, &folder, source);
        self.disk.create_private_dir_all(&folder).map_err(|source| fault("create", source))?;
        let _guard = self.disk.lock_dir(&folder, wait).map_err(|why| fault("lock", why.into()))?;
        work()
    }

    fn keep(&self, path: &Path, capture: &Capture) -> Result<(), Failure> {
        if !capture.is_over(capture.at) {
            return self.put(path, capture.to_text().as_bytes());
        }
        match self.disk.remove_file(path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(Failure::io("remove", path, source))
            }
            _ => Ok(()),
        }
    }

    /// Writes a new file and renames it over the old one: a symlink there is replaced, never followed.
    fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        let nonce: String = self.disk.nonce().iter().map(|byte| format!("{byte:02x}")).collect();
        let temporary = self.folder.join(&format!(".{nonce}.tmp"));
        let written = self
            .disk
            .create_new(&temporary, bytes, PRIVATE)
            .and_then(|()| self.disk.rename(&temporary, path));
        if written.is_err() {
            // What cannot be removed either goes when it is outdated.
            let _ = self.disk.remove_file(&temporary);
        }
        written.map_err(|source| Failure::io("write", path, source))
    }

    /// Goes by mtime, because reading all files would slow down every stop. One that cannot be removed is tried
    /// again by the next save.
    fn clear_away(&self, now: Timestamp) {
        for (mtime_ns, path) in self.files() {
            if is_outdated(Timestamp(mtime_ns / 1_000_000_000), now) {
                let _ = self.disk.remove_file(&path);
            }
        }
    }

    /// The files and when they were last written.
    fn files(&self) -> impl Iterator<Item = (i64, PathBuf)> {
        let folder = self.folder.path();
        let listed = self.disk.list(&folder).ok().flatten().unwrap_or_default();
        let files = listed.into_iter().filter(|listed| listed.kind == FileType::File);
        files.filter_map(move |listed| {
            let path = folder.join(listed.name);
            let stat = self.disk.stat(&path).ok().flatten()?;
            Some((stat.mtime_ns, path))
        })
    }

    fn read(&self, path: &Path) -> Option<Capture> {
        if path.extension().is_none_or(|extension| extension != "json") {
            return None;
        }
        let bytes = self.disk.read_regular(path, CAPTURE_MAX_BYTES).ok()??;
        Capture::read(std::str::from_utf8(&bytes).ok()?)
    }
}

fn file_stem(session: &str) -> String {
    let readable: String =
        session.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    format!("{readable}-{}", short_digest(session, 16))
}
