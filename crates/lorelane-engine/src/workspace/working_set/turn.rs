//! Turns and touches, as hooks see them.
//!
//! A turn is a message of the user. A touch is a read or write by a tool, or a mention by the user. Both are read from
//! the new part of the client's transcript; a client without one sends its tool calls.
//!
//! The set grows: a file of the project that a tool read or wrote enters it, with the default priority or, if it was
//! in the set before, with its former entry. The protocol lets the orchestrator add recent tool outputs, and a file
//! that the agent just needed is what it needs next. What a collection took out comes back with `readmit`.
//! What must not enter: files that git ignores (build results, our own session folders), files inside `.git`, files
//! that are no text or over 16 MB. A mention alone adds nothing, but a known file that the user mentions again is
//! promoted.

use super::change::AddRequest;
use super::read::FILE_MAX_BYTES;
use super::session_log::Durability;
use super::snapshot::TokenStamp;
use super::{WorkingSet, complete_log};
use crate::disk::{FileType, LinkPolicy};
use crate::env::Env;
use crate::git::Snapshots;
use crate::transcript;
use crate::workspace::Failure;
use crate::workspace::write_guard::text;
use lorelane_core::conversation::{TranscriptCall, TranscriptFormat};
use lorelane_core::guard::{ShellContext, normal};
use lorelane_core::path::RelPath;
use lorelane_core::working_set::{
    EventAuthor, EventKind, RECENT_TURNS, SetAction, SetEntry, SetManifest, Touch, TouchKind, WorkingSetFile,
    mentioned,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// New files of one look. What is used more often is seen again.
const GROW_MAX: usize = 32;
/// How many words of one message are looked up on the disk.
const MENTIONS_MAX: usize = 64;
/// A transcript without turns and touches is not read again and again.
const UNREAD_MAX: u64 = 64 << 10;
/// A file with a zero byte at its start is no text.
const PROBED_BYTES: usize = 4 << 10;

/// What happened since the last look at a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnTouches {
    /// The user's messages.
    pub turns: u32,
    pub touches: Vec<Touch>,
    /// How far the transcript was read.
    pub read_to: Option<u64>,
}

/// Where a hook sees what happened.
#[derive(Clone, Copy, Debug)]
pub enum TurnSource<'t> {
    Transcript {
        path: &'t Path,
        format: TranscriptFormat,
    },
    /// Of a client whose transcripts cannot be read.
    Prompt(&'t str),
    Calls(&'t [TranscriptCall]),
}

/// What a hook knows of a session.
#[derive(Clone, Copy, Debug)]
pub struct ClientSession<'c> {
    pub client: &'c str,
    pub session: &'c str,
    /// The folder that the session works in.
    pub start: &'c Path,
}

