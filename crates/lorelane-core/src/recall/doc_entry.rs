//! The forward index of a memory: its passages as terms and embeddings, in one blob.
//!
//! A query reads the doc entries of its candidates, and of each passage only the query terms. Nothing is decoded
//! that is not needed.

use crate::embed::{QuantizedVector, Table, Vector};
use crate::memory::{Memory, MemoryKind};
use crate::passage::Passage;
use crate::terms::{Language, Term, each_term, terms};
use std::collections::BTreeMap;

/// Further passages of a memory are joined to the last one.
const PASSAGES_MAX: usize = 4_000;
/// A higher term frequency in one passage says nothing more, and the count shares a byte with two flags.
const COUNT_MAX: u8 = 63;
/// Flags in a term's count: the term occurs in the passage's label, or in the memory's title or tags.
const IN_LABEL: u8 = 0x80;
const IN_NAME: u8 = 0x40;
const HEAD: usize = 8;
const FRAME: usize = 20;
const TERM: usize = 5;
const NO_CONFIDENCE: u8 = u8::MAX;
/// Only this much of a text gets embeddings; the rest is found by its words. Otherwise a file of checksums would
/// cost a hook its deadline at every prompt.
const MEANING_MAX_BYTES: usize = 512 << 10;
/// How many words of the first line count as a title, and how many of a passage as its lead.
const TITLE_WORDS: usize = 20;
const LEAD_WORDS: usize = 25;
/// The longest speaker label at the start of a passage, in words.
const LABEL_WORDS: usize = 3;

/// The boost of title and lead. The default is what ships; other values are for measuring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldBoost {
    /// How often each term of the first line, and each title or tag term that the first passage lacks, is added
    /// to it.
    pub title: u32,
    /// The weight of a passage's lead in its embedding, relative to the whole.
    pub lead: f32,
}

impl Default for FieldBoost {
    fn default() -> FieldBoost {
        FieldBoost { title: 1, lead: 0.5 }
    }
}

/// A passage before it is encoded.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageEntry {
    lines: (usize, usize),
    section: usize,
    /// Its number of terms, repetitions included.
    pub length: usize,
    /// The term frequencies.
    terms: BTreeMap<Term, u32>,
    label: Vec<Term>,
    vector: Vector,
}

/// The doc entry of a memory before it is encoded.
#[derive(Clone, Debug, PartialEq)]
pub struct DocEntry {
    pub language: Language,
    confidence: Option<f64>,
    /// The terms of title and tags, all of which the first passage has.
    name: Vec<Term>,
    pub passages: Vec<PassageEntry>,
}

impl DocEntry {
    pub fn of(memory: &Memory, passages: &[Passage], table: &Table<'_>, emphasis: FieldBoost) -> DocEntry {
        let body: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).take(20).collect();
        let title = own_title(memory);
        let language = Language::of(&format!("{title}\n{}", body.join("\n")));
        let mut name = terms(&format!("{title}\n{}", memory.tags.join("\n")), language);
        name.sort_unstable();
        name.dedup();
        let mut bytes = 0;
        let mut written: Vec<PassageEntry> = gathered(passages)
            .iter()
            .map(|passage| {
                bytes += passage.text.len();
                let table = Some(table).filter(|_| bytes <= MEANING_MAX_BYTES);
                PassageEntry::of(passage, language, table, emphasis)
            })
            .collect();
        if written.is_empty() && !name.is_empty() {
            // A memory without a body is found by its title.
            let text = memory.title.clone();
            let only = Passage { headings: Vec::new(), section: 0, lines: (1, 1), text };
            written.push(PassageEntry::of(&only, language, Some(table), emphasis));
        }
        if let (Some(first), Some(passage)) = (written.first_mut(), passages.first())
            && !matches!(memory.kind, MemoryKind::Note(_))
        {
            // A note's title is a heading of its first passage, but any other is no part of the content.
            first.vector = table.vector(&format!("{title}\n{}", passage.text));
        }
        if let Some(first) = written.first_mut() {
            let mut named =
                passages.first().map(|text| terms(&first_line(text), language)).unwrap_or_default();
            named.extend(name.iter().filter(|term| !first.terms.contains_key(term)));
            named.into_iter().for_each(|term| *first.terms.entry(term).or_default() += emphasis.title);
        }
        DocEntry { language, confidence: memory.confidence, name, passages: written }
    }

    /// The embedding of the whole memory.
    pub fn vector(&self) -> Vector {
        Vector::middle(self.passages.iter().map(|passage| &passage.vector))
    }

    /// Encodes language, confidence and the norm of the summed embeddings, then the passages.
    pub fn to_bytes(&self) -> Vec<u8> {
        let confidence = self.confidence.map_or(NO_CONFIDENCE, |share| (share.clamp(0.0, 1.0) * 100.0) as u8);
        let mut bytes = vec![self.language.number(), confidence, 0, 0];
        let reach = |passages: &[PassageEntry]| reach(passages.iter().map(|passage| &passage.vector));
        bytes.extend(reach(&self.passages).to_le_bytes());
        let mut at = 0_usize;
        for section in self.passages.chunk_by(|one, other| one.section == other.section) {
            let in_section = reach(section);
            for passage in section {
                let window = &self.passages[at.saturating_sub(1)..(at + 2).min(self.passages.len())];
                let name = if at == 0 { self.name.as_slice() } else { &[] };
                passage.append_to(&mut bytes, reach(window), in_section, name);
                at += 1;
            }
        }
        bytes
    }
}

