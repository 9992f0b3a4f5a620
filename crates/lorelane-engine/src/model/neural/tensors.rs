//! Reads a safetensors file: a length, a JSON header, numbers.

use super::matrix::Matrix;
use lorelane_core::json::Json;

/// More than the header of any model that is run here.
const HEAD_MAX: usize = 4 << 20;

#[derive(Debug)]
pub struct Tensors<'b> {
    head: Json,
    numbers: &'b [u8],
}

impl<'b> Tensors<'b> {
    /// Parses the header only. A tensor that it names and the file does not hold is an error when it is read.
    pub fn parse(bytes: &'b [u8]) -> Result<Tensors<'b>, String> {
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or("it is empty")?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > HEAD_MAX {
            return Err("it is not a safetensors file".to_owned());
        }
        let (head, numbers) = rest.split_at_checked(length).ok_or("its header is truncated")?;
        let head = std::str::from_utf8(head).map_err(|fault| format!("its header is not UTF-8: {fault}"))?;
        let head = Json::parse(head).map_err(|fault| format!("its header is not JSON: {fault}"))?;
        Ok(Tensors { head, numbers })
    }

    /// A tensor with this shape, all values finite.
    pub fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix, String> {
        let bytes = self.bytes(name).ok_or_else(|| format!("it has no tensor `{name}` of 32-bit floats"))?;
        if bytes.len() != rows * columns * 4 {
            let found = bytes.len() / 4;
            return Err(format!("its tensor `{name}` has {found} numbers instead of {rows} × {columns}"));
        }
        let (numbers, _) = bytes.as_chunks::<4>();
        let values: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(format!("its tensor `{name}` has values that are not finite"));
        }
        Ok(Matrix { columns, values })
    }

    fn bytes(&self, name: &str) -> Option<&'b [u8]> {
        // A plain lookup: names contain dots, which `at` would split.
        let tensor = self.head.as_object()?.get(name)?;
        let offset = |at: &str| usize::try_from(tensor.at(at)?.as_u64()?).ok();
        let (from, to) = (offset("data_offsets.0")?, offset("data_offsets.1")?);
        if tensor.at("dtype")?.as_text()? != "F32" {
            return None;
        }
        self.numbers.get(from..to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_found_by_name() {
        let head = r#"{"a.b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},"i":{"dtype":"I64","data_offsets":[0,8]},
            "far":{"dtype":"F32","data_offsets":[4,99]},"back":{"dtype":"F32","data_offsets":[8,4]},
            "odd":{"dtype":"F32","data_offsets":[12,16]}}"#;
        let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
        bytes.extend(head.as_bytes());
        [9.0f32, 1.0, 2.0, f32::NAN].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        let tensors = Tensors::parse(&bytes).unwrap();
        assert_eq!(tensors.matrix("a.b", 1, 2).unwrap().values, [1.0, 2.0]);
        for (name, columns) in [("a.b", 3), ("i", 2), ("gone", 1), ("far", 2), ("back", 1), ("odd", 1)] {
            assert!(tensors.matrix(name, 1, columns).is_err(), "{name}");
        }
    }

    #[test]
    fn a_head_that_cannot_be_read_is_said() {
        let huge = u64::MAX.to_le_bytes();
        for (bytes, why) in [
            (&b"short"[..], "empty"),
            (&huge[..], "safetensors"),
            (&[9, 0, 0, 0, 0, 0, 0, 0, b'{'][..], "truncated"),
            (&[1, 0, 0, 0, 0, 0, 0, 0, 255][..], "UTF-8"),
            (&[1, 0, 0, 0, 0, 0, 0, 0, b'{'][..], "JSON"),
        ] {
            let fault = Tensors::parse(bytes).unwrap_err();
            assert!(fault.contains(why), "{fault}");
        }
    }
}
