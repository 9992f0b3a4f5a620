//! Postings: for each term the memories that have it, in how many passages, and how much of a passage it is.
//!
//! A row has a term's memories of one span of row ids in one blob, so a term is read in a few steps, however many
//! memories have it. Indexing a memory means a write for each of its terms, so that is done for many memories at
//! once. Until then a changed memory is pending, and a search reads its forward index entry instead.
//!
//! Terms are 32-bit hashes, so every script costs the same and the index holds no words. In a store of 100,000
//! words one in 40,000 shares its hash with another; the two count as one.
//!
//! Our own code and not FTS5: read through `fts5vocab`, FTS5 was half of a search. In the running server a search
//! took 4.1 ms at 10,000 memories and takes 2.5 ms now, with exact counts for common words. `bm25()` cannot count
//! neighbours and sections either.

use super::varint;
use lorelane_core::recall::doc_entry::{self, Count, DocView, PassageView};
use lorelane_core::terms::Term;
use rusqlite::{Connection, OptionalExtension, Row, Statement, params};
use std::collections::BTreeMap;

pub(super) const TABLES: &str = "
    CREATE TABLE postings (
        term INTEGER NOT NULL, span INTEGER NOT NULL, passages INTEGER NOT NULL, memories BLOB NOT NULL,
        PRIMARY KEY (term, span)
    ) WITHOUT ROWID;
    CREATE TABLE pending (id INTEGER PRIMARY KEY, filed BLOB NOT NULL);
";
pub(super) const EMPTY: &str = "DELETE FROM postings; DELETE FROM pending;";

/// Memories per row, and the most that are flushed at once: all their terms are in memory then.
const SPAN: i64 = 4_096;
/// This many may be pending, because a search reads the entries of all of them. More during a bulk update.
const UNFILED_MAX: i64 = 64;
const UNFILED_AMONG_MANY: i64 = 1_024;
/// Counts saturate here: one memory with more passages than this tells nothing new.
const PASSAGES_MAX: u8 = 63;

/// How a memory has a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Posting {
    /// In how many passages.
    pub(super) passages: u8,
    pub(super) much: TfBucket,
}

/// How much of a passage a term is, at its maximum over the passages (a bucketed term frequency).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TfBucket {
    #[default]
    Low,
    Mid,
    /// Also a word of the title or tags: it counts as much as one that fills a passage.
    High,
}

impl TfBucket {
    fn of(count: Count, length: usize) -> TfBucket {
        let times = f32::from(count.times);
        let share = times / (times + 0.4 + 0.6 * length as f32 / 50.0);
        match share {
            _ if count.in_name => TfBucket::High,
            share if share > 0.66 => TfBucket::High,
            share if share > 0.45 => TfBucket::Mid,
            _ => TfBucket::Low,
        }
    }

    /// The weight of the bucket.
    pub(super) fn share(self) -> f32 {
        match self {
            TfBucket::Low => 0.35,
            TfBucket::Mid => 0.55,
            TfBucket::High => 0.8,
        }
    }
}

impl Posting {
    fn by(passage: &PassageView<'_>, count: Count) -> Posting {
        Posting { passages: 1, much: TfBucket::of(count, passage.length) }
    }

    fn with(self, other: Posting) -> Posting {
        let passages = self.passages.saturating_add(other.passages).min(PASSAGES_MAX);
        Posting { passages, much: self.much.max(other.much) }
    }

    /// The posting of a term for a memory with this entry.
    fn in_sheet(doc: &DocView<'_>, term: Term) -> Option<Posting> {
        let held = doc.passages.iter().filter_map(|passage| Some(Posting::by(passage, passage.count(term)?)));
        held.reduce(Posting::with)
    }

    fn to_byte(self) -> u8 {
        self.passages << 2 | self.much as u8
    }

    fn from_byte(byte: u8) -> Posting {
        let much = match byte & 3 {
            0 => TfBucket::Low,
            1 => TfBucket::Mid,
            _ => TfBucket::High,
        };
        Posting { passages: byte >> 2, much }
    }
}

/// All terms of a memory with this entry.
fn terms_of(doc: &DocView<'_>) -> BTreeMap<Term, Posting> {
    let mut terms: BTreeMap<Term, Posting> = BTreeMap::new();
    for passage in &doc.passages {
        for (term, count) in passage.counts() {
            let held = Posting::by(passage, count);
            terms.entry(term).and_modify(|known| *known = known.with(held)).or_insert(held);
        }
    }
    terms
}