/// The norm of a sum of embeddings. With it, the cosine with their mean follows from their own cosines.
fn reach<'a>(vectors: impl Iterator<Item = &'a Vector>) -> f32 {
    let mut sum = [0.0_f32; crate::embed::DIMENSIONS];
    for vector in vectors {
        sum.iter_mut().zip(vector.values()).for_each(|(sum, value)| *sum += value);
    }
    sum.iter().map(|value| value * value).sum::<f32>().sqrt()
}

/// The title, or nothing if it is only the file name: renaming a file must not change a score.
fn own_title(memory: &Memory) -> &str {
    let file = memory.address.name().rsplit('/').next().unwrap_or_default();
    let from_file = !matches!(memory.kind, MemoryKind::Record(_)) && memory.title == file;
    if from_file { "" } else { &memory.title }
}

/// The texts of the first passages of a memory's doc entry, in order.
pub fn texts(memory: &Memory, passages: &[Passage], most: usize) -> Vec<String> {
    let mut texts: Vec<String> =
        gathered(passages).into_iter().take(most).map(|passage| passage.text).collect();
    if texts.is_empty() {
        texts.push(memory.title.clone());
    }
    texts
}

/// The passages, with all beyond the limit joined to the last one.
fn gathered(passages: &[Passage]) -> Vec<Passage> {
    let mut kept: Vec<Passage> = passages.iter().take(PASSAGES_MAX).cloned().collect();
    if let Some(last) = kept.last_mut() {
        for more in passages.iter().skip(PASSAGES_MAX) {
            last.text.push('\n');
            last.text.push_str(&more.text);
            last.lines.1 = more.lines.1;
        }
    }
    kept
}

fn first_line(passage: &Passage) -> String {
    let mut lines = passage.text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("```"));
    first_words(lines.next().unwrap_or_default(), TITLE_WORDS)
}

fn first_words(text: &str, count: usize) -> String {
    text.split_whitespace().take(count).collect::<Vec<_>>().join(" ")
}

/// The speaker of a passage: one to three capitalized words before a colon at its start.
fn label(text: &str) -> Option<&str> {
    let (label, rest) = text.trim_start().split_once(':')?;
    let mut words = label.split(' ');
    let named = words.by_ref().take(LABEL_WORDS).all(|word| {
        word.starts_with(char::is_uppercase)
            && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '\'' | '-' | '_'))
    });
    (named && words.next().is_none() && rest.starts_with(char::is_whitespace)).then_some(label)
}

impl PassageEntry {
    fn of(
        passage: &Passage,
        language: Language,
        table: Option<&Table<'_>>,
        emphasis: FieldBoost,
    ) -> PassageEntry {
        let mut counted = BTreeMap::new();
        let mut length = 0;
        each_term(&passage.text, language, &mut |term| {
            *counted.entry(term).or_default() += 1;
            length += 1;
        });
        let vector = table.map_or(Vector::ZERO, |table| direction(&passage.text, table, emphasis));
        let label = label(&passage.text).map(|label| terms(label, language)).unwrap_or_default();
        PassageEntry { lines: passage.lines, section: passage.section, length, terms: counted, label, vector }
    }

    /// Encodes first line, number of lines, section, length, number of terms, the norms of the summed embeddings
    /// of window and section, the embedding, and the terms.
    fn append_to(&self, bytes: &mut Vec<u8>, window: f32, section: f32, name: &[Term]) {
        let (from, to) = self.lines;
        let short = |number: usize| u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes();
        bytes.extend(u32::try_from(from).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(short(to - from));
        bytes.extend(short(self.section));
        bytes.extend(short(self.length));
        let terms = self.terms.iter().take(usize::from(u16::MAX));
        bytes.extend(short(terms.len()));
        bytes.extend(window.to_le_bytes());
        bytes.extend(section.to_le_bytes());
        bytes.extend(QuantizedVector::of(&self.vector).to_bytes());
        for (term, count) in terms {
            bytes.extend(term.0.to_le_bytes());
            let label = if self.label.contains(term) { IN_LABEL } else { 0 };
            let name = if name.binary_search(term).is_ok() { IN_NAME } else { 0 };
            bytes.push(u8::try_from(*count).unwrap_or(COUNT_MAX).min(COUNT_MAX) | label | name);
        }
    }
}

/// The embedding of a passage, with its lead weighted more. A short passage is all lead.
fn direction(text: &str, table: &Table<'_>, emphasis: FieldBoost) -> Vector {
    let whole = table.vector(text);
    let is_code = |line: &str| line.starts_with("```");
    if text.split_whitespace().nth(LEAD_WORDS).is_none() && !text.lines().any(is_code) {
        return whole;
    }
    let said = text.lines().filter(|line| !is_code(line));
    let lead = first_words(&said.collect::<Vec<_>>().join(" "), LEAD_WORDS);
    whole.with(&table.vector(&lead), emphasis.lead)
}

/// An encoded doc entry.
#[derive(Clone, Debug)]
pub struct DocView<'b> {
    pub confidence: Option<f32>,
    /// The norm of the summed embeddings.
    pub sum_norm: f32,
    pub passages: Vec<PassageView<'b>>,
}

