//! The terms of the memories' passages, and what is kept of each passage for ranking.
//!
//! `words` finds: for a term, the passages that have it, and roughly how much of them it is. `sheets` ranks: all
//! that is known of a memory's passages, in one row. `codes` finds by meaning: one direction per memory in a few
//! bytes, many memories to a row, so that all of them are compared in one walk.

use super::{Index, IndexError, SELECT_ENTRIES, Wanted, directions, entry, unsigned};
use lorelane_core::alike::Shape;
use lorelane_core::corpus::Entry;
use lorelane_core::embed::Vector;
use lorelane_core::path::RelPath;
use lorelane_core::recall::Query;
use lorelane_core::recall::ask::{Asked, AskedTerm};
use lorelane_core::recall::sheet::{self, Sheet, Written};
use lorelane_core::recall::weigh::rarity;
use lorelane_core::terms::{Language, Term, term_of};
use rusqlite::{Connection, OptionalExtension, Statement, params};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Without its own copy of the terms, and without their places: a passage is short, and its sheet counts them.
pub(super) const TABLES: &str = "
    CREATE TABLE sheets (id INTEGER PRIMARY KEY, language INTEGER NOT NULL, bytes BLOB NOT NULL);
    CREATE INDEX sheets_language ON sheets (language);
    CREATE TABLE codes (block INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
    CREATE TABLE totals (passages INTEGER NOT NULL, terms INTEGER NOT NULL);
    INSERT INTO totals VALUES (0, 0);
    CREATE VIRTUAL TABLE words USING fts5(
        terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
    );
    CREATE VIRTUAL TABLE places USING fts5vocab(words, instance);
";
/// Leaves nothing of passages that are gone.
pub(super) const MERGE: &str = "INSERT INTO words (words) VALUES ('optimize')";
pub(super) const EMPTY: &str = "
    DELETE FROM sheets; DELETE FROM codes; UPDATE totals SET passages = 0, terms = 0;
    INSERT INTO words (words) VALUES ('delete-all');
";

/// A passage's number is its memory's number, then its own place in the memory; the name is in place 0.
const PLACE_BITS: u32 = 12;
/// A term that stands in more passages than this ranks, and finds only when no other term does.
const COMMON: usize = 8_000;
/// So many passages of each term are read in any case, and so many of all terms together.
const FEW: usize = 600;
const PLACES_MAX: usize = 24_000;
/// Of a long text's terms no more passages than this are counted, to tell the rare ones.
const ROUGHLY: usize = 100;
/// How many memories are weighed: those whose names are asked for, those that share most of the asked terms, and
/// those that mean most nearly the same.
const BY_NAMES: usize = 20;
const BY_TERMS: usize = 80;
const BY_MEANING: usize = 40;
/// A memory of very many passages counts for several.
const PASSAGES_MAX: usize = 20_000;

/// How much of a passage a term is, in three steps.
const SHARES: [(char, f32); 3] = [('a', 0.35), ('b', 0.55), ('c', 0.8)];

/// A word of a name says as much as one that fills a passage.
const NAMED: usize = 2;

/// How many memories share a row of codes, and how many bytes each has.
const BLOCK: i64 = 256;
const CODE: usize = lorelane_core::embed::DIMENSIONS / 8;
/// More than two directions can differ in.
const NO_CODE: u16 = u16::MAX;

/// What the index knows of a question: the memories that may answer it.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// How many passages there are in all, and how many terms they have together.
    pub passages: u64,
    pub terms: u64,
    /// How many passages have each asked term.
    pub holding: Vec<u64>,
    /// Those that share most first, then those that mean most nearly the same.
    pub memories: Vec<Found>,
}

/// A memory that may answer a question.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its number in this index.
    pub id: i64,
    pub entry: Entry,
    /// What is kept of its passages, see `recall::sheet`.
    pub sheet: Vec<u8>,
    /// The digest of the text that this was taken from.
    pub digest: i64,
}

