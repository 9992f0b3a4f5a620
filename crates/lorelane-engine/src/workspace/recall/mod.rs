//! Search: from a query to ranked memories.
//!
//! Every hit is read from its file again before it is returned, because a file that was edited in place is not in
//! the index yet.

mod brief;
mod candidate;
mod graph;
mod list;
mod rerank;

pub use brief::{ReminderOutcome, Reminders, WhyReport};
pub use graph::{Comparison, Duplicate, DuplicateGroup, Inbound, LinkReport};
pub use list::sort_newest_first;
pub use rerank::EmbedProgress;

use crate::index::{self, CandidateRow, Candidates};
use crate::workspace::{Failure, NEAR_MAX, Workspace};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::MemoryFile;
use lorelane_core::embed::Table;
use lorelane_core::memory::LaneId;
use lorelane_core::recall::doc_entry::FieldBoost;
use lorelane_core::recall::query::AnalyzedQuery;
use lorelane_core::recall::score::{Statistics, Weights};
use lorelane_core::recall::{self, Candidate, Hit, Query, ResultMode, SearchResults};
use lorelane_core::terms::Language;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Search, lists and the link graph of a borrowed workspace.
#[derive(Debug)]
pub struct Recall<'w> {
    workspace: &'w mut Workspace,
}

impl Workspace {
    pub fn recall(&mut self) -> Recall<'_> {
        Recall { workspace: self }
    }
}

/// An analyzed query with its candidates from all lanes, ranked as one corpus.
pub(in crate::workspace) struct SearchContext {
    pub(in crate::workspace) asked: AnalyzedQuery,
    statistics: Statistics,
    pub(in crate::workspace) considered: Vec<Candidate>,
    /// The index row of each candidate, in the same order.
    pub(in crate::workspace) origins: Vec<IndexRef>,
}

/// A memory's row in an index.
pub(in crate::workspace) struct IndexRef {
    pub(in crate::workspace) lane: LaneId,
    pub(in crate::workspace) id: i64,
    /// The digest of the file it was indexed from.
    digest: i64,
}

impl SearchContext {
    pub(in crate::workspace) fn chosen(
        &self,
        query: &Query,
        weights: &Weights,
        limit: usize,
        grouping: ResultMode,
    ) -> SearchResults {
        let SearchContext { asked, statistics, considered, .. } = self;
        recall::rank(query, asked, statistics, considered, weights, grouping, limit)
    }
}

