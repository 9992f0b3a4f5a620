//! Scans part of a lane, for callers that cannot afford to stat every file.

use super::Lane;
use super::scan::{PART_BYTES, PART_FILES, joined, settled};
use crate::disk::DirEntry;
use crate::index::{FileStamp, FolderTimes, Index, Row, RowSource};
use crate::workspace::Failure;
use lorelane_core::dialect::Extent;
use lorelane_core::path::RelPath;
use std::collections::BTreeMap;

impl Lane {
    /// Scans the folders whose mtime differs from the `known` one. Rows are written in batches, so that an
    /// interrupted scan is continued by the next. A lane that is a tree of folders is scanned as a whole.
    pub(super) fn scan_changed_folders(
        &mut self,
        known: FolderTimes,
        now: &FolderTimes,
    ) -> Result<(), Failure> {
        let Extent::Folders(folders) = self.dialect.extent() else { return self.scan() };
        if known.is_empty() {
            return self.scan();
        }
        let mut times = known;
        for folder in folders {
            if times.get(folder) == now.get(folder) {
                continue;
            }
            let Ok(listed) = self.documents.list(folder) else { return self.scan() };
            self.scan_folder(folder, &listed.unwrap_or_default(), &times)?;
            // The mtime from before the listing: a later change is found by the next scan.
            match now.get(folder) {
                Some(time) => times.insert(folder.to_owned(), settled(*time, self.documents.now_ns())),
                None => times.remove(folder),
            };
        }
        self.write_rows(RowSource::Scan, Vec::new(), &times)
    }

    fn scan_folder(&mut self, folder: &str, listed: &[DirEntry], times: &FolderTimes) -> Result<(), Failure> {
        let mut known: BTreeMap<RelPath, FileStamp> =
            self.with_index(|index| index.seen_in(folder))?.into_iter().collect();
        let mut changed = Vec::new();
        for file in listed.iter().filter(|listed| self.dialect.is_memory_name(&listed.name)) {
            let Ok(path) = RelPath::parse(&joined(folder, &file.name)) else { continue };
            let (before, seen) = (known.remove(&path), self.seen(&path));
            if before != seen || seen.is_none() {
                changed.push((path, seen.map_or(0, |seen| seen.size)));
            }
        }
        changed.extend(known.into_keys().map(|gone| (gone, 0)));
        self.read_changed(changed, times)
    }

    /// Scans the next `count` indexed files after a path, in path order, and those with these names. Returns the
    /// path after which the next call continues; empty when the end was reached.
    pub(in crate::workspace) fn scan_some(
        &mut self,
        after: &str,
        count: usize,
        names: &[String],
    ) -> Result<String, Failure> {
        let mut some = self.with_index(|index| index.seen_after(after, count))?;
        let end = some.last().filter(|_| some.len() == count).map(|(path, _)| path.as_str().to_owned());
        let folders: Vec<String> = self.with_index(Index::folder_times)?.into_keys().collect();
        for name in names {
            for path in folders.iter().filter_map(|folder| RelPath::parse(&joined(folder, name)).ok()) {
                some.extend(self.with_index(|index| index.seen_at(&path))?.map(|seen| (path.clone(), seen)));
            }
        }
        let changed = some.into_iter().filter(|(path, seen)| self.seen(path) != Some(*seen));
        let changed: Vec<(RelPath, u64)> = changed.map(|(path, seen)| (path, seen.size)).collect();
        if !changed.is_empty() {
            let times = self.with_index(Index::folder_times)?;
            self.read_changed(changed, &times)?;
            self.settle_edits_in_place();
        }
        Ok(end.unwrap_or_default())
    }

    /// Reads changed files, given with their sizes. The folder times stay: the folders were not fully scanned.
    fn read_changed(&mut self, changed: Vec<(RelPath, u64)>, times: &FolderTimes) -> Result<(), Failure> {
        let (mut rows, mut bytes): (Vec<Row>, u64) = (Vec::new(), 0);
        for (path, size) in changed {
            rows.push(self.row(&path));
            bytes += size;
            if rows.len() == PART_FILES || bytes > PART_BYTES {
                self.write_rows(RowSource::Scan, std::mem::take(&mut rows), times)?;
                bytes = 0;
            }
        }
        if rows.is_empty() { Ok(()) } else { self.write_rows(RowSource::Scan, rows, times) }
    }
}
