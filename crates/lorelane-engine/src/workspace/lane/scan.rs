//! Keeps the index up to date with the files.

use super::Lane;
use crate::config::write_parts;
use crate::disk::{DirEntry, Disk, FileType, LinkPolicy, is_exhausted};
use crate::index::{
    self, FileStamp, FolderTimes, Index, IndexError, IndexedFile, Rebuild, Row, RowSource, UNSETTLED,
    WrittenListing,
};
use crate::workspace::Failure;
use lorelane_core::change::Notice;
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::records::is_listing;
use lorelane_core::dialect::{Dialect, Extent, MemoryFile};
use lorelane_core::embed::Table;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::Address;
use lorelane_core::path::RelPath;
use lorelane_core::recall::doc_entry::{DocEntry, FieldBoost};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The files and bytes of a batch, after which rows are written. A hook has time for at least one batch before its
/// deadline, and the next hook continues from there.
pub(super) const PART_FILES: usize = 100;
pub(super) const PART_BYTES: u64 = 256 << 10;
/// The coarsest clock tick of a file system: a second change within a tick leaves the mtime unchanged.
const TICK_NS: i64 = 20_000_000;
/// How much of a file is read to decide whether it is a listing.
const LISTING_START: usize = 4_096;
/// The name of the lane's root among the scanned folders.
const ROOT: &str = "";

/// What is known of the files that a change wrote since it was staged, so that the index need not parse and analyze
/// them again.
#[derive(Debug, Default)]
pub(in crate::workspace) struct CommittedFiles {
    pub(in crate::workspace) files: BTreeMap<RelPath, Box<MemoryFile>>,
    pub(in crate::workspace) doc_entries: DocEntries,
}

/// Forward-index entries of memories whose text is not analyzed again.
pub(in crate::workspace) type DocEntries = BTreeMap<Address, DocEntry>;

/// The files and folders that a scan found.
#[derive(Debug, Default)]
pub(in crate::workspace) struct LaneListing {
    pub(in crate::workspace) files: Vec<RelPath>,
    /// The mtimes of the folders, taken before they were listed. A folder that cannot be listed is [`UNSETTLED`]:
    /// its mtime does not change when it becomes readable again.
    pub(in crate::workspace) times: FolderTimes,
}

impl Lane {
    /// Updates the index if a folder changed. Costs one stat per folder when none did.
    pub(in crate::workspace) fn refresh(&mut self) -> Result<(), Failure> {
        let known = self.with_index(Index::folder_times)?;
        let now = self.times_now(&known);
        if now != known {
            self.scan_changed_folders(known, &now)?;
        }
        self.read_again()?;
        self.refuse_when_exhausted()
    }

    /// Fails if the limit of open files was reached: a file that could not be opened may still exist.
    pub(in crate::workspace) fn refuse_when_exhausted(&self) -> Result<(), Failure> {
        match self.exhausted.take() {
            Some(fault) => Err(Failure::io("read", &self.folder(ROOT), fault)),
            None => Ok(()),
        }
    }

    fn note_exhausted(&self, fault: io::Error) {
        if is_exhausted(&fault) {
            self.exhausted.replace(Some(fault));
        }
    }

    /// Retries files that could not be read before; rows of those that still cannot are left alone.
    fn read_again(&mut self) -> Result<(), Failure> {
        let failed = self.with_index(|index| index.failed(PART_FILES))?;
        let rows = failed.iter().map(|problem| self.row(&problem.path));
        let rows: Vec<Row> =
            rows.filter(|row| !matches!(row, Row::Unreadable { seen, .. } if seen.has_failed())).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let times = self.with_index(Index::folder_times)?;
        self.write_rows(RowSource::Scan, rows, &times)
    }

    /// Existing files and folders that the last scan could not read, with the reason.
    pub(in crate::workspace) fn not_read(&mut self) -> Result<Vec<(PathBuf, String)>, Failure> {
        let files = self.with_index(|index| index.failed(usize::MAX))?;
        let mut problems: Vec<_> =
            files.into_iter().map(|problem| (self.file(&problem.path), problem.what)).collect();
        let times = self.with_index(Index::folder_times)?;
        problems.extend(self.not_listed(&times));
        Ok(problems)
    }

