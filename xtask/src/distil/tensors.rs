//! Numbers in rows: the tensors of a model's file, and products of matrices.

use std::fs;
use std::path::Path;

use crate::failure::Failure;
use lorelane_core::json::Json;

/// Rows of numbers, one after another.
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

/// Numbers of a matrix and how far apart its rows and columns lie.
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

    /// The matrix on its side.
    pub fn columns(matrix: &'a Matrix) -> View<'a> {
        View { values: &matrix.values, row_step: 1, column_step: matrix.columns }
    }

    fn reaches(&self, rows: usize, columns: usize) -> bool {
        rows == 0
            || columns == 0
            || (rows - 1) * self.row_step + (columns - 1) * self.column_step < self.values.len()
    }
}

/// Adds the product of `a` (`m × k`) and `b` (`k × n`) to `sum`, whose rows lie one after another.
pub fn multiply([m, k, n]: [usize; 3], a: View<'_>, b: View<'_>, sum: &mut [f32]) {
    assert!(a.reaches(m, k) && b.reaches(k, n) && sum.len() == m * n, "shapes that fit");
    let step = |step: usize| step as isize;
    // SAFETY: every element that the shape and the steps reach lies inside its slice, as asserted above.
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

/// A file of tensors: a length, a JSON head, numbers.
#[derive(Debug)]
pub struct Tensors {
    head: Json,
    numbers: Vec<u8>,
}

impl Tensors {
    pub fn read(path: &Path) -> Result<Tensors, Failure> {
        let bytes = fs::read(path).map_err(|error| Failure::on("read", path, error))?;
        Tensors::parse(&bytes).map_err(|why| Failure::on("read the tensors of", path, why))
    }

    fn parse(bytes: &[u8]) -> Result<Tensors, String> {
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or("it is empty")?;
        let length = u64::from_le_bytes(*length) as usize;
        let (head, numbers) = rest.split_at_checked(length).ok_or("its head is cut")?;
        let head = std::str::from_utf8(head).map_err(|error| error.to_string())?;
        let head = Json::parse(head).map_err(|fault| format!("{fault:?}"))?;
        Ok(Tensors { head, numbers: numbers.to_vec() })
    }

    /// A tensor of floats with these many columns.
    pub fn matrix(&self, name: &str, columns: usize) -> Result<Matrix, Failure> {
        let values = self.values(name).filter(|values| values.len() % columns == 0);
        let values =
            values.ok_or_else(|| Failure::new(format!("the model has no tensor `{name}` as expected")))?;
        Ok(Matrix { columns, values })
    }

    fn values(&self, name: &str) -> Option<Vec<f32>> {
        // Names have dots, so they are no path.
        let tensor = self.head.as_object()?.get(name)?;
        let offset = |at: &str| tensor.at(at)?.as_u64();
        let (from, to) = (offset("data_offsets.0")? as usize, offset("data_offsets.1")? as usize);
        if tensor.at("dtype")?.as_text()? != "F32" {
            return None;
        }
        let (numbers, _) = self.numbers.get(from..to)?.as_chunks::<4>();
        Some(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
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

    #[test]
    fn tensors_are_found_by_name() {
        let head = r#"{"a.b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},"i":{"dtype":"I64","data_offsets":[0,8]}}"#;
        let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
        bytes.extend(head.as_bytes());
        [9.0f32, 1.0, 2.0].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        let tensors = Tensors::parse(&bytes).unwrap();
        assert_eq!(tensors.matrix("a.b", 2).unwrap().values, [1.0, 2.0]);
        for (name, columns) in [("a.b", 3), ("i", 1), ("gone", 1)] {
            assert!(tensors.matrix(name, columns).is_err(), "{name}");
        }
        assert!(Tensors::parse(&bytes[..20]).is_err());
    }
}
