//! Documents in memory: for tests, and as proof that nothing above a backend needs files.

use super::{
    Backend, ChangeLog, ChangeState, ChangeTarget, ChangedDocument, CommitReceipt, Digest, Edit, Erase,
    ErasePredicate, ExternalChanges, LogEntry, LogFault, LogTail, NextUndo, RedactBytes, StoreError,
    Transaction, Warning, nothing_left,
};
use crate::disk::{DirEntry, FileType, Stat};
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Mtimes are this far apart: the index treats two mtimes within one clock tick as equal.
const TICK_NS: i64 = 1_000_000_000;

#[derive(Debug, Default)]
pub struct MemoryBackend {
    contents: RwLock<Contents>,
    /// The write lock.
    writer: Mutex<()>,
}

#[derive(Debug, Default)]
struct Contents {
    documents: BTreeMap<RelPath, StoredDocument>,
    /// When an entry was last added to a folder or removed from it.
    folders: BTreeMap<String, i64>,
    marks: Vec<u8>,
    log: Vec<LoggedChange>,
    clock_ns: i64,
}

#[derive(Clone, Debug)]
struct StoredDocument {
    bytes: Vec<u8>,
    mtime_ns: i64,
}

/// A change with everything needed to revert it.
#[derive(Clone, Debug)]
struct LoggedChange {
    number: u64,
    order: u64,
    at: Timestamp,
    because: String,
    undoes: Option<u64>,
    documents: Vec<ReplacedDocument>,
    /// The lines it added to the marks; with `undoes`, the lines it removed.
    marks: Vec<u8>,
}

#[derive(Clone, Debug)]
struct ReplacedDocument {
    path: RelPath,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
}

impl ReplacedDocument {
    fn is_of(&self, unwanted: &ErasePredicate<'_>) -> bool {
        let says = |bytes: &Vec<u8>| (unwanted.in_document)(&self.path, bytes);
        (unwanted.is_path)(&self.path) || self.before.iter().chain(&self.after).any(says)
    }
}

impl MemoryBackend {
    /// Writes or removes a document as another program would, without a log entry.
    pub fn write_outside(&self, path: &RelPath, bytes: Option<&[u8]>) {
        self.write().put(path, bytes.map(<[u8]>::to_vec));
    }

    fn read_contents(&self) -> RwLockReadGuard<'_, Contents> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Contents> {
        self.contents.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    fn put(&mut self, path: &RelPath, bytes: Option<Vec<u8>>) {
        self.clock_ns += TICK_NS;
        let mtime_ns = self.clock_ns;
        // A file system updates the mtime of a file's folder; a new folder also updates the one above.
        let mut folder = path.as_str();
        while let Some((above, _)) = folder.rsplit_once('/') {
            if self.folders.insert(above.to_owned(), mtime_ns).is_some() {
                break;
            }
            folder = above;
        }
        if !folder.contains('/') {
            self.folders.insert(String::new(), mtime_ns);
        }
        match bytes {
            Some(bytes) => self.documents.insert(path.clone(), StoredDocument { bytes, mtime_ns }),
            None => self.documents.remove(path),
        };
    }

    fn bytes(&self, path: &RelPath) -> Option<&[u8]> {
        self.documents.get(path).map(|document| document.bytes.as_slice())
    }

    fn undone(&self) -> BTreeSet<u64> {
        self.log.iter().filter_map(|change| change.undoes).collect()
    }

    fn entry(&self, change: &LoggedChange) -> LogEntry {
        let digest = |bytes: &Option<Vec<u8>>| bytes.as_deref().map(Digest::of);
        let documents = change.documents.iter().map(|replaced| ChangedDocument {
            place: Some(ChangeTarget::Lane(replaced.path.clone())),
            before: digest(&replaced.before),
            after: digest(&replaced.after),
        });
        let lines = (!change.marks.is_empty()).then(|| Digest::of(&change.marks));
        let (before, after) = if change.undoes.is_some() { (lines, None) } else { (None, lines) };
        let marks = lines.map(|_| ChangedDocument { place: Some(ChangeTarget::Marks), before, after });
        let undid = change.undoes.and_then(|number| self.log.iter().find(|change| change.number == number));
        LogEntry {
            number: change.number,
            undoes: change.undoes,
            undid: undid.map(|undid| undid.because.clone()),
            undone: self.undone().contains(&change.number),
            at: change.at,
            order: change.order,
            because: Some(change.because.clone()),
            changes: documents.chain(marks).collect(),
            outcome: ChangeState::Done,
        }
    }

