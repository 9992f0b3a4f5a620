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

use crate::index::{self, CandidateLimits, CandidateRow, Candidates};
use crate::workspace::{Failure, NEAR_MAX, Workspace};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::MemoryFile;
use lorelane_core::embed::Table;
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::Marks;
use lorelane_core::memory::{Address, LaneId};
use lorelane_core::path::RelPath;
use lorelane_core::recall::doc_entry::FieldBoost;
use lorelane_core::recall::query::{AnalyzedQuery, SpellingEffort};
use lorelane_core::recall::relevance::Evidence;
use lorelane_core::recall::score::{Statistics, Weights};
use lorelane_core::recall::{self, Candidate, Hit, Query, ResultMode, SearchResults};
use lorelane_core::terms::{Language, Term};
use lorelane_core::text::words;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Unreadable files that a search names, per lane.
const UNREADABLE_MAX: usize = 5;

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

/// How far a search goes: a hook at every prompt has less time than a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchDepth {
    /// For what says the same in nearly the same words.
    Comparison,
    Reminder,
    Search,
}

impl SearchDepth {
    fn limits(self) -> CandidateLimits {
        match self {
            SearchDepth::Comparison => CandidateLimits::COMPARISON,
            SearchDepth::Reminder => CandidateLimits::REMINDER,
            SearchDepth::Search => CandidateLimits::SEARCH,
        }
    }

    /// How hard it tries to understand words that no memory has.
    fn spelling(self, is_long: bool) -> &'static [SpellingEffort] {
        match self {
            SearchDepth::Search if !is_long => &[SpellingEffort::KnownWords, SpellingEffort::AllWords],
            SearchDepth::Reminder | SearchDepth::Search => &[SpellingEffort::KnownWords],
            SearchDepth::Comparison => &[],
        }
    }
}

/// An analyzed query with its candidates from all lanes, ranked as one corpus.
pub(in crate::workspace) struct SearchContext {
    pub(in crate::workspace) asked: AnalyzedQuery,
    statistics: Statistics,
    pub(in crate::workspace) candidates: Vec<Candidate>,
    /// Names the successors of hits.
    marks: Marks,
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
        let SearchContext { asked, statistics, candidates, marks, .. } = self;
        let mut results = recall::rank(query, asked, statistics, candidates, weights, grouping, limit);
        for hit in &mut results.hits {
            if hit.not_current.is_some() || hit.status != Status::Active {
                hit.superseded_by = marks.successor(&hit.address).cloned();
            }
        }
        results
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

    /// The memories nearest to a prompt, the most relevant first, without a relevance floor. Those at least this
    /// relevant are compared with their files, because a file that was edited in place may say something else now.
    pub(in crate::workspace) fn near(&mut self, query: &Query, least: f32) -> Result<Vec<Hit>, Failure> {
        let mut context = self.search_context(query, SearchDepth::Reminder)?;
        let chosen = |context: &SearchContext, weights: &Weights| {
            context.chosen(query, weights, NEAR_MAX, ResultMode::Everything).hits
        };
        let mut hits = chosen(&context, &self.workspace.weights);
        let is_likely = |hit: &Hit| hit.relevance.as_ref().is_some_and(|relevance| relevance.chance >= least);
        let likely = hits.iter().take_while(|hit| is_likely(hit)).count();
        if self.refresh_hits(query, &mut context, &hits[..likely]).0 {
            hits.truncate(likely);
            let current = chosen(&context, &self.workspace.weights);
            // A file that is gone or retired stays in the list: the rule of reminders says why it is not shown.
            hits.retain(|hit| current.iter().all(|other| other.address != hit.address));
            hits.extend(current);
        }
        Ok(hits)
    }

    /// The memories that share most words with a statement, as the index has them.
    pub(in crate::workspace) fn sharing_words(&mut self, query: &Query) -> Result<Vec<Hit>, Failure> {
        let context = self.search_context(query, SearchDepth::Comparison)?;
        Ok(context.chosen(query, &self.workspace.weights, NEAR_MAX, ResultMode::Everything).hits)
    }

    /// The evidence for each candidate of a prompt, for measuring.
    pub fn evidence(&mut self, query: &Query) -> Result<Vec<(Address, Evidence)>, Failure> {
        let SearchContext { asked, statistics, candidates, .. } =
            self.search_context(query, SearchDepth::Reminder)?;
        let scores = recall::score::score(&asked, &statistics, &candidates, &self.workspace.weights);
        let addresses = candidates.into_iter().map(|candidate| candidate.entry.address);
        Ok(addresses.zip(scores.evidence).collect())
    }

