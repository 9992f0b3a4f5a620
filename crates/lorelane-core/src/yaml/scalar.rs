//! Scalars (plain, quoted, block) and the elements of flow collections.

use super::{YamlValue, says_nothing};
use std::fmt::Write as _;
use std::ops::Range;

/// A scalar on one line: its text and its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlScalar {
    pub text: String,
    pub span: Range<usize>,
    pub style: ScalarStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarStyle {
    Plain,
    SingleQuoted,
    DoubleQuoted,
}

impl YamlScalar {
    fn plain(text: &str, at: usize) -> YamlScalar {
        YamlScalar { text: text.to_owned(), span: at..at + text.len(), style: ScalarStyle::Plain }
    }

    /// Whether other YAML readers would see a mapping here.
    pub(super) fn reads_as_a_map(&self) -> bool {
        self.style == ScalarStyle::Plain && has_key(&self.text)
    }

    pub fn is_null(&self) -> bool {
        self.style == ScalarStyle::Plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }
}

/// The scalar from `at` to the end of the text, if it has one line and only a comment may follow.
pub(super) fn read(text: &str, at: usize) -> Option<YamlScalar> {
    let rest = &text[at..];
    match rest.chars().next()? {
        '"' | '\'' => {
            let (scalar, _) = quoted(text, at).filter(|(_, lines)| *lines == 1)?;
            ends_after(&text[scalar.span.end..]).then_some(scalar)
        }
        c if is_indicator(c) => None,
        _ => {
            let ends = |(at, _): &(usize, &str)| rest[..*at].ends_with([' ', '\t']);
            let end = rest.match_indices('#').find(ends).map_or(rest.len(), |(at, _)| at);
            let plain = rest[..end].trim_end();
            (!plain.contains('\n')).then(|| YamlScalar::plain(plain, at))
        }
    }
}

/// Whether only a comment follows a value.
fn ends_after(rest: &str) -> bool {
    let comment = rest.trim_start();
    comment.is_empty() || comment.starts_with('#') && comment.len() < rest.len()
}

/// The characters that cannot start a plain scalar.
fn is_indicator(c: char) -> bool {
    matches!(c, '[' | ']' | '{' | '}' | ',' | '&' | '*' | '!' | '|' | '>' | '%' | '@' | '`' | '#')
}

fn has_key(plain: &str) -> bool {
    plain.contains(": ") || plain.ends_with(':')
}

/// The quoted scalar that starts at `at`, and its number of lines; each line break in it is folded.
pub(super) fn quoted(text: &str, at: usize) -> Option<(YamlScalar, usize)> {
    let mut value = String::new();
    let mut chars = text[at..].char_indices();
    let (_, open) = chars.next()?;
    let style = if open == '"' { ScalarStyle::DoubleQuoted } else { ScalarStyle::SingleQuoted };
    // Spaces before a line break are dropped, but escaped ones are kept.
    let (mut lines, mut escaped) = (1, 0);
    while let Some((offset, c)) = chars.next() {
        match (style, c) {
            (_, '\n') => {
                let kept = value.trim_end_matches([' ', '\t', '\r']).len().max(escaped);
                value.truncate(kept);
                let empty = skip_line_starts(&mut chars);
                lines += 1 + empty;
                value.push_str(if empty == 0 { " " } else { "" });
                value.extend(std::iter::repeat_n('\n', empty));
                escaped = value.len();
            }
            (ScalarStyle::SingleQuoted, '\'') if chars.as_str().starts_with('\'') => {
                chars.next();
                value.push('\'');
            }
            (ScalarStyle::SingleQuoted, '\'') | (ScalarStyle::DoubleQuoted, '"') => {
                let span = at..at + offset + 1;
                return Some((YamlScalar { text: value, span, style }, lines));
            }
            (ScalarStyle::DoubleQuoted, '\\') if chars.as_str().starts_with(['\n', '\r']) => {
                while chars.next()?.1 != '\n' {}
                lines += 1 + skip_line_starts(&mut chars);
            }
            (ScalarStyle::DoubleQuoted, '\\') => {
                value.push(unescaped(&mut chars)?);
                escaped = value.len();
            }
            (_, c) => value.push(c),
        }
    }
    None
}

