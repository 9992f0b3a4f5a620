//! Turns scored passages into hits: grouped by memory, without what is not relevant, near-duplicates collapsed.

use super::doc_entry;
use super::query::AnalyzedQuery;
use super::relevance::Relevance;
use super::score::{Candidate, ScoredPassage, Statistics, Weights, score, tie_breakers};
use super::{Hit, Query, ScorePart, Signal, finds_beginnings, name_parts, priority, tag_words};
use crate::corpus::MemorySummary;
use crate::terms::{Language, Term, each_term};
use crate::text::fold;
use std::collections::BTreeSet;

/// Points per unit of score: users see whole numbers.
const POINTS: f32 = 1000.0;
/// A passage below this share of the best score is dropped.
const BESIDE_THE_BEST: f32 = 0.25;
/// A word is rare if no more passages than this have it: in a small store, and as a share of a large one.
const RARE_MIN: u64 = 3;
const RARE_SHARE: f32 = 0.01;
/// A passage is about the same subject as a text if it covers this share of its rare words, has that many of its
/// words, and has this cosine.
const SAME_COVERED: f32 = 0.5;
const SAME_WORDS: usize = 3;
const SAME_MEANING: f32 = 0.5;
/// Two memories that share this much of their terms are near-duplicates.
const SAME_TERMS: f32 = 0.8;
/// A memory without any word of the prompt is named as left out if it is at least this relevant.
const LIKELY: f32 = 0.05;
/// Only this many of the best are compared with each other.
const SAME_AMONG: usize = 20;

/// The results, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    pub hits: Vec<Hit>,
    /// How many there are before the list is cut.
    pub total: usize,
}

/// What a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultMode {
    /// Each memory once, with its best passage; near-duplicates collapsed.
    Memories,
    /// Every relevant passage.
    Passages,
    /// Each memory once, relevant or not: the caller has its own rule.
    Everything,
}

/// Ranks the candidates and returns at most `limit` hits.
pub fn rank(
    query: &Query,
    asked: &AnalyzedQuery,
    statistics: &Statistics,
    candidates: &[Candidate],
    weights: &Weights,
    grouping: ResultMode,
    limit: usize,
) -> SearchResults {
    let scores = score(asked, statistics, candidates, weights);
    let mut passages = scores.passages;
    match grouping {
        ResultMode::Everything => {
            let mut named: Vec<Option<bool>> = vec![None; candidates.len()];
            let mut is_named = |memory: usize| {
                *named[memory]
                    .get_or_insert_with(|| is_named(query, asked, statistics, &candidates[memory].entry))
            };
            let is_likely = |memory: usize| scores.evidence[memory].chance(&weights.relevance) >= LIKELY;
            passages
                .retain(|scored| scored.shares_words || is_likely(scored.memory) || is_named(scored.memory));
        }
        ResultMode::Memories | ResultMode::Passages if scores.is_answered => {
            let best = passages.first().map_or(0.0, |best| best.score);
            passages.retain(|scored| scored.score >= BESIDE_THE_BEST * best);
        }
        ResultMode::Memories | ResultMode::Passages => {
            let named: Vec<bool> =
                candidates.iter().map(|one| is_named(query, asked, statistics, &one.entry)).collect();
            passages.retain(|scored| named[scored.memory]);
        }
    }
    if grouping != ResultMode::Passages {
        let mut met = BTreeSet::new();
        passages.retain(|scored| met.insert(scored.memory));
    }
    // What is not current comes after all that is, however well it matches.
    let is_current =
        |scored: &ScoredPassage| candidates[scored.memory].entry.not_current(query.now).is_none();
    passages.sort_by_key(|scored| !is_current(scored));
    // Only what can still be shown is processed further; tie-breakers move a hit by a few places at most.
    let total = passages.len();
    if grouping != ResultMode::Everything {
        passages.truncate(limit.saturating_add(SAME_AMONG));
    }
    let mut hits: Vec<(usize, Hit)> = passages
        .iter()
        .map(|scored| {
            let found = hit(query, asked, weights, scored, &candidates[scored.memory]);
            let relevance = Relevance::of(&scores.evidence[scored.memory], asked, &weights.relevance);
            (scored.memory, Hit { relevance: Some(relevance), ..found })
        })
        .collect();
    // The sorts are stable, so equal hits keep the order of their passages.
    hits.sort_by_key(|(_, hit)| {
        (hit.not_current.is_some(), std::cmp::Reverse(hit.score), priority(hit.kind))
    });
    if grouping == ResultMode::Everything {
        hits.sort_by(|(_, a), (_, b)| by_relevance(a, b));
    }
    if grouping == ResultMode::Memories {
        let before = hits.len();
        hits = collapsed(hits, candidates);
        let gone = before - hits.len();
        hits.truncate(limit);
        return SearchResults { total: total - gone, hits: hits.into_iter().map(|(_, hit)| hit).collect() };
    }
    hits.truncate(limit);
    SearchResults { total, hits: hits.into_iter().map(|(_, hit)| hit).collect() }
}

/// Current memories first, then the more relevant.
fn by_relevance(a: &Hit, b: &Hit) -> std::cmp::Ordering {
    let chance = |hit: &Hit| hit.relevance.as_ref().map_or(0.0, |relevance| relevance.chance);
    let is_stale = |hit: &Hit| hit.not_current.is_some();
    is_stale(a).cmp(&is_stale(b)).then(chance(b).total_cmp(&chance(a)))
}

