//! The session log, EVENT-LOG/0.2: Markdown with one fenced YAML block per event, appended only.
//!
//! People read it, so an event has a heading and its reason as text. Programs read the block: one key per line with a
//! JSON value, which is YAML too. Each event names the digest of the one before, so that an edit of the log shows,
//! and where.

use super::event::SessionEvent;
use crate::digest::short_digest;
use crate::json::{Json, JsonFormat, Object, to_string};
use crate::text::{cut, one_line};
use crate::time::Timestamp;
use crate::yaml::{CollectionKind, YamlCollection, YamlEntry, YamlValue};
use serde::Deserialize;
use std::ops::Range;

pub const PROTOCOL: &str = "EVENT-LOG/0.2";
/// What an event begins with.
const BLOCK_START: &str = "\n---\n\n## ";
const HEADER_START: &str = "# Session Log: ";
const DIGEST_DIGITS: usize = 16;
const WHY_MAX: usize = 500;
/// Deeper values of other programs are ignored.
const DEPTH_MAX: usize = 8;

/// The first lines of a log.
pub fn log_header(session: &str, at: Timestamp) -> String {
    format!("{HEADER_START}{}\n\nStarted: {at}\nProtocol: {PROTOCOL}\n", one_line(session))
}

/// An event and the bytes it takes in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogBlock {
    pub event: SessionEvent,
    pub span: Range<usize>,
}

/// A place at which the log is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    #[error("line {line}: event {seq} does not follow the one before it: the log was edited above this line")]
    Broken { line: usize, seq: u64 },
    #[error("line {line}: text between two events was not written by lorelane")]
    Inserted { line: usize },
    #[error("line {line}: an event cannot be read")]
    Unreadable { line: usize },
}

/// A log that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionLog {
    pub blocks: Vec<LogBlock>,
    pub faults: Vec<ChainFault>,
    /// Where an event begins that was not written to its end.
    pub torn_at: Option<usize>,
    /// The digest that the next event names.
    pub last_digest: String,
}

impl SessionEvent {
    /// The lines of this event in the log.
    pub fn render(&self) -> String {
        let header = self.at.to_string().replace('T', " ");
        let mut text = format!("{BLOCK_START}{header} — {}\n", self.kind.title());
        let why = cut(&one_line(self.kind.why()), WHY_MAX);
        if !why.is_empty() {
            // The prefix keeps a reason from being read as a fence, a rule or a heading.
            text.push_str(&format!("\nWhy: {why}\n"));
        }
        text.push_str("\n```yaml\n");
        if let Json::Object(mut fields) = Json::of(self) {
            // First, as other programs write it: readers look for it there.
            fields.remove("type").iter().for_each(|kind| push_field(&mut text, "type", kind));
            fields.iter().for_each(|(key, value)| push_field(&mut text, key, value));
        }
        text.push_str("```\n");
        text
    }
}

fn push_field(text: &mut String, key: &str, value: &Json) {
    match value {
        Json::List(items) if !items.is_empty() => {
            text.push_str(&format!("{key}:\n"));
            for item in items {
                text.push_str(&format!("  - {}\n", to_string(item, JsonFormat::LINE)));
            }
        }
        // `type` is a plain word, as other programs write it.
        Json::Text(word) if key == "type" => text.push_str(&format!("{key}: {word}\n")),
        value => text.push_str(&format!("{key}: {}\n", to_string(value, JsonFormat::LINE))),
    }
}

impl SessionLog {
    /// Reads a whole log. Events of other programs are kept in order; their chain is not checked.
    pub fn read(text: &str) -> SessionLog {
        SessionLog::read_from(text, 0, "")
    }

    /// Reads the events from an offset at which one ends, whose digest is known.
    pub fn read_from(text: &str, start: usize, last_digest: &str) -> SessionLog {
        let mut log = SessionLog { last_digest: last_digest.to_owned(), ..SessionLog::default() };
        let mut lines = LineCursor { text, at: start };
        let mut end_of_last = start;
        while let Some(line) = lines.next() {
            let shown = text[line.clone()].trim_end();
            let body = match shown {
                "```yaml" | "```yml" | "```json" => match lines.until_fence() {
                    Some(body) => &text[body],
                    None => break,
                },
                _ if shown.starts_with('{') => shown,
                _ => continue,
            };
            log.add(text, end_of_last..lines.at, body);
            end_of_last = lines.at;
        }
        log.torn_at = is_torn(&text[end_of_last.min(text.len())..], end_of_last == 0).then_some(end_of_last);
        log
    }

    fn add(&mut self, text: &str, span: Range<usize>, body: &str) {
        let line = || 1 + text[..span.end].bytes().filter(|byte| *byte == b'\n').count();
        let Some(event) = read_event(body, &text[span.clone()]) else {
            self.faults.push(ChainFault::Unreadable { line: line() });
            return;
        };
        let is_chained = event.seq > 0;
        if is_chained && !self.last_digest.is_empty() && event.prev != self.last_digest {
            self.faults.push(ChainFault::Broken { line: line(), seq: event.seq });
        }
        // An edit of this event shows in the next one. What was added before it shows here, even if it is the last.
        let follows = self.blocks.last().is_some_and(|last| last.event.seq > 0);
        if is_chained && follows && !text[span.clone()].starts_with(BLOCK_START) {
            self.faults.push(ChainFault::Inserted { line: line() });
        }
        self.last_digest = digest(&text[span.clone()]);
        self.blocks.push(LogBlock { event, span });
    }

