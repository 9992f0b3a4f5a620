//! Principal axes of a set of rows, and a rotation that spreads their variance evenly.

use lorelane_engine::model::neural::Matrix;

/// The strongest `kept` axes of the rows as columns of a matrix, strongest first. The rows are not centred:
/// similarity is measured from zero.
pub fn main_axes(rows: &Matrix, kept: usize) -> Matrix {
    let size = rows.columns;
    let (strengths, axes) = eigen(rows.gram().values.iter().map(|value| f64::from(*value)).collect(), size);
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|a, b| strengths[*b].total_cmp(&strengths[*a]));
    let mut matrix = Matrix::zero(size, kept);
    for (column, axis) in order[..kept].iter().enumerate() {
        for row in 0..size {
            matrix.row_mut(row)[column] = axes[row * size + axis] as f32;
        }
    }
    matrix
}

/// Applies a fixed rotation to every row (of a power of two columns), after which no column is stronger than
/// another. Quantising a row to four bits then loses little precision on its small numbers.
pub fn spread(rows: &mut Matrix) {
    let columns = rows.columns;
    let scale = 1.0 / (columns as f32).sqrt();
    for row in rows.values.chunks_exact_mut(columns) {
        // Signs break the symmetry between similar axes; any fixed pattern does.
        for (at, value) in row.iter_mut().enumerate() {
            let odd = (at.wrapping_mul(0x9e37_79b9) >> 13) & 1 == 1;
            *value *= if odd { -scale } else { scale };
        }
        let mut half = 1;
        while half < columns {
            for block in row.chunks_exact_mut(2 * half) {
                let (left, right) = block.split_at_mut(half);
                for (left, right) in left.iter_mut().zip(right) {
                    (*left, *right) = (*left + *right, *left - *right);
                }
            }
            half *= 2;
        }
    }
}

/// Eigenvalues and eigenvectors (as columns) of a symmetric matrix, by Jacobi's rotations.
fn eigen(mut matrix: Vec<f64>, size: usize) -> (Vec<f64>, Vec<f64>) {
    let mut axes = vec![0.0; size * size];
    (0..size).for_each(|at| axes[at * size + at] = 1.0);
    let total: f64 = matrix.iter().map(|value| value * value).sum();
    for _ in 0..30 {
        let beside: f64 =
            (0..size * size).filter(|at| at / size != at % size).map(|at| matrix[at] * matrix[at]).sum();
        if beside <= total * 1e-20 {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                rotate(&mut matrix, &mut axes, size, p, q);
            }
        }
    }
    ((0..size).map(|at| matrix[at * size + at]).collect(), axes)
}

/// Rotates the matrix so that it is zero at (p, q).
fn rotate(matrix: &mut [f64], axes: &mut [f64], size: usize, p: usize, q: usize) {
    let apart = matrix[p * size + q];
    if apart == 0.0 {
        return;
    }
    let theta = (matrix[q * size + q] - matrix[p * size + p]) / (2.0 * apart);
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    let turn = |a: &mut [f64], one: usize, other: usize| {
        let (left, right) = (a[one], a[other]);
        a[one] = cosine * left - sine * right;
        a[other] = sine * left + cosine * right;
    };
    for at in 0..size {
        turn(matrix, at * size + p, at * size + q);
    }
    for at in 0..size {
        turn(matrix, p * size + at, q * size + at);
    }
    for at in 0..size {
        turn(axes, at * size + p, at * size + q);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_axis_comes_first() {
        // Points along (3, 4), with a little across.
        let rows = Matrix { columns: 2, values: vec![3.0, 4.0, -6.0, -8.0, 0.4, -0.3] };
        let axes = main_axes(&rows, 2);
        let (x, y) = (axes.values[0], axes.values[2]);
        assert!((x.abs() - 0.6).abs() < 1e-5 && (y.abs() - 0.8).abs() < 1e-5 && x * y > 0.0, "{axes:?}");
    }

    #[test]
    fn spreading_keeps_every_product() {
        let mut rows = Matrix { columns: 8, values: (0..16).map(|at| (at * at % 7) as f32 - 2.0).collect() };
        let dot =
            |rows: &Matrix, a, b| -> f32 { rows.row(a).iter().zip(rows.row(b)).map(|(a, b)| a * b).sum() };
        let before = [dot(&rows, 0, 0), dot(&rows, 0, 1), dot(&rows, 1, 1)];
        spread(&mut rows);
        let after = [dot(&rows, 0, 0), dot(&rows, 0, 1), dot(&rows, 1, 1)];
        assert!(
            before.iter().zip(after).all(|(before, after)| (before - after).abs() < 1e-4),
            "{before:?} {after:?}"
        );
    }

    #[test]
    fn one_strong_column_is_spread_over_all() {
        let mut rows = Matrix { columns: 4, values: vec![2.0, 0.0, 0.0, 0.0] };
        spread(&mut rows);
        assert!(rows.values.iter().all(|value| value.abs() == 1.0), "{rows:?}");
    }
}
