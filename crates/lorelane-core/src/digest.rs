//! Content hashes: one that proves, and the one that the scripts' `--hash` speaks.

use std::fmt;

/// What a file said at some moment. Two files with one revision have the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Revision {
    /// 32 hex digits, as `memory_write --hash` takes them.
    Md5(String),
    Blake3(String),
}

impl Revision {
    pub fn of(bytes: &[u8]) -> Revision {
        Revision::Blake3(blake3::hash(bytes).to_hex().to_string())
    }

    /// Reads 32 or 64 hex digits.
    pub fn parse(text: &str) -> Option<Revision> {
        let text = text.trim().to_ascii_lowercase();
        if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        match text.len() {
            32 => Some(Revision::Md5(text)),
            64 => Some(Revision::Blake3(text)),
            _ => None,
        }
    }

    /// The revision of `bytes` in the same kind of hash.
    pub fn same_kind_of(&self, bytes: &[u8]) -> Revision {
        match self {
            Revision::Md5(_) => Revision::Md5(md5(bytes)),
            Revision::Blake3(_) => Revision::of(bytes),
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Revision::Md5(hex) | Revision::Blake3(hex) => f.write_str(hex),
        }
    }
}

/// A few hex digits that stand for a text, for names that need one.
pub fn short_digest(text: &str, digits: usize) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..digits].to_owned()
}

/// MD5 (RFC 1321) in hex. Nothing is secured by it: it is the language in which existing agents say
/// which version of a file they read.
pub fn md5(bytes: &[u8]) -> String {
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64) + if padded.len() % 64 > 56 { 64 } else { 0 }, 0);
    let at = padded.len() - 8;
    padded[at..].copy_from_slice(&(bytes.len() as u64).wrapping_mul(8).to_le_bytes());
    for block in padded.chunks_exact(64) {
        let mut words = [0u32; 16];
        for (word, chunk) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
        }
        let [mut a, mut b, mut c, mut d] = state;
        for round in 0..64 {
            let (mix, at) = match round / 16 {
                0 => ((b & c) | (!b & d), round),
                1 => ((d & b) | (!d & c), (5 * round + 1) % 16),
                2 => (b ^ c ^ d, (3 * round + 5) % 16),
                _ => (c ^ (b | !d), (7 * round) % 16),
            };
            let sum = a.wrapping_add(mix).wrapping_add(SINES[round]).wrapping_add(words[at]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[round / 16][round % 4]));
        }
        for (old, new) in state.iter_mut().zip([a, b, c, d]) {
            *old = old.wrapping_add(new);
        }
    }
    state.iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
}

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// `floor(2^32 × |sin(i + 1)|)`, the constants of the standard.
#[rustfmt::skip]
const SINES: [u32; 64] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md5_gives_the_published_vectors() {
        let table = [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(md5(text.as_bytes()), expected, "{text:?}");
        }
        // Lengths around the padding's edge.
        assert_eq!(md5(&[b'a'; 55]), "ef1772b6dff9a122358552954ad0df65");
        assert_eq!(md5(&[b'a'; 56]), "3b0c8ac703f828b04c6c197006d17218");
        assert_eq!(md5(&[b'a'; 64]), "014842d480b571495a4a0363793f7367");
    }

    #[test]
    fn a_revision_is_read_in_either_hash() {
        let revision = Revision::parse(" 900150983CD24FB0D6963F7D28E17F72\n").unwrap();
        assert_eq!(revision, revision.same_kind_of(b"abc"));
        assert_eq!(Revision::parse("xyz"), None);
    }
}
