//! Matrices of 32-bit floats, and their products.

/// Row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub columns: usize,
    pub values: Vec<f32>,
}

impl Matrix {
    pub fn zero(rows: usize, columns: usize) -> Matrix {
        Matrix { columns, values: vec![0.0; rows * columns] }
    }

    pub fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    pub fn row(&self, at: usize) -> &[f32] {
        &self.values[at * self.columns..][..self.columns]
    }

    pub fn row_mut(&mut self, at: usize) -> &mut [f32] {
        &mut self.values[at * self.columns..][..self.columns]
    }

    /// `self × other`.
    pub fn times(&self, other: &Matrix) -> Matrix {
        let mut product = Matrix::zero(self.rows(), other.columns);
        let shape = [self.rows(), self.columns, other.columns];
        multiply(shape, View::rows(self), View::rows(other), &mut product.values);
        product
    }

    /// `selfᵀ × self`.
    pub fn gram(&self) -> Matrix {
        let mut gram = Matrix::zero(self.columns, self.columns);
        let shape = [self.columns, self.rows(), self.columns];
        multiply(shape, View::columns(self), View::rows(self), &mut gram.values);
        gram
    }
}

/// The values of a matrix, with the strides of its rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub values: &'a [f32],
    pub row_step: usize,
    pub column_step: usize,
}

impl<'a> View<'a> {
    pub fn rows(matrix: &'a Matrix) -> View<'a> {
        View { values: &matrix.values, row_step: matrix.columns, column_step: 1 }
    }

    /// The transposed matrix.
    pub fn columns(matrix: &'a Matrix) -> View<'a> {
        View { values: &matrix.values, row_step: 1, column_step: matrix.columns }
    }

    fn reaches(&self, rows: usize, columns: usize) -> bool {
        rows == 0
            || columns == 0
            || (rows - 1) * self.row_step + (columns - 1) * self.column_step < self.values.len()
    }
}

/// Adds the product of `a` (`m × k`) and `b` (`k × n`) to `sum`, which is row-major.
pub fn multiply([m, k, n]: [usize; 3], a: View<'_>, b: View<'_>, sum: &mut [f32]) {
    assert!(a.reaches(m, k) && b.reaches(k, n) && sum.len() == m * n, "shapes that fit");
    let step = |step: usize| step as isize;
    // SAFETY: every element that the shape and the strides reach is inside its slice, as asserted above.
    unsafe {
        matrixmultiply::sgemm(
            m,
            k,
            n,
            1.0,
            a.values.as_ptr(),
            step(a.row_step),
            step(a.column_step),
            b.values.as_ptr(),
            step(b.row_step),
            step(b.column_step),
            1.0,
            sum.as_mut_ptr(),
            step(n),
            1,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_school() {
        let a = Matrix { columns: 2, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        let b = Matrix { columns: 3, values: vec![1.0, 0.0, 2.0, 0.0, 1.0, 3.0] };
        assert_eq!(a.times(&b).values, [1.0, 2.0, 8.0, 3.0, 4.0, 18.0, 5.0, 6.0, 28.0]);
        assert_eq!(a.gram().values, [35.0, 44.0, 44.0, 56.0]);
    }
}