    /// The folders of a listing that could not be listed, with the reason.
    pub(in crate::workspace) fn not_listed(&self, times: &FolderTimes) -> Vec<(PathBuf, String)> {
        let unsettled = times.iter().filter(|(_, time)| **time == UNSETTLED);
        let fault = unsettled.filter_map(|(folder, _)| Some((folder, self.documents.list(folder).err()?)));
        fault.map(|(folder, fault)| (self.folder(folder), format!("it cannot be listed: {fault}"))).collect()
    }

    /// Size and mtime of every memory file, without the index.
    pub(in crate::workspace) fn sightings(&self) -> BTreeMap<Address, FileStamp> {
        let files = self.files().files;
        files.iter().filter_map(|path| Some((self.dialect.address_of(path)?, self.seen(path)?))).collect()
    }

    /// Size and mtime of a file, as stored in the index.
    pub(in crate::workspace) fn seen(&self, path: &RelPath) -> Option<FileStamp> {
        let stat = self.documents.stat(path.as_str()).ok()??;
        Some(FileStamp { size: stat.len, mtime_ns: stat.mtime_ns })
    }

    /// Stats every file and reads those that changed. Editing a file in place does not change its folder's mtime,
    /// so [`Lane::refresh`] misses it; commands that may take longer scan anyway.
    pub(in crate::workspace) fn scan(&mut self) -> Result<(), Failure> {
        let mut known: BTreeMap<String, FileStamp> = self.with_index(Index::seen)?;
        let times_before = self.with_index(Index::folder_times)?;
        let LaneListing { files, times } = self.files();
        let mut changed = Vec::new();
        for found in files {
            let (before, seen) = (known.remove(found.as_str()), self.seen(&found));
            if before != seen || seen.is_none() {
                changed.push((found, seen.map_or(0, |seen| seen.size)));
            }
        }
        let gone = known.into_keys().filter_map(|path| RelPath::parse(&path).ok());
        changed.extend(gone.map(|path| (path, 0)));
        let in_place = changed.iter().any(|(path, _)| {
            let folder = folder_of(path);
            times_before.get(folder) == times.get(folder)
        });
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for (path, size) in changed {
            rows.push(self.row(&path));
            bytes += size;
            if rows.len() == PART_FILES || bytes > PART_BYTES {
                self.write_rows(RowSource::Scan, std::mem::take(&mut rows), &FolderTimes::new())?;
                bytes = 0;
            }
        }
        let now_ns = self.documents.now_ns();
        let times = times.into_iter().map(|(folder, time)| (folder, settled(time, now_ns))).collect();
        self.write_rows(RowSource::Scan, rows, &times)?;
        if in_place {
            self.settle_edits_in_place();
        }
        self.refuse_when_exhausted()
    }

    /// Checkpoints the index after edits in place. A crash may lose the end of its write-ahead log; folder mtimes
    /// reveal other lost rows, but not those of such an edit.
    pub(super) fn settle_edits_in_place(&self) {
        self.index.shorten_log(0);
    }

    /// Queries the index. It is only a cache: if it fails, it is replaced and queried again.
    pub(in crate::workspace) fn with_index<T>(
        &mut self,
        question: impl Fn(&Index) -> Result<T, IndexError>,
    ) -> Result<T, Failure> {
        match question(&self.index) {
            Ok(answer) => Ok(answer),
            Err(fault) => {
                self.replace_index(fault)?;
                Ok(question(&self.index)?)
            }
        }
    }

    /// Replaces a failing index with one built from the files: a new file if the old one is damaged, in memory if
    /// the file is locked or cannot be written. No read fails because of the cache.
    pub(in crate::workspace) fn replace_index(&mut self, fault: IndexError) -> Result<(), Failure> {
        let fault = match Index::remake(fault) {
            Ok(index) => {
                self.index = index;
                match self.fill(Rebuild::All) {
                    Ok(()) => return Ok(()),
                    Err(fault) => fault,
                }
            }
            Err(fault) => fault,
        };
        self.index_fault = Some(fault.to_string());
        self.index = Index::in_memory();
        Ok(self.fill(Rebuild::All)?)
    }

