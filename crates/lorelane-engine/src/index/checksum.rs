//! A check value that costs little, for bytes that are checked whenever they are read. It detects damage and edits,
//! not forgery.

const LANES: usize = 4;
const BLOCK: usize = 8 * LANES;
const SEEDS: [u64; LANES] =
    [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];

/// Sums and sums of sums, in lanes that the compiler vectorizes, because every page that a hook reads pays for it: as
/// in Fletcher's checksum, a changed or moved word is detected.
#[derive(Clone, Debug)]
pub(super) struct Checksum {
    sums: [u64; LANES],
    sums_of_sums: [u64; LANES],
    /// Bytes that do not fill a block yet.
    rest: [u8; BLOCK],
    rest_len: usize,
    mixed: u64,
}

impl Checksum {
    pub(super) fn new(seed: u64) -> Checksum {
        let mixed = seed ^ SEEDS[0];
        Checksum { sums: SEEDS, sums_of_sums: SEEDS, rest: [0; BLOCK], rest_len: 0, mixed }
    }

    /// The value of a text that was added in parts. Its length counts: the last block is filled up with zeroes.
    pub(super) fn of_text(mut self, length: usize) -> u64 {
        self.mixed ^= length as u64;
        self.value()
    }

    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        if self.rest_len > 0 {
            let missing = (BLOCK - self.rest_len).min(bytes.len());
            let (first, others) = bytes.split_at(missing);
            self.rest[self.rest_len..self.rest_len + missing].copy_from_slice(first);
            self.rest_len += missing;
            bytes = others;
            if self.rest_len < BLOCK {
                return;
            }
            self.rest_len = 0;
            let rest = self.rest;
            self.add_blocks(&[rest]);
        }
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        self.add_blocks(blocks);
        self.rest[..rest.len()].copy_from_slice(rest);
        self.rest_len = rest.len();
    }

    #[inline]
    fn add_blocks(&mut self, blocks: &[[u8; BLOCK]]) {
        let (mut sums, mut sums_of_sums) = (self.sums, self.sums_of_sums);
        for block in blocks {
            let (words, _) = block.as_chunks::<8>();
            for ((sum, of_sums), word) in sums.iter_mut().zip(&mut sums_of_sums).zip(words) {
                *sum = sum.wrapping_add(u64::from_le_bytes(*word));
                *of_sums = of_sums.wrapping_add(*sum);
            }
        }
        (self.sums, self.sums_of_sums) = (sums, sums_of_sums);
    }

    pub(super) fn value(mut self) -> u64 {
        if self.rest_len > 0 {
            let mut last = [0; BLOCK];
            last[..self.rest_len].copy_from_slice(&self.rest[..self.rest_len]);
            self.add_blocks(&[last]);
        }
        self.sums.into_iter().chain(self.sums_of_sums).fold(self.mixed, |mixed, sum| {
            let product = u128::from(mixed ^ sum) * u128::from(SEEDS[1]);
            (product as u64) ^ (product >> 64) as u64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SeededRng;

    fn of(text: &[u8]) -> u64 {
        let mut checksum = Checksum::new(0);
        checksum.add(text);
        checksum.of_text(text.len())
    }

    #[test]
    fn a_text_in_parts_has_the_value_of_the_whole() {
        let mut rng = SeededRng::new(3);
        for length in (0..200).chain([4_088, 65_537]) {
            let text: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
            let mut parts = Checksum::new(0);
            let mut left = text.as_slice();
            while !left.is_empty() {
                let (part, others) = left.split_at((1 + rng.below(70)).min(left.len()));
                parts.add(part);
                left = others;
            }
            assert_eq!(parts.of_text(length), of(&text), "{length}");
        }
    }

    #[test]
    fn every_byte_its_place_and_the_length_count() {
        let text: Vec<u8> = (0..100).map(|at| b'a' + at % 26).collect();
        let sound = of(&text);
        for at in 0..text.len() {
            let mut edited = text.clone();
            edited[at] ^= 1;
            assert_ne!(of(&edited), sound, "byte {at}");
            assert_ne!(of(&text[..at]), sound, "length {at}");
        }
        assert_ne!(of(&[&text[32..64], &text[..32], &text[64..]].concat()), sound, "blocks swapped");
        assert_ne!(of(&[&text[..], &[0]].concat()), sound, "a zero more");
    }
}
