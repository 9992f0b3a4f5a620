//! Finds memories that say nearly the same: candidates for a merge.
//!
//! Two memories are near duplicates if the cosine of their embeddings reaches a threshold. A text in a script that
//! the embedding table does not cover has no embedding; it is compared by its terms, with other such texts only.

use crate::embed::{DIMENSIONS, QuantizedVector};
use crate::recall::doc_entry::DocView;
use crate::terms::Term;
use std::collections::BTreeSet;

/// Number of memories compared with all others at a time, so that they stay in the CPU cache.
const TILE: usize = 32;
/// The least cosine of two memories that say nearly the same.
pub const NEAR_DUPLICATE: f64 = 0.85;
/// A text with fewer distinct terms is not said to be like another: a few words are easily the same.
const TERMS_MIN: usize = 8;

/// A memory as a vector of small integers that can be compared quickly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    by: SimilarityBasis,
    steps: [i16; DIMENSIONS],
    square: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SimilarityBasis {
    Meaning,
    Terms,
}

impl Fingerprint {
    pub fn of(doc: &DocView<'_>) -> Fingerprint {
        let vector = doc.vector();
        if vector.is_zero() {
            return Fingerprint::new(SimilarityBasis::Terms, folded_terms(doc));
        }
        let small = QuantizedVector::of(&vector);
        Fingerprint::new(SimilarityBasis::Meaning, small.steps().map(i16::from))
    }

    /// The cosine; 0 if it is negative or the two cannot be compared.
    pub fn cosine(&self, other: &Fingerprint) -> f64 {
        self.closeness(other).sqrt()
    }

    fn new(by: SimilarityBasis, steps: [i16; DIMENSIONS]) -> Fingerprint {
        Fingerprint { by, steps, square: dot(&steps, &steps) }
    }

    /// The square of the cosine; 0 if it is negative or the two cannot be compared.
    fn closeness(&self, other: &Fingerprint) -> f64 {
        let dot = dot(&self.steps, &other.steps);
        if dot <= 0 || self.by != other.by {
            return 0.0;
        }
        // Squares of integers: identical texts have a similarity of exactly 1.
        (dot * dot) as f64 / (self.square * other.square) as f64
    }
}

/// Whether a memory says enough to be told that another says nearly the same.
pub fn says_enough(doc: &DocView<'_>) -> bool {
    let terms: BTreeSet<Term> = doc.passages.iter().flat_map(|passage| passage.terms()).collect();
    terms.len() >= TERMS_MIN
}

/// Hashes terms into the dimensions with a random sign, so that terms of unrelated texts cancel out.
fn folded_terms(doc: &DocView<'_>) -> [i16; DIMENSIONS] {
    let mut steps = [0_i16; DIMENSIONS];
    for Term(term) in doc.passages.iter().flat_map(|passage| passage.terms()) {
        let at = usize::try_from(term).unwrap_or(0) % DIMENSIONS;
        let sign = if term.leading_zeros() == 0 { -1 } else { 1 };
        steps[at] = (steps[at] + sign).clamp(-127, 127);
    }
    steps
}

fn dot(one: &[i16; DIMENSIONS], other: &[i16; DIMENSIONS]) -> i64 {
    let sum: i32 = one.iter().zip(other).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum();
    i64::from(sum)
}

/// A group of near duplicates, connected directly or through others.
#[derive(Clone, Debug, PartialEq)]
pub struct DuplicateCluster {
    /// Positions in the compared list.
    pub members: Vec<usize>,
    /// The mean cosine of the pairs that reach the threshold.
    pub score: f64,
}

