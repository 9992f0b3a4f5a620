//! Embedding vectors, and the quantized form that an index stores.

use super::DIMENSIONS;

/// A unit vector, or zero for a text without a known piece.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(pub(super) [f32; DIMENSIONS]);

impl Vector {
    pub const ZERO: Vector = Vector([0.0; DIMENSIONS]);

    /// Normalizes a sum; zero stays zero.
    pub fn pointing(mut sum: [f32; DIMENSIONS]) -> Vector {
        let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length == 0.0 || !length.is_finite() {
            return Vector::ZERO;
        }
        sum.iter_mut().for_each(|value| *value /= length);
        Vector(sum)
    }

    /// The normalized mean of several vectors, such as those of neighbouring passages.
    pub fn middle<'a>(vectors: impl IntoIterator<Item = &'a Vector>) -> Vector {
        let mut sum = [0.0; DIMENSIONS];
        for vector in vectors {
            sum.iter_mut().zip(&vector.0).for_each(|(sum, value)| *sum += value);
        }
        Vector::pointing(sum)
    }

    /// The normalized sum of this vector and a share of another.
    pub fn with(&self, other: &Vector, share: f32) -> Vector {
        Vector::pointing(std::array::from_fn(|at| self.0[at] + share * other.0[at]))
    }

    /// Whether the text had no known piece: such a vector is similar to nothing, itself included.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|value| *value == 0.0)
    }

    /// From -1 to 1; 0 if either is zero.
    pub fn cosine(&self, other: &Vector) -> f32 {
        self.0.iter().zip(&other.0).map(|(own, other)| own * other).sum::<f32>().clamp(-1.0, 1.0)
    }

    pub fn values(&self) -> &[f32; DIMENSIONS] {
        &self.0
    }
}

/// A vector in a quarter of its size, as an index stores and compares it.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizedVector {
    scale: f32,
    steps: [i8; DIMENSIONS],
}

impl QuantizedVector {
    /// The length of [`QuantizedVector::to_bytes`].
    pub const BYTES: usize = 4 + DIMENSIONS;

    pub fn of(vector: &Vector) -> QuantizedVector {
        let largest = vector.0.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        if largest == 0.0 {
            return QuantizedVector { scale: 0.0, steps: [0; DIMENSIONS] };
        }
        let scale = largest / 127.0;
        QuantizedVector { scale, steps: std::array::from_fn(|at| (vector.0[at] / scale).round() as i8) }
    }

    pub fn vector(&self) -> Vector {
        Vector::pointing(std::array::from_fn(|at| self.scale * f32::from(self.steps[at])))
    }

    pub fn steps(&self) -> &[i8; DIMENSIONS] {
        &self.steps
    }

    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.scale.to_le_bytes());
        for (byte, step) in bytes[4..].iter_mut().zip(&self.steps) {
            *byte = step.to_le_bytes()[0];
        }
        bytes
    }

    /// Decodes what [`QuantizedVector::to_bytes`] wrote. A scale out of range is rejected.
    pub fn from_bytes(bytes: &[u8]) -> Option<QuantizedVector> {
        let (scale, steps) = parts(bytes)?;
        Some(QuantizedVector { scale, steps: std::array::from_fn(|at| i8::from_le_bytes([steps[at]])) })
    }

    /// [`Vector::cosine`] within a hundredth.
    pub fn cosine(&self, other: &QuantizedVector) -> f32 {
        let dot: i32 =
            self.steps.iter().zip(&other.steps).map(|(own, other)| i32::from(*own) * i32::from(*other)).sum();
        (dot as f32 * self.scale * other.scale).clamp(-1.0, 1.0)
    }

    /// [`QuantizedVector::cosine`] with encoded bytes, without a copy. `None` if they are not a vector.
    pub fn cosine_with(&self, stored: &[u8]) -> Option<f32> {
        let (scale, steps) = parts(stored)?;
        let own = self.steps.iter().map(|step| i32::from(*step));
        let dot: i32 = own.zip(steps).map(|(own, step)| own * i32::from(i8::from_le_bytes([*step]))).sum();
        Some((dot as f32 * self.scale * scale).clamp(-1.0, 1.0))
    }
}

fn parts(bytes: &[u8]) -> Option<(f32, &[u8; DIMENSIONS])> {
    let (scale, steps) = bytes.split_first_chunk::<4>()?;
    let scale = f32::from_le_bytes(*scale);
    (0.0..=1.0).contains(&scale).then_some((scale, steps.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vectors() -> impl Strategy<Value = Vector> {
        prop::collection::vec(-1.0f32..1.0, DIMENSIONS)
            .prop_map(|values| Vector::pointing(values.try_into().unwrap()))
    }

    proptest! {
        #[test]
        fn the_small_form_says_nearly_the_same(one in vectors(), other in vectors()) {
            let (small, smaller) = (QuantizedVector::of(&one), QuantizedVector::of(&other));
            let exact = one.cosine(&other);
            prop_assert!((small.cosine(&smaller) - exact).abs() < 0.01);
            prop_assert_eq!(small.cosine_with(&smaller.to_bytes()), Some(small.cosine(&smaller)));
            prop_assert!(small.vector().cosine(&one) > 0.999);
            prop_assert_eq!(QuantizedVector::from_bytes(&small.to_bytes()), Some(small));
        }

        #[test]
        fn foreign_bytes_are_a_vector_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let known = QuantizedVector::of(&Vector::pointing([1.0; DIMENSIONS]));
            if let Some(cosine) = known.cosine_with(&bytes) {
                prop_assert!((-1.0..=1.0).contains(&cosine));
            }
        }
    }

    #[test]
    fn zero_is_similar_to_nothing() {
        let one = Vector::pointing([1.0; DIMENSIONS]);
        assert!(Vector::ZERO.is_zero() && !one.is_zero());
        assert_eq!((Vector::ZERO.cosine(&one), Vector::ZERO.cosine(&Vector::ZERO)), (0.0, 0.0));
        let small = QuantizedVector::of(&Vector::ZERO);
        assert_eq!(small.cosine(&QuantizedVector::of(&one)), 0.0);
        assert!(small.vector().is_zero() && Vector::middle([]).is_zero());
        assert!(Vector::pointing([f32::NAN; DIMENSIONS]).is_zero());
    }

    #[test]
    fn a_middle_lies_between() {
        let at = |at: usize| {
            let mut values = [0.0; DIMENSIONS];
            values[at] = 1.0;
            Vector(values)
        };
        let middle = Vector::middle([&at(0), &at(1), &Vector::ZERO]);
        assert!((middle.cosine(&at(0)) - 0.5f32.sqrt()).abs() < 1e-6);
        assert!(middle.cosine(&at(2)) == 0.0);
    }
}
