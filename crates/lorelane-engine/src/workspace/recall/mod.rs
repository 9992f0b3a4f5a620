//! From a question to the memories that answer it, as their files say it now.

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

/// Reading: what answers a question, for as long as the workspace is borrowed.
#[derive(Debug)]
pub struct Recall<'w> {
    workspace: &'w mut Workspace,
}

impl Workspace {
    pub fn recall(&mut self) -> Recall<'_> {
        Recall { workspace: self }
    }
}

/// A question and the memories that may answer it.
pub(in crate::workspace) struct SearchContext {
    pub(in crate::workspace) asked: AnalyzedQuery,
    statistics: Statistics,
    pub(in crate::workspace) considered: Vec<Candidate>,
    /// Where each of them comes from.
    pub(in crate::workspace) origins: Vec<IndexRef>,
}

/// A memory as an index knows it.
pub(in crate::workspace) struct IndexRef {
    pub(in crate::workspace) lane: LaneId,
    pub(in crate::workspace) id: i64,
    /// The digest of its text.
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
    /// Sets other weights, for measuring what each signal is worth. Whoever answers a question keeps those that ship.
    pub fn set_weights(&mut self, weights: Weights) {
        self.workspace.weights = weights;
    }

    /// Sets another boost of fields, for measuring. It is part of what an index keeps, so every open lane gets an
    /// index in memory: the one on disk stays as it is.
    pub fn set_field_boost(&mut self, emphasis: FieldBoost) -> Result<(), Failure> {
        self.workspace.lanes.iter_mut().try_for_each(|lane| lane.emphasise(emphasis))
    }

    /// Takes the candidates of a lane from elsewhere than its index.
    pub fn set_candidates(&mut self, lane: LaneId, candidates: Arc<dyn Candidates + Send + Sync>) {
        self.workspace.lanes[lane].candidates = Some(candidates);
    }

    /// The memories that a query asks for, best first, each with its best passage. A model that was handed over with
    /// `think_with` orders the best of them again.
    pub fn search(&mut self, query: &Query, limit: usize) -> Result<SearchResults, Failure> {
        self.answer(query, limit, ResultMode::Memories)
    }

    /// The passages that a query asks for, best first.
    pub fn search_passages(&mut self, query: &Query, limit: usize) -> Result<SearchResults, Failure> {
        self.answer(query, limit, ResultMode::Passages)
    }

    /// The memories that a long text may be about, best first, as the index has them: whoever shows one reads it
    /// from its file. Nothing is left out for being irrelevant.
    pub(in crate::workspace) fn near(&mut self, query: &Query) -> Result<Vec<Hit>, Failure> {
        Ok(self
            .search_context(query)?
            .chosen(query, &self.workspace.weights, NEAR_MAX, ResultMode::Everything)
            .hits)
    }

    /// The memory that says most of what a text says, if that is enough to be about the same.
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
        // An index may lag behind a file that was edited in place: what is shown is read, and weighed anew if it
        // says something else.
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
        // One that shares a word of its name by chance would stand among the others or not, as its file is called.
        found.retain(|(_, found)| {
            !found.only_named || recall::is_named(query, &asked, &statistics, &found.entry)
        });
        // What counts the same stays in this order, whichever of them the index met first.
        found.sort_unstable_by(|(_, a), (_, b)| a.entry.address.cmp(&b.entry.address));
        let (considered, origins) = found
            .into_iter()
            .map(|(lane, CandidateRow { id, entry, sheet, digest, .. })| {
                let pinned = pinned.contains(&entry.address);
                (Candidate { entry, sheet, second: Vec::new(), pinned }, IndexRef { lane, id, digest })
            })
            .unzip();
        Ok(SearchContext { asked, statistics, considered, origins })
    }

    /// Reads the files of these hits. Returns whether any says something else than the index, or nothing.
    fn refresh_hits(&self, query: &Query, inquiry: &mut SearchContext, hits: &[Hit]) -> bool {
        let mut differs = false;
        for (considered, origin) in inquiry.considered.iter_mut().zip(&inquiry.origins) {
            if !hits.iter().any(|hit| hit.address == considered.entry.address) {
                continue;
            }
            let Some(lane) = self.workspace.lanes.of(&considered.entry.address) else { continue };
            // Nearly all files are as they were, which is told without understanding them.
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
                    let sheet = lane.doc_entry(&said).to_bytes();
                    // What the model has read is another text.
                    *considered = Candidate { entry, sheet, second: Vec::new(), pinned: considered.pinned };
                    differs = true;
                }
                None => {
                    considered.sheet.clear();
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