/// The memory that is about the same subject as a text, if any says enough of it.
pub fn same_subject(
    query: &Query,
    asked: &AnalyzedQuery,
    statistics: &Statistics,
    candidates: &[Candidate],
    weights: &Weights,
) -> Option<Hit> {
    let scores = score(asked, statistics, candidates, weights);
    let is_same = |scored: &&ScoredPassage| {
        scored.covered >= SAME_COVERED
            && scored.cosine >= SAME_MEANING
            && scored.matched.len() >= SAME_WORDS
            // What is saved into a memory that is not current would never be shown.
            && candidates[scored.memory].entry.not_current(query.now).is_none()
    };
    let best = scores.passages.iter().find(is_same)?;
    Some(hit(query, asked, weights, best, &candidates[best.memory]))
}

/// Whether a query names a memory, so that it is a hit although most of the query is about something else: by a
/// tag, or by a rare word of the title. A title that is only the file name needs two. A tag also matches a longer
/// word that begins with it, because tags abbreviate: `auth`.
pub fn is_named(
    query: &Query,
    asked: &AnalyzedQuery,
    statistics: &Statistics,
    entry: &MemorySummary,
) -> bool {
    let few = RARE_MIN.max((statistics.passages as f32 * RARE_SHARE) as u64);
    let is_rare = |word: &String| {
        let mut terms = asked.terms.iter().zip(&statistics.doc_freqs);
        terms.any(|(term, doc_freq)| fold(&term.word) == *word && *doc_freq <= few)
    };
    let named = name_parts(query, &entry.title, &entry.tags);
    let words = |signal: Signal| {
        named.iter().filter(move |part| part.signal == signal).flat_map(|part| &part.matched)
    };
    let is_short_for_one = |tag: &String| match tag_words(tag).as_slice() {
        [tag] if finds_beginnings(tag) => {
            query.words.iter().any(|word| word.len() > tag.len() && word.starts_with(tag) && is_rare(word))
        }
        _ => false,
    };
    words(Signal::Tag).any(|word| is_rare(word) || is_no_term(word))
        || words(Signal::Title).filter(|word| is_rare(word)).count() >= if entry.is_titled() { 1 } else { 2 }
        || entry.tags.iter().any(is_short_for_one)
}

/// Whether a tag such as `r` or `i/o` is not a search term: then no doc frequency says how rare it is.
fn is_no_term(word: &str) -> bool {
    let mut is_none = true;
    each_term(word, Language::English, &mut |_| is_none = false);
    is_none
}

fn hit(
    query: &Query,
    asked: &AnalyzedQuery,
    weights: &Weights,
    scored: &ScoredPassage,
    candidate: &Candidate,
) -> Hit {
    let confidence = doc_entry::read(&candidate.doc).confidence;
    let entry = &candidate.entry;
    let signals = scored.parts.iter().copied().chain(tie_breakers(weights, candidate, confidence, query.now));
    let matched = || scored.matched.iter().map(|at| asked.terms[*at].shown()).collect();
    let explain: Vec<ScorePart> = signals
        .map(|(signal, score)| ScorePart {
            signal,
            points: (score * POINTS).round() as i32,
            matched: if signal == Signal::Words { matched() } else { Vec::new() },
        })
        .filter(|part| part.points != 0)
        .collect();
    Hit { lines: Some(scored.lines), ..super::hit(entry, explain, query.now) }
}

/// Moves each near-duplicate into the `same` list of the better hit.
fn collapsed(hits: Vec<(usize, Hit)>, candidates: &[Candidate]) -> Vec<(usize, Hit)> {
    let mut kept: Vec<(usize, Hit, Vec<Term>)> = Vec::new();
    for (memory, hit) in hits {
        let terms = terms_of(&candidates[memory].doc);
        let same = kept.iter_mut().take(SAME_AMONG).find(|(_, _, others)| says_the_same(&terms, others));
        match same {
            Some((_, better, _)) => better.same.push(hit.address),
            None => kept.push((memory, hit, terms)),
        }
    }
    kept.into_iter().map(|(memory, hit, _)| (memory, hit)).collect()
}

/// The distinct terms of a memory, sorted.
fn terms_of(bytes: &[u8]) -> Vec<Term> {
    let passages = doc_entry::read(bytes).passages;
    let mut terms: Vec<Term> = passages.iter().flat_map(|passage| passage.terms()).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Whether two sorted lists of terms are nearly equal. Very short texts are not compared: a few words are easily
/// the same.
pub fn says_the_same(one: &[Term], other: &[Term]) -> bool {
    const FEW: usize = 8;
    let (small, large) = (one.len().min(other.len()), one.len().max(other.len()));
    if small < FEW || (small as f32) < SAME_TERMS * large as f32 {
        return false;
    }
    let (mut both, mut others) = (0, other.iter().peekable());
    for term in one {
        while others.next_if(|other| *other < term).is_some() {}
        both += usize::from(others.next_if(|other| *other == term).is_some());
    }
    both as f32 >= SAME_TERMS * (one.len() + other.len() - both) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_nearly_the_same_terms_say_the_same() {
        let terms = |range: std::ops::Range<u32>| range.map(Term).collect::<Vec<_>>();
        assert!(says_the_same(&terms(0..20), &terms(1..20)));
        assert!(!says_the_same(&terms(0..20), &terms(10..30)));
        assert!(!says_the_same(&terms(0..20), &terms(0..15)));
        assert!(!says_the_same(&terms(0..4), &terms(0..4)));
    }
}
