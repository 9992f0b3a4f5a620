//! The listing from the index: from all rows, or from the file that was written last and the lines that changed.
//!
//! At 10,000 memories reading all rows was half of a write. So the index counts the changes of lines (`generation`) and
//! remembers of which generation the listing in the file is, with its check value. The text is spliced only if the file
//! is exactly that one and no other line changed since. Otherwise, after a crash between the two or an edit by hand
//! too, it is written from all rows.

use super::checksum::Checksum;
use super::{Index, IndexError};
use crate::disk::RandomAccessFile;
use lorelane_core::dialect::listing::{LineEdit, ListingLine, edited, end_of};
use memchr::memrchr;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeSet;
use std::io;

pub(super) const TABLE: &str = "
    CREATE TABLE listing (generation INTEGER NOT NULL, file_generation INTEGER NOT NULL, file_check INTEGER NOT NULL);
    INSERT INTO listing VALUES (0, -1, 0);
";
pub(super) const CHANGED: &str = "UPDATE listing SET generation = generation + 1";

/// How much of the listing is in memory at a time: fresh memory for all of it would cost more than the copy.
const PART: usize = 64 << 10;
/// Each line is searched for in the whole listing: with more of them, reading all rows is not slower.
const SPLICED_MAX: usize = 16;

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

/// How the listing in the file becomes that of the rows.
#[derive(Debug)]
pub struct ListingSplice {
    base: WrittenListing,
    generation: i64,
    edits: Vec<LineEdit>,
}

