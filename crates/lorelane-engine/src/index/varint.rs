//! Variable-length integers: seven bits per byte, lowest first.

pub(super) fn append(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Takes a number from the start of these bytes; `None` at the end. Foreign bytes give an arbitrary number, never
/// a panic.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0_u64, 0_u32);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift += 7;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 255, 256, 1 << 40, u64::MAX] {
            let mut bytes = Vec::new();
            append(&mut bytes, number);
            assert_eq!(take(&mut bytes.as_slice()), Some(number));
            bytes.pop();
            assert_eq!(take(&mut bytes.as_slice()), None, "{number} cut short");
        }
    }

    #[test]
    fn foreign_bytes_give_some_number_or_none() {
        for bytes in
            [&[0xff_u8; 40][..], &[0x80], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1]]
        {
            let mut rest = bytes;
            let _ = take(&mut rest);
            assert!(rest.len() < bytes.len());
        }
    }
}
