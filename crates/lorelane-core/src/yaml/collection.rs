//! Mappings and sequences, read one level at a time.

use super::scalar::{self, BlockHeader, YamlScalar, is_dash};
use super::{BYTE_ORDER_MARK, KEYS_MAX, says_nothing};
use crate::text::cut;
use std::borrow::Cow;
use std::ops::Range;

/// Nobody reads the twentieth problem of one mapping, so further ones are not collected.
const PROBLEMS_MAX: usize = 20;

/// A mapping or a sequence with its spans in a text.
#[derive(Clone, Debug)]
pub struct YamlCollection<'t> {
    /// The whole text that contains it.
    pub text: &'t str,
    /// Its lines; for a flow collection, from bracket to bracket.
    pub span: Range<usize>,
    pub kind: CollectionKind,
    pub layout: CollectionLayout,
    pub(super) indent: Indent<'t>,
    pub entries: Vec<YamlEntry>,
    pub problems: Vec<YamlProblem>,
}

/// A block mapping without its text, so that one value can own both.
#[derive(Clone, Debug)]
pub(crate) struct MappingSpans {
    span: Range<usize>,
    indent: usize,
    entries: Vec<YamlEntry>,
    problems: Vec<YamlProblem>,
}

impl MappingSpans {
    pub(crate) fn of(mapping: &YamlCollection<'_>) -> MappingSpans {
        MappingSpans {
            span: mapping.span.clone(),
            indent: mapping.indent.width(),
            entries: mapping.entries.clone(),
            problems: mapping.problems.clone(),
        }
    }

    /// The mapping in the text that it was read from, or in one that is the same up to the mapping's end.
    pub(crate) fn in_text<'t>(&self, text: &'t str) -> YamlCollection<'t> {
        let start = self.entries.first().map_or(self.span.start, |first| first.lines.start);
        YamlCollection {
            text,
            span: self.span.clone(),
            kind: CollectionKind::Mapping,
            layout: CollectionLayout::Block,
            indent: Indent { prefix: &text[start..start + self.indent], spaces: 0 },
            entries: self.entries.clone(),
            problems: self.problems.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionKind {
    Mapping,
    Sequence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionLayout {
    /// `[a, b]` or `{a: b}`
    Flow,
    /// Lines with a key or a dash.
    Block,
}

/// A key of a mapping, or an item of a sequence with its index as key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlEntry {
    pub key: String,
    /// Its lines with their line ends; in a flow collection, its key and value.
    pub lines: Range<usize>,
    /// Its value, without a comment that follows on the same line.
    pub source: Range<usize>,
    pub value: YamlValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlValue {
    Null,
    Scalar(YamlScalar),
    /// A sequence of scalars.
    List(Vec<YamlScalar>, CollectionLayout),
    /// Read only on demand (a collection, a scalar over several lines), or not understood (an alias, a tag, broken
    /// YAML).
    Other,
}

/// A line or a value that is invalid. The others are read all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlProblem {
    /// The line is neither a key nor an item nor part of a value.
    NotAKey {
        line: String,
    },
    Unreadable {
        key: String,
    },
    /// Other YAML readers would see a mapping.
    ColonWithoutQuotes {
        key: String,
    },
    /// The last one counts.
    Duplicate {
        key: String,
    },
}

/// The indentation of a block collection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Indent<'t> {
    prefix: &'t str,
    /// Further spaces: the width of the dash, for a collection that starts on the line of its item.
    pub(super) spaces: usize,
}

impl<'t> Indent<'t> {
    pub(super) fn width(&self) -> usize {
        self.prefix.len() + self.spaces
    }

    /// The line without this indentation.
    fn strip<'l>(&self, line: &'l str) -> Option<&'l str> {
        let rest = line.strip_prefix(self.prefix)?;
        let (spaces, rest) = rest.split_at_checked(self.spaces)?;
        spaces.bytes().all(|byte| byte == b' ').then_some(rest)
    }

    fn is_shorter_than(&self, line: &str) -> bool {
        self.strip(line).is_some_and(|rest| rest.starts_with([' ', '\t']))
    }

    pub(super) fn written(&self) -> String {
        format!("{}{:2$}", self.prefix, "", self.spaces)
    }
}

