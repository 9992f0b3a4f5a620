//! The fallback journal inside the lane, for sandboxes that may write the project and nothing else.
//!
//! It is a complete journal. Once the state folder is writable again, its entries are moved there; a moved entry
//! names its origin, so an interrupted move is continued, not repeated.
//!
//! A repository may contain such a folder with somebody else's entries, and `undo` and `restore` would write what
//! they chose. So the first writer creates a read-only file in it, with a mode that git never checks out, and a
//! journal without that file is not read.

use crate::backend::{ChangeState, Digest, StoreError, Warning};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use lorelane_core::path::RelPath;

use super::Store;
use super::blobs::{Blob, BlobBatch, BlobStore};
use super::faults::FaultSwitch;
use super::journal::{Intent, IntentStep, JournalRecord};
use super::journal_writer::{BLOBS, HEAD, JOURNAL, JournalWriter};
use super::log::history;
use super::recover::lane_path;
use crate::disk::{FileType, Stat};

const FOLDER: &str = ".lorelane-journal";
/// Exists if this user's own process began the journal.
const OWN: &str = "own";
const OWN_MODE: u32 = 0o400;
const WRITABLE: u32 = 0o222;

impl Store {
    pub(super) fn fallback_journal(&self) -> PathBuf {
        self.home.lane.join(FOLDER)
    }

    /// A journal inside the lane that this user did not begin: it came with the repository.
    pub fn foreign_journal(&self) -> Result<Option<PathBuf>, StoreError> {
        let fallback = self.fallback_journal();
        if self.kind(&fallback)? != Some(FileType::Folder) {
            return Ok(None);
        }
        let stat = |name| {
            let path = fallback.join(name);
            self.disk.stat(&path).map_err(StoreError::io("stat", &path))
        };
        let mut holds_any = false;
        for name in [HEAD, JOURNAL, BLOBS] {
            holds_any |= stat(name)?.is_some_and(|stat| stat.len > 0);
        }
        // On a system without file modes its owner is unknown.
        let is_own =
            |stat: Stat| stat.kind == FileType::File && stat.mode.is_none_or(|mode| mode & WRITABLE == 0);
        Ok((holds_any && !stat(OWN)?.is_some_and(is_own)).then_some(fallback))
    }

    /// Claims the fallback journal for this user, before its first line.
    pub(super) fn begin_fallback_journal(&self) -> Result<(), StoreError> {
        if let Some(folder) = self.foreign_journal()? {
            return Err(StoreError::ForeignJournal { folder });
        }
        let (fallback, own) = (self.fallback_journal(), self.fallback_journal().join(OWN));
        self.disk.create_private_dir_all(&fallback).map_err(StoreError::io("create", &fallback))?;
        if self.kind(&own)?.is_none() {
            self.disk.create_new(&own, b"", Some(OWN_MODE)).map_err(StoreError::io("write", &own))?;
        }
        Ok(())
    }

    /// Whether there are entries in a fallback journal.
    ///
    /// The lane may come from somebody else's repository, and a fallback journal is read, emptied and removed:
    /// with a link there, the repository could do that to any journal of this user.
    pub(super) fn has_fallback_journal(&self) -> Result<bool, StoreError> {
        if !self.is_own {
            // In a shared folder it is that of the lane that owns it.
            return Ok(false);
        }
        let fallback = self.fallback_journal();
        match self.kind(&fallback)? {
            None => return Ok(false),
            Some(FileType::Folder) => {}
            Some(FileType::Symlink) => return Err(StoreError::Symlink { path: fallback }),
            Some(_) => return Err(StoreError::NotAFile { path: fallback }),
        }
        for name in [HEAD, JOURNAL, BLOBS] {
            self.refuse_unless_file(&fallback.join(name))?;
        }
        Ok(self.foreign_journal()?.is_none())
    }

    /// The paths that entries of the fallback journal changed. A change that is still open in the state folder is
    /// older: the writer of the fallback journal saw its unsynced `done`, which a power cut has taken since.
    pub(super) fn paths_in(&self, fallback_writer: &JournalWriter) -> Result<BTreeSet<RelPath>, StoreError> {
        let (mut paths, mut pack) = (BTreeSet::new(), fallback_writer.pack(self)?);
        for (intent, outcome) in history(&fallback_writer.read_all(self)?.lines) {
            for step in &intent.steps {
                let IntentStep::File { path, .. } = step else { continue };
                if outcome != ChangeState::Void
                    && let Some(path) = pack.held(*path)?
                {
                    paths.extend(lane_path(&path));
                }
            }
        }
        Ok(paths)
    }