/// Skips leading spaces and empty lines; returns the number of empty lines.
fn skip_line_starts(chars: &mut std::str::CharIndices<'_>) -> usize {
    let mut empty = 0;
    while let Some(c @ (' ' | '\t' | '\r' | '\n')) = chars.as_str().chars().next() {
        empty += usize::from(c == '\n');
        chars.next();
    }
    empty
}

fn unescaped(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    let (_, sign) = chars.next()?;
    let digits = match sign {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        sign => return plain_escape(sign),
    };
    let mut code = 0;
    for _ in 0..digits {
        code = code * 16 + chars.next()?.1.to_digit(16)?;
    }
    char::from_u32(code)
}

fn plain_escape(sign: char) -> Option<char> {
    Some(match sign {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        ' ' | '"' | '/' | '\\' => sign,
        _ => return None,
    })
}

/// The value of a scalar over several lines: a block scalar, or a folded plain or quoted one. `indent` is the
/// indentation of its mapping.
pub(super) fn over_lines(source: &str, indent: usize) -> Option<String> {
    let start = skip(source, 0);
    let own = &source[start..];
    match own.chars().next()? {
        '|' | '>' if start == 0 => block(own, indent),
        '"' | '\'' => {
            let (scalar, _) = quoted(own, 0)?;
            ends_after(&own[scalar.span.end..]).then_some(scalar.text)
        }
        c if is_indicator(c) => None,
        _ => {
            let lines: Vec<&str> = own.trim_end().lines().map(str::trim).collect();
            let is_text = |line: &&str| !has_key(line) && !line.starts_with('#') && !line.contains(" #");
            (!is_dash(own) && lines.iter().all(is_text)).then(|| folded(&lines))
        }
    }
}

/// The header of a block scalar: the line with `|` or `>`.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockHeader {
    is_literal: bool,
    /// `+` keeps all trailing line breaks, `-` strips them; by default one is kept.
    chomping: Option<char>,
    indent: Option<usize>,
}

impl BlockHeader {
    pub(super) fn read(source: &str) -> Option<BlockHeader> {
        let line = source.lines().next()?;
        let (indicators, comment) = line.split_at(line.find([' ', '\t']).unwrap_or(line.len()));
        let is_literal = indicators.starts_with('|');
        let more = indicators.strip_prefix(['|', '>'])?;
        let mut header = BlockHeader { is_literal, chomping: None, indent: None };
        for c in more.chars() {
            match c {
                '+' | '-' if header.chomping.is_none() => header.chomping = Some(c),
                '1'..='9' if header.indent.is_none() => header.indent = Some(c as usize - '0' as usize),
                _ => return None,
            }
        }
        says_nothing(comment).then_some(header)
    }

    /// The header at the end of a line with a key or a dash.
    pub(super) fn at_end_of(line: &str) -> Option<BlockHeader> {
        let opens = |at: &usize| {
            let before = line[..*at].trim_end();
            before.len() < *at && before.ends_with([':', '-'])
        };
        let at = line.match_indices(['|', '>']).map(|(at, _)| at).find(opens)?;
        BlockHeader::read(&line[at..])
    }

    pub(super) fn keeps_line_ends(self) -> bool {
        self.chomping == Some('+')
    }
}