/// The groups of two or more, most similar first. Compares every pair exactly: about two seconds for 10,000
/// memories. Sketches would be faster but would miss some.
pub fn groups(shapes: &[Fingerprint], threshold: f64) -> Vec<DuplicateCluster> {
    // Squares are compared, which saves a square root per pair.
    let least = threshold * threshold;
    let mut sets = UnionFind::new(shapes.len());
    for (tile, some) in shapes.chunks(TILE).enumerate() {
        let first = tile * TILE;
        for (other, shape) in shapes.iter().enumerate().skip(first + 1) {
            for (one, own) in (first..other).zip(some) {
                let closeness = own.closeness(shape);
                // Also for a threshold of 0: two memories that cannot be compared are not alike.
                if closeness > 0.0 && closeness >= least {
                    sets.join(one, other, closeness.sqrt());
                }
            }
        }
    }
    let mut groups = sets.groups();
    groups.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.members.cmp(&b.members)));
    groups
}

/// Disjoint sets, each with the sum of cosines and the number of its pairs.
struct UnionFind {
    above: Vec<usize>,
    pairs: Vec<(f64, u64)>,
}

impl UnionFind {
    fn new(count: usize) -> UnionFind {
        UnionFind { above: (0..count).collect(), pairs: vec![(0.0, 0); count] }
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.above[at] != at {
            self.above[at] = self.above[self.above[at]];
            at = self.above[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize, cosine: f64) {
        let (one, other) = (self.root(one), self.root(other));
        let (root, below) = (one.min(other), one.max(other));
        if root != below {
            self.above[below] = root;
            self.pairs[root].0 += self.pairs[below].0;
            self.pairs[root].1 += self.pairs[below].1;
        }
        self.pairs[root].0 += cosine;
        self.pairs[root].1 += 1;
    }

    fn groups(mut self) -> Vec<DuplicateCluster> {
        let mut members = vec![Vec::new(); self.above.len()];
        for at in 0..self.above.len() {
            let root = self.root(at);
            members[root].push(at);
        }
        let several = members.into_iter().zip(self.pairs).filter(|(members, _)| members.len() > 1);
        several
            .map(|(members, (sum, count))| DuplicateCluster { members, score: sum / count as f64 })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(values: &[i16]) -> Fingerprint {
        let mut steps = [0; DIMENSIONS];
        steps[..values.len()].copy_from_slice(values);
        Fingerprint::new(SimilarityBasis::Meaning, steps)
    }

    #[test]
    fn those_that_are_alike_by_way_of_others_are_one_group() {
        // 0 and 1 are similar, 1 and 2 are similar, 0 and 2 are not; 3 has the direction of 4.
        let shapes = [&[10, 0], &[10, 5], &[10, 10], &[0, -7], &[0, -3], &[0, 0], &[0, 0]].map(|v| shape(v));
        let found = groups(&shapes, 0.85);
        let members: Vec<&[usize]> = found.iter().map(|group| group.members.as_slice()).collect();
        assert_eq!(members, [&[3, 4][..], &[0, 1, 2]]);
        assert_eq!(found[0].score, 1.0);
        assert!((0.85..1.0).contains(&found[1].score), "{found:?}");
        assert_eq!(groups(&shapes, 1.0).len(), 1);
    }

    #[test]
    fn what_has_no_direction_is_not_compared_with_what_has() {
        let terms = Fingerprint { by: SimilarityBasis::Terms, ..shape(&[10, 0]) };
        assert_eq!(groups(&[shape(&[10, 0]), terms.clone()], 0.5), []);
        assert_eq!(groups(&[terms.clone(), terms], 0.5).len(), 1);
    }

    proptest! {
        #[test]
        fn groups_are_those_of_every_pair(values in prop::collection::vec((-9_i16..9, -9_i16..9), 0..80)) {
            let shapes: Vec<Fingerprint> = values.iter().map(|(x, y)| shape(&[*x, *y])).collect();
            let found = groups(&shapes, 0.9);
            let group_of = |at: usize| found.iter().position(|group| group.members.contains(&at));
            for (one, shape) in shapes.iter().enumerate() {
                let mut alike = shapes.iter().enumerate().filter(|(other, other_shape)| {
                    *other != one && shape.closeness(other_shape) >= 0.9 * 0.9
                });
                prop_assert_eq!(group_of(one).is_some(), alike.clone().next().is_some());
                prop_assert!(alike.all(|(other, _)| group_of(other) == group_of(one)));
            }
        }
    }
}
