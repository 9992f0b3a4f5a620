//! The hand-over of a session: written before a compaction and at the end, given to the next session once.
//!
//! It is one file beside the sessions, so that the next session finds it whatever client it runs in. Its text comes
//! from the log, so it is not journalled; what the agent said for it is an event of the log.

use super::session_log::Durability;
use super::{WorkingSet, location, new_session_id};
use crate::config::write_plain;
use crate::disk::LockGuard;
use crate::workspace::Failure;
use lorelane_core::conversation::Message;
use lorelane_core::text::{cut, printable};
use lorelane_core::working_set::{EventKind, HANDOVER_TEXT_MAX, Handover, HandoverFacts, WorkingSetError};
use std::path::PathBuf;
use std::time::Duration;

pub(super) const HANDOVER_FILE: &str = "handover.md";
const ARCHIVE: &str = "archive";
const HANDOVER_MAX_BYTES: u64 = 256 << 10;
/// A hook waits this long for another writer. The hand-over then waits for the next session.
const LOCK_WAIT: Duration = Duration::from_millis(300);

/// A hand-over that a session received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenHandover {
    pub handover: Handover,
    /// Where it is now, relative to the project.
    pub place: String,
}

impl WorkingSet<'_> {
    /// Notes what the agent says for the next session, and writes the hand-over.
    pub fn say_handover(&mut self, text: &str) -> Result<Option<PathBuf>, Failure> {
        let text = cut(printable(text).trim(), HANDOVER_TEXT_MAX);
        if text.is_empty() {
            let what = "the hand-over has no text".to_owned();
            return Err(WorkingSetError::InvalidArgs { what }.into());
        }
        let lock = self.lock()?;
        self.load_fast()?;
        let (path, action) = (String::new(), "said".to_owned());
        self.append(vec![EventKind::Handover { path, action, text }], Durability::Synced)?;
        self.save_snapshot();
        drop(lock);
        self.write_handover(&[])
    }

    /// Writes the hand-over; `None` if nothing happened in the session.
    pub fn write_handover(&mut self, last_messages: &[Message]) -> Result<Option<PathBuf>, Failure> {
        let _lock = self.lock()?;
        self.load_fast()?;
        let (session, at) = (self.writer().to_owned(), self.workspace.now);
        let facts = HandoverFacts { session: &session, at, state: &self.state, last_messages };
        let Some(text) = facts.render() else { return Ok(None) };
        let file = self.handover_file();
        if let Some(waiting) = self.waiting_handover()? {
            let (waiting, new) = (Handover::read(&waiting), Handover::read(&text));
            if waiting.is_same(&new) {
                return Ok(Some(file));
            }
            // That of another session was not given to anybody: it is kept, but only the newest is given.
            if waiting.session != new.session {
                self.archive_handover(&waiting)?;
            }
        }
        write_plain(&*self.workspace.disk, &file, text.as_bytes())?;
        let (path, action) = (self.path_in_root(&self.handover_name()), "written".to_owned());
        let event = EventKind::Handover { path, action, text: String::new() };
        self.append(vec![event], Durability::Synced)?;
        self.save_snapshot();
        Ok(Some(file))
    }

    /// The hand-over that waits for the next session.
    pub fn waiting_handover(&self) -> Result<Option<String>, Failure> {
        let file = self.handover_file();
        let bytes = self.workspace.disk.read_regular(&file, HANDOVER_MAX_BYTES);
        let bytes = bytes.map_err(|source| Failure::io("read", &file, source))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The session that wrote the waiting hand-over, if it is one for this session.
    pub(super) fn writer_of_waiting(&self, is_resumed: bool) -> Option<String> {
        let writer = Handover::read(&self.waiting_handover().ok()??).session?;
        (!is_resumed || writer != self.writer()).then_some(writer)
    }

    /// Takes the hand-over for this session. Of two sessions that begin at once, one gets it. A session that goes on
    /// where it ended knows what it wrote itself.
    pub(super) fn take_handover(&mut self, is_resumed: bool) -> Result<Option<GivenHandover>, Failure> {
        if !self.workspace.disk.exists(&self.handover_file()) {
            return Ok(None);
        }
        let _lock = self.lock()?;
        self.load_fast()?;
        let Some(text) = self.waiting_handover()? else { return Ok(None) };
        let handover = Handover::read(&text);
        if is_resumed && handover.session.as_deref() == Some(self.writer()) {
            return Ok(None);
        }
        let place = self.archive_handover(&handover)?;
        let (path, action) = (place.clone(), "given".to_owned());
        let event = EventKind::Handover { path, action, text: String::new() };
        // It is taken, so it is given even if that cannot be logged.
        if let Err(failure) = self.append(vec![event], Durability::Synced) {
            self.warnings.push(failure.to_string());
        }
        self.save_snapshot();
        Ok(Some(GivenHandover { handover, place }))
    }

    /// Moves the hand-over into the archive of the session that wrote it.
    fn archive_handover(&self, handover: &Handover) -> Result<String, Failure> {
        let disk = &*self.workspace.disk;
        let writer = handover.session.as_deref().map(location::session_id);
        let folder = writer.map(|session| self.root.folder_of(&session));
        let folder = folder.filter(|folder| disk.is_folder(&self.store_root().join(folder)));
        let folder = folder.unwrap_or_else(|| self.folder.clone());
        let archive = if folder.is_empty() { ARCHIVE.to_owned() } else { format!("{folder}/{ARCHIVE}") };
        let stamp = new_session_id(self.workspace.now);
        let names = std::iter::once(format!("{archive}/handover-{stamp}.md"))
            .chain((2..1_000).map(|number| format!("{archive}/handover-{stamp}-{number}.md")));
        let free = names.into_iter().find(|name| !disk.exists(&self.store_root().join(name)));
        let free = free.unwrap_or_else(|| format!("{archive}/handover-{stamp}.md"));
        let (from, to) = (self.handover_file(), self.store_root().join(&free));
        let archive = self.store_root().join(archive);
        disk.create_dir_all(&archive).map_err(|source| Failure::io("create", &archive, source))?;
        disk.rename(&from, &to).map_err(|source| Failure::io("rename", &from, source))?;
        Ok(self.path_in_root(&free))
    }

    fn lock(&self) -> Result<LockGuard, Failure> {
        let root = self.store_root();
        let locked = self.workspace.disk.lock_dir(&root, LOCK_WAIT);
        locked.map_err(|fault| Failure::io("lock", &root, fault.into()))
    }

    /// The client's name of this session: in a flat root, sessions share one folder.
    pub(super) fn writer(&self) -> &str {
        if self.root.is_flat && !self.state.session.is_empty() { &self.state.session } else { &self.session }
    }

    fn handover_name(&self) -> String {
        match self.root.is_flat {
            true => HANDOVER_FILE.to_owned(),
            false => format!("{}/{HANDOVER_FILE}", location::SESSIONS),
        }
    }

    fn handover_file(&self) -> PathBuf {
        self.store_root().join(self.handover_name())
    }

    /// A path below the root of the sessions, relative to the project.
    fn path_in_root(&self, relative: &str) -> String {
        if self.root.root == "." { relative.to_owned() } else { format!("{}/{relative}", self.root.root) }
    }
}
