//! What a client tells a hook: one JSON value on standard input.

use lorelane_core::json::Json;
use std::io::{ErrorKind, Read};

/// Larger than any file that a tool writes; more is not ours to hold in memory.
const VALUE_MAX_BYTES: usize = 64 << 20;

/// The first value on standard input. The end of the input is not waited for: some clients keep it open.
/// `None` when there is no value, or none that can be read.
pub(crate) fn read_value() -> Option<Json> {
    first_value(std::io::stdin().lock())
}

fn first_value(mut source: impl Read) -> Option<Json> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 << 10];
    let mut brackets = Brackets::default();
    while bytes.len() <= VALUE_MAX_BYTES {
        let read = match source.read(&mut chunk) {
            Ok(read) => read,
            Err(fault) if fault.kind() == ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        let end = chunk[..read].iter().position(|byte| brackets.close(*byte));
        bytes.extend_from_slice(&chunk[..end.map_or(read, |at| at + 1)]);
        if end.is_some() || read == 0 {
            return Json::parse(std::str::from_utf8(&bytes).ok()?).ok();
        }
    }
    None
}

/// Follows brackets and quotes as far as it takes to see where a value ends.
#[derive(Default)]
struct Brackets {
    open: usize,
    quoted: bool,
    escaped: bool,
}

impl Brackets {
    /// Whether this byte closes the outermost bracket.
    fn close(&mut self, byte: u8) -> bool {
        if self.escaped {
            self.escaped = false;
            return false;
        }
        match byte {
            b'\\' => self.escaped = self.quoted,
            b'"' => self.quoted = !self.quoted,
            b'{' | b'[' if !self.quoted => self.open += 1,
            b'}' | b']' if !self.quoted => {
                self.open = self.open.saturating_sub(1);
                return self.open == 0;
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes one by one, and fails where a patient reader would wait for more.
    struct Trickle<'t>(&'t [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let (first, rest) = self.0.split_first().expect("nothing is read after the value");
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn a_value_is_read_without_its_end_of_input() {
        for text in [r#"{"a": "}\"]", "b": [{}]}"#, "[]", " \n{}"] {
            assert_eq!(first_value(Trickle(text.as_bytes())), Json::parse(text).ok(), "{text}");
        }
    }

    #[test]
    fn only_the_first_value_counts() {
        assert_eq!(first_value(&b"{\"a\": 1}\n{\"a\": 2}"[..]), Json::parse(r#"{"a": 1}"#).ok());
        assert_eq!(first_value(&b"17"[..]), Some(Json::number(17)));
    }

    #[test]
    fn what_is_no_value_is_none() {
        for bytes in [&b""[..], b"{", b"}", b"{]", b"nonsense", b"\xff{}", b"\"open"] {
            assert_eq!(first_value(bytes), None, "{bytes:?}");
        }
    }
}
