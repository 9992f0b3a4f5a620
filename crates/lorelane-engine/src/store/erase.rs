//! Erases something from the store: the files, the journal's pack, the marks.
//!
//! Every step can be repeated and finds what an earlier attempt left: names in the pack are erased after the
//! contents they lead to. Nothing is journalled, because the journal would hold what is to go. The caller keeps a
//! note of what to erase until everything is done, and calls this again after a crash.

use crate::backend::{ChangeState, Erase, ErasePredicate, RedactBytes, StoreError, Warning};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use lorelane_core::path::RelPath;

use super::blobs::{Blob, BlobState, BlobStore};
use super::faults::FaultSwitch;
use super::journal::{Intent, IntentStep, JournalChain, JournalRecord};
use super::journal_writer::JournalWriter;
use super::log::{history, undone};
use super::recover::lane_path;
use super::transaction::FileTransaction;
use super::write::{FileTarget, FileWork, WriteFailure};
use crate::disk::FileType;

/// The blobs to overwrite.
#[derive(Debug, Default)]
pub(super) struct ErasableBlobs {
    pub(super) contents: Vec<Blob>,
    pub(super) names: Vec<Blob>,
}

impl Erase for FileTransaction<'_> {
    fn newest(&self) -> u64 {
        self.writer.newest
    }

    fn uses_fallback_journal(&self) -> bool {
        self.writer.journal.parent() == Some(&self.store.fallback_journal())
    }

    fn has_erased(&self) -> bool {
        self.has_erased.get()
    }

    fn erase_documents(&self, paths: &BTreeSet<RelPath>) -> Result<usize, StoreError> {
        let (store, mut removed) = (self.store, 0);
        for path in paths {
            let file = store.file(path);
            store.refuse_unless_inside(&file)?;
            if store.kind(&file)?.is_some() {
                store.disk.remove_file(&file).map_err(StoreError::io("remove", &file))?;
                self.has_erased.set(true);
                removed += 1;
            }
        }
        // Synced even if nothing was there: whoever removed it may have died before the sync.
        for folder in self.folders_of(paths) {
            if store.kind(&folder)? == Some(FileType::Folder) {
                store.sweep(&folder)?;
                store.sync_dir(&folder, FaultSwitch::SkipFolderSync)?;
            }
        }
        Ok(removed)
    }

    fn erase_lines(&self, path: &RelPath, without: &RedactBytes<'_>) -> Result<usize, StoreError> {
        let (store, file) = (self.store, self.store.file(path));
        store.refuse_unless_inside(&file)?;
        let Some(content) = store.read_file(&file)? else { return Ok(0) };
        let (left, erased) = without(&content);
        if left != content {
            let target = FileTarget { path: file, old: Some(content), new: Some(left), mode: None };
            self.rewrite(target, !store.is_own, &mut Vec::new())?;
        }
        // Even if nothing was there: whoever removed it may have died before the sync.
        for folder in self.folders_of(&BTreeSet::from([path.clone()])) {
            store.sync_dir(&folder, FaultSwitch::SkipFolderSync)?;
        }
        Ok(erased)
    }

    fn erase_from_log(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError> {
        let JournalWriter { journal, blobs, .. } = &self.writer;
        // A line that a killed writer left in the page cache must not be lost now: the bytes it refers to would
        // then be taken for leftovers.
        self.writer.sync(self.store)?;
        let chain = self.writer.read_all(self.store)?;
        if chain.tail == super::journal::Tail::Damaged {
            return Err(StoreError::JournalDamaged { journal: journal.clone(), offset: chain.end });
        }
        let mut pack = BlobStore::open(&*self.store.disk, blobs.clone())?;
        let found = found(&chain, &mut pack, unwanted)?;
        let len = self.store.disk.stat(blobs).map_err(StoreError::io("stat", blobs))?;
        let len = len.map_or(0, |stat| stat.len);
        let mut leftovers = gaps(&chain, len);
        leftovers.extend(damaged(&chain, &mut pack, len)?);
        let overwrite = |spans: &mut dyn Iterator<Item = Range<u64>>| {
            for span in spans {
                // A write that fails may have overwritten a part.
                self.has_erased.set(true);
                let zeroes = vec![0; usize::try_from(span.end - span.start).unwrap_or_default()];
                let written = self.store.disk.overwrite_at(blobs, span.start, &zeroes);
                written.map_err(StoreError::io("erase parts of", blobs))?;
            }
            self.store.sync_file(blobs, FaultSwitch::SkipBlobSync)
        };
        overwrite(&mut found.contents.iter().map(Blob::span).chain(leftovers))?;
        // Names last: as long as a name is there, a repeated `forget` finds its contents.
        overwrite(&mut found.names.iter().map(Blob::span))?;
        Ok(found.contents.len() + found.names.len())
    }

    fn erase_from_marks(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError> {
        let (store, folder) = (self.store, &self.store.home.marks);
        if store.kind(folder)?.is_none() {
            return Ok(0);
        }
        let _lock = store.lock_marks()?;
        store.sweep(folder)?;
        let content = store.read_marks()?;
        let mut warnings: Vec<Warning> = Vec::new();
        let sound = store.sound_marks(&content, &mut warnings);
        let (left, changed) = (unwanted.without)(sound);
        if left != content {
            let new = Some(left).filter(|left| !left.is_empty());
            let target = FileTarget { path: store.marks_file(), old: Some(content), new, mode: None };
            self.rewrite(target, false, &mut warnings)?;
        }
        store.sync_dir(folder, FaultSwitch::SkipFolderSync)?;
        Ok(changed)
    }
}

impl FileTransaction<'_> {
    /// Replaces a file without a word in the journal.
    fn rewrite(
        &self,
        target: FileTarget,
        may_be_outdated: bool,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), StoreError> {
        let work = FileWork { targets: vec![target], may_be_outdated, ..FileWork::default() };
        let done = self.store.perform(&work, warnings);
        self.has_erased.set(self.has_erased() || !matches!(done, Err(WriteFailure::TakenBack(_))));
        done.map_err(|failed| match failed {
            WriteFailure::TakenBack(error) | WriteFailure::Stuck(error) => error,
        })
    }

    fn folders_of(&self, paths: &BTreeSet<RelPath>) -> BTreeSet<PathBuf> {
        let parents = paths.iter().filter_map(|path| Some(self.store.file(path).parent()?.to_owned()));
        parents.chain([self.store.home.lane.clone()]).collect()
    }
}

