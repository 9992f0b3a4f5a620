//! Weighs the passages of the memories that may answer a question.
//!
//! Two arms are summed: the words that a passage shares with the question, rare ones more (BM25), and how nearly it
//! means the same (the cosine of two directions). Both look at a passage four times: alone, with its neighbours,
//! with its section, with its whole memory, because a passage rarely repeats what was just said. Words count
//! relative to the best passage, meaning counts as it is: where words find nothing good, meaning decides.

use super::Signal;
use super::calibration::{self, ScoreCalibration};
use super::doc_entry::{self, DocView, PassageView as Kept};
use super::query::AnalyzedQuery;
use crate::corpus::MemorySummary;
use crate::memory::MemoryKind;
use crate::policy::Policy;
use crate::time::Timestamp;

const K1: f32 = 0.9;
const B: f32 = 0.5;

/// A memory that may answer a question.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub entry: MemorySummary,
    /// What is kept of its passages; empty for one that is not there any more.
    pub sheet: Vec<u8>,
    /// What the added model says of its passages, packed; empty where it has not read them.
    pub second: Vec<u8>,
    pub pinned: bool,
}

/// What is known of all passages that were searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    pub passages: u64,
    /// How many terms they have together.
    pub terms: u64,
    /// How many of them have each asked term.
    pub doc_freqs: Vec<u64>,
}

/// What each signal counts. The default is what ships; others are for measuring.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// The four contexts, in both arms.
    pub passage: f32,
    pub window: f32,
    pub section: f32,
    pub memory: f32,
    /// The two arms.
    pub words: f32,
    pub meaning: f32,
    /// How far apart the added model sets what it has read, beside how far apart the table sets it.
    pub model: f32,
    /// What a section of many passages loses: each of them had a chance to match.
    pub length: f32,
    /// Somebody who is asked about speaks.
    pub speaker: f32,
    /// The month that is asked about.
    pub date: f32,
    /// Below this nothing is relevant.
    pub floor: f32,
    /// For how many days a note is recent, and what that counts among equals.
    pub notes_recent_days: i64,
    pub notes_recent: f32,
}

/// What any tie-breaker counts at most: less than a difference in what is said.
const TIE_MAX: f32 = 0.05;

impl Weights {
    /// Those that ship, with a project's own recency of notes: a factor such as 1.2 is a fifth of the most that a
    /// tie-breaker may count.
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
            memory: 0.5,
            words: 1.0,
            meaning: 2.0,
            model: 1.0,
            length: 0.08,
            speaker: 0.2,
            date: 0.4,
            floor: 0.55,
            notes_recent_days: 30,
            notes_recent: 0.01,
        }
    }
}

/// What the tie-breakers count.
const RECORDS_RECENT: f32 = 0.02;
const PINNED: f32 = 0.01;
const CONFIDENT: f32 = 0.01;
/// What somebody whom no memory knows takes from the trust in an answer.
const STRANGER: f32 = 0.2;

/// One passage and how well it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPassage {
    /// Which of the memories.
    pub memory: usize,
    pub lines: (usize, usize),
    pub score: f32,
    /// The signals that brought it; they sum to the score.
    pub parts: Vec<(Signal, f32)>,
    /// Which of the asked terms stand in it.
    pub matched: Vec<usize>,
    /// How much of the question's rarity these are.
    pub covered: f32,
    pub cosine: f32,
    /// Whether its memory has any of the asked words.
    pub shares_words: bool,
}

/// All passages, best first, and whether any of them can be trusted to be an answer.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    pub passages: Vec<ScoredPassage>,
    pub is_answered: bool,
}