impl Recall<'_> {
    /// Sets the weights of the signals. For measuring what each is worth; commands use those of the policy.
    pub fn set_weights(&mut self, weights: Weights) {
        self.workspace.weights = weights;
    }

    /// Sets the field boost, for measuring. It is part of what an index stores, so every open lane gets an
    /// index in memory, and the one on disk stays as it is.
    pub fn set_field_boost(&mut self, boost: FieldBoost) -> Result<(), Failure> {
        self.workspace.lanes.iter_mut().try_for_each(|lane| lane.set_field_boost(boost))
    }

    /// Replaces the source of a lane's candidates, which is its index by default.
    pub fn set_candidates(&mut self, lane: LaneId, candidates: Arc<dyn Candidates + Send + Sync>) {
        self.workspace.lanes[lane].candidates = Some(candidates);
    }

    /// The memories that match a query, best first, each with its best passage. If a model was set with
    /// [`Recall::set_reranker`], it re-ranks the best of them.
    pub fn search(&mut self, query: &Query, limit: usize) -> Result<SearchResults, Failure> {
        self.answer(query, limit, ResultMode::Memories)
    }

    /// The passages that match a query, best first.
    pub fn search_passages(&mut self, query: &Query, limit: usize) -> Result<SearchResults, Failure> {
        self.answer(query, limit, ResultMode::Passages)
    }

    /// The memories nearest to a prompt, best first and without a relevance floor. The hits are not read from
    /// their files again: the caller does that for each one it shows.
    pub(in crate::workspace) fn near(&mut self, query: &Query) -> Result<Vec<Hit>, Failure> {
        Ok(self
            .search_context(query)?
            .chosen(query, &self.workspace.weights, NEAR_MAX, ResultMode::Everything)
            .hits)
    }

    /// The memory that covers most of a text, if that is enough to be about the same subject.
    pub(in crate::workspace) fn same_subject(&mut self, query: &Query) -> Result<Option<Hit>, Failure> {
        let mut inquiry = self.search_context(query)?;
        let same = |inquiry: &SearchContext| {
            let SearchContext { asked, statistics, considered, .. } = inquiry;
            recall::same_subject(query, asked, statistics, considered, &self.workspace.weights)
        };
        let found = same(&inquiry);
        let differs = self.refresh_hits(query, &mut inquiry, found.as_slice());
        Ok(if differs { same(&inquiry) } else { found })
    }

    fn answer(
        &mut self,
        query: &Query,
        limit: usize,
        grouping: ResultMode,
    ) -> Result<SearchResults, Failure> {
        let mut inquiry = self.search_context(query)?;
        self.rerank(query, &mut inquiry, grouping)?;
        let chosen = inquiry.chosen(query, &self.workspace.weights, limit, grouping);
        // The index lags behind a file that was edited in place, so each hit is read from its file. If one
        // differs, the candidates are ranked again.
        let differs = self.refresh_hits(query, &mut inquiry, &chosen.hits);
        Ok(if differs { inquiry.chosen(query, &self.workspace.weights, limit, grouping) } else { chosen })
    }

    fn search_context(&mut self, query: &Query) -> Result<SearchContext, Failure> {
        self.workspace.refresh()?;
        let pinned = self.workspace.recent_marks().pinned;
        let mut languages = BTreeSet::new();
        for lane in &mut self.workspace.lanes {
            languages.extend(lane.with_candidates(|index| index.languages())?);
        }
        let languages: Vec<Language> = languages.into_iter().collect();
        let mut asked = AnalyzedQuery::new(&query.text, &languages, &Table::built_in());
        if asked.is_long() {
            let mut holding = vec![0; asked.terms.len()];
            for lane in &mut self.workspace.lanes {
                add(&mut holding, &lane.with_candidates(|index| index.doc_freqs(&asked))?);
            }
            asked = asked.rarest(&holding);
        }
        let mut statistics = Statistics { doc_freqs: vec![0; asked.terms.len()], ..Statistics::default() };
        let mut found = Vec::new();
        for lane in &mut self.workspace.lanes {
            let set = lane.with_candidates(|index| index.candidates(&asked, query))?;
            statistics.passages += set.passages;
            statistics.terms += set.terms;
            add(&mut statistics.doc_freqs, &set.doc_freqs);
            found.extend(set.memories.into_iter().map(|found| (lane.id(), found)));
        }
        // A candidate found only by a word of its title stays only if the query names it: otherwise the
        // results would depend on how files are named.
        found.retain(|(_, found)| {
            !found.only_named || recall::is_named(query, &asked, &statistics, &found.entry)
        });
        // Candidates with equal scores keep this order, whatever order the index returned them in.
        found.sort_unstable_by(|(_, a), (_, b)| a.entry.address.cmp(&b.entry.address));
        let (considered, origins) = found
            .into_iter()
            .map(|(lane, CandidateRow { id, entry, doc, digest, .. })| {
                let pinned = pinned.contains(&entry.address);
                (Candidate { entry, doc, second: Vec::new(), pinned }, IndexRef { lane, id, digest })
            })
            .unzip();
        Ok(SearchContext { asked, statistics, considered, origins })
    }

    /// Reads the files of these hits and updates their candidates. Returns whether any file differs from the
    /// index or is gone.
    fn refresh_hits(&self, query: &Query, inquiry: &mut SearchContext, hits: &[Hit]) -> bool {
        let mut differs = false;
        for (considered, origin) in inquiry.considered.iter_mut().zip(&inquiry.origins) {
            if !hits.iter().any(|hit| hit.address == considered.entry.address) {
                continue;
            }
            let Some(lane) = self.workspace.lanes.of(&considered.entry.address) else { continue };
            // Nearly all files are unchanged, and a digest tells that without parsing them.
            let bytes = lane.read(&considered.entry.path).ok().flatten();
            if bytes.is_some_and(|bytes| index::digest(&bytes) == origin.digest) {
                continue;
            }
            let said = lane.load(&considered.entry.address).ok().map(|loaded| {
                let written = lane.seen(&loaded.path).map(|seen| index::written(seen.mtime_ns));
                let entry = MemorySummary { written, ..MemorySummary::of(&loaded.memory, &loaded.path) };
                (entry, MemoryFile { document: loaded.document, memory: loaded.memory })
            });
            match said.filter(|(entry, _)| query.wants(entry)) {
                Some((entry, said)) => {
                    let doc = lane.doc_entry(&said).to_bytes();
                    // The model's embeddings are of the old text.
                    *considered = Candidate { entry, doc, second: Vec::new(), pinned: considered.pinned };
                    differs = true;
                }
                None => {
                    considered.doc.clear();
                    differs = true;
                }
            }
        }
        differs
    }
}

fn add(sum: &mut [u64], more: &[u64]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}