/// The blob format: per memory the distance from the one before, then its posting in one byte.
fn packed(memories: &[(i64, Posting)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 * memories.len());
    let mut last = 0;
    for (memory, held) in memories {
        varint::append(&mut bytes, memory.abs_diff(last));
        bytes.push(held.to_byte());
        last = *memory;
    }
    bytes
}

/// Foreign bytes give arbitrary memories, never a panic.
fn unpacked(mut bytes: &[u8]) -> impl Iterator<Item = (i64, Posting)> {
    let mut last = 0_i64;
    std::iter::from_fn(move || {
        last = last.wrapping_add_unsigned(varint::take(&mut bytes)?);
        let (held, rest) = bytes.split_first()?;
        bytes = rest;
        Some((last, Posting::from_byte(*held)))
    })
}

/// Collects memories whose postings are not written yet.
pub(super) struct PendingPostings<'d> {
    db: &'d Connection,
    note: Statement<'d>,
    noted: i64,
}

impl<'d> PendingPostings<'d> {
    pub(super) fn new(db: &'d Connection) -> rusqlite::Result<PendingPostings<'d>> {
        // The terms a memory is still indexed under are kept until the flush, however often it changes: so nothing
        // of its old text is found.
        let note = db.prepare("INSERT OR IGNORE INTO pending VALUES (?, ?)")?;
        Ok(PendingPostings { db, note, noted: 0 })
    }

    /// Marks a memory as pending: its entry changed or was deleted. `before` is its previous entry.
    pub(super) fn note(&mut self, id: i64, before: Option<&[u8]>) -> rusqlite::Result<()> {
        if self.noted == SPAN {
            flush(self.db)?;
            self.noted = 0;
        }
        let mut filed = Vec::new();
        for Term(term) in
            before.map(|bytes| terms_of(&doc_entry::read(bytes))).unwrap_or_default().into_keys()
        {
            filed.extend(term.to_le_bytes());
        }
        self.note.execute(params![id, filed])?;
        self.noted += 1;
        Ok(())
    }

    pub(super) fn finish(self, more_come: bool) -> rusqlite::Result<()> {
        let most = if more_come { UNFILED_AMONG_MANY } else { UNFILED_MAX };
        let waiting: i64 = self.db.query_row("SELECT count(*) FROM pending", [], |row| row.get(0))?;
        if waiting > most { flush(self.db) } else { Ok(()) }
    }
}

/// What changes for a memory under a term: its new posting, or `None` to remove it.
struct PostingUpdate {
    term: Term,
    id: i64,
    to: Option<Posting>,
}

/// Writes the postings of all pending memories.
pub(super) fn flush(db: &Connection) -> rusqlite::Result<()> {
    let mut moves = Vec::new();
    let mut query = db.prepare("SELECT id, filed, bytes FROM pending LEFT JOIN forward_index USING (id)")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let now = row
            .get_ref(2)?
            .as_blob_or_null()?
            .map(|bytes| terms_of(&doc_entry::read(bytes)))
            .unwrap_or_default();
        let (before, _) = row.get_ref(1)?.as_blob()?.as_chunks::<4>();
        let before = before.iter().map(|bytes| Term(u32::from_le_bytes(*bytes)));
        moves.extend(before.filter(|term| !now.contains_key(term)).map(|term| PostingUpdate {
            term,
            id,
            to: None,
        }));
        moves.extend(now.into_iter().map(|(term, held)| PostingUpdate { term, id, to: Some(held) }));
    }
    moves.sort_unstable_by_key(|one| (one.term, one.id));
    let mut read = db.prepare("SELECT memories FROM postings WHERE term = ? AND span = ?")?;
    let mut put = db.prepare("REPLACE INTO postings VALUES (?, ?, ?, ?)")?;
    let mut forget = db.prepare("DELETE FROM postings WHERE term = ? AND span = ?")?;
    for moves in moves.chunk_by(|a, b| (a.term, a.id / SPAN) == (b.term, b.id / SPAN)) {
        let (term, span) = (moves[0].term.0, moves[0].id / SPAN);
        let before: Option<Vec<u8>> = read.query_row([i64::from(term), span], |row| row.get(0)).optional()?;
        let mut memories: BTreeMap<i64, Posting> = unpacked(before.as_deref().unwrap_or_default()).collect();
        for PostingUpdate { id, to, .. } in moves {
            match to {
                Some(held) => memories.insert(*id, *held),
                None => memories.remove(id),
            };
        }
        let memories: Vec<(i64, Posting)> = memories.into_iter().collect();
        let bytes = packed(&memories);
        if memories.is_empty() {
            forget.execute([i64::from(term), span])?;
        } else if before.as_deref() != Some(&bytes) {
            let passages: i64 = memories.iter().map(|(_, held)| i64::from(held.passages)).sum();
            put.execute(params![term, span, passages, bytes])?;
        }
    }
    db.execute("DELETE FROM pending", []).map(drop)
}