/// A block scalar from its header to its last line; `indent` is the indentation of its key.
fn block(source: &str, indent: usize) -> Option<String> {
    let header = BlockHeader::read(source)?;
    let body = source.split_once('\n').map_or("", |(_, body)| body);
    let width = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let first = body.lines().find(|line| !line.trim().is_empty());
    let indent = header.indent.map_or_else(|| first.map_or(0, width), |more| indent + more);
    let mut lines = Vec::new();
    for line in body.lines() {
        match width(line) >= indent {
            true => lines.push(&line[indent..]),
            false if line.trim().is_empty() => lines.push(""),
            // A comment after the block scalar.
            false if says_nothing(line) => break,
            false => return None,
        }
    }
    let mut text = if header.is_literal { lines.join("\n") } else { folded(&lines) };
    if !lines.is_empty() {
        text.push('\n');
    }
    let content = text.trim_end_matches('\n').len();
    match header.chomping {
        Some('+') => {}
        Some(_) => text.truncate(content),
        None => text.truncate(content + usize::from(content > 0)),
    }
    Some(text)
}

/// Folds lines: a line break becomes a space, unless a line is empty or starts with a space.
fn folded(lines: &[&str]) -> String {
    let mut text = String::new();
    let (mut breaks, mut before): (usize, Option<&str>) = (0, None);
    for line in lines {
        if line.is_empty() {
            breaks += 1;
            continue;
        }
        let indented = |line: &str| line.starts_with([' ', '\t']);
        match before {
            Some(before) if indented(before) || indented(line) => breaks += 1,
            Some(_) if breaks == 0 => text.push(' '),
            _ => {}
        }
        text.extend(std::iter::repeat_n('\n', breaks));
        text.push_str(line);
        (breaks, before) = (0, Some(*line));
    }
    text.extend(std::iter::repeat_n('\n', breaks));
    text
}

/// An element of a flow collection.
#[derive(Debug)]
pub(super) struct FlowElement {
    /// `None` in a sequence.
    pub key: Option<String>,
    pub span: Range<usize>,
    pub source: Range<usize>,
    pub value: YamlValue,
}

/// The elements between the brackets that open at `at`, and the offset after the closing one.
pub(super) fn flow(text: &str, at: usize) -> Option<(Vec<FlowElement>, usize)> {
    let closing = if text[at..].starts_with('[') { ']' } else { '}' };
    let mut elements = Vec::new();
    let mut at = skip(text, at + 1);
    loop {
        if text[at..].starts_with(closing) {
            return Some((elements, at + 1));
        }
        let start = at;
        let key = if closing == '}' { Some(flow_key(text, at)?) } else { None };
        let (key, value_at) = key.map_or((None, at), |(key, end)| (Some(key), end));
        let (source, value) = flow_value(text, value_at, key.is_some())?;
        at = skip(text, source.end);
        elements.push(FlowElement { key, span: start..source.end, source, value });
        match text[at..].chars().next()? {
            ',' => at = skip(text, at + 1),
            c if c == closing => {}
            _ => return None,
        }
    }
}

/// The scalars between brackets, and the offset after the closing one; `None` for a list of anything else.
pub(super) fn flow_list(text: &str, at: usize) -> Option<(Vec<YamlScalar>, usize)> {
    let (elements, end) = flow(text, at)?;
    let scalar = |element: FlowElement| match element.value {
        YamlValue::Scalar(scalar) => Some(scalar),
        _ => None,
    };
    Some((elements.into_iter().map(scalar).collect::<Option<_>>()?, end))
}

/// A key in braces, and the offset after its colon.
fn flow_key(text: &str, at: usize) -> Option<(String, usize)> {
    let rest = &text[at..];
    if rest.starts_with(['"', '\'']) {
        let (key, _) = quoted(text, at).filter(|(_, lines)| *lines == 1)?;
        let colon = skip(text, key.span.end);
        return text[colon..].starts_with(':').then(|| (key.text, colon + 1));
    }
    let is_end = |at: &usize| rest[at + 1..].starts_with([' ', '\t', '\r', '\n', ',', '}']);
    let colon = rest.match_indices(':').map(|(at, _)| at).find(is_end)?;
    let key = rest[..colon].trim_end();
    let is_plain = !key.is_empty() && !key.starts_with(is_indicator) && !key.contains(FLOW_ENDS);
    is_plain.then(|| (key.to_owned(), at + colon + 1))
}