    /// Rebuilds the index from the files.
    pub(in crate::workspace) fn fill(&mut self, rebuild: Rebuild) -> Result<(), IndexError> {
        let LaneListing { files, times } = self.files();
        let mut index = std::mem::replace(&mut self.index, Index::in_memory());
        let rows = files.iter().map(|found| self.row(found));
        let filled = index.replace(rows, &times, &|file| self.doc_entry(file), rebuild);
        self.index = index;
        filled
    }

    /// Reads every file and updates the rows of those whose contents differ from the index.
    fn fill_changed(&mut self) -> Result<(), IndexError> {
        let LaneListing { files, times } = self.files();
        let mut sources = self.index.sources()?;
        let is_changed = |path: &&RelPath| {
            let before = sources.remove(path.as_str());
            before.is_none() || before.map(|before| before.file) != self.content(path).source()
        };
        let changed: Vec<&RelPath> = files.iter().filter(is_changed).collect();
        // Writing all rows and sorting once is cheaper than updating half of them one by one.
        if changed.len() + sources.len() > files.len() / 2 {
            return self.fill(Rebuild::Changed);
        }
        let gone = sources.into_keys().filter_map(|path| RelPath::parse(&path).ok());
        let gone: Vec<Row> = gone.map(|path| Row::Gone { path }).collect();
        let mut index = std::mem::replace(&mut self.index, Index::in_memory());
        let rows = changed.into_iter().map(|path| self.row(path)).chain(gone);
        let updated = index.update(RowSource::Scan, rows, &times, &|file| self.doc_entry(file));
        index.shorten_log(0);
        self.index = index;
        updated.map(drop)
    }

    /// Switches to an index in memory that is built with these field boosts.
    pub(in crate::workspace) fn set_field_boost(&mut self, boost: FieldBoost) -> Result<(), Failure> {
        self.boost = boost;
        self.index = Index::in_memory();
        Ok(self.fill(Rebuild::All)?)
    }

    /// The forward-index entry of a memory.
    pub(in crate::workspace) fn doc_entry(&self, file: &MemoryFile) -> DocEntry {
        doc_entry(&*self.dialect, file, self.boost)
    }

    pub(super) fn write_rows(
        &mut self,
        by: RowSource,
        rows: Vec<Row>,
        times: &FolderTimes,
    ) -> Result<(), Failure> {
        self.write_analyzed_rows(by, rows, times, &DocEntries::new())
    }

    fn write_analyzed_rows(
        &mut self,
        by: RowSource,
        rows: Vec<Row>,
        times: &FolderTimes,
        analyzed: &DocEntries,
    ) -> Result<(), Failure> {
        // Checked again inside the index's transaction: `forget` may have erased a file after it was read, and its
        // row would bring the erased words back.
        let documents = &*self.documents;
        let standing = rows.into_iter().map(|row| match &row {
            Row::Memory { entry, .. } if matches!(documents.stat(entry.path.as_str()), Ok(None)) => {
                Row::Gone { path: entry.path.clone() }
            }
            _ => row,
        });
        let (dialect, boost) = (&*self.dialect, self.boost);
        let analyze = |file: &MemoryFile| {
            let known = analyzed.get(&file.memory.address).cloned();
            known.unwrap_or_else(|| doc_entry(dialect, file, boost))
        };
        match self.index.update(by, standing, times, &analyze) {
            Ok(change) => {
                // Only the last one is needed: the listing is spliced if it is one change behind.
                self.listing_change = change.or(self.listing_change.take());
                Ok(())
            }
            Err(fault) => self.replace_index(fault),
        }
    }

    /// Reads the whole index and rebuilds it if it is damaged. Returns what was wrong.
    pub(in crate::workspace) fn verify_index(&mut self) -> Result<Option<String>, Failure> {
        let Err(fault) = self.index.verify() else { return Ok(None) };
        let what = fault.to_string();
        self.replace_index(fault)?;
        Ok(Some(what))
    }

