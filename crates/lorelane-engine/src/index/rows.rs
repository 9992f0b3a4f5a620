//! Writes rows into the tables, and compares rows with them.

use super::acts::ActWriter;
use super::links::LinkWriter;
use super::listing::{ListingChange, ListingDelta};
use super::postings::PendingPostings;
use super::search::ForwardIndex;
use super::title_terms::{Name, TitleTermDelta};
use super::unaudited;
use super::{Analyze, FileStamp, Row, RowSource, signed};
use lorelane_core::act::keys_of;
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::MemoryFile;
use lorelane_core::dialect::listing::ListingLine;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::MemoryKind;
use lorelane_core::memory::link::links_of;
use rusqlite::types::Value;
use rusqlite::{
    Connection, OptionalExtension, Row as SqlRow, Statement, ToSql, Transaction, params, params_from_iter,
};
use std::collections::HashMap;

/// The columns of a memory, without its row id in this index.
pub(super) const COLUMNS: &str = "path, address, category, title, tags, status, status_at, created, updated,
    content_changed, ended, expires, revised, listing_key, listing_text, size, mtime_ns, digest, has_problems";

/// Writes rows. With `fresh`, the tables of memories are empty, while the search tables still hold what is known.
pub(super) fn put(
    db: &Transaction<'_>,
    by: RowSource,
    rows: impl Iterator<Item = Row>,
    fresh: Option<KnownIds>,
    analyze: Analyze<'_>,
    more_come: bool,
) -> rusqlite::Result<Option<ListingChange>> {
    let is_fresh = fresh.is_some();
    let mut rows = rows.peekable();
    if !is_fresh && rows.peek().is_none() {
        return PendingPostings::new(db)?.finish(more_come).map(|()| None);
    }
    let verb = if is_fresh { "INSERT" } else { "REPLACE" };
    let marks = "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?";
    let mut memory = db.prepare(&format!("{verb} INTO memories (id, {COLUMNS}) VALUES ({marks})"))?;
    let mut unreadable = db.prepare(&format!("{verb} INTO unreadable VALUES (?,?,?,?)"))?;
    let mut forget_unreadable = db.prepare("DELETE FROM unreadable WHERE path = ?")?;
    // New memories get ids above all known ones: ids of an emptied table would collide with memories that are
    // still to come.
    let mut next = fresh.as_ref().map(|known| known.values().map(|(id, _)| id + 1).max().unwrap_or(1));
    let mut former = KnownRows::new(db, fresh)?;
    let mut names = TitleTermDelta::default();
    let mut lines = ListingDelta::default();
    let mut changes = unaudited::UnauditedChanges::new(db, by)?;
    let mut texts = Texts {
        forward_index: ForwardIndex::new(db)?,
        links: LinkWriter::new(db)?,
        acts: ActWriter::new(db)?,
    };
    for row in rows {
        match row {
            Row::Memory { entry, listing, seen, file } => {
                let path = entry.path.as_str();
                let before = former.take_back(path, &mut names, &mut lines)?;
                let name = Name::of(&entry);
                let digest = super::digest(file.document.text.as_bytes());
                if !is_fresh {
                    forget_unreadable.execute([path])?;
                    changes.note(path, before.map(|(_, known)| known), Some(digest))?;
                }
                let number = before.map(|(id, _)| id).or(next);
                if before.is_none() {
                    next = next.map(|next| next + 1);
                }
                if !is_fresh {
                    lines.come(listing.as_ref());
                }
                let stored = Stored { seen, digest, has_problems: file.has_problems };
                let kept = std::iter::once(number.into()).chain(values(*entry, listing, stored));
                memory.execute(params_from_iter(kept))?;
                let id = number.unwrap_or_else(|| db.last_insert_rowid());
                names.come(id, name);
                if before.is_none_or(|(_, known)| known != digest) {
                    texts.put(id, &file, analyze, before.is_none())?;
                }
            }
            Row::Unreadable { path, what, seen } => {
                unreadable.execute(params![path.as_str(), what, signed(seen.size), seen.mtime_ns])?;
                let before = former.forget(path.as_str(), &mut names, &mut lines, &mut texts)?;
                if !is_fresh {
                    changes.note(path.as_str(), before, None)?;
                }
            }
            Row::Gone { path } => {
                forget_unreadable.execute([path.as_str()])?;
                let before = former.forget(path.as_str(), &mut names, &mut lines, &mut texts)?;
                if !is_fresh {
                    changes.note(path.as_str(), before, None)?;
                }
            }
        }
    }
    for (id, _) in former.known.into_iter().flat_map(KnownIds::into_values) {
        texts.forget(id)?;
    }
    texts.forward_index.finish(more_come)?;
    names.write(db, is_fresh)?;
    lines.write(db)
}

/// Everything derived from the text of a memory: replaced and deleted with it.
struct Texts<'d> {
    forward_index: ForwardIndex<'d>,
    links: LinkWriter<'d>,
    acts: ActWriter<'d>,
}

impl Texts<'_> {
    fn put(&mut self, id: i64, file: &MemoryFile, analyze: Analyze<'_>, fresh: bool) -> rusqlite::Result<()> {
        self.forward_index.put(id, &analyze(file), fresh)?;
        self.links.put(id, &file.memory, fresh)?;
        self.acts.put(id, &file.memory, fresh)
    }

    fn forget(&mut self, id: i64) -> rusqlite::Result<()> {
        self.forward_index.forget(id)?;
        self.links.forget(id)?;
        self.acts.forget(id)
    }
}

/// Row ids by path, with the digests of the texts.
pub(super) type KnownIds = HashMap<String, (i64, i64)>;