impl WorkingSet<'_> {
    /// Logs touches. They are appended without a sync: what a crash loses is read from the transcript again. If
    /// another writer holds the lock, they wait for the next look.
    pub fn record(&mut self, seen: TurnTouches) -> Result<bool, Failure> {
        if seen.turns == 0 && seen.touches.is_empty() {
            return Ok(true);
        }
        let lock = self.try_lock()?;
        if lock.is_none() {
            return Ok(false);
        }
        // An edit that was found once is not looked for again by the fast way.
        if self.end.fault.is_some() {
            self.load()?
        } else {
            self.load_fast()?
        }
        self.append_turns(vec![seen])?;
        Ok(true)
    }

    fn try_lock(&self) -> Result<Option<crate::disk::LockGuard>, Failure> {
        let root = self.store_root();
        self.workspace.disk.try_lock_dir(&root).map_err(|source| Failure::io("lock", &root, source))
    }

    /// The caller holds the lock.
    fn append_turns(&mut self, seen: Vec<TurnTouches>) -> Result<(), Failure> {
        for TurnTouches { turns, touches, read_to } in seen {
            self.end.turn = self.end.turn.saturating_add(turns);
            self.append(vec![EventKind::ModelTurn { touches, read_to }], Durability::Unsynced)?;
        }
        self.save_snapshot();
        Ok(())
    }

    /// Logs what happened since the last look, and lets the set grow by the files that were used. Returns whether
    /// there was anything new.
    pub fn observe(
        &mut self,
        env: &Env,
        session: &ClientSession<'_>,
        source: TurnSource<'_>,
    ) -> Result<bool, Failure> {
        let Some(lock) = self.try_lock()? else { return Ok(false) };
        self.load_fast()?;
        // In the one folder of a flat root, the offset belongs to the transcript of the session that began last.
        if self.root.is_flat && self.state.session != session.session {
            return Ok(false);
        }
        let known: BTreeSet<String> = self.state.files.keys().cloned().collect();
        let seen = self.seen(env, session, source)?;
        if seen.is_empty() {
            return Ok(false);
        }
        let touches: Vec<Touch> = seen.iter().flat_map(|seen| seen.touches.iter().cloned()).collect();
        self.append_turns(seen)?;
        drop(lock);
        self.grow(&touches, &known)?;
        self.count_used(&touches);
        Ok(true)
    }

    fn seen(
        &self,
        env: &Env,
        session: &ClientSession<'_>,
        source: TurnSource<'_>,
    ) -> Result<Vec<TurnTouches>, Failure> {
        let mut look = TurnLook::new(self, env, session.start);
        match source {
            TurnSource::Prompt(prompt) => look.said(prompt),
            TurnSource::Calls(calls) => calls.iter().for_each(|call| look.called(call)),
            TurnSource::Transcript { path, format } => {
                let (from, folders) = (self.state.read_to, transcript::folders(env));
                let read = transcript::read_since(path, from, format, &folders, &mut |line| {
                    let Some(acts) = format.read_acts(line) else { return };
                    acts.said.iter().for_each(|said| look.said(said));
                    acts.calls.iter().for_each(|call| look.called(call));
                });
                let read_to = match read {
                    // There is none before the first turn.
                    Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
                    read => read.map_err(|source| Failure::io("read", path, source))?,
                };
                look.read_to(from, read_to);
            }
        }
        Ok(look.seen)
    }

    /// Counts the tokens of the files that were used, so that the next hook knows how full the budget is.
    fn count_used(&mut self, touches: &[Touch]) {
        let is_in_set = |path: &&String| self.state.files.get(*path).is_some_and(|file| file.entry.is_some());
        let paths: BTreeSet<String> =
            touches.iter().map(|touch| &touch.path).filter(is_in_set).cloned().collect();
        self.count(&paths.into_iter().collect::<Vec<_>>());
    }

    /// Counts the tokens of these files, unless they are known.
    pub(super) fn count(&mut self, paths: &[String]) {
        let mut is_new = false;
        for path in paths {
            let before = self.tokens.get(path).copied();
            if self.tokens_of(path).is_err() {
                // What cannot be read takes no room. It is looked at again when it changes.
                self.tokens.insert(path.clone(), TokenStamp::default());
            }
            is_new |= self.tokens.get(path).copied() != before;
        }
        if is_new {
            self.save_snapshot();
        }
    }

    /// What was collected and is used again comes back, files that were used enter the set, and known ones that the
    /// user mentioned again are promoted.
    fn grow(&mut self, touches: &[Touch], known: &BTreeSet<String>) -> Result<(), Failure> {
        self.readmit()?;
        let mut promoted = self.promoted(touches, known);
        let is_in_set = |path: &String| self.state.files.get(path).is_some_and(|file| file.entry.is_some());
        let mut outside: Vec<String> = promoted.iter().filter(|path| !is_in_set(path)).cloned().collect();
        self.drop_unfit(&mut outside);
        promoted.retain(|path| is_in_set(path) || outside.contains(path));
        let used = touches.iter().filter(|touch| touch.by != TouchKind::Mention);
        let (mut entering, mut how): (Vec<String>, BTreeSet<TouchKind>) = (Vec::new(), BTreeSet::new());
        for touch in used {
            if !is_in_set(&touch.path) && !entering.contains(&touch.path) && entering.len() < GROW_MAX {
                entering.push(touch.path.clone());
                how.insert(touch.by);
            }
        }
        self.drop_unfit(&mut entering);
        if entering.is_empty() && promoted.is_empty() {
            return Ok(());
        }
        let turn = self.state.turn;
        let how = match (how.contains(&TouchKind::Write), how.len()) {
            (true, 1) => "written",
            (false, _) => "read",
            (true, _) => "read or written",
        };
        let why = format!("{how} in turn {turn}");
        let by = EventAuthor::Orchestrator;
        self.commit(&format!("ws turn {turn}: {} files enter", entering.len()), |set, draft| {
            let mut files: Vec<SetEntry> = Vec::new();
            for path in entering.iter().chain(&promoted) {
                let file = set.state.files.get(path).cloned().unwrap_or_default();
                if file.entry.is_some() || files.iter().any(|entry| entry.path == *path) {
                    continue;
                }
                let request = AddRequest { path: path.clone(), ..AddRequest::default() };
                let entry = file.last_entry.unwrap_or_else(|| set.entry(&request));
                set.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::with_entry(text, &entry))?;
                set.draft_sidecar(draft, path, by)?;
                files.push(entry);
            }
            if !files.is_empty() {
                let (action, paths, max_tokens) = (SetAction::Add, Vec::new(), None);
                draft.events.push(EventKind::WorkingSetUpdate { action, by, why, files, paths, max_tokens });
            }
            set.draft_promotions(draft, &promoted, "the user mentioned it again")
        })
    }

    /// Known files that the user mentioned again, unless they were promoted just now.
    fn promoted(&self, touches: &[Touch], known: &BTreeSet<String>) -> Vec<String> {
        let mentions =
            touches.iter().filter(|touch| touch.by == TouchKind::Mention && known.contains(&touch.path));
        let paths: BTreeSet<&String> = mentions.map(|touch| &touch.path).collect();
        let is_hot = |path: &&String| {
            let hot = self.state.files.get(*path).and_then(|file| file.hot.as_ref());
            hot.is_some_and(|note| self.state.turn.saturating_sub(note.turn) < RECENT_TURNS)
        };
        paths.into_iter().filter(|path| !is_hot(path)).cloned().collect()
    }

    /// Leaves files that are generated, or no text for a model.
    fn drop_unfit(&self, paths: &mut Vec<String>) {
        let is_text = |path: &str| {
            let Ok(mut file) = self.workspace.disk.open(&self.file_of(path), LinkPolicy::Refused) else {
                return false;
            };
            let size = file.size().unwrap_or(u64::MAX);
            let start = file.read_at(0, size.min(PROBED_BYTES as u64) as usize);
            size <= FILE_MAX_BYTES && start.is_ok_and(|start| !start.contains(&0))
        };
        paths.retain(|path| self.in_sessions(path).is_none() && is_text(path));
        let Some(git) = Snapshots::around(&self.workspace.project.root).filter(|_| !paths.is_empty()) else {
            return;
        };
        let asked: Vec<String> = paths.iter().map(|path| format!("{}{path}", git.prefix())).collect();
        let ignored: BTreeSet<String> = git.ignored(&asked).into_iter().collect();
        paths.retain(|path| !ignored.contains(&format!("{}{path}", git.prefix())));
    }

    /// The part of a project path that is inside the folder of all sessions.
    pub(super) fn in_sessions<'p>(&self, path: &'p str) -> Option<&'p str> {
        let root = self.root.root.as_str();
        path.strip_prefix(root)?.strip_prefix('/').filter(|_| root != ".")
    }

    /// Ends the session.
    pub fn close(&mut self, reason: &str) -> Result<(), Failure> {
        let session_id = self.session.clone();
        self.commit(&format!("ws end: {reason}"), |_, draft| {
            draft.events.push(EventKind::SessionEnd { session_id, reason: reason.to_owned() });
            Ok(())
        })
    }

    /// Completes what an interrupted writer left in the log.
    pub fn complete(&mut self) -> Result<(), Failure> {
        let store = Arc::clone(&self.store);
        let writer = store.begin()?;
        complete_log(self.workspace, &store)?;
        writer.finish()?;
        Ok(())
    }
}

