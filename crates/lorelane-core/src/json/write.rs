//! Types that derive `Serialize`, written in the formats of [`Json::render`].

use super::Json;
use super::render::{JsonFormat, escape_unicode};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

pub fn to_string<T: Serialize + ?Sized>(value: &T, format: JsonFormat) -> String {
    let mut bytes = Vec::new();
    let writer = FormatWriter { indent: format.indent, level: 0, is_empty: true };
    value
        .serialize(&mut Serializer::with_formatter(&mut bytes, writer))
        .expect("a Vec accepts every write, and every key is a string");
    let text = String::from_utf8(bytes).expect("JSON is text");
    if !format.ascii || text.is_ascii() {
        return text;
    }
    // Non-ASCII characters occur only in strings, so escaping them anywhere is valid.
    let mut ascii = String::with_capacity(2 * text.len());
    text.chars().for_each(|c| if c.is_ascii() { ascii.push(c) } else { escape_unicode(&mut ascii, c) });
    ascii
}

impl Json {
    /// Converts a serializable value to a tree.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Json {
        Json::parse(&to_string(value, JsonFormat::LINE)).expect("what was written can be read")
    }
}

struct FormatWriter {
    indent: Option<usize>,
    level: usize,
    /// Whether the innermost list or object is still empty.
    is_empty: bool,
}

impl FormatWriter {
    fn close<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.level -= 1;
        if !self.is_empty {
            self.break_line(out)?;
        }
        self.is_empty = false;
        out.write_all(bracket)
    }

    fn break_line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        match self.indent {
            Some(indent) => write!(out, "\n{:1$}", "", indent * self.level),
            None => Ok(()),
        }
    }
}

impl Formatter for FormatWriter {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.level += 1;
        self.is_empty = true;
        out.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        self.is_empty = false;
        if !is_first {
            out.write_all(if self.indent.is_some() { b"," } else { b", " })?;
        }
        self.break_line(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.level += 1;
        self.is_empty = true;
        out.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        self.begin_array_value(out, is_first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }

    /// `1` rather than `1.0`, and never an exponent.
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, number: f64) -> io::Result<()> {
        write!(out, "{number}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_type_is_laid_out_as_a_tree_is() {
        let text = r#"{"a": [], "b": {}, "c": [1, {"d": -0.5, "e": []}], "f": "é \u0000\u001f\u007f\b\f\n\r\t\"\\/ 😀", "ü": [[null], true]}"#;
        let (value, json): (Value, Json) = (serde_json::from_str(text).unwrap(), Json::parse(text).unwrap());
        for format in [JsonFormat::FILE, JsonFormat::LINE, JsonFormat::SCRIPT_LINE, JsonFormat::SCRIPT] {
            assert_eq!(to_string(&value, format), json.render(format), "{format:?}");
        }
        assert_eq!(Json::of(&value), json);
        assert_eq!(
            to_string(&[1.0, 1.25e-9, 1e21], JsonFormat::LINE),
            "[1, 0.00000000125, 1000000000000000000000]"
        );
    }
}
