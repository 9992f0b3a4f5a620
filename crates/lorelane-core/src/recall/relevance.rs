//! The chance that a memory is useful for a prompt, estimated from a few kinds of evidence.
//!
//! A score says which of two memories matches better; it says nothing about whether any of them is wanted. This
//! estimate does, on the same scale for every store and for prompts of every length. It is a logistic model whose
//! weights `cargo xtask relevance` fits on labelled prompts of real projects. It has few inputs, because every
//! further one that was tried gained on the projects it was fitted to and lost on others: tags and titles apart from
//! the text, phrases, severity, the number of words beyond the first, the distance to the next memory, the length of a
//! paste, the best single sentence, how close a memory is to any prompt.

use super::doc_entry::DocView;
use super::fitted;
use super::query::{AnalyzedQuery, QueryTerm};
use super::score::{Statistics, idf};
use crate::embed::DIMENSIONS;
use crate::terms::rarity;
use std::f64::consts::PI;
use std::fmt;
use std::ops::AddAssign;

/// In a small store every word that occurs is common. Rarity is computed as if there were this many passages.
const PASSAGES_MIN: u64 = 100;
/// The similarity of any prompt to any memory, and how many memories it counts for: a store of one memory has no
/// average of its own.
const SIMILARITY: f64 = 0.1;
const SIMILARITY_COUNT: f64 = 10.0;
/// The meaning of a prompt in a script that the table cannot read. It speaks neither for nor against a memory: its words
/// decide, as they would with the usual similarity of a useful memory.
const UNREADABLE: f32 = 0.2;
/// What a word counts that was only guessed from its spelling.
const RESPELLED: f32 = 0.5;
/// How steeply a word counts by its rarity, in technical English and in this store. A word that one memory has says
/// much more than a word that three have; a word that is common elsewhere may still be the subject here.
const RARE_IN_LANGUAGE: f32 = 0.75;
const RARE_IN_STORE: f32 = 1.5;
/// Every further word adds less than the one before.
const FURTHER_WORDS: f32 = 0.6;
/// A text with more distinct terms has a word by chance more often. No labelled memory is that long, and a penalty
/// within the length of a record earned nothing, so a record has none.
const LONG_TEXT: f32 = 40.0;
const LONG_TEXT_PENALTY: f32 = 0.3;

/// For the reasons: how many words are named, what counts as closer in meaning, and as a long prompt.
const WORDS_SHOWN: usize = 4;
const CLOSER: f32 = 0.1;
const MUCH_CLOSER: f32 = 0.25;
const LONG: f32 = 2.5;

/// What speaks for a memory. All values are zero or more, except `meaning`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The rare words that the person typed and the memory has.
    pub words: f32,
    /// The same for words that were pasted.
    pub pasted: f32,
    /// The similarity of the embeddings, above the average of this store.
    pub meaning: f32,
    /// How much the person typed: much text matches by chance.
    pub length: f32,
    /// The positions of the query terms that the memory has, strongest first.
    pub(super) matched: Vec<usize>,
}

/// The weights of the evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct RelevanceWeights {
    pub bias: f32,
    pub words: f32,
    pub pasted: f32,
    pub meaning: f32,
    pub length: f32,
}

impl Default for RelevanceWeights {
    fn default() -> RelevanceWeights {
        RelevanceWeights::from_array(fitted::RELEVANCE)
    }
}

impl RelevanceWeights {
    /// In the order of [`Evidence::features`], the bias first.
    pub fn from_array([bias, words, pasted, meaning, length]: [f32; 5]) -> Self {
        RelevanceWeights { bias, words, pasted, meaning, length }
    }
}

impl Evidence {
    pub fn features(&self) -> [f32; 4] {
        [self.words, self.pasted, self.meaning, self.length]
    }

    /// The estimate, from 0 to 1.
    pub fn chance(&self, weights: &RelevanceWeights) -> f32 {
        let RelevanceWeights { bias, words, pasted, meaning, length } = weights;
        let factors = [words, pasted, meaning, length];
        let sum: f32 = self.features().iter().zip(factors).map(|(value, weight)| value * weight).sum();
        1.0 / (1.0 + (-(bias + sum)).exp())
    }
}

/// The estimate for a memory, with its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Relevance {
    /// From 0 to 1.
    pub chance: f32,
    /// Two or three reasons in plain words, the strongest first.
    pub reasons: Vec<String>,
}

impl Relevance {
    pub(super) fn of(evidence: &Evidence, asked: &AnalyzedQuery, weights: &RelevanceWeights) -> Relevance {
        Relevance { chance: evidence.chance(weights), reasons: evidence.reasons(asked) }
    }

    /// In whole percent.
    pub fn percent(&self) -> u32 {
        (100.0 * self.chance).round() as u32
    }
}

impl fmt::Display for Relevance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %: {}", self.percent(), self.reasons.join("; "))
    }
}