pub(super) fn found(
    chain: &JournalChain,
    pack: &mut BlobStore,
    unwanted: &ErasePredicate<'_>,
) -> Result<ErasableBlobs, StoreError> {
    let history = history(&chain.lines);
    let undone = undone(&history);
    let left = last_left(&history, pack)?;
    let mut found = ErasableBlobs::default();
    for (intent, _) in &history {
        let is_ours = |name: &RelPath| {
            let was_ours = |place| left.get(&place).is_some_and(|last| intent.number <= *last);
            (unwanted.is_path)(name) || (unwanted.until_left)(name).is_some_and(was_ours)
        };
        let mut touches = false;
        let mut others = Vec::new();
        for step in &intent.steps {
            match step {
                IntentStep::File { path, old, new, .. } => {
                    let name = pack.held(*path)?.as_deref().and_then(lane_path);
                    let contents = [*old, *new].into_iter().flatten();
                    if name.as_ref().is_some_and(&is_ours) {
                        touches = true;
                        found.contents.extend(contents);
                        found.names.push(*path);
                    } else {
                        for blob in contents.clone() {
                            if let (Some(name), Some(bytes)) = (&name, pack.held(blob)?)
                                && (unwanted.in_document)(name, &bytes)
                            {
                                found.contents.push(blob);
                            }
                        }
                        others.extend(contents.chain([*path]));
                    }
                }
                IntentStep::Mark { text, .. } | IntentStep::Unmark { text, .. } => {
                    if let Some(lines) = pack.held(*text)?
                        && (unwanted.without)(&lines).1 > 0
                    {
                        touches = true;
                        found.contents.push(*text);
                    }
                }
            }
        }
        // A change that was undone may have moved or merged the text into other files, and nobody can undo it
        // again. So all its bytes go.
        if touches && (intent.undoes.is_some() || undone.contains(&intent.number)) {
            found.contents.append(&mut others);
        }
        let reason = pack.held(intent.because)?;
        let speaks = |reason: &[u8]| (unwanted.in_reason)(&String::from_utf8_lossy(reason));
        if reason.is_some_and(|reason| touches || speaks(&reason)) {
            found.contents.push(intent.because);
        }
    }
    let mut purged = Vec::new();
    for blob in &found.contents {
        purged.push(pack.read(*blob)? == BlobState::Purged);
    }
    let mut purged = purged.into_iter();
    found.contents.retain(|_| purged.next() == Some(false));
    Ok(found)
}

/// Blobs that differ from their digest: perhaps left by a power cut during an earlier attempt, and of no use. A
/// damaged blob that reaches past the end of the pack is left out: overwriting it would grow the pack, and
/// recovery never reads it.
fn damaged(chain: &JournalChain, pack: &mut BlobStore, len: u64) -> Result<Vec<Range<u64>>, StoreError> {
    let mut damaged = Vec::new();
    for blob in intents(chain).flat_map(Intent::blobs) {
        let span = blob.span();
        if pack.read(blob)? == BlobState::Damaged && span.end <= len {
            damaged.push(span);
        }
    }
    Ok(damaged)
}

/// For each path the number of the last change that removed a file there.
fn last_left(
    history: &[(&Intent, ChangeState)],
    pack: &mut BlobStore,
) -> Result<BTreeMap<RelPath, u64>, StoreError> {
    let mut left = BTreeMap::new();
    for (intent, _) in history.iter().filter(|(_, outcome)| *outcome != ChangeState::Void) {
        for step in &intent.steps {
            let IntentStep::File { path, new: None, .. } = step else { continue };
            if let Some(name) = pack.held(*path)?.as_deref().and_then(lane_path) {
                left.insert(name, intent.number);
            }
        }
    }
    Ok(left)
}

/// The ranges of the pack that no line refers to: left by writers that died before their line was in the journal.
/// They may hold anything.
fn gaps(chain: &JournalChain, len: u64) -> Vec<Range<u64>> {
    let mut spans: Vec<Range<u64>> = intents(chain).flat_map(Intent::blobs).map(|blob| blob.span()).collect();
    spans.sort_by_key(|span| span.start);
    let (mut gaps, mut at) = (Vec::new(), 0);
    for span in spans.into_iter().chain(std::iter::once(len..len)) {
        if span.start.min(len) > at {
            gaps.push(at..span.start.min(len));
        }
        at = at.max(span.end);
    }
    gaps
}

fn intents(chain: &JournalChain) -> impl Iterator<Item = &Intent> {
    chain.lines.iter().filter_map(|line| match &line.event {
        JournalRecord::Intent(intent) => Some(intent),
        JournalRecord::Done(_) | JournalRecord::Void(_) => None,
    })
}
