//! The search index: one SQLite file in the user's cache folder, one row per memory.
//!
//! It is derived, never a source: if it is deleted, damaged, foreign or from another version, it is rebuilt from
//! the files. Damage is detected by a check value in each page (`page_check`), when the page is read.
//!
//! It keeps the size and mtime of every file it was made from. Whether it is fresh shows by the mtimes of the
//! lane's folders, which every writer changes and records: stats of 10,000 files would cost more than a whole
//! commit.

mod acts;
mod candidates;
mod checksum;
mod embeddings;
mod links;
mod listing;
mod page_check;
mod part;
mod pool;
mod postings;
mod rows;
mod search;
mod title_terms;
mod unaudited;
mod varint;

pub use candidates::{CandidateLimits, CandidateRow, CandidateSet, Candidates};
pub use embeddings::Unembedded;
pub use listing::{ListingChange, ListingSplice, WrittenListing};
pub use pool::keep_open;
pub(crate) use pool::{give, take};
pub use unaudited::UnauditedChange;

use crate::disk::{Disk, RealDisk, identity};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::listing::ListingLine;
use lorelane_core::dialect::{MemoryFile, Problem};
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Address, Category, MemoryKind};
use lorelane_core::path::RelPath;
use lorelane_core::recall::Query;
use lorelane_core::recall::doc_entry::DocEntry;
use lorelane_core::time::Timestamp;
use lorelane_core::validity::{NotCurrent, Validity};
use rusqlite::config::DbConfig;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Row as SqlRow, TransactionBehavior, ffi, params,
    params_from_iter,
};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Raise it with every change of the tables or of what they hold.
const STAMP: i32 = 19;
/// Identifies the embedding table that the embeddings are from: those of two tables cannot be compared.
const MODEL: i32 = model_number(lorelane_core::embed::MODEL_ID.as_bytes());
/// Another process writes for milliseconds; a search does not wait longer.
const BUSY: Duration = Duration::from_millis(500);
/// `forget` waits until no reader is left.
const SCRUB_WAIT: Duration = Duration::from_secs(5);
const TABLES: &str = "
    CREATE TABLE memories (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL, address TEXT NOT NULL, category TEXT NOT NULL, title TEXT NOT NULL,
        tags TEXT NOT NULL, status TEXT NOT NULL, status_at INTEGER, created INTEGER, updated INTEGER,
        content_changed INTEGER, ended TEXT, expires INTEGER, revised INTEGER NOT NULL, listing_key TEXT, listing_text TEXT,
        size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, digest INTEGER NOT NULL, has_problems INTEGER NOT NULL
    );
    CREATE TABLE unreadable (
        path TEXT PRIMARY KEY, what TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE folders (folder TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL) WITHOUT ROWID;
";
const TABLE_NAMES: [&str; 4] = ["memories", "names", "unreadable", "folders"];
/// Separate from the tables: a rebuild appends all rows first and then sorts them once.
const ORDERS: &str = "
    CREATE UNIQUE INDEX memories_path ON memories (path);
    CREATE INDEX memories_listing ON memories (listing_key, listing_text) WHERE listing_key IS NOT NULL;
    CREATE INDEX memories_category ON memories (category, status, ifnull(updated, created) DESC, address);
    CREATE INDEX memories_changed ON memories (status, ifnull(updated, created) DESC, address);
";
const NO_ORDERS: &str = "
    DROP INDEX memories_path; DROP INDEX memories_listing; DROP INDEX memories_category;
    DROP INDEX memories_changed;
";

#[derive(Debug)]
pub struct Index {
    db: Connection,
    /// Device and inode of the file; `None` for an index in memory.
    identity: Option<(u64, u64)>,
}

/// A file as the index last saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    pub size: u64,
    pub mtime_ns: i64,
}

impl FileStamp {
    /// For a file that could not be read, for a reason its stat does not show: it is tried again.
    pub const FAILED: FileStamp = FileStamp { size: 0, mtime_ns: UNSETTLED };

    pub fn has_failed(self) -> bool {
        self == FileStamp::FAILED
    }
}

/// A file that the index was made from. With sound pages, its rows are those of a rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedFile {
    pub seen: FileStamp,
    /// See [`digest`]; `None` for a file that holds no memory.
    pub digest: Option<i64>,
}

