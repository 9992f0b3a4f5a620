//! Linear models over the features: how likely a statement is worth keeping, and of which kind it is.

use super::StatementKind;
use super::features::{FEATURES, FeatureValues, StatementFeature};
use super::fitted;

/// A bias and a weight per feature.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    pub bias: f64,
    pub weights: [f64; FEATURES],
}

impl LinearModel {
    fn from_array(array: &[f32; FEATURES + 1]) -> LinearModel {
        let weights = std::array::from_fn(|at| f64::from(array[at + 1]));
        LinearModel { bias: f64::from(array[0]), weights }
    }

    pub fn sum(&self, values: &FeatureValues) -> f64 {
        let products = self.weights.iter().zip(&values.0).map(|(weight, value)| weight * value);
        self.bias + products.sum::<f64>()
    }
}

/// The weights of all models.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementWeights {
    /// Whether a statement is worth keeping.
    pub keep: LinearModel,
    /// Of which kind it is, in the order of [`StatementKind::ALL`].
    pub kinds: [LinearModel; 6],
}

impl Default for StatementWeights {
    fn default() -> StatementWeights {
        StatementWeights {
            keep: LinearModel::from_array(&fitted::KEEP),
            kinds: std::array::from_fn(|at| LinearModel::from_array(&fitted::KINDS[at])),
        }
    }
}

impl StatementWeights {
    /// The chance that a statement is worth keeping.
    pub fn score(&self, values: &FeatureValues) -> f64 {
        1.0 / (1.0 + (-self.keep.sum(values)).exp())
    }

    pub fn kind(&self, values: &FeatureValues) -> StatementKind {
        let mut best = (StatementKind::Decision, f64::NEG_INFINITY);
        for (kind, model) in StatementKind::ALL.into_iter().zip(&self.kinds) {
            let sum = model.sum(values);
            if sum > best.1 {
                best = (kind, sum);
            }
        }
        best.0
    }

    /// How much each feature adds to the score or takes from it, in log odds, the largest first.
    pub fn explain(&self, values: &FeatureValues) -> Vec<(StatementFeature, f64)> {
        let products = StatementFeature::ALL.iter().zip(self.keep.weights.iter().zip(&values.0));
        let mut shares: Vec<(StatementFeature, f64)> = products
            .map(|(feature, (weight, value))| (*feature, weight * value))
            .filter(|(_, share)| *share != 0.0)
            .collect();
        shares.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
        shares
    }
}