impl<'t> YamlCollection<'t> {
    /// The top-level mapping of a YAML file: that of its first document, without a byte-order mark and `---`.
    /// Lines above its first key are not part of it.
    pub fn document(text: &'t str) -> Option<YamlCollection<'t>> {
        let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let says_nothing = |line: &Range<usize>| says_nothing(&text[line.clone()]);
        let is_marker = |line: &Range<usize>| matches!(text[line.clone()].trim_end(), "---" | "...");
        let is_above = |line: &Range<usize>| says_nothing(line) || text[line.clone()].starts_with('%');
        let mut lines = line_spans(text, start..text.len()).skip_while(is_above).peekable();
        let above = lines.next_if(is_marker).map_or(text.len(), |marker| marker.end);
        let lines: Vec<_> = lines.take_while(|line| !is_marker(line)).collect();
        let end = lines.last().map_or(above, |line| line.end);
        let own = |line: &Range<usize>| text[line.clone()].trim_start_matches([' ', '\t']);
        let indent = |line: &Range<usize>| line.len() - own(line).len();
        let Some(least) = lines.iter().filter(|line| !says_nothing(line)).map(indent).min() else {
            return YamlCollection::mapping(text, end..end);
        };
        let has_key = |line: &&Range<usize>| indent(line) == least && read_key(own(line)).is_some();
        YamlCollection::mapping(text, lines.iter().find(has_key)?.start..end)
    }

    /// The mapping in these lines; `None` if the first line that is not a comment has no key.
    pub fn mapping(text: &'t str, lines: Range<usize>) -> Option<YamlCollection<'t>> {
        let spans: Vec<_> = line_spans(text, lines.clone()).collect();
        let first = spans.iter().map(|line| &text[line.clone()]).find(|line| !says_nothing(line));
        let prefix = match first {
            None => "",
            Some(line) => {
                let own = line.trim_start_matches([' ', '\t']);
                read_key(own).map(|_| &line[..line.len() - own.len()])?
            }
        };
        let indent = Indent { prefix, spaces: 0 };
        Some(YamlCollection::block(text, CollectionKind::Mapping, indent, lines, &spans))
    }

    /// The entry of this key; of duplicate keys the last one.
    pub fn get(&self, key: &str) -> Option<&YamlEntry> {
        match self.kind {
            CollectionKind::Mapping => self.entries.iter().rfind(|entry| entry.key == key),
            CollectionKind::Sequence => self.entries.get(key.parse::<usize>().ok()?),
        }
    }

    /// The string of the scalar at a key path.
    pub fn scalar(&self, path: &[&str]) -> Option<String> {
        self.at(path, YamlCollection::scalar_of)?
    }

    /// The strings of the sequence of scalars at a key path.
    pub fn list(&self, path: &[&str]) -> Option<Vec<String>> {
        self.at(path, YamlCollection::list_of)?
    }

    /// Calls `look` with the entry at a key path and the collection that contains it.
    pub fn at<R>(&self, path: &[&str], look: impl FnOnce(&YamlCollection<'t>, &YamlEntry) -> R) -> Option<R> {
        let (key, parents) = path.split_last()?;
        let parent = self.descend(parents)?;
        Some(look(&parent, parent.get(key)?))
    }

    /// The collection at a key path; the empty path is this one.
    pub fn descend(&self, path: &[&str]) -> Option<Cow<'_, YamlCollection<'t>>> {
        let mut collection = Cow::Borrowed(self);
        for key in path {
            let child = collection.child(collection.get(key)?)?;
            collection = Cow::Owned(child);
        }
        Some(collection)
    }

    /// The string of an entry's value, if it is a scalar in any style.
    pub fn scalar_of(&self, entry: &YamlEntry) -> Option<String> {
        match &entry.value {
            YamlValue::Scalar(scalar) => Some(scalar.text.clone()),
            YamlValue::Other => {
                let end = entry.lines.end.max(entry.source.end);
                scalar::over_lines(&self.text[entry.source.start..end], self.indent.width())
            }
            YamlValue::Null | YamlValue::List(..) => None,
        }
    }

    /// The strings of an entry's value, if it is a sequence of scalars.
    pub fn list_of(&self, entry: &YamlEntry) -> Option<Vec<String>> {
        match &entry.value {
            YamlValue::List(items, _) => Some(items.iter().map(|item| item.text.clone()).collect()),
            YamlValue::Other => {
                let child = self.child(entry).filter(|child| child.kind == CollectionKind::Sequence)?;
                child.entries.iter().map(|item| child.scalar_of(item)).collect()
            }
            YamlValue::Null | YamlValue::Scalar(_) => None,
        }
    }

    /// The collection that is an entry's value.
    pub fn child(&self, entry: &YamlEntry) -> Option<YamlCollection<'t>> {
        if !matches!(entry.value, YamlValue::List(..) | YamlValue::Other) {
            return None;
        }
        let start = skip_properties(self.text, entry.source.start);
        let source = &self.text[start..entry.source.end];
        if source.starts_with(['[', '{']) {
            return self.flow_child(start, entry.source.end);
        }
        if self.layout == CollectionLayout::Flow {
            return None;
        }
        let inline = source.split_inclusive('\n').next()?;
        if !says_nothing(inline) {
            // Only an item of a sequence can start a collection on its own line.
            let kind = kind_of(inline).filter(|_| self.kind == CollectionKind::Sequence)?;
            let column = start - line_start(self.text, start);
            let indent = Indent { spaces: column.checked_sub(self.indent.prefix.len())?, ..self.indent };
            return Some(self.block_child(kind, indent, start..entry.lines.end));
        }
        let mut below = line_spans(self.text, start + inline.len()..entry.lines.end);
        let first = below.find(|line| !says_nothing(&self.text[line.clone()]))?;
        let line = &self.text[first.clone()];
        let own = line.trim_start_matches([' ', '\t']);
        if own.starts_with(['[', '{']) {
            return self.flow_child(first.end - own.len(), entry.source.end);
        }
        let indent = Indent { prefix: &line[..line.len() - own.len()], spaces: 0 };
        Some(self.block_child(kind_of(own)?, indent, first.start..entry.lines.end))
    }

    fn block_child(
        &self,
        kind: CollectionKind,
        indent: Indent<'t>,
        span: Range<usize>,
    ) -> YamlCollection<'t> {
        let lines: Vec<_> = line_spans(self.text, span.clone()).collect();
        YamlCollection::block(self.text, kind, indent, span, &lines)
    }

    fn flow_child(&self, start: usize, limit: usize) -> Option<YamlCollection<'t>> {
        let (elements, end) = scalar::flow(&self.text[..limit], start)?;
        let is_sequence = self.text[start..].starts_with('[');
        let kind = if is_sequence { CollectionKind::Sequence } else { CollectionKind::Mapping };
        let entry = |(at, element): (usize, scalar::FlowElement)| YamlEntry {
            key: element.key.unwrap_or_else(|| at.to_string()),
            lines: element.span,
            source: element.source,
            value: element.value,
        };
        Some(YamlCollection {
            text: self.text,
            span: start..end,
            kind,
            layout: CollectionLayout::Flow,
            indent: self.indent,
            entries: elements.into_iter().enumerate().map(entry).collect(),
            problems: Vec::new(),
        })
    }