    /// Rebuilds index and listing; returns the number of active memories. The caller holds the lane's lock.
    pub(in crate::workspace) fn reindex(
        &mut self,
        rebuild: Rebuild,
        notices: &mut Vec<Notice>,
    ) -> Result<usize, Failure> {
        // An update does not read the rows that it keeps, so damage in them would stay without this check.
        let filled = self.index.verify().and_then(|()| match rebuild {
            Rebuild::Changed => self.fill_changed(),
            Rebuild::All => self.fill(Rebuild::All),
        });
        if let Err(fault) = filled {
            self.replace_index(fault)?;
        }
        if let Some(why) = &self.index_fault {
            notices.push(Notice::warning(format!("cannot save the index: {why}")));
        }
        self.rewrite_listing()?;
        let counts = self.with_index(Index::counts)?.into_iter();
        Ok(counts.filter(|((_, status), _)| *status == Status::Active).map(|(_, count)| count).sum())
    }

    /// A dump of an index rebuilt from the files, to compare with.
    pub(in crate::workspace) fn rebuilt_dump(&self) -> Result<String, Failure> {
        let mut rebuilt = Index::in_memory();
        let LaneListing { files, times } = self.files();
        let rows = files.iter().map(|found| self.row(found));
        rebuilt.replace(rows, &times, &|file| self.doc_entry(file), Rebuild::All)?;
        Ok(rebuilt.dump()?)
    }

    /// Updates the index for these files.
    ///
    /// Only the mtimes of their folders are stored, and only if a folder has no files that the index lacks: a file
    /// that somebody else added meanwhile would otherwise be hidden by our own mtime.
    pub(in crate::workspace) fn index_paths(&mut self, paths: &[RelPath]) -> Result<(), Failure> {
        self.index_committed(paths, CommittedFiles::default())
    }

    /// The same, with the parsed documents of files that were just committed.
    pub(in crate::workspace) fn index_committed(
        &mut self,
        paths: &[RelPath],
        mut committed: CommittedFiles,
    ) -> Result<(), Failure> {
        // Files in quarantine get no row, even if a change moved them there.
        let memories = paths.iter().filter(|path| self.dialect.is_memory_name(path.file_name()));
        let rows: Vec<Row> = memories.map(|path| self.committed_row(path, &mut committed)).collect();
        let mut times = self.with_index(Index::folder_times)?;
        self.write_analyzed_rows(RowSource::Commit, rows, &times, &committed.doc_entries)?;
        let touched: BTreeSet<&str> = paths.iter().flat_map(|path| self.folders_above(path)).collect();
        for folder in touched.iter().copied() {
            let Some(time) = self.time_of(folder) else { continue };
            let (mut file_count, mut below) = (0, Vec::new());
            let listed = self.documents.each_entry(folder, &mut |name, kind| {
                file_count += usize::from(self.dialect.is_memory_name(name));
                below.extend(self.folder_in(folder, name, kind));
            });
            let holds_what_is_known = listed.is_ok() && {
                let is_known = |below: &String| touched.contains(&**below) || times.contains_key(below);
                file_count == self.with_index(|index| index.known_in(folder, &below))?
                    && below.iter().all(is_known)
            };
            times.insert(folder.to_owned(), if holds_what_is_known { time } else { UNSETTLED });
        }
        self.write_rows(RowSource::Commit, Vec::new(), &times)
    }

    /// The path and text of the listing, from the index. `None` for a lane without one.
    pub(in crate::workspace) fn listing(&mut self) -> Result<Option<(RelPath, String)>, Failure> {
        let before = self.listing_start();
        let Some((path, above)) = self.dialect.listing(&before) else { return Ok(None) };
        Ok(Some((path, self.with_index(|index| index.listing(above))?)))
    }

    /// The listing's file, if the backend has files.
    pub(in crate::workspace) fn listing_file(&self) -> Option<PathBuf> {
        let files = self.files.as_ref()?;
        self.dialect.listing("").map(|(path, _)| files.file(&path))
    }

    /// The start of the current listing.
    fn listing_start(&self) -> String {
        let files = self.files.as_ref().zip(self.listing_file());
        files.and_then(|(files, file)| start_of(&*files.disk, &file).ok()).unwrap_or_default()
    }

