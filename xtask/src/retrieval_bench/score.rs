//! Scores a list of hits like the scorer of the sets: a hit counts as the units that its lines overlap, in
//! the order of the file, and a unit counts once, at its best rank.

use std::collections::BTreeSet;

use super::{Question, Set};

/// A passage that was found.
#[derive(Clone, Debug)]
pub struct Found {
    pub file: String,
    pub lines: (usize, usize),
}

/// What is ranked: the labelled units, or whole files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranked {
    Units,
    Files,
}

/// Means over questions, in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    pub questions: usize,
    pub recall_5: f64,
    pub recall_10: f64,
    pub hit_5: f64,
    pub all_5: f64,
    pub ndcg_10: f64,
}

/// Scores the questions that have an answer. `answers` are in their order.
pub fn score<'q>(
    set: &Set,
    asked: impl Iterator<Item = (&'q Question, &'q [Found])>,
    ranked: Ranked,
) -> Score {
    let mut sum = Score::default();
    for (question, found) in asked.filter(|(question, _)| !question.gold.is_empty()) {
        let one = match ranked {
            Ranked::Units => measure(&units(set, &question.group, found), &question.gold),
            Ranked::Files => {
                let gold: BTreeSet<String> =
                    question.gold.iter().filter_map(|unit| file_of(set, &question.group, unit)).collect();
                let mut order: Vec<String> = Vec::new();
                for found in found {
                    if !order.contains(&found.file) {
                        order.push(found.file.clone());
                    }
                }
                measure(&order, &gold.into_iter().collect::<Vec<_>>())
            }
        };
        sum.questions += 1;
        sum.recall_5 += one.recall_5;
        sum.recall_10 += one.recall_10;
        sum.hit_5 += one.hit_5;
        sum.all_5 += one.all_5;
        sum.ndcg_10 += one.ndcg_10;
    }
    let share = |total: f64| 100.0 * total / (sum.questions.max(1)) as f64;
    Score {
        questions: sum.questions,
        recall_5: share(sum.recall_5),
        recall_10: share(sum.recall_10),
        hit_5: share(sum.hit_5),
        all_5: share(sum.all_5),
        ndcg_10: share(sum.ndcg_10),
    }
}

fn units(set: &Set, group: &str, found: &[Found]) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    for found in found {
        let key = (group.to_owned(), found.file.clone());
        for unit in set.units.get(&key).into_iter().flatten() {
            let overlaps = unit.first <= found.lines.1 && found.lines.0 <= unit.last;
            if overlaps && !order.contains(&unit.name) {
                order.push(unit.name.clone());
            }
        }
    }
    order
}

fn file_of(set: &Set, group: &str, name: &str) -> Option<String> {
    let mut files = set.units.iter().filter(|((of, _), _)| of == group);
    files.find_map(|((_, file), units)| units.iter().any(|unit| unit.name == name).then(|| file.clone()))
}

fn measure(order: &[String], gold: &[String]) -> Score {
    let gold: BTreeSet<&String> = gold.iter().collect();
    let ranks: Vec<usize> =
        (1..).zip(order).filter(|(_, unit)| gold.contains(unit)).map(|(rank, _)| rank).collect();
    let within = |most: usize| ranks.iter().filter(|rank| **rank <= most).count();
    let discount = |rank: usize| 1.0 / ((rank + 1) as f64).log2();
    let ideal: f64 = (1..=gold.len().min(10)).map(discount).sum();
    let gained: f64 = ranks.iter().filter(|rank| **rank <= 10).map(|rank| discount(*rank)).sum();
    Score {
        questions: 1,
        recall_5: within(5) as f64 / gold.len() as f64,
        recall_10: within(10) as f64 / gold.len() as f64,
        hit_5: f64::from(u8::from(within(5) > 0)),
        all_5: f64::from(u8::from(within(5) == gold.len())),
        ndcg_10: gained / ideal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn measures_are_those_of_the_scorer() {
        let one = measure(&texts(&["a", "x", "b"]), &texts(&["a", "b", "c"]));
        assert_eq!((one.recall_5, one.hit_5, one.all_5), (2.0 / 3.0, 1.0, 0.0));
        let ideal = 1.0 + 1.0 / 3f64.log2() + 0.5;
        assert!((one.ndcg_10 - (1.0 + 0.5) / ideal).abs() < 1e-9);
        assert_eq!(measure(&[], &texts(&["a"])).recall_10, 0.0);
        let late: Vec<String> = (0..10).map(|at| format!("x{at}")).chain(texts(&["a"])).collect();
        assert_eq!(measure(&late, &texts(&["a"])).recall_10, 0.0);
    }
}