    /// The value of an entry as it is written, without this collection's indentation and line ends, so that it
    /// can be written to another file.
    pub fn source(&self, entry: &YamlEntry) -> String {
        let source = &self.text[entry.source.clone()];
        source.replace("\r\n", "\n").replace(&format!("\n{}", self.indent.written()), "\n")
    }

    /// The line ending that the text uses.
    pub fn line_end(&self) -> &'static str {
        line_end(self.text)
    }

    fn block(
        text: &'t str,
        kind: CollectionKind,
        indent: Indent<'t>,
        span: Range<usize>,
        lines: &[Range<usize>],
    ) -> YamlCollection<'t> {
        let layout = CollectionLayout::Block;
        let (entries, problems) = (Vec::new(), Vec::new());
        let mut collection = YamlCollection { text, span, kind, layout, indent, entries, problems };
        collection.read_lines(lines);
        collection
    }

    fn problem(&mut self, problem: YamlProblem) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        }
    }

    fn read_lines(&mut self, lines: &[Range<usize>]) {
        let mut at = 0;
        // One more than allowed is enough to detect that there are too many.
        while at < lines.len() && (self.kind == CollectionKind::Sequence || self.entries.len() <= KEYS_MAX) {
            let line = lines[at].clone();
            let shown = &self.text[line.clone()];
            // If the collection starts on the line of its item, its first line has no indentation of its own.
            let own = if at == 0 && self.indent.spaces > 0 { Some(shown) } else { self.indent.strip(shown) };
            at += 1;
            if says_nothing(shown) {
                continue;
            }
            let own = own.filter(|rest| !rest.starts_with([' ', '\t']));
            let Some((key, value_at)) = own.and_then(|own| self.read_start(own, line.end)) else {
                self.problem(YamlProblem::NotAKey { line: cut(shown.trim(), 40) });
                continue;
            };
            let count = self.continued(&lines[at..], value_at);
            let lines_end = lines[at + count - 1].end;
            let next = &lines[at..at + count];
            at += count;
            let (source, value) = self.read_value(value_at, &line, next);
            self.note_problems(&key, &source, &value, next.is_empty());
            self.entries.push(YamlEntry { key, lines: line.start..lines_end, source, value });
        }
    }

    /// The key of a line, or the index of an item, and the offset where its value may start.
    fn read_start(&self, own: &str, line_end: usize) -> Option<(String, usize)> {
        let (key, length) = match self.kind {
            CollectionKind::Mapping => read_key(own)?,
            CollectionKind::Sequence => is_dash(own).then(|| (self.entries.len().to_string(), 1))?,
        };
        Some((key, line_end - own.len() + length))
    }

    fn note_problems(&mut self, key: &str, source: &Range<usize>, value: &YamlValue, is_one_line: bool) {
        if self.kind == CollectionKind::Sequence {
            return;
        }
        let key_of = || key.to_owned();
        match value {
            YamlValue::Other if is_one_line && !is_foreign(&self.text[source.clone()]) => {
                self.problem(YamlProblem::Unreadable { key: key_of() });
            }
            YamlValue::Scalar(scalar) if scalar.reads_as_a_map() => {
                self.problem(YamlProblem::ColonWithoutQuotes { key: key_of() });
            }
            _ => {}
        }
        if self.get(key).is_some() {
            self.problem(YamlProblem::Duplicate { key: key_of() });
        }
    }

    /// How many of the following lines belong to the value that starts here: deeper lines, the rest of a flow
    /// collection, and dashes below a key without a value. Empty lines and comments count only if such a line
    /// follows, or if they are text of a block scalar.
    fn continued(&self, following: &[Range<usize>], value_at: usize) -> usize {
        let first = self.text[value_at..].lines().next().unwrap_or_default();
        let inline = first[skip_properties(first, 0)..].trim_start();
        // A list that is closed on its own line needs no further bracket.
        let bracketed = match inline.chars().next() {
            Some('[') => scalar::flow_list(first, first.len() - inline.len()).is_none(),
            Some('{') => !inline.contains('}'),
            _ => false,
        };
        let bare = says_nothing(inline);
        // The block scalar that the following lines belong to, and the indentation of its key.
        let mut block = BlockHeader::read(inline).map(|header| (header, self.indent.width()));
        let mut count = 0;
        for (ahead, line) in following.iter().enumerate() {
            let line = &self.text[line.clone()];
            let own = line.trim_start();
            if own.is_empty() {
                let is_text = block.is_some_and(|(header, _)| header.keeps_line_ends() && count == ahead);
                count = if is_text { ahead + 1 } else { count };
                continue;
            }
            let indent = line.len() - own.len();
            block = block.filter(|(_, key_indent)| indent > *key_indent);
            if block.is_none() && own.starts_with('#') {
                continue;
            }
            let own = self.indent.strip(line).unwrap_or(line);
            let belongs = self.indent.is_shorter_than(line)
                || bracketed && own.starts_with([']', '}'])
                || bare && self.kind == CollectionKind::Mapping && is_dash(own);
            if !belongs {
                break;
            }
            block = block.or_else(|| Some((BlockHeader::at_end_of(line)?, indent)));
            count = ahead + 1;
        }
        count
    }

    fn read_value(&self, at: usize, line: &Range<usize>, next: &[Range<usize>]) -> (Range<usize>, YamlValue) {
        let content = |span: &Range<usize>| {
            span.start + self.text[span.clone()].trim_end_matches(['\n', '\r']).trim_end().len()
        };
        let last = next.iter().rfind(|line| !self.text[(*line).clone()].trim().is_empty());
        let end = last.map_or_else(|| content(line), content);
        let inline = &self.text[at..content(line).max(at)];
        let start = at + inline.len() - inline.trim_start().len();
        if says_nothing(inline) {
            return match next {
                [] => (at..at, YamlValue::Null),
                _ => {
                    let list = self.block_list(next);
                    let list = list.map(|items| YamlValue::List(items, CollectionLayout::Block));
                    (at..end, list.unwrap_or(YamlValue::Other))
                }
            };
        }
        if inline.trim_start().starts_with('[') {
            return match scalar::flow_list(&self.text[..end], start) {
                Some((items, closed)) if self.text[closed..end].lines().all(says_nothing) => {
                    (start..closed, YamlValue::List(items, CollectionLayout::Flow))
                }
                _ => (start..end, YamlValue::Other),
            };
        }
        let begins_collection = || kind_of(inline.trim_start()).is_some();
        match scalar::read(&self.text[..end], start) {
            Some(_) if self.kind == CollectionKind::Sequence && begins_collection() => {
                (start..end, YamlValue::Other)
            }
            Some(scalar) if next.is_empty() && scalar.is_null() => (scalar.span, YamlValue::Null),
            Some(scalar) if next.is_empty() => (scalar.span.clone(), YamlValue::Scalar(scalar)),
            _ => (start..end, YamlValue::Other),
        }
    }

    /// Reads one dash and scalar per line; empty lines and comments are skipped.
    fn block_list(&self, lines: &[Range<usize>]) -> Option<Vec<YamlScalar>> {
        let mut items = Vec::new();
        let mut indent = None;
        for line in lines {
            let shown = self.text[line.clone()].trim_end();
            if says_nothing(shown) {
                continue;
            }
            let own = shown.trim_start();
            let depth = shown.len() - own.len();
            if *indent.get_or_insert(depth) != depth || !is_dash(own) {
                return None;
            }
            let inner = own[1..].trim_start();
            let at = line.start + shown.len() - inner.len();
            let item = scalar::read(&self.text[..line.start + shown.len()], at)?;
            if item.reads_as_a_map() || is_dash(inner) {
                return None;
            }
            items.push(item);
        }
        (!items.is_empty()).then_some(items)
    }
}

