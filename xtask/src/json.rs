//! A strict reader and a plain writer of JSON.
//!
//! Not the core's: the storm judges files the product wrote, and a fault shared by writer and
//! judge would stay unseen. Keys keep their order; numbers stay text.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Deeper than any file of ours; it keeps a hostile one from exhausting the stack.
const DEPTH_MAX: usize = 64;

impl Json {
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text, at: 0 };
        let json = reader.value(0)?;
        reader.blanks();
        if reader.at < text.len() { Err(reader.fault("something follows the value")) } else { Ok(json) }
    }

    pub fn string(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    pub fn strings<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Json {
        Json::List(texts.into_iter().map(Json::string).collect())
    }

    pub fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
        Json::Object(fields.map(|(name, value)| (name.to_owned(), value)).into())
    }

    pub fn get(&self, name: &str) -> Option<&Json> {
        let Json::Object(fields) = self else { return None };
        fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        let Json::Object(fields) = self else { return None };
        fields.iter_mut().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    pub fn text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    pub fn list(&self) -> &[Json] {
        if let Json::List(items) = self { items } else { &[] }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, indent: usize| write!(f, "\n{:indent$}", "");
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(digits) => f.write_str(digits),
            Json::Text(text) => write_text(f, text),
            Json::List(items) if items.is_empty() => f.write_str("[]"),
            Json::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index == 0 { "[" } else { "," })?;
                    line(f, indent + 2)?;
                    item.write(f, indent + 2)?;
                }
                line(f, indent)?;
                f.write_str("]")
            }
            Json::Object(fields) if fields.is_empty() => f.write_str("{}"),
            Json::Object(fields) => {
                for (index, (name, value)) in fields.iter().enumerate() {
                    f.write_str(if index == 0 { "{" } else { "," })?;
                    line(f, indent + 2)?;
                    write_text(f, name)?;
                    f.write_str(": ")?;
                    value.write(f, indent + 2)?;
                }
                line(f, indent)?;
                f.write_str("}")
            }
        }
    }
}

/// Two blanks per level, as the records are written.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            c if (c as u32) < 0x20 => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > DEPTH_MAX {
            return Err(self.fault("nested too deeply"));
        }
        self.blanks();
        match self.peek() {
            Some(b'{') => self.fields(depth),
            Some(b'[') => self.items(depth),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn fields(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut fields = Vec::new();
        while !self.closes(b'}', fields.is_empty())? {
            let name = self.string()?;
            self.expect(b':')?;
            fields.push((name, self.value(depth + 1)?));
        }
        Ok(Json::Object(fields))
    }

    fn items(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.closes(b']', items.is_empty())? {
            items.push(self.value(depth + 1)?);
        }
        Ok(Json::List(items))
    }

    /// Takes the closing byte, or the comma that must stand before a further element.
    fn closes(&mut self, closing: u8, first: bool) -> Result<bool, String> {
        self.blanks();
        if self.peek() == Some(closing) {
            self.at += 1;
            return Ok(true);
        }
        if !first {
            self.expect(b',')?;
            self.blanks();
        }
        Ok(false)
    }

    fn string(&mut self) -> Result<String, String> {
        self.expect(b'"')?;
        let mut text = String::new();
        loop {
            let Some(c) = self.text[self.at..].chars().next() else {
                return Err(self.fault("text is not closed"));
            };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(text),
                '\\' => text.push(self.escape()?),
                c if (c as u32) < 0x20 => return Err(self.fault("a raw control character in a text")),
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let escaped = self.peek();
        self.at += 1;
        match escaped {
            Some(c @ (b'"' | b'\\' | b'/')) => Ok(c as char),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{c}'),
            Some(b'n') => Ok('\n'),
            Some(b'r') => Ok('\r'),
            Some(b't') => Ok('\t'),
            Some(b'u') => {
                let mut units = vec![self.hex()?];
                if (0xd800..0xdc00).contains(&units[0]) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    units.push(self.hex()?);
                }
                let decoded = String::from_utf16(&units).map_err(|_| self.fault("half a surrogate pair"))?;
                decoded.chars().next().ok_or_else(|| self.fault("an empty escape"))
            }
            _ => Err(self.fault("an unknown escape")),
        }
    }

    fn hex(&mut self) -> Result<u16, String> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or("");
        let unit = u16::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
        let unit = unit.ok_or_else(|| self.fault("a bad \\u escape"))?;
        self.at += 4;
        Ok(unit)
    }

    fn number(&mut self) -> Result<Json, String> {
        let rest = &self.text[self.at..];
        let end =
            rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        let digits = &rest[..end];
        // `f64` also takes `01` and `1.`, which JSON does not.
        let whole = digits.trim_start_matches('-');
        let padded = whole.starts_with('0') && whole[1..].starts_with(|c: char| c.is_ascii_digit());
        let open =
            whole.split_once('.').is_some_and(|(_, rest)| !rest.starts_with(|c: char| c.is_ascii_digit()));
        if digits.parse::<f64>().is_err() || padded || open {
            return Err(self.fault("a bad number"));
        }
        self.at += end;
        Ok(Json::Number(digits.to_owned()))
    }

    fn word(&mut self) -> Result<Json, String> {
        for (word, json) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(json);
            }
        }
        Err(self.fault("no value"))
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        self.blanks();
        if self.peek() != Some(byte) {
            return Err(self.fault(&format!("no `{}`", byte as char)));
        }
        self.at += 1;
        Ok(())
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, what: &str) -> String {
        format!("{what} at byte {}", self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_equal() {
        let json = Json::object([
            ("text", Json::string("a \"quote\", a \\ and a\nline\u{1} – ok 🦀")),
            ("list", Json::List(vec![Json::Null, Json::Bool(true), Json::Number("-1.5e3".into())])),
            ("empty", Json::List(vec![])),
            ("none", Json::Object(vec![])),
        ]);
        assert_eq!(Json::parse(&json.to_string()), Ok(json));
    }

    #[test]
    fn escapes_are_decoded() {
        assert_eq!(Json::parse(r#""\u00e9\ud83e\udd80\/\t""#), Ok(Json::string("é🦀/\t")));
    }

    #[test]
    fn a_torn_or_padded_file_is_refused() {
        let whole =
            Json::object([("a", Json::strings(["x", "y"])), ("b", Json::Number("1".into()))]).to_string();
        for end in 0..whole.len() {
            assert!(Json::parse(&whole[..end]).is_err(), "{:?}", &whole[..end]);
        }
        for bad in [
            "{} {}",
            "[1,]",
            "[,1]",
            "{\"a\" 1}",
            "[1 2]",
            "\"\\ud800\"",
            "01",
            "1.",
            "-",
            "\"\\u+123\"",
            "\"a\nb\"",
            "{\"a\":1,}",
        ] {
            assert!(Json::parse(bad).is_err(), "{bad}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
    }
}