/// Collects turns and touches of one look.
struct TurnLook<'l, 'w> {
    set: &'l WorkingSet<'w>,
    folder: String,
    /// The same without links: clients name files by either.
    real_folder: String,
    project: String,
    home: Option<String>,
    /// The files that names turned out to be.
    files: BTreeMap<String, Option<String>>,
    seen: Vec<TurnTouches>,
}

impl<'l, 'w> TurnLook<'l, 'w> {
    fn new(set: &'l WorkingSet<'w>, env: &Env, start: &Path) -> TurnLook<'l, 'w> {
        let disk = &*set.workspace.disk;
        TurnLook {
            set,
            folder: normal(&text(start)),
            real_folder: normal(&text(&disk.real_path(start).unwrap_or_else(|_| start.to_owned()))),
            project: normal(&text(&set.workspace.project.root)),
            home: env.home().map(|home| text(&home)),
            files: BTreeMap::new(),
            seen: Vec::new(),
        }
    }

    /// A message of the user begins a turn.
    fn said(&mut self, message: &str) {
        let mut touches: Vec<Touch> = Vec::new();
        for word in mentioned(message).into_iter().take(MENTIONS_MAX) {
            let path = self.known(word).or_else(|| {
                // A word without a slash or a dot is no path; if the set knows no such file, it is a word.
                let is_path = word.contains(['/', '.']);
                let absolute = if word.starts_with('/') { word.to_owned() } else { self.below_start(word) };
                is_path.then(|| self.file(&absolute)).flatten()
            });
            let path = path.filter(|path| touches.iter().all(|touch| touch.path != *path));
            touches.extend(path.map(|path| Touch { path, by: TouchKind::Mention }));
        }
        self.seen.push(TurnTouches { turns: 1, touches, read_to: None });
    }

