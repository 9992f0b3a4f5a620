//! Keeping the index in step with the files.

use super::{Failure, Workspace};
use crate::config::write_plain;
use crate::disk::{Disk, Kind};
use crate::index::{Extent, FolderTimes, Index, IndexError, Row, Said, Seen, UNSETTLED};
use lorelane_core::change::Notice;
use lorelane_core::corpus::Entry;
use lorelane_core::dialect::records::RECORD_MAX_BYTES;
use lorelane_core::dialect::{Dialect, Reading};
use lorelane_core::embed::Table;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Address, Category};
use lorelane_core::path::RelPath;
use lorelane_core::recall::sheet::{Emphasis, Sheet};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many files are read before their rows are written.
const LOOK_PART: usize = 500;
/// The clock of a file system ticks this slowly: a change within a tick leaves the time as it is.
const TICK_NS: i64 = 20_000_000;

/// What a look into the lane's folders gives.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<RelPath>,
    /// The folders that cannot be listed.
    pub(super) closed: Vec<String>,
}

impl Workspace {
    /// Makes the index fresh if a folder changed since it was written. Costs six stats when nothing did.
    pub(super) fn refresh(&mut self) -> Result<(), Failure> {
        let times = self.folder_times();
        if self.ask(Index::folder_times)? == times {
            return Ok(());
        }
        self.look(times)
    }

    /// Looks at every file and reads those that changed. A file edited in place leaves its folder's time as it
    /// was: commands that may take a moment look anyway.
    pub fn look_at_every_file(&mut self) -> Result<(), Failure> {
        let times = self.folder_times();
        self.look(times)
    }

    /// How every file of a memory looks from outside, without asking the index: two such maps tell a watcher what
    /// changed between them, also what another process took into the index meanwhile.
    pub fn sightings(&self) -> BTreeMap<Address, Seen> {
        let files = self.files().files;
        let seen = files.iter().filter_map(|path| {
            let stat = self.disk.stat(&self.lane.join(path.as_str())).ok()??;
            Some((Address::parse(path.as_str())?, Seen { size: stat.len, mtime_ns: stat.mtime_ns }))
        });
        seen.collect()
    }

    fn look(&mut self, times: FolderTimes) -> Result<(), Failure> {
        let mut known: BTreeMap<String, Seen> = self.ask(Index::seen)?;
        let Found { files, closed } = self.files();
        self.closed = closed;
        let mut changed = Vec::new();
        for found in files {
            let before = known.remove(found.as_str());
            let Ok(Some(stat)) = self.disk.stat(&self.lane.join(found.as_str())) else { continue };
            if before != Some(Seen { size: stat.len, mtime_ns: stat.mtime_ns }) {
                changed.push(found);
            }
        }
        changed.extend(known.into_keys().filter_map(|path| RelPath::parse(&path).ok()));
        // In parts: the first look at a large store must not hold all of it in memory.
        for part in changed.chunks(LOOK_PART) {
            let rows = part.iter().map(|path| self.row(path)).collect();
            self.take_in(rows, &FolderTimes::new())?;
        }
        let now_ns = self.disk.now_ns();
        self.take_in(
            Vec::new(),
            &times.into_iter().map(|(folder, time)| (folder, settled(time, now_ns))).collect(),
        )
    }

