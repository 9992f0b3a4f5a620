//! How rare a term is in technical English: `error` says less about a text than `broker`, in a store of any size.
//!
//! `cargo xtask common-terms` counts the 2,000 most common terms in the documentation of our dependencies. Any other
//! term is rare. Other languages have only their stop words.

use super::Term;

const TERM: usize = size_of::<u32>();
/// The terms in ascending order, then the weight of each in one byte.
static TABLE: &[u8] = include_bytes!("../../data/common-terms.bin");

/// From 0 for a term that is in nearly every text to 1 for a rare one.
pub fn rarity(term: Term) -> f32 {
    let (terms, weights) = TABLE.split_at(TABLE.len() / (TERM + 1) * TERM);
    let (terms, _) = terms.as_chunks::<TERM>();
    let found = terms.binary_search_by_key(&term.0, |bytes| u32::from_le_bytes(*bytes));
    found.map_or(1.0, |at| f32::from(weights[at]) / f32::from(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::{Language, term_of};

    #[test]
    fn common_words_weigh_less_than_rare_ones() {
        let of = |word: &str| rarity(term_of(word, Language::English).unwrap());
        for (common, rare) in
            [("error", "broker"), ("file", "receipt"), ("use", "deploy"), ("test", "sandbox")]
        {
            assert!(of(common) < of(rare), "{common} {}, {rare} {}", of(common), of(rare));
        }
        assert_eq!(of("postgres"), 1.0);
    }

    #[test]
    fn the_table_is_sorted_for_its_search() {
        assert_eq!(TABLE.len() % (TERM + 1), 0);
        let (terms, _) = TABLE[..TABLE.len() / (TERM + 1) * TERM].as_chunks::<TERM>();
        assert!(terms.iter().map(|bytes| u32::from_le_bytes(*bytes)).is_sorted());
    }
}
