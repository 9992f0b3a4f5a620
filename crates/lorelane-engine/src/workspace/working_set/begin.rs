//! The beginning of a client's session: its folder, the hand-over, and the sessions that nobody closed.

use super::handover::GivenHandover;
use super::session_log::load;
use super::snapshot::SNAPSHOTS;
use super::turn::ClientSession;
use super::{WorkingSet, location};
use crate::config::write_plain;
use crate::disk::{Disk, LinkPolicy, RealDisk};
use crate::env::{Env, Folders};
use crate::workspace::open::locate;
use crate::workspace::project::Project;
use crate::workspace::{Failure, Workspace};
use lorelane_core::working_set::{
    EventAuthor, EventKind, FileState, PROTOCOL, SessionBriefing, SessionLog, SetAction, SetManifest,
    SidecarEdit, WorkingSetFile, is_in_hand,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Of sessions that are not known to be closed, this many are looked at per start.
const LOOKED_AT: usize = 32;
const TAIL_BYTES: u64 = 16 << 10;
const CLOSED_MAX_BYTES: u64 = 4 << 20;
/// Files that are named at a session start; more do not fit.
const LISTED_MAX: usize = 64;
/// Files that come along from the session before.
const CARRIED_MAX: usize = 32;

/// What a session begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionContext {
    pub handover: Option<GivenHandover>,
    /// Path and reason of the files in the set, best first.
    pub files: Vec<(String, String)>,
}

impl SessionContext {
    /// The text for the model; empty if there is nothing to say.
    pub fn text(&self, max_chars: usize) -> String {
        let handover = self.handover.as_ref().map(|given| (&given.handover, given.place.as_str()));
        SessionBriefing { handover, files: &self.files }.text(max_chars)
    }
}

/// Opens the project around `start` if its user asked for a working set there, with memories or without. In any other
/// project this costs a few looks at the disk.
pub fn open_if_working_set(env: &Env, start: &Path) -> Result<Option<Workspace>, Failure> {
    let Some(folders) = env.folders() else { return Ok(None) };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let located = match locate::locate(&*disk, start) {
        Err(Failure::NoStore { start }) => locate::locate_bare(&*disk, &start)?,
        located => located?,
    };
    let project = Project::new(&disk, located.project.clone(), &located.lane, Some(&folders));
    if !location::SessionRoot::is_remembered(&*disk, &project.state) {
        return Ok(None);
    }
    Workspace::open_on(disk, env, located).map(Some)
}

