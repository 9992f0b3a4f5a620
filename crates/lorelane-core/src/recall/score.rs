//! Scores the passages of candidate memories.
//!
//! A score is the sum of two arms: BM25 over the query terms and the cosine of the embeddings. Each arm scores a
//! passage four times (alone, with its neighbours, with its section, with its memory), because a passage rarely
//! repeats what was just said. BM25 is relative to the best passage and cosines are absolute: where no passage
//! matches the words well, meaning decides.

use super::Signal;
use super::calibration::{self, ScoreCalibration};
use super::doc_entry::{self, DocView, PassageView as Kept};
use super::query::{AnalyzedQuery, QueryTerm};
use super::relevance::{Evidence, RelevanceWeights, SimilaritySum, TermWeights};
use crate::corpus::MemorySummary;
use crate::memory::MemoryKind;
use crate::policy::Policy;
use crate::time::Timestamp;

const K1: f32 = 0.9;
const B: f32 = 0.5;

/// A memory that may match a query.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub entry: MemorySummary,
    /// Its doc entry; empty if the memory no longer exists.
    pub doc: Vec<u8>,
    /// The packed vectors of its passages by the added model; empty if the model has not read them.
    pub second: Vec<u8>,
    pub pinned: bool,
}

/// Collection statistics of all passages that were searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    pub passages: u64,
    /// The total number of terms in them.
    pub terms: u64,
    /// The doc frequency of each query term, counted in passages.
    pub doc_freqs: Vec<u64>,
    pub similarity: SimilaritySum,
}

/// The weight of each signal. The default is what ships; other values are for measuring.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// The four contexts, for both arms.
    pub passage: f32,
    pub window: f32,
    pub section: f32,
    pub memory: f32,
    /// The two arms.
    pub words: f32,
    pub meaning: f32,
    /// The spread of the added model's scores, relative to the spread of the table's.
    pub model: f32,
    /// The penalty of a section with many passages, each of which had a chance to match.
    pub length: f32,
    /// The passage is spoken by somebody the query names.
    pub speaker: f32,
    /// The memory was created in a month that the query names.
    pub date: f32,
    /// Below this, no passage counts as an answer.
    pub floor: f32,
    /// For how many days a note is recent, and the weight of that among equals.
    pub notes_recent_days: i64,
    pub notes_recent: f32,
    pub relevance: RelevanceWeights,
}

/// The upper limit of a tie-breaker, below any real difference between passages.
const TIE_MAX: f32 = 0.05;

impl Weights {
    /// The default weights with the project's recency of notes: a factor of 1.2 is a fifth of `TIE_MAX`.
    pub fn of(policy: &Policy) -> Weights {
        let more = (policy.notes_recency_factor() - 1.0).clamp(0.0, 1.0) as f32;
        Weights {
            notes_recent_days: policy.notes_recency_days(),
            notes_recent: TIE_MAX * more,
            ..Weights::default()
        }
    }
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            passage: 1.0,
            window: 1.0,
            section: 1.0,
            memory: 0.6,
            words: 1.0,
            meaning: 2.0,
            model: 1.0,
            length: 0.08,
            speaker: 0.2,
            date: 0.4,
            floor: 0.42,
            notes_recent_days: 30,
            notes_recent: 0.01,
            relevance: RelevanceWeights::default(),
        }
    }
}

/// The tie-breakers. A pin stands in for frequent use: ranking by exposure would make popular memories more
/// popular. Links do not rank, because no measured set has any.
const RECORDS_RECENT: f32 = 0.02;
const PINNED: f32 = 0.01;
const CONFIDENT: f32 = 0.01;
/// Subtracted from the trust in an answer: for the share of the words that no memory has, and when the query names
/// only people and things that no memory mentions.
const MISSING: f32 = 0.5;
const STRANGER: f32 = 0.6;
/// What a word weighs that occurs elsewhere in the memory, and not in the passage.
const IN_MEMORY: f32 = 0.3;
/// Added if the table cannot read the query's script: then the cosine says nothing for or against.
const UNREAD: f32 = 0.35;

