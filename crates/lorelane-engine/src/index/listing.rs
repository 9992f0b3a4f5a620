//! The listing from the index: from all rows, or from the text that was written last and the lines that changed.
//!
//! At 10,000 memories reading all rows was half of a write. So the index counts the changes of lines (`generation`) and
//! remembers of which generation the listing in the file is, with its check value. The text is spliced only if the file
//! is exactly that one and no other line changed since. Otherwise, after a crash between the two or an edit by hand
//! too, it is written from all rows.

use super::checksum::Checksum;
use super::{Index, IndexError};
use lorelane_core::dialect::listing::{ListingLine, insert_line, remove_line};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeSet;
use std::io;

pub(super) const TABLE: &str = "
    CREATE TABLE listing (generation INTEGER NOT NULL, file_generation INTEGER NOT NULL, file_check INTEGER NOT NULL);
    INSERT INTO listing VALUES (0, -1, 0);
";
pub(super) const CHANGED: &str = "UPDATE listing SET generation = generation + 1";

/// How much of the listing is in memory at a time when it is written from all rows.
const PART: usize = 64 << 10;
/// With more changed lines, reading all rows is not slower.
const SPLICED_MAX: usize = 64;

/// The lines that an update of rows removed and added.
#[derive(Debug, Default)]
pub(super) struct ListingDelta {
    removed: BTreeSet<String>,
    added: Vec<ListingLine>,
}

impl ListingDelta {
    pub(super) fn go(&mut self, text: Option<String>) {
        self.removed.extend(text);
    }

    pub(super) fn come(&mut self, line: Option<&ListingLine>) {
        // Nearly every change of a memory leaves its line as it is.
        self.added.extend(line.filter(|line| !self.removed.remove(&line.text)).cloned());
    }

    pub(super) fn write(self, db: &Connection) -> rusqlite::Result<Option<ListingChange>> {
        if self.removed.is_empty() && self.added.is_empty() {
            return Ok(None);
        }
        let sql = format!("{CHANGED} RETURNING generation");
        let generation = db.query_row(&sql, [], |row| row.get(0))?;
        Ok(Some(ListingChange { generation, removed: self.removed, added: self.added }))
    }
}

/// What leads from the listing of the generation before to that of this one.
#[derive(Debug)]
pub struct ListingChange {
    generation: i64,
    removed: BTreeSet<String>,
    added: Vec<ListingLine>,
}

/// The listing that is in the file, as the index remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenListing {
    generation: i64,
    check: i64,
}

#[derive(Debug)]
pub enum Splice {
    /// The file is up to date.
    Same,
    Changed {
        text: Vec<u8>,
        written: WrittenListing,
    },
    /// The file is not the one that was written last, or more has changed: all rows are needed.
    Impossible,
}

impl Index {
    /// The listing: `above`, then its lines in order.
    pub fn listing(&self, above: &str) -> Result<String, IndexError> {
        let mut text = Vec::new();
        let written = self.write_listing(above, &mut |part| {
            text.extend_from_slice(part);
            Ok(())
        })?;
        written.expect("a vector takes everything");
        String::from_utf8(text).map_err(|error| self.fault("read")(error.utf8_error().into()))
    }