impl WorkingSet<'_> {
    /// Begins a client's session, or goes on with it: makes it the current one, closes those that were left open, and
    /// takes the hand-over of the last one with the files that were in hand.
    pub fn begin(
        &mut self,
        session: &ClientSession<'_>,
        is_resumed: bool,
    ) -> Result<SessionContext, Failure> {
        self.reopen(session)?;
        if let Err(failure) = self.make_current() {
            self.warnings.push(failure.to_string());
        }
        if let Err(failure) = self.close_old_sessions() {
            self.warnings.push(failure.to_string());
        }
        let writer = self.writer_of_waiting(is_resumed);
        if let Some(writer) = writer
            && let Err(failure) = self.carry_from(&writer)
        {
            self.warnings.push(failure.to_string());
        }
        let files = self.listed();
        // Taken last: a hook that is ended before it could answer leaves it for the next session.
        let handover = self.take_handover(is_resumed).unwrap_or_else(|failure| {
            self.warnings.push(failure.to_string());
            None
        });
        Ok(SessionContext { handover, files })
    }

    /// A session that was closed goes on. In a flat root, sessions follow each other in one folder.
    pub fn reopen(&mut self, session: &ClientSession<'_>) -> Result<(), Failure> {
        let is_other =
            self.root.is_flat && self.state.session != session.session && !session.session.is_empty();
        if !self.state.is_closed && !is_other {
            return Ok(());
        }
        let session_id = if is_other { session.session.to_owned() } else { self.writer().to_owned() };
        let (protocol, client) = (PROTOCOL.to_owned(), Some(session.client.to_owned()));
        self.commit("go on with the session", |_, draft| {
            draft.events.push(EventKind::SessionStart { session_id, protocol, client });
            Ok(())
        })?;
        self.keep_closed(|closed| closed.retain(|id| *id != self.session));
        Ok(())
    }

    /// Path and reason of the files in the set, best first.
    fn listed(&self) -> Vec<(String, String)> {
        let turn = self.state.turn;
        let mut files = self.set_entries();
        files.sort_by(|a, b| b.priority.total_cmp(&a.priority).then_with(|| a.path.cmp(&b.path)));
        let note = |path: &str, file: &FileState| {
            let hot = file.hot.as_ref().map(|note| note.why.clone()).filter(|why| !why.is_empty());
            let used =
                || file.last_touch().map(|last| format!("used {} turns ago", turn.saturating_sub(last)));
            let title = || self.sidecar(path).and_then(|sidecar| sidecar.title);
            hot.or_else(used).or_else(title).unwrap_or_default()
        };
        let named =
            files.iter().take(LISTED_MAX).map(|file| (file.path.clone(), note(&file.path, &file.file)));
        let more = files.iter().skip(LISTED_MAX).map(|file| (file.path.clone(), String::new()));
        named.chain(more).collect()
    }

    /// The files that the session before had in hand enter this one, pinned ones with their pin.
    fn carry_from(&mut self, writer: &str) -> Result<(), Failure> {
        let session = location::session_id(writer);
        let folder = self.store_root().join(self.root.folder_of(&session));
        if self.root.is_flat || session == self.session || !self.workspace.disk.is_folder(&folder) {
            return Ok(());
        }
        let before = load(&*self.workspace.disk, &folder)?.state;
        let mut files: Vec<(&String, &FileState)> = before
            .files
            .iter()
            .filter(|(path, file)| {
                let is_known = self.state.files.get(*path).is_some_and(|known| known.entry.is_some());
                file.entry.is_some()
                    && is_in_hand(file, before.turn)
                    && !is_known
                    && self.in_sessions(path).is_none()
            })
            .collect();
        files.sort_by_key(|(path, file)| (!file.pinned, std::cmp::Reverse(file.last_touch()), path.as_str()));
        files.truncate(CARRIED_MAX);
        if files.is_empty() {
            return Ok(());
        }
        let by = EventAuthor::Orchestrator;
        self.commit(&format!("ws begin: {} files from {session}", files.len()), |set, draft| {
            let (mut entries, mut pinned) = (Vec::new(), Vec::new());
            for (path, file) in files {
                let Some(entry) = &file.entry else { continue };
                set.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::with_entry(text, entry))?;
                set.draft_sidecar(draft, path, by)?;
                if file.pinned {
                    set.edit_sidecar(
                        draft,
                        path,
                        &SidecarEdit { pin: Some(true), ..SidecarEdit::default() },
                    )?;
                    pinned.push(path.clone());
                }
                entries.push(entry.clone());
            }
            let why = format!("in hand in session {session}");
            let update = |action: SetAction, files, paths| {
                let (why, max_tokens) = (why.clone(), None);
                EventKind::WorkingSetUpdate { action, by, why, files, paths, max_tokens }
            };
            draft.events.push(update(SetAction::Add, entries, Vec::new()));
            if !pinned.is_empty() {
                draft.events.push(update(SetAction::Pin, Vec::new(), pinned));
            }
            Ok(())
        })
    }

    /// Closes sessions without an event for 24 hours: their client was killed. Which ones are closed is kept in the
    /// cache, so that a start does not read the log of every session there ever was.
    fn close_old_sessions(&mut self) -> Result<(), Failure> {
        if self.root.is_flat {
            return Ok(());
        }
        let project = self.workspace.project.root.clone();
        let disk = Arc::clone(&self.workspace.disk);
        let mut closed = self.closed();
        let known = closed.len();
        let sessions = self.root.sessions(&*disk, &project);
        closed.retain(|id| sessions.contains(id));
        let others = sessions.into_iter().filter(|id| *id != self.session && !closed.contains(id));
        for id in others.take(LOOKED_AT).collect::<Vec<_>>() {
            let folder = self.store_root().join(self.root.folder_of(&id));
            let Some(last) = last_event(&*disk, &folder) else { continue };
            let is_closed = matches!(last.kind, EventKind::SessionEnd { .. });
            if !is_closed && self.workspace.now.days_since(last.at) < 1 {
                continue;
            }
            if !is_closed {
                let mut other = WorkingSet::at(self.workspace, self.root.clone(), id.clone());
                other.close("no event for 24 hours")?;
            }
            closed.push(id);
        }
        if closed.len() != known {
            self.keep_closed(|kept| *kept = closed);
        }
        Ok(())
    }

    fn closed_file(&self) -> Option<PathBuf> {
        let folders = self.workspace.folders.as_ref()?;
        let name = format!("{}.closed", Folders::lane_key(&self.store_root()));
        Some(folders.cache.join(SNAPSHOTS).join(name))
    }

    fn closed(&self) -> Vec<String> {
        let read = |file: PathBuf| {
            let bytes =
                self.workspace.disk.read_bounded(&file, LinkPolicy::Followed, CLOSED_MAX_BYTES).ok()??;
            String::from_utf8(bytes).ok()
        };
        let text = self.closed_file().and_then(read).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// A cache: if it cannot be written, the logs are looked at again.
    fn keep_closed(&self, change: impl FnOnce(&mut Vec<String>)) {
        let Some(file) = self.closed_file() else { return };
        let before = self.closed();
        let mut closed = before.clone();
        change(&mut closed);
        if closed != before {
            let text: String = closed.iter().map(|id| format!("{id}\n")).collect();
            let _ = write_plain(&*self.workspace.disk, &file, text.as_bytes());
        }
    }
}

/// The last event of a log; `None` if its tail has no whole one.
fn last_event(disk: &dyn Disk, folder: &Path) -> Option<lorelane_core::working_set::SessionEvent> {
    let (mut part, mut file) = (1, folder.join(super::session_log::part_name(1)));
    while disk.exists(&folder.join(super::session_log::part_name(part + 1))) {
        part += 1;
        file = folder.join(super::session_log::part_name(part));
    }
    let (bytes, _) = disk.read_tail(&file, TAIL_BYTES).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let from = text.find("\n---\n\n## ")?;
    SessionLog::read_from(&text, from, "").blocks.pop().map(|block| block.event)
}
