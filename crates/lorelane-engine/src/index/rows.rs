//! Rows into the tables, and the same rows compared with what stands there.

use super::names::{Changes, Name};
use super::{Row, Seen, signed};
use lorelane_core::corpus::Entry;
use lorelane_core::dialect::ListingLine;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::Kind;
use rusqlite::types::Value;
use rusqlite::{
    Connection, OptionalExtension, Row as SqlRow, Statement, ToSql, Transaction, params, params_from_iter,
};

/// What is kept of a memory, without the number that it has in this index.
pub(super) const COLUMNS: &str = "path, address, category, title, tags, status, status_at, created, updated,
    revised, listing_key, listing_text, size, mtime_ns";

/// Takes rows in; `fresh` tables hold none of them yet.
pub(super) fn put(
    db: &Transaction<'_>,
    rows: impl Iterator<Item = Row>,
    fresh: bool,
) -> rusqlite::Result<()> {
    let verb = if fresh { "INSERT" } else { "REPLACE" };
    let marks = "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?";
    let mut memory = db.prepare(&format!("{verb} INTO memories (id, {COLUMNS}) VALUES ({marks})"))?;
    let mut prose = db.prepare(&format!("{verb} INTO prose VALUES (?, ?)"))?;
    let mut unreadable = db.prepare(&format!("{verb} INTO unreadable VALUES (?,?,?,?)"))?;
    let mut forget_unreadable = db.prepare("DELETE FROM unreadable WHERE path = ?")?;
    let mut former = Former::new(db, fresh)?;
    let mut names = Changes::default();
    for row in rows {
        match row {
            Row::Memory { mut entry, listing, seen } => {
                let path = entry.path.as_str();
                if !fresh {
                    forget_unreadable.execute([path])?;
                }
                let former_id = former.take_name_back(path, &mut names)?;
                let (name, text) = (Name::of(&entry), std::mem::take(&mut entry.prose));
                let kept = std::iter::once(former_id.into()).chain(values(*entry, listing, seen));
                memory.execute(params_from_iter(kept))?;
                let id = former_id.unwrap_or_else(|| db.last_insert_rowid());
                prose.execute(params![id, text])?;
                names.come(id, name);
            }
            Row::Unreadable { path, what, seen } => {
                unreadable.execute(params![path.as_str(), what, signed(seen.size), seen.mtime_ns])?;
                former.forget(path.as_str(), &mut names)?;
            }
            Row::Gone { path } => {
                forget_unreadable.execute([path.as_str()])?;
                former.forget(path.as_str(), &mut names)?;
            }
        }
    }
    names.write(db, fresh)
}

/// The memories that the tables hold when rows come for their paths.
struct Former<'d> {
    /// Whether there are none.
    fresh: bool,
    find: Statement<'d>,
    forget_memory: Statement<'d>,
    forget_prose: Statement<'d>,
}

