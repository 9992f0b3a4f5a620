//! Reads one JSON value from standard input.

use lorelane_core::json::Json;
use std::io::Read;

/// More than any client sends. A payload may contain a whole file that a tool wrote.
const MAX_BYTES: usize = 64 << 20;

/// Reads one object and stops at its closing brace: not every client closes its end of the pipe.
pub(crate) fn read_value() -> Option<Json> {
    read_from(&mut std::io::stdin().lock())
}

fn read_from(input: &mut dyn Read) -> Option<Json> {
    let mut bytes = Vec::new();
    let mut end = InputEnd::default();
    // Small, because the guard runs before every tool: a large buffer would touch pages that no payload fills.
    let mut chunk = [0; 8 << 10];
    while !end.reached && bytes.len() < MAX_BYTES {
        match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => {
                end.pass(&chunk[..count]);
                bytes.extend_from_slice(&chunk[..count]);
            }
            Err(fault) if fault.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    Json::parse(text.trim_start_matches('\u{feff}').trim()).ok()
}

/// Finds the brace that closes the first object. Any other value ends at the end of the input.
#[derive(Default)]
struct InputEnd {
    depth: usize,
    in_text: bool,
    escaped: bool,
    reached: bool,
}

impl InputEnd {
    fn pass(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match (self.in_text, byte) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (_, b'"') => self.in_text = !self.in_text,
                (false, b'{') => self.depth += 1,
                (false, b'}') => {
                    self.depth = self.depth.saturating_sub(1);
                    self.reached |= self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns its pieces one by one and never reaches the end of the input.
    struct Open(Vec<&'static str>);

    impl Read for Open {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let piece = self.0.remove(0).as_bytes();
            into[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn an_object_is_read_though_the_input_stays_open() {
        let pieces = vec!["{\"a\": \"}\\\"", "}\", \"b\": {", "\"c\": [1]}}", "\n"];
        let value = read_from(&mut Open(pieces)).expect("a value");
        assert_eq!(value.at("b.c"), Some(&Json::List(vec![Json::number(1)])));
    }

    #[test]
    fn what_is_no_value_is_none() {
        for text in ["", "  ", "{", "nonsense", "{\"a\": }", "\u{0}"] {
            assert_eq!(read_from(&mut text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(read_from(&mut "[1]".as_bytes()), Some(Json::List(vec![Json::number(1)])));
    }
}