/// A passage before the best one is known.
struct Features {
    memory: usize,
    lines: (usize, usize),
    /// The words in the four contexts, and the meaning.
    words: [f32; 4],
    meaning: [f32; 4],
    /// The meaning by the added model, where it has read the passage.
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
    considered: &[Candidate],
    weights: &Weights,
) -> Scores {
    let scale = Scale::new(statistics);
    let mut raw = Vec::new();
    for (memory, considered) in considered.iter().enumerate() {
        let from = raw.len();
        let sheet = doc_entry::read(&considered.sheet);
        scale.passages(asked, memory, &sheet, &mut raw);
        let sections: Vec<usize> = sheet.passages.iter().map(|passage| passage.section).collect();
        let said = calibration::meanings(asked, &considered.second, &sections);
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
        |memory: usize| considered[memory].entry.created.is_some_and(|created| asked.mentions_month(created));
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
    // Among equals by what they say: the name of a file decides nothing.
    let order = |weighed: &ScoredPassage| (&considered[weighed.memory].sheet, weighed.lines);
    passages.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| order(a).cmp(&order(b))));
    let most = |of: fn(&ScoredPassage) -> f32| passages.iter().map(of).fold(0.0, f32::max);
    let stranger = asked.names_strangers(&statistics.doc_freqs);
    let trust = most(|weighed| weighed.covered) + most(|weighed| weighed.cosine)
        - if stranger { STRANGER } else { 0.0 };
    Scores { is_answered: !passages.is_empty() && trust >= weights.floor, passages }
}

/// How telling each asked term is, and how long a passage usually is.
struct Scale {
    rarity: Vec<f32>,
    /// The same for telling how much of a question is covered, and their sum.
    telling: Vec<f32>,
    total: f32,
    average: f32,
}

/// In a store of a few passages every word that stands somewhere is common, and one that stands nowhere would be all
/// that counts. How much of a question is covered is told as if there were this many.
const PASSAGES_MIN: u64 = 100;

/// How telling a term is among all passages: the fewer have it, the more.
pub fn idf(all: u64, holding: u64) -> f32 {
    let (all, holding) = (all as f32, holding as f32);
    (1.0 + (all - holding + 0.5).max(0.5) / (holding + 0.5)).ln()
}

impl Scale {
    fn new(statistics: &Statistics) -> Scale {
        let among = |all: u64| -> Vec<f32> {
            statistics.doc_freqs.iter().map(|holding| idf(all, *holding)).collect()
        };
        let telling = among(statistics.passages.max(PASSAGES_MIN));
        let average = (statistics.terms as f32 / (statistics.passages as f32).max(1.0)).max(1.0);
        let total = telling.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        Scale { rarity: among(statistics.passages), telling, total, average }
    }

    fn passages(&self, asked: &AnalyzedQuery, memory: usize, sheet: &DocView<'_>, all: &mut Vec<Features>) {
        let passages = &sheet.passages;
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
        let in_memory = (self.words(&unit, whole.clone(), whole_length), unit.meaning(whole, sheet.sum_norm));
        let mut section = (0..0, 0.0, 0.0);
        for (at, passage) in passages.iter().enumerate() {
            if !section.0.contains(&at) {
                let end = passages[at..].iter().take_while(|other| other.section == passage.section).count();
                let members = at..at + end;
                // No allowance for its size: the more a section says, the less one word in it tells.
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

    /// The words of some neighbouring passages together, as one text that is expected to be so long.
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

/// What a question found in the passages of one memory.
struct Units<'a> {
    passages: &'a [Kept<'a>],
    /// For each passage, how often each asked term stands in it.
    counts: &'a [f32],
    cosines: &'a [f32],
    width: usize,
}

impl Units<'_> {
    /// The cosine with the middle of some passages' directions; `reach` is the length of their sum.
    fn meaning(&self, members: std::ops::Range<usize>, reach: f32) -> f32 {
        let sum: f32 = self.cosines[members].iter().sum();
        if reach > 0.0 { (sum / reach).clamp(-1.0, 1.0) } else { 0.0 }
    }
}

/// What a memory is beside what it says. None of these outranks a difference in what is said.
pub(super) fn tie_breakers(
    weights: &Weights,
    considered: &Candidate,
    confidence: Option<f32>,
    now: Timestamp,
) -> Vec<(Signal, f32)> {
    let mut parts = Vec::new();
    let changed = considered.entry.changed();
    let (days, points) = match considered.entry.kind {
        MemoryKind::Record(_) => (super::RECENT_DAYS, RECORDS_RECENT),
        MemoryKind::Note(_) => (weights.notes_recent_days, weights.notes_recent),
    };
    if changed.is_some_and(|changed| now.days_since(changed) <= days) {
        parts.push((Signal::Recent, points));
    }
    if considered.pinned {
        parts.push((Signal::Pinned, PINNED));
    }
    if let Some(confidence) = confidence {
        parts.push((Signal::Confidence, CONFIDENT * confidence));
    }
    parts
}