    /// The listing is derived from the files, so a failure to write it is a warning and does not undo the change.
    pub(in crate::workspace) fn write_listing(&mut self) -> Option<Notice> {
        let failure = self.put_listing().err()?;
        Some(Notice::warning(format!("the listing is not up to date: {failure}")))
    }

    pub(in crate::workspace) fn put_listing(&mut self) -> Result<(), Failure> {
        if self.splice_listing()? { Ok(()) } else { self.rewrite_listing() }
    }

    /// Changes only the lines that the last change touched, if everything else is known to be as it should be.
    /// Returns whether the listing is up to date.
    fn splice_listing(&mut self) -> Result<bool, Failure> {
        let change = self.listing_change.take();
        let Some((files, file)) = self.files.clone().zip(self.listing_file()) else { return Ok(false) };
        let Some(splice) = self.with_index(|index| index.listing_splice(change.as_ref()))? else {
            return Ok(false);
        };
        let Ok(mut listing) = files.disk.open(&file, LinkPolicy::Refused) else { return Ok(false) };
        if splice.is_empty() {
            return Ok(splice.copy(&mut *listing, &mut |_| Ok(())).is_ok_and(|known| known.is_some()));
        }
        let mut written = None;
        let put = write_parts(&*files.disk, &file, |write| {
            written = splice.copy(&mut *listing, write)?;
            written.map(drop).ok_or_else(|| io::Error::other("it is not the listing that was written last"))
        });
        // If the disk is full, that shows again when all of it is written.
        let Some(written) = written.filter(|_| put.is_ok()) else { return Ok(false) };
        self.remember_listing(written);
        Ok(true)
    }

    /// Writes the listing from all rows.
    fn rewrite_listing(&mut self) -> Result<(), Failure> {
        let before = self.listing_start();
        let (Some(files), Some((path, above))) = (self.files.clone(), self.dialect.listing(&before)) else {
            return Ok(());
        };
        let file = files.file(&path);
        // `write_plain` rejects a symbolic link.
        let is_link = matches!(files.disk.stat(&file), Ok(Some(stat)) if stat.kind == FileType::Symlink);
        if !is_link && is_foreign(&*files.disk, &file) {
            return Err(Failure::ForeignListing { file });
        }
        let written = self.with_index(|index| {
            let mut read = Ok(None);
            let put = write_parts(&*files.disk, &file, |write| match index.write_listing(above, write) {
                Ok(written) => written.map(|written| read = Ok(Some(written))),
                Err(fault) => {
                    read = Err(fault);
                    Err(io::Error::other("the index cannot be read"))
                }
            });
            read.map(|written| put.map(|()| written))
        })??;
        if let Some(written) = written {
            self.remember_listing(written);
        }
        Ok(())
    }

    /// A listing that cannot be remembered is written from all rows the next time.
    fn remember_listing(&mut self, written: WrittenListing) {
        let _ = self.index.remember_listing(written);
    }

    /// The current mtimes of the scanned folders. In a tree these are the ones the index knows: a new folder
    /// changes the mtime of its parent.
    pub(in crate::workspace) fn times_now(&self, known: &FolderTimes) -> FolderTimes {
        let folders: Vec<&str> = match self.dialect.extent() {
            Extent::Folders(folders) => folders,
            Extent::Tree(_) => std::iter::once(ROOT).chain(known.keys().map(String::as_str)).collect(),
        };
        folders.into_iter().filter_map(|folder| Some((folder.to_owned(), self.time_of(folder)?))).collect()
    }

    fn time_of(&self, folder: &str) -> Option<i64> {
        Some(self.documents.stat(folder).ok()??.mtime_ns)
    }

    /// A folder's path for messages.
    pub(in crate::workspace) fn folder(&self, folder: &str) -> PathBuf {
        let root =
            self.files.as_ref().map_or_else(|| PathBuf::from(&self.known_as), |files| files.root.clone());
        if folder == ROOT { root } else { root.join(folder) }
    }

