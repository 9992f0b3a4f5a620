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
    fn candidates(&self, query: &AnalyzedQuery, filter: &Query) -> Result<CandidateSet, IndexError>;
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