impl Evidence {
    fn reasons(&self, asked: &AnalyzedQuery) -> Vec<String> {
        let words = |pasted: bool| -> Vec<String> {
            let terms = self.matched.iter().map(|at| &asked.terms[*at]);
            terms.filter(|term| term.is_asked() != pasted).map(QueryTerm::shown).take(WORDS_SHOWN).collect()
        };
        let mut reasons = Vec::new();
        let (own, pasted) = (words(false), words(true));
        if !own.is_empty() {
            reasons.push(format!("has {}", own.join(", ")));
        }
        if !pasted.is_empty() {
            reasons.push(format!("has pasted {}", pasted.join(", ")));
        }
        if own.is_empty() && pasted.is_empty() {
            reasons.push("has no word of the prompt".to_owned());
        }
        reasons.push(match self.meaning {
            _ if asked.vector.is_zero() => "in a script whose meaning is not compared".to_owned(),
            much if much >= MUCH_CLOSER => "very close in meaning".to_owned(),
            some if some >= CLOSER => "close in meaning".to_owned(),
            _ => "not close in meaning".to_owned(),
        });
        if self.length >= LONG {
            reasons.push("the prompt is long".to_owned());
        }
        reasons
    }
}

/// The weight of every query term.
pub(super) struct TermWeights {
    terms: Vec<f32>,
    is_pasted: Vec<bool>,
    /// The weight of all that was typed.
    own: f32,
    similarity: f32,
}

impl TermWeights {
    pub(super) fn new(asked: &AnalyzedQuery, statistics: &Statistics) -> TermWeights {
        let all = statistics.passages.max(PASSAGES_MIN);
        let weight = |term: &QueryTerm, doc_freq: u64| {
            let common = term.variants.iter().map(|variant| rarity(*variant)).fold(1.0, f32::min);
            let spelling = if term.instead.is_some() { RESPELLED } else { 1.0 };
            let in_store = (idf(all, doc_freq) / idf(all, 0)).powf(RARE_IN_STORE);
            term.weight() * spelling * common.powf(RARE_IN_LANGUAGE) * in_store
        };
        let used = asked.terms.iter().zip(&statistics.doc_freqs);
        let terms: Vec<f32> = used.map(|(term, doc_freq)| weight(term, *doc_freq)).collect();
        let is_pasted: Vec<bool> = asked.terms.iter().map(|term| !term.is_asked()).collect();
        let used = terms.iter().copied().zip(is_pasted.iter().copied());
        let dropped =
            asked.dropped.iter().map(|(doc_freq, term)| (weight(term, *doc_freq), !term.is_asked()));
        let own = used.chain(dropped).filter(|(_, is_pasted)| !is_pasted).map(|(weight, _)| weight).sum();
        TermWeights { terms, is_pasted, own, similarity: statistics.similarity.average() }
    }

    /// The evidence for a memory. `matched` and `cosines` are those of its passages.
    pub(super) fn evidence<'p>(
        &self,
        asked: &AnalyzedQuery,
        doc: &DocView<'_>,
        passages: impl Iterator<Item = (&'p [usize], f32)>,
    ) -> Evidence {
        let in_name: Vec<usize> = (0..asked.terms.len())
            .filter(|at| {
                let counts = asked.terms[*at].variants.iter();
                doc.passages.first().is_some_and(|first| {
                    counts.filter_map(|variant| first.count(*variant)).any(|count| count.in_name)
                })
            })
            .collect();
        let mut best = Evidence::default();
        let mut nearest: f32 = -1.0;
        for (view, (matched, cosine)) in doc.passages.iter().zip(passages) {
            nearest = nearest.max(cosine);
            let mut terms: Vec<usize> = matched.to_vec();
            terms.extend(in_name.iter().filter(|at| !matched.contains(at)));
            let found = self.words(terms, view.terms().count());
            if found.words + found.pasted > best.words + best.pasted || best.matched.is_empty() {
                best = found;
            }
        }
        Evidence {
            words: best.words.powf(FURTHER_WORDS),
            pasted: best.pasted.powf(FURTHER_WORDS),
            meaning: if asked.vector.is_zero() { UNREADABLE } else { nearest - self.similarity },
            length: self.own.ln_1p(),
            matched: best.matched,
        }
    }

    /// The words of one passage with `distinct` terms, before every further word adds less.
    fn words(&self, mut matched: Vec<usize>, distinct: usize) -> Evidence {
        matched.sort_by(|a, b| self.terms[*b].total_cmp(&self.terms[*a]).then(a.cmp(b)));
        let chance = 1.0 + LONG_TEXT_PENALTY * ((distinct as f32 / LONG_TEXT).clamp(1.0, 4.0) - 1.0);
        let sum = |pasted: bool| {
            let weights = matched.iter().filter(|at| self.is_pasted[**at] == pasted);
            weights.map(|at| self.terms[*at]).sum::<f32>() / chance
        };
        Evidence { words: sum(false), pasted: sum(true), matched, ..Evidence::default() }
    }
}

/// The similarity of a query to all memories of a store, by the signs of their embeddings: that costs one pass over a
/// few bytes per memory, and search makes it anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SimilaritySum {
    pub sum: f64,
    pub memories: u64,
}

impl SimilaritySum {
    /// From the number of memories at each distance: in how many signs their embeddings differ from the query's.
    pub fn from_distances(counts: &[usize]) -> SimilaritySum {
        let cosine = |distance: usize| (PI * distance as f64 / DIMENSIONS as f64).cos();
        let sums = counts.iter().enumerate().map(|(distance, count)| *count as f64 * cosine(distance));
        SimilaritySum { sum: sums.sum(), memories: counts.iter().sum::<usize>() as u64 }
    }

    fn average(self) -> f32 {
        let sum = SIMILARITY * SIMILARITY_COUNT + self.sum;
        (sum / (SIMILARITY_COUNT + self.memories as f64)) as f32
    }
}

impl AddAssign for SimilaritySum {
    fn add_assign(&mut self, other: SimilaritySum) {
        self.sum += other.sum;
        self.memories += other.memories;
    }
}
