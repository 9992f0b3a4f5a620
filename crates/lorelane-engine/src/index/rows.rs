//! Rows into the tables, and the same rows compared with what stands there.

use super::{Row, Seen, signed};
use lorelane_core::corpus::Entry;
use lorelane_core::dialect::ListingLine;
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params, params_from_iter};

/// Takes rows in; `fresh` tables hold none of them yet.
pub(super) fn put(
    db: &Transaction<'_>,
    rows: impl Iterator<Item = Row>,
    fresh: bool,
) -> rusqlite::Result<()> {
    let verb = if fresh { "INSERT" } else { "REPLACE" };
    let mut memory = db.prepare(&format!("{verb} INTO memories VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"))?;
    let mut prose = db.prepare(&format!("{verb} INTO prose VALUES (?, ?)"))?;
    let mut unreadable = db.prepare(&format!("{verb} INTO unreadable VALUES (?,?,?,?)"))?;
    let forget =
        ["memories", "prose", "unreadable"].map(|table| format!("DELETE FROM {table} WHERE path = ?"));
    let [mut forget_memory, mut forget_prose, mut forget_unreadable] =
        [db.prepare(&forget[0])?, db.prepare(&forget[1])?, db.prepare(&forget[2])?];
    for row in rows {
        match row {
            Row::Memory { entry, listing, seen } => {
                if !fresh {
                    forget_unreadable.execute([entry.path.as_str()])?;
                }
                prose.execute(params![entry.path.as_str(), entry.prose])?;
                memory.execute(params_from_iter(values(*entry, listing, seen)))?;
            }
            Row::Unreadable { path, what, seen } => {
                unreadable.execute(params![path.as_str(), what, signed(seen.size), seen.mtime_ns])?;
                if !fresh {
                    forget_memory.execute([path.as_str()])?;
                    forget_prose.execute([path.as_str()])?;
                }
            }
            Row::Gone { path } => {
                for statement in [&mut forget_memory, &mut forget_prose, &mut forget_unreadable] {
                    statement.execute([path.as_str()])?;
                }
            }
        }
    }
    Ok(())
}

/// The columns of a memory, in the order of the table.
fn values(entry: Entry, listing: Option<ListingLine>, seen: Seen) -> [Value; 14] {
    let (key, text) = listing.map_or((None, None), |line| (Some(line.key), Some(line.text)));
    [
        entry.path.as_str().to_owned().into(),
        entry.address.to_string().into(),
        entry.category.name().to_owned().into(),
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
    let mut memory = db.prepare("SELECT * FROM memories WHERE path = ?")?;
    let mut prose = db.prepare("SELECT * FROM prose WHERE path = ?")?;
    let mut unreadable = db.prepare("SELECT * FROM unreadable WHERE path = ?")?;
    let (mut memories, mut others) = (0, 0);
    let mut first = None;
    for row in rows {
        let (path, same) = match row {
            Row::Memory { entry, listing, seen } => {
                memories += 1;
                let path = entry.path.as_str().to_owned();
                let text = [path.clone().into(), entry.prose.clone().into()];
                let same = holds(&mut prose, &path, &text)?
                    && holds(&mut memory, &path, &values(*entry, listing, seen))?;
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
    Ok(None)
}

fn holds(query: &mut rusqlite::Statement<'_>, path: &str, values: &[Value]) -> rusqlite::Result<bool> {
    let mut rows = query.query([path])?;
    let Some(row) = rows.next()? else { return Ok(false) };
    for (column, value) in values.iter().enumerate() {
        if row.get_ref(column)? != value.into() {
            return Ok(false);
        }
    }
    Ok(true)
}