/// The entries of pending memories; their postings on disk are outdated.
pub(super) struct PendingMemories(BTreeMap<i64, Vec<u8>>);

impl PendingMemories {
    pub(super) fn read(db: &Connection) -> rusqlite::Result<PendingMemories> {
        let mut query = db.prepare("SELECT id, bytes FROM pending LEFT JOIN forward_index USING (id)")?;
        let doc = |row: &Row<'_>| row.get::<_, Option<_>>(1).map(Option::unwrap_or_default);
        let rows = query.query_map([], |row| Ok((row.get(0)?, doc(row)?)))?;
        rows.collect::<rusqlite::Result<_>>().map(PendingMemories)
    }
}

/// Reads postings, with the pending memories merged in.
pub(super) struct Postings<'d> {
    db: &'d Connection,
    rows: Statement<'d>,
    pending: BTreeMap<i64, DocView<'d>>,
}

/// The memories that have a term.
#[derive(Debug, Default)]
pub(super) struct PostingList {
    /// Doc frequency: in how many passages the term occurs.
    pub(super) passages: u64,
    pub(super) memories: Vec<(i64, Posting)>,
}

impl<'d> Postings<'d> {
    pub(super) fn new(db: &'d Connection, pending: &'d PendingMemories) -> rusqlite::Result<Postings<'d>> {
        let pending = pending.0.iter().map(|(id, bytes)| (*id, doc_entry::read(bytes))).collect();
        Ok(Postings {
            db,
            rows: db.prepare("SELECT passages, memories FROM postings WHERE term = ?")?,
            pending,
        })
    }

    /// Whether each of these terms may occur, without reading who has it.
    pub(super) fn occurring(&self, terms: &[Term]) -> rusqlite::Result<Vec<bool>> {
        let mut sorted: Vec<(Term, usize)> = terms.iter().copied().zip(0..).collect();
        // In the order of the table, so that each of its pages is read once.
        sorted.sort_unstable();
        let mut query = self.db.prepare("SELECT 1 FROM postings WHERE term = ? LIMIT 1")?;
        let mut occurs = vec![false; terms.len()];
        for (Term(term), at) in &sorted {
            occurs[*at] = query.exists([term])?;
        }
        for passage in self.pending.values().flat_map(|doc| &doc.passages) {
            for term in passage.terms() {
                let from = sorted.partition_point(|(other, _)| *other < term);
                sorted[from..]
                    .iter()
                    .take_while(|(other, _)| *other == term)
                    .for_each(|(_, at)| occurs[*at] = true);
            }
        }
        Ok(occurs)
    }

    /// Adds the memories that have this term; not all of them if it occurs in more than `most` passages.
    pub(super) fn read(
        &mut self,
        Term(term): Term,
        most: u64,
        having: &mut PostingList,
    ) -> rusqlite::Result<()> {
        let mut rows = self.rows.query([term])?;
        while let Some(row) = rows.next()? {
            let passages: i64 = row.get(0)?;
            having.passages += u64::try_from(passages).unwrap_or(0);
            if having.passages > most && self.pending.is_empty() {
                continue;
            }
            for (id, held) in unpacked(row.get_ref(1)?.as_blob()?) {
                if self.pending.contains_key(&id) {
                    having.passages -= u64::from(held.passages);
                } else {
                    having.memories.push((id, held));
                }
            }
        }
        for (id, doc) in &self.pending {
            if let Some(held) = Posting::in_sheet(doc, Term(term)) {
                having.passages += u64::from(held.passages);
                having.memories.push((*id, held));
            }
        }
        Ok(())
    }
}

/// Every posting, as a search would read it: a dump does not depend on what is pending.
pub(super) fn all(db: &Connection) -> rusqlite::Result<Vec<(Term, i64, Posting)>> {
    let pending = PendingMemories::read(db)?;
    let mut postings = Postings::new(db, &pending)?;
    let mut query = db.prepare("SELECT DISTINCT term FROM postings")?;
    let mut terms = query.query_map([], |row| row.get(0).map(Term))?.collect::<rusqlite::Result<Vec<_>>>()?;
    terms.extend(postings.pending.values().flat_map(|doc| terms_of(doc).into_keys()));
    terms.sort_unstable();
    terms.dedup();
    let mut all = Vec::new();
    for term in terms {
        let mut having = PostingList::default();
        postings.read(term, u64::MAX, &mut having)?;
        all.extend(having.memories.into_iter().map(|(id, held)| (term, id, held)));
    }
    Ok(all)
}
