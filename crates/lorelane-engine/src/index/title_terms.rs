//! The words of titles and tags, and for each word the memories that have it.
//!
//! A row is a word in one slot: in titles or in tags, of one kind and status. Its memories are row ids in one
//! blob, so looking up a word reads few rows, however many memories have it. Not FTS5: there one match cost
//! 0.3 µs (3 ms for ten common words in 10,000 memories), and a new title wrote 23 KB to the log.

use super::{Index, IndexError, rows, varint};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory;
use lorelane_core::recall::{Query, Signal, finds_beginnings, name_words};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

pub(super) const TABLE: &str = "
    CREATE TABLE names (
        word TEXT NOT NULL, kind INTEGER NOT NULL, memories BLOB NOT NULL, PRIMARY KEY (word, kind)
    ) WITHOUT ROWID;
";
/// A row of one or two bytes per memory that is longer than this is of a word that tells memories hardly apart.
const COMMON_NAME_BYTES: usize = 4_096;
/// The greatest character: all words with a prefix sort before the prefix followed by it.
const LAST: char = char::MAX;

/// A word in one kind of place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct TermSlot {
    word: String,
    kind: PackedKind,
}

/// A memory's kind, its status and the signal in one number: a rebuild writes thousands of these rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct PackedKind(i64);

impl PackedKind {
    fn of(of: memory::MemoryKind, status: Status, signal: Signal) -> PackedKind {
        let known = PackedKind::all().position(|kind| kind == (of, status, signal));
        PackedKind(known.and_then(|at| i64::try_from(at).ok()).expect("all kinds are numbered"))
    }

    /// `None` for a number that this version could not have written.
    fn parts(self) -> Option<(memory::MemoryKind, Status, Signal)> {
        PackedKind::all().nth(usize::try_from(self.0).ok()?)
    }

    fn all() -> impl Iterator<Item = (memory::MemoryKind, Status, Signal)> {
        const STATUSES: [Status; 3] = [Status::Active, Status::Retired, Status::Archived];
        const SIGNALS: [Signal; 2] = [Signal::Tag, Signal::Title];
        memory::MemoryKind::all().flat_map(|of| {
            STATUSES.into_iter().flat_map(move |status| SIGNALS.map(|signal| (of, status, signal)))
        })
    }
}

/// All slots of one memory.
#[derive(Debug)]
pub(super) struct Name(Vec<TermSlot>);

impl Name {
    pub(super) fn of(entry: &MemorySummary) -> Name {
        Name::new(entry.kind, entry.status, &entry.title, &entry.tags.join("\n"))
    }

    /// Takes the tags as their column has them, so that a row is removed exactly as it was added.
    pub(super) fn new(of: memory::MemoryKind, status: Status, title: &str, tags: &str) -> Name {
        let [in_tags, in_title] =
            [Signal::Tag, Signal::Title].map(|signal| PackedKind::of(of, status, signal));
        let kind = |signal| if signal == Signal::Tag { in_tags } else { in_title };
        let words = name_words(title, &rows::tags(tags)).into_iter();
        Name(words.map(|(signal, word)| TermSlot { word, kind: kind(signal) }).collect())
    }
}

/// Changes, collected by slot: a slot that many memories share is written once.
#[derive(Debug, Default)]
pub(super) struct TitleTermDelta(HashMap<TermSlot, TermDelta>);

#[derive(Debug, Default)]
struct TermDelta {
    come: Vec<i64>,
    go: Vec<i64>,
}

impl TitleTermDelta {
    pub(super) fn come(&mut self, memory: i64, name: Name) {
        name.0.into_iter().for_each(|place| self.0.entry(place).or_default().come.push(memory));
    }

    pub(super) fn go(&mut self, memory: i64, name: Name) {
        name.0.into_iter().for_each(|place| self.0.entry(place).or_default().go.push(memory));
    }

