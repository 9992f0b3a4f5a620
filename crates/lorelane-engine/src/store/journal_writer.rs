//! Writes a journal: opens it by its tail and appends lines.

use crate::backend::{Digest, StoreError, Warning};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::Store;
use super::blobs::BlobStore;
use super::faults::FaultSwitch;
use super::journal::{Intent, JournalChain, JournalLine, JournalRecord, Tail};

pub(super) const JOURNAL: &str = "journal";
pub(super) const BLOBS: &str = "blobs";
/// Names the line of the newest change that was made. A journal that was truncated after any line is valid by
/// itself; this file shows that lines are missing. It proves nothing against somebody who changes both.
pub(super) const HEAD: &str = "head";

/// Enough for the last lines of most journals; doubled until a whole intent is in the window.
const TAIL: u64 = 16 * 1024;
/// No line is longer: an intent for 10,000 files has 2 MB.
const LINE_MAX: u64 = 16 << 20;

/// What earlier writers left to settle.
#[derive(Debug)]
pub(super) struct OpenIntents {
    /// A change that was interrupted.
    pub(super) open: Option<Intent>,
    /// Changes at the end that were rolled back. Their temporary files may still be there.
    pub(super) refused: Vec<Intent>,
}

#[derive(Clone, Debug)]
pub(super) struct JournalWriter {
    pub(super) journal: PathBuf,
    pub(super) blobs: PathBuf,
    /// Hash of the last line: what the next one continues.
    last_line: Digest,
    /// Number of the newest change.
    pub(super) newest: u64,
    /// The highest order among the changes of all lanes.
    pub(super) order: u64,
    /// Length of the journal; bytes after it are not ours.
    end: u64,
    head: PathBuf,
    witness: HeadCheck,
}

/// What the `head` file says about the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeadCheck {
    Absent,
    Agrees,
    /// The line it names is gone, or the file cannot be read. It stays as it is, so that `verify` keeps reporting
    /// it.
    Contradicts,
}

impl JournalWriter {
    /// Makes sure that journal and pack exist and are writable.
    pub(super) fn prepare(store: &Store, folder: &Path) -> Result<(), StoreError> {
        let disk = &*store.disk;
        let (journal, blobs) = (folder.join(JOURNAL), folder.join(BLOBS));
        disk.create_private_dir_all(folder).map_err(StoreError::io("create", folder))?;
        for file in [&blobs, &journal] {
            disk.append(file, b"").map_err(StoreError::io("write", file))?;
        }
        let stat = disk.stat(&journal).map_err(StoreError::io("stat", &journal))?;
        if stat.is_some_and(|stat| stat.len > 0) || store.faults.skip(FaultSwitch::SkipJournalFolderSync) {
            return Ok(());
        }
        // An empty journal may have been created by a writer that was killed before it synced the folders. So they
        // (and the lane's) are synced while it is empty, and never afterwards.
        disk.sync_dir(folder).map_err(StoreError::io("sync", folder))?;
        for ancestor in folder.ancestors().skip(1).chain(store.home.lane.ancestors().skip(1)) {
            match disk.sync_dir(ancestor) {
                // Where we cannot create folders, none of ours can be lost.
                Err(error) if cannot_create_there(error.kind()) => {}
                synced => synced.map_err(StoreError::io("sync", ancestor))?,
            }
        }
        Ok(())
    }