/// What the index has about a file.
#[derive(Clone, Copy, Debug)]
pub struct IndexedSource {
    pub file: IndexedFile,
    /// See [`MemoryFile::has_problems`]; `true` for a file that holds no memory.
    pub has_problems: bool,
}

/// The row for one file.
#[derive(Clone, Debug)]
pub enum Row {
    Memory {
        entry: Box<MemorySummary>,
        listing: Option<ListingLine>,
        seen: FileStamp,
        file: Box<MemoryFile>,
    },
    /// With an empty `what`, it is not meant to be a memory, such as an index of the client.
    Unreadable {
        path: RelPath,
        what: String,
        seen: FileStamp,
    },
    Gone {
        path: RelPath,
    },
}

/// Texts with equal digests are treated as equal.
pub fn digest(text: &[u8]) -> i64 {
    let hash = blake3::hash(text);
    let (first, _) = hash.as_bytes().split_first_chunk::<8>().expect("a hash is longer");
    i64::from_le_bytes(*first)
}

/// How much of an index a rebuild recomputes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebuild {
    /// All rows of memories; of the search tables only texts that changed.
    Changed,
    All,
}

/// Where rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSource {
    /// From whoever changed or audited the files: they need no audit.
    Commit,
    /// From a scan that found changed files.
    Scan,
}

/// Analyzes a memory's text. The caller knows the dialect.
pub type Analyze<'a> = &'a dyn Fn(&MemoryFile) -> DocEntry;

/// The mtime of a folder or file that has to be read again.
pub const UNSETTLED: i64 = -1;

/// The mtimes of the lane's folders: the index is fresh while they are unchanged.
pub type FolderTimes = BTreeMap<String, i64>;

#[derive(Debug, thiserror::Error)]
#[error("cannot {attempt} the index {path}: {source}")]
pub struct IndexError {
    attempt: &'static str,
    path: PathBuf,
    source: rusqlite::Error,
}

/// Which entries are wanted. The filters apply inside the query.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListFilter {
    pub kind: Option<MemoryKind>,
    pub status: Option<Status>,
}

impl Index {
    /// Opens the index file, or creates an empty one if it is missing or not ours.
    pub fn open(path: &Path) -> Result<Index, IndexError> {
        match Index::try_open(path) {
            Ok(index) => Ok(index),
            Err(source) => Index::remake(IndexError { attempt: "open", path: path.to_owned(), source }),
        }
    }

