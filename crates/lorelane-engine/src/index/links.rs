//! The links of the memories. A memory's links are replaced with its text; links to it belong to other memories
//! and stay.
//!
//! Each link is stored with the words around it, so that the whole graph is printed without opening 10,000 files.
//! Targets are stored under a folded key and resolved by the reader: a memory that is created later is met by
//! links that exist.

use super::{Index, IndexError};
use lorelane_core::graph::MemoryLink;
use lorelane_core::memory::link::{Edge, Link, LinkTarget, links_of};
use lorelane_core::memory::{Address, Memory};
use rusqlite::{Connection, Row as SqlRow, Statement, params};

pub(super) const TABLE: &str = "
    CREATE TABLE links (
        id INTEGER NOT NULL, place INTEGER NOT NULL, key TEXT NOT NULL, target TEXT NOT NULL, alias TEXT, anchor TEXT,
        context TEXT NOT NULL, of_file TEXT NOT NULL, of_memory TEXT NOT NULL, PRIMARY KEY (id, place)
    ) WITHOUT ROWID;
    CREATE INDEX links_key ON links (key);
";
pub(super) const EMPTY: &str = "DELETE FROM links";

/// Writes and deletes links.
pub(super) struct LinkWriter<'d> {
    put: Statement<'d>,
    forget: Statement<'d>,
}

impl<'d> LinkWriter<'d> {
    pub(super) fn new(db: &'d Connection) -> rusqlite::Result<LinkWriter<'d>> {
        Ok(LinkWriter {
            put: db.prepare("INSERT INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?,
            forget: db.prepare("DELETE FROM links WHERE id = ?")?,
        })
    }

    pub(super) fn put(&mut self, id: i64, memory: &Memory, fresh: bool) -> rusqlite::Result<()> {
        if !fresh {
            self.forget(id)?;
        }
        for (place, link) in (0_i64..).zip(links_of(memory)) {
            self.put.execute(params![
                id,
                place,
                link.target.key(),
                link.target.shown(),
                link.alias,
                link.anchor,
                link.context,
                link.of_file.name(),
                link.of_memory.name()
            ])?;
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, id: i64) -> rusqlite::Result<()> {
        self.forget.execute([id]).map(drop)
    }
}

impl Index {
    /// Every link, ordered by path and position.
    pub fn links(&self) -> Result<Vec<MemoryLink>, IndexError> {
        let fault = self.fault("read");
        let mut query = self.db.prepare(&format!("{SELECT} ORDER BY path, place")).map_err(&fault)?;
        let rows = query.query_map([], |row| Ok(linked(row))).map_err(&fault)?;
        let links = rows.collect::<rusqlite::Result<Vec<_>>>().map_err(&fault)?;
        Ok(links.into_iter().flatten().collect())
    }

    /// The links to targets with one of these keys, see `LinkTarget::key`.
    pub fn links_to(&self, keys: &[String]) -> Result<Vec<MemoryLink>, IndexError> {
        let fault = self.fault("read");
        let sql = format!("{SELECT} WHERE key = ? ORDER BY path, place");
        let mut query = self.db.prepare(&sql).map_err(&fault)?;
        let mut links = Vec::new();
        for key in keys {
            let rows = query.query_map([key], |row| Ok(linked(row))).map_err(&fault)?;
            for row in rows {
                links.extend(row.map_err(&fault)?);
            }
        }
        Ok(links)
    }

    pub(super) fn dump_links(&self) -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT path, place, key, target, alias, anchor, context, of_file, of_memory
            FROM links LEFT JOIN memories USING (id) ORDER BY path, place";
        let mut query = self.db.prepare(sql)?;
        let mut rows = query.query([])?;
        let mut lines = Vec::new();
        while let Some(row) = rows.next()? {
            let mut line = String::from("links");
            for column in 0..9 {
                line.push_str(&format!("\t{:?}", row.get_ref(column)?));
            }
            line.push('\n');
            lines.push(line);
        }
        Ok(lines)
    }
}

const SELECT: &str = "SELECT address, target, alias, anchor, context, of_file, of_memory
    FROM links JOIN memories USING (id)";

/// `None` for a row that this version could not have written.
fn linked(row: &SqlRow<'_>) -> Option<MemoryLink> {
    let text = |at: usize| row.get::<_, String>(at).ok();
    let link = Link {
        target: LinkTarget::parse(&text(1)?)?,
        alias: text(2),
        anchor: text(3),
        context: text(4)?,
        of_file: Edge::parse(&text(5)?)?,
        of_memory: Edge::parse(&text(6)?)?,
    };
    Some(MemoryLink { from: Address::parse(&text(0)?)?, link })
}
