//! The parser: strict, with a span for every value, and never panicking.

use super::{Json, Object};
use crate::steps;
use crate::text::cut;
use memchr::{memchr_iter, memrchr};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Deeper nesting is rejected: no record needs it, and a recursive parser must not exhaust the stack.
const DEPTH_MAX: usize = 100;
/// Objects are searched key by key, so an object with more keys could stall any of its readers.
const KEYS_MAX: usize = 10_000;
/// A hostile file can repeat a key in every item below a huge key: all their paths would not fit in memory.
const DOUBLED_MAX: usize = 20;
const DOUBLED_PATH_MAX: usize = 200;

/// A parsed text with the span of every value.
#[derive(Debug)]
pub struct JsonDocument {
    pub root: JsonNode,
    /// Dotted paths of duplicate keys: the first ones, each cut to a readable length. In a draft they are
    /// rejected, because its author can say which one is meant; in a file the last one counts.
    pub doubled: Vec<String>,
    /// How many more duplicate keys there are.
    pub doubled_more: usize,
}

#[derive(Clone, Debug)]
pub struct JsonNode {
    pub span: Range<usize>,
    pub kind: NodeKind,
}

#[derive(Clone, Debug)]
pub enum NodeKind {
    /// Null, a boolean, a number or a string.
    Scalar(Json),
    List(Vec<JsonNode>),
    Object(Vec<Member>),
}

#[derive(Clone, Debug)]
pub struct Member {
    pub key: String,
    pub key_span: Range<usize>,
    pub value: JsonNode,
}

/// Which extensions of JSON are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// Plain JSON.
    Strict,
    /// Comments.
    Commented,
    /// Comments and trailing commas.
    Lenient,
}

/// Why a text is not valid JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at line {line} column {column}")]
pub struct JsonFault {
    pub what: &'static str,
    pub line: usize,
    pub column: usize,
}

impl JsonDocument {
    pub fn parse(text: &str) -> Result<JsonDocument, JsonFault> {
        JsonDocument::parse_as(text, Grammar::Strict)
    }

    /// Parses JSON as it occurs in settings files: with comments and trailing commas.
    pub fn parse_lenient(text: &str) -> Result<JsonDocument, JsonFault> {
        JsonDocument::parse_as(text, Grammar::Lenient)
    }

    pub fn parse_as(text: &str, grammar: Grammar) -> Result<JsonDocument, JsonFault> {
        steps::parsed();
        let mut reader = JsonReader {
            text,
            grammar,
            at: 0,
            depth: 0,
            path: Vec::new(),
            doubled: Vec::new(),
            doubled_more: 0,
        };
        let root = reader.document().map_err(|what| fault(text, reader.at, what))?;
        Ok(JsonDocument { root, doubled: reader.doubled, doubled_more: reader.doubled_more })
    }
}

impl JsonNode {
    pub fn into_json(self) -> Json {
        match self.kind {
            NodeKind::Scalar(value) => value,
            NodeKind::List(items) => Json::List(items.into_iter().map(JsonNode::into_json).collect()),
            NodeKind::Object(members) => {
                let single = members.len() == distinct_keys(&members);
                let members = members.into_iter().map(|member| (member.key, member.value.into_json()));
                Json::Object(Object(if single { members.collect() } else { last_of_each(members) }))
            }
        }
    }

    pub fn to_json(&self) -> Json {
        match &self.kind {
            NodeKind::Scalar(value) => value.clone(),
            NodeKind::List(items) => Json::List(items.iter().map(JsonNode::to_json).collect()),
            NodeKind::Object(members) => {
                let single = members.len() == distinct_keys(members);
                let members = members.iter().map(|member| (member.key.clone(), member.value.to_json()));
                Json::Object(Object(if single { members.collect() } else { last_of_each(members) }))
            }
        }
    }

    /// Whether this node already has the given value.
    pub fn says(&self, value: &Json) -> bool {
        match (&self.kind, value) {
            (NodeKind::Scalar(own), value) => own == value,
            (NodeKind::List(items), Json::List(values)) => {
                items.len() == values.len() && items.iter().zip(values).all(|(item, value)| item.says(value))
            }
            (NodeKind::Object(members), Json::Object(object)) => {
                members.len() == object.len()
                    && members.iter().enumerate().all(|(at, member)| {
                        object.get_near(at, &member.key).is_some_and(|value| member.value.says(value))
                    })
            }
            _ => false,
        }
    }
}

fn distinct_keys(members: &[Member]) -> usize {
    // A record has few keys. Only in a huge object would a search per key be quadratic, so only there a set is
    // built.
    if members.len() <= 32 {
        let first = |at: usize| !members[..at].iter().any(|earlier| earlier.key == members[at].key);
        return (0..members.len()).filter(|at| first(*at)).count();
    }
    members.iter().map(|member| member.key.as_str()).collect::<HashSet<_>>().len()
}

