//! The forward index, and the candidates for a query.
//!
//! Postings find by words. Sign sketches (table `sign_sketches`) find by meaning: a few bytes of one embedding per memory,
//! many memories per row, so that all are compared in one scan. The forward index (table `forward_index`) has everything
//! that ranking needs about a memory's passages, in one row.

use super::candidates::{CandidateLimits, CandidateRow, CandidateSet, Candidates};
use super::postings::{self, PendingMemories, PendingPostings, Posting, Postings};
use super::{ENTRY, ENTRY_COLUMNS, Index, IndexError, ListFilter, embeddings, entry, unsigned};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::embed::Vector;
use lorelane_core::near_duplicates::Fingerprint;
use lorelane_core::path::RelPath;
use lorelane_core::recall::Query;
use lorelane_core::recall::doc_entry::{self, DocEntry};
use lorelane_core::recall::query::{AnalyzedQuery, QueryTerm};
use lorelane_core::recall::relevance::SimilaritySum;
use lorelane_core::recall::score::idf;
use lorelane_core::terms::{Language, Term};
use rusqlite::{Connection, OptionalExtension, Statement, params};
use std::collections::BTreeSet;

pub(super) const TABLES: &str = "
    CREATE TABLE forward_index (id INTEGER PRIMARY KEY, language INTEGER NOT NULL, bytes BLOB NOT NULL);
    CREATE INDEX forward_index_language ON forward_index (language);
    CREATE TABLE sign_sketches (block INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
    CREATE TABLE totals (passages INTEGER NOT NULL, terms INTEGER NOT NULL);
    INSERT INTO totals VALUES (0, 0);
";
pub(super) const EMPTY: &str = "
    DELETE FROM forward_index; DELETE FROM sign_sketches; UPDATE totals SET passages = 0, terms = 0;
";

/// A term in more passages than this only ranks; it finds candidates only if no other term does.
const COMMON: u64 = 8_000;
/// How many of the nearest memories [`Index::near`] compares before filters.
const NEAR_MIN: usize = 40;
/// Limit on passages in all: a memory with very many counts for several.
const PASSAGES_MAX: usize = 20_000;

/// Memories per row of sketches, which fits into a page, and bytes per sketch.
const BLOCK: i64 = 250;
const CODE: usize = lorelane_core::embed::DIMENSIONS / 8;
/// How far a memory's embedding is from the query's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hamming {
    /// In how many signs they differ.
    distance: u16,
    /// From the embedding alone: ties are broken by content, not by a file name or by the order of creation.
    tie_break: u32,
}

impl Hamming {
    /// A memory without an embedding is farther than any other.
    const UNKNOWN: Hamming = Hamming { distance: u16::MAX, tie_break: 0 };