    /// Replaces an index that is truncated, foreign or from another version by an empty one. A file that may be
    /// sound and only cannot be opened now stays, and the error is returned.
    pub fn remake(fault: IndexError) -> Result<Index, IndexError> {
        let IndexError { path, source, .. } = &fault;
        if path.as_os_str().is_empty() || may_be_sound(source) {
            return Err(fault);
        }
        let again = |source| IndexError { attempt: "recreate", path: path.clone(), source };
        // One process at a time: removing a file that another process has just created would leave two processes
        // with two write-ahead logs for one file.
        let lock = path.parent().and_then(|folder| RealDisk.try_lock_dir(folder).ok().flatten());
        let Some(lock) = lock else { return Err(fault) };
        if fault.attempt == "open"
            && let Ok(made_since) = Index::try_open(path)
        {
            return Ok(made_since);
        }
        for suffix in ["-wal", "-shm", ""] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            let _ = RealDisk.remove_file(Path::new(&name));
        }
        let made = Index::try_open(path).map_err(again);
        drop(lock);
        made
    }

    /// An index that lives as long as the process: if no cache can be written, and to compare with.
    pub fn in_memory() -> Index {
        let db = Connection::open_in_memory().expect("an in-memory database needs nothing");
        make_tables(&db).expect("the tables are correct SQL");
        Index { db, identity: None }
    }

    /// A placeholder without tables: for an index that was moved to the pool, or a lane that has none.
    pub(crate) fn closed() -> Index {
        let db = Connection::open_in_memory().expect("an in-memory database needs nothing");
        Index { db, identity: None }
    }

    fn try_open(path: &Path) -> rusqlite::Result<Index> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut db = Connection::open_with_flags_and_vfs(path, flags, page_check::vfs())?;
        db.busy_timeout(BUSY)?;
        // No checkpoint on close: that would cost every command an fsync, for a cache.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        let stamp: i32 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let model: i32 = db.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        if (stamp, model) != (STAMP, MODEL) {
            let count: i64 = db.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
            if stamp != 0 || count != 0 {
                return Err(rusqlite::Error::InvalidQuery);
            }
            page_check::prepare(&db)?;
            db.execute_batch("PRAGMA journal_mode = WAL")?;
            let made = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let again: i32 = made.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            if again == 0 {
                make_tables(&made)?;
                made.execute_batch(&format!(
                    "PRAGMA user_version = {STAMP}; PRAGMA application_id = {MODEL}"
                ))?;
            }
            made.commit()?;
        }
        // A small page cache: a command reads most pages once, and fresh memory costs more than the read itself. With
        // 2 MB, SQLite's default, the prompt hook took 1 ms more at 10,000 memories.
        // No automatic checkpoints: a process that checkpoints and closes leaves a log that the next one cannot
        // restart, so it would only grow. `shorten_log` empties it.
        db.execute_batch(
            "PRAGMA cache_size = -400; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;
             PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = ON",
        )?;
        let identity = identity(path);
        Ok(Index { db, identity })
    }

    fn fault(&self, attempt: &'static str) -> impl Fn(rusqlite::Error) -> IndexError + use<> {
        let path = PathBuf::from(self.db.path().unwrap_or_default());
        move |source| IndexError { attempt, path: path.clone(), source }
    }

    /// Empties the write-ahead log once it is longer than `max_bytes`: opening the index reads all of it, at 0.4
    /// ms of CPU per MiB. It costs two syncs, so a change avoids it.
    pub fn shorten_log(&self, max_bytes: u64) {
        let log = format!("{}-wal", self.db.path().unwrap_or_default());
        if matches!(RealDisk.stat(Path::new(&log)), Ok(Some(stat)) if stat.len > max_bytes) {
            // A reader may prevent it; then a later process does it.
            let _ = self.db.busy_timeout(Duration::ZERO);
            let _ = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            let _ = self.db.busy_timeout(BUSY);
        }
    }

    /// Reads the whole file. A query verifies only the pages it reads.
    pub fn verify(&self) -> Result<(), IndexError> {
        let fault = self.fault("verify");
        let says: String =
            self.db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(&fault)?;
        let damaged = || ffi::Error::new(ffi::SQLITE_CORRUPT);
        if says == "ok" { Ok(()) } else { Err(fault(rusqlite::Error::SqliteFailure(damaged(), Some(says)))) }
    }

    /// Leaves nothing of deleted rows: in no free page, no unused space of a page, no frame of the write-ahead
    /// log. Pages are cleared before they are written to the file (`secure_delete`, `page_check`), so only the log
    /// has to be emptied. In place: a copy would leave other processes with the log of another file.
    pub fn scrub(&self) -> Result<(), IndexError> {
        let _ = self.db.busy_timeout(SCRUB_WAIT);
        let scrubbed = self.flush().and_then(|()| {
            self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        });
        let _ = self.db.busy_timeout(BUSY);
        let busy = || rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None);
        let all_written = scrubbed.and_then(|held| if held == 0 { Ok(()) } else { Err(busy()) });
        all_written.map_err(self.fault("erase deleted rows of"))
    }

    /// Pending rows would still hold terms of a memory that is gone.
    fn flush(&self) -> rusqlite::Result<()> {
        let made = self.db.unchecked_transaction()?;
        postings::flush(&made)?;
        made.commit()
    }

    pub fn folder_times(&self) -> Result<FolderTimes, IndexError> {
        folder_times(&self.db).map_err(self.fault("read"))
    }

    /// Every file the index knows, readable or not.
    pub fn seen(&self) -> Result<BTreeMap<String, FileStamp>, IndexError> {
        let fault = self.fault("read");
        let sql =
            "SELECT path, size, mtime_ns FROM memories UNION ALL SELECT path, size, mtime_ns FROM unreadable";
        let mut query = self.db.prepare(sql).map_err(&fault)?;
        let rows = query
            .query_map([], |row| {
                Ok((row.get(0)?, FileStamp { size: unsigned(row, 1)?, mtime_ns: row.get(2)? }))
            })
            .map_err(&fault)?;
        rows.collect::<rusqlite::Result<_>>().map_err(fault)
    }

    /// The files the index was made from, each with the digest of its memory, if it holds one.
    pub fn sources(&self) -> Result<HashMap<String, IndexedSource>, IndexError> {
        let fault = self.fault("read");
        let sql = "SELECT path, size, mtime_ns, digest, has_problems FROM memories
                   UNION ALL SELECT path, size, mtime_ns, NULL, 1 FROM unreadable";
        let mut query = self.db.prepare(sql).map_err(&fault)?;
        let source = |row: &rusqlite::Row<'_>| {
            let seen = FileStamp { size: unsigned(row, 1)?, mtime_ns: row.get(2)? };
            let file = IndexedFile { seen, digest: row.get(3)? };
            Ok((row.get(0)?, IndexedSource { file, has_problems: row.get(4)? }))
        };
        let rows = query.query_map([], source).map_err(&fault)?;
        rows.collect::<rusqlite::Result<_>>().map_err(fault)
    }

    /// Writes rows and the folder mtimes they were read under, in one transaction. Empty `times` mean that more
    /// rows follow. Returns how the listing changed.
    pub fn update(
        &mut self,
        by: RowSource,
        rows: impl Iterator<Item = Row>,
        times: &FolderTimes,
        analyze: Analyze<'_>,
    ) -> Result<Option<ListingChange>, IndexError> {
        self.write(None, by, rows, times, analyze)
    }

    /// Replaces all rows by these. What was analyzed before and has the same text is kept, except with
    /// `Rebuild::All`.
    pub fn replace(
        &mut self,
        rows: impl Iterator<Item = Row>,
        times: &FolderTimes,
        analyze: Analyze<'_>,
        rebuild: Rebuild,
    ) -> Result<(), IndexError> {
        self.write(Some(rebuild), RowSource::Scan, rows, times, analyze).map(drop)
    }

    fn write(
        &mut self,
        fresh: Option<Rebuild>,
        by: RowSource,
        rows: impl Iterator<Item = Row>,
        times: &FolderTimes,
        analyze: Analyze<'_>,
    ) -> Result<Option<ListingChange>, IndexError> {
        let fault = self.fault("write");
        if fresh.is_some() {
            // Room for all pages of a large store: what does not fit is written and read once more.
            self.db.execute_batch("PRAGMA cache_size = -24000").map_err(&fault)?;
        }
        let made = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&fault)?;
        let mut known = None;
        if let Some(rebuild) = fresh {
            unaudited::before_rebuild(&made).map_err(&fault)?;
            known = Some(match rebuild {
                Rebuild::Changed => rows::known(&made).map_err(&fault)?,
                Rebuild::All => {
                    made.execute_batch(search::EMPTY).map_err(&fault)?;
                    made.execute_batch(postings::EMPTY).map_err(&fault)?;
                    made.execute_batch(embeddings::EMPTY).map_err(&fault)?;
                    made.execute_batch(links::EMPTY).map_err(&fault)?;
                    made.execute_batch(acts::EMPTY).map_err(&fault)?;
                    rows::KnownIds::new()
                }
            });
            made.execute_batch(NO_ORDERS).map_err(&fault)?;
            for table in TABLE_NAMES {
                made.execute(&format!("DELETE FROM {table}"), []).map_err(&fault)?;
            }
        }
        // Folder mtimes are passed only after all folders were scanned.
        let more_come = times.is_empty();
        let listing = rows::put(&made, by, rows, known, analyze, more_come).map_err(&fault)?;
        if fresh.is_some() {
            made.execute_batch(listing::CHANGED).map_err(&fault)?;
            made.execute_batch(ORDERS).map_err(&fault)?;
            unaudited::after_rebuild(&made).map_err(&fault)?;
        }
        if folder_times(&made).map_err(&fault)? != *times {
            made.execute("DELETE FROM folders", []).map_err(&fault)?;
            for (folder, mtime_ns) in times {
                made.execute("INSERT INTO folders VALUES (?, ?)", params![folder, mtime_ns])
                    .map_err(&fault)?;
            }
        }
        made.commit().map_err(&fault)?;
        if fresh.is_some() {
            self.shorten_log(0);
        }
        Ok(listing)
    }

    pub fn entries(&self, wanted: ListFilter) -> Result<Vec<MemorySummary>, IndexError> {
        self.with_entries(wanted, |entries| entries.collect())
    }

    /// The digest of the text of the memory in this file, see [`digest`].
    pub fn digest_at(&self, path: &RelPath) -> Result<Option<i64>, IndexError> {
        let sql = "SELECT digest FROM memories WHERE path = ?";
        let found = self.db.query_row(sql, [path.as_str()], |row| row.get(0)).optional();
        found.map_err(self.fault("read"))
    }

    /// Passes the entries to `take`, one by one.
    pub fn with_entries<T>(
        &self,
        wanted: ListFilter,
        take: impl FnOnce(&mut dyn Iterator<Item = MemorySummary>) -> T,
    ) -> Result<T, IndexError> {
        let fault = self.fault("read");
        let mut conditions = Vec::new();
        let mut values = Vec::new();
        if let Some(kind) = wanted.kind {
            conditions.push("category = ?");
            values.push(kind.name());
        }
        if let Some(status) = wanted.status {
            conditions.push("status = ?");
            values.push(status.name());
        }
        let only =
            if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
        let sql = format!("SELECT {ENTRY} FROM memories {only} ORDER BY path");
        let mut query = self.db.prepare(&sql).map_err(&fault)?;
        let rows = query.query_map(params_from_iter(values), |row| Ok(entry(row))).map_err(&fault)?;
        let mut broken = None;
        let mut entries = rows.map_while(|row| row.map_err(|fault| broken = Some(fault)).ok()).flatten();
        let taken = take(&mut entries);
        drop(entries);
        match broken {
            None => Ok(taken),
            Some(source) => Err(fault(source)),
        }
    }

    /// Passes to `take` the memories that a query can find by title and tags, with the upper bound of their score,
    /// highest first: at most `limit`, see `above_bound`. Rows are read as they are taken.
    pub fn with_named<T>(
        &self,
        query: &Query,
        limit: usize,
        take: impl FnOnce(&mut dyn Iterator<Item = (i32, MemorySummary)>) -> T,
    ) -> Result<T, IndexError> {
        let fault = self.fault("read");
        let _reading = self.reading().map_err(&fault)?;
        let reaching = self.above_bound(query, limit).map_err(&fault)?;
        let sql = format!("SELECT {ENTRY} FROM memories WHERE id = ?");
        let mut read = self.db.prepare(&sql).map_err(&fault)?;
        let mut broken = None;
        let mut named = reaching
            .into_iter()
            .map_while(|(reach, memory)| {
                let read = read.query_row([memory], |row| Ok(entry(row))).optional();
                let entry = read.map_err(|fault| broken = Some(fault)).ok()?;
                Some(entry.flatten().map(|entry| (reach, entry)))
            })
            .flatten();
        let taken = take(&mut named);
        drop(named);
        match broken {
            None => Ok(taken),
            Some(source) => Err(fault(source)),
        }
    }

    /// One read transaction for many queries: each alone would lock and unlock the file.
    fn reading(&self) -> rusqlite::Result<rusqlite::Transaction<'_>> {
        self.db.unchecked_transaction()
    }

    /// How many memories there are of each kind and status.
    pub fn counts(&self) -> Result<BTreeMap<(MemoryKind, Status), usize>, IndexError> {
        let fault = self.fault("read");
        let mut query = self
            .db
            .prepare("SELECT category, status, count(*) FROM memories GROUP BY 1, 2")
            .map_err(&fault)?;
        let rows = query
            .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, unsigned(row, 2)?)))
            .map_err(&fault)?;
        let mut counts = BTreeMap::new();
        for row in rows {
            let (kind, status, count) = row.map_err(&fault)?;
            if let (Some(kind), Some(status)) = (MemoryKind::parse(&kind), Status::parse(&status)) {
                counts.insert((kind, status), usize::try_from(count).unwrap_or(usize::MAX));
            }
        }
        Ok(counts)
    }

    /// How many files the index knows in a folder, readable or not, without those in the folders `below`. The
    /// lane's root is the empty name.
    pub fn known_in(&self, folder: &str, below: &[String]) -> Result<usize, IndexError> {
        // Ranges of ordered paths: calling a function on each path would be a sixth of a write at 10,000 memories.
        let sql = "SELECT (SELECT count(*) FROM memories WHERE path > ?1 AND path < ?2)
                        + (SELECT count(*) FROM unreadable WHERE path > ?1 AND path < ?2)";
        let mut query = self.db.prepare(sql).map_err(self.fault("read"))?;
        let mut count = |folder: &str| -> Result<usize, IndexError> {
            let (start, end) = part::range_of(folder);
            let count = query.query_row([start, end], |row| unsigned(row, 0)).map_err(self.fault("read"))?;
            Ok(usize::try_from(count).unwrap_or(usize::MAX))
        };
        let mut known = count(folder)?;
        for below in below {
            known = known.saturating_sub(count(below)?);
        }
        Ok(known)
    }

    /// How many memories a category has in this status.
    pub fn count(&self, category: Category, status: Status) -> Result<usize, IndexError> {
        let sql = "SELECT count(*) FROM memories WHERE category = ? AND status = ?";
        let count = self.db.query_row(sql, [category.name(), status.name()], |row| unsigned(row, 0));
        Ok(usize::try_from(count.map_err(self.fault("read"))?).unwrap_or(usize::MAX))
    }

    /// Whether a category has at least this many memories in this status. Counts no more than that, and nothing if
    /// there are fewer memories in all.
    pub fn has_at_least(&self, least: usize, category: Category, status: Status) -> Result<bool, IndexError> {
        let Some(before_last) = least.checked_sub(1) else { return Ok(true) };
        // Row ids begin at 1, so there are at most as many rows as the highest one says.
        if usize::try_from(self.last_number().map_err(self.fault("read"))?).is_ok_and(|last| last < least) {
            return Ok(false);
        }
        // Not bound, as in `failed`.
        let sql =
            format!("SELECT 1 FROM memories WHERE category = ? AND status = ? LIMIT 1 OFFSET {before_last}");
        let found = self.db.query_row(&sql, [category.name(), status.name()], |_| Ok(()));
        found.optional().map(|found| found.is_some()).map_err(self.fault("read"))
    }

    /// The first difference between the index and these rows and folder mtimes, which must be complete.
    pub fn difference(
        &self,
        rows: impl Iterator<Item = Row>,
        times: &FolderTimes,
    ) -> Result<Option<String>, IndexError> {
        let fault = self.fault("read");
        let _reading = self.reading().map_err(&fault)?;
        match rows::difference(&self.db, rows).map_err(&fault)? {
            Some(place) => Ok(Some(place)),
            None => self.times_differ(times),
        }
    }

    /// Whether folders have other mtimes than the index trusts.
    pub fn times_differ(&self, times: &FolderTimes) -> Result<Option<String>, IndexError> {
        let differs = |(folder, time): (&String, &i64)| *time != UNSETTLED && times.get(folder) != Some(time);
        Ok(self.folder_times()?.iter().any(differs).then(|| "the mtimes of the folders".to_owned()))
    }

    /// The files that are not readable memories, and why.
    pub fn unreadable(&self) -> Result<Vec<(String, String)>, IndexError> {
        let fault = self.fault("read");
        let mut query = self
            .db
            .prepare("SELECT path, what FROM unreadable WHERE what <> '' ORDER BY path")
            .map_err(&fault)?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(&fault)?;
        rows.collect::<rusqlite::Result<_>>().map_err(fault)
    }

    /// The first files that exist but could not be read, see [`FileStamp::FAILED`].
    pub fn failed(&self, most: usize) -> Result<Vec<Problem>, IndexError> {
        let fault = self.fault("read");
        // Not bound: SQLite prepares a statement with a bound limit twice, and every command runs this.
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let sql = format!(
            "SELECT path, what FROM unreadable WHERE mtime_ns = {UNSETTLED} ORDER BY path LIMIT {most}"
        );
        let mut query = self.db.prepare(&sql).map_err(&fault)?;
        let rows = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?))).map_err(&fault)?;
        let mut failed = Vec::new();
        for row in rows {
            let (path, what) = row.map_err(&fault)?;
            failed.extend(RelPath::parse(&path).ok().map(|path| Problem { path, what }));
        }
        Ok(failed)
    }

    /// The whole index as text, by paths and not by row ids: equal dumps mean equal indexes.
    pub fn dump(&self) -> Result<String, IndexError> {
        let fault = self.fault("read");
        let mut dump = String::new();
        let memories = format!("SELECT {} FROM memories ORDER BY 1", rows::COLUMNS);
        let tables = [("memories", memories.as_str()), ("unreadable", "SELECT * FROM unreadable ORDER BY 1")];
        for (table, sql) in tables {
            let mut query = self.db.prepare(sql).map_err(&fault)?;
            let columns = query.column_count();
            let mut rows = query.query([]).map_err(&fault)?;
            while let Some(row) = rows.next().map_err(&fault)? {
                dump.push_str(table);
                for column in 0..columns {
                    dump.push_str(&format!("\t{:?}", row.get_ref(column).map_err(&fault)?));
                }
                dump.push('\n');
            }
        }
        dump.extend(self.dump_names().map_err(&fault)?);
        dump.extend(self.dump_words().map_err(&fault)?);
        dump.extend(self.dump_links().map_err(&fault)?);
        dump.extend(self.dump_acts().map_err(&fault)?);
        Ok(dump)
    }
}