    /// Writes the changes; a `fresh` table is empty and need not be read.
    pub(super) fn write(self, db: &Transaction<'_>, fresh: bool) -> rusqlite::Result<()> {
        let mut read = db.prepare("SELECT memories FROM names WHERE word = ? AND kind = ?")?;
        let mut forget = db.prepare("DELETE FROM names WHERE word = ? AND kind = ?")?;
        let verb = if fresh { "INSERT" } else { "REPLACE" };
        let mut put = db.prepare(&format!("{verb} INTO names VALUES (?, ?, ?)"))?;
        // In table order: neighbours are on one page.
        let mut changes: Vec<(TermSlot, TermDelta)> = self.0.into_iter().collect();
        changes.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (place, TermDelta { come, go }) in changes {
            if come == go {
                continue;
            }
            let key = params![place.word, place.kind.0];
            let before = if fresh { None } else { read.query_row(key, |row| row.get(0)).optional()? };
            let mut memories = before.map_or_else(Vec::new, |blob: Vec<u8>| unpacked(&blob).collect());
            for gone in go {
                memories.iter().position(|memory| *memory == gone).map(|at| memories.remove(at));
            }
            memories.extend(come);
            if memories.is_empty() {
                forget.execute(key)?;
            } else {
                put.execute(params![place.word, place.kind.0, packed(memories)])?;
            }
        }
        Ok(())
    }

    /// The first word with other memories in the table than those collected here.
    pub(super) fn difference(mut self, db: &Connection) -> rusqlite::Result<Option<String>> {
        let mut query = db.prepare("SELECT * FROM names")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let place = TermSlot { word: row.get(0)?, kind: PackedKind(row.get(1)?) };
            let wanted = self.0.remove(&place).map(|wanted| packed(wanted.come));
            if wanted.is_none_or(|wanted| row.get_ref(2).ok() != Some(wanted.as_slice().into())) {
                return Ok(Some(place.word));
            }
        }
        Ok(self.0.into_keys().map(|place| place.word).min())
    }
}

impl Index {
    /// The memories that the query's words can find by title and tags, each with an upper bound of its score (see
    /// `recall::name_words`). A word in the titles of more than `many` notes finds none of them: file names are
    /// often numbered, and such a note is found by its text. Neither does a word in thousands of names of any kind.
    pub(super) fn score_upper_bound(&self, query: &Query, many: usize) -> rusqlite::Result<Vec<(i64, i32)>> {
        // One sum per row id: sorting what all words find was a third of the hook for a long prompt.
        let last = usize::try_from(self.last_number()?).unwrap_or(0);
        let mut bounds = vec![0_i32; last + 1];
        self.each_place(
            query.words(),
            |of, status| query.admits(of, status),
            |_, of, signal, packed| {
                let is_note = matches!(of, memory::MemoryKind::Note(_));
                if is_note && unpacked(packed).count() > many
                    || many < usize::MAX && packed.len() > COMMON_NAME_BYTES
                {
                    return;
                }
                let points = signal.points();
                for memory in unpacked(packed) {
                    if let Some(bound) = usize::try_from(memory).ok().and_then(|at| bounds.get_mut(at)) {
                        *bound = bound.saturating_add(points);
                    }
                }
            },
        )?;
        Ok((0..).zip(bounds).filter(|(_, bound)| *bound > 0).collect())
    }

    /// The same for all memories, highest bound first, at most `limit`. Ties are ordered by path, so that a
    /// rebuilt index gives the same answer.
    pub(super) fn above_bound(&self, query: &Query, limit: usize) -> rusqlite::Result<Vec<(i32, i64)>> {
        let bounds = self.score_upper_bound(query, usize::MAX)?;
        let mut best: Vec<(i32, i64)> = bounds.into_iter().map(|(memory, bound)| (bound, memory)).collect();
        let order = |(bound, memory): &(i32, i64)| (Reverse(*bound), *memory);
        if limit < best.len() {
            // A common word is in thousands of titles: only those within the limit are sorted.
            let (_, &mut (last, _), _) = best.select_nth_unstable_by_key(limit, order);
            best.retain(|(bound, _)| *bound >= last);
        }
        best.sort_unstable_by_key(order);
        if let Some((last, _)) = best.get(limit).copied() {
            let ahead = best.partition_point(|(bound, _)| *bound > last);
            let behind = best.partition_point(|(bound, _)| *bound >= last);
            let mut path = self.db.prepare("SELECT path FROM memories WHERE id = ?")?;
            let mut path_of = |memory: i64| path.query_row([memory], |row| row.get::<_, String>(0)).ok();
            best[ahead..behind].sort_by_cached_key(|(_, memory)| path_of(*memory));
            best.truncate(limit);
        }
        Ok(best)
    }