/// Read before a rebuild empties the tables.
pub(super) fn known(db: &Connection) -> rusqlite::Result<KnownIds> {
    let mut query = db.prepare("SELECT path, id, digest FROM memories")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    rows.collect()
}

/// Looks up the row that a path had before.
struct KnownRows<'d> {
    /// What is known of the texts, if the tables themselves were emptied.
    known: Option<KnownIds>,
    find: Statement<'d>,
    forget_memory: Statement<'d>,
}

impl<'d> KnownRows<'d> {
    fn new(db: &'d Connection, known: Option<KnownIds>) -> rusqlite::Result<KnownRows<'d>> {
        Ok(KnownRows {
            known,
            find: db.prepare(
                "SELECT id, digest, category, status, title, tags, listing_text FROM memories WHERE path = ?",
            )?,
            forget_memory: db.prepare("DELETE FROM memories WHERE id = ?")?,
        })
    }

    /// Returns the memory's row id and the digest of its text. It keeps its id, so only its title terms and a
    /// changed text have to be indexed again.
    fn take_back(
        &mut self,
        path: &str,
        names: &mut TitleTermDelta,
        lines: &mut ListingDelta,
    ) -> rusqlite::Result<Option<(i64, i64)>> {
        if let Some(known) = &mut self.known {
            return Ok(known.remove(path));
        }
        let found = self.find.query_row([path], |row| Ok((named(row)?, row.get(6)?))).optional()?;
        let Some(((id, digest, name), line)) = found else { return Ok(None) };
        names.go(id, name);
        lines.go(line);
        Ok(Some((id, digest)))
    }

    /// Returns the digest of the deleted text.
    fn forget(
        &mut self,
        path: &str,
        names: &mut TitleTermDelta,
        lines: &mut ListingDelta,
        texts: &mut Texts<'_>,
    ) -> rusqlite::Result<Option<i64>> {
        let Some((id, digest)) = self.take_back(path, names, lines)? else { return Ok(None) };
        texts.forget(id)?;
        if self.known.is_none() {
            self.forget_memory.execute([id])?;
        }
        Ok(Some(digest))
    }
}

/// A memory's row id, digest and title terms.
fn named(row: &SqlRow<'_>) -> rusqlite::Result<(i64, i64, Name)> {
    let text = |at: usize| row.get::<_, String>(at);
    let kind = MemoryKind::parse(&text(2)?).ok_or(rusqlite::Error::InvalidQuery)?;
    let status = Status::parse(&text(3)?).ok_or(rusqlite::Error::InvalidQuery)?;
    Ok((row.get(0)?, row.get(1)?, Name::new(kind, status, &text(4)?, &text(5)?)))
}

/// Splits the column in which `values` joins tags.
pub(super) fn tags(column: &str) -> Vec<String> {
    column.split('\n').filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// The columns about a memory's file.
#[derive(Clone, Copy)]
struct Stored {
    seen: FileStamp,
    digest: i64,
    has_problems: bool,
}

/// The columns of a memory, in the order of `COLUMNS`.
fn values(entry: MemorySummary, listing: Option<ListingLine>, file: Stored) -> [Value; 19] {
    let Stored { seen, digest, has_problems } = file;
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
        entry.content_changed.map(|at| at.0).into(),
        entry.validity.ended.map(|rule| rule.name().to_owned()).into(),
        entry.validity.expires.map(|at| at.0).into(),
        signed(entry.revised).into(),
        key.into(),
        text.into(),
        signed(seen.size).into(),
        seen.mtime_ns.into(),
        digest.into(),
        has_problems.into(),
    ]
}

/// The first difference: a row that is missing, has other values, or is one too many.
pub(super) fn difference(
    db: &Connection,
    rows: impl Iterator<Item = Row>,
) -> rusqlite::Result<Option<String>> {
    let mut memory = db.prepare(&format!("SELECT {COLUMNS}, id FROM memories WHERE path = ?"))?;
    let mut unreadable = db.prepare("SELECT * FROM unreadable WHERE path = ?")?;
    let (mut memories, mut links, mut acts, mut others) = (0, 0, 0, 0);
    let mut names = TitleTermDelta::default();
    let mut first = None;
    for row in rows {
        let (path, same) = match row {
            Row::Memory { entry, listing, seen, file } => {
                memories += 1;
                links += i64::try_from(links_of(&file.memory).count()).unwrap_or(i64::MAX);
                acts += i64::try_from(keys_of(&file.memory).len()).unwrap_or(i64::MAX);
                let path = entry.path.as_str().to_owned();
                let name = Name::of(&entry);
                let digest = super::digest(file.document.text.as_bytes());
                let values =
                    values(*entry, listing, Stored { seen, digest, has_problems: file.has_problems });
                let id = number_if_same(&mut memory, &path, &values)?;
                if let Some(id) = id {
                    names.come(id, name);
                }
                (path, id.is_some())
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
        // Returned only at the end: every row has to be consumed.
        if !same && first.is_none() {
            first = Some(path);
        }
    }
    if first.is_some() {
        return Ok(first);
    }
    let counted = [
        ("memories", memories),
        ("forward_index", memories),
        ("links", links),
        ("acts", acts),
        ("unreadable", others),
    ];
    for (table, wanted) in counted {
        let count: i64 = db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
        if count != wanted {
            return Ok(Some(format!("{table} has {count} rows instead of {wanted}")));
        }
    }
    Ok(names.difference(db)?.map(|word| format!("the memories named `{word}`")))
}

/// The row id of the memory at this path, if its row has exactly these values.
fn number_if_same(
    query: &mut Statement<'_>,
    path: &str,
    values: &[Value; 19],
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