/// A passage and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPassage {
    /// The position of its memory among the candidates.
    pub memory: usize,
    pub lines: (usize, usize),
    pub score: f32,
    /// The signals that sum to the score.
    pub parts: Vec<(Signal, f32)>,
    /// The positions of the query terms that occur in it.
    pub matched: Vec<usize>,
    /// Their share of the query's idf.
    pub covered: f32,
    pub cosine: f32,
    /// Whether its memory has any of the query terms.
    pub shares_words: bool,
}

/// All passages, best first, and whether the best is good enough to be an answer.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    pub passages: Vec<ScoredPassage>,
    pub is_answered: bool,
    /// Of each candidate, in their order.
    pub evidence: Vec<Evidence>,
}

/// The features of a passage, before the best one is known.
struct Features {
    memory: usize,
    lines: (usize, usize),
    /// BM25 and cosine in the four contexts.
    words: [f32; 4],
    meaning: [f32; 4],
    /// The cosines by the added model, if it has read the passage.
    second: Option<[f32; 4]>,
    choices: f32,
    speaks: bool,
    matched: Vec<usize>,
    covered: f32,
    cosine: f32,
}

pub fn score(
    asked: &AnalyzedQuery,
    statistics: &Statistics,
    candidates: &[Candidate],
    weights: &Weights,
) -> Scores {
    let scale = Scale::new(asked, statistics);
    let term_weights = TermWeights::new(asked, statistics);
    let mut raw = Vec::new();
    let mut evidence = Vec::with_capacity(candidates.len());
    for (memory, candidate) in candidates.iter().enumerate() {
        let from = raw.len();
        let doc = doc_entry::read(&candidate.doc);
        scale.passages(asked, memory, &doc, &mut raw);
        let own = raw[from..].iter().map(|raw: &Features| (raw.matched.as_slice(), raw.cosine));
        evidence.push(term_weights.evidence(asked, &doc, own));
        let sections: Vec<usize> = doc.passages.iter().map(|passage| passage.section).collect();
        let said = calibration::meanings(asked, &candidate.second, &sections);
        raw[from..].iter_mut().zip(said).for_each(|(raw, said)| raw.second = Some(said));
    }
    let contexts = [weights.passage, weights.window, weights.section, weights.memory];
    let all = contexts.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let summed =
        |values: &[f32; 4]| values.iter().zip(contexts).map(|(value, weight)| value * weight).sum::<f32>();
    let best = raw.iter().map(|raw| summed(&raw.words)).fold(0.0, f32::max);
    let of_words = if best > 0.0 { weights.words / best } else { 0.0 };
    let of_meaning = weights.meaning / all;
    let said = raw.iter().filter_map(|raw| Some((summed(&raw.meaning), summed(&raw.second?))));
    let exchange = ScoreCalibration::between(said.collect(), weights.model);
    let dated =
        |memory: usize| candidates[memory].entry.created.is_some_and(|created| asked.mentions_month(created));
    let mut passages: Vec<ScoredPassage> = raw
        .into_iter()
        .map(|raw| {
            let words = |at: usize| of_words * contexts[at] * raw.words[at];
            let meaning = |at: usize| of_meaning * contexts[at] * raw.meaning[at];
            let second = raw
                .second
                .map_or(0.0, |second| of_meaning * exchange.gained(summed(&raw.meaning), summed(&second)));
            let parts = vec![
                (Signal::Words, words(0)),
                (Signal::Around, words(1)),
                (Signal::Section, words(2)),
                (Signal::Memory, words(3)),
                (Signal::Meaning, meaning(0)),
                (Signal::MeaningAround, meaning(1) + meaning(2) + meaning(3)),
                (Signal::Model, second),
                (Signal::Length, -weights.length * raw.choices),
                (Signal::Speaker, if raw.speaks { weights.speaker } else { 0.0 }),
                (Signal::Date, if dated(raw.memory) { weights.date } else { 0.0 }),
            ];
            ScoredPassage {
                memory: raw.memory,
                lines: raw.lines,
                score: parts.iter().map(|(_, points)| points).sum(),
                parts,
                matched: raw.matched,
                covered: raw.covered,
                cosine: raw.cosine,
                shares_words: raw.words[3] > 0.0,
            }
        })
        .collect();
    // Ties are broken by content: a file name decides nothing, so that renaming files changes no result.
    let order = |scored: &ScoredPassage| (&candidates[scored.memory].doc, scored.lines);
    passages.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| order(a).cmp(&order(b))));
    let trust = trust(asked, statistics, &passages);
    Scores { is_answered: !passages.is_empty() && trust >= weights.floor, passages, evidence }
}

