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

use super::{unsigned, varint};
use lorelane_core::recall::doc_entry::{self, Count, DocView, PassageView};
use lorelane_core::terms::Term;
use rusqlite::{Connection, OptionalExtension, Statement, params};
use std::collections::BTreeMap;

pub(super) const TABLES: &str = "
    CREATE TABLE postings (term_span INTEGER PRIMARY KEY, memories BLOB NOT NULL);
    CREATE TABLE doc_freqs (term INTEGER PRIMARY KEY, passages INTEGER NOT NULL);
    CREATE TABLE pending (id INTEGER PRIMARY KEY, written BLOB NOT NULL);
";
pub(super) const EMPTY: &str = "DELETE FROM postings; DELETE FROM doc_freqs; DELETE FROM pending;";

/// Term and span are one integer: SQLite finds it without reading the blobs of the rows that it compares.
const SPAN_BITS: u32 = 24;

fn term_span(Term(term): Term, span: i64) -> i64 {
    i64::from(term) << SPAN_BITS | span
}

/// The first and last row of a term.
fn spans_of(term: Term) -> [i64; 2] {
    [term_span(term, 0), term_span(term, (1 << SPAN_BITS) - 1)]
}

/// Memories per row, and the most that are flushed at once: all their terms are in memory then.
const SPAN: i64 = 4_096;
/// This many may be pending, because a search reads the entries of all of them. More during a bulk update.
const UNFILED_MAX: i64 = 64;
const UNFILED_AMONG_MANY: i64 = 1_024;
/// Room for the pages that a flush changes: what does not fit is written and read once more.
const FLUSH_CACHE_KIB: i64 = 4_000;
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

/// The format of `pending.written`: the terms whose postings on disk still name a memory, in order, each with its
/// number of passages.
fn written_terms(terms: &BTreeMap<Term, Posting>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(WRITTEN_TERM * terms.len());
    for (Term(term), held) in terms {
        bytes.extend(term.to_le_bytes());
        bytes.push(held.passages);
    }
    bytes
}

const WRITTEN_TERM: usize = 5;

fn read_written(bytes: &[u8]) -> impl Iterator<Item = (Term, u8)> {
    bytes
        .as_chunks::<WRITTEN_TERM>()
        .0
        .iter()
        .map(|[a, b, c, d, passages]| (Term(u32::from_le_bytes([*a, *b, *c, *d])), *passages))
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
        let before = before.map(|bytes| terms_of(&doc_entry::read(bytes))).unwrap_or_default();
        self.note.execute(params![id, written_terms(&before)])?;
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
    let cache_kib: i64 = db.query_row("PRAGMA cache_size", [], |row| row.get(0))?;
    if cache_kib.abs() < FLUSH_CACHE_KIB {
        db.execute_batch(&format!("PRAGMA cache_size = -{FLUSH_CACHE_KIB}"))?;
    }
    let mut moves = Vec::new();
    let mut query =
        db.prepare("SELECT id, written, bytes FROM pending LEFT JOIN forward_index USING (id)")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let now = row
            .get_ref(2)?
            .as_blob_or_null()?
            .map(|bytes| terms_of(&doc_entry::read(bytes)))
            .unwrap_or_default();
        let before = read_written(row.get_ref(1)?.as_blob()?).map(|(term, _)| term);
        moves.extend(before.filter(|term| !now.contains_key(term)).map(|term| PostingUpdate {
            term,
            id,
            to: None,
        }));
        moves.extend(now.into_iter().map(|(term, held)| PostingUpdate { term, id, to: Some(held) }));
    }
    moves.sort_unstable_by_key(|one| (one.term, one.id));
    let mut read = db.prepare("SELECT memories FROM postings WHERE term_span = ?")?;
    let mut put = db.prepare("REPLACE INTO postings VALUES (?, ?)")?;
    let mut forget = db.prepare("DELETE FROM postings WHERE term_span = ?")?;
    let mut doc_freqs = DocFreqWriter::new(db)?;
    for moves in moves.chunk_by(|a, b| (a.term, a.id / SPAN) == (b.term, b.id / SPAN)) {
        let row = term_span(moves[0].term, moves[0].id / SPAN);
        let before: Option<Vec<u8>> = read.query_row([row], |row| row.get(0)).optional()?;
        let mut memories: BTreeMap<i64, Posting> = unpacked(before.as_deref().unwrap_or_default()).collect();
        let passages_before = passages_in(&memories);
        for PostingUpdate { id, to, .. } in moves {
            match to {
                Some(held) => memories.insert(*id, *held),
                None => memories.remove(id),
            };
        }
        doc_freqs.add(moves[0].term, passages_in(&memories) - passages_before)?;
        let memories: Vec<(i64, Posting)> = memories.into_iter().collect();
        let bytes = packed(&memories);
        if memories.is_empty() {
            forget.execute([row])?;
        } else if before.as_deref() != Some(&bytes) {
            put.execute(params![row, bytes])?;
        }
    }
    doc_freqs.finish()?;
    db.execute("DELETE FROM pending", []).map(drop)
}