    fn called(&mut self, call: &TranscriptCall) {
        let around = ShellContext { folder: &self.folder, home: self.home.as_deref(), project: None };
        let touches = call.touches(&around);
        let touches: Vec<Touch> = touches
            .into_iter()
            .filter_map(|touch| Some(Touch { path: self.file(&touch.path)?, by: touch.by }))
            .collect();
        if touches.is_empty() {
            return;
        }
        if self.seen.is_empty() {
            self.seen.push(TurnTouches::default());
        }
        self.seen.last_mut().into_iter().for_each(|turn| turn.touches.extend(touches.iter().cloned()));
    }

    fn read_to(&mut self, from: u64, to: u64) {
        // After a cut, what is written from now on is new.
        if self.seen.is_empty() && (to < from || to - from > UNREAD_MAX) {
            self.seen.push(TurnTouches::default());
        }
        self.seen.last_mut().into_iter().for_each(|last| last.read_to = Some(to));
    }

    /// A file that the set knows, by its path, by the end of it, or by its name if no other has that name.
    fn known(&self, word: &str) -> Option<String> {
        let files = &self.set.state.files;
        if files.contains_key(word) {
            return Some(word.to_owned());
        }
        let ends = |path: &&String| path.strip_suffix(word).is_some_and(|before| before.ends_with('/'));
        let mut named =
            files.iter().filter(|(_, file)| file.entry.is_some()).map(|(path, _)| path).filter(ends);
        let only = named.next().filter(|_| named.next().is_none());
        only.cloned()
    }

    fn below_start(&self, word: &str) -> String {
        format!("{}/{word}", self.folder)
    }

    /// The file of the project that an absolute path names, if it exists or the set knows it.
    fn file(&mut self, absolute: &str) -> Option<String> {
        if let Some(known) = self.files.get(absolute) {
            return known.clone();
        }
        let found = self.find(absolute);
        self.files.insert(absolute.to_owned(), found.clone());
        found
    }

    fn find(&self, absolute: &str) -> Option<String> {
        let path = normal(absolute);
        let real = path.strip_prefix(&self.folder).filter(|rest| rest.starts_with('/'));
        let real = real.map(|rest| format!("{}{rest}", self.real_folder));
        let below = |path: &str| {
            let rest = path.strip_prefix(&self.project)?.strip_prefix('/')?;
            RelPath::parse(rest).ok()
        };
        let path = real.as_deref().and_then(below).or_else(|| below(&path))?;
        let path = path.as_str();
        if path.split('/').any(|name| name == ".git") {
            return None;
        }
        let disk = &*self.set.workspace.disk;
        let is_file = || {
            disk.stat(&self.set.file_of(path)).ok().flatten().is_some_and(|stat| stat.kind == FileType::File)
        };
        (self.set.state.files.contains_key(path) || is_file()).then(|| path.to_owned())
    }
}