    /// How many of these words are in the title and tags of the memory that has most of them, among those of an
    /// admitted kind and status.
    pub fn shared_by_one(
        &self,
        words: &BTreeSet<String>,
        admits: impl Fn(memory::MemoryKind, Status) -> bool,
    ) -> Result<usize, IndexError> {
        // The last word counted, and the count: a word in both title and tags counts once.
        let mut shared: HashMap<i64, (&str, usize)> = HashMap::new();
        let mut most = 0;
        self.each_place(words, admits, |asked, _, signal, packed| {
            if signal == Signal::Prefix {
                return;
            }
            for memory in unpacked(packed) {
                let (last, count) = shared.entry(memory).or_insert(("", 0));
                if *last != asked {
                    (*last, *count) = (asked, *count + 1);
                    most = most.max(*count);
                }
            }
        })
        .map_err(self.fault("read"))?;
        Ok(most)
    }

    /// Calls `take` for every row with a query word, or with a longer word that it is a prefix of, with the signal
    /// that gives.
    fn each_place<'w>(
        &self,
        asked: &'w BTreeSet<String>,
        admits: impl Fn(memory::MemoryKind, Status) -> bool,
        mut take: impl FnMut(&'w str, memory::MemoryKind, Signal, &[u8]),
    ) -> rusqlite::Result<()> {
        let mut query = self.db.prepare("SELECT * FROM names WHERE word >= ? AND word <= ?")?;
        for word in asked {
            let end = if finds_beginnings(word) { format!("{word}{LAST}") } else { word.clone() };
            let mut rows = query.query([word, &end])?;
            while let Some(row) = rows.next()? {
                let Some((of, status, place)) = PackedKind(row.get(1)?).parts() else { continue };
                if admits(of, status) {
                    let signal = if row.get_ref(0)?.as_str()? == word { place } else { Signal::Prefix };
                    take(word, of, signal, row.get_ref(2)?.as_blob()?);
                }
            }
        }
        Ok(())
    }

    /// The table as text, by path: row ids differ between indexes.
    pub(super) fn dump_names(&self) -> rusqlite::Result<Vec<String>> {
        let mut query = self.db.prepare("SELECT * FROM names")?;
        let mut path = self.db.prepare("SELECT path FROM memories WHERE id = ?")?;
        let mut rows = query.query([])?;
        let mut lines = Vec::new();
        while let Some(row) = rows.next()? {
            let (word, kind): (String, PackedKind) = (row.get(0)?, PackedKind(row.get(1)?));
            for memory in unpacked(row.get_ref(2)?.as_blob()?) {
                let path = path.query_row([memory], |row| row.get::<_, String>(0)).ok();
                lines.push(format!("names\t{path:?}\t{word:?}\t{:?}\n", kind.parts()));
            }
        }
        lines.sort_unstable();
        Ok(lines)
    }
}

/// Sorted, each as its distance from the one before.
fn packed(mut memories: Vec<i64>) -> Vec<u8> {
    memories.sort_unstable();
    let mut bytes = Vec::with_capacity(memories.len() + 8);
    let mut last = 0;
    for memory in memories {
        varint::append(&mut bytes, memory.abs_diff(last));
        last = memory;
    }
    bytes
}

/// Foreign bytes give arbitrary ids, never a panic; an id without a memory is not found.
fn unpacked(mut bytes: &[u8]) -> impl Iterator<Item = i64> {
    let mut last = 0_i64;
    std::iter::from_fn(move || {
        last = last.wrapping_add_unsigned(varint::take(&mut bytes)?);
        Some(last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_sorted() {
        let table: [&[i64]; 6] =
            [&[], &[1], &[5, 5, 5], &[1, 127, 128, 255, 256], &[9, 3, 1 << 40], &[i64::MAX, 1]];
        for numbers in table {
            let mut sorted = numbers.to_vec();
            sorted.sort_unstable();
            assert_eq!(unpacked(&packed(numbers.to_vec())).collect::<Vec<_>>(), sorted, "{numbers:?}");
        }
    }
}
