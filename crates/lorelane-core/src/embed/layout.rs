//! The file format of the table: written once by `xtask distil`, read in place by every process.
//!
//! ```text
//! magic (8) | pieces u32 | slots u32 | text bytes u32
//! slots     u16 each: 0 is empty, else the piece's number + 1; found by hash, then the next slots
//! ends      u32 each: where the piece's text ends
//! text      the pieces one after another, `##` before those that continue a word
//! scales    f32 each
//! rows      128 bytes each: dimension i in the low half of byte i, dimension 128 + i in the high half
//! ```
//!
//! A half byte of 0 to 15 encodes -8 to 7: half the size of eight bits and hardly less exact, because the rows
//! are rotated until no column is stronger than another. All numbers are little-endian. The vocabulary is a hash
//! table in the file, because a process that makes one query must not build a map of 28,000 words first.

use std::fmt;

use super::DIMENSIONS;
use super::pieces::{MAX_PIECE_CHARS, WordPiece, each_piece};
use super::vector::Vector;

const MAGIC: &[u8; 8] = b"lorevec1";
const HEAD: usize = 20;
const ROW: usize = DIMENSIONS / 2;
/// Steps to each side of zero; 7 on both, so that a row and its negative are equally exact.
const STEPS: f32 = 7.0;

/// Why bytes are not a valid table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadTable(&'static str);

/// A vocabulary with a vector for each piece, read in place.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    slots: &'a [[u8; 2]],
    ends: &'a [[u8; 4]],
    text: &'a [u8],
    scales: &'a [[u8; 4]],
    rows: &'a [[u8; ROW]],
}

impl fmt::Debug for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("pieces", &self.rows.len()).finish_non_exhaustive()
    }
}

impl<'a> Table<'a> {
    /// Checks only the header and the length. Any other damage gives a wrong vector, never a panic.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Table<'a>, BadTable> {
        let head = bytes.get(..HEAD).ok_or(BadTable("the file is shorter than its header"))?;
        if !head.starts_with(MAGIC) {
            return Err(BadTable("the file does not start with the magic bytes of a vector table"));
        }
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
        let (count, slots, text) = (number(8), number(12), number(16));
        // More pieces than slots would leave no empty slot to end a lookup.
        if !slots.is_power_of_two() || slots <= count || slots > 1 << 16 {
            return Err(BadTable("the number of slots does not fit the number of pieces"));
        }
        let mut rest = ByteReader(&bytes[HEAD..]);
        let table = Table {
            slots: rest.cells(slots)?,
            ends: rest.cells(count)?,
            text: rest.bytes(text)?,
            scales: rest.cells(count)?,
            rows: rest.cells(count)?,
        };
        if rest.0.is_empty() { Ok(table) } else { Err(BadTable("the file is longer than its header says")) }
    }

    /// The number of pieces.
    pub fn pieces(&self) -> usize {
        self.rows.len()
    }

    /// The index of a piece, if the table has it.
    pub fn find(&self, piece: WordPiece<'_>) -> Option<usize> {
        self.find_at(piece.text().bytes().fold(Hash::of(piece), Hash::with), piece)
    }

    /// The longest piece at the start of the rest of a word: its end and its index. The hash of a prefix is
    /// reused for every longer one.
    fn longest(&self, rest: WordPiece<'_>) -> Option<(usize, usize)> {
        let mut hashes = [(0, Hash::of(rest)); MAX_PIECE_CHARS];
        let (mut from, mut hash, mut count) = (0, Hash::of(rest), 0);
        for (end, kept) in rest.ends().zip(&mut hashes) {
            hash = rest.text().as_bytes()[from..end].iter().copied().fold(hash, Hash::with);
            *kept = (end, hash);
            from = end;
            count += 1;
        }
        let longest_first = hashes[..count].iter().rev();
        longest_first.copied().find_map(|(end, hash)| Some((end, self.find_at(hash, rest.up_to(end))?)))
    }

    fn find_at(&self, hash: Hash, piece: WordPiece<'_>) -> Option<usize> {
        let mut slot = hash.slot();
        for _ in 0..self.slots.len() {
            slot &= self.slots.len() - 1;
            let number = usize::from(u16::from_le_bytes(self.slots[slot])).checked_sub(1)?;
            if self.is(number, piece) {
                return Some(number);
            }
            slot += 1;
        }
        None
    }

    /// The known pieces of a text, as the vocabulary writes them.
    pub fn pieces_of(&self, text: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        each_piece(
            text,
            |rest| self.longest(rest),
            |number| {
                pieces.push(match self.piece(number) {
                    Some(WordPiece::Rest(rest)) => format!("##{rest}"),
                    Some(WordPiece::Start(start)) => start.to_owned(),
                    None => String::new(),
                });
            },
        );
        pieces
    }

    /// The embedding of a text. A text without a known piece has the zero vector ([`Vector::is_zero`]), which is
    /// similar to nothing.
    pub fn vector(&self, text: &str) -> Vector {
        let mut numbers = Vec::new();
        each_piece(&humps_apart(text), |rest| self.longest(rest), |number| numbers.push(number));
        numbers.sort_unstable();
        let mut sum = [0.0; DIMENSIONS];
        for same in numbers.chunk_by(|a, b| a == b) {
            // A repeated word adds less each time.
            self.add(same[0], (same.len() as f32).sqrt(), &mut sum);
        }
        Vector::pointing(sum)
    }

    /// The vector of a word that is one piece, not normalized: a word that says little is short.
    pub fn word(&self, word: &str) -> Option<[f32; DIMENSIONS]> {
        let mut row = [0.0; DIMENSIONS];
        self.add(self.find(WordPiece::Start(word))?, 1.0, &mut row);
        Some(row)
    }

    fn add(&self, number: usize, weight: f32, sum: &mut [f32; DIMENSIONS]) {
        let scale = weight * f32::from_le_bytes(self.scales[number]);
        let (low, high) = sum.split_at_mut(ROW);
        for ((packed, low), high) in self.rows[number].iter().zip(low).zip(high) {
            *low += scale * f32::from((packed & 15) as i8 - 8);
            *high += scale * f32::from((packed >> 4) as i8 - 8);
        }
    }

    fn piece(&self, number: usize) -> Option<WordPiece<'a>> {
        std::str::from_utf8(self.line(number)?).ok().map(WordPiece::from_line)
    }

    /// Compares bytes without decoding them: nearly every lookup meets another piece.
    fn is(&self, number: usize, piece: WordPiece<'_>) -> bool {
        let Some(line) = self.line(number) else { return false };
        let rest = line.strip_prefix(b"##").filter(|rest| !rest.is_empty());
        match piece {
            WordPiece::Start(text) => rest.is_none() && line == text.as_bytes(),
            WordPiece::Rest(text) => rest == Some(text.as_bytes()),
        }
    }

    fn line(&self, number: usize) -> Option<&'a [u8]> {
        let end = |at: usize| self.ends.get(at).map(|end| u32::from_le_bytes(*end) as usize);
        let start = number.checked_sub(1).map_or(Some(0), end)?;
        self.text.get(start..end(number)?)
    }
}

