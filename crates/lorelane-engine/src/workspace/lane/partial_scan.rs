//! Looking at a part of the lane, where a look at every file would cost too much.

use super::Lane;
use super::scan::{PART_BYTES, PART_FILES, joined, settled};
use crate::disk::DirEntry;
use crate::index::{FileStamp, FolderTimes, Index, Row, RowSource};
use crate::workspace::Failure;
use lorelane_core::dialect::Extent;
use lorelane_core::path::RelPath;
use std::collections::BTreeMap;

impl Lane {
    /// Looks at every file of the folders whose times are not the `known` ones. One that was cut short left its
    /// rows, and the next goes on from there. Where not only the files of folders can have changed, looks at all.
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
            // The time from before it was listed: what came since is seen by the next look.
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

    /// Looks at the next files after a path, in the order of their paths, and at the files with these names. Returns
    /// where the next look goes on: at the beginning after the last one.
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

    /// Reads files that changed, with their sizes. The times of the folders stay: they were not looked through.
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
