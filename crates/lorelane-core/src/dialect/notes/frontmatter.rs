//! The head of a note: as much YAML as people write between two `---`, read with its places.
//!
//! A parser would give values and lose the text around them. This reader keeps where each key and value stands,
//! and `patch` replaces only those bytes. It understands scalars and lists of scalars; nested maps, block texts,
//! anchors, aliases and tags keep their text and mean nothing here, so that no alias is ever expanded. It calls
//! itself nowhere, so that no depth can exhaust it.

use super::scalar::{self, Token};
use std::ops::Range;

/// No honest head is longer; what looks like one is a text between two rules.
pub const HEAD_MAX_BYTES: usize = 64 << 10;
/// A head is searched key by key.
pub const KEYS_MAX: usize = 500;
/// Nobody reads the twentieth problem of one head.
const PROBLEMS_MAX: usize = 20;
pub(super) const FENCE: &str = "---";
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// A note's text, taken apart.
#[derive(Clone, Debug)]
pub struct Page<'t> {
    pub text: &'t str,
    /// The lines between the fences.
    pub head: Option<Range<usize>>,
    /// Where the body's part of the text begins, blank lines included.
    pub after_head: usize,
    pub entries: Vec<Entry>,
    /// The indent of the keys.
    pub indent: &'t str,
    pub problems: Vec<String>,
}

/// One key of the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    /// Its lines, their ends included.
    pub lines: Range<usize>,
    /// Its value, without a comment that follows on the same line.
    pub source: Range<usize>,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Empty,
    Text(Token),
    List(Vec<Token>, Layout),
    /// What has no meaning here. Its text stays.
    Opaque,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `[a, b]`
    Flow,
    /// A line with a dash for each.
    Block,
}

impl<'t> Page<'t> {
    pub fn read(text: &'t str) -> Page<'t> {
        let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let mut page = Page {
            text,
            head: None,
            after_head: start,
            entries: Vec::new(),
            indent: "",
            problems: Vec::new(),
        };
        let Some(opened) = opens(&text[start..]).map(|length| start + length) else { return page };
        let (head, after_head) = match closed(text, opened) {
            Ok(closed) => closed,
            Err(why) => {
                page.problem(format!("its frontmatter is {why}, so all of it counts as text"));
                return page;
            }
        };
        let lines = Lines::of(text, head.clone());
        let Some(indent) = lines.indent() else {
            if lines.says_something() {
                // Two rules and a text between them.
                return page;
            }
            (page.head, page.after_head) = (Some(head), after_head);
            return page;
        };
        (page.head, page.after_head, page.indent) = (Some(head), after_head, indent);
        page.read_entries(&lines);
        page
    }

    /// The entry of this key; of doubled ones the last, as everywhere in YAML's neighbourhood.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().rfind(|entry| entry.key == key)
    }

    /// The value of an entry as it is written, apart from this page's indent and line ends: so it can stand in
    /// another one.
    pub fn source(&self, entry: &Entry) -> String {
        let source = &self.text[entry.source.clone()];
        source.replace("\r\n", "\n").replace(&format!("\n{}", self.indent), "\n")
    }

    /// Where the body stands: from its first line that is not blank to its last character that is not.
    pub fn body(&self) -> Range<usize> {
        let rest = &self.text[self.after_head..];
        let end = self.after_head + rest.trim_end().len();
        let mut at = self.after_head;
        for line in rest.split_inclusive('\n').take_while(|line| line.trim().is_empty()) {
            at += line.len();
        }
        at.min(end)..end
    }