/// Keeps the last value of duplicate keys, at the position of the first. [`Object::set`] would search for each
/// key.
fn last_of_each(members: impl Iterator<Item = (String, Json)>) -> Vec<(String, Json)> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<(String, Json)> = Vec::new();
    for (key, value) in members {
        match places.get(&key) {
            Some(at) => kept[*at].1 = value,
            None => {
                places.insert(key.clone(), kept.len());
                kept.push((key, value));
            }
        }
    }
    kept
}

struct JsonReader<'t> {
    text: &'t str,
    grammar: Grammar,
    at: usize,
    depth: usize,
    /// The spans of the keys on the way here: the path itself is needed only for a duplicate key.
    path: Vec<Range<usize>>,
    doubled: Vec<String>,
    doubled_more: usize,
}

type ParseStep<T> = Result<T, &'static str>;

impl JsonReader<'_> {
    fn document(&mut self) -> ParseStep<JsonNode> {
        self.blank()?;
        let root = self.value()?;
        self.blank()?;
        if self.at < self.text.len() { Err("unexpected text after the value") } else { Ok(root) }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips whitespace, and comments where they are allowed.
    fn blank(&mut self) -> ParseStep<()> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
                self.at += 1;
            }
            if self.grammar == Grammar::Strict || self.peek() != Some(b'/') {
                return Ok(());
            }
            self.at += comment(&self.text[self.at..])?;
        }
    }

    fn value(&mut self) -> ParseStep<JsonNode> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.nested(JsonReader::object)?,
            Some(b'[') => self.nested(JsonReader::list)?,
            Some(b'"') => NodeKind::Scalar(Json::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => NodeKind::Scalar(Json::Number(self.number()?)),
            Some(_) if self.word("true") => NodeKind::Scalar(Json::Bool(true)),
            Some(_) if self.word("false") => NodeKind::Scalar(Json::Bool(false)),
            Some(_) if self.word("null") => NodeKind::Scalar(Json::Null),
            _ => return Err("expected a value"),
        };
        Ok(JsonNode { span: start..self.at, kind })
    }

    fn nested(&mut self, read: fn(&mut Self) -> ParseStep<NodeKind>) -> ParseStep<NodeKind> {
        if self.depth == DEPTH_MAX {
            return Err("nested deeper than 100 levels");
        }
        self.depth += 1;
        self.at += 1;
        let kind = read(self)?;
        self.depth -= 1;
        Ok(kind)
    }

    fn object(&mut self) -> ParseStep<NodeKind> {
        let mut members: Vec<Member> = Vec::new();
        let mut many = HashSet::new();
        self.blank()?;
        if self.word("}") {
            return Ok(NodeKind::Object(members));
        }
        loop {
            self.blank()?;
            if self.ends_after_comma(&members, "}") {
                return Ok(NodeKind::Object(members));
            }
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err("expected a key in double quotes");
            }
            let key = self.string()?;
            let key_span = start..self.at;
            self.blank()?;
            if !self.word(":") {
                return Err("expected `:` after the key");
            }
            self.blank()?;
            self.path.push(key_span.clone());
            let value = self.value()?;
            if members.len() == 32 {
                many.extend(members.iter().map(|member| member.key.clone()));
            }
            let doubled = if members.len() < 32 {
                members.iter().any(|member| member.key == key)
            } else {
                !many.insert(key.clone())
            };
            if doubled {
                self.note_doubled();
            }
            self.path.pop();
            if members.len() == KEYS_MAX {
                return Err("object with more than 10000 keys");
            }
            members.push(Member { key, key_span, value });
            self.blank()?;
            if self.word("}") {
                return Ok(NodeKind::Object(members));
            }
            if !self.word(",") {
                return Err("expected `,` or `}`");
            }
        }
    }

    fn note_doubled(&mut self) {
        if self.doubled.len() == DOUBLED_MAX {
            self.doubled_more += 1;
            return;
        }
        let keys = self.path.iter().map(|span| &self.text[span.start + 1..span.end - 1]);
        let dotted =
            keys.enumerate().flat_map(|(at, key)| (at > 0).then_some('.').into_iter().chain(key.chars()));
        // One more than is kept, so that the cut is visible.
        let start: String = dotted.take(DOUBLED_PATH_MAX + 1).collect();
        self.doubled.push(cut(&start, DOUBLED_PATH_MAX));
    }

    fn list(&mut self) -> ParseStep<NodeKind> {
        let mut items = Vec::new();
        self.blank()?;
        if self.word("]") {
            return Ok(NodeKind::List(items));
        }
        loop {
            self.blank()?;
            if self.ends_after_comma(&items, "]") {
                return Ok(NodeKind::List(items));
            }
            items.push(self.value()?);
            self.blank()?;
            if self.word("]") {
                return Ok(NodeKind::List(items));
            }
            if !self.word(",") {
                return Err("expected `,` or `]`");
            }
        }
    }

    fn ends_after_comma<T>(&mut self, before: &[T], close: &str) -> bool {
        self.grammar == Grammar::Lenient && !before.is_empty() && self.word(close)
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// `NaN` and `Infinity` are numbers to the `claude-memory` scripts, which wrote such files. The validator
    /// rejects them by field, which says more than "not JSON".
    fn number(&mut self) -> ParseStep<String> {
        let start = self.at;
        let minus = self.word("-");
        if self.word("Infinity") || (!minus && self.word("NaN")) {
            return Ok(self.text[start..self.at].to_owned());
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err("expected a digit"),
        }
        if self.word(".") {
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Ok(self.text[start..self.at].to_owned())
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> ParseStep<()> {
        let start = self.at;
        self.digits();
        if self.at == start { Err("expected a digit") } else { Ok(()) }
    }

    fn string(&mut self) -> ParseStep<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            self.at += plain_bytes(&self.text.as_bytes()[start..]);
            out.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(&mut out)?;
                }
                Some(_) => return Err("control character in a string must be escaped"),
                None => return Err("unterminated string"),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> ParseStep<()> {
        let plain = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                out.push(self.unicode()?);
                return Ok(());
            }
            _ => return Err("unknown escape"),
        };
        self.at += 1;
        out.push(plain);
        Ok(())
    }

    /// A lone surrogate is not a character: it reads as U+FFFD, and its text stays as long as its value is
    /// untouched.
    fn unicode(&mut self) -> ParseStep<char> {
        let first = self.hex4()?;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            let back = self.at;
            self.at += 2;
            let second = self.hex4()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex4(&mut self) -> ParseStep<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).ok_or("expected four hex digits")?;
        let mut code = 0;
        for digit in digits {
            code = code * 16 + char::from(*digit).to_digit(16).ok_or("expected four hex digits")?;
        }
        self.at += 4;
        Ok(code)
    }
}

