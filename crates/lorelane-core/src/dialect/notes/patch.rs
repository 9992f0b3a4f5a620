//! Edits of a note's text that leave every other byte: comments, order, quotes, line ends.

use super::frontmatter::{Entry, FENCE, Layout, Page, Value, opens};
use super::scalar::{self, Quote, Token};

/// What a key shall say.
#[derive(Clone, Copy, Debug)]
pub enum Setting<'v> {
    Text(&'v str),
    List(&'v [String]),
    /// The value as [`Page::source`] gives it.
    Source(&'v str),
    /// The key goes, with its lines.
    Nothing,
}

/// The text with one key set. A key that is new goes last; a note without a head gets one.
pub fn set(text: &str, key: &str, to: Setting<'_>) -> String {
    let page = Page::read(text);
    match (page.get(key), to) {
        (None, Setting::Nothing) => text.to_owned(),
        (Some(_), Setting::Nothing) => without(&page, key),
        (Some(entry), to) => changed(&page, entry, to),
        (None, to) => added(&page, key, to),
    }
}

/// The text with another body. What stood between head and body, and after the body, stays.
pub fn set_body(text: &str, body: &str) -> String {
    let page = Page::read(text);
    let (old, end) = (page.body(), page.line_end());
    // A body that begins as a head does is none below a blank line.
    let misread = page.head.is_none() && looks_like_a_head(body);
    if !old.is_empty() {
        let before = &text[..old.start];
        let gap = if misread && !before.contains('\n') { end } else { "" };
        return format!("{before}{gap}{body}{}", &text[old.end..]);
    }
    let head = &text[..page.after_head];
    let closed = if page.head.is_some() && !head.ends_with('\n') { end } else { "" };
    let gap = if page.head.is_some() || misread { end } else { "" };
    if body.is_empty() { head.to_owned() } else { format!("{head}{closed}{gap}{body}{end}") }
}

/// Whether a body would be read as a head if it stood at the start of a file.
pub(super) fn looks_like_a_head(body: &str) -> bool {
    opens(body).is_some()
}

fn without(page: &Page<'_>, key: &str) -> String {
    let mut text = page.text.to_owned();
    // All of them: an earlier one would count again when the last one goes.
    for entry in page.entries.iter().rev().filter(|entry| entry.key == key) {
        text.replace_range(entry.lines.clone(), "");
    }
    let left = Page::read(&text);
    if left.get(key).is_none() && others(&left, key) == others(page, key) {
        return text;
    }
    // Among broken lines a key may hold the others in place: the first tells that this is a head, and a stray dash
    // would join the key above. It stays and says nothing.
    let mut text = page.text.to_owned();
    for entry in page.entries.iter().rev().filter(|entry| entry.key == key) {
        let blank = if page.text[..entry.source.start].ends_with(':') { " " } else { "" };
        text.replace_range(entry.source.clone(), &format!("{blank}~"));
    }
    text
}

/// The lines of the head's other keys; `None` without a head.
fn others<'p>(page: &'p Page<'_>, key: &str) -> Option<Vec<&'p str>> {
    let others = page.entries.iter().filter(|entry| entry.key != key);
    page.head.as_ref().map(|_| others.map(|entry| &page.text[entry.lines.clone()]).collect())
}

fn changed(page: &Page<'_>, entry: &Entry, to: Setting<'_>) -> String {
    let mut text = page.text.to_owned();
    if let (Setting::List(wanted @ [_, ..]), Value::List(items, Layout::Block)) = (to, &entry.value) {
        let from = line_start(page.text, items[0].span.start);
        text.replace_range(from..entry.lines.end, &block_list(page, entry, items, wanted));
        return text;
    }
    let value = match (to, &entry.value) {
        (Setting::Text(value), Value::Text(token)) => scalar::written(value, token.quote),
        (Setting::List(wanted), Value::List(items, Layout::Flow)) => flow_list(page, entry, items, wanted),
        (to, _) => rendered(page, to),
    };
    let joined = page.text[..entry.source.start].ends_with(':');
    let blank = if joined { blank_before(&value) } else { "" };
    text.replace_range(entry.source.clone(), &format!("{blank}{value}"));
    text
}

fn added(page: &Page<'_>, key: &str, to: Setting<'_>) -> String {
    let (value, end) = (rendered(page, to), page.line_end());
    let line = format!("{}{}:{}{value}{end}", page.indent, written_key(key), blank_before(&value));
    let mut text = page.text.to_owned();
    match &page.head {
        Some(head) => text.insert_str(head.end, &line),
        None => {
            let gap = if page.text[page.after_head..].is_empty() { "" } else { end };
            text.insert_str(page.after_head, &format!("{FENCE}{end}{line}{FENCE}{end}{gap}"));
        }
    }
    text
}

/// A value as the first system wrote it: texts in double quotes, lists in brackets.
fn rendered(page: &Page<'_>, to: Setting<'_>) -> String {
    match to {
        Setting::Text(text) => scalar::written(text, Quote::Double),
        Setting::List(items) => {
            let items: Vec<String> = items.iter().map(|item| scalar::written(item, Quote::Double)).collect();
            format!("[{}]", items.join(", "))
        }
        Setting::Source(source) => source.replace('\n', &format!("{}{}", page.line_end(), page.indent)),
        Setting::Nothing => String::new(),
    }
}

/// The items in brackets; what was there keeps its text.
fn flow_list(page: &Page<'_>, entry: &Entry, items: &[Token], wanted: &[String]) -> String {
    let source = &page.text[entry.source.clone()];
    let quote = common_quote(items);
    let grows = wanted.len() > items.len() && items.iter().zip(wanted).all(|(item, text)| item.text == *text);
    if let (true, Some(last)) = (grows, items.last()) {
        let more: String =
            wanted[items.len()..].iter().map(|text| format!(", {}", scalar::written(text, quote))).collect();
        let (before, after) = source.split_at(last.span.end - entry.source.start);
        return format!("{before}{more}{after}");
    }
    let sources: Vec<String> = wanted
        .iter()
        .map(|text| match items.iter().find(|item| item.text == *text) {
            Some(item) => page.text[item.span.clone()].to_owned(),
            None => scalar::written(text, quote),
        })
        .collect();
    format!("[{}]", sources.join(", "))
}

/// A line for each item; what was there keeps its line, and the comments below it.
fn block_list(page: &Page<'_>, entry: &Entry, items: &[Token], wanted: &[String]) -> String {
    let starts: Vec<usize> = items.iter().map(|item| line_start(page.text, item.span.start)).collect();
    let ends = starts.iter().skip(1).copied().chain([entry.lines.end]);
    let lines: Vec<&str> = starts.iter().zip(ends).map(|(start, end)| &page.text[*start..end]).collect();
    let dash = &page.text[starts[0]..items[0].span.start];
    let quote = common_quote(items);
    let mut used = vec![false; items.len()];
    let mut out = String::new();
    for text in wanted {
        match (0..items.len()).find(|at| !used[*at] && items[*at].text == *text) {
            Some(at) => {
                used[at] = true;
                out.push_str(lines[at]);
            }
            None => {
                out.push_str(&format!("{dash}{}{}", scalar::written(text, quote), page.line_end()));
            }
        }
    }
    out
}

/// The quotes that all have; a list without items, or with several kinds, is written with double ones.
fn common_quote(items: &[Token]) -> Quote {
    match items {
        [first, rest @ ..] if rest.iter().all(|item| item.quote == first.quote) => first.quote,
        _ => Quote::Double,
    }
}

fn written_key(key: &str) -> String {
    let plain = key.starts_with(|c: char| c.is_alphabetic())
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if plain { key.to_owned() } else { scalar::written(key, Quote::Double) }
}

fn blank_before(value: &str) -> &'static str {
    if value.is_empty() || value.starts_with(['\n', '\r', ' ']) { "" } else { " " }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}