    /// The memory that covers most of a text, if that is enough to be about the same subject.
    pub(in crate::workspace) fn same_subject(&mut self, query: &Query) -> Result<Option<Hit>, Failure> {
        let mut context = self.search_context(query, SearchDepth::Reminder)?;
        let same = |context: &SearchContext| {
            let SearchContext { asked, statistics, candidates, .. } = context;
            recall::same_subject(query, asked, statistics, candidates, &self.workspace.weights)
        };
        let found = same(&context);
        let (differs, _) = self.refresh_hits(query, &mut context, found.as_slice());
        Ok(if differs { same(&context) } else { found })
    }

    fn answer(
        &mut self,
        query: &Query,
        limit: usize,
        grouping: ResultMode,
    ) -> Result<SearchResults, Failure> {
        let mut context = self.search_context(query, SearchDepth::Search)?;
        self.rerank(query, &mut context, grouping)?;
        let chosen = context.chosen(query, &self.workspace.weights, limit, grouping);
        // The index lags behind a file that was edited in place, so each hit is read from its file. If one
        // differs, the candidates are ranked again.
        let (differs, unreadable) = self.refresh_hits(query, &mut context, &chosen.hits);
        // A scan, because that is how the index learns of changes that others made.
        for lane in unreadable {
            self.workspace.lanes[lane].scan()?;
        }
        let mut results =
            if differs { context.chosen(query, &self.workspace.weights, limit, grouping) } else { chosen };
        for hit in &mut results.hits {
            hit.broken = self.workspace.broken_mark(&hit.address);
        }
        Ok(results)
    }

    /// The files that a query names and that cannot be read as a memory, with the reason: a record in a git
    /// conflict, for example. Only their names are known.
    pub fn unreadable(&mut self, query: &Query) -> Result<Vec<(String, String)>, Failure> {
        let mut found = Vec::new();
        for lane in &mut self.workspace.lanes {
            let unreadable = lane.with_index(|index| index.unreadable())?;
            let is_named = |path: &str| words(path).iter().any(|word| query.words().contains(word));
            let named = unreadable.into_iter().filter(|(path, _)| is_named(path)).take(UNREADABLE_MAX);
            found.extend(
                named.filter_map(|(path, what)| Some((lane.listed_path(&RelPath::parse(&path).ok()?), what))),
            );
        }
        Ok(found)
    }

    fn search_context(&mut self, query: &Query, depth: SearchDepth) -> Result<SearchContext, Failure> {
        self.workspace.refresh()?;
        let marks = self.workspace.recent_marks();
        let mut languages = BTreeSet::new();
        for lane in &mut self.workspace.lanes {
            languages.extend(lane.with_candidates(|index| index.languages())?);
        }
        let languages: Vec<Language> = languages.into_iter().collect();
        let table = Table::built_in();
        let mut asked = AnalyzedQuery::new(&query.text, &languages, &table);
        let is_long = asked.is_long();
        let mut doc_freqs = self.doc_freqs(&asked)?;
        let mut is_respelled = false;
        for effort in depth.spelling(is_long) {
            if let Some(respelled) = self.respelled(&asked, &doc_freqs, &languages, *effort)? {
                asked = respelled;
                is_respelled = true;
            }
        }
        if is_long {
            if is_respelled {
                doc_freqs = self.doc_freqs(&asked)?;
            }
            asked = asked.rarest(&doc_freqs);
        }
        let (statistics, mut found) = self.gather(&asked, query, depth.limits())?;
        // A candidate found only by a word of its title stays only if the query names it: otherwise the
        // results would depend on how files are named.
        found.retain(|(_, found)| {
            !found.only_named || recall::is_named(query, &asked, &statistics, &found.entry)
        });
        // Candidates with equal scores keep this order, whatever order the index returned them in.
        found.sort_unstable_by(|(_, a), (_, b)| a.entry.address.cmp(&b.entry.address));
        let (candidates, origins) = found
            .into_iter()
            .map(|(lane, CandidateRow { id, entry, doc, digest, .. })| {
                let pinned = marks.pinned.contains(&entry.address);
                (Candidate { entry, doc, second: Vec::new(), pinned }, IndexRef { lane, id, digest })
            })
            .unzip();
        Ok(SearchContext { asked, statistics, candidates, marks, origins })
    }