    fn of(code: [u64; CODE / 8], asked: [u64; CODE / 8]) -> Hamming {
        let signs: u32 = code.iter().zip(&asked).map(|(own, asked)| (own ^ asked).count_ones()).sum();
        let lot = code.iter().fold(0_u64, |lot, word| (lot ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Hamming { distance: u16::try_from(signs).unwrap_or(u16::MAX), tie_break: (lot >> 32) as u32 }
    }
}

/// Writes and deletes rows of the forward index, with postings and sketches.
pub(super) struct ForwardIndex<'d> {
    read: Statement<'d>,
    put: Statement<'d>,
    forget: Statement<'d>,
    pending: PendingPostings<'d>,
    forget_embeddings: Statement<'d>,
    read_code: Statement<'d>,
    put_code: Statement<'d>,
    add: Statement<'d>,
    block: Option<(i64, Vec<u8>)>,
    passages: i64,
    terms: i64,
}

impl<'d> ForwardIndex<'d> {
    pub(super) fn new(db: &'d Connection) -> rusqlite::Result<ForwardIndex<'d>> {
        Ok(ForwardIndex {
            read: db.prepare("SELECT bytes FROM forward_index WHERE id = ?")?,
            put: db.prepare("REPLACE INTO forward_index VALUES (?, ?, ?)")?,
            forget: db.prepare("DELETE FROM forward_index WHERE id = ?")?,
            pending: PendingPostings::new(db)?,
            forget_embeddings: db.prepare(embeddings::FORGET)?,
            read_code: db.prepare("SELECT bytes FROM sign_sketches WHERE block = ?")?,
            put_code: db.prepare("REPLACE INTO sign_sketches VALUES (?, ?)")?,
            add: db.prepare("UPDATE totals SET passages = passages + ?, terms = terms + ?")?,
            block: None,
            passages: 0,
            terms: 0,
        })
    }

    pub(super) fn put(&mut self, id: i64, doc: &DocEntry, fresh: bool) -> rusqlite::Result<()> {
        let before = if fresh { None } else { self.take_back(id)? };
        self.pending.note(id, before.as_deref())?;
        let bytes = doc.to_bytes();
        self.count(&bytes, 1);
        self.put.execute(params![id, doc.language.number(), bytes])?;
        self.sign_sketch(id, &code(&doc.vector()))
    }

    pub(super) fn forget(&mut self, id: i64) -> rusqlite::Result<()> {
        if let Some(before) = self.take_back(id)? {
            self.pending.note(id, Some(&before))?;
            self.forget.execute([id])?;
        }
        self.sign_sketch(id, &[0; CODE])
    }

    /// Removes a memory from the totals and returns its previous entry.
    fn take_back(&mut self, id: i64) -> rusqlite::Result<Option<Vec<u8>>> {
        self.forget_embeddings.execute([id])?;
        let before: Option<Vec<u8>> = self.read.query_row([id], |row| row.get(0)).optional()?;
        if let Some(before) = &before {
            self.count(before, -1);
        }
        Ok(before)
    }

    fn count(&mut self, bytes: &[u8], sign: i64) {
        for passage in doc_entry::read(bytes).passages {
            self.passages += sign;
            self.terms += sign * i64::try_from(passage.length).unwrap_or(0);
        }
    }

    /// Sketches of neighbouring rows are written together.
    fn sign_sketch(&mut self, id: i64, code: &[u8; CODE]) -> rusqlite::Result<()> {
        let (number, at) = (id / BLOCK, usize::try_from(id % BLOCK).unwrap_or(0) * CODE);
        if self.block.as_ref().is_none_or(|(open, _)| *open != number) {
            self.write_block()?;
            let known: Option<Vec<u8>> = self.read_code.query_row([number], |row| row.get(0)).optional()?;
            self.block = Some((number, known.unwrap_or_default()));
        }
        if let Some((_, bytes)) = &mut self.block {
            if bytes.len() < at + CODE {
                bytes.resize(at + CODE, 0);
            }
            bytes[at..at + CODE].copy_from_slice(code);
        }
        Ok(())
    }

    fn write_block(&mut self) -> rusqlite::Result<()> {
        if let Some((number, bytes)) = self.block.take() {
            self.put_code.execute(params![number, bytes])?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self, more_come: bool) -> rusqlite::Result<()> {
        self.write_block()?;
        if (self.passages, self.terms) != (0, 0) {
            self.add.execute([self.passages, self.terms])?;
        }
        self.pending.finish(more_come)
    }
}

/// The signs of an embedding: similar embeddings differ in few of them.
fn code(vector: &Vector) -> [u8; CODE] {
    let mut code = [0; CODE];
    for (at, value) in vector.values().iter().enumerate() {
        if *value > 0.0 {
            code[at / 8] |= 1 << (at % 8);
        }
    }
    code
}

impl Candidates for Index {
    fn languages(&self) -> Result<Vec<Language>, IndexError> {
        let fault = self.fault("search");
        let mut query =
            self.db.prepare("SELECT 1 FROM forward_index WHERE language = ? LIMIT 1").map_err(&fault)?;
        let mut known = Vec::new();
        for language in Language::ALL {
            if query.exists([language.number()]).map_err(&fault)? {
                known.push(language);
            }
        }
        Ok(known)
    }

    fn doc_freqs(&self, asked: &AnalyzedQuery) -> Result<Vec<u64>, IndexError> {
        let fault = self.fault("search");
        let _reading = self.reading().map_err(&fault)?;
        let pending = PendingMemories::read(&self.db).map_err(&fault)?;
        let mut postings = Postings::new(&self.db, &pending).map_err(&fault)?;
        doc_freqs(&mut postings, &asked.terms).map_err(&fault)
    }

    fn term_freqs(&self, terms: &[Term]) -> Result<Vec<u64>, IndexError> {
        let fault = self.fault("search");
        let _reading = self.reading().map_err(&fault)?;
        let pending = PendingMemories::read(&self.db).map_err(&fault)?;
        let mut postings = Postings::new(&self.db, &pending).map_err(&fault)?;
        postings.doc_freqs(terms).map_err(&fault)
    }

    /// Filters are checked per candidate, best first, until enough pass: filtering afterwards could leave none.
    fn candidates(
        &self,
        asked: &AnalyzedQuery,
        query: &Query,
        limits: CandidateLimits,
    ) -> Result<CandidateSet, IndexError> {
        let fault = self.fault("search");
        let _reading = self.reading().map_err(&fault)?;
        self.try_candidates(asked, query, limits).map_err(&fault)
    }
}

impl Index {
    fn try_candidates(
        &self,
        asked: &AnalyzedQuery,
        filter: &Query,
        CandidateLimits { by_terms, by_meaning, by_names }: CandidateLimits,
    ) -> rusqlite::Result<CandidateSet> {
        let (passages, terms) = self.db.query_row("SELECT passages, terms FROM totals", [], |row| {
            Ok((unsigned(row, 0)?, unsigned(row, 1)?))
        })?;
        let last = self.last_number()?;
        let pending = PendingMemories::read(&self.db)?;
        let mut postings = Postings::new(&self.db, &pending)?;
        let mut shared = IdfSums::new(last);
        let doc_freqs = doc_freqs(&mut postings, &asked.terms)?;
        for most in [COMMON, u64::MAX] {
            let searched = asked.terms.iter().zip(&doc_freqs).filter(|(_, doc_freq)| **doc_freq <= most);
            for (term, doc_freq) in searched {
                shared.add(&posting_list(&mut postings, term)?, term.weight() * idf(passages, *doc_freq));
            }
            if !shared.is_empty() {
                break;
            }
        }
        let apart = if by_meaning == 0 { Vec::new() } else { self.apart(&asked.vector, last)? };
        let named = if by_names == 0 { Vec::new() } else { self.score_upper_bound(filter, by_names)? };
        let named = named
            .into_iter()
            .filter_map(|(id, bound)| Some((bound as f32, u32::try_from(id).ok()?)))
            .collect();
        let mut memories = Vec::new();
        let mut met = BTreeSet::new();
        let mut reader = CandidateReader::new(&self.db)?;
        let arms: [(Box<dyn Iterator<Item = i64> + '_>, usize, bool); 3] = [
            (Box::new(best_first(shared.found(), by_terms, &apart)), by_terms, false),
            (Box::new(nearest_first(&apart, by_meaning)), by_meaning, false),
            (Box::new(best_first(named, by_names, &apart)), by_names, true),
        ];
        for (candidates, wanted, only_named) in arms {
            let mut left = wanted;
            for id in candidates.filter(|id| met.insert(*id)) {
                if left == 0 || reader.passages > PASSAGES_MAX {
                    break;
                }
                if let Some(found) = reader.read(id, filter)? {
                    memories.push(CandidateRow { only_named, ..found });
                    left -= 1;
                }
            }
        }
        Ok(CandidateSet { passages, terms, doc_freqs, similarity: similarity(&apart), memories })
    }

    /// The highest row id.
    pub(super) fn last_number(&self) -> rusqlite::Result<i64> {
        self.db.query_row("SELECT ifnull(max(id), 0) FROM forward_index", [], |row| row.get(0))
    }

    /// The distance of every memory, by row id, from the query's embedding.
    fn apart(&self, asked: &Vector, last: i64) -> rusqlite::Result<Vec<Hamming>> {
        let mut apart = vec![Hamming::UNKNOWN; usize::try_from(last).unwrap_or(0) + 1];
        if asked.is_zero() {
            return Ok(apart);
        }
        let asked = words_of(&code(asked));
        let mut query = self.db.prepare("SELECT block, bytes FROM sign_sketches")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let first = usize::try_from(row.get::<_, i64>(0)? * BLOCK).unwrap_or(usize::MAX);
            let sign_sketches = row.get_ref(1)?.as_blob()?.as_chunks::<CODE>().0.iter().map(words_of);
            for (apart, code) in apart.iter_mut().skip(first).zip(sign_sketches) {
                if code != [0; CODE / 8] {
                    *apart = Hamming::of(code, asked);
                }
            }
        }
        Ok(apart)
    }

    /// The embedding of the memory in this file; zero if it has none.
    pub fn embedding_of(&self, path: &RelPath) -> Result<Vector, IndexError> {
        let sql = "SELECT bytes FROM forward_index JOIN memories USING (id) WHERE path = ?";
        let bytes: Option<Vec<u8>> = self
            .db
            .query_row(sql, [path.as_str()], |row| row.get(0))
            .optional()
            .map_err(self.fault("search"))?;
        Ok(bytes.map_or(Vector::ZERO, |bytes| doc_entry::read(&bytes).vector()))
    }

    /// Memories with an embedding near this one, with the cosine, unordered.
    pub fn near(&self, direction: &Vector, filter: &Query) -> Result<Vec<(MemorySummary, f32)>, IndexError> {
        let fault = self.fault("search");
        let _reading = self.reading().map_err(&fault)?;
        let mut reader = CandidateReader::new(&self.db).map_err(&fault)?;
        let mut near = Vec::new();
        let last = self.last_number().map_err(&fault)?;
        let apart = self.apart(direction, last).map_err(&fault)?;
        for id in nearest_first(&apart, NEAR_MIN).take(4 * NEAR_MIN) {
            let found = reader.read(id, filter).map_err(&fault)?;
            near.extend(found.map(|found| {
                let cosine = doc_entry::read(&found.doc).vector().cosine(direction);
                (found.entry, cosine)
            }));
        }
        Ok(near)
    }

    /// The few memories with the nearest embeddings, with their fingerprints. Reads as many rows, and one sketch per
    /// memory: a write can afford that.
    pub fn nearest(
        &self,
        direction: &Vector,
        filter: &Query,
        most: usize,
    ) -> Result<Vec<(MemorySummary, Fingerprint)>, IndexError> {
        let fault = self.fault("search");
        let _reading = self.reading().map_err(&fault)?;
        let mut reader = CandidateReader::new(&self.db).map_err(&fault)?;
        let last = self.last_number().map_err(&fault)?;
        let apart = self.apart(direction, last).map_err(&fault)?;
        let mut nearest = Vec::new();
        for id in nearest_first(&apart, most).take(most) {
            let found = reader.read(id, filter).map_err(&fault)?;
            nearest.extend(found.map(|found| (found.entry, Fingerprint::of(&doc_entry::read(&found.doc)))));
        }
        Ok(nearest)
    }

    /// The memories that a filter admits, with the fingerprints that duplicates are found by.
    pub fn shapes(&self, filter: &Query) -> Result<Vec<(MemorySummary, Fingerprint)>, IndexError> {
        let fault = self.fault("search");
        let _reading = self.reading().map_err(&fault)?;
        let entries = self.entries(ListFilter::default())?.into_iter().filter(|entry| filter.wants(entry));
        let sql = "SELECT bytes FROM forward_index JOIN memories USING (id) WHERE path = ?";
        let mut query = self.db.prepare(sql).map_err(&fault)?;
        let mut shapes = Vec::new();
        for entry in entries {
            let shape = query.query_row([entry.path.as_str()], |row| {
                Ok(Fingerprint::of(&doc_entry::read(row.get_ref(0)?.as_blob()?)))
            });
            shapes.extend(shape.optional().map_err(&fault)?.map(|shape| (entry, shape)));
        }
        Ok(shapes)
    }

    /// The search tables as text, by path: row ids differ between indexes.
    pub(super) fn dump_words(&self) -> rusqlite::Result<Vec<String>> {
        let mut lines = Vec::new();
        let mut path = self.db.prepare("SELECT path FROM memories WHERE id = ?")?;
        let mut path_of = |id: i64| path.query_row([id], |row| row.get::<_, String>(0)).ok();
        let mut query = self.db.prepare("SELECT id, language, hex(bytes) FROM forward_index")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (language, bytes): (i64, String) = (row.get(1)?, row.get(2)?);
            lines.push(format!("forward_index\t{:?}\t{language}\t{bytes}\n", path_of(row.get(0)?)));
        }
        let all = postings::all(&self.db)?;
        for (term, id, held) in &all {
            lines.push(format!("postings\t{:?}\t{term:?}\t{held:?}\n", path_of(*id)));
        }
        let pending = PendingMemories::read(&self.db)?;
        let terms: Vec<Term> = all.iter().map(|(term, ..)| *term).collect();
        for (term, freq) in terms.iter().zip(Postings::new(&self.db, &pending)?.doc_freqs(&terms)?) {
            lines.push(format!("doc_freqs\t{term:?}\t{freq}\n"));
        }
        let mut query = self.db.prepare("SELECT block, bytes FROM sign_sketches")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let block: i64 = row.get(0)?;
            for (at, code) in (0..).zip(row.get_ref(1)?.as_blob()?.as_chunks::<CODE>().0) {
                if *code != [0; CODE] {
                    lines.push(format!("sign_sketches\t{:?}\t{code:?}\n", path_of(block * BLOCK + at)));
                }
            }
        }
        let totals = self.db.query_row("SELECT passages, terms FROM totals", [], |row| {
            Ok(format!("totals\t{}\t{}\n", row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        })?;
        lines.push(totals);
        lines.sort_unstable();
        Ok(lines)
    }
}

/// Reads candidates with their forward index entries.
struct CandidateReader<'d> {
    memory: Statement<'d>,
    /// Passages read so far.
    passages: usize,
}

impl<'d> CandidateReader<'d> {
    fn new(db: &'d Connection) -> rusqlite::Result<CandidateReader<'d>> {
        let sql =
            format!("SELECT {ENTRY}, bytes, digest FROM memories JOIN forward_index USING (id) WHERE id = ?");
        Ok(CandidateReader { memory: db.prepare(&sql)?, passages: 0 })
    }

    fn read(&mut self, id: i64, filter: &Query) -> rusqlite::Result<Option<CandidateRow>> {
        let mut rows = self.memory.query([id])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let Some(entry) = entry(row).filter(|entry| filter.wants(entry)) else { return Ok(None) };
        let doc: Vec<u8> = row.get(ENTRY_COLUMNS)?;
        self.passages += doc_entry::read(&doc).passages.len();
        Ok(Some(CandidateRow { id, entry, doc, digest: row.get(ENTRY_COLUMNS + 1)?, only_named: false }))
    }
}

/// How similar the memories at these distances are, those without an embedding aside.
fn similarity(apart: &[Hamming]) -> SimilaritySum {
    SimilaritySum::from_distances(&distance_counts(apart))
}

/// How many memories are at each distance.
fn distance_counts(apart: &[Hamming]) -> [usize; 8 * CODE + 1] {
    let mut counts = [0; 8 * CODE + 1];
    let known =
        apart.iter().map(|apart| usize::from(apart.distance)).filter(|distance| *distance <= 8 * CODE);
    known.for_each(|distance| counts[distance] += 1);
    counts
}

fn words_of(code: &[u8; CODE]) -> [u64; CODE / 8] {
    let (words, _) = code.as_chunks::<8>();
    std::array::from_fn(|at| u64::from_le_bytes(words[at]))
}

/// In how many passages each query term occurs, in any language.
fn doc_freqs(postings: &mut Postings<'_>, asked: &[QueryTerm]) -> rusqlite::Result<Vec<u64>> {
    let variants: Vec<Term> = asked.iter().flat_map(|term| term.variants.iter().copied()).collect();
    let mut freqs = postings.doc_freqs(&variants)?.into_iter();
    Ok(asked.iter().map(|term| freqs.by_ref().take(term.variants.len()).sum()).collect())
}

/// The memories that have a query term, in any language.
fn posting_list(postings: &mut Postings<'_>, asked: &QueryTerm) -> rusqlite::Result<Vec<(i64, Posting)>> {
    let mut found = Vec::new();
    asked.variants.iter().try_for_each(|variant| postings.read(*variant, &mut found))?;
    Ok(found)
}

/// For every memory the sum of the idf of its query terms, each weighted by how much of a passage it is.
#[derive(Debug)]
struct IdfSums {
    points: Vec<f32>,
    of_term: Vec<f32>,
}

impl IdfSums {
    fn new(last: i64) -> IdfSums {
        let size = usize::try_from(last).unwrap_or(0) + 1;
        IdfSums { points: vec![0.0; size], of_term: vec![0.0; size] }
    }

