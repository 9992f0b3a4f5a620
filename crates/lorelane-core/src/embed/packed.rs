//! Embeddings by an added model: of any length, one byte per number.
//!
//! They are not a [`Vector`](super::Vector) on purpose: embeddings of two models cannot be compared.

const SCALE: usize = 4;
const STEPS: f32 = 127.0;

/// Encodes embeddings of one width. A text without an embedding gets zeros, which are similar to nothing.
pub fn pack(vectors: &[Option<Vec<f32>>]) -> Vec<u8> {
    let width = vectors.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let mut bytes = Vec::with_capacity(vectors.len() * (SCALE + width));
    for vector in vectors {
        let value = |at: usize| vector.as_ref().and_then(|values| values.get(at)).copied().unwrap_or(0.0);
        let scale = (0..width).map(|at| value(at).abs()).fold(0.0, f32::max) / STEPS;
        bytes.extend(scale.to_le_bytes());
        let step = |at: usize| if scale > 0.0 { (value(at) / scale).round() as i8 } else { 0 };
        (0..width).for_each(|at| bytes.extend(step(at).to_le_bytes()));
    }
    bytes
}

/// Decodes what [`pack`] wrote; empty if the bytes are not embeddings of this width.
pub fn unpack(bytes: &[u8], width: usize) -> Vec<Vec<f32>> {
    if width == 0 || !bytes.len().is_multiple_of(SCALE + width) {
        return Vec::new();
    }
    let vector = |bytes: &[u8]| {
        let (scale, steps) = bytes.split_first_chunk::<SCALE>()?;
        let scale = Some(f32::from_le_bytes(*scale)).filter(|scale| (0.0..=1.0).contains(scale))?;
        Some(steps.iter().map(|step| scale * f32::from(i8::from_le_bytes([*step]))).collect())
    };
    bytes.chunks_exact(SCALE + width).map(vector).collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn directions_come_back_nearly_the_same(values in prop::collection::vec(-1.0f32..1.0, 12)) {
            let vectors = [Some(values[..4].to_vec()), None, Some(values[4..8].to_vec())];
            let back = unpack(&pack(&vectors), 4);
            prop_assert_eq!(back.len(), 3);
            for (before, after) in vectors.iter().zip(&back) {
                let before = before.clone().unwrap_or(vec![0.0; 4]);
                prop_assert!(before.iter().zip(after).all(|(before, after)| (before - after).abs() < 0.01));
            }
        }

        #[test]
        fn any_bytes_are_directions_or_none(bytes in prop::collection::vec(any::<u8>(), 0..64), width in 0usize..9) {
            prop_assert!(unpack(&bytes, width).iter().flatten().all(|value| value.is_finite()));
        }
    }
}