/// Takes sheets in and out.
pub(super) struct Sheets<'d> {
    read: Statement<'d>,
    put: Statement<'d>,
    forget: Statement<'d>,
    put_words: Statement<'d>,
    forget_words: Statement<'d>,
    forget_directions: Statement<'d>,
    read_code: Statement<'d>,
    put_code: Statement<'d>,
    count: Statement<'d>,
    block: Option<(i64, Vec<u8>)>,
    passages: i64,
    terms: i64,
    line: String,
}

impl<'d> Sheets<'d> {
    pub(super) fn new(db: &'d Connection) -> rusqlite::Result<Sheets<'d>> {
        Ok(Sheets {
            read: db.prepare("SELECT bytes FROM sheets WHERE id = ?")?,
            put: db.prepare("REPLACE INTO sheets VALUES (?, ?, ?)")?,
            forget: db.prepare("DELETE FROM sheets WHERE id = ?")?,
            put_words: db.prepare("INSERT INTO words (rowid, terms) VALUES (?, ?)")?,
            forget_words: db.prepare("DELETE FROM words WHERE rowid = ?")?,
            forget_directions: db.prepare(directions::FORGET)?,
            read_code: db.prepare("SELECT bytes FROM codes WHERE block = ?")?,
            put_code: db.prepare("REPLACE INTO codes VALUES (?, ?)")?,
            count: db.prepare("UPDATE totals SET passages = passages + ?, terms = terms + ?")?,
            block: None,
            passages: 0,
            terms: 0,
            line: String::new(),
        })
    }

    pub(super) fn put(&mut self, id: i64, sheet: &Sheet, fresh: bool) -> rusqlite::Result<()> {
        if !fresh {
            self.forget_terms(id)?;
            self.forget_directions.execute([id])?;
        }
        self.line.clear();
        sheet.name.iter().for_each(|Term(term)| append_term(&mut self.line, *term, NAMED));
        self.put_words.execute(params![passage_number(id, 0), self.line])?;
        for (place, passage) in (1..).zip(&sheet.passages) {
            self.line.clear();
            append_terms(&mut self.line, passage);
            self.put_words.execute(params![passage_number(id, place), self.line])?;
            self.passages += 1;
            self.terms += i64::try_from(passage.length).unwrap_or(0);
        }
        self.put.execute(params![id, sheet.language.number(), sheet.to_bytes()])?;
        self.code(id, &code(&sheet.vector()))
    }

    pub(super) fn forget(&mut self, id: i64) -> rusqlite::Result<()> {
        self.forget_terms(id)?;
        self.forget.execute([id])?;
        self.forget_directions.execute([id])?;
        self.code(id, &[0; CODE])
    }

    fn forget_terms(&mut self, id: i64) -> rusqlite::Result<()> {
        let bytes: Option<Vec<u8>> = self.read.query_row([id], |row| row.get(0)).optional()?;
        let Some(bytes) = bytes else { return Ok(()) };
        self.forget_words.execute([passage_number(id, 0)])?;
        for (place, passage) in (1..).zip(sheet::read(&bytes).passages) {
            self.forget_words.execute([passage_number(id, place)])?;
            self.passages -= 1;
            self.terms -= i64::try_from(passage.length).unwrap_or(0);
        }
        Ok(())
    }

    /// Codes of neighbours are written together.
    fn code(&mut self, id: i64, code: &[u8; CODE]) -> rusqlite::Result<()> {
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

    pub(super) fn finish(mut self) -> rusqlite::Result<()> {
        self.write_block()?;
        if (self.passages, self.terms) != (0, 0) {
            self.count.execute([self.passages, self.terms])?;
        }
        Ok(())
    }
}

fn passage_number(id: i64, place: usize) -> i64 {
    (id << PLACE_BITS) | i64::try_from(place).unwrap_or(0)
}

fn append_terms(line: &mut String, passage: &Written) {
    let length = passage.length as f32;
    for (Term(term), count) in &passage.terms {
        let count = *count as f32;
        let share = count / (count + 0.4 + 0.6 * length / 50.0);
        append_term(line, *term, usize::from(share > 0.45) + usize::from(share > 0.66));
    }
}

fn append_term(line: &mut String, term: u32, step: usize) {
    let _ = write!(line, "{term:08x}{} ", SHARES[step].0);
}

/// The signs of a direction: two that mean nearly the same differ in few of them.
fn code(vector: &Vector) -> [u8; CODE] {
    let mut code = [0; CODE];
    for (at, value) in vector.values().iter().enumerate() {
        if *value > 0.0 {
            code[at / 8] |= 1 << (at % 8);
        }
    }
    code
}

impl Index {
    /// In how many passages each asked term stands, up to a number that is no longer rare.
    pub fn roughly_holding(&self, asked: &Asked) -> Result<Vec<u64>, IndexError> {
        let counts = asked.terms.iter().map(|term| Ok(self.places(term, ROUGHLY)?.found.len()));
        let counts = counts.collect::<rusqlite::Result<Vec<_>>>().map_err(self.fault("search"))?;
        Ok(counts.into_iter().map(|count| u64::try_from(count).unwrap_or(u64::MAX)).collect())
    }

    /// The memories that may answer a question, and what is known of its terms. The query's filters are asked for
    /// one memory after the other, those that share most first, until enough pass: they act inside the search.
    pub fn gather(&self, asked: &Asked, query: &Query) -> Result<Gathered, IndexError> {
        let fault = self.fault("search");
        let _reading = self.reading().map_err(&fault)?;
        self.try_gather(asked, query).map_err(&fault)
    }

    fn try_gather(&self, asked: &Asked, filter: &Query) -> rusqlite::Result<Gathered> {
        let (passages, terms) = self.db.query_row("SELECT passages, terms FROM totals", [], |row| {
            Ok((unsigned(row, 0)?, unsigned(row, 1)?))
        })?;
        let last = self.last_number()?;
        let mut found =
            asked.terms.iter().map(|term| self.places(term, FEW)).collect::<rusqlite::Result<Vec<_>>>()?;
        // What is left to read is shared by the terms that have more.
        let read: usize = found.iter().map(|places| places.found.len()).sum();
        let cut = found.iter().filter(|places| places.is_cut).count();
        let share = PLACES_MAX.saturating_sub(read) / cut.max(1);
        if share >= 3 * FEW {
            for (places, term) in found.iter_mut().zip(&asked.terms).filter(|(places, _)| places.is_cut) {
                *places = self.places(term, share.min(COMMON))?;
            }
        }
        let holding: Vec<u64> = found.iter().map(|places| places.holding(last)).collect();
        let mut shared = Shared::new(last);
        let add = |shared: &mut Shared, cut: bool| {
            for (places, holding) in found.iter().zip(&holding).filter(|(places, _)| places.is_cut == cut) {
                shared.add(places, rarity(passages, *holding));
            }
        };
        add(&mut shared, false);
        if shared.is_empty() {
            add(&mut shared, true);
        }
        let apart = self.apart(&asked.vector, last)?;
        let named =
            self.reaching(filter, BY_NAMES)?.into_iter().map(|(reach, id)| (reach as f32, id)).collect();
        let near = coded(&apart);
        let mut memories = Vec::new();
        let mut met = BTreeSet::new();
        let mut reader = Reader::new(&self.db)?;
        for (candidates, wanted) in [(named, BY_NAMES), (shared.found(), BY_TERMS), (near, BY_MEANING)] {
            let mut left = wanted;
            // Among equals by what they mean, not by when they came: an index made anew answers the same.
            for id in best_first(candidates, wanted, &apart).filter(|id| met.insert(*id)) {
                if left == 0 || reader.passages > PASSAGES_MAX {
                    break;
                }
                if let Some(found) = reader.read(id, filter)? {
                    memories.push(found);
                    left -= 1;
                }
            }
        }
        Ok(Gathered { passages, terms, holding, memories })
    }

    /// The first passages that have a term, those first of which it is most.
    fn places(&self, asked: &AskedTerm, most: usize) -> rusqlite::Result<Places> {
        let mut places = Places::default();
        let mut query = self.db.prepare("SELECT doc FROM places WHERE term = ?")?;
        for (step, share) in SHARES.iter().rev() {
            places.steps += 1;
            for Term(variant) in &asked.variants {
                let mut rows = query.query([format!("{variant:08x}{step}")])?;
                while let Some(row) = rows.next()? {
                    if places.found.len() == most {
                        places.is_cut = true;
                        return Ok(places);
                    }
                    places.found.push((row.get(0)?, *share));
                }
            }
        }
        Ok(places)
    }

    /// The greatest number of a memory.
    fn last_number(&self) -> rusqlite::Result<i64> {
        self.db.query_row("SELECT ifnull(max(id), 0) FROM sheets", [], |row| row.get(0))
    }

    /// For every memory by its number, in how many signs its direction differs from the asked one.
    fn apart(&self, asked: &Vector, last: i64) -> rusqlite::Result<Vec<u16>> {
        let mut apart = vec![NO_CODE; usize::try_from(last).unwrap_or(0) + 1];
        if asked.is_zero() {
            return Ok(apart);
        }
        let asked = words_of(&code(asked));
        let mut query = self.db.prepare("SELECT block, bytes FROM codes")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let first = usize::try_from(row.get::<_, i64>(0)? * BLOCK).unwrap_or(usize::MAX);
            let codes = row.get_ref(1)?.as_blob()?.as_chunks::<CODE>().0.iter().map(words_of);
            for (apart, code) in apart.iter_mut().skip(first).zip(codes) {
                if code != [0; CODE / 8] {
                    let differing = code.iter().zip(&asked).map(|(own, asked)| (own ^ asked).count_ones());
                    *apart = u16::try_from(differing.sum::<u32>()).unwrap_or(NO_CODE);
                }
            }
        }
        Ok(apart)
    }

    /// The direction of the memory in this file; zero without one.
    pub fn direction_of(&self, path: &RelPath) -> Result<Vector, IndexError> {
        let sql = "SELECT bytes FROM sheets JOIN memories USING (id) WHERE path = ?";
        let bytes: Option<Vec<u8>> = self
            .db
            .query_row(sql, [path.as_str()], |row| row.get(0))
            .optional()
            .map_err(self.fault("search"))?;
        Ok(bytes.map_or(Vector::ZERO, |bytes| sheet::read(&bytes).vector()))
    }

    /// Memories whose direction is near to this one, with the cosine, in no order.
    pub fn near(&self, direction: &Vector, filter: &Query) -> Result<Vec<(Entry, f32)>, IndexError> {
        let fault = self.fault("search");
        let _reading = self.reading().map_err(&fault)?;
        let mut reader = Reader::new(&self.db).map_err(&fault)?;
        let mut near = Vec::new();
        let last = self.last_number().map_err(&fault)?;
        let apart = self.apart(direction, last).map_err(&fault)?;
        for id in best_first(coded(&apart), BY_MEANING, &apart).take(4 * BY_MEANING) {
            let found = reader.read(id, filter).map_err(&fault)?;
            near.extend(found.map(|found| {
                let cosine = sheet::read(&found.sheet).vector().cosine(direction);
                (found.entry, cosine)
            }));
        }
        Ok(near)
    }

    /// The memories that a filter admits, as they are compared with each other.
    pub fn shapes(&self, filter: &Query) -> Result<Vec<(Entry, Shape)>, IndexError> {
        let fault = self.fault("search");
        let _reading = self.reading().map_err(&fault)?;
        let entries = self.entries(Wanted::default())?.into_iter().filter(|entry| filter.wants(entry));
        let sql = "SELECT bytes FROM sheets JOIN memories USING (id) WHERE path = ?";
        let mut query = self.db.prepare(sql).map_err(&fault)?;
        let mut shapes = Vec::new();
        for entry in entries {
            let shape = query.query_row([entry.path.as_str()], |row| {
                Ok(Shape::of(&sheet::read(row.get_ref(0)?.as_blob()?)))
            });
            shapes.extend(shape.optional().map_err(&fault)?.map(|shape| (entry, shape)));
        }
        Ok(shapes)
    }

    /// The memories that have a word somewhere in their passages, as far as an English text would have it.
    pub fn having(&self, word: &str) -> Result<Vec<Entry>, IndexError> {
        let fault = self.fault("search");
        let Some(Term(term)) = term_of(word, Language::English) else { return Ok(Vec::new()) };
        let sql = "SELECT DISTINCT doc >> ?3 FROM places WHERE term >= ?1 AND term <= ?2";
        let mut query = self.db.prepare(sql).map_err(&fault)?;
        let ids = query
            .query_map(params![format!("{term:08x}a"), format!("{term:08x}c"), PLACE_BITS], |row| row.get(0))
            .and_then(|rows| rows.collect::<rusqlite::Result<Vec<i64>>>())
            .map_err(&fault)?;
        let mut read = self.db.prepare(&format!("{SELECT_ENTRIES} WHERE id = ?")).map_err(&fault)?;
        let mut entries = Vec::with_capacity(ids.len());
        for id in ids {
            entries.extend(read.query_row([id], |row| Ok(entry(row))).optional().map_err(&fault)?.flatten());
        }
        Ok(entries)
    }

    /// The languages that memories are written in.
    pub fn languages(&self) -> Result<Vec<Language>, IndexError> {
        let fault = self.fault("search");
        let mut query = self.db.prepare("SELECT 1 FROM sheets WHERE language = ? LIMIT 1").map_err(&fault)?;
        let mut known = Vec::new();
        for language in Language::ALL {
            if query.exists([language.number()]).map_err(&fault)? {
                known.push(language);
            }
        }
        Ok(known)
    }

    /// All that search knows, by the memories' paths: the numbers of the memories are this index's own.
    pub(super) fn dump_words(&self) -> rusqlite::Result<Vec<String>> {
        let mut lines = Vec::new();
        let mut path = self.db.prepare("SELECT path FROM memories WHERE id = ?")?;
        let mut path_of = |id: i64| path.query_row([id], |row| row.get::<_, String>(0)).ok();
        let mut query = self.db.prepare("SELECT id, language, hex(bytes) FROM sheets")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (language, bytes): (i64, String) = (row.get(1)?, row.get(2)?);
            lines.push(format!("sheets\t{:?}\t{language}\t{bytes}\n", path_of(row.get(0)?)));
        }
        let mut query = self.db.prepare("SELECT doc, term FROM places")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (passage, term): (i64, String) = (row.get(0)?, row.get(1)?);
            let place = passage & ((1 << PLACE_BITS) - 1);
            lines.push(format!("words\t{:?}\t{place}\t{term}\n", path_of(passage >> PLACE_BITS)));
        }
        let mut query = self.db.prepare("SELECT block, bytes FROM codes")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let block: i64 = row.get(0)?;
            for (at, code) in (0..).zip(row.get_ref(1)?.as_blob()?.as_chunks::<CODE>().0) {
                if *code != [0; CODE] {
                    lines.push(format!("codes\t{:?}\t{code:?}\n", path_of(block * BLOCK + at)));
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

/// Reads memories and their sheets.
struct Reader<'d> {
    entry: Statement<'d>,
    sheet: Statement<'d>,
    /// How many passages were read.
    passages: usize,
}

impl<'d> Reader<'d> {
    fn new(db: &'d Connection) -> rusqlite::Result<Reader<'d>> {
        Ok(Reader {
            entry: db.prepare(&format!("{SELECT_ENTRIES} WHERE id = ?"))?,
            sheet: db.prepare("SELECT bytes, digest FROM sheets JOIN memories USING (id) WHERE id = ?")?,
            passages: 0,
        })
    }

    fn read(&mut self, id: i64, filter: &Query) -> rusqlite::Result<Option<Found>> {
        let read = self.entry.query_row([id], |row| Ok(entry(row))).optional()?;
        let Some(entry) = read.flatten().filter(|entry| filter.wants(entry)) else { return Ok(None) };
        let kept = self.sheet.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let Some((sheet, digest)): Option<(Vec<u8>, i64)> = kept else { return Ok(None) };
        self.passages += sheet::read(&sheet).passages.len();
        Ok(Some(Found { id, entry, sheet, digest }))
    }
}

fn words_of(code: &[u8; CODE]) -> [u64; CODE / 8] {
    let (words, _) = code.as_chunks::<8>();
    std::array::from_fn(|at| u64::from_le_bytes(words[at]))
}

/// The passages that have a term, in order, each with how much of it the term is.
#[derive(Debug, Default)]
struct Places {
    found: Vec<(i64, f32)>,
    /// Whether there are more.
    is_cut: bool,
    /// How many of the steps of `SHARES` were begun.
    steps: i64,
}

impl Places {
    /// How many passages have the term. Of a common one only the first are known; the others are guessed from how
    /// far these reach.
    fn holding(&self, last: i64) -> u64 {
        let known = self.found.iter().filter(|(passage, _)| passage & ((1 << PLACE_BITS) - 1) != 0).count();
        let known = u64::try_from(known).unwrap_or(u64::MAX);
        if !self.is_cut {
            return known;
        }
        let reached = self.found.last().map_or(0, |(passage, _)| passage >> PLACE_BITS).max(1);
        let steps = i64::try_from(SHARES.len()).unwrap_or(1);
        known * u64::try_from(last * steps / (reached * self.steps.max(1))).unwrap_or(1).max(1)
    }
}

/// For every memory the rarity of the asked terms that it has, each as far as it fills a passage.
#[derive(Debug)]
struct Shared {
    points: Vec<f32>,
    of_term: Vec<f32>,
}

impl Shared {
    fn new(last: i64) -> Shared {
        let size = usize::try_from(last).unwrap_or(0) + 1;
        Shared { points: vec![0.0; size], of_term: vec![0.0; size] }
    }

    fn is_empty(&self) -> bool {
        self.points.iter().all(|points| *points == 0.0)
    }

    fn add(&mut self, places: &Places, rarity: f32) {
        let memory_of = |passage: i64| usize::try_from(passage >> PLACE_BITS).ok();
        for (passage, share) in &places.found {
            if let Some(best) = memory_of(*passage).and_then(|memory| self.of_term.get_mut(memory)) {
                *best = best.max(*share);
            }
        }
        for (passage, _) in &places.found {
            if let Some(memory) = memory_of(*passage).filter(|memory| *memory < self.points.len()) {
                self.points[memory] += rarity * std::mem::take(&mut self.of_term[memory]);
            }
        }
    }

    /// The memories that have points.
    fn found(&self) -> Vec<(f32, i64)> {
        (0..)
            .zip(&self.points)
            .filter(|(_, points)| **points > 0.0)
            .map(|(id, points)| (*points, id))
            .collect()
    }
}

/// The memories that have a direction, those that differ least with most points.
fn coded(apart: &[u16]) -> Vec<(f32, i64)> {
    let known = (0..).zip(apart).filter(|(_, apart)| **apart < NO_CODE);
    known.map(|(id, apart)| (-f32::from(*apart), id)).collect()
}

/// The numbers of these memories, those with most points first, among equals those that mean most nearly what is
/// asked. Only the first are put in order; the others when somebody gets so far.
fn best_first(found: Vec<(f32, i64)>, wanted: usize, apart: &[u16]) -> impl Iterator<Item = i64> {
    let key = |id: i64| apart.get(usize::try_from(id).unwrap_or(usize::MAX)).copied().unwrap_or(NO_CODE);
    let mut found: Vec<(f32, u16, i64)> =
        found.into_iter().map(|(points, id)| (points, key(id), id)).collect();
    let order = |a: &(f32, u16, i64), b: &(f32, u16, i64)| {
        b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
    };
    let first = (2 * wanted).min(found.len());
    if first < found.len() {
        found.select_nth_unstable_by(first, order);
    }
    let mut rest = found.split_off(first);
    found.sort_unstable_by(order);
    let rest = std::iter::once_with(move || {
        rest.sort_unstable_by(order);
        rest
    });
    std::iter::once(found).chain(rest).flatten().map(|(_, _, id)| id)
}