    /// The same in parts.
    pub fn write_listing(
        &self,
        above: &str,
        write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<io::Result<WrittenListing>, IndexError> {
        let fault = self.fault("read");
        let _reading = self.reading().map_err(&fault)?;
        let (generation, _) = self.listing_state().map_err(&fault)?;
        let sql = "SELECT listing_text FROM memories WHERE listing_key IS NOT NULL ORDER BY listing_key";
        let mut query = self.db.prepare(sql).map_err(&fault)?;
        let mut rows = query.query([]).map_err(&fault)?;
        let (mut checksum, mut length) = (Checksum::new(0), 0);
        let mut write = |part: &[u8]| {
            checksum.add(part);
            length += part.len();
            write(part)
        };
        let mut part = above.as_bytes().to_vec();
        while let Some(row) = rows.next().map_err(&fault)? {
            part.extend_from_slice(row.get_ref(0).and_then(|line| Ok(line.as_bytes()?)).map_err(&fault)?);
            part.push(b'\n');
            if part.len() >= PART {
                if let Err(error) = write(&part) {
                    return Ok(Err(error));
                }
                part.clear();
            }
        }
        let written = write(&part);
        let check = checksum.of_text(length).cast_signed();
        Ok(written.map(|()| WrittenListing { generation, check }))
    }

    /// The listing after a change, from the text that `read` returns.
    pub fn splice_listing(
        &self,
        change: Option<&ListingChange>,
        read: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Result<Splice, IndexError> {
        let fault = self.fault("read");
        // One snapshot: the lines are inserted where they are in this generation.
        let _reading = self.reading().map_err(&fault)?;
        let (generation, file) = self.listing_state().map_err(&fault)?;
        let change = match change {
            _ if file.generation == generation => None,
            Some(change)
                if change.generation == generation
                    && file.generation == generation - 1
                    && change.removed.len() + change.added.len() <= SPLICED_MAX =>
            {
                Some(change)
            }
            _ => return Ok(Splice::Impossible),
        };
        let Some(text) = read().filter(|text| Checksum::of(text).cast_signed() == file.check) else {
            return Ok(Splice::Impossible);
        };
        let Some(change) = change else { return Ok(Splice::Same) };
        Ok(self.spliced(text, change).map_err(&fault)?.map_or(Splice::Impossible, |text| {
            let check = Checksum::of(&text).cast_signed();
            Splice::Changed { text, written: WrittenListing { generation, check } }
        }))
    }

    fn spliced(&self, mut text: Vec<u8>, change: &ListingChange) -> rusqlite::Result<Option<Vec<u8>>> {
        for line in &change.removed {
            if remove_line(&mut text, line).is_none() {
                return Ok(None);
            }
        }
        let sql = "SELECT listing_text FROM memories WHERE listing_key > ? ORDER BY listing_key LIMIT 1";
        let mut next = self.db.prepare(sql)?;
        let mut added: Vec<&ListingLine> = change.added.iter().collect();
        // The last one first, so that the line after each is in the text already.
        added.sort_unstable_by(|one, other| other.cmp(one));
        for line in added {
            let after: Option<String> = next.query_row([&line.key], |row| row.get(0)).optional()?;
            if insert_line(&mut text, &line.text, after.as_deref()).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(text))
    }

    /// Remembers what is in the file now. Before the file is replaced would do as well: a file with another check
    /// value is never spliced.
    pub fn remember_listing(&self, written: WrittenListing) -> Result<(), IndexError> {
        let sql = "UPDATE listing SET file_generation = ?, file_check = ?";
        let remembered = self.db.execute(sql, params![written.generation, written.check]);
        remembered.map(drop).map_err(self.fault("write"))
    }

    /// The generation of the rows, and the listing in the file.
    fn listing_state(&self) -> rusqlite::Result<(i64, WrittenListing)> {
        let sql = "SELECT generation, file_generation, file_check FROM listing";
        self.db.query_row(sql, [], |row| {
            Ok((row.get(0)?, WrittenListing { generation: row.get(1)?, check: row.get(2)? }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{FileStamp, FolderTimes, Row, RowSource};
    use lorelane_core::corpus::MemorySummary;
    use lorelane_core::dialect::Dialect;
    use lorelane_core::dialect::records::Records;
    use lorelane_core::embed::Table;
    use lorelane_core::path::RelPath;
    use lorelane_core::recall::doc_entry::{DocEntry, FieldBoost};

    fn row(name: &str, title: &str) -> Row {
        let dialect = Records::new(".claude/memory");
        let path = RelPath::parse(&format!("decisions/{name}.json")).unwrap();
        let text = format!(
            r#"{{"schema_version": "1.0", "category": "decision", "id": "{name}", "title": "{title}",
                "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "tags": [],
                "content": {{"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]}}}}"#
        );
        let file = Box::new(dialect.read(&path, text.into_bytes()).into_memory().unwrap());
        Row::Memory {
            entry: Box::new(MemorySummary::of(&file.memory, &path)),
            listing: dialect.listing_line(&file.memory),
            seen: FileStamp { size: 1, mtime_ns: 1 },
            file,
        }
    }

    fn update(index: &mut Index, rows: Vec<Row>) -> Option<ListingChange> {
        let analyze = |file: &lorelane_core::dialect::MemoryFile| {
            let passages = Records::new(".claude/memory").passages(&file.document);
            DocEntry::of(&file.memory, &passages, &Table::built_in(), FieldBoost::default())
        };
        index.update(RowSource::Commit, rows.into_iter(), &FolderTimes::new(), &analyze).unwrap()
    }

    /// Writes the listing from all rows and remembers it.
    fn written(index: &Index) -> Vec<u8> {
        let mut text = Vec::new();
        let mut write = |part: &[u8]| {
            text.extend_from_slice(part);
            Ok(())
        };
        let written = index.write_listing("# Listing\n\n", &mut write).unwrap().unwrap();
        index.remember_listing(written).unwrap();
        text
    }

    fn splice(index: &Index, change: Option<&ListingChange>, text: &[u8]) -> Splice {
        index.splice_listing(change, || Some(text.to_vec())).unwrap()
    }

    #[test]
    fn what_was_written_last_is_spliced_and_nothing_else_is() {
        let mut index = Index::in_memory();
        let first = update(&mut index, vec![row("a", "One"), row("b", "Two")]);
        assert!(
            matches!(splice(&index, first.as_ref(), b"# Listing\n\n"), Splice::Impossible),
            "never written"
        );
        let text = written(&index);
        assert!(matches!(splice(&index, None, &text), Splice::Same));
        assert!(update(&mut index, vec![row("a", "One")]).is_none(), "no line changed");

        let change = update(&mut index, vec![row("c", "Threes"), row("a", "Zero"), row("d", "Threes too")]);
        let Splice::Changed { text: spliced, written: remembered } = splice(&index, change.as_ref(), &text)
        else {
            panic!("one change is behind")
        };
        assert_eq!(String::from_utf8(spliced.clone()).unwrap(), index.listing("# Listing\n\n").unwrap());
        assert!(matches!(splice(&index, None, &text), Splice::Impossible), "the lines are not known");
        let edited = String::from_utf8(text.clone()).unwrap().replace("Two", "Tow");
        assert!(matches!(splice(&index, change.as_ref(), edited.as_bytes()), Splice::Impossible), "edited");
        let gone = index.splice_listing(change.as_ref(), || None).unwrap();
        assert!(matches!(gone, Splice::Impossible), "no file");

        // The change was committed, but its listing was never written: a crash came between.
        let later = update(&mut index, vec![row("e", "Four")]);
        assert!(matches!(splice(&index, later.as_ref(), &text), Splice::Impossible), "two changes behind");
        // It was written, but a scan changed another line meanwhile.
        index.remember_listing(remembered).unwrap();
        assert!(
            matches!(splice(&index, change.as_ref(), &spliced), Splice::Impossible),
            "a later generation"
        );
        assert!(matches!(splice(&index, later.as_ref(), &spliced), Splice::Changed { .. }));
    }

    #[test]
    fn many_lines_are_written_from_all_rows() {
        let mut index = Index::in_memory();
        let text = written(&index);
        let many = (0..=SPLICED_MAX).map(|number| row(&format!("m{number}"), "Many")).collect();
        let change = update(&mut index, many);
        assert!(matches!(splice(&index, change.as_ref(), &text), Splice::Impossible));
    }
}