/// Splits `camelCase` into words, because a sentence model knows only the words.
fn humps_apart(text: &str) -> std::borrow::Cow<'_, str> {
    let hump = |pair: &[u8]| {
        (pair[0].is_ascii_lowercase() || pair[0].is_ascii_digit()) && pair[1].is_ascii_uppercase()
    };
    if !text.as_bytes().windows(2).any(hump) {
        return text.into();
    }
    let mut apart = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for c in text.chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            apart.push(' ');
        }
        apart.push(c);
        before = c;
    }
    apart.into()
}

/// An entry for [`pack`]: a line of the vocabulary and its vector.
#[derive(Clone, Debug)]
pub struct VocabularyEntry<'a> {
    pub line: &'a str,
    pub row: [f32; DIMENSIONS],
}

/// Encodes a table. The pieces must be distinct and fewer than 2^16.
pub fn pack(entries: &[VocabularyEntry<'_>]) -> Vec<u8> {
    let slots = slots(entries);
    let lines = || entries.iter().map(|entry| entry.line);
    let text: usize = lines().map(str::len).sum();
    let mut bytes = MAGIC.to_vec();
    for number in [entries.len(), slots.len(), text] {
        bytes.extend((number as u32).to_le_bytes());
    }
    bytes.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
    let mut end = 0;
    for line in lines() {
        end += line.len() as u32;
        bytes.extend(end.to_le_bytes());
    }
    lines().for_each(|line| bytes.extend(line.as_bytes()));
    let packed: Vec<(f32, [u8; ROW])> = entries.iter().map(|entry| packed(&entry.row)).collect();
    packed.iter().for_each(|(scale, _)| bytes.extend(scale.to_le_bytes()));
    packed.iter().for_each(|(_, row)| bytes.extend(row));
    bytes
}

/// At least twice as many slots as pieces, so that half of all failing lookups end at the first slot.
fn slots(entries: &[VocabularyEntry<'_>]) -> Vec<u16> {
    let mut slots = vec![0; (entries.len() * 2 + 1).next_power_of_two()];
    for (number, entry) in entries.iter().enumerate() {
        let piece = WordPiece::from_line(entry.line);
        let mut slot = piece.text().bytes().fold(Hash::of(piece), Hash::with).slot() & (slots.len() - 1);
        while slots[slot] != 0 {
            slot = (slot + 1) & (slots.len() - 1);
        }
        slots[slot] = number as u16 + 1;
    }
    slots
}

fn packed(row: &[f32; DIMENSIONS]) -> (f32, [u8; ROW]) {
    let largest = row.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return (0.0, [0x88; ROW]);
    }
    let scale = largest / STEPS;
    let half = |value: f32| ((value / scale).round().clamp(-STEPS, STEPS) as i8 + 8) as u8;
    (scale, std::array::from_fn(|at| half(row[at]) | half(row[ROW + at]) << 4))
}

/// FNV-1a: the keys are short, and nothing stronger is needed.
#[derive(Clone, Copy)]
struct Hash(u32);

impl Hash {
    /// The hash of an empty prefix.
    fn of(piece: WordPiece<'_>) -> Hash {
        match piece {
            WordPiece::Start(_) => Hash(0x811c_9dc5),
            WordPiece::Rest(_) => Hash(0x811c_9dc4),
        }
    }

    fn with(self, byte: u8) -> Hash {
        Hash((self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    /// Only the low bits choose the slot, so the high ones are mixed in.
    fn slot(self) -> usize {
        (self.0 ^ (self.0 >> 15)) as usize
    }
}

/// Reads fields from the front.
struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn bytes(&mut self, length: usize) -> Result<&'a [u8], BadTable> {
        let (taken, rest) =
            self.0.split_at_checked(length).ok_or(BadTable("the file is shorter than its header says"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn cells<const N: usize>(&mut self, count: usize) -> Result<&'a [[u8; N]], BadTable> {
        let length = count.checked_mul(N).ok_or(BadTable("the header has impossible lengths"))?;
        Ok(self.bytes(length)?.as_chunks().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(at: usize, value: f32) -> [f32; DIMENSIONS] {
        let mut row = [0.0; DIMENSIONS];
        row[at] = value;
        row
    }

    fn small() -> Vec<u8> {
        let entry = |line, at, value| VocabularyEntry { line, row: row(at, value) };
        pack(&[
            entry("cache", 0, 1.0),
            entry("##s", 130, 0.5),
            entry("s", 255, -2.0),
            entry("é", 3, 1.0),
            entry("nothing", 0, 0.0),
        ])
    }

    #[test]
    fn what_was_packed_is_found() {
        let bytes = small();
        let table = Table::from_bytes(&bytes).unwrap();
        assert_eq!(table.pieces(), 5);
        assert_eq!(table.find(WordPiece::Rest("s")), Some(1));
        assert_eq!(table.find(WordPiece::Start("s")), Some(2));
        assert_eq!(table.find(WordPiece::Rest("cache")), None);
        assert_eq!(table.pieces_of("Caches? S."), ["cache", "##s", "s"]);
    }

    #[test]
    fn no_piece_is_longer_than_those_that_are_looked_for() {
        let table = Table::built_in();
        let pieces = (0..table.pieces()).filter_map(|number| table.piece(number));
        let longest = pieces.map(|piece| piece.text().chars().count()).max();
        assert!(longest.is_some_and(|longest| longest <= MAX_PIECE_CHARS), "{longest:?}");
    }

    #[test]
    fn a_text_is_the_sum_of_its_pieces() {
        let bytes = small();
        let table = Table::from_bytes(&bytes).unwrap();
        let sum = table.vector("Caches");
        let expected = 1.0 / 1.25f32.sqrt();
        assert!((sum.0[0] - expected).abs() < 1e-6 && (sum.0[130] - expected / 2.0).abs() < 1e-6, "{sum:?}");
        assert_eq!(table.vector("s").0[255], -1.0);
        for nothing in ["", " ", "unheard of", "nothing", "\u{0}"] {
            assert!(table.vector(nothing).is_zero(), "{nothing:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_table_are_refused() {
        let good = small();
        let changed = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            bytes
        };
        for (bytes, why) in [
            (vec![], "the file is shorter than its header"),
            (changed(0, b'L'), "the file does not start with the magic bytes of a vector table"),
            (changed(8, 200), "the number of slots does not fit the number of pieces"),
            (changed(12, 15), "the number of slots does not fit the number of pieces"),
            (good[..good.len() - 1].to_vec(), "the file is shorter than its header says"),
            ([good.clone(), vec![0]].concat(), "the file is longer than its header says"),
        ] {
            assert_eq!(Table::from_bytes(&bytes).unwrap_err().to_string(), why);
        }
    }

    proptest! {
        #[test]
        fn a_damaged_table_never_panics(at in 0usize..1000, byte: u8, text in "(caches|s|é|[ -~]){0,9}") {
            let mut bytes = small();
            let length = bytes.len();
            bytes[at % length] = byte;
            if let Ok(table) = Table::from_bytes(&bytes) {
                table.vector(&text);
                table.pieces_of(&text);
            }
        }
    }
}