    /// The scanned folders that contain a file.
    fn folders_above<'p>(&self, path: &'p RelPath) -> Vec<&'p str> {
        match self.dialect.extent() {
            Extent::Folders(folders) => {
                let folder = folder_of(path);
                folders.contains(&folder).then_some(folder).into_iter().collect()
            }
            Extent::Tree(_) => {
                let path = path.as_str();
                let above = path.match_indices('/').map(|(end, _)| &path[..end]);
                std::iter::once(ROOT).chain(above).collect()
            }
        }
    }

    /// The subfolders of a folder that are scanned.
    fn folders_in(&self, folder: &str, listed: &[DirEntry]) -> Vec<String> {
        listed.iter().filter_map(|listed| self.folder_in(folder, &listed.name, listed.kind)).collect()
    }

    /// The path of an entry, if it is a folder that is scanned.
    fn folder_in(&self, folder: &str, name: &str, kind: FileType) -> Option<String> {
        let Extent::Tree(enters) = self.dialect.extent() else { return None };
        let below = (kind == FileType::Folder).then(|| joined(folder, name))?;
        enters(&below).then_some(below)
    }

    /// All files in the lane's folders that are named like a memory. A folder that cannot be listed does not stop
    /// the scan of the others.
    pub(in crate::workspace) fn files(&self) -> LaneListing {
        let mut found = LaneListing::default();
        let mut folders: Vec<String> = match self.dialect.extent() {
            Extent::Folders(folders) => folders.into_iter().map(str::to_owned).collect(),
            Extent::Tree(_) => vec![ROOT.to_owned()],
        };
        while let Some(folder) = folders.pop() {
            let stat = match self.documents.stat(&folder) {
                Ok(Some(stat)) => stat,
                Ok(None) => continue,
                Err(_) => {
                    found.times.insert(folder, UNSETTLED);
                    continue;
                }
            };
            if stat.kind != FileType::Folder {
                found.times.insert(folder, stat.mtime_ns);
                continue;
            }
            let listed = match self.documents.list(&folder) {
                Ok(listed) => listed.unwrap_or_default(),
                Err(fault) => {
                    self.note_exhausted(fault);
                    found.times.insert(folder, UNSETTLED);
                    continue;
                }
            };
            folders.extend(self.folders_in(&folder, &listed));
            let meant = listed.iter().filter(|listed| self.dialect.is_memory_name(&listed.name));
            found
                .files
                .extend(meant.filter_map(|listed| RelPath::parse(&joined(&folder, &listed.name)).ok()));
            found.times.insert(folder, stat.mtime_ns);
        }
        found.files.sort();
        found
    }

    /// The index row of a file.
    pub(in crate::workspace) fn row(&self, path: &RelPath) -> Row {
        let path = path.clone();
        let (bytes, seen) = match self.content(&path) {
            FileContent::Gone => return Row::Gone { path },
            FileContent::Unread { what, seen } => return Row::Unreadable { path, what, seen },
            FileContent::Read { bytes, seen } => (bytes, seen),
        };
        match self.parse(&path, bytes).into_memory() {
            Ok(file) => self.memory_row(&path, seen, Box::new(file)),
            Err(what) => Row::Unreadable { path, what, seen },
        }
    }

    fn memory_row(&self, path: &RelPath, seen: FileStamp, file: Box<MemoryFile>) -> Row {
        Row::Memory {
            listing: self.dialect.listing_line(&file.memory),
            entry: Box::new(MemorySummary::of(&file.memory, path)),
            seen,
            file,
        }
    }

    /// The row of a file that was just committed. If the file has changed since, it is parsed and analyzed again.
    fn committed_row(&self, path: &RelPath, committed: &mut CommittedFiles) -> Row {
        match (self.content(path), committed.files.remove(path)) {
            (FileContent::Read { bytes, seen }, Some(mut file))
                if index::digest(&bytes) == index::digest(file.document.text.as_bytes()) =>
            {
                self.apply_marks(&mut file.memory);
                self.memory_row(path, seen, file)
            }
            (_, file) => {
                if let Some(file) = file {
                    committed.doc_entries.remove(&file.memory.address);
                }
                self.row(path)
            }
        }
    }

    /// The current contents of a file.
    pub(in crate::workspace) fn content(&self, path: &RelPath) -> FileContent {
        match self.documents.read_with_stat(path, self.dialect.max_bytes() as u64) {
            Ok(Some((bytes, stat))) => {
                FileContent::Read { bytes, seen: FileStamp { size: stat.len, mtime_ns: stat.mtime_ns } }
            }
            Ok(None) => FileContent::Gone,
            Err(fault) => self.unread(path, fault),
        }
    }

    /// Why a file could not be read.
    fn unread(&self, path: &RelPath, fault: io::Error) -> FileContent {
        let failed = |fault: &io::Error| FileContent::Unread {
            what: format!("it cannot be read: {fault}"),
            seen: FileStamp::FAILED,
        };
        let stat = match self.documents.stat(path.as_str()) {
            Ok(Some(stat)) => stat,
            Ok(None) => return FileContent::Gone,
            Err(fault) => return failed(&fault),
        };
        let seen = FileStamp { size: stat.len, mtime_ns: stat.mtime_ns };
        let unread = |what: String| FileContent::Unread { what, seen };
        if stat.kind != FileType::File {
            return unread("it is not a regular file".to_owned());
        }
        let max = self.dialect.max_bytes();
        if stat.len > max as u64 {
            return unread(format!("it is larger than {} KiB", max / 1024));
        }
        // Not a regular file, or too large when it was read: retrying is pointless until its stat changes.
        if fault.kind() == ErrorKind::InvalidData {
            return unread(format!("it cannot be read: {fault}"));
        }
        let content = failed(&fault);
        self.note_exhausted(fault);
        content
    }
}