    /// Appends the fallback journal's entries to `writer`, then removes the fallback journal.
    pub(super) fn migrate(
        &self,
        writer: &mut JournalWriter,
        fallback_writer: &JournalWriter,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), StoreError> {
        let lines = fallback_writer.read_all(self)?.lines;
        let mut moved = HashMap::new();
        for line in writer.read_all(self)?.lines {
            if let JournalRecord::Intent(Intent { number, moved_from: Some(origin), .. }) = line.event {
                moved.insert(origin, number);
            }
        }
        let origins: HashMap<u64, Digest> = lines
            .iter()
            .filter(|l| matches!(l.event, JournalRecord::Intent(_)))
            .map(|l| (l.event.number(), l.own))
            .collect();

        let pack = writer.blobs.clone();
        let mut batch = BlobBatch::new(&*self.disk, &pack).map_err(StoreError::io("stat", &pack))?;
        let mut from = fallback_writer.pack(self)?;
        let (mut events, mut newest) = (Vec::new(), writer.newest);
        for (intent, outcome) in history(&lines) {
            let origin = origins[&intent.number];
            // Void changes have no effect and are not copied.
            if outcome == ChangeState::Void || moved.contains_key(&origin) {
                continue;
            }
            let Some(mut copy) = repacked(&mut from, &mut batch, intent)? else { continue };
            newest += 1;
            copy.number = newest;
            copy.undoes = intent.undoes.and_then(|undone| moved.get(origins.get(&undone)?).copied());
            copy.moved_from = Some(origin);
            moved.insert(origin, newest);
            events.push(JournalRecord::Intent(copy));
        }
        if !events.is_empty() {
            batch.append(&pack).map_err(StoreError::io("write", &pack))?;
            self.sync_file(&pack, FaultSwitch::SkipBlobSync)?;
            // One by one: of several unsynced lines a power cut may keep the later and lose the first, which would
            // look like a damaged journal.
            for event in &events {
                writer.append(self, std::slice::from_ref(event))?;
                writer.sync(self)?;
            }
            warnings.push(Warning::MovedOver { receipts: events.len() });
        }
        // Even if all were moved before: whoever moved them may have been killed before this sync.
        writer.sync(self)?;
        self.remove_fallback_journal()
    }

    /// The journal goes before its pack, and each removal is synced: if a power cut brought the journal back
    /// without its last `done`, recovery would settle that change against files that have changed since.
    fn remove_fallback_journal(&self) -> Result<(), StoreError> {
        let fallback = self.fallback_journal();
        // `head` goes before the journal: alone it would contradict the next journal here.
        for name in [HEAD, JOURNAL, BLOBS, OWN] {
            let path = fallback.join(name);
            if self.disk.stat(&path).map_err(StoreError::io("stat", &path))?.is_some() {
                self.disk.remove_file(&path).map_err(StoreError::io("remove", &path))?;
            }
            self.sync_dir(&fallback, FaultSwitch::SkipFallbackSync)?;
        }
        self.disk.remove_dir(&fallback).map_err(StoreError::io("remove", &fallback))
    }
}

/// `None` if the bytes are gone: such an entry is not worth moving.
fn repacked(
    from: &mut BlobStore,
    batch: &mut BlobBatch<'_>,
    intent: &Intent,
) -> Result<Option<Intent>, StoreError> {
    let mut gone = false;
    let mut repack = |blob: Blob| -> Result<Blob, StoreError> {
        let bytes = from.held(blob)?;
        gone |= bytes.is_none();
        Ok(batch.add(&bytes.unwrap_or_default()))
    };
    let mut copy = intent.clone();
    copy.because = repack(copy.because)?;
    for step in &mut copy.steps {
        match step {
            IntentStep::File { path, old, new, .. } => {
                *path = repack(*path)?;
                for blob in [old, new].into_iter().flatten() {
                    *blob = repack(*blob)?;
                }
            }
            IntentStep::Mark { text, .. } | IntentStep::Unmark { text, .. } => *text = repack(*text)?,
        }
    }
    Ok((!gone).then_some(copy))
}
