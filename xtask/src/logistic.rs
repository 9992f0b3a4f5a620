//! Logistic regression by Newton's method, with a penalty on weights far from what is expected of them.

/// What speaks for one thing, and whether it is a good one.
#[derive(Clone, Debug)]
pub struct Example<const N: usize> {
    pub features: [f64; N],
    pub is_useful: bool,
    /// How much it counts.
    pub weight: f64,
}

/// What is expected of a weight before any example is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WeightPrior {
    /// In the scale of the feature.
    pub expected: f64,
    pub range: WeightRange,
}

/// The values that a weight may have: a feature that means something has a sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightRange {
    #[default]
    Any,
    NotNegative,
    NotPositive,
    Zero,
}

impl WeightRange {
    fn holds(self, weight: f64) -> bool {
        match self {
            WeightRange::Any => true,
            WeightRange::NotNegative => weight >= 0.0,
            WeightRange::NotPositive => weight <= 0.0,
            WeightRange::Zero => weight == 0.0,
        }
    }

    /// Whether a step from this weight in the direction of its gradient would leave the range.
    fn stops(self, weight: f64, gradient: f64) -> bool {
        self == WeightRange::Zero || (weight == 0.0 && !self.holds(gradient))
    }
}

/// Newton's method converges in fewer than ten steps; the rest is for hopeless input.
const STEPS: usize = 50;
/// The penalty if nothing else is said, for features scaled to a deviation of one.
const PENALTY: f64 = 1.0;

/// The bias and the weights, in the scale of the features.
pub fn fit<const N: usize>(examples: &[Example<N>]) -> (f64, [f64; N]) {
    fit_with(examples, &[WeightPrior::default(); N], PENALTY)
}

/// The same with expectations of the weights, and a penalty for weights that differ from them.
pub fn fit_with<const N: usize>(
    examples: &[Example<N>],
    priors: &[WeightPrior; N],
    penalty: f64,
) -> (f64, [f64; N]) {
    let count = examples.len().max(1) as f64;
    let mean: [f64; N] =
        std::array::from_fn(|at| examples.iter().map(|one| one.features[at]).sum::<f64>() / count);
    let deviation: [f64; N] = std::array::from_fn(|at| {
        let squares: f64 = examples.iter().map(|one| (one.features[at] - mean[at]).powi(2)).sum();
        (squares / count).sqrt().max(1e-9)
    });
    let row = |one: &Example<N>| -> Vec<f64> {
        let scaled = (0..N).map(|at| (one.features[at] - mean[at]) / deviation[at]);
        std::iter::once(1.0).chain(scaled).collect()
    };
    let rows = examples
        .iter()
        .map(|one| Row { values: row(one), truth: f64::from(u8::from(one.is_useful)), weight: one.weight })
        .collect();
    let scaled = priors
        .iter()
        .zip(deviation)
        .map(|(prior, deviation)| WeightPrior { expected: prior.expected * deviation, range: prior.range });
    let problem = LogisticProblem { rows, priors: scaled.collect(), penalty };
    let weights = problem.solved();
    let scaled: [f64; N] = std::array::from_fn(|at| weights[at + 1] / deviation[at]);
    let bias = weights[0] - scaled.iter().zip(mean).map(|(weight, mean)| weight * mean).sum::<f64>();
    (bias, scaled)
}

/// A scaled example.
struct Row {
    values: Vec<f64>,
    truth: f64,
    weight: f64,
}

struct LogisticProblem {
    rows: Vec<Row>,
    priors: Vec<WeightPrior>,
    penalty: f64,
}