/// The characters that end a plain scalar between brackets.
const FLOW_ENDS: [char; 6] = [',', '[', ']', '{', '}', '\n'];

/// A value between brackets. Only the value of a key may be missing.
fn flow_value(text: &str, at: usize, of_key: bool) -> Option<(Range<usize>, YamlValue)> {
    let start = if of_key { skip(text, at) } else { at };
    let rest = &text[start..];
    let scalar = match rest.chars().next()? {
        ',' | '}' if of_key => return Some((at..at, YamlValue::Null)),
        '"' | '\'' => {
            let one_line = quoted(text, start).filter(|(_, lines)| *lines == 1);
            let ends = |end| text[skip(text, end)..].starts_with([',', ']', '}']);
            one_line.map(|(scalar, _)| scalar).filter(|scalar| ends(scalar.span.end))
        }
        _ => plain_in_flow(text, start),
    };
    match scalar {
        Some(scalar) if of_key && scalar.is_null() => Some((scalar.span, YamlValue::Null)),
        Some(scalar) => Some((scalar.span.clone(), YamlValue::Scalar(scalar))),
        None => {
            let end = start + text[start..flow_end(text, start)?].trim_end().len();
            (end > start).then_some((start..end, YamlValue::Other))
        }
    }
}

fn plain_in_flow(text: &str, at: usize) -> Option<YamlScalar> {
    let rest = &text[at..];
    let end = rest.find(FLOW_ENDS)?;
    let plain = rest[..end].trim_end();
    let odd = plain.is_empty()
        || rest[end..].starts_with(['[', '{'])
        || plain.starts_with(is_indicator)
        || plain.starts_with(['"', '\'', '?'])
        || has_key(plain)
        || plain.contains(" #");
    (!odd).then(|| YamlScalar::plain(plain, at))
}

/// The end of a value between brackets that is not a scalar: a comma or a bracket that is not its own.
fn flow_end(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut begins) = (from, 0usize, true);
    while at < bytes.len() {
        match bytes[at] {
            b',' | b']' | b'}' if depth == 0 => return Some(at),
            b']' | b'}' => (depth, begins) = (depth - 1, false),
            b'[' | b'{' => (depth, begins) = (depth + 1, true),
            b',' | b':' => begins = true,
            // Anywhere else it is an apostrophe.
            b'"' | b'\'' if begins => {
                (at, begins) = (quoted(text, at)?.0.span.end, false);
                continue;
            }
            b'#' if text[..at].ends_with([' ', '\t', '\n']) => at += text[at..].find('\n')?,
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => begins = false,
        }
        at += 1;
    }
    None
}

/// Skips spaces, line endings and comments.
pub(super) fn skip(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        let begins_comment = text[at..].starts_with('#') && text[..at].ends_with([' ', '\t', '\n']);
        if !begins_comment {
            return at;
        }
        at += text[at..].find('\n').unwrap_or(text.len() - at);
    }
}

pub(super) fn is_dash(line: &str) -> bool {
    line.strip_prefix('-').is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with([' ', '\t']))
}

/// A string as a scalar, in the given quotes if they can express it, else in double quotes.
pub(super) fn written(text: &str, style: ScalarStyle) -> String {
    match style {
        ScalarStyle::Plain if is_safe_plain(text) => text.to_owned(),
        ScalarStyle::SingleQuoted if !text.chars().any(needs_escape) => {
            format!("'{}'", text.replace('\'', "''"))
        }
        _ => double_quoted(text),
    }
}

fn double_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if needs_escape(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Characters that other YAML readers reject or take for a line ending.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether every YAML reader takes the plain text for this string, in a list too: no indicator, number or boolean.
fn is_safe_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    text.starts_with(char::is_alphabetic)
        && !text.ends_with(' ')
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ' '))
        && !WORDS.contains(&text.to_lowercase().as_str())
}
