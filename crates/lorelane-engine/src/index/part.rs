//! Queries about a part of the memories, whose cost hardly grows with the store.

use super::postings::{PendingMemories, Postings};
use super::{ENTRY, FileStamp, Index, IndexError, entry, unsigned};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::Category;
use lorelane_core::path::RelPath;
use lorelane_core::terms::{Language, term_of};
use rusqlite::{OptionalExtension, ToSql, params};

impl Index {
    /// The files the index knows in a folder, readable or not, without its subfolders. The lane's root is the
    /// empty name.
    pub fn seen_in(&self, folder: &str) -> Result<Vec<(RelPath, FileStamp)>, IndexError> {
        let (start, end) = range_of(folder);
        let mut seen = self.seen_where("WHERE path > ?1 AND path < ?2", params![start, end])?;
        seen.retain(|(path, _)| !path.as_str()[start.len()..].contains('/'));
        Ok(seen)
    }

    /// The next files after a path, in path order.
    pub fn seen_after(&self, path: &str, count: usize) -> Result<Vec<(RelPath, FileStamp)>, IndexError> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let wanted = format!("WHERE path > ?1 ORDER BY path LIMIT {count}");
        let mut after = self.seen_where(&wanted, params![path])?;
        after.sort_by(|a, b| a.0.cmp(&b.0));
        after.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        Ok(after)
    }

    /// The stamp of a file when it was last indexed.
    pub fn seen_at(&self, path: &RelPath) -> Result<Option<FileStamp>, IndexError> {
        Ok(self.seen_where("WHERE path = ?1", params![path.as_str()])?.pop().map(|(_, seen)| seen))
    }

    fn seen_where(
        &self,
        wanted: &str,
        values: &[&dyn ToSql],
    ) -> Result<Vec<(RelPath, FileStamp)>, IndexError> {
        let fault = self.fault("read");
        let mut seen = Vec::new();
        for table in ["memories", "unreadable"] {
            let sql = format!("SELECT path, size, mtime_ns FROM {table} {wanted}");
            let mut query = self.db.prepare(&sql).map_err(&fault)?;
            let mut rows = query.query(values).map_err(&fault)?;
            while let Some(row) = rows.next().map_err(&fault)? {
                let read = |row: &rusqlite::Row<'_>| {
                    let path = RelPath::parse(row.get_ref(0)?.as_str()?).ok();
                    Ok::<_, rusqlite::Error>((
                        path,
                        FileStamp { size: unsigned(row, 1)?, mtime_ns: row.get(2)? },
                    ))
                };
                let (path, stat) = read(row).map_err(&fault)?;
                seen.extend(path.map(|path| (path, stat)));
            }
        }
        Ok(seen)
    }

    /// The memories in this status that changed last, newest first, ties by address.
    pub fn newest(&self, status: Status, limit: usize) -> Result<Vec<MemorySummary>, IndexError> {
        let fault = self.fault("read");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!(
            "SELECT {ENTRY} FROM memories WHERE status = ?
             ORDER BY ifnull(updated, created) DESC, address LIMIT {limit}"
        );
        let mut query = self.db.prepare(&sql).map_err(&fault)?;
        let rows = query.query_map([status.name()], |row| Ok(entry(row))).map_err(&fault)?;
        let entries = rows.collect::<rusqlite::Result<Vec<_>>>().map_err(&fault)?;
        Ok(entries.into_iter().flatten().collect())
    }

    /// How many memories are in this status.
    pub fn count_of(&self, status: Status) -> Result<usize, IndexError> {
        let sql = "SELECT count(*) FROM memories WHERE status = ?";
        let count = self.db.query_row(sql, [status.name()], |row| unsigned(row, 0));
        Ok(usize::try_from(count.map_err(self.fault("read"))?).unwrap_or(usize::MAX))
    }

    /// The active memory of a category that was created last.
    pub fn last_made(&self, category: Category) -> Result<Option<MemorySummary>, IndexError> {
        let sql = format!(
            "SELECT {ENTRY} FROM memories WHERE category = ? AND status = ?
             ORDER BY created DESC, address LIMIT 1"
        );
        let values = [category.name(), Status::Active.name()];
        let last = self.db.query_row(&sql, values, |row| Ok(entry(row))).optional();
        Ok(last.map_err(self.fault("read"))?.flatten())
    }

    /// The active memories of a category that contain a word, stemmed as English, newest change first.
    pub fn newest_having(
        &self,
        word: &str,
        category: Category,
        limit: usize,
    ) -> Result<Vec<MemorySummary>, IndexError> {
        let fault = self.fault("search");
        let Some(term) = term_of(word, Language::English) else { return Ok(Vec::new()) };
        let _reading = self.reading().map_err(&fault)?;
        self.try_newest_having(term, category, limit).map_err(&fault)
    }

    fn try_newest_having(
        &self,
        term: lorelane_core::terms::Term,
        category: Category,
        limit: usize,
    ) -> rusqlite::Result<Vec<MemorySummary>> {
        let pending = PendingMemories::read(&self.db)?;
        let mut found = Vec::new();
        Postings::new(&self.db, &pending)?.read(term, &mut found)?;
        let mut found: Vec<i64> = found.into_iter().map(|(id, _)| id).collect();
        found.sort_unstable();
        // Newest first and by the index alone: reading a row for each posting made session starts grow with the store.
        let mut newest = self.db.prepare(
            "SELECT id FROM memories WHERE category = ? AND status = ?
             ORDER BY ifnull(updated, created) DESC, address",
        )?;
        let mut newest = newest.query([category.name(), Status::Active.name()])?;
        let mut read = self.db.prepare(&format!("SELECT {ENTRY} FROM memories WHERE id = ?"))?;
        let mut entries = Vec::new();
        while entries.len() < limit
            && let Some(row) = newest.next()?
        {
            let id: i64 = row.get(0)?;
            if found.binary_search(&id).is_ok() {
                entries.extend(read.query_row([id], |row| Ok(entry(row))).optional()?.flatten());
            }
        }
        Ok(entries)
    }
}

/// The bounds of all paths in a folder and below it.
pub(super) fn range_of(folder: &str) -> (String, String) {
    match folder {
        "" => (String::new(), char::MAX.to_string()),
        // `0` sorts right after `/`.
        _ => (format!("{folder}/"), format!("{folder}0")),
    }
}