impl<'d> Former<'d> {
    fn new(db: &'d Connection, fresh: bool) -> rusqlite::Result<Former<'d>> {
        Ok(Former {
            fresh,
            find: db.prepare("SELECT id, category, status, title, tags FROM memories WHERE path = ?")?,
            forget_memory: db.prepare("DELETE FROM memories WHERE id = ?")?,
            forget_prose: db.prepare("DELETE FROM prose WHERE id = ?")?,
        })
    }

    /// Returns the memory's number: it keeps it, and nothing but its name has to be filed anew.
    fn take_name_back(&mut self, path: &str, names: &mut Changes) -> rusqlite::Result<Option<i64>> {
        if self.fresh {
            return Ok(None);
        }
        let Some((id, name)) = self.find.query_row([path], named).optional()? else { return Ok(None) };
        names.go(id, name);
        Ok(Some(id))
    }

    fn forget(&mut self, path: &str, names: &mut Changes) -> rusqlite::Result<()> {
        if let Some(id) = self.take_name_back(path, names)? {
            self.forget_memory.execute([id])?;
            self.forget_prose.execute([id])?;
        }
        Ok(())
    }
}

/// The number and the name of a memory that the tables hold.
fn named(row: &SqlRow<'_>) -> rusqlite::Result<(i64, Name)> {
    let text = |at: usize| row.get::<_, String>(at);
    let kind = Kind::parse(&text(1)?).ok_or(rusqlite::Error::InvalidQuery)?;
    let status = Status::parse(&text(2)?).ok_or(rusqlite::Error::InvalidQuery)?;
    Ok((row.get(0)?, Name::new(kind, status, &text(3)?, &text(4)?)))
}

/// The tags of the column that `values` joins them in.
pub(super) fn tags(column: &str) -> Vec<String> {
    column.split('\n').filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// The columns of a memory, in the order of `COLUMNS`.
fn values(entry: Entry, listing: Option<ListingLine>, seen: Seen) -> [Value; 14] {
    let (key, text) = listing.map_or((None, None), |line| (Some(line.key), Some(line.text)));
    [
        entry.path.as_str().to_owned().into(),
        entry.address.to_string().into(),
        entry.kind.name().to_owned().into(),
        entry.title.into(),
        entry.tags.join("\n").into(),
        entry.status.name().to_owned().into(),
        entry.status_at.map(|at| at.0).into(),
        entry.created.map(|at| at.0).into(),
        entry.updated.map(|at| at.0).into(),
        signed(entry.revised).into(),
        key.into(),
        text.into(),
        signed(seen.size).into(),
        seen.mtime_ns.into(),
    ]
}

/// Where the tables differ from these rows: a row that is missing, says something else, or is one too many.
pub(super) fn difference(
    db: &Connection,
    rows: impl Iterator<Item = Row>,
) -> rusqlite::Result<Option<String>> {
    let mut memory = db.prepare(&format!("SELECT {COLUMNS}, id FROM memories WHERE path = ?"))?;
    let mut prose = db.prepare("SELECT text FROM prose WHERE id = ?")?;
    let mut unreadable = db.prepare("SELECT * FROM unreadable WHERE path = ?")?;
    let (mut memories, mut others) = (0, 0);
    let mut names = Changes::default();
    let mut first = None;
    for row in rows {
        let (path, same) = match row {
            Row::Memory { entry, listing, seen } => {
                memories += 1;
                let path = entry.path.as_str().to_owned();
                let (name, text) = (Name::of(&entry), [entry.prose.clone().into()]);
                let values = values(*entry, listing, seen);
                let id = number_if_same(&mut memory, &path, &values)?;
                let same = match id {
                    Some(id) => {
                        names.come(id, name);
                        holds(&mut prose, id, &text)?
                    }
                    None => false,
                };
                (path, same)
            }
            Row::Unreadable { path, what, seen } => {
                others += 1;
                let path = path.as_str().to_owned();
                let values =
                    [path.clone().into(), what.into(), signed(seen.size).into(), seen.mtime_ns.into()];
                let same = holds(&mut unreadable, &path, &values)?;
                (path, same)
            }
            Row::Gone { .. } => continue,
        };
        // Told at the end: whoever hands over the rows looks at each of them.
        if !same && first.is_none() {
            first = Some(path);
        }
    }
    if first.is_some() {
        return Ok(first);
    }
    for (table, wanted) in [("memories", memories), ("prose", memories), ("unreadable", others)] {
        let count: i64 = db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
        if count != wanted {
            return Ok(Some(format!("{table} has {count} rows instead of {wanted}")));
        }
    }
    Ok(names.difference(db)?.map(|word| format!("the memories named `{word}`")))
}

/// The number of the memory at this path, if the table says exactly this of it.
fn number_if_same(
    query: &mut Statement<'_>,
    path: &str,
    values: &[Value; 14],
) -> rusqlite::Result<Option<i64>> {
    let mut rows = query.query([path])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(if says(row, values)? { Some(row.get(values.len())?) } else { None })
}

fn holds(query: &mut Statement<'_>, key: impl ToSql, values: &[Value]) -> rusqlite::Result<bool> {
    let mut rows = query.query([key])?;
    rows.next()?.map_or(Ok(false), |row| says(row, values))
}

fn says(row: &SqlRow<'_>, values: &[Value]) -> rusqlite::Result<bool> {
    for (column, value) in values.iter().enumerate() {
        if row.get_ref(column)? != value.into() {
            return Ok(false);
        }
    }
    Ok(true)
}