    /// The change that an undo reverts, and newer ones that it skips because a document of them is gone.
    fn next_undo(&self) -> (Option<&LoggedChange>, Vec<Warning>) {
        let undone = self.undone();
        let mut passed_over = Vec::new();
        for change in self.log.iter().rev() {
            if change.undoes.is_some() || undone.contains(&change.number) {
                continue;
            }
            let is_gone = |replaced: &&ReplacedDocument| {
                replaced.after.is_some() && self.bytes(&replaced.path).is_none()
            };
            match change.documents.iter().find(is_gone) {
                Some(gone) => {
                    passed_over.push(Warning::PassedOver { number: change.number, path: gone.path.clone() });
                }
                None => return (Some(change), passed_over),
            }
        }
        (None, passed_over)
    }

    /// Why a change cannot be undone.
    fn refused(&self, change: &LoggedChange) -> Option<StoreError> {
        let differs = |replaced: &&ReplacedDocument| self.bytes(&replaced.path) != replaced.after.as_deref();
        let changed = change.documents.iter().find(differs)?;
        Some(StoreError::ChangedOutside { path: changed.path.to_string(), number: change.number })
    }

    fn unwanted_in_log(&self, unwanted: &ErasePredicate<'_>) -> usize {
        let in_change = |change: &LoggedChange| {
            let documents = change.documents.iter().filter(|replaced| replaced.is_of(unwanted)).count();
            let reason = usize::from((unwanted.in_reason)(&change.because));
            documents + reason + (unwanted.without)(&change.marks).1
        };
        self.log.iter().map(in_change).sum()
    }

    fn newest_order(&self) -> u64 {
        self.log.iter().map(|change| change.order).max().unwrap_or(0)
    }
}

impl Backend for MemoryBackend {
    fn list(&self, folder: &str) -> io::Result<Option<Vec<DirEntry>>> {
        let contents = self.read_contents();
        if !folder.is_empty() && !contents.folders.contains_key(folder) {
            return Ok(None);
        }
        let inside = |path: &str| -> Option<(String, FileType)> {
            let rest = if folder.is_empty() { path } else { path.strip_prefix(folder)?.strip_prefix('/')? };
            Some(match rest.split_once('/') {
                Some((name, _)) => (name.to_owned(), FileType::Folder),
                None => (rest.to_owned(), FileType::File),
            })
        };
        let names: BTreeMap<String, FileType> =
            contents.documents.keys().filter_map(|path| inside(path.as_str())).collect();
        Ok(Some(names.into_iter().map(|(name, kind)| DirEntry { name, kind }).collect()))
    }

    fn stat(&self, path: &str) -> io::Result<Option<Stat>> {
        let contents = self.read_contents();
        let document = RelPath::parse(path).ok().and_then(|path| contents.documents.get(&path));
        let folder = contents.folders.get(path).copied().or((path.is_empty()).then_some(0));
        Ok(match (document, folder) {
            (Some(StoredDocument { bytes, mtime_ns }), _) => {
                Some(Stat { kind: FileType::File, len: bytes.len() as u64, mtime_ns: *mtime_ns, mode: None })
            }
            (None, Some(mtime_ns)) => Some(Stat { kind: FileType::Folder, len: 0, mtime_ns, mode: None }),
            (None, None) => None,
        })
    }

    fn read(&self, path: &RelPath, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
        let bytes = self.read_contents().bytes(path).map(<[u8]>::to_vec);
        match bytes {
            Some(bytes) if bytes.len() as u64 > max_bytes => Err(crate::disk::too_large(max_bytes)),
            bytes => Ok(bytes),
        }
    }

    fn read_with_stat(&self, path: &RelPath, max_bytes: u64) -> io::Result<Option<(Vec<u8>, Stat)>> {
        Ok(self.read(path, max_bytes)?.zip(self.stat(path.as_str())?))
    }

    fn marks(&self, limit: Option<u64>) -> Result<Vec<u8>, StoreError> {
        let marks = self.read_contents().marks.clone();
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        Ok(super::last_lines(marks, limit))
    }

    fn marks_size(&self) -> Option<u64> {
        Some(self.read_contents().marks.len() as u64)
    }

    fn marks_key(&self) -> String {
        format!("{:p}", &raw const self.contents)
    }

    fn now_ns(&self) -> i64 {
        self.read_contents().clock_ns + TICK_NS
    }

    fn begin(&self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        let lock = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let (order, has_erased) = (self.read_contents().newest_order(), Cell::new(false));
        Ok(Box::new(MemoryTransaction { backend: self, order, has_erased, _lock: lock }))
    }

    fn log(&self) -> &dyn ChangeLog {
        self
    }
}

#[derive(Debug)]
struct MemoryTransaction<'b> {
    backend: &'b MemoryBackend,
    order: u64,
    has_erased: Cell<bool>,
    _lock: MutexGuard<'b, ()>,
}