    pub fn events(&self) -> impl Iterator<Item = &SessionEvent> {
        self.blocks.iter().map(|block| &block.event)
    }
}

/// Whether the text after the last event is the beginning of one. Anything else was written by somebody else and stays.
fn is_torn(rest: &str, is_whole_file: bool) -> bool {
    let starts = |whole: &str| rest.starts_with(whole) || whole.starts_with(rest);
    !rest.is_empty() && (starts(BLOCK_START) || is_whole_file && starts(HEADER_START))
}

/// The digest of an event, as the next one names it.
pub fn digest(block: &str) -> String {
    short_digest(block, DIGEST_DIGITS)
}

/// Reads the body of a block; `None` if it has no type.
fn read_event(body: &str, block: &str) -> Option<SessionEvent> {
    let mut fields = match Json::parse(body.trim()) {
        Ok(Json::Object(object)) => object,
        _ => flat(body).or_else(|| foreign(body))?,
    };
    fields.get("type")?;
    if fields.get("timestamp").and_then(Json::as_text).and_then(Timestamp::parse).is_none() {
        fields.set("timestamp", Json::text(heading_time(block).unwrap_or(Timestamp(0)).to_string()));
    }
    SessionEvent::deserialize(&Json::Object(fields)).ok()
}

/// The time in the heading of an event that names none itself.
fn heading_time(block: &str) -> Option<Timestamp> {
    let heading = block.lines().find_map(|line| line.strip_prefix("## "))?;
    let shown = heading.split(" — ").next()?;
    Timestamp::parse(shown.trim()).map(|(at, _)| at)
}

/// The form that lorelane writes: a key and a JSON value per line, items below a key without a value.
fn flat(body: &str) -> Option<Object> {
    let mut fields = Object::default();
    let mut list: Option<(&str, Vec<Json>)> = None;
    let close = |fields: &mut Object, list: Option<(&str, Vec<Json>)>| {
        if let Some((key, items)) = list {
            fields.set(key, Json::List(items));
        }
    };
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(item) = line.strip_prefix("  - ") {
            list.as_mut()?.1.push(Json::parse(item).ok()?);
            continue;
        }
        close(&mut fields, list.take());
        let (key, value) = line.split_once(':')?;
        if !key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
            return None;
        }
        let value = value.trim();
        if value.is_empty() {
            list = Some((key, Vec::new()));
        } else if key == "type" && value.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
            fields.set(key, Json::text(value));
        } else {
            fields.set(key, Json::parse(value).ok()?);
        }
    }
    close(&mut fields, list);
    Some(fields)
}

/// Any other YAML mapping. Comments are for people and stay in the file.
fn foreign(body: &str) -> Option<Object> {
    let mapping = YamlCollection::document(body)?;
    match collection(&mapping, DEPTH_MAX) {
        Json::Object(object) => Some(object),
        _ => None,
    }
}

fn collection(yaml: &YamlCollection<'_>, depth: usize) -> Json {
    let values = yaml.entries.iter().map(|entry| (entry.key.as_str(), value(yaml, entry, depth)));
    match yaml.kind {
        CollectionKind::Sequence => Json::List(values.map(|(_, value)| value).collect()),
        CollectionKind::Mapping => {
            let mut object = Object::default();
            values.for_each(|(key, value)| object.set(key, value));
            Json::Object(object)
        }
    }
}

fn value(yaml: &YamlCollection<'_>, entry: &YamlEntry, depth: usize) -> Json {
    match &entry.value {
        YamlValue::Null => Json::Null,
        YamlValue::Scalar(scalar) => plain(&scalar.text, &yaml.text[entry.source.clone()]),
        _ => match yaml.child(entry).filter(|_| depth > 0) {
            Some(child) => collection(&child, depth - 1),
            None => yaml.scalar_of(entry).map_or(Json::Null, Json::text),
        },
    }
}

/// A scalar in quotes is text; a plain one may be a number or a truth value.
fn plain(text: &str, source: &str) -> Json {
    if source.starts_with(['"', '\'']) {
        return Json::text(text);
    }
    match Json::parse(text) {
        Ok(value @ (Json::Number(_) | Json::Bool(_))) => value,
        _ => Json::text(text),
    }
}

/// The lines of a text with their line ends.
struct LineCursor<'t> {
    text: &'t str,
    at: usize,
}

impl LineCursor<'_> {
    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
        let line = self.at..self.at + length;
        self.at = line.end;
        Some(line)
    }

    /// The lines up to the closing fence, which is skipped.
    fn until_fence(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        while let Some(line) = self.next() {
            let shown = &self.text[line.clone()];
            if shown.trim_end() == "```" {
                // A fence without a line end may have been cut off before it.
                return shown.ends_with('\n').then_some(start..line.start);
            }
        }
        None
    }
}