    /// Reads the tail only: the cost of a change does not grow with the history.
    pub(super) fn open(
        store: &Store,
        folder: &Path,
        warnings: &mut Vec<Warning>,
    ) -> Result<(JournalWriter, OpenIntents), StoreError> {
        let (journal, blobs) = (folder.join(JOURNAL), folder.join(BLOBS));
        let chain = tail(store, &journal)?;
        match chain.tail {
            Tail::Whole => {}
            Tail::Torn => {
                let cut = store.disk.truncate(&journal, chain.end);
                cut.map_err(StoreError::io("truncate the torn end of", &journal))?;
                warnings.push(Warning::TornJournal { journal: journal.clone(), offset: chain.end });
            }
            Tail::Damaged => return Err(StoreError::JournalDamaged { journal, offset: chain.end }),
        }
        let refused = refused_last(&chain.lines);
        let recent: Vec<Digest> = chain.lines.iter().map(|line| line.own).collect();
        let order = newest_order(&chain.lines);
        let last = chain.lines.into_iter().next_back();
        if last.as_ref().is_some_and(is_void) {
            // Its writer may have been killed before the sync. We continue from the files as they are, so a power
            // cut must not bring the change back.
            store.disk.sync_file(&journal).map_err(StoreError::io("sync", &journal))?;
        }
        let head = folder.join(HEAD);
        let witness = match read_head(store, &head) {
            Ok(HeadFile::Empty) => HeadCheck::Absent,
            Ok(HeadFile::Damaged) if store.disk.truncate(&head, 0).is_ok() => {
                warnings.push(Warning::UnreadableHead { head: head.clone() });
                HeadCheck::Absent
            }
            Ok(HeadFile::Line(line)) if recent.contains(&line) => HeadCheck::Agrees,
            // It names an older line if a power cut undid the last write of `head`.
            Ok(HeadFile::Line(line)) => {
                match read_all(store, &journal)?.lines.iter().any(|known| known.own == line) {
                    true => HeadCheck::Agrees,
                    false => HeadCheck::Contradicts,
                }
            }
            // `head` only shows whether the journal was truncated, so it stops no writer.
            Ok(HeadFile::Damaged) | Err(_) => HeadCheck::Contradicts,
        };
        let writer = JournalWriter {
            journal,
            blobs,
            order,
            head,
            witness,
            last_line: last.as_ref().map_or_else(Digest::genesis, |line| line.own),
            newest: last.as_ref().map_or(0, |line| line.event.number()),
            end: chain.end,
        };
        Ok((writer, OpenIntents { open: last.and_then(open_intent), refused }))
    }

    /// The number of an interrupted change that is not settled yet.
    pub(super) fn waiting(store: &Store, folder: &Path) -> Result<Option<u64>, StoreError> {
        let journal = folder.join(JOURNAL);
        let last = tail(store, &journal)?.lines.into_iter().next_back();
        if last.as_ref().is_some_and(is_void) {
            // As in `open`, but this folder may be read-only.
            let _ = store.disk.sync_file(&journal);
        }
        Ok(last.and_then(open_intent).map(|intent| intent.number))
    }

    /// The order of the newest change among those of all lanes.
    pub(super) fn order_in(store: &Store, folder: &Path) -> Result<u64, StoreError> {
        Ok(newest_order(&tail(store, &folder.join(JOURNAL))?.lines))
    }

    /// Appends records in one write; if that fails, the journal is as before or has a torn end.
    pub(super) fn append(&mut self, store: &Store, events: &[JournalRecord]) -> Result<(), StoreError> {
        let (mut text, mut last_line) = (String::new(), self.last_line);
        let (mut newest, mut order) = (self.newest, self.order);
        for event in events {
            let (line, own) = JournalLine::write(event, last_line);
            text.push_str(&line);
            last_line = own;
            newest = event.number();
            if let JournalRecord::Intent(intent) = event {
                order = order.max(intent.order);
            }
        }
        if let Err(source) = store.disk.append(&self.journal, text.as_bytes()) {
            let _ = store.disk.truncate(&self.journal, self.end);
            return Err(StoreError::Io { attempt: "write", path: self.journal.clone(), source });
        }
        self.end += text.len() as u64;
        (self.last_line, self.newest, self.order) = (last_line, newest, order);
        Ok(())
    }

    /// Writes the last line, which is synced, to `head`. If that fails, `head` names an older line, which exists
    /// too.
    pub(super) fn testify(&mut self, store: &Store) {
        let line = head_line(self.last_line);
        let named = match self.witness {
            HeadCheck::Agrees => store.disk.overwrite_at(&self.head, 0, line.as_bytes()),
            HeadCheck::Absent => {
                let named = store.disk.append(&self.head, line.as_bytes());
                // A full disk may take a part of it, which names no line.
                named.inspect_err(|_| drop(store.disk.truncate(&self.head, 0)))
            }
            HeadCheck::Contradicts => return,
        };
        if named.is_ok() {
            self.witness = HeadCheck::Agrees;
        }
    }

    pub(super) fn sync(&self, store: &Store) -> Result<(), StoreError> {
        store.sync_file(&self.journal, FaultSwitch::SkipJournalSync)
    }