/// The contents of a file, or why they were not read.
#[derive(Debug)]
pub(in crate::workspace) enum FileContent {
    Gone,
    Unread { what: String, seen: FileStamp },
    Read { bytes: Vec<u8>, seen: FileStamp },
}

impl FileContent {
    /// Stamp and digest as an index built from these contents stores them.
    pub(in crate::workspace) fn source(&self) -> Option<IndexedFile> {
        match self {
            FileContent::Gone => None,
            FileContent::Unread { seen, .. } => Some(IndexedFile { seen: *seen, digest: None }),
            FileContent::Read { bytes, seen } => {
                // Checked first: `from_utf8_lossy` takes four times as long, and nearly every file is UTF-8.
                let digest = match std::str::from_utf8(bytes) {
                    Ok(text) => index::digest(text.as_bytes()),
                    Err(_) => index::digest(String::from_utf8_lossy(bytes).as_bytes()),
                };
                Some(IndexedFile { seen: *seen, digest: Some(digest) })
            }
        }
    }
}

fn doc_entry(dialect: &dyn Dialect, file: &MemoryFile, boost: FieldBoost) -> DocEntry {
    DocEntry::of(&file.memory, &dialect.passages(&file.document), &Table::built_in(), boost)
}

fn folder_of(path: &RelPath) -> &str {
    path.as_str().rsplit_once('/').map_or(ROOT, |(folder, _)| folder)
}

pub(in crate::workspace) fn joined(folder: &str, name: &str) -> String {
    if folder == ROOT { name.to_owned() } else { format!("{folder}/{name}") }
}

/// A folder's mtime, or [`UNSETTLED`] while another change in the same clock tick could leave it unchanged.
pub(super) fn settled(time: i64, now_ns: i64) -> i64 {
    if now_ns.saturating_sub(time) < TICK_NS { UNSETTLED } else { time }
}

/// Whether a file of the user's own, or anything but a regular file, is at the listing's path.
pub(in crate::workspace) fn is_foreign(disk: &dyn Disk, file: &Path) -> bool {
    let Ok(Some(stat)) = disk.stat(file) else { return false };
    if stat.kind != FileType::File {
        return true;
    }
    start_of(disk, file).is_ok_and(|start| !is_listing(&start))
}

/// The start of a file; empty if there is none.
fn start_of(disk: &dyn Disk, file: &Path) -> io::Result<String> {
    let Some(stat) = disk.stat(file)?.filter(|stat| stat.kind == FileType::File) else {
        return Ok(String::new());
    };
    let length = usize::try_from(stat.len).unwrap_or(usize::MAX).min(LISTING_START);
    let start = disk.open(file, LinkPolicy::Followed)?.read_at(0, length)?;
    Ok(String::from_utf8_lossy(&start).into_owned())
}