/// The length of the comment at the start of a text, without the line break that ends it.
pub(super) fn comment(text: &str) -> ParseStep<usize> {
    if text.starts_with("//") {
        return Ok(text.find(['\n', '\r']).unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return Err("expected a comment after `/`");
    }
    let end = text[2..].find("*/").ok_or("unterminated comment")?;
    Ok(end + 4)
}

fn fault(text: &str, at: usize, what: &'static str) -> JsonFault {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line_start = memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    JsonFault {
        what,
        line: 1 + memchr_iter(b'\n', before).count(),
        column: 1 + String::from_utf8_lossy(&before[line_start..]).chars().count(),
    }
}

/// The number of bytes before a quote, an escape or a control character. It scans block by block without an early
/// exit inside a block, so that the compiler vectorizes it: most of a store is such text.
fn plain_bytes(text: &[u8]) -> usize {
    const BLOCK: usize = 32;
    let ends = |byte: &u8| matches!(*byte, b'"' | b'\\' | 0..=0x1f);
    let mut plain = 0;
    for block in text.chunks(BLOCK) {
        if block.iter().fold(false, |found, byte| found | ends(byte)) {
            return plain + block.iter().position(ends).unwrap_or(0);
        }
        plain += block.len();
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    // Each duplicate key kept its whole path: a record of 1 MiB took 40 GB.
    #[test]
    fn doubled_keys_below_a_long_key_cost_no_more_than_a_few_lines() {
        let items = vec![r#"{"a":0,"a":0}"#; 45_000].join(",");
        let text = format!(r#"{{"{}": [{items}]}}"#, "é".repeat(200_000));
        let document = JsonDocument::parse(&text).unwrap();
        assert_eq!((document.doubled.len(), document.doubled_more), (DOUBLED_MAX, 45_000 - DOUBLED_MAX));
        assert!(document.doubled.iter().all(|path| path.chars().count() == DOUBLED_PATH_MAX));
    }

    #[test]
    fn of_doubled_keys_the_last_value_stands_in_the_first_place() {
        let many: String = (0..40).map(|n| format!(r#""k{n}": 0, "#)).collect();
        for text in [r#"{"a": 1, "b": 2, "a": 3}"#.to_owned(), format!(r#"{{"a": 1, {many}"b": 2, "a": 3}}"#)]
        {
            let Json::Object(object) = Json::parse(&text).unwrap() else { panic!("{text}") };
            assert_eq!(object.iter().next(), Some(("a", &Json::number(3))), "{text}");
            assert_eq!(object.iter().filter(|(key, _)| *key == "a").count(), 1, "{text}");
        }
    }

    #[test]
    fn an_object_of_nothing_but_keys_is_refused() {
        let object = |keys: usize| {
            let keys: Vec<String> = (0..keys).map(|n| format!(r#""k{n}":0"#)).collect();
            format!("{{{}}}", keys.join(","))
        };
        assert!(JsonDocument::parse(&object(KEYS_MAX)).is_ok());
        let fault = JsonDocument::parse(&object(80_000)).unwrap_err();
        assert_eq!(fault.what, "object with more than 10000 keys");
    }
}