    /// Truncates lines that nothing follows yet: returns to the state of `earlier`.
    pub(super) fn truncate_to(&mut self, store: &Store, earlier: &JournalWriter) -> Result<(), StoreError> {
        let cut = store.disk.truncate(&self.journal, earlier.end);
        cut.map_err(StoreError::io("truncate", &self.journal))?;
        self.clone_from(earlier);
        self.sync(store)
    }

    pub(super) fn read_all(&self, store: &Store) -> Result<JournalChain, StoreError> {
        read_all(store, &self.journal)
    }

    pub(super) fn pack(&self, store: &Store) -> Result<BlobStore, StoreError> {
        BlobStore::open(&*store.disk, self.blobs.clone())
    }
}

/// Folders that are not ours to open, sealed system volumes, and file systems that cannot sync a folder.
fn cannot_create_there(kind: ErrorKind) -> bool {
    use ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(kind, PermissionDenied | ReadOnlyFilesystem | Unsupported | InvalidInput)
}

fn read_all(store: &Store, journal: &Path) -> Result<JournalChain, StoreError> {
    let bytes = store.read_file(journal)?.unwrap_or_default();
    Ok(JournalChain::read(&bytes, 0, Some(Digest::genesis())))
}

/// The content of the `head` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadFile {
    /// Empty or missing.
    Empty,
    /// The hash of a line.
    Line(Digest),
    /// A power cut may cause this.
    Damaged,
}

pub(super) fn read_head(store: &Store, head: &Path) -> Result<HeadFile, StoreError> {
    let bytes = store.read_file(head)?.unwrap_or_default();
    if bytes.is_empty() {
        return Ok(HeadFile::Empty);
    }
    let line = std::str::from_utf8(&bytes).ok().and_then(|text| Digest::parse(text.split(' ').next()?));
    let signed = line.filter(|line| head_line(*line).as_bytes() == bytes);
    Ok(signed.map_or(HeadFile::Damaged, HeadFile::Line))
}

/// With a digest of itself, because a power cut may mix two versions.
fn head_line(line: Digest) -> String {
    let name = line.to_string();
    let signature = Digest::of(name.as_bytes());
    format!("{name} {signature}\n")
}

fn newest_order(lines: &[JournalLine]) -> u64 {
    let newest = lines.iter().rev().find_map(|line| match &line.event {
        JournalRecord::Intent(intent) => Some(intent.order),
        JournalRecord::Done(_) | JournalRecord::Void(_) => None,
    });
    newest.unwrap_or(0)
}

fn is_void(line: &JournalLine) -> bool {
    matches!(line.event, JournalRecord::Void(_))
}

/// The rolled-back changes since the last one that was made, as far as this part of the journal shows.
fn refused_last(lines: &[JournalLine]) -> Vec<Intent> {
    let (mut refused, mut void) = (Vec::new(), None);
    for line in lines.iter().rev() {
        match &line.event {
            JournalRecord::Void(number) => void = Some(*number),
            JournalRecord::Intent(intent) if void == Some(intent.number) => refused.push(intent.clone()),
            JournalRecord::Intent(_) | JournalRecord::Done(_) => break,
        }
    }
    refused
}

fn open_intent(line: JournalLine) -> Option<Intent> {
    match line.event {
        JournalRecord::Intent(intent) if intent.moved_from.is_none() => Some(intent),
        _ => None,
    }
}

fn tail(store: &Store, journal: &Path) -> Result<JournalChain, StoreError> {
    let mut window = TAIL;
    loop {
        let read = store.disk.read_tail(journal, window).map_err(StoreError::io("read", journal))?;
        let (bytes, offset) = read.unwrap_or_default();
        if offset == 0 {
            return Ok(JournalChain::read(&bytes, 0, Some(Digest::genesis())));
        }
        if let Some(newline) = bytes.iter().position(|byte| *byte == b'\n') {
            let chain = JournalChain::read(&bytes[newline + 1..], offset + newline as u64 + 1, None);
            // The newest change is in the window, however long its line is.
            if chain.lines.iter().any(|line| matches!(line.event, JournalRecord::Intent(_))) {
                return Ok(chain);
            }
        }
        if window > LINE_MAX {
            let fault = io::Error::new(ErrorKind::InvalidData, "its end is not a journal");
            return Err(StoreError::io("read", journal)(fault));
        }
        window *= 2;
    }
}
