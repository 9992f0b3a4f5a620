//! Changes that a scan has indexed and that the write guard has not audited yet.
//!
//! A scan may run between a tool that damages a memory and the guard that audits what the tool did. So indexed
//! does not mean audited: the index remembers which memory was there at the last audit.

use super::{Index, IndexError, RowSource};
use lorelane_core::path::RelPath;
use rusqlite::{Connection, OptionalExtension, Statement, Transaction, params};

pub(super) const TABLE: &str =
    "CREATE TABLE unaudited (path TEXT PRIMARY KEY, digest INTEGER) WITHOUT ROWID;";
/// The row of the lane itself. Without it nothing is recorded: where no hook audits, nobody would ever ask.
const BEGUN: &str = "";

/// A file that changed since its last audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnauditedChange {
    pub path: RelPath,
    /// The digest of the memory that was there before, see [`super::digest`].
    pub before: Option<i64>,
}

impl Index {
    /// Whether changes are recorded until they are audited.
    pub fn is_examined(&self) -> Result<bool, IndexError> {
        has_begun(&self.db).map_err(self.fault("read"))
    }

    /// Whether a scan has completed and found a memory.
    pub fn knows_a_whole_lane(&self) -> Result<bool, IndexError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM folders) AND EXISTS (SELECT 1 FROM memories)";
        self.db.query_row(sql, [], |row| row.get(0)).map_err(self.fault("read"))
    }

    /// Starts recording changes.
    pub fn begin_examining(&self) -> Result<(), IndexError> {
        let begun = self.db.execute("INSERT OR IGNORE INTO unaudited VALUES (?, NULL)", [BEGUN]);
        begun.map(drop).map_err(self.fault("write"))
    }

    /// The first files that changed since their last audit.
    pub fn unaudited(&self, limit: usize) -> Result<Vec<UnauditedChange>, IndexError> {
        let fault = self.fault("read");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!("SELECT path, digest FROM unaudited WHERE path <> ? ORDER BY path LIMIT {limit}");
        let mut query = self.db.prepare(&sql).map_err(&fault)?;
        let rows =
            query.query_map([BEGUN], |row| Ok((row.get::<_, String>(0)?, row.get(1)?))).map_err(&fault)?;
        let rows: Vec<(String, Option<i64>)> = rows.collect::<rusqlite::Result<_>>().map_err(&fault)?;
        let parsed =
            |(path, before): (String, _)| Some(UnauditedChange { path: RelPath::parse(&path).ok()?, before });
        Ok(rows.into_iter().filter_map(parsed).collect())
    }

    /// The digest of the memory that was in this file at its last audit.
    pub fn digest_before(&self, path: &RelPath) -> Result<Option<i64>, IndexError> {
        let sql = "SELECT digest FROM unaudited WHERE path = ?";
        let changed = self.db.query_row(sql, [path.as_str()], |row| row.get(0)).optional();
        match changed.map_err(self.fault("read"))? {
            Some(before) => Ok(before),
            None => self.digest_at(path),
        }
    }

    /// Marks these files as audited as they are now.
    pub fn set_examined<'p>(&self, paths: impl Iterator<Item = &'p RelPath>) -> Result<(), IndexError> {
        let fault = self.fault("write");
        let mut examined = self.db.prepare("DELETE FROM unaudited WHERE path = ?").map_err(&fault)?;
        for path in paths {
            examined.execute([path.as_str()]).map_err(&fault)?;
        }
        Ok(())
    }

    /// Marks everything as audited.
    pub fn set_all_examined(&self) -> Result<(), IndexError> {
        let examined = self.db.execute("DELETE FROM unaudited WHERE path <> ?", [BEGUN]);
        examined.map(drop).map_err(self.fault("write"))
    }
}

/// Records changes while their rows are written.
pub(super) struct UnauditedChanges<'d> {
    by: RowSource,
    has_begun: bool,
    add: Statement<'d>,
    remove: Statement<'d>,
}

impl<'d> UnauditedChanges<'d> {
    pub(super) fn new(db: &'d Connection, by: RowSource) -> rusqlite::Result<UnauditedChanges<'d>> {
        Ok(UnauditedChanges {
            by,
            has_begun: has_begun(db)?,
            // Not replaced: the first change since the last audit has the digest of what was there.
            add: db.prepare("INSERT OR IGNORE INTO unaudited VALUES (?, ?)")?,
            remove: db.prepare("DELETE FROM unaudited WHERE path = ?")?,
        })
    }

    /// A file that had the digest `before` has `after` now; `None` if it is not a memory.
    pub(super) fn note(
        &mut self,
        path: &str,
        before: Option<i64>,
        after: Option<i64>,
    ) -> rusqlite::Result<()> {
        match self.by {
            RowSource::Commit => self.remove.execute([path]).map(drop),
            RowSource::Scan if self.has_begun && (before.is_none() || before != after) => {
                self.add.execute(params![path, before]).map(drop)
            }
            RowSource::Scan => Ok(()),
        }
    }
}

/// Saves the digests before a rebuild empties the tables.
pub(super) fn before_rebuild(db: &Transaction<'_>) -> rusqlite::Result<()> {
    if !has_begun(db)? {
        return Ok(());
    }
    db.execute_batch(
        "CREATE TEMP TABLE former AS
             SELECT path, digest FROM memories UNION ALL SELECT path, NULL FROM unreadable;
         CREATE INDEX temp.former_path ON former (path);",
    )
}

/// Records what a rebuild found changed.
pub(super) fn after_rebuild(db: &Transaction<'_>) -> rusqlite::Result<()> {
    if !has_begun(db)? {
        return Ok(());
    }
    db.execute_batch(
        "CREATE TEMP VIEW present AS
             SELECT path, digest FROM memories UNION ALL SELECT path, NULL FROM unreadable;
         INSERT OR IGNORE INTO unaudited
             SELECT path, digest FROM former EXCEPT SELECT path, digest FROM present;
         INSERT OR IGNORE INTO unaudited
             SELECT path, NULL FROM present WHERE path NOT IN (SELECT path FROM former);
         DROP VIEW present; DROP TABLE former;",
    )
}

fn has_begun(db: &Connection) -> rusqlite::Result<bool> {
    let row = db.query_row("SELECT 1 FROM unaudited WHERE path = ?", [BEGUN], |_| Ok(())).optional()?;
    Ok(row.is_some())
}
