//! Fits a vector to each piece, so that the weighted mean of a sentence's pieces predicts the teacher's vector
//! of the sentence.
//!
//! Ridge regression towards the teacher's vectors of the pieces alone: a piece that occurs in no sentence
//! keeps that vector. Everything is summed in one fixed order, so the same input gives the same bytes.

use lorelane_engine::model::neural::Matrix;

/// How strongly a piece is pulled to its vector alone (the ridge parameter).
const PULL: f32 = 0.1;
const STEPS: usize = 20;
/// A piece that makes up this share of all text counts half.
const COMMON: f64 = 1e-3;

/// The pieces of one sentence with their shares, which sum to one.
pub type Mix = Vec<(u32, f32)>;

/// The weight of each piece, from how often it occurs in all texts.
pub fn weights(counts: &[u64]) -> Vec<f32> {
    let total: f64 = counts.iter().map(|count| *count as f64 + 1.0).sum();
    counts.iter().map(|count| (COMMON / (COMMON + (*count as f64 + 1.0) / total)) as f32).collect()
}

pub fn mix(pieces: &[u32], weights: &[f32]) -> Mix {
    let mut mix: Mix = pieces.iter().map(|piece| (*piece, weights[*piece as usize])).collect();
    let sum: f32 = mix.iter().map(|(_, weight)| weight).sum();
    mix.iter_mut().for_each(|(_, weight)| *weight /= sum);
    mix
}

/// Minimises |XW - Y|² + pull |W - W0|² by conjugate gradients on W - W0, column by column.
///
/// `alone` has the vectors of the pieces alone; W0 is the multiple of it that fits best.
pub fn fit(mixes: &[Mix], teacher: &Matrix, alone: &Matrix) -> Matrix {
    let mut target = teacher.clone();
    centre(&mut target, |_| true);
    let mut fitted = scaled(mixes, &target, alone);
    let predicted = mixed(mixes, &fitted);
    subtract(&mut target.values, &predicted.values);

    let mut residual = unmixed(mixes, &target, fitted.rows());
    let mut direction = residual.clone();
    let mut energy = column_dots(&residual, &residual);
    for _ in 0..STEPS {
        let mut curved = unmixed(mixes, &mixed(mixes, &direction), fitted.rows());
        add_columns(&mut curved, &vec![PULL; direction.columns], &direction);
        let step = ratios(&energy, &column_dots(&direction, &curved));
        add_columns(&mut fitted, &step, &direction);
        let back: Vec<f32> = step.iter().map(|step| -step).collect();
        add_columns(&mut residual, &back, &curved);
        let left = column_dots(&residual, &residual);
        let kept = ratios(&left, &energy);
        for (own, fresh) in rows_of(&mut direction).zip(residual.values.chunks_exact(residual.columns)) {
            for ((own, kept), fresh) in own.iter_mut().zip(&kept).zip(fresh) {
                *own = fresh + kept * *own;
            }
        }
        energy = left;
    }
    fitted
}

/// Subtracts the mean of the chosen rows from every row.
pub fn centre(matrix: &mut Matrix, chosen: impl Fn(usize) -> bool) {
    let mut mean = vec![0.0f64; matrix.columns];
    let mut count = 0.0;
    for at in (0..matrix.rows()).filter(|at| chosen(*at)) {
        mean.iter_mut().zip(matrix.row(at)).for_each(|(mean, value)| *mean += f64::from(*value));
        count += 1.0;
    }
    let mean: Vec<f32> = mean.iter().map(|sum| (sum / count) as f32).collect();
    rows_of(matrix).for_each(|row| subtract(row, &mean));
}

/// Scales all rows so that the mean length of the chosen ones is one.
pub fn to_unit_length(matrix: &mut Matrix, chosen: impl Fn(usize) -> bool) {
    let chosen: Vec<usize> = (0..matrix.rows()).filter(|at| chosen(*at)).collect();
    let length =
        |at: &usize| matrix.row(*at).iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    let mean = chosen.iter().map(length).sum::<f64>() / chosen.len() as f64;
    matrix.values.iter_mut().for_each(|value| *value = (f64::from(*value) / mean) as f32);
}

/// `alone` times the one factor with which it predicts the target best.
fn scaled(mixes: &[Mix], target: &Matrix, alone: &Matrix) -> Matrix {
    let predicted = mixed(mixes, alone);
    let dot = |a: &Matrix, b: &Matrix| column_dots(a, b).iter().sum::<f64>();
    let factor = (dot(&predicted, target) / dot(&predicted, &predicted)) as f32;
    Matrix { columns: alone.columns, values: alone.values.iter().map(|value| value * factor).collect() }
}