    /// Asks the index. It is only a cache: one that cannot answer is replaced, and the new one is asked.
    pub(super) fn ask<T>(
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

    /// Puts an index that says what the files say in the place of one that fails: in a new file where the old one
    /// is damaged, in memory where the file is locked or cannot be written. No read fails for want of a cache.
    pub(super) fn replace_index(&mut self, fault: IndexError) -> Result<(), Failure> {
        let fault = match Index::remake(fault) {
            Ok(index) => {
                self.index = index;
                match self.fill(Extent::All)? {
                    None => return Ok(()),
                    Some(fault) => fault,
                }
            }
            Err(fault) => fault,
        };
        self.index_fault = Some(fault.to_string());
        self.index = Index::in_memory();
        self.fill(Extent::All)?.map_or(Ok(()), |fault| Err(fault.into()))
    }

    /// Makes the index say what the files say and nothing else; returns why it could not.
    fn fill(&mut self, extent: Extent) -> Result<Option<IndexError>, Failure> {
        let mut times = self.folder_times();
        let Found { files, closed } = self.files();
        times.retain(|folder, _| !closed.contains(folder));
        self.closed = closed;
        let mut index = std::mem::replace(&mut self.index, Index::in_memory());
        let take_apart = |said: &Said| sheet(&self.dialect, said);
        let filled = index.replace(files.iter().map(|found| self.row(found)), &times, &take_apart, extent);
        self.index = index;
        Ok(filled.err())
    }

    fn take_in(&mut self, rows: Vec<Row>, times: &FolderTimes) -> Result<(), Failure> {
        // A folder that is opened to us again keeps its time, so its time is not kept while it is closed.
        let mut times = times.clone();
        times.retain(|folder, _| !self.closed.contains(folder));
        // Asked again inside the index's transaction: a row of a file that was forgotten since it was read would
        // bring its words back behind the one who scrubbed them.
        let (disk, lane) = (&*self.disk, &self.lane);
        let standing = rows.into_iter().map(|row| match &row {
            Row::Memory { entry, .. } if is_gone(disk, lane, &entry.path) => {
                Row::Gone { path: entry.path.clone() }
            }
            _ => row,
        });
        match self.index.update(standing, &times, &|said| sheet(&self.dialect, said)) {
            Ok(()) => Ok(()),
            Err(fault) => self.replace_index(fault),
        }
    }

    /// Writes index and listing anew from the files. Returns the number of listed memories.
    pub fn reindex(&mut self, extent: Extent) -> Result<(usize, Vec<Notice>), Failure> {
        self.refuse_when_misconfigured()?;
        let store = std::sync::Arc::clone(&self.store);
        let mut writer = store.begin()?;
        let mut notices = warnings(writer.warnings());
        notices.extend(self.complete_forgetting(&mut writer));
        if let Some(fault) = self.fill(extent)? {
            self.replace_index(fault)?;
        }
        if let Some(why) = &self.index_fault {
            notices.push(Notice::warning(format!("the index cannot be kept: {why}")));
        }
        self.put_listing()?;
        writer.finish()?;
        let listed =
            self.ask(Index::counts)?.into_iter().filter(|((_, status), _)| *status == Status::Active);
        Ok((listed.map(|(_, count)| count).sum(), notices))
    }

    /// All that the index says, in text.
    pub fn index_dump(&mut self) -> Result<String, Failure> {
        self.refresh()?;
        self.ask(Index::dump)
    }

    /// All that an index made anew from the files would say.
    pub fn rebuilt_dump(&self) -> Result<String, Failure> {
        let mut rebuilt = Index::in_memory();
        let rows = self.files().files.into_iter().map(|found| self.row(&found));
        let take_apart = |said: &Said| sheet(&self.dialect, said);
        rebuilt.replace(rows, &self.folder_times(), &take_apart, Extent::All)?;
        Ok(rebuilt.dump()?)
    }

    /// Tells the index what became of these files.
    ///
    /// Only the times of their folders are taken over, and only of those that hold as many files as the index
    /// knows: a file that somebody else put there meanwhile would otherwise stay unseen behind our own time.
    pub(super) fn note(&mut self, paths: &[RelPath]) -> Result<(), Failure> {
        // What lies in quarantine has no row, also when a change put it there.
        let memories = paths.iter().filter(|path| path.as_str().ends_with(".json"));
        let rows: Vec<Row> = memories.map(|path| self.row(path)).collect();
        let mut times = self.ask(Index::folder_times)?;
        self.take_in(rows, &times)?;
        let touched: BTreeSet<&str> = paths.iter().filter_map(RelPath::folder).collect();
        for (folder, time) in
            self.folder_times().into_iter().filter(|(folder, _)| touched.contains(folder.as_str()))
        {
            let listed = self.disk.list(&self.lane.join(&folder)).ok().flatten().unwrap_or_default();
            let files = listed.iter().filter(|listed| listed.name.ends_with(".json")).count();
            let known = self.ask(|index| index.known_in(&folder))?;
            times.insert(folder, if files == known { time } else { UNSETTLED });
        }
        self.take_in(Vec::new(), &times)
    }

    /// The listing as the index has it now: the bytes that a rebuild would give.
    pub(super) fn listing(&mut self) -> Result<(RelPath, String), Failure> {
        let lines = self.ask(Index::listing_lines)?;
        Ok(self.dialect.listing(&lines).expect("records have a listing"))
    }

    /// The listing is derived, so its failure is said and does not undo the change.
    pub(super) fn write_listing(&mut self) -> Option<Notice> {
        let failure = self.put_listing().err()?;
        Some(Notice::warning(format!("the listing is not up to date: {failure}")))
    }

    pub(super) fn put_listing(&mut self) -> Result<(), Failure> {
        let (path, text) = self.listing()?;
        Ok(write_plain(&*self.disk, &self.lane.join(path.as_str()), text.as_bytes())?)
    }

    pub(super) fn folder_times(&self) -> FolderTimes {
        Category::ALL
            .into_iter()
            .filter_map(|category| {
                let stat = self.disk.stat(&self.lane.join(category.folder())).ok()??;
                Some((category.folder().to_owned(), stat.mtime_ns))
            })
            .collect()
    }

    /// Everything in the lane's folders that has a memory's name. A folder that cannot be listed hides its own
    /// memories and no others.
    pub(super) fn files(&self) -> Found {
        let mut found = Found::default();
        for category in Category::ALL {
            let folder = self.lane.join(category.folder());
            let is_real = matches!(self.disk.stat(&folder), Ok(Some(stat)) if stat.kind == Kind::Folder);
            if !is_real {
                continue;
            }
            let Ok(listed) = self.disk.list(&folder) else {
                found.closed.push(category.folder().to_owned());
                continue;
            };
            for listed in
                listed.unwrap_or_default().into_iter().filter(|listed| listed.name.ends_with(".json"))
            {
                if let Ok(path) = RelPath::parse(&format!("{}/{}", category.folder(), listed.name)) {
                    found.files.push(path);
                }
            }
        }
        found.files.sort();
        found
    }

    /// What the index keeps of a file.
    pub(super) fn row(&self, path: &RelPath) -> Row {
        self.row_of(path, &mut |_| {})
    }

    /// The same, and `inspect` sees what was read, or why nothing was. The stat comes first: a change after it
    /// is seen as a change.
    pub(super) fn row_of(&self, path: &RelPath, inspect: &mut dyn FnMut(Result<&Reading, &str>)) -> Row {
        let file = self.lane.join(path.as_str());
        let Ok(Some(stat)) = self.disk.stat(&file) else { return Row::Gone { path: path.clone() } };
        let seen = Seen { size: stat.len, mtime_ns: stat.mtime_ns };
        let mut unreadable = |what: String| {
            inspect(Err(&what));
            Row::Unreadable { path: path.clone(), what, seen }
        };
        if stat.kind != Kind::File {
            return unreadable("it is not a regular file".to_owned());
        }
        if stat.len > RECORD_MAX_BYTES as u64 {
            return unreadable(format!("it is larger than {} KiB", RECORD_MAX_BYTES / 1024));
        }
        let bytes = match self.disk.read(&file) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Row::Gone { path: path.clone() },
            Err(fault) => return unreadable(format!("it cannot be read: {fault}")),
        };
        let reading = self.dialect.read(path, &bytes);
        inspect(Ok(&reading));
        match reading.memory {
            Some(memory) => Row::Memory {
                listing: self.dialect.listing_line(&memory),
                entry: Box::new(Entry::of(&memory, path)),
                seen,
                said: Said {
                    memory: Box::new(memory),
                    text: String::from_utf8(bytes)
                        .unwrap_or_else(|fault| String::from_utf8_lossy(fault.as_bytes()).into_owned()),
                },
            },
            None => {
                let what = reading.problems.first().map(|problem| problem.what.clone()).unwrap_or_default();
                Row::Unreadable { path: path.clone(), what, seen }
            }
        }
    }
}

/// What search keeps of a memory's text.
pub(super) fn sheet(dialect: &dyn Dialect, said: &Said) -> Sheet {
    Sheet::of(&said.memory, &dialect.passages(&said.text), &Table::built_in(), Emphasis::default())
}

fn is_gone(disk: &dyn Disk, lane: &Path, path: &RelPath) -> bool {
    matches!(disk.stat(&lane.join(path.as_str())), Ok(None))
}

/// A folder's time, if nothing can happen any more that would leave it the same.
fn settled(time: i64, now_ns: i64) -> i64 {
    if now_ns.saturating_sub(time) < TICK_NS { UNSETTLED } else { time }
}

pub(super) fn warnings(warnings: &[crate::store::Warning]) -> Vec<Notice> {
    warnings.iter().map(|warning| Notice::warning(warning.to_string())).collect()
}