impl MemoryTransaction<'_> {
    fn commit(&mut self, mut change: LoggedChange) -> CommitReceipt {
        change.documents.retain(|replaced| replaced.before != replaced.after);
        if change.documents.is_empty() && change.marks.is_empty() {
            return CommitReceipt::default();
        }
        let mut contents = self.backend.write();
        let mut changes = Vec::new();
        for replaced in &change.documents {
            contents.put(&replaced.path, replaced.after.clone());
            changes.push(ChangeTarget::Lane(replaced.path.clone()));
        }
        if !change.marks.is_empty() {
            match change.undoes {
                None => contents.marks.extend(&change.marks),
                Some(_) => contents.marks = without(&contents.marks, &change.marks),
            }
            changes.push(ChangeTarget::Marks);
        }
        self.order += 1;
        change.number = contents.log.len() as u64 + 1;
        change.order = self.order;
        let number = Some(change.number);
        contents.log.push(change);
        CommitReceipt { number, changes, warnings: Vec::new() }
    }
}

impl Transaction for MemoryTransaction<'_> {
    fn apply(
        &mut self,
        edits: Vec<Edit>,
        because: &str,
        now: Timestamp,
    ) -> Result<CommitReceipt, StoreError> {
        let mut documents: Vec<ReplacedDocument> = Vec::new();
        let mut marks = Vec::new();
        for edit in edits {
            let mut wanted = |path: RelPath, next: &dyn Fn(Option<Vec<u8>>) -> Option<Vec<u8>>| {
                let known = documents.iter().position(|replaced| replaced.path == path);
                let at = known.unwrap_or_else(|| {
                    let before = self.backend.read_contents().bytes(&path).map(<[u8]>::to_vec);
                    documents.push(ReplacedDocument { path, after: before.clone(), before });
                    documents.len() - 1
                });
                documents[at].after = next(documents[at].after.take());
            };
            match edit {
                Edit::Put { path, bytes } => wanted(path, &|_| Some(bytes.clone())),
                Edit::Remove { path } => wanted(path, &|_| None),
                Edit::Append { path, bytes } => {
                    wanted(path, &|there| Some([there.unwrap_or_default(), bytes.clone()].concat()));
                }
                Edit::Expect { path, bytes } => {
                    if self.backend.read_contents().bytes(&path) != bytes.as_deref() {
                        return Err(StoreError::Outdated { path: path.as_str().into() });
                    }
                }
                Edit::Mark { lines } => {
                    marks.extend(lines);
                    if marks.last().is_some_and(|byte| *byte != b'\n') {
                        marks.push(b'\n');
                    }
                }
            }
        }
        let because = because.to_owned();
        Ok(self.commit(LoggedChange {
            number: 0,
            order: 0,
            at: now,
            because,
            undoes: None,
            documents,
            marks,
        }))
    }

    fn undo(&mut self, now: Timestamp) -> Result<CommitReceipt, StoreError> {
        let (change, passed_over) = {
            let contents = self.backend.read_contents();
            let (change, passed_over) = contents.next_undo();
            let change = change.ok_or_else(|| nothing_left(&passed_over))?;
            if let Some(refused) = contents.refused(change) {
                return Err(refused);
            }
            (change.clone(), passed_over)
        };
        let back = |ReplacedDocument { path, before, after }| ReplacedDocument {
            path,
            before: after,
            after: before,
        };
        let mut receipt = self.commit(LoggedChange {
            at: now,
            because: format!("undo of {}", change.number),
            undoes: Some(change.number),
            documents: change.documents.into_iter().map(back).collect(),
            ..change
        });
        receipt.warnings = passed_over;
        Ok(receipt)
    }

    fn comes_after(&mut self, order: u64) {
        self.order = self.order.max(order);
    }

    fn order(&self) -> u64 {
        self.order
    }

    fn warnings(&self) -> &[Warning] {
        &[]
    }

    fn recovered(&self) -> &[ChangeTarget] {
        &[]
    }

    fn log_erasure(&mut self, because: &str, now: Timestamp) -> Result<u64, StoreError> {
        let mut contents = self.backend.write();
        self.order += 1;
        let (number, order, because) = (contents.log.len() as u64 + 1, self.order, because.to_owned());
        let (documents, marks) = (Vec::new(), Vec::new());
        contents.log.push(LoggedChange { number, order, at: now, because, undoes: None, documents, marks });
        Ok(number)
    }

    fn unlog_erasure(&mut self) {
        self.backend.write().log.pop();
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Erase for MemoryTransaction<'_> {
    fn newest(&self) -> u64 {
        self.backend.read_contents().log.last().map_or(0, |change| change.number)
    }

    fn uses_fallback_journal(&self) -> bool {
        false
    }

    fn has_erased(&self) -> bool {
        self.has_erased.get()
    }

    fn erase_documents(&self, paths: &BTreeSet<RelPath>) -> Result<usize, StoreError> {
        let mut contents = self.backend.write();
        let there: Vec<&RelPath> = paths.iter().filter(|path| contents.bytes(path).is_some()).collect();
        there.iter().for_each(|path| contents.put(path, None));
        self.has_erased.set(self.has_erased.get() || !there.is_empty());
        Ok(there.len())
    }

    fn erase_lines(&self, path: &RelPath, without: &RedactBytes<'_>) -> Result<usize, StoreError> {
        let mut contents = self.backend.write();
        let Some((left, erased)) = contents.bytes(path).map(without) else { return Ok(0) };
        if erased > 0 {
            contents.put(path, Some(left));
            self.has_erased.set(true);
        }
        Ok(erased)
    }

    fn erase_from_log(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError> {
        let mut contents = self.backend.write();
        let erased = contents.unwanted_in_log(unwanted);
        for change in &mut contents.log {
            change.documents.retain(|replaced| !replaced.is_of(unwanted));
            change.marks = (unwanted.without)(&change.marks).0;
            if (unwanted.in_reason)(&change.because) {
                change.because.clear();
            }
        }
        self.has_erased.set(self.has_erased.get() || erased > 0);
        Ok(erased)
    }

    fn erase_from_marks(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError> {
        let mut contents = self.backend.write();
        let (left, erased) = (unwanted.without)(&contents.marks);
        contents.marks = left;
        self.has_erased.set(self.has_erased.get() || erased > 0);
        Ok(erased)
    }
}

impl ChangeLog for MemoryBackend {
    fn recent(&self, limit: usize) -> Result<LogTail, StoreError> {
        let contents = self.read_contents();
        let entries = contents.log.iter().rev().take(limit).map(|change| contents.entry(change)).collect();
        Ok(LogTail { entries, total: contents.log.len() })
    }

    fn next_undo(&self) -> Result<NextUndo, StoreError> {
        let contents = self.read_contents();
        let (change, passed_over) = contents.next_undo();
        let entry = change.map(|change| contents.entry(change));
        Ok(NextUndo { entry, refused: change.and_then(|change| contents.refused(change)), passed_over })
    }

    fn newest_order(&self) -> Result<u64, StoreError> {
        Ok(self.read_contents().newest_order())
    }

    fn last_writes(&self, paths: &[&RelPath]) -> Result<BTreeMap<RelPath, Vec<u8>>, StoreError> {
        let contents = self.read_contents();
        let replaced: Vec<&ReplacedDocument> =
            contents.log.iter().flat_map(|change| &change.documents).collect();
        let last = |path: &RelPath| replaced.iter().rev().find(|replaced| replaced.path == *path);
        let written = |path: &&RelPath| Some(((*path).clone(), last(path)?.after.clone()?));
        Ok(paths.iter().filter_map(written).collect())
    }

    fn outside(&self) -> Result<ExternalChanges, StoreError> {
        let contents = self.read_contents();
        let mut last: BTreeMap<&RelPath, (&Option<Vec<u8>>, Timestamp)> = BTreeMap::new();
        for change in &contents.log {
            last.extend(
                change.documents.iter().map(|replaced| (&replaced.path, (&replaced.after, change.at))),
            );
        }
        let mut outside = ExternalChanges::default();
        for (path, (left, at)) in last {
            match (left, contents.bytes(path)) {
                (Some(_), None) => drop(outside.deleted.insert(path.clone(), at)),
                (left, now) if left.as_deref() != now => outside.changed.push(path.clone()),
                _ => {}
            }
        }
        Ok(outside)
    }

    fn count_in_log(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError> {
        Ok(self.read_contents().unwanted_in_log(unwanted))
    }

    fn count_in_marks(&self, unwanted: &ErasePredicate<'_>) -> Result<usize, StoreError> {
        Ok((unwanted.without)(&self.read_contents().marks).1)
    }

    fn written_ns(&self) -> Option<i64> {
        Some(self.read_contents().clock_ns)
    }

    fn verify(&self) -> Vec<LogFault> {
        Vec::new()
    }
}

/// The text without the last occurrence of these lines.
fn without(text: &[u8], lines: &[u8]) -> Vec<u8> {
    match memchr::memmem::rfind(text, lines) {
        Some(at) => [&text[..at], &text[at + lines.len()..]].concat(),
        None => text.to_vec(),
    }
}
