//! Weighs the passages of the memories that may answer a question.

use super::ask::Asked;
use super::sheet::{self, Part};
use crate::embed::{Quantised, Vector};

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// What is known of all passages that were searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    pub passages: u64,
    /// How many terms they have together.
    pub terms: u64,
    /// How many of them have each asked term.
    pub holding: Vec<u64>,
}

/// What each signal counts. The configuration that ships is the default; others are for measuring.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    pub words: f32,
    pub around: f32,
    pub section: f32,
    pub memory: f32,
    pub name: f32,
    pub meaning: f32,
    pub meaning_around: f32,
    pub long: f32,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            words: 1.0,
            around: 0.5,
            section: 0.5,
            memory: 0.25,
            name: 0.0,
            meaning: 1.0,
            meaning_around: 0.5,
            long: 0.4,
        }
    }
}

/// One passage and how well it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighed {
    /// Which of the memories.
    pub memory: usize,
    pub lines: (usize, usize),
    pub score: f32,
}

#[derive(Clone, Debug, Default)]
struct Features {
    memory: usize,
    lines: (usize, usize),
    words: f32,
    around: f32,
    section: f32,
    whole: f32,
    name: f32,
    meaning: f32,
    meaning_around: f32,
    section_chars: usize,
}

/// The passages of these sheets, best first.
pub fn weigh(asked: &Asked, statistics: &Statistics, sheets: &[&[u8]], weights: &Weights) -> Vec<Weighed> {
    let rarity = rarities(statistics);
    let average = statistics.terms as f32 / (statistics.passages as f32).max(1.0);
    let mut all: Vec<Features> = Vec::new();
    for (memory, sheet) in sheets.iter().enumerate() {
        features(asked, &rarity, average, memory, sheet, &mut all);
    }
    let top = |of: fn(&Features) -> f32| all.iter().map(of).fold(0.0_f32, f32::max);
    let low = |of: fn(&Features) -> f32| all.iter().map(of).fold(f32::MAX, f32::min);
    let spread = |of: fn(&Features) -> f32| {
        let (low, top) = (low(of), top(of));
        move |value: f32| if top > low { (value - low) / (top - low) } else { 0.0 }
    };
    let (words, around, section, whole) =
        (spread(|f| f.words), spread(|f| f.around), spread(|f| f.section), spread(|f| f.whole));
    let (meaning, meaning_around) = (spread(|f| f.meaning), spread(|f| f.meaning_around));
    let mut weighed: Vec<Weighed> = all
        .iter()
        .map(|f| {
            let score = weights.words * words(f.words)
                + weights.around * around(f.around)
                + weights.section * section(f.section)
                + weights.memory * whole(f.whole)
                + weights.name * f.name
                + weights.meaning * meaning(f.meaning)
                + weights.meaning_around * meaning_around(f.meaning_around)
                - weights.long * (f.section_chars as f32 / 1200.0).ln().max(0.0);
            Weighed { memory: f.memory, lines: f.lines, score }
        })
        .collect();
    weighed.sort_by(|a, b| b.score.total_cmp(&a.score));
    weighed
}

fn rarities(statistics: &Statistics) -> Vec<f32> {
    let all = statistics.passages as f32;
    let rarity = |holding: &u64| {
        let holding = *holding as f32;
        (1.0 + (all - holding + 0.5).max(0.5) / (holding + 0.5)).ln()
    };
    statistics.holding.iter().map(rarity).collect()
}

fn features(asked: &Asked, rarity: &[f32], average: f32, memory: usize, sheet: &[u8], all: &mut Vec<Features>) {
    let mut parts = sheet::parts(sheet);
    let Some(name) = parts.next() else { return };
    let parts: Vec<Part<'_>> = parts.collect();
    let counts: Vec<Vec<f32>> = parts.iter().map(|part| counts(asked, part)).collect();
    let in_name = counts_of_name(asked, &name);
    let zero = || vec![0.0; asked.terms.len()];
    let unit = |members: &[usize]| {
        let mut sum = zero();
        let mut length = 0;
        for at in members {
            sum.iter_mut().zip(&counts[*at]).for_each(|(sum, count)| *sum += count);
            length += parts[*at].length;
        }
        bm25(&sum, rarity, length as f32 / (average * members.len() as f32).max(1.0))
    };
    let everything: Vec<usize> = (0..parts.len()).collect();
    let whole = unit(&everything);
    let total: f32 = rarity.iter().sum();
    let named: f32 = in_name.iter().zip(rarity).map(|(count, rarity)| count.min(1.0) * rarity).sum();
    let vectors: Vec<Vector> = parts.iter().map(Part::vector).collect();
    let mut section = (usize::MAX, 0.0, 0);
    for (at, part) in parts.iter().enumerate() {
        if section.0 != part.section {
            let members: Vec<usize> =
                everything.iter().copied().filter(|other| parts[*other].section == part.section).collect();
            let chars = members.iter().map(|other| parts[*other].chars).sum();
            section = (part.section, unit(&members), chars);
        }
        let window: Vec<usize> = (at.saturating_sub(1)..(at + 2).min(parts.len())).collect();
        let around = Quantised::of(&Vector::middle(window.iter().map(|at| &vectors[*at])));
        all.push(Features {
            memory,
            lines: part.lines,
            words: unit(&[at]),
            around: unit(&window),
            section: section.1,
            whole,
            name: if total > 0.0 { named / total } else { 0.0 },
            meaning: part.cosine(&asked.small),
            meaning_around: asked.small.cosine(&around),
            section_chars: section.2,
        });
    }
}

fn counts(asked: &Asked, part: &Part<'_>) -> Vec<f32> {
    let count = |variants: &[crate::terms::Term]| variants.iter().map(|term| part.count(*term)).max();
    asked.terms.iter().map(|term| count(&term.variants).unwrap_or(0) as f32).collect()
}

fn counts_of_name(asked: &Asked, name: &Part<'_>) -> Vec<f32> {
    counts(asked, name)
}

fn bm25(counts: &[f32], rarity: &[f32], length: f32) -> f32 {
    let norm = K1 * (1.0 - B + B * length);
    counts.iter().zip(rarity).map(|(count, rarity)| rarity * count * (K1 + 1.0) / (count + norm)).sum()
}
