//! Types that derive `Serialize`, written in the formats of [`Json::render`].

use super::render::{JsonFormat, escape_unicode};
use super::{Json, Object};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::value::RawValue;
use std::io::{self, Write};
use std::path::Path;

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

impl Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            // With its own digits: `0.50` is not written as `0.5`. `NaN`, which files of the scripts may have and
            // [`Json::render`] keeps, is null: other readers reject it.
            Json::Number(digits) => match serde_json::from_str::<&RawValue>(digits) {
                Ok(number) => number.serialize(serializer),
                Err(_) => serializer.serialize_unit(),
            },
            Json::Text(text) => serializer.serialize_str(text),
            Json::List(items) => serializer.collect_seq(items),
            Json::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// A path as text, for `serialize_with`: serde's own way fails on a path that is not UTF-8.
pub fn path_text<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
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
            assert_eq!(to_string(&json, format), json.render(format), "{format:?}");
        }
        let digits = Json::parse("[0.50, -1e3, 12345678901234567890123]").unwrap();
        assert_eq!(to_string(&digits, JsonFormat::LINE), digits.render(JsonFormat::LINE));
        assert_eq!(to_string(&Json::number(f64::NAN), JsonFormat::LINE), "null");
        assert_eq!(Json::of(&value), json);
        assert_eq!(
            to_string(&[1.0, 1.25e-9, 1e21], JsonFormat::LINE),
            "[1, 0.00000000125, 1000000000000000000000]"
        );
    }
}