fn passages_in(memories: &BTreeMap<i64, Posting>) -> i64 {
    memories.values().map(|held| i64::from(held.passages)).sum()
}

/// Writes the doc frequency of each term, apart from its postings: counting these would mean reading all of them. The
/// spans of a term come one after the other.
struct DocFreqWriter<'d> {
    add: Statement<'d>,
    forget: Statement<'d>,
    open: Option<(Term, i64)>,
}

impl<'d> DocFreqWriter<'d> {
    fn new(db: &'d Connection) -> rusqlite::Result<DocFreqWriter<'d>> {
        let add = "INSERT INTO doc_freqs VALUES (?, ?)
                   ON CONFLICT (term) DO UPDATE SET passages = passages + excluded.passages";
        Ok(DocFreqWriter {
            add: db.prepare(add)?,
            forget: db.prepare("DELETE FROM doc_freqs WHERE term = ? AND passages = 0")?,
            open: None,
        })
    }

    fn add(&mut self, term: Term, passages: i64) -> rusqlite::Result<()> {
        match &mut self.open {
            Some((open, sum)) if *open == term => *sum += passages,
            _ => {
                self.write()?;
                self.open = Some((term, passages));
            }
        }
        Ok(())
    }

    fn write(&mut self) -> rusqlite::Result<()> {
        let Some((Term(term), passages)) = self.open.take().filter(|(_, passages)| *passages != 0) else {
            return Ok(());
        };
        self.add.execute([i64::from(term), passages])?;
        if passages < 0 {
            self.forget.execute([term])?;
        }
        Ok(())
    }

    fn finish(mut self) -> rusqlite::Result<()> {
        self.write()
    }
}

/// The pending memories; their postings on disk are outdated.
pub(super) struct PendingMemories(Vec<PendingMemory>);

struct PendingMemory {
    id: i64,
    written: Vec<(Term, u8)>,
    /// Its forward index entry now; empty if the memory is gone.
    entry: Vec<u8>,
}

impl PendingMemories {
    pub(super) fn read(db: &Connection) -> rusqlite::Result<PendingMemories> {
        let sql = "SELECT id, written, bytes FROM pending LEFT JOIN forward_index USING (id) ORDER BY id";
        let mut query = db.prepare(sql)?;
        let rows = query.query_map([], |row| {
            let written = read_written(row.get_ref(1)?.as_blob()?).collect();
            let entry = row.get::<_, Option<_>>(2)?.unwrap_or_default();
            Ok(PendingMemory { id: row.get(0)?, written, entry })
        })?;
        rows.collect::<rusqlite::Result<_>>().map(PendingMemories)
    }
}

/// Reads postings, with the pending memories merged in.
pub(super) struct Postings<'d> {
    doc_freqs: Statement<'d>,
    rows: Statement<'d>,
    /// In the order of their ids.
    pending: Vec<PendingView<'d>>,
}