/// A row per sentence: the weighted mean of its pieces' rows.
fn mixed(mixes: &[Mix], pieces: &Matrix) -> Matrix {
    let mut rows = Matrix::zero(mixes.len(), pieces.columns);
    for (at, mix) in mixes.iter().enumerate() {
        for (piece, share) in mix {
            add_times(rows.row_mut(at), *share, pieces.row(*piece as usize));
        }
    }
    rows
}

/// The transpose of [`mixed`]: a row per piece, with its share of each sentence's row.
fn unmixed(mixes: &[Mix], sentences: &Matrix, pieces: usize) -> Matrix {
    let mut rows = Matrix::zero(pieces, sentences.columns);
    for (at, mix) in mixes.iter().enumerate() {
        for (piece, share) in mix {
            add_times(rows.row_mut(*piece as usize), *share, sentences.row(at));
        }
    }
    rows
}

fn add_times(to: &mut [f32], factor: f32, what: &[f32]) {
    to.iter_mut().zip(what).for_each(|(to, what)| *to += factor * what);
}

fn add_columns(to: &mut Matrix, factors: &[f32], what: &Matrix) {
    for (to, what) in rows_of(to).zip(what.values.chunks_exact(what.columns)) {
        for ((to, factor), what) in to.iter_mut().zip(factors).zip(what) {
            *to += factor * what;
        }
    }
}

fn column_dots(a: &Matrix, b: &Matrix) -> Vec<f64> {
    let mut dots = vec![0.0; a.columns];
    for (a, b) in a.values.chunks_exact(a.columns).zip(b.values.chunks_exact(b.columns)) {
        for ((dot, a), b) in dots.iter_mut().zip(a).zip(b) {
            *dot += f64::from(*a) * f64::from(*b);
        }
    }
    dots
}

/// Division that gives 0 for a column that is already solved.
fn ratios(above: &[f64], below: &[f64]) -> Vec<f32> {
    let ratio = |(above, below): (&f64, &f64)| if *below == 0.0 { 0.0 } else { (above / below) as f32 };
    above.iter().zip(below).map(ratio).collect()
}

fn rows_of(matrix: &mut Matrix) -> impl Iterator<Item = &mut [f32]> {
    let columns = matrix.columns;
    matrix.values.chunks_exact_mut(columns)
}

fn subtract(from: &mut [f32], what: &[f32]) {
    from.iter_mut().zip(what).for_each(|(from, what)| *from -= what);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_pieces_count_little() {
        let weights = weights(&[0, 10_000, 90_000]);
        assert!(weights[0] > 0.98 && weights[1] < 0.02 && weights[2] < weights[1], "{weights:?}");
    }

    #[test]
    fn a_mix_sums_to_one_and_repeats_count() {
        assert_eq!(mix(&[0, 1, 0], &[1.0, 2.0]), [(0, 0.25), (1, 0.5), (0, 0.25)]);
    }

    /// The gradient of the objective must vanish, except for the unseen piece, which stays where it was.
    #[test]
    fn the_fit_is_a_minimum() {
        let mixes: Vec<Mix> = vec![vec![(0, 0.5), (1, 0.5)], vec![(1, 1.0)], vec![(0, 0.2), (2, 0.8)]];
        let teacher = Matrix { columns: 2, values: vec![1.0, 0.0, 0.5, -1.0, -1.5, 1.0] };
        let alone = Matrix { columns: 2, values: vec![1.0, 0.2, 0.3, -0.7, -1.0, 0.4, 0.6, 0.6] };
        let fitted = fit(&mixes, &teacher, &alone);
        let mut target = teacher.clone();
        centre(&mut target, |_| true);
        let start = scaled(&mixes, &target, &alone);
        let mut error = mixed(&mixes, &fitted);
        subtract(&mut error.values, &target.values);
        let mut gradient = unmixed(&mixes, &error, 4);
        for (at, value) in gradient.values.iter_mut().enumerate() {
            *value += PULL * (fitted.values[at] - start.values[at]);
        }
        assert!(gradient.values.iter().all(|value| value.abs() < 1e-5), "{gradient:?}");
        assert_eq!(fitted.row(3), start.row(3));
        assert_ne!(fitted.row(0), start.row(0));
    }
}
