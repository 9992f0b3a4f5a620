//! What ranking needs from an index.
//!
//! [`Index`](super::Index) answers from its postings; `tests/it/candidates.rs` has an implementation that reads
//! every memory, and both must rank alike.

use super::IndexError;
use lorelane_core::corpus::MemorySummary;
use lorelane_core::recall::Query;
use lorelane_core::recall::query::AnalyzedQuery;
use lorelane_core::recall::relevance::SimilaritySum;
use lorelane_core::terms::{Language, Term};
use std::fmt;

pub trait Candidates: fmt::Debug {
    /// The languages of its memories.
    fn languages(&self) -> Result<Vec<Language>, IndexError>;

    /// The doc frequency of each query term: in how many passages it occurs.
    fn doc_freqs(&self, query: &AnalyzedQuery) -> Result<Vec<u64>, IndexError>;

    /// The doc frequency of each of these terms, which are many, and few of which occur.
    fn term_freqs(&self, terms: &[Term]) -> Result<Vec<u64>, IndexError>;

    /// The candidates for a query that pass its filters, and the statistics of its terms.
    fn candidates(
        &self,
        query: &AnalyzedQuery,
        filter: &Query,
        limits: CandidateLimits,
    ) -> Result<CandidateSet, IndexError>;
}

/// How many candidates are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CandidateLimits {
    /// Those that share most query terms.
    pub by_terms: usize,
    /// Those with the nearest embeddings.
    pub by_meaning: usize,
    /// Those whose title or tags match.
    pub by_names: usize,
}

impl CandidateLimits {
    pub const SEARCH: CandidateLimits = CandidateLimits { by_terms: 80, by_meaning: 40, by_names: 20 };
    /// Reading candidates is a third of the prompt hook. On the dev set of reminders, half of them give the same
    /// figures.
    pub const REMINDER: CandidateLimits = CandidateLimits { by_terms: 40, by_meaning: 20, by_names: 10 };
    /// What says the same has the same words.
    pub const COMPARISON: CandidateLimits = CandidateLimits { by_terms: 10, by_meaning: 0, by_names: 0 };
}

/// The candidates for a query, with statistics.
#[derive(Clone, Debug, Default)]
pub struct CandidateSet {
    /// How many passages the index has, and how many terms in all.
    pub passages: u64,
    pub terms: u64,
    /// In how many passages each query term occurs.
    pub doc_freqs: Vec<u64>,
    /// How similar the query is to the memories of this index.
    pub similarity: SimilaritySum,
    /// First those that share most terms, then those with the nearest embeddings, then those found by title or
    /// tags only.
    pub memories: Vec<CandidateRow>,
}

/// A candidate.
#[derive(Clone, Debug)]
pub struct CandidateRow {
    /// Its row id in this index.
    pub id: i64,
    pub entry: MemorySummary,
    /// Its packed entry in the forward index, see `recall::doc_entry`.
    pub doc: Vec<u8>,
    /// The digest of the text that it was made from.
    pub digest: i64,
    /// Whether only its title or tags match. Ranking keeps it only if the query names it.
    pub only_named: bool,
}
