//! Reads the journal: what was changed, whether the chain verifies, what the files should contain.
//!
//! Readers take no lock; a line that a writer is appending right now looks like a torn end and is not shown.

use crate::backend::{
    ChangeLog, ChangeState, ChangeTarget, ChangedDocument, Digest, ErasePredicate, ExternalChanges, LogEntry,
    LogFault, LogTail, NextUndo, StoreError,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;

use super::Store;
use super::blobs::{Blob, BlobState, BlobStore};
use super::erase::found;
use super::journal::{Intent, IntentStep, JournalChain, JournalLine, JournalRecord, Tail};
use super::journal_writer::{BLOBS, HEAD, HeadFile, JOURNAL, JournalWriter, read_head};
use super::recover::lane_path;

/// What a path should contain according to its last change.
enum ExpectedContent {
    Absent,
    Bytes(Vec<u8>),
    /// Written by a change whose bytes are erased.
    Purged,
}

impl ChangeLog for Store {
    fn written_ns(&self) -> Option<i64> {
        let stat = self.disk.stat(&self.home.state.join(JOURNAL)).ok()??;
        Some(stat.mtime_ns)
    }

    fn count_in_log(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError> {
        let mut count = 0;
        for folder in self.journals()? {
            let chain = self.chain(&folder)?;
            let found = found(&chain, &mut self.pack(&folder)?, unwanted)?;
            count += found.contents.len() + found.names.len();
        }
        Ok(count)
    }

    fn count_in_marks(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError> {
        Ok((unwanted.without)(&self.read_marks()?).1)
    }

    fn recent(&self, limit: usize) -> Result<LogTail, StoreError> {
        let (mut entries, mut total) = (Vec::new(), 0);
        for folder in self.journals()?.iter().rev() {
            let chain = self.chain(folder)?;
            let history = history(&chain.lines);
            let undone = undone(&history);
            let mut pack = self.pack(folder)?;
            total += history.len();
            for at in (0..history.len()).rev().take(limit - entries.len()) {
                entries.push(entry(&mut pack, &history, &undone, at)?);
            }
        }
        Ok(LogTail { entries, total })
    }

    fn next_undo(&self) -> Result<NextUndo, StoreError> {
        let mut upcoming = NextUndo::default();
        for folder in self.journals()?.iter().rev() {
            let (chain, mut pack) = (self.chain(folder)?, self.pack(folder)?);
            let mut history = history(&chain.lines);
            self.foresee(&mut history, &mut pack)?;
            let next = self.upcoming(&history, &mut pack)?;
            upcoming.passed_over.extend(next.passed_over.iter().cloned());
            if let Some(at) = next.at {
                let intent = history[at].0;
                let judged = next.ops_of(intent).and_then(|done| self.reversed(done, intent.number));
                upcoming.refused = judged.err();
                upcoming.entry = Some(entry(&mut pack, &history, &undone(&history), at)?);
                break;
            }
        }
        Ok(upcoming)
    }

    fn newest_order(&self) -> Result<u64, StoreError> {
        let orders = self.journals()?.into_iter().map(|folder| JournalWriter::order_in(self, &folder));
        orders.collect::<Result<Vec<_>, _>>().map(|orders| orders.into_iter().max().unwrap_or(0))
    }

    fn verify(&self) -> Vec<LogFault> {
        let mut faults = self.verify_one(&self.home.state.path());
        match self.has_fallback_journal() {
            Ok(false) => {}
            Ok(true) => faults.extend(self.verify_one(&self.fallback_journal())),
            Err(error) => {
                faults.push(LogFault::Unreadable { journal: self.fallback_journal(), why: error.to_string() })
            }
        }
        faults
    }

    fn outside(&self) -> Result<ExternalChanges, StoreError> {
        let mut outside = ExternalChanges::default();
        for (path, (known, written)) in self.known()? {
            let is_deleted =
                matches!(known, ExpectedContent::Bytes(_)) && self.kind(&self.file(&path))?.is_none();
            if is_deleted {
                outside.deleted.insert(path, written);
                continue;
            }
            let same = match (known, self.read_file(&self.file(&path))) {
                (ExpectedContent::Purged, _) => true,
                // Something other than a regular file, or an oversized one, is in its place.
                (_, Err(StoreError::Io { source, .. })) if source.kind() == ErrorKind::InvalidData => false,
                (ExpectedContent::Absent, now) => now?.is_none(),
                (ExpectedContent::Bytes(bytes), now) => now? == Some(bytes),
            };
            if !same {
                outside.changed.push(path);
            }
        }
        Ok(outside)
    }

    fn last_writes(&self, paths: &[&RelPath]) -> Result<BTreeMap<RelPath, Vec<u8>>, StoreError> {
        let mut wanted: BTreeSet<&RelPath> = paths.iter().copied().collect();
        let mut last = BTreeMap::new();
        for folder in self.journals()?.iter().rev() {
            let chain = self.chain(folder)?;
            let mut pack = self.pack(folder)?;
            let history = history(&chain.lines);
            let effective = history.iter().rev().filter(|(_, outcome)| *outcome != ChangeState::Void);
            for step in effective.flat_map(|(intent, _)| &intent.steps) {
                if wanted.is_empty() {
                    return Ok(last);
                }
                let IntentStep::File { path, new, .. } = step else { continue };
                let Some(path) = pack.held(*path)?.as_deref().and_then(lane_path) else { continue };
                if wanted.remove(&path)
                    && let Some(blob) = new
                    && let Some(bytes) = pack.held(*blob)?
                {
                    last.insert(path, bytes);
                }
            }
        }
        Ok(last)
    }
}

impl Store {
    /// All changes, oldest first; those in the fallback journal come last.
    pub fn changes(&self) -> Result<Vec<LogEntry>, StoreError> {
        let mut entries = self.recent(usize::MAX)?.entries;
        entries.reverse();
        Ok(entries)
    }

    /// The paths that differ from their last change in the log.
    pub fn changed_outside(&self) -> Result<Vec<RelPath>, StoreError> {
        let ExternalChanges { mut changed, deleted } = self.outside()?;
        changed.extend(deleted.into_keys());
        changed.sort();
        Ok(changed)
    }

    /// What the last change of this path wrote. `None` if it removed the file, or its bytes are erased.
    pub fn last_written(&self, path: &RelPath) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.last_writes(&[path])?.remove(path))
    }

    pub(super) fn journals(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut folders = vec![self.home.state.path()];
        if self.has_fallback_journal()? {
            folders.push(self.fallback_journal());
        }
        Ok(folders)
    }

    pub(super) fn chain(&self, folder: &Path) -> Result<JournalChain, StoreError> {
        let bytes = self.read_file(&folder.join(JOURNAL))?.unwrap_or_default();
        Ok(JournalChain::read(&bytes, 0, Some(Digest::genesis())))
    }

    pub(super) fn pack(&self, folder: &Path) -> Result<BlobStore, StoreError> {
        BlobStore::open(&*self.disk, folder.join(BLOBS))
    }

    /// What each path should contain, and since when.
    fn known(&self) -> Result<BTreeMap<RelPath, (ExpectedContent, Timestamp)>, StoreError> {
        let mut packs = Vec::new();
        let mut last: BTreeMap<RelPath, (usize, Option<Blob>, Timestamp)> = BTreeMap::new();
        for (at, folder) in self.journals()?.iter().enumerate() {
            let chain = self.chain(folder)?;
            let mut pack = self.pack(folder)?;
            for (intent, outcome) in history(&chain.lines) {
                if outcome == ChangeState::Void {
                    continue;
                }
                for step in &intent.steps {
                    let IntentStep::File { path, new, .. } = step else { continue };
                    if let Some(path) = pack.held(*path)?.as_deref().and_then(lane_path) {
                        last.insert(path, (at, *new, intent.at));
                    }
                }
            }
            packs.push(pack);
        }
        let mut known = BTreeMap::new();
        for (path, (at, content, written)) in last {
            let content = match content {
                None => ExpectedContent::Absent,
                Some(blob) => packs[at].held(blob)?.map_or(ExpectedContent::Purged, ExpectedContent::Bytes),
            };
            known.insert(path, (content, written));
        }
        Ok(known)
    }

    /// Whether the journal is gone while its pack is not empty: it is created before that. Not for the fallback
    /// journal, whose journal is also removed first.
    fn is_gone(&self, folder: &Path) -> bool {
        let len = |name| self.disk.stat(&folder.join(name)).map(|stat| stat.map(|stat| stat.len));
        folder == self.home.state.path() && matches!((len(BLOBS), len(JOURNAL)), (Ok(Some(1..)), Ok(None)))
    }

    fn verify_one(&self, folder: &Path) -> Vec<LogFault> {
        let journal = folder.join(JOURNAL);
        // In this order each file contains everything that the one before refers to, also while a writer appends.
        let head = folder.join(HEAD);
        let named = read_head(self, &head);
        let read = self.chain(folder).and_then(|chain| Ok((chain, self.pack(folder)?)));
        let (chain, mut pack) = match read {
            Ok(read) => read,
            Err(error) => return vec![LogFault::Unreadable { journal, why: error.to_string() }],
        };
        let mut faults = Vec::new();
        match chain.tail {
            Tail::Whole => {}
            Tail::Torn => faults.push(LogFault::TornEnd { journal: journal.clone(), offset: chain.end }),
            Tail::Damaged => {
                faults.push(LogFault::BrokenChain { journal: journal.clone(), offset: chain.end })
            }
        }
        let is_missed =
            matches!(named, Ok(HeadFile::Line(named)) if chain.lines.iter().all(|line| line.own != named));
        if chain.tail != Tail::Damaged && (is_missed || self.is_gone(folder)) {
            faults.push(LogFault::Cut { journal: journal.clone() });
        }
        if matches!(named, Ok(HeadFile::Damaged) | Err(_)) {
            faults.push(LogFault::UnreadableHead { head });
        }
        let history = history(&chain.lines);
        for (at, (intent, outcome)) in history.iter().enumerate() {
            if *outcome == ChangeState::Open && at + 1 < history.len() {
                faults.push(LogFault::Unsettled { journal: journal.clone(), number: intent.number });
            }
            for blob in intent.blobs() {
                match pack.read(blob) {
                    Ok(BlobState::Bytes(_) | BlobState::Purged) => {}
                    Ok(BlobState::Damaged) => faults.push(LogFault::DamagedBlob {
                        journal: journal.clone(),
                        number: intent.number,
                        digest: blob.digest(),
                    }),
                    Err(error) => {
                        faults
                            .push(LogFault::Unreadable { journal: journal.clone(), why: error.to_string() });
                    }
                }
            }
        }
        faults
    }
}

pub(super) fn entry(
    pack: &mut BlobStore,
    history: &[(&Intent, ChangeState)],
    undone: &BTreeSet<u64>,
    at: usize,
) -> Result<LogEntry, StoreError> {
    let (intent, outcome) = history[at];
    let mut changes = Vec::new();
    for step in &intent.steps {
        changes.push(match step {
            IntentStep::File { path, old, new, .. } => ChangedDocument {
                place: pack.held(*path)?.as_deref().and_then(lane_path).map(ChangeTarget::Lane),
                before: old.map(|blob| blob.digest()),
                after: new.map(|blob| blob.digest()),
            },
            IntentStep::Mark { text, .. } => {
                ChangedDocument { place: Some(ChangeTarget::Marks), before: None, after: Some(text.digest()) }
            }
            IntentStep::Unmark { text, .. } => {
                ChangedDocument { place: Some(ChangeTarget::Marks), before: Some(text.digest()), after: None }
            }
        });
    }
    let mut reason = |intent: &Intent| {
        let text = pack.held(intent.because)?;
        Ok::<_, StoreError>(text.map(|text| String::from_utf8_lossy(&text).into_owned()))
    };
    // Numbers increase within one journal.
    let undid =
        intent.undoes.and_then(|number| history.binary_search_by_key(&number, |(i, _)| i.number).ok());
    Ok(LogEntry {
        number: intent.number,
        undoes: intent.undoes,
        undid: undid.map(|at| reason(history[at].0)).transpose()?.flatten(),
        undone: undone.contains(&intent.number),
        at: intent.at,
        order: intent.order,
        because: reason(intent)?,
        changes,
        outcome,
    })
}

/// Each change with its outcome, in order.
pub(super) fn history(lines: &[JournalLine]) -> Vec<(&Intent, ChangeState)> {
    let mut history: Vec<(&Intent, ChangeState)> = Vec::new();
    for line in lines {
        match (&line.event, history.last_mut()) {
            (JournalRecord::Intent(intent), _) => {
                let settled = intent.moved_from.is_some();
                history.push((intent, if settled { ChangeState::Done } else { ChangeState::Open }));
            }
            (JournalRecord::Done(number), Some((intent, outcome))) if intent.number == *number => {
                *outcome = ChangeState::Done;
            }
            (JournalRecord::Void(number), Some((intent, outcome))) if intent.number == *number => {
                *outcome = ChangeState::Void;
            }
            // Settles no open change: the hashes are right, so we wrote it, and it adds nothing.
            _ => {}
        }
    }
    history
}

/// The numbers of changes that a later one undoes. An undo that is still open counts: it is in progress.
pub(super) fn undone(history: &[(&Intent, ChangeState)]) -> BTreeSet<u64> {
    let effective = history.iter().filter(|(_, outcome)| *outcome != ChangeState::Void);
    effective.filter_map(|(intent, _)| intent.undoes).collect()
}