struct PendingView<'d> {
    id: i64,
    written: &'d [(Term, u8)],
    doc: DocView<'d>,
}

impl<'d> Postings<'d> {
    pub(super) fn new(db: &'d Connection, pending: &'d PendingMemories) -> rusqlite::Result<Postings<'d>> {
        let view = |memory: &'d PendingMemory| PendingView {
            id: memory.id,
            written: &memory.written,
            doc: doc_entry::read(&memory.entry),
        };
        Ok(Postings {
            doc_freqs: db.prepare("SELECT passages FROM doc_freqs WHERE term = ?")?,
            rows: db.prepare("SELECT memories FROM postings WHERE term_span BETWEEN ? AND ?")?,
            pending: pending.0.iter().map(view).collect(),
        })
    }

    /// The doc frequency of each of these terms: in how many passages it occurs.
    pub(super) fn doc_freqs(&mut self, terms: &[Term]) -> rusqlite::Result<Vec<u64>> {
        // In the order of the table, so that each of its pages is read once.
        let mut sorted: Vec<Term> = terms.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut freqs = Vec::with_capacity(sorted.len());
        for Term(term) in &sorted {
            let written = self.doc_freqs.query_row([term], |row| unsigned(row, 0)).optional()?;
            freqs.push(written.unwrap_or(0));
        }
        let place = |term: Term| sorted.binary_search(&term).ok();
        let mut now = vec![0_u8; sorted.len()];
        for memory in &self.pending {
            for (term, passages) in memory.written {
                if let Some(at) = place(*term) {
                    freqs[at] = freqs[at].saturating_sub(u64::from(*passages));
                }
            }
            for at in memory.doc.passages.iter().flat_map(|passage| passage.terms()).filter_map(place) {
                now[at] = (now[at] + 1).min(PASSAGES_MAX);
            }
            for (freq, now) in freqs.iter_mut().zip(&mut now) {
                *freq += u64::from(std::mem::take(now));
            }
        }
        Ok(terms.iter().map(|term| place(*term).map_or(0, |at| freqs[at])).collect())
    }

    /// Adds the memories that have this term.
    pub(super) fn read(&mut self, term: Term, found: &mut Vec<(i64, Posting)>) -> rusqlite::Result<()> {
        let pending = &self.pending;
        let is_pending = |id: i64| pending.binary_search_by_key(&id, |memory| memory.id).is_ok();
        let mut rows = self.rows.query(spans_of(term))?;
        while let Some(row) = rows.next()? {
            let written = unpacked(row.get_ref(0)?.as_blob()?);
            found.extend(written.filter(|(id, _)| !is_pending(*id)));
        }
        let now =
            pending.iter().filter_map(|memory| Some((memory.id, Posting::in_sheet(&memory.doc, term)?)));
        found.extend(now);
        Ok(())
    }
}

/// Every posting, as a search would read it: a dump does not depend on what is pending.
pub(super) fn all(db: &Connection) -> rusqlite::Result<Vec<(Term, i64, Posting)>> {
    let pending = PendingMemories::read(db)?;
    let mut postings = Postings::new(db, &pending)?;
    let mut query = db.prepare(&format!("SELECT DISTINCT term_span >> {SPAN_BITS} FROM postings"))?;
    let mut terms = query.query_map([], |row| row.get(0).map(Term))?.collect::<rusqlite::Result<Vec<_>>>()?;
    terms.extend(postings.pending.iter().flat_map(|memory| terms_of(&memory.doc).into_keys()));
    terms.sort_unstable();
    terms.dedup();
    let mut all = Vec::new();
    for term in terms {
        let mut found = Vec::new();
        postings.read(term, &mut found)?;
        all.extend(found.into_iter().map(|(id, held)| (term, id, held)));
    }
    Ok(all)
}
