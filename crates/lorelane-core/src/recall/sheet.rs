//! What recall keeps of a memory's text: its passages as terms and directions, in one row of bytes.
//!
//! A question reads the sheets of the memories that may answer it, and of each passage only the terms that it
//! asks for. Nothing is unpacked that is not looked at.

use crate::embed::{Quantised, Table, Vector};
use crate::memory::Memory;
use crate::passage::Passage;
use crate::terms::{Language, Term, each_term};
use std::collections::BTreeMap;

/// The most passages of one memory that are kept apart; what follows them belongs to the last.
pub const PASSAGES_MAX: usize = 4_000;
/// More of one term in a passage says no more.
const COUNT_MAX: u32 = 255;
const HEAD: usize = 4;
const FRAME: usize = 16;
const TERM: usize = 5;

/// One passage, as it goes into a sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    pub lines: (usize, usize),
    pub section: usize,
    pub chars: usize,
    /// Each once, with how often it stands there.
    pub terms: BTreeMap<Term, u32>,
    pub vector: Quantised,
}

/// A memory as it goes into a sheet. The first part is its name: title, tags and the parts of its path.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    pub language: Language,
    pub name: Written,
    pub passages: Vec<Written>,
}

impl Sheet {
    pub fn of(memory: &Memory, passages: &[Passage], table: &Table<'_>) -> Sheet {
        let body: String = passages.iter().map(|passage| passage.text.as_str()).take(20).collect();
        let language = Language::of(&format!("{} {body}", memory.title));
        let name = format!("{}\n{}\n{}", memory.title, memory.tags.join("\n"), memory.address.name());
        let kept = passages.len().min(PASSAGES_MAX);
        let mut written: Vec<Written> = passages[..kept]
            .iter()
            .map(|passage| Written::of(passage, &passage.text, language, table))
            .collect();
        if let Some(last) = written.last_mut().filter(|_| passages.len() > kept) {
            let rest: Vec<&str> = passages[kept - 1..].iter().map(|passage| passage.text.as_str()).collect();
            let (from, to) = (last.lines.0, passages[passages.len() - 1].lines.1);
            *last = Written::of(&passages[kept - 1], &rest.join("\n"), language, table);
            last.lines = (from, to);
        }
        let unplaced = Passage { headings: Vec::new(), section: 0, lines: (0, 0), text: String::new() };
        Sheet { language, name: Written::of(&unplaced, &name, language, table), passages: written }
    }

    /// The direction of the whole memory.
    pub fn vector(&self) -> Vector {
        let vectors: Vec<Vector> =
            std::iter::once(&self.name).chain(&self.passages).map(|part| part.vector.vector()).collect();
        Vector::middle(&vectors)
    }

    /// The name and the passages.
    pub fn parts(&self) -> impl Iterator<Item = &Written> {
        std::iter::once(&self.name).chain(&self.passages)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.language.number(), 0, 0, 0];
        self.parts().for_each(|part| part.append_to(&mut bytes));
        bytes
    }
}

impl Written {
    fn of(passage: &Passage, text: &str, language: Language, table: &Table<'_>) -> Written {
        let mut terms = BTreeMap::new();
        each_term(text, language, &mut |term| *terms.entry(term).or_default() += 1);
        Written {
            lines: passage.lines,
            section: passage.section,
            chars: text.chars().count(),
            terms,
            vector: Quantised::of(&table.vector(text)),
        }
    }

    /// How many terms it has, repetitions included.
    pub fn length(&self) -> u32 {
        self.terms.values().sum()
    }

    /// First line, number of lines, section, characters, length, number of terms; the vector; the terms.
    fn append_to(&self, bytes: &mut Vec<u8>) {
        let (from, to) = self.lines;
        let short = |number: usize| u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes();
        let long = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        bytes.extend(long(from));
        bytes.extend(short(to - from));
        bytes.extend(short(self.section));
        bytes.extend(long(self.chars));
        bytes.extend(short(usize::try_from(self.length()).unwrap_or(usize::MAX)));
        let terms = self.terms.iter().take(usize::from(u16::MAX));
        bytes.extend(short(terms.len()));
        bytes.extend(self.vector.to_bytes());
        for (Term(term), count) in terms {
            bytes.extend(term.to_le_bytes());
            bytes.push(u8::try_from((*count).min(COUNT_MAX)).unwrap_or(u8::MAX));
        }
    }
}

/// A passage as it lies in a sheet.
#[derive(Clone, Copy, Debug)]
pub struct Part<'b> {
    pub lines: (usize, usize),
    pub section: usize,
    pub chars: usize,
    pub length: usize,
    vector: &'b [u8],
    terms: &'b [u8],
}

impl Part<'_> {
    /// How often a term stands here.
    pub fn count(&self, term: Term) -> u32 {
        let (mut from, mut to) = (0, self.terms.len() / TERM);
        while from < to {
            let middle = from.midpoint(to);
            let at = &self.terms[middle * TERM..][..TERM];
            match Term(u32::from_le_bytes([at[0], at[1], at[2], at[3]])).cmp(&term) {
                std::cmp::Ordering::Equal => return u32::from(at[4]),
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        0
    }

    pub fn cosine(&self, asked: &Quantised) -> f32 {
        asked.cosine_with(self.vector).unwrap_or(0.0)
    }

    /// Bytes that this version did not write have no direction.
    pub fn vector(&self) -> Vector {
        Quantised::from_bytes(self.vector).map_or(Vector::ZERO, |small| small.vector())
    }

    pub fn terms(&self) -> impl Iterator<Item = (Term, u32)> {
        self.terms.chunks_exact(TERM).map(|at| {
            (Term(u32::from_le_bytes([at[0], at[1], at[2], at[3]])), u32::from(at[4]))
        })
    }
}

/// Reads a sheet: the name first, then the passages. Foreign bytes give some parts or none.
pub fn parts(bytes: &[u8]) -> impl Iterator<Item = Part<'_>> {
    let mut rest = bytes.get(HEAD..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (frame, after) = rest.split_at_checked(FRAME)?;
        let short = |at: usize| usize::from(u16::from_le_bytes([frame[at], frame[at + 1]]));
        let long = |at: usize| {
            let bytes = [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]];
            usize::try_from(u32::from_le_bytes(bytes)).unwrap_or(usize::MAX)
        };
        let (vector, after) = after.split_at_checked(Quantised::BYTES)?;
        let (terms, after) = after.split_at_checked(short(14) * TERM)?;
        rest = after;
        let lines = (long(0), long(0).saturating_add(short(4)));
        Some(Part { lines, section: short(6), chars: long(8), length: short(12), vector, terms })
    })
}

pub fn language(bytes: &[u8]) -> Language {
    bytes.first().and_then(|number| Language::from_number(*number)).unwrap_or_default()
}