/// How far the best passage can be trusted to be an answer: what it covers of the question, and how near its
/// embedding is. Words that no memory has count against it, and names most: a question about strangers is a question
/// about something else. Always by the table's cosines: at any time some passages have none by the added model.
fn trust(asked: &AnalyzedQuery, statistics: &Statistics, passages: &[ScoredPassage]) -> f32 {
    let all = statistics.passages.max(PASSAGES_MIN);
    let terms = || asked.terms.iter().zip(&statistics.doc_freqs);
    let weights: Vec<f32> =
        terms().map(|(term, doc_freq)| term.asked_weight(*doc_freq) * idf(all, *doc_freq)).collect();
    let total = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let memories = passages.iter().map(|scored| scored.memory + 1).max().unwrap_or(0);
    let mut in_memory = vec![0.0_f32; memories];
    let mut met = vec![false; memories * weights.len()];
    for scored in passages {
        for term in &scored.matched {
            if !std::mem::replace(&mut met[scored.memory * weights.len() + term], true) {
                in_memory[scored.memory] += weights[*term];
            }
        }
    }
    let covered = |scored: &ScoredPassage| {
        let own: f32 = scored.matched.iter().map(|term| weights[*term]).sum();
        let all = in_memory[scored.memory];
        (own + IN_MEMORY * (all - own)) / total + scored.cosine.max(0.0)
    };
    let best = passages.iter().map(covered).fold(0.0, f32::max);
    let content = |wanted: fn(u64) -> bool| -> f32 {
        let content =
            terms().zip(&weights).filter(|((term, doc_freq), _)| !term.is_name() && wanted(**doc_freq));
        content.map(|(_, weight)| weight).sum()
    };
    let missing = content(|doc_freq| doc_freq == 0) / content(|_| true).max(f32::MIN_POSITIVE);
    let stranger = if asked.names_strangers(&statistics.doc_freqs) { STRANGER } else { 0.0 };
    let unread = if asked.vector.is_zero() { UNREAD } else { 0.0 };
    best + unread - MISSING * missing - stranger
}

/// The idf of each query term, and the average passage length.
struct Scale {
    rarity: Vec<f32>,
    /// The idf for the share of a query that is covered, and their sum.
    telling: Vec<f32>,
    total: f32,
    average: f32,
}

/// In a store of a few passages every word that occurs is common, and a word that occurs nowhere would outweigh
/// all others. Coverage is therefore computed as if there were at least this many passages.
const PASSAGES_MIN: u64 = 100;

/// The inverse document frequency of BM25; never negative.
pub fn idf(all: u64, doc_freq: u64) -> f32 {
    let (all, doc_freq) = (all as f32, doc_freq as f32);
    (1.0 + (all - doc_freq + 0.5).max(0.5) / (doc_freq + 0.5)).ln()
}

impl Scale {
    fn new(asked: &AnalyzedQuery, statistics: &Statistics) -> Scale {
        let among = |all: u64, weight: fn(&QueryTerm) -> f32| -> Vec<f32> {
            let terms = asked.terms.iter().zip(&statistics.doc_freqs);
            terms.map(|(term, doc_freq)| weight(term) * idf(all, *doc_freq)).collect()
        };
        let telling = among(statistics.passages.max(PASSAGES_MIN), |term| f32::from(term.is_asked()));
        let average = (statistics.terms as f32 / (statistics.passages as f32).max(1.0)).max(1.0);
        let total = telling.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        Scale { rarity: among(statistics.passages, QueryTerm::weight), telling, total, average }
    }