/// The first hexadecimal digits of a model's name, as a number.
const fn model_number(id: &[u8]) -> i32 {
    let (mut number, mut digits, mut at) = (0_i32, 0, 0);
    while at < id.len() && digits < 7 {
        let digit = match id[at] {
            byte @ b'0'..=b'9' => byte - b'0',
            byte @ b'a'..=b'f' if at > 6 => byte - b'a' + 10,
            _ => {
                at += 1;
                continue;
            }
        };
        number = number * 16 + digit as i32;
        digits += 1;
        at += 1;
    }
    number
}

fn make_tables(db: &Connection) -> rusqlite::Result<()> {
    [
        TABLES,
        title_terms::TABLE,
        search::TABLES,
        postings::TABLES,
        links::TABLE,
        acts::TABLE,
        embeddings::TABLE,
        unaudited::TABLE,
        listing::TABLE,
        ORDERS,
    ]
    .iter()
    .try_for_each(|sql| db.execute_batch(sql))
}

fn folder_times(db: &Connection) -> rusqlite::Result<FolderTimes> {
    let mut query = db.prepare("SELECT folder, mtime_ns FROM folders")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// The columns that `entry` reads; others may follow.
const ENTRY: &str = "path, address, title, tags, status, status_at, created, updated, revised, category,
    mtime_ns, content_changed, ended, expires";
const ENTRY_COLUMNS: usize = 14;

/// A file's mtime in seconds.
pub(crate) fn written(mtime_ns: i64) -> Timestamp {
    Timestamp(mtime_ns.div_euclid(1_000_000_000))
}

/// `None` for a row that this version could not have written.
fn entry(row: &SqlRow<'_>) -> Option<MemorySummary> {
    let text = |at: usize| row.get_ref(at).ok()?.as_str().ok();
    let time = |at: usize| row.get::<_, Option<i64>>(at).ok().flatten().map(Timestamp);
    Some(MemorySummary {
        path: RelPath::parse(text(0)?).ok()?,
        kind: MemoryKind::parse(text(9)?)?,
        address: Address::parse(text(1)?)?,
        title: text(2)?.to_owned(),
        tags: rows::tags(text(3)?),
        status: Status::parse(text(4)?)?,
        status_at: time(5),
        created: time(6),
        updated: time(7),
        written: row.get(10).ok().map(written),
        content_changed: time(11),
        validity: Validity { ended: text(12).and_then(NotCurrent::parse), expires: time(13) },
        revised: unsigned(row, 8).ok()?,
    })
}

fn unsigned(row: &SqlRow<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(|number| u64::try_from(number).unwrap_or(0))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn may_be_sound(fault: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, PermissionDenied, ReadOnly,
    };
    matches!(
        fault.sqlite_error_code(),
        Some(DatabaseBusy | DatabaseLocked | CannotOpen | ReadOnly | PermissionDenied | DiskFull)
    )
}
