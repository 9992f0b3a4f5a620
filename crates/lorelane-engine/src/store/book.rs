//! The writer's end of a journal: opened by its tail, extended line by line.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::journal::{Chain, Digest, Event, Intent, Line, Tail};
use super::pack::{Blob, Held, Pack};
use super::simulation::Sabotage;
use super::{Store, StoreError, Warning};

pub(super) const JOURNAL: &str = "journal";
pub(super) const BLOBS: &str = "blobs";

/// Enough for the last lines of any usual journal; doubled until a whole line is in sight.
const TAIL: u64 = 16 * 1024;
/// No line is longer: one that names 10,000 files has 2 MB.
const LINE_MAX: u64 = 16 << 20;

/// What earlier writers left to be settled.
#[derive(Debug)]
pub(super) struct Left {
    /// A change that was interrupted.
    pub(super) open: Option<Intent>,
    /// The changes at the end that were taken back. Their temporary files may still be there.
    pub(super) refused: Vec<Intent>,
}

#[derive(Clone, Debug)]
pub(super) struct Book {
    pub(super) journal: PathBuf,
    pub(super) blobs: PathBuf,
    /// Hash of the last line: what the next one continues.
    last_line: Digest,
    /// Number of the newest change.
    pub(super) newest: u64,
    /// Length of the journal; what lies behind it is not ours.
    end: u64,
}