    fn passages(&self, asked: &AnalyzedQuery, memory: usize, doc: &DocView<'_>, all: &mut Vec<Features>) {
        let passages = &doc.passages;
        let width = asked.terms.len();
        let mut counts = vec![0.0_f32; passages.len() * width];
        let mut speaks = vec![false; passages.len()];
        for (at, passage) in passages.iter().enumerate() {
            for (term, count) in asked.terms.iter().zip(&mut counts[at * width..]) {
                for found in term.variants.iter().filter_map(|variant| passage.count(*variant)) {
                    *count = count.max(f32::from(found.times));
                    speaks[at] |= found.in_label;
                }
            }
        }
        let cosines: Vec<f32> = passages.iter().map(|passage| passage.cosine(&asked.small)).collect();
        let unit = Units { passages, counts: &counts, cosines: &cosines, width };
        let whole = 0..passages.len();
        let whole_length = self.average * passages.len() as f32;
        let in_memory = (self.words(&unit, whole.clone(), whole_length), unit.meaning(whole, doc.sum_norm));
        let mut section = (0..0, 0.0, 0.0);
        for (at, passage) in passages.iter().enumerate() {
            if !section.0.contains(&at) {
                let end = passages[at..].iter().take_while(|other| other.section == passage.section).count();
                let members = at..at + end;
                // Not normalized by its size: the more a section says, the less one word in it means.
                let words = self.words(&unit, members.clone(), self.average);
                section = (members.clone(), words, unit.meaning(members, passage.section_reach));
            }
            let window = at.saturating_sub(1)..(at + 2).min(passages.len());
            let window_length = self.average * window.len() as f32;
            let own = &counts[at * width..(at + 1) * width];
            let matched: Vec<usize> = (0..width).filter(|term| own[*term] > 0.0).collect();
            all.push(Features {
                memory,
                lines: passage.lines,
                words: [
                    self.words(&unit, at..at + 1, self.average),
                    self.words(&unit, window.clone(), window_length),
                    section.1,
                    in_memory.0,
                ],
                meaning: [cosines[at], unit.meaning(window, passage.window_reach), section.2, in_memory.1],
                second: None,
                choices: (section.0.len() as f32).ln(),
                speaks: speaks[at],
                covered: matched.iter().map(|term| self.telling[*term]).sum::<f32>() / self.total,
                cosine: cosines[at],
                matched,
            });
        }
    }

    /// BM25 of neighbouring passages taken as one text of the expected length. The counts are summed first:
    /// adding up the passages' own scores instead cost one to two points of R@10.
    fn words(&self, unit: &Units<'_>, members: std::ops::Range<usize>, expected: f32) -> f32 {
        let length: usize = unit.passages[members.clone()].iter().map(|passage| passage.length).sum();
        let norm = K1 * (1.0 - B + B * length as f32 / expected);
        let mut points = 0.0;
        for (term, rarity) in self.rarity.iter().enumerate().take(unit.width) {
            let count: f32 = members.clone().map(|at| unit.counts[at * unit.width + term]).sum();
            points += rarity * count * (K1 + 1.0) / (count + norm);
        }
        points
    }
}

/// The matches of a query in the passages of one memory.
struct Units<'a> {
    passages: &'a [Kept<'a>],
    /// For each passage, how often each query term occurs in it.
    counts: &'a [f32],
    cosines: &'a [f32],
    width: usize,
}

impl Units<'_> {
    /// The cosine with the mean of some passages' embeddings; `reach` is the norm of their sum.
    fn meaning(&self, members: std::ops::Range<usize>, reach: f32) -> f32 {
        let sum: f32 = self.cosines[members].iter().sum();
        if reach > 0.0 { (sum / reach).clamp(-1.0, 1.0) } else { 0.0 }
    }
}

/// The tie-breakers of a memory. None of them outranks a difference in content.
pub(super) fn tie_breakers(
    weights: &Weights,
    candidate: &Candidate,
    confidence: Option<f32>,
    now: Timestamp,
) -> Vec<(Signal, f32)> {
    let mut parts = Vec::new();
    let changed = candidate.entry.content_changed;
    let (days, points) = match candidate.entry.kind {
        MemoryKind::Record(_) => (super::RECENT_DAYS, RECORDS_RECENT),
        MemoryKind::Note(_) | MemoryKind::Auto(_) => (weights.notes_recent_days, weights.notes_recent),
    };
    if changed.is_some_and(|changed| now.days_since(changed) <= days) {
        parts.push((Signal::Recent, points));
    }
    if candidate.pinned {
        parts.push((Signal::Pinned, PINNED));
    }
    if let Some(confidence) = confidence {
        parts.push((Signal::Confidence, CONFIDENT * confidence));
    }
    parts
}
