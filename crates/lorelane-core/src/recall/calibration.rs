//! Brings the cosines of an added model to the scale of the built-in table.
//!
//! The model's cosines have another scale than the table's, and since it reads in the background, some passages
//! have none. So they are calibrated on the passages that both have read, and replace the table's only there.

use super::query::AnalyzedQuery;
use crate::embed::packed::unpack;
use std::ops::Range;

/// The cosines of a memory's first passages in the four contexts (alone, with neighbours, with section, with the
/// whole memory), for as many passages as the model has read. `sections` has the section of every passage.
pub(super) fn meanings(asked: &AnalyzedQuery, kept: &[u8], sections: &[usize]) -> Vec<[f32; 4]> {
    let Some(asked) = &asked.second else { return Vec::new() };
    let mut directions = unpack(kept, asked.len());
    directions.truncate(sections.len());
    let sections = &sections[..directions.len()];
    let meaning = |members: Range<usize>| cosine(asked, &directions[members]);
    let whole = meaning(0..directions.len());
    let mut section = (0..0, 0.0);
    let contexts = |at: usize| {
        if !section.0.contains(&at) {
            let members = at..at + sections[at..].iter().take_while(|other| **other == sections[at]).count();
            section = (members.clone(), meaning(members));
        }
        let window = at.saturating_sub(1)..(at + 2).min(directions.len());
        [meaning(at..at + 1), meaning(window), section.1, whole]
    };
    (0..directions.len()).map(contexts).collect()
}

/// The cosine with the mean of some embeddings.
fn cosine(asked: &[f32], directions: &[Vec<f32>]) -> f32 {
    let mut sum = vec![0.0_f32; asked.len()];
    for direction in directions {
        sum.iter_mut().zip(direction).for_each(|(sum, value)| *sum += value);
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    let along: f32 = sum.iter().zip(asked).map(|(sum, asked)| sum * asked).sum();
    if length > 0.0 { (along / length).clamp(-1.0, 1.0) } else { 0.0 }
}

/// A linear map from one model's scores to the other's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ScoreCalibration {
    table: f32,
    second: f32,
    rate: f32,
}

impl ScoreCalibration {
    /// Fitted on the passages that both scored. `strength` is the spread of the result relative to the table's.
    pub(super) fn between(said: Vec<(f32, f32)>, strength: f32) -> ScoreCalibration {
        let count = said.len() as f32;
        let (tables, seconds): (Vec<f32>, Vec<f32>) = said.into_iter().unzip();
        let mean = |values: &[f32]| values.iter().sum::<f32>() / count;
        let spread = |values: &[f32], mean: f32| {
            (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / count).sqrt()
        };
        if tables.len() < 2 {
            return ScoreCalibration::default();
        }
        let (table, second) = (mean(&tables), mean(&seconds));
        let (wide, narrow) = (spread(&tables, table), spread(&seconds, second));
        // Without any spread the model says nothing about these passages.
        let rate = if narrow > 1e-6 { strength * wide / narrow } else { 0.0 };
        ScoreCalibration { table, second, rate }
    }

    /// What a passage gains when the model's score replaces the table's.
    pub(super) fn gained(self, table: f32, second: f32) -> f32 {
        if self.rate == 0.0 { 0.0 } else { self.table + self.rate * (second - self.second) - table }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_model_is_told_in_the_numbers_of_the_table() {
        let exchange = ScoreCalibration::between(vec![(0.4, 0.1), (0.6, 0.9)], 1.0);
        for (table, second, gained) in [(0.4, 0.9, 0.2), (0.6, 0.1, -0.2), (0.5, 0.5, 0.0), (0.4, 0.1, 0.0)] {
            assert!((exchange.gained(table, second) - gained).abs() < 1e-5, "{table} {second}");
        }
    }

    #[test]
    fn nothing_is_gained_where_nothing_is_told_apart() {
        for said in [vec![], vec![(0.4, 0.1)], vec![(0.4, 0.1), (0.6, 0.1)]] {
            assert_eq!(ScoreCalibration::between(said.clone(), 1.0).gained(0.3, 0.8), 0.0, "{said:?}");
        }
    }
}
