//! What a statement is about, so that the same in other words is recognised.

use super::LEXICON;
use super::features::ContentWords;
use super::words::SentenceWords;
use crate::embed::{QuantizedVector, Table};
use serde::{Deserialize, Serialize};

/// The least Jaccard index of the words of two statements that say the same.
const SAME_WORDS: f64 = 0.6;
/// The least cosine of two statements that say the same. Sentences of one project are about similar things, so it is
/// higher than that of memories, which are longer.
const SAME_MEANING: f32 = 0.9;
/// The share of a statement's words in a text that says it already.
const SAID: f64 = 0.8;

/// Hashes of the words of a statement, and its embedding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatementPrint {
    /// In their order, each once.
    words: Vec<u32>,
    /// Empty if the embedding table knows none of its words.
    #[serde(default)]
    vector: Vec<i8>,
}

impl StatementPrint {
    pub fn of(text: &str) -> StatementPrint {
        let lexicon = &*LEXICON;
        let all = SentenceWords::new(text);
        let mut words: Vec<u32> = Vec::new();
        for (_, hash) in all.hashed().filter(|(word, hash)| lexicon.is_telling(word, *hash)) {
            let short = (hash >> 32) as u32;
            if !words.contains(&short) {
                words.push(short);
            }
        }
        let vector = Table::built_in().vector(text);
        StatementPrint {
            words,
            vector: match vector.is_zero() {
                true => Vec::new(),
                false => QuantizedVector::of(&vector).steps().to_vec(),
            },
        }
    }

    /// Whether two statements say the same, perhaps in other words. The order of the words makes no difference.
    pub fn is_like(&self, other: &StatementPrint) -> bool {
        self.jaccard(other) >= SAME_WORDS || self.cosine(other) >= SAME_MEANING
    }

    /// Whether a longer text says this already.
    pub fn is_said_in(&self, text: &StatementPrint) -> bool {
        self.words.len() >= ContentWords::FEW && self.share_in(text) >= SAID
    }

    /// Whether the words that both have come in the same order. "X, not Y" and "Y, not X" differ in nothing else.
    pub fn agrees_with(&self, sentence: &StatementPrint) -> bool {
        let own = self.words.iter().filter(|word| sentence.words.contains(word));
        let theirs = sentence.words.iter().filter(|word| self.words.contains(word));
        own.clone().count() >= 2 && own.eq(theirs)
    }

    /// The share of its words that another text has.
    pub fn share_in(&self, text: &StatementPrint) -> f64 {
        self.shared(text) as f64 / self.words.len().max(ContentWords::FEW) as f64
    }

    fn shared(&self, other: &StatementPrint) -> usize {
        self.words.iter().filter(|word| other.words.contains(word)).count()
    }

    fn jaccard(&self, other: &StatementPrint) -> f64 {
        let shared = self.shared(other);
        shared as f64 / (self.words.len() + other.words.len() - shared).max(ContentWords::FEW) as f64
    }

    fn cosine(&self, other: &StatementPrint) -> f32 {
        let dot = |one: &[i8], two: &[i8]| -> f32 {
            one.iter().zip(two).map(|(one, two)| f32::from(*one) * f32::from(*two)).sum()
        };
        let squares = dot(&self.vector, &self.vector) * dot(&other.vector, &other.vector);
        if squares > 0.0 { dot(&self.vector, &other.vector) / squares.sqrt() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_in_other_words_is_recognised() {
        let print = StatementPrint::of;
        for (one, other, alike) in [
            ("No, we use pnpm here, not npm.", "we use pnpm and not npm", true),
            ("staging deploys go out every Tuesday", "Staging deploys go out on every tuesday!", true),
            ("never commit generated files", "please never commit any generated files", true),
            ("never commit generated files", "the cart total is rounded per line", false),
            ("use UUIDv7 for ids", "use cursors for paging", false),
            ("", "", false),
        ] {
            assert_eq!(print(one).is_like(&print(other)), alike, "{one} | {other}");
        }
    }

    #[test]
    fn a_longer_text_may_say_it_already() {
        let print = StatementPrint::of;
        let memory = print("Use pnpm: we use pnpm in this workspace and not npm, its links are strict");
        assert!(print("we use pnpm and not npm, links are strict").is_said_in(&memory));
        assert!(!print("run the tests with pytest -x before each commit").is_said_in(&memory));
        assert!(!print("pnpm").is_said_in(&memory), "a single word says too little");
        assert!(print("use pnpm and not npm").agrees_with(&memory));
        assert!(!print("use npm and not pnpm").agrees_with(&memory));
    }

    #[test]
    fn a_print_reads_back() {
        let print = StatementPrint::of("never commit generated files");
        let text = crate::json::to_string(&print, crate::json::JsonFormat::LINE);
        assert_eq!(crate::json::from_str::<StatementPrint>(&text).ok(), Some(print));
    }
}