impl LogisticProblem {
    /// The bias and the weights, for scaled features.
    fn solved(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.priors.len() + 1];
        let mut loss = self.loss(&weights);
        for _ in 0..STEPS {
            let step = self.newton_step(&weights);
            // A weight that reaches the end of its range stays there, so a whole step may lead too far.
            let mut share = 1.0;
            let next = loop {
                let next = self.moved(&weights, &step, share);
                let next_loss = self.loss(&next);
                if next_loss <= loss || share < 1e-6 {
                    loss = next_loss;
                    break next;
                }
                share /= 2.0;
            };
            let moved =
                next.iter().zip(&weights).map(|(next, weight)| (next - weight).abs()).fold(0.0, f64::max);
            weights = next;
            if moved < 1e-9 {
                break;
            }
        }
        weights
    }

    fn moved(&self, weights: &[f64], step: &[f64], share: f64) -> Vec<f64> {
        let mut next: Vec<f64> =
            weights.iter().zip(step).map(|(weight, step)| weight + share * step).collect();
        for (weight, prior) in next[1..].iter_mut().zip(&self.priors) {
            if !prior.range.holds(*weight) {
                *weight = 0.0;
            }
        }
        next
    }

    fn loss(&self, weights: &[f64]) -> f64 {
        let of_rows = self.rows.iter().map(|Row { values, truth, weight }| {
            let sum = dot(values, weights);
            weight * (sum.max(0.0) + (-sum.abs()).exp().ln_1p() - truth * sum)
        });
        let distances = weights[1..].iter().zip(&self.priors);
        let squares = distances.map(|(weight, prior)| (weight - prior.expected).powi(2));
        of_rows.sum::<f64>() + self.penalty / 2.0 * squares.sum::<f64>()
    }

    fn newton_step(&self, weights: &[f64]) -> Vec<f64> {
        let width = weights.len();
        let mut gradient = vec![0.0; width];
        let mut hessian = vec![vec![0.0; width]; width];
        for Row { values, truth, weight } in &self.rows {
            let chance = 1.0 / (1.0 + (-dot(values, weights)).exp());
            for (at, value) in values.iter().enumerate() {
                gradient[at] += weight * (truth - chance) * value;
                for (other, cell) in hessian[at].iter_mut().enumerate() {
                    *cell += weight * chance * (1.0 - chance) * value * values[other];
                }
            }
        }
        for (at, prior) in (1..width).zip(&self.priors) {
            gradient[at] -= self.penalty * (weights[at] - prior.expected);
            hessian[at][at] += self.penalty;
        }
        for (at, prior) in (1..width).zip(&self.priors) {
            if prior.range.stops(weights[at], gradient[at]) {
                gradient[at] = 0.0;
                hessian.iter_mut().for_each(|row| row[at] = 0.0);
                hessian[at].fill(0.0);
                hessian[at][at] = 1.0;
            }
        }
        solved(hessian, gradient)
    }
}

fn dot(values: &[f64], weights: &[f64]) -> f64 {
    values.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

/// Solves a positive definite system by elimination.
fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let width = right.len();
    for at in 0..width {
        let pivot = matrix[at].clone();
        for below in at + 1..width {
            let factor = matrix[below][at] / pivot[at].max(1e-12);
            matrix[below].iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
            right[below] -= factor * right[at];
        }
    }
    for at in (0..width).rev() {
        let known: f64 = (at + 1..width).map(|column| matrix[at][column] * right[column]).sum();
        right[at] = (right[at] - known) / matrix[at][at].max(1e-12);
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chance_of_each_group_is_found() {
        // Three of ten without the feature are useful, eight of ten with it.
        let group = |value: f64, useful: usize| {
            (0..1_000).map(move |at| Example { features: [value], is_useful: at % 10 < useful, weight: 1.0 })
        };
        let examples: Vec<Example<1>> = group(0.0, 3).chain(group(1.0, 8)).collect();
        let (bias, [weight]) = fit(&examples);
        let chance = |value: f64| 1.0 / (1.0 + (-(bias + weight * value)).exp());
        assert!((chance(0.0) - 0.3).abs() < 0.01, "{}", chance(0.0));
        assert!((chance(1.0) - 0.8).abs() < 0.01, "{}", chance(1.0));
    }

    #[test]
    fn a_feature_that_says_nothing_gets_no_weight() {
        let examples: Vec<Example<2>> = (0..1_000)
            .map(|at| {
                let features = [f64::from(at % 2), f64::from(at % 4 / 2)];
                Example { features, is_useful: at % 2 == 0, weight: 1.0 }
            })
            .collect();
        let (_, [telling, silent]) = fit(&examples);
        assert!(telling < -3.0 && silent.abs() < 1e-6, "{telling} {silent}");
        // Without any example the chance is one half.
        assert_eq!(fit::<1>(&[]), (0.0, [0.0]));
    }

    #[test]
    fn a_weight_keeps_its_sign_and_stays_near_what_is_expected() {
        let examples: Vec<Example<1>> = (0..1_000)
            .map(|at| Example { features: [f64::from(at % 2)], is_useful: at % 2 == 0, weight: 1.0 })
            .collect();
        let fit = |expected: f64, range: WeightRange, penalty: f64| {
            fit_with(&examples, &[WeightPrior { expected, range }], penalty).1[0]
        };
        assert!(fit(0.0, WeightRange::Any, 1.0) < -3.0);
        assert!(fit(0.0, WeightRange::NotPositive, 1.0) < -3.0);
        assert_eq!(fit(0.0, WeightRange::NotNegative, 1.0), 0.0);
        assert_eq!(fit(1.0, WeightRange::Zero, 1.0), 0.0);
        // The more a difference costs, the nearer the weight is to what is expected.
        let near = fit(1.5, WeightRange::NotNegative, 1e9);
        assert!((near - 1.5).abs() < 0.01, "{near}");
    }
}
