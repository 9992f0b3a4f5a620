//! What ranking asks of an index, whatever keeps it.
//!
//! [`Index`](super::Index) answers from its postings; `tests/it/candidates.rs` has a body that looks at every memory,
//! and both must rank alike.

use super::IndexError;
use lorelane_core::corpus::MemorySummary;
use lorelane_core::recall::Query;
use lorelane_core::recall::query::AnalyzedQuery;
use lorelane_core::terms::Language;
use std::fmt;

pub trait Candidates: fmt::Debug {
    /// The languages that its memories are written in.
    fn languages(&self) -> Result<Vec<Language>, IndexError>;

    /// In how many passages each term of a query occurs.
    fn doc_freqs(&self, query: &AnalyzedQuery) -> Result<Vec<u64>, IndexError>;

    /// The memories that may answer a query and pass its filters, with what is known of its terms.
    fn candidates(&self, query: &AnalyzedQuery, filter: &Query) -> Result<CandidateSet, IndexError>;
}

/// The memories that may answer a query.
#[derive(Clone, Debug, Default)]
pub struct CandidateSet {
    /// How many passages there are in all, and how many terms they have together.
    pub passages: u64,
    pub terms: u64,
    /// In how many passages each term of the query occurs.
    pub doc_freqs: Vec<u64>,
    /// Those that share most terms first, then those that mean most nearly the same, then those that are only named.
    pub memories: Vec<CandidateRow>,
}

/// A memory that may answer a query.
#[derive(Clone, Debug)]
pub struct CandidateRow {
    /// Its number in this index.
    pub id: i64,
    pub entry: MemorySummary,
    /// What is kept of its passages, see `recall::sheet`.
    pub sheet: Vec<u8>,
    /// The digest of the text that this was taken from.
    pub digest: i64,
    /// Whether it came by its name alone.
    pub only_named: bool,
}