impl ListingSplice {
    /// Whether no line changes: then a copy only checks the file.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Copies the listing with its edits. `None` if the file is not the one that was written last: then the copy is
    /// worth nothing, and all rows are needed.
    pub fn copy(
        &self,
        file: &mut dyn RandomAccessFile,
        write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<Option<WrittenListing>> {
        let mut edits = self.edits.clone();
        let (size, mut offset) = (file.size()?, 0);
        let (mut before, mut after, mut length) = (Checksum::new(0), Checksum::new(0), 0);
        let mut put = |part: &[u8]| {
            after.add(part);
            length += part.len();
            write(part)
        };
        while offset < size {
            let left = usize::try_from(size - offset).unwrap_or(usize::MAX);
            let mut part = file.read_at(offset, left.min(PART))?;
            // A line that is cut off is read with the next part.
            let Some(end) = memrchr(b'\n', &part) else { return Ok(None) };
            part.truncate(end + 1);
            before.add(&part);
            offset += part.len() as u64;
            put(&edited(&part, &mut edits))?;
        }
        let Some(end) = end_of(edits) else { return Ok(None) };
        if !end.is_empty() {
            put(&end)?;
        }
        let check = after.of_text(length).cast_signed();
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let is_known = before.of_text(size).cast_signed() == self.base.check;
        Ok(is_known.then_some(WrittenListing { generation: self.generation, check }))
    }
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

    /// How the listing becomes that of the rows after a change; `None` if that takes all rows.
    pub fn listing_splice(
        &self,
        change: Option<&ListingChange>,
    ) -> Result<Option<ListingSplice>, IndexError> {
        let fault = self.fault("read");
        // One snapshot: the lines are inserted where they are in this generation.
        let _reading = self.reading().map_err(&fault)?;
        let (generation, base) = self.listing_state().map_err(&fault)?;
        let edits = match change {
            _ if base.generation == generation => Vec::new(),
            Some(change)
                if change.generation == generation
                    && base.generation == generation - 1
                    && change.removed.len() + change.added.len() <= SPLICED_MAX =>
            {
                self.line_edits(change).map_err(&fault)?
            }
            _ => return Ok(None),
        };
        Ok(Some(ListingSplice { base, generation, edits }))
    }

    fn line_edits(&self, change: &ListingChange) -> rusqlite::Result<Vec<LineEdit>> {
        let sql = "SELECT listing_text FROM memories WHERE listing_key > ? ORDER BY listing_key LIMIT 1";
        let mut next = self.db.prepare(sql)?;
        let mut added: Vec<&ListingLine> = change.added.iter().collect();
        // The last one first: a line that comes before another new one is inserted with it.
        added.sort_unstable_by(|one, other| other.cmp(one));
        let mut inserts: Vec<(Vec<String>, Option<String>)> = Vec::new();
        for line in added {
            let after: Option<String> = next.query_row([&line.key], |row| row.get(0)).optional()?;
            match inserts.last_mut() {
                Some((lines, _)) if lines.last() == after.as_ref() => lines.push(line.text.clone()),
                _ => inserts.push((vec![line.text.clone()], after)),
            }
        }
        let inserts = inserts.into_iter().map(|(mut lines, before)| {
            lines.reverse();
            LineEdit::Insert { lines, before }
        });
        let removes = change.removed.iter().map(|line| LineEdit::Remove { line: line.clone() });
        Ok(removes.chain(inserts).collect())
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

    #[derive(Debug)]
    struct Text(Vec<u8>);

    impl RandomAccessFile for Text {
        fn size(&self) -> io::Result<u64> {
            Ok(self.0.len() as u64)
        }

        fn read_at(&mut self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
            let offset = usize::try_from(offset).unwrap();
            Ok(self.0[offset..offset + len].to_vec())
        }
    }

    /// The spliced listing, with what is remembered of it.
    fn splice(
        index: &Index,
        change: Option<&ListingChange>,
        text: &[u8],
    ) -> Option<(Vec<u8>, WrittenListing)> {
        let mut spliced = Vec::new();
        let mut write = |part: &[u8]| {
            spliced.extend_from_slice(part);
            Ok(())
        };
        let splice = index.listing_splice(change).unwrap()?;
        let written = splice.copy(&mut Text(text.to_vec()), &mut write).unwrap()?;
        Some((spliced, written))
    }

    #[test]
    fn what_was_written_last_is_spliced_and_nothing_else_is() {
        let mut index = Index::in_memory();
        let first = update(&mut index, vec![row("a", "One"), row("b", "Two")]);
        assert!(splice(&index, first.as_ref(), b"# Listing\n\n").is_none(), "never written");
        let text = written(&index);
        assert!(index.listing_splice(None).unwrap().unwrap().is_empty());
        assert_eq!(splice(&index, None, &text).unwrap().0, text);
        assert!(update(&mut index, vec![row("a", "One")]).is_none(), "no line changed");

        // Two new lines that follow one another, one that moves to the end, one that stays.
        let change = update(&mut index, vec![row("c", "Threes"), row("a", "Zero"), row("d", "Threes too")]);
        let (spliced, remembered) = splice(&index, change.as_ref(), &text).unwrap();
        assert_eq!(String::from_utf8(spliced.clone()).unwrap(), index.listing("# Listing\n\n").unwrap());
        assert!(splice(&index, None, &text).is_none(), "the lines are not known");
        let edited = String::from_utf8(text.clone()).unwrap().replace("Two", "Tow");
        assert!(splice(&index, change.as_ref(), edited.as_bytes()).is_none(), "edited");
        for other in [&b""[..], b"x", &text[..text.len() - 1], &text[..40], &[&text[..], b"\n"].concat()] {
            assert!(splice(&index, change.as_ref(), other).is_none(), "{other:?}");
        }

        // The change was committed, but its listing was never written: a crash came between.
        let later = update(&mut index, vec![row("e", "Four")]);
        assert!(splice(&index, later.as_ref(), &text).is_none(), "two changes behind");
        // It was written, but a scan changed another line meanwhile.
        index.remember_listing(remembered).unwrap();
        assert!(splice(&index, change.as_ref(), &spliced).is_none(), "a later generation");
        let (spliced, _) = splice(&index, later.as_ref(), &spliced).unwrap();
        assert_eq!(String::from_utf8(spliced).unwrap(), index.listing("# Listing\n\n").unwrap());
    }

    #[test]
    fn a_long_listing_is_spliced_in_parts() {
        let mut index = Index::in_memory();
        let title = |number: usize| format!("{number} {}", "long ".repeat(20));
        update(&mut index, (0..700).map(|number| row(&format!("m{number}"), &title(number))).collect());
        let mut text = written(&index);
        assert!(text.len() > PART);
        for number in [0, 699, 400, 333, 7] {
            let change = update(&mut index, vec![row(&format!("m{number}"), &title(number + 5_000))]);
            let (spliced, remembered) = splice(&index, change.as_ref(), &text).unwrap();
            index.remember_listing(remembered).unwrap();
            text = spliced;
            assert!(text == index.listing("# Listing\n\n").unwrap().as_bytes(), "{number}");
        }
    }

    #[test]
    fn many_lines_are_written_from_all_rows() {
        let mut index = Index::in_memory();
        let text = written(&index);
        let many = (0..=SPLICED_MAX).map(|number| row(&format!("m{number}"), "Many")).collect();
        let change = update(&mut index, many);
        assert!(splice(&index, change.as_ref(), &text).is_none());
    }
}