/// The spans of the lines in a part of a text.
fn line_spans(text: &str, within: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = within.start;
    text[within].split_inclusive('\n').map(move |line| {
        at += line.len();
        at - line.len()..at
    })
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// The line ending that a text uses.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The kind of block collection that starts on this line, if any.
fn kind_of(own: &str) -> Option<CollectionKind> {
    match is_dash(own) {
        true => Some(CollectionKind::Sequence),
        false => read_key(own).map(|_| CollectionKind::Mapping),
    }
}

/// Skips the anchor and the tag of a value. They are not interpreted.
fn skip_properties(text: &str, mut at: usize) -> usize {
    loop {
        let own = text[at..].trim_start_matches([' ', '\t']);
        if !own.starts_with(['&', '!']) {
            return at;
        }
        at = text.len() - own.len() + own.find(char::is_whitespace).unwrap_or(own.len());
    }
}

/// The key of a line, and the offset after its colon.
pub(super) fn read_key(line: &str) -> Option<(String, usize)> {
    let line = line.trim_end_matches(['\n', '\r']);
    let (key, length) = match line.chars().next()? {
        '"' | '\'' => {
            let (key, _) = scalar::quoted(line, 0)?;
            let rest = &line[key.span.end..];
            let spaces = rest.len() - rest.trim_start().len();
            (key.text, key.span.end + spaces)
        }
        '#' | '[' | ']' | '{' | '}' | ',' | '&' | '*' | '!' | '|' | '>' | '%' | '@' | '`' => return None,
        _ if is_dash(line) || line.starts_with("? ") => return None,
        _ => {
            let ends = |at: &usize| line[at + 1..].is_empty() || line[at + 1..].starts_with([' ', '\t']);
            let colon = line.match_indices(':').map(|(at, _)| at).find(ends)?;
            (line[..colon].trim_end().to_owned(), colon)
        }
    };
    let rest = line[length..].strip_prefix(':')?;
    (!key.is_empty() && (rest.is_empty() || rest.starts_with([' ', '\t']))).then_some((key, length + 1))
}

/// Whether this is valid YAML that is not interpreted here, as opposed to broken YAML.
fn is_foreign(source: &str) -> bool {
    let closed = |open, close| source.starts_with(open) && source.ends_with(close);
    closed('[', ']') || closed('{', '}') || source.starts_with(['&', '*', '!', '|', '>'])
}
