//! How documents are laid out: on several lines for people who look, on one for readers of lines.

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};
use std::fmt::Write as _;
use std::io;

const WRITABLE: &str = "a view has only texts for keys, and memory does not refuse to be written";

/// A document on several lines, two spaces for each level.
pub fn pretty(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect(WRITABLE)
}

/// A document on one line, with a space after each comma and colon.
pub fn line(document: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    document.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced)).expect(WRITABLE);
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// A document as the tree that the protocol's crate takes. A number that no float can hold makes it null.
pub fn tree(document: &impl Serialize) -> Value {
    serde_json::to_value(document).unwrap_or_default()
}

/// The same JSON in ASCII, as Python's `json.dumps` writes it.
pub fn ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Exact;
    use super::*;
    use lorelane_core::json::{Format, Json};

    // Scripts compare these bytes with those of the versions before.
    #[test]
    fn documents_are_laid_out_as_core_lays_out_json() {
        let json = Json::parse(
            r#"{"a": [], "b": {}, "c": [1, {"d": 0.50}], "e": -1e3, "f": "é \u0000\u001f\u007f\b\f\n\r\t\"\\/ 😀", "g": [[null], true]}"#,
        )
        .expect("JSON");
        let view = Exact::from(&json);
        assert_eq!(pretty(&view), json.render(Format::FILE));
        assert_eq!(line(&view), json.render(Format::LINE));
        assert_eq!(ascii(&line(&view)), json.render(Format::SCRIPT_LINE));
        assert_eq!(ascii(&pretty(&view)), json.render(Format::SCRIPT));
    }

    #[test]
    fn a_tree_has_the_same_values() {
        let json = Json::parse(r#"{"b": [0.50, 3], "a": {"c": null}}"#).expect("JSON");
        assert_eq!(tree(&Exact::from(json)).to_string(), r#"{"b":[0.5,3],"a":{"c":null}}"#);
    }
}