    fn is_empty(&self) -> bool {
        self.points.iter().all(|points| *points == 0.0)
    }

    fn add(&mut self, found: &[(i64, Posting)], idf: f32) {
        for (memory, held) in found {
            if let Some(best) = usize::try_from(*memory).ok().and_then(|memory| self.of_term.get_mut(memory))
            {
                *best = best.max(held.much.share());
            }
        }
        for (memory, _) in found {
            if let Some(memory) = usize::try_from(*memory).ok().filter(|memory| *memory < self.points.len()) {
                self.points[memory] += idf * std::mem::take(&mut self.of_term[memory]);
            }
        }
    }

    /// The memories with a score above zero.
    fn found(&self) -> Vec<(f32, u32)> {
        (0..)
            .zip(&self.points)
            .filter(|(_, points)| **points > 0.0)
            .map(|(id, points)| (*points, id))
            .collect()
    }
}

/// Row ids by distance, nearest first. Only the first are sorted, found by a counting pass: there may be very
/// many. The rest is sorted if somebody gets that far.
fn nearest_first(apart: &[Hamming], wanted: usize) -> impl Iterator<Item = i64> {
    let known = move || (0..).zip(apart).filter(|(_, apart)| apart.distance != Hamming::UNKNOWN.distance);
    let counts = distance_counts(apart);
    let mut left = 2 * wanted;
    let is_enough = |count: &usize| {
        left = left.saturating_sub(*count);
        left == 0
    };
    let last = counts.iter().position(is_enough).unwrap_or(8 * CODE);
    let ordered = move |first: bool| {
        let near = known().filter(|(_, apart)| (usize::from(apart.distance) <= last) == first);
        let mut near: Vec<(Hamming, i64)> = near.map(|(id, apart)| (*apart, id)).collect();
        near.sort_unstable();
        near.into_iter().map(|(_, id)| id)
    };
    ordered(true).chain(std::iter::once_with(move || ordered(false)).flatten())
}

/// Row ids by score, highest first, ties by distance to the query's embedding. Only the first are sorted; the rest
/// if somebody gets that far.
fn best_first(mut found: Vec<(f32, u32)>, wanted: usize, apart: &[Hamming]) -> impl Iterator<Item = i64> {
    let distance = |id: u32| apart.get(id as usize).copied().unwrap_or(Hamming::UNKNOWN);
    let order = move |a: &(f32, u32), b: &(f32, u32)| {
        b.0.total_cmp(&a.0).then_with(|| (distance(a.1), a.1).cmp(&(distance(b.1), b.1)))
    };
    let first = (2 * wanted).min(found.len());
    if first < found.len() {
        found.select_nth_unstable_by(first, order);
    }
    found[..first].sort_unstable_by(order);
    let mut next = 0;
    std::iter::from_fn(move || {
        if next == first {
            found[first..].sort_unstable_by(order);
        }
        next += 1;
        found.get(next - 1).map(|(_, id)| i64::from(*id))
    })
}
