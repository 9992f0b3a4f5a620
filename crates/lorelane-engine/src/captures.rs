//! Captures on disk: a private file per session in the project's state folder.

use crate::disk::{Disk, FileType, READ_MAX_BYTES};
use crate::failure::Failure;
use crate::state::StateFolder;
use lorelane_core::capture::{Capture, CapturedItem, RejectedStatement, RejectedStatements, is_outdated};
use lorelane_core::digest::short_digest;
use lorelane_core::forget::{EraseMode, Traces};
use lorelane_core::json::{self, JsonFormat};
use lorelane_core::secret;
use lorelane_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
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

/// The files that an inbox may consist of. One session in ten leaves something, so this is years of work.
const INBOX_MAX: usize = 1_000;

/// The name of the file next to a capture that says which transcript is to be read again.
const UNREAD: &str = "unread";
/// The file with the next number of an item.
const NEXT_NUMBER: &str = "next-item";
/// The file with what was rejected in the inbox, see [`RejectedStatements`].
const REJECTED: &str = "rejected";

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

    /// Saves the capture of a session, and numbers its new items. Returns the file.
    pub fn save(&self, capture: &mut Capture) -> Result<PathBuf, Failure> {
        self.locked(LOCK_WAIT, || {
            let path = self.path_of(&capture.session);
            self.number(capture, capture.at)?;
            self.keep(&path, capture)?;
            Ok(path)
        })
    }

    /// The sessions with open items, newest first, and only these items.
    pub fn pending(&self) -> Vec<Capture> {
        let mut pending = self.open(LOOKED_AT_MAX);
        pending.truncate(PENDING_MAX);
        pending
    }

    /// All sessions with open items, newest first, and only these items.
    pub fn waiting(&self) -> Vec<Capture> {
        self.open(INBOX_MAX)
    }

    /// The same, and each item has its number.
    pub fn inbox(&self, now: Timestamp) -> Result<Vec<Capture>, Failure> {
        let open = self.waiting();
        let mut seen = BTreeSet::new();
        if open
            .iter()
            .flat_map(|capture| &capture.items)
            .all(|item| item.number > 0 && seen.insert(item.number))
        {
            return Ok(open);
        }
        self.locked(LOCK_WAIT, || self.number_all(now))?;
        Ok(self.waiting())
    }

    fn open(&self, files_max: usize) -> Vec<Capture> {
        let mut files: Vec<(i64, PathBuf)> = self.files().collect();
        files.sort_by(|a, b| b.cmp(a));
        let captures = files.iter().take(files_max).filter_map(|(_, path)| self.read(path));
        let mut open: Vec<Capture> =
            captures.filter(|capture| capture.open_items().next().is_some()).collect();
        open.iter_mut().for_each(|capture| capture.items.retain(|item| !item.settled));
        open.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.session.cmp(&b.session)));
        open
    }

    /// Numbers the items that an older version captured, oldest first, and those whose number another work tree used.
    fn number_all(&self, now: Timestamp) -> Result<(), Failure> {
        let mut captures: Vec<(PathBuf, Capture)> =
            self.files().filter_map(|(_, path)| self.read(&path).map(|capture| (path, capture))).collect();
        captures.sort_by_key(|(_, capture)| capture.at);
        let mut seen = BTreeSet::new();
        for (path, mut capture) in captures {
            let is_taken = |item: &&mut CapturedItem| item.number > 0 && !seen.insert(item.number);
            capture.items.iter_mut().filter(is_taken).for_each(|item| item.number = 0);
            if !capture.is_numbered() {
                self.number(&mut capture, now)?;
                self.put(&path, capture.to_text().as_bytes())?;
            }
        }
        Ok(())
    }

    /// Numbers are not used twice, so that a number in a list or a request always means the same item.
    fn number(&self, capture: &mut Capture, now: Timestamp) -> Result<(), Failure> {
        if capture.is_numbered() {
            return Ok(());
        }
        let file = self.folder.join(NEXT_NUMBER);
        let known = self.text_of(&file).and_then(|text| text.trim().parse().ok());
        let next = capture.number(known.unwrap_or_else(|| self.highest_number() + 1), now);
        self.put(&file, format!("{next}\n").as_bytes())
    }

    fn highest_number(&self) -> u64 {
        let captures = self.files().filter_map(|(_, path)| self.read(&path));
        captures.flat_map(|capture| capture.items).map(|item| item.number).max().unwrap_or(0)
    }

    /// What was rejected in the inbox.
    pub fn rejected(&self) -> RejectedStatements {
        let text = self.text_of(&self.folder.join(REJECTED)).unwrap_or_default();
        RejectedStatements::read(&text)
    }

    /// Remembers that an item was rejected.
    pub fn reject(&self, item: &CapturedItem, because: &str, now: Timestamp) -> Result<(), Failure> {
        self.locked(LOCK_WAIT, || {
            let mut rejected = self.rejected();
            rejected.add(RejectedStatement::of(item, because, now));
            self.put(&self.folder.join(REJECTED), rejected.to_text().as_bytes())
        })
    }

    fn text_of(&self, file: &Path) -> Option<String> {
        String::from_utf8(self.disk.read_regular(file, CAPTURE_MAX_BYTES).ok()??).ok()
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

    /// Settles an item of a session: it was saved, or nobody wants it.
    pub fn settle(&self, session: &str, number: u64) -> Result<(), Failure> {
        if self.file_of(session, number).is_none() {
            return Ok(());
        }
        self.locked(LOCK_WAIT, || {
            let Some((path, mut capture)) = self.file_of(session, number) else { return Ok(()) };
            capture.settle(number);
            self.keep(&path, &capture)
        })
    }

    /// The capture with an open item. State that was taken over from a work tree may have a second file for a session.
    fn file_of(&self, session: &str, number: u64) -> Option<(PathBuf, Capture)> {
        let has = |path: PathBuf| {
            let capture = self.read(&path)?;
            let is_meant = capture.session == session && capture.open_item(number).is_some();
            is_meant.then_some((path, capture))
        };
        has(self.path_of(session)).or_else(|| self.files().find_map(|(_, path)| has(path)))
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
            } else if path == self.folder.join(REJECTED) {
                let mut rejected = self.rejected();
                let dropped = rejected.forget(traces);
                count += dropped;
                if act == EraseMode::Purge {
                    if dropped > 0 {
                        self.put(&path, rejected.to_text().as_bytes())?;
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

    /// Drops the items that waited longer than `keep_days`, and removes files that nobody needs any more. Returns how
    /// many items were dropped. What cannot be written or removed is tried again next time. Reads every capture, so a
    /// stop hook has no time for it.
    pub fn clear_away(&self, keep_days: i64, now: Timestamp) -> usize {
        // What an older version captured waits from now on. If it cannot be numbered, it waits longer.
        let _ = self.inbox(now);
        let own = [NEXT_NUMBER, REJECTED].map(|name| self.folder.join(name));
        let files: Vec<(i64, PathBuf)> = self.files().filter(|(_, path)| !own.contains(path)).collect();
        let mut dropped = 0;
        for (mtime_ns, path) in files {
            let Some(mut capture) = self.read(&path) else {
                if is_outdated(Timestamp(mtime_ns / 1_000_000_000), now) {
                    let _ = self.disk.remove_file(&path);
                }
                continue;
            };
            let expired = capture.expire(keep_days, now);
            let written = match (capture.is_over(now), expired) {
                (true, _) => self.disk.remove_file(&path).is_ok(),
                (false, 0) => true,
                (false, _) => {
                    self.locked(LOCK_WAIT, || self.put(&path, capture.to_text().as_bytes())).is_ok()
                }
            };
            dropped += if written { expired } else { 0 };
        }
        dropped
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
