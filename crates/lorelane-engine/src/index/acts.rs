//! What the memories name, as lines of the act map: kept with each memory, so that the map is written without
//! reading any file.

use super::{Index, IndexError};
use lorelane_core::act::ActEntry;
use lorelane_core::memory::Memory;
use rusqlite::{Connection, Statement, params};

/// The number in `act_generation` changes with the lines. It starts at random: the map of a deleted index must not
/// pass for that of the new one.
pub(super) const TABLE: &str = "
    CREATE TABLE acts (id INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (id, line)) WITHOUT ROWID;
    CREATE TABLE act_generation (number INTEGER NOT NULL);
    INSERT INTO act_generation VALUES (random() >> 16);
";
pub(super) const EMPTY: &str = "DELETE FROM acts; UPDATE act_generation SET number = number + 1";

/// Writes and deletes lines.
pub(super) struct ActWriter<'d> {
    lines: Statement<'d>,
    put: Statement<'d>,
    forget: Statement<'d>,
    count_up: Statement<'d>,
}

impl<'d> ActWriter<'d> {
    pub(super) fn new(db: &'d Connection) -> rusqlite::Result<ActWriter<'d>> {
        Ok(ActWriter {
            lines: db.prepare("SELECT line FROM acts WHERE id = ? ORDER BY line")?,
            put: db.prepare("INSERT INTO acts VALUES (?, ?)")?,
            forget: db.prepare("DELETE FROM acts WHERE id = ?")?,
            count_up: db.prepare("UPDATE act_generation SET number = number + 1")?,
        })
    }

    pub(super) fn put(&mut self, id: i64, memory: &Memory, fresh: bool) -> rusqlite::Result<()> {
        let mut lines: Vec<String> = ActEntry::of(memory).iter().map(ActEntry::line).collect();
        if !fresh {
            lines.sort_unstable();
            let before: rusqlite::Result<Vec<String>> =
                self.lines.query_map([id], |row| row.get(0))?.collect();
            // Another generation would have the next prompt write the whole map again.
            if before? == lines {
                return Ok(());
            }
            self.forget(id)?;
        }
        for line in &lines {
            self.put.execute(params![id, line])?;
        }
        if lines.is_empty() { Ok(()) } else { self.count_up.execute([]).map(drop) }
    }

    pub(super) fn forget(&mut self, id: i64) -> rusqlite::Result<()> {
        match self.forget.execute([id])? {
            0 => Ok(()),
            _ => self.count_up.execute([]).map(drop),
        }
    }
}

impl Index {
    pub fn act_generation(&self) -> Result<i64, IndexError> {
        let sql = "SELECT number FROM act_generation";
        self.db.query_row(sql, [], |row| row.get(0)).map_err(self.fault("read"))
    }

    /// All lines, in no particular order.
    pub fn act_lines(&self) -> Result<Vec<String>, IndexError> {
        let fault = self.fault("read");
        let mut query = self.db.prepare("SELECT line FROM acts").map_err(&fault)?;
        let rows = query.query_map([], |row| row.get(0)).map_err(&fault)?;
        rows.collect::<rusqlite::Result<_>>().map_err(&fault)
    }

    pub(super) fn dump_acts(&self) -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT path, line FROM acts LEFT JOIN memories USING (id) ORDER BY path, line";
        let mut query = self.db.prepare(sql)?;
        let rows =
            query.query_map([], |row| Ok(format!("acts\t{:?}\t{:?}\n", row.get_ref(0)?, row.get_ref(1)?)))?;
        rows.collect()
    }
}
