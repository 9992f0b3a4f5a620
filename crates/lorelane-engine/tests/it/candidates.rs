//! The index leaves no memory out that would be an answer: a body that looks at every memory ranks the same.

use crate::store::Temp;
use lorelane_core::corpus::MemorySummary;
use lorelane_core::embed::{DIMENSIONS, Table};
use lorelane_core::memory::LaneId;
use lorelane_core::recall::Query;
use lorelane_core::recall::doc_entry::{self, DocEntry, FieldBoost};
use lorelane_core::recall::query::AnalyzedQuery;
use lorelane_core::recall::relevance::SimilaritySum;
use lorelane_core::terms::{Language, Term};
use lorelane_core::time::Timestamp;
use lorelane_engine::disk::SeededRng;
use lorelane_engine::env::Env;
use lorelane_engine::index::{
    CandidateLimits, CandidateRow, CandidateSet, Candidates, IndexError, ListFilter, digest,
};
use lorelane_engine::workspace::Workspace;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

const NOW: Timestamp = Timestamp(1_772_000_000);
const WORDS: [&str; 24] = [
    "token", "login", "cache", "redis", "deploy", "branch", "merge", "schema", "invoice", "refund", "queue",
    "broker", "timeout", "retry", "worker", "session", "cookie", "header", "cart", "total", "tenant",
    "rollout", "metric", "alert",
];

/// Every memory is a candidate.
#[derive(Debug)]
struct Exhaustive(Vec<CandidateRow>);

impl Exhaustive {
    fn of(workspace: &mut Workspace) -> Exhaustive {
        let entries = workspace.recall().entries(ListFilter::default()).unwrap();
        let row = |(id, entry): (usize, MemorySummary)| {
            let loaded = workspace.load(&entry.address).unwrap();
            let passages = workspace.files().passages(&loaded);
            let doc = DocEntry::of(&loaded.memory, &passages, &Table::built_in(), FieldBoost::default());
            let digest = digest(loaded.document.text.as_bytes());
            CandidateRow { id: id as i64, entry, doc: doc.to_bytes(), digest, only_named: false }
        };
        Exhaustive(entries.into_iter().enumerate().map(row).collect())
    }

    fn similarity(&self, query: &AnalyzedQuery) -> SimilaritySum {
        let mut counts = vec![0; DIMENSIONS + 1];
        for row in &self.0 {
            let vector = doc_entry::read(&row.doc).vector();
            let signs = vector.values().iter().zip(query.vector.values());
            counts[signs.filter(|(own, asked)| (**own > 0.0) != (**asked > 0.0)).count()] += 1;
        }
        SimilaritySum::from_distances(&counts)
    }

    fn passages(&self) -> impl Iterator<Item = doc_entry::PassageView<'_>> {
        self.0.iter().flat_map(|row| doc_entry::read(&row.doc).passages)
    }
}

impl Candidates for Exhaustive {
    fn languages(&self) -> Result<Vec<Language>, IndexError> {
        Ok(vec![Language::English])
    }

    fn doc_freqs(&self, query: &AnalyzedQuery) -> Result<Vec<u64>, IndexError> {
        let having =
            |variant| self.passages().filter(|passage| passage.count(variant).is_some()).count() as u64;
        Ok(query
            .terms
            .iter()
            .map(|term| term.variants.iter().map(|variant| having(*variant)).sum())
            .collect())
    }

    fn term_freqs(&self, terms: &[Term]) -> Result<Vec<u64>, IndexError> {
        let having = |term| self.passages().filter(|passage| passage.count(term).is_some()).count() as u64;
        Ok(terms.iter().map(|term| having(*term)).collect())
    }

    fn candidates(
        &self,
        query: &AnalyzedQuery,
        filter: &Query,
        _: CandidateLimits,
    ) -> Result<CandidateSet, IndexError> {
        Ok(CandidateSet {
            passages: self.passages().count() as u64,
            terms: self.passages().map(|passage| passage.length as u64).sum(),
            doc_freqs: self.doc_freqs(query)?,
            similarity: self.similarity(query),
            memories: self.0.iter().filter(|row| filter.wants(&row.entry)).cloned().collect(),
        })
    }
}

#[test]
fn the_index_and_a_look_at_every_memory_rank_alike() {
    let temp = Temp::new();
    let notes = temp.0.join("project/.memories");
    fs::create_dir_all(&notes).unwrap();
    let mut rng = SeededRng::new(11);
    let mut some = |count: usize| (0..count).map(|_| *rng.pick(&WORDS)).collect::<Vec<_>>().join(" ");
    for number in 0..120 {
        let text =
            format!("---\ntitle: {}\ntags: [{}]\n---\n{}.\n\n{}.\n", some(3), some(1), some(9), some(14));
        fs::write(notes.join(format!("n{number}.md")), text).unwrap();
    }
    let home = temp.0.join("home").to_str().unwrap().to_owned();
    let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home)]);
    let env = Env { now: NOW, cwd: temp.0.join("project"), vars };
    let mut indexed = Workspace::open(&env, &env.cwd).unwrap();
    let mut exhaustive = Workspace::open(&env, &env.cwd).unwrap();
    let every = Arc::new(Exhaustive::of(&mut exhaustive));
    exhaustive.recall().set_candidates(LaneId::Notes, every);
    let mut found = 0;
    for asked in 0..60 {
        let query = Query::of_person(&some(1 + asked % 6), NOW);
        let ranked = |workspace: &mut Workspace| -> Vec<(String, i32)> {
            let hits = workspace.recall().search(&query, 10).unwrap().hits.into_iter();
            hits.map(|hit| (hit.address.to_string(), hit.score)).collect()
        };
        let answer = ranked(&mut indexed);
        assert_eq!(answer, ranked(&mut exhaustive), "{}", query.text);
        found += answer.len();
    }
    assert!(found > 400, "{found} hits");
}
