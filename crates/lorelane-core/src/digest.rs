//! Content hashes: BLAKE3, and the MD5 that the `claude-memory` scripts use for `--hash`.

use crate::json::as_text;
use std::fmt;

/// A version of a file by its content. Files with the same revision have the same bytes.
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

    /// Parses 32 or 64 hex digits.
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

    /// The revision of `bytes` by the same hash function.
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

as_text!(Revision, Revision::parse);

/// A short hex digest of a text, for names that need to be distinct.
pub fn short_digest(text: &str, digits: usize) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..digits].to_owned()
}

/// MD5 (RFC 1321) in hex. It secures nothing: existing agents use it to say which version of a file they read.
pub fn md5(bytes: &[u8]) -> String {
    format!("{:x}", md5::compute(bytes))
}

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
        // Lengths around the padding boundary.
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