impl DocView<'_> {
    /// The embedding of the whole memory.
    pub fn vector(&self) -> Vector {
        let vectors: Vec<Vector> = self.passages.iter().filter_map(PassageView::embedding).collect();
        Vector::middle(&vectors)
    }
}

/// An encoded passage.
#[derive(Clone, Copy, Debug)]
pub struct PassageView<'b> {
    pub lines: (usize, usize),
    pub section: usize,
    pub length: usize,
    /// The norms of the summed embeddings of window and section.
    pub window_reach: f32,
    pub section_reach: f32,
    vector: &'b [u8],
    terms: &'b [u8],
}

/// The frequency of a term in a passage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The term frequency, boosts included.
    pub times: u8,
    pub in_label: bool,
    /// Whether the term occurs in title or tags.
    pub in_name: bool,
}

impl Count {
    fn from_byte(byte: u8) -> Count {
        Count { times: byte & COUNT_MAX, in_label: byte & IN_LABEL != 0, in_name: byte & IN_NAME != 0 }
    }
}

impl PassageView<'_> {
    /// The frequency of a term, if it occurs here.
    pub fn count(&self, term: Term) -> Option<Count> {
        let (terms, _) = self.terms.as_chunks::<TERM>();
        let at = terms.binary_search_by(|[a, b, c, d, _]| u32::from_le_bytes([*a, *b, *c, *d]).cmp(&term.0));
        at.ok().map(|at| Count::from_byte(terms[at][TERM - 1]))
    }

    /// Bytes that this version did not write have no embedding, so their cosine is 0.
    pub fn cosine(&self, asked: &QuantizedVector) -> f32 {
        asked.cosine_with(self.vector).unwrap_or(0.0)
    }

    fn embedding(&self) -> Option<Vector> {
        Some(QuantizedVector::from_bytes(self.vector)?.vector())
    }

    /// The terms in order, with their frequencies.
    pub fn counts(&self) -> impl Iterator<Item = (Term, Count)> {
        let (terms, _) = self.terms.as_chunks::<TERM>();
        terms
            .iter()
            .map(|[a, b, c, d, count]| (Term(u32::from_le_bytes([*a, *b, *c, *d])), Count::from_byte(*count)))
    }

    pub fn terms(&self) -> impl Iterator<Item = Term> {
        self.counts().map(|(term, _)| term)
    }
}

/// Decodes a doc entry. Invalid bytes give some passages or none, never an error.
pub fn read(bytes: &[u8]) -> DocView<'_> {
    let Some((head, mut rest)) = bytes.split_at_checked(HEAD) else {
        return DocView { confidence: None, sum_norm: 0.0, passages: Vec::new() };
    };
    let number = |bytes: &[u8], at: usize| {
        f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    };
    let confidence = Some(head[1]).filter(|share| *share <= 100).map(|share| f32::from(share) / 100.0);
    let mut passages = Vec::new();
    while let Some((frame, after)) = rest.split_at_checked(FRAME) {
        let short = |at: usize| usize::from(u16::from_le_bytes([frame[at], frame[at + 1]]));
        let Some((vector, after)) = after.split_at_checked(QuantizedVector::BYTES) else { break };
        let Some((terms, after)) = after.split_at_checked(short(10) * TERM) else { break };
        rest = after;
        let first = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]);
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        passages.push(PassageView {
            lines: (first, first.saturating_add(short(4))),
            section: short(6),
            length: short(8),
            window_reach: number(frame, 12),
            section_reach: number(frame, 16),
            vector,
            terms,
        });
    }
    DocView { confidence, sum_norm: number(head, 4), passages }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_label_is_a_short_name_before_a_colon() {
        let table = [
            ("Caroline: I went there", Some("Caroline")),
            ("Mary Ann: yes", Some("Mary Ann")),
            ("note: lower case", None),
            ("This is a long sentence: no", None),
            ("Url: ", Some("Url")),
            ("C::new()", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(label(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..900)) {
            let doc = read(&bytes);
            for part in &doc.passages {
                part.count(Term(7));
            }
        }
    }
}
