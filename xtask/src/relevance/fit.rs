//! Logistic regression by Newton's method, with a small penalty on large weights.

/// One prompt and one memory: what speaks for the memory, and whether it is useful.
#[derive(Clone, Debug)]
pub struct Example<const N: usize> {
    pub features: [f64; N],
    pub is_useful: bool,
    /// How much it counts.
    pub weight: f64,
}

/// Newton's method converges in fewer than ten steps; the rest is for hopeless input.
const STEPS: usize = 50;
/// The penalty, for features scaled to a deviation of one.
const PENALTY: f64 = 1.0;

/// The bias and the weights, in the scale of the features.
pub fn fit<const N: usize>(examples: &[Example<N>]) -> (f64, [f64; N]) {
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
    let rows: Vec<Row> = examples
        .iter()
        .map(|one| Row { values: row(one), truth: f64::from(u8::from(one.is_useful)), weight: one.weight })
        .collect();
    let mut weights = vec![0.0; N + 1];
    for _ in 0..STEPS {
        let step = newton_step(&rows, &weights);
        weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight += step);
        if step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
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

fn newton_step(rows: &[Row], weights: &[f64]) -> Vec<f64> {
    let width = weights.len();
    let mut gradient = vec![0.0; width];
    let mut hessian = vec![vec![0.0; width]; width];
    for Row { values, truth, weight } in rows {
        let sum: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
        let chance = 1.0 / (1.0 + (-sum).exp());
        for (at, value) in values.iter().enumerate() {
            gradient[at] += weight * (truth - chance) * value;
            for (other, cell) in hessian[at].iter_mut().enumerate() {
                *cell += weight * chance * (1.0 - chance) * value * values[other];
            }
        }
    }
    for at in 1..width {
        gradient[at] -= PENALTY * weights[at];
        hessian[at][at] += PENALTY;
    }
    solved(hessian, gradient)
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
}