impl Book {
    /// Makes sure that journal and pack exist and can be written.
    pub(super) fn prepare(store: &Store, folder: &Path) -> Result<(), StoreError> {
        let disk = &*store.disk;
        let (journal, blobs) = (folder.join(JOURNAL), folder.join(BLOBS));
        disk.create_private_dir_all(folder).map_err(StoreError::io("create", folder))?;
        for file in [&blobs, &journal] {
            disk.append(file, b"").map_err(StoreError::io("write", file))?;
        }
        let stat = disk.stat(&journal).map_err(StoreError::io("look at", &journal))?;
        if stat.is_some_and(|stat| stat.len > 0) || store.sabotage == Some(Sabotage::SkipJournalFolderSync) {
            return Ok(());
        }
        // An empty journal may have been created by a writer that was killed before it synced the names,
        // so they (and the lane's own) are synced as long as it is empty and never afterwards.
        disk.sync_dir(folder).map_err(StoreError::io("sync", folder))?;
        for ancestor in folder.ancestors().skip(1).chain(store.home.lane.ancestors().skip(1)) {
            match disk.sync_dir(ancestor) {
                // Where we could not have made a folder, none of ours can be lost.
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
    ) -> Result<(Book, Left), StoreError> {
        let (journal, blobs) = (folder.join(JOURNAL), folder.join(BLOBS));
        let chain = tail(store, &journal)?;
        match chain.tail {
            Tail::Whole => {}
            Tail::Torn => {
                let cut = store.disk.truncate(&journal, chain.end);
                cut.map_err(StoreError::io("cut the torn end of", &journal))?;
                warnings.push(Warning::TornJournal { journal: journal.clone(), offset: chain.end });
            }
            Tail::Damaged => return Err(StoreError::JournalDamaged { journal, offset: chain.end }),
        }
        let refused = refused_last(&chain.lines);
        let last = chain.lines.into_iter().next_back();
        if last.as_ref().is_some_and(is_void) {
            // Its writer may have been killed before the sync. We go on from the files as they are, so a
            // power cut must not bring the change back.
            store.disk.sync_file(&journal).map_err(StoreError::io("sync", &journal))?;
        }
        let book = Book {
            journal,
            blobs,
            last_line: last.as_ref().map_or_else(Digest::genesis, |line| line.own),
            newest: last.as_ref().map_or(0, |line| line.event.number()),
            end: chain.end,
        };
        Ok((book, Left { open: last.and_then(open_intent), refused }))
    }

    /// The number of a change that was interrupted and has not been settled.
    pub(super) fn waiting(store: &Store, folder: &Path) -> Result<Option<u64>, StoreError> {
        let journal = folder.join(JOURNAL);
        let last = tail(store, &journal)?.lines.into_iter().next_back();
        if last.as_ref().is_some_and(is_void) {
            // As in `open`, but this folder may well refuse it.
            let _ = store.disk.sync_file(&journal);
        }
        Ok(last.and_then(open_intent).map(|intent| intent.number))
    }

    /// Appends events in one write; on failure the journal is as before, or has a torn end.
    pub(super) fn append(&mut self, store: &Store, events: &[Event]) -> Result<(), StoreError> {
        let (mut text, mut last_line, mut newest) = (String::new(), self.last_line, self.newest);
        for event in events {
            let (line, own) = Line::write(event, last_line);
            text.push_str(&line);
            last_line = own;
            newest = event.number();
        }
        if let Err(source) = store.disk.append(&self.journal, text.as_bytes()) {
            let _ = store.disk.truncate(&self.journal, self.end);
            return Err(StoreError::Io { attempt: "write", path: self.journal.clone(), source });
        }
        self.end += text.len() as u64;
        (self.last_line, self.newest) = (last_line, newest);
        Ok(())
    }

    pub(super) fn sync(&self, store: &Store) -> Result<(), StoreError> {
        store.sync_file(&self.journal, Sabotage::SkipJournalSync)
    }

    /// Takes lines back that nobody has followed yet: returns to the state of `earlier`.
    pub(super) fn retract(&mut self, store: &Store, earlier: &Book) -> Result<(), StoreError> {
        let cut = store.disk.truncate(&self.journal, earlier.end);
        cut.map_err(StoreError::io("shorten", &self.journal))?;
        self.clone_from(earlier);
        self.sync(store)
    }

    pub(super) fn read_all(&self, store: &Store) -> Result<Chain, StoreError> {
        let bytes = store.read_file(&self.journal)?.unwrap_or_default();
        Ok(Chain::read(&bytes, 0, Some(Digest::genesis())))
    }

    pub(super) fn blob(&self, store: &Store, blob: Blob) -> Result<Held, StoreError> {
        Pack::open(&*store.disk, self.blobs.clone())?.read(blob)
    }
}

/// Folders that are not ours to open, sealed system volumes, file systems that cannot sync a folder.
fn cannot_create_there(kind: ErrorKind) -> bool {
    use ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(kind, PermissionDenied | ReadOnlyFilesystem | Unsupported | InvalidInput)
}

fn is_void(line: &Line) -> bool {
    matches!(line.event, Event::Void(_))
}

/// The changes since the last one that was made, as far as this part of the journal shows them.
fn refused_last(lines: &[Line]) -> Vec<Intent> {
    let (mut refused, mut void) = (Vec::new(), None);
    for line in lines.iter().rev() {
        match &line.event {
            Event::Void(number) => void = Some(*number),
            Event::Intent(intent) if void == Some(intent.number) => refused.push(intent.clone()),
            Event::Intent(_) | Event::Done(_) => break,
        }
    }
    refused
}

fn open_intent(line: Line) -> Option<Intent> {
    match line.event {
        Event::Intent(intent) if intent.moved_from.is_none() => Some(intent),
        _ => None,
    }
}

fn tail(store: &Store, journal: &Path) -> Result<Chain, StoreError> {
    let mut window = TAIL;
    loop {
        let read = store.disk.read_tail(journal, window).map_err(StoreError::io("read", journal))?;
        let (bytes, offset) = read.unwrap_or_default();
        if offset == 0 {
            return Ok(Chain::read(&bytes, 0, Some(Digest::genesis())));
        }
        if let Some(newline) = bytes.iter().position(|byte| *byte == b'\n') {
            let chain = Chain::read(&bytes[newline + 1..], offset + newline as u64 + 1, None);
            if !chain.lines.is_empty() {
                return Ok(chain);
            }
        }
        if window > LINE_MAX {
            let fault = io::Error::new(ErrorKind::InvalidData, "its end is no journal");
            return Err(StoreError::io("read", journal)(fault));
        }
        window *= 2;
    }
}