    /// The doc frequency of each query term.
    fn doc_freqs(&mut self, asked: &AnalyzedQuery) -> Result<Vec<u64>, Failure> {
        let mut doc_freqs = vec![0; asked.terms.len()];
        for lane in &mut self.workspace.lanes {
            add(&mut doc_freqs, &lane.with_candidates(|index| index.doc_freqs(asked))?);
        }
        Ok(doc_freqs)
    }

    /// The candidates of all lanes, with statistics of them as one corpus.
    fn gather(
        &mut self,
        asked: &AnalyzedQuery,
        query: &Query,
        limits: CandidateLimits,
    ) -> Result<(Statistics, Vec<(LaneId, CandidateRow)>), Failure> {
        let mut statistics = Statistics { doc_freqs: vec![0; asked.terms.len()], ..Statistics::default() };
        let mut found = Vec::new();
        for lane in &mut self.workspace.lanes {
            let set = lane.with_candidates(|index| index.candidates(asked, query, limits))?;
            statistics.passages += set.passages;
            statistics.terms += set.terms;
            statistics.similarity += set.similarity;
            add(&mut statistics.doc_freqs, &set.doc_freqs);
            found.extend(set.memories.into_iter().map(|found| (lane.id(), found)));
        }
        Ok((statistics, found))
    }

    /// The query with words that no memory has taken for words that some have; `None` if there are none. `holding`
    /// is the doc frequency of each query term.
    fn respelled(
        &mut self,
        asked: &AnalyzedQuery,
        doc_freqs: &[u64],
        languages: &[Language],
        effort: SpellingEffort,
    ) -> Result<Option<AnalyzedQuery>, Failure> {
        let table = Table::built_in();
        let mut unknown = asked.unknown(doc_freqs);
        unknown.truncate(effort.words_max());
        let respellings = asked.respellings(&unknown, effort, languages, &table);
        if respellings.is_empty() {
            return Ok(None);
        }
        let mut terms: Vec<Term> = respellings.iter().flat_map(|one| one.terms()).collect();
        terms.sort_unstable();
        terms.dedup();
        let mut doc_freqs = vec![0; terms.len()];
        for lane in &mut self.workspace.lanes {
            add(&mut doc_freqs, &lane.with_candidates(|index| index.term_freqs(&terms))?);
        }
        let of = |term: Term| terms.binary_search(&term).map_or(0, |at| doc_freqs[at]);
        Ok(asked.respelled(respellings, of, languages, &table))
    }

    /// Reads the files of these hits and updates their candidates. Returns whether any file differs from the index
    /// or is gone, and the lanes of files that can no longer be read as a memory.
    fn refresh_hits(
        &self,
        query: &Query,
        context: &mut SearchContext,
        hits: &[Hit],
    ) -> (bool, BTreeSet<LaneId>) {
        let (mut differs, mut unreadable) = (false, BTreeSet::new());
        for (candidate, origin) in context.candidates.iter_mut().zip(&context.origins) {
            if !hits.iter().any(|hit| hit.address == candidate.entry.address) {
                continue;
            }
            let Some(lane) = self.workspace.lanes.of(&candidate.entry.address) else { continue };
            // Nearly all files are unchanged, and a digest tells that without parsing them.
            let bytes = lane.read(&candidate.entry.path).ok().flatten();
            if bytes.as_ref().is_some_and(|bytes| index::digest(bytes) == origin.digest) {
                continue;
            }
            let said = lane.load(&candidate.entry.address).ok().map(|loaded| {
                let written = lane.seen(&loaded.path).map(|seen| index::written(seen.mtime_ns));
                let entry = MemorySummary { written, ..MemorySummary::of(&loaded.memory, &loaded.path) };
                (entry, MemoryFile { document: loaded.document, memory: loaded.memory, has_problems: false })
            });
            if bytes.is_some() && said.is_none() {
                unreadable.insert(lane.id());
            }
            match said.filter(|(entry, _)| query.wants(entry)) {
                Some((entry, said)) => {
                    let doc = lane.doc_entry(&said).to_bytes();
                    // The model's embeddings are of the old text.
                    *candidate = Candidate { entry, doc, second: Vec::new(), pinned: candidate.pinned };
                    differs = true;
                }
                None => {
                    candidate.doc.clear();
                    differs = true;
                }
            }
        }
        (differs, unreadable)
    }
}

fn add(sum: &mut [u64], more: &[u64]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}