    /// The line end that this text uses.
    pub fn line_end(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    fn problem(&mut self, what: impl Into<String>) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(what.into());
        }
    }

    fn read_entries(&mut self, lines: &Lines<'t>) {
        let mut at = 0;
        // One more than is allowed is enough to know that there are too many.
        while at < lines.0.len() && self.entries.len() <= KEYS_MAX {
            let line = lines.0[at].clone();
            let shown = &self.text[line.clone()];
            at += 1;
            if says_nothing(shown) {
                continue;
            }
            let own = shown.strip_prefix(self.indent).filter(|rest| !rest.starts_with([' ', '\t']));
            let Some((key, colon)) = own.and_then(read_key) else {
                self.problem(format!(
                    "`{}` in its frontmatter is no key",
                    crate::text::cut(shown.trim(), 40)
                ));
                continue;
            };
            let value_at = line.start + self.indent.len() + colon;
            let count = self.continued(lines, at, value_at);
            let lines_end = lines.0[at + count - 1].end;
            let next = &lines.0[at..at + count];
            at += count;
            let (source, value) = self.read_value(value_at, &line, next);
            match &value {
                Value::Opaque if next.is_empty() && !is_foreign(&self.text[source.clone()]) => {
                    self.problem(format!("the value of `{key}` in its frontmatter cannot be read"));
                }
                Value::Text(token) if token.reads_as_a_map() => {
                    self.problem(format!(
                        "the value of `{key}` in its frontmatter has a colon and no quotes"
                    ));
                }
                _ => {}
            }
            if self.get(&key).is_some() {
                self.problem(format!("`{key}` appears twice; the last one counts"));
            }
            self.entries.push(Entry { key, lines: line.start..lines_end, source, value });
        }
    }

    /// How many of the following lines belong to the value that begins here: deeper ones, the end of a list in
    /// brackets, and dashes below a key without a value. Blank lines and comments only if such a line follows.
    fn continued(&self, lines: &Lines<'t>, from: usize, value_at: usize) -> usize {
        let first = self.text[value_at..].lines().next().unwrap_or_default();
        let inline = first.trim_start();
        // A list that ends on its line needs no further bracket.
        let bracketed = match inline.chars().next() {
            Some('[') => scalar::flow_list(first, first.len() - inline.len()).is_none(),
            Some('{') => !inline.contains('}'),
            _ => false,
        };
        let bare = says_nothing(first);
        // In a block text a line that looks like a comment is text.
        let comments = !inline.starts_with(['|', '>']);
        let mut count = 0;
        for (ahead, line) in lines.0[from..].iter().enumerate() {
            let line = &self.text[line.clone()];
            if line.trim().is_empty() || says_nothing(line) && (comments || !is_deeper(line, self.indent)) {
                continue;
            }
            let own = line.strip_prefix(self.indent).unwrap_or(line);
            let belongs = is_deeper(line, self.indent)
                || bracketed && own.starts_with([']', '}'])
                || bare && is_dash(own);
            if !belongs {
                break;
            }
            count = ahead + 1;
        }
        count
    }

    fn read_value(&self, at: usize, line: &Range<usize>, next: &[Range<usize>]) -> (Range<usize>, Value) {
        let content = |span: &Range<usize>| {
            span.start + self.text[span.clone()].trim_end_matches(['\n', '\r']).trim_end().len()
        };
        let end = next.last().map_or_else(|| content(line), content);
        let inline = &self.text[at..content(line).max(at)];
        let start = at + inline.len() - inline.trim_start().len();
        if says_nothing(inline) {
            return match next {
                [] => (at..at, Value::Empty),
                _ => {
                    (at..end, self.block_list(next).map_or(Value::Opaque, |i| Value::List(i, Layout::Block)))
                }
            };
        }
        if inline.trim_start().starts_with('[') {
            return match scalar::flow_list(&self.text[..end], start) {
                Some((items, closed)) if self.text[closed..end].lines().all(says_nothing) => {
                    (start..closed, Value::List(items, Layout::Flow))
                }
                _ => (start..end, Value::Opaque),
            };
        }
        match scalar::read(&self.text[..end], start) {
            Some(token) if next.is_empty() && token.is_null() => (token.span.clone(), Value::Empty),
            Some(token) if next.is_empty() => (token.span.clone(), Value::Text(token)),
            _ => (start..end, Value::Opaque),
        }
    }

    /// A line with a dash and a scalar for each item, blank lines and comments aside.
    fn block_list(&self, lines: &[Range<usize>]) -> Option<Vec<Token>> {
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

/// Lines by their places.
struct Lines<'t>(Vec<Range<usize>>, &'t str);

impl<'t> Lines<'t> {
    fn of(text: &'t str, within: Range<usize>) -> Lines<'t> {
        let mut at = within.start;
        let spans = text[within].split_inclusive('\n').map(|line| {
            at += line.len();
            at - line.len()..at
        });
        Lines(spans.collect(), text)
    }

    fn first(&self) -> Option<&'t str> {
        self.0.iter().map(|span| &self.1[span.clone()]).find(|line| !says_nothing(line))
    }

    fn says_something(&self) -> bool {
        self.first().is_some()
    }

    /// The indent of the first key; `None` when the first line is none.
    fn indent(&self) -> Option<&'t str> {
        let line = self.first()?;
        let own = line.trim_start_matches([' ', '\t']);
        read_key(own).map(|_| &line[..line.len() - own.len()])
    }
}

/// The length of the first line, when it opens a head.
pub(super) fn opens(text: &str) -> Option<usize> {
    let line = text.split_inclusive('\n').next()?;
    (line.trim_end() == FENCE && line.ends_with('\n')).then_some(line.len())
}

/// The lines of the head and where the text goes on, or why there is none.
fn closed(text: &str, from: usize) -> Result<(Range<usize>, usize), String> {
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return match at - from > HEAD_MAX_BYTES {
                true => Err(format!("longer than {} KiB", HEAD_MAX_BYTES >> 10)),
                false => Ok((from..at, at + line.len())),
            };
        }
        at += line.len();
    }
    Err("never closed".to_owned())
}

/// A key and where its value may begin: after its colon.
fn read_key(line: &str) -> Option<(String, usize)> {
    let line = line.trim_end_matches(['\n', '\r']);
    let (key, length) = match line.chars().next()? {
        '"' | '\'' => {
            let token = scalar::quoted(line, 0)?;
            let rest = &line[token.span.end..];
            let blanks = rest.len() - rest.trim_start().len();
            (token.text, token.span.end + blanks)
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

fn is_dash(line: &str) -> bool {
    line.strip_prefix('-').is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with([' ', '\t']))
}

fn is_deeper(line: &str, indent: &str) -> bool {
    line.strip_prefix(indent).is_some_and(|rest| rest.starts_with([' ', '\t']))
}

/// Blank, or a comment.
fn says_nothing(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// YAML that is sound and means nothing here, as opposed to what is broken.
fn is_foreign(source: &str) -> bool {
    let closed = |open, close| source.starts_with(open) && source.ends_with(close);
    closed('[', ']') || closed('{', '}') || source.starts_with(['&', '*', '!', '|', '>'])
}
