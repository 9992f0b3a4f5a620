//! The scalars of YAML: plain, in single and in double quotes, and lists of them in brackets.

use std::fmt::Write as _;
use std::ops::Range;

/// A scalar, what it says and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub span: Range<usize>,
    pub quote: Quote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    Plain,
    Single,
    Double,
}

impl Token {
    /// Whether other readers of YAML see a key here.
    pub(super) fn reads_as_a_map(&self) -> bool {
        self.quote == Quote::Plain && (self.text.contains(": ") || self.text.ends_with(':'))
    }

    pub fn is_null(&self) -> bool {
        self.quote == Quote::Plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }
}

/// The scalar from `at` to the end of the text, when it is one and a comment at most follows it.
pub(super) fn read(text: &str, at: usize) -> Option<Token> {
    let rest = &text[at..];
    match rest.chars().next()? {
        '"' | '\'' => {
            let token = quoted(text, at)?;
            let after = &text[token.span.end..];
            let comment = after.trim_start();
            (comment.is_empty() || comment.starts_with('#') && comment.len() < after.len()).then_some(token)
        }
        '[' | ']' | '{' | '}' | ',' | '&' | '*' | '!' | '|' | '>' | '%' | '@' | '`' | '#' => None,
        _ => {
            let ends = |(at, _): &(usize, &str)| rest[..*at].ends_with([' ', '\t']);
            let end = rest.match_indices('#').find(ends).map_or(rest.len(), |(at, _)| at);
            let plain = rest[..end].trim_end();
            (!plain.contains('\n')).then(|| Token {
                text: plain.to_owned(),
                span: at..at + plain.len(),
                quote: Quote::Plain,
            })
        }
    }
}

/// The quoted scalar that begins at `at` and ends on its line.
pub(super) fn quoted(text: &str, at: usize) -> Option<Token> {
    let mut said = String::new();
    let mut chars = text[at..].char_indices();
    let (_, open) = chars.next()?;
    let quote = if open == '"' { Quote::Double } else { Quote::Single };
    while let Some((offset, c)) = chars.next() {
        match (quote, c) {
            (_, '\n') => return None,
            (Quote::Single, '\'') if chars.clone().next().is_some_and(|(_, next)| next == '\'') => {
                chars.next();
                said.push('\'');
            }
            (Quote::Single, '\'') | (Quote::Double, '"') => {
                let span = at..at + offset + 1;
                return Some(Token { text: said, span, quote });
            }
            (Quote::Double, '\\') => said.push(unescaped(&mut chars)?),
            (_, c) => said.push(c),
        }
    }
    None
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

/// The scalars between brackets, and where the closing one ends. A list of anything else is none.
pub(super) fn flow_list(text: &str, at: usize) -> Option<(Vec<Token>, usize)> {
    let mut items = Vec::new();
    let mut at = skip(text, at + 1);
    loop {
        let rest = &text[at..];
        if rest.starts_with(']') {
            return Some((items, at + 1));
        }
        let token = match rest.chars().next()? {
            '"' | '\'' => quoted(text, at)?,
            _ => plain_in_flow(text, at)?,
        };
        at = skip(text, token.span.end);
        items.push(token);
        match text[at..].chars().next()? {
            ',' => at = skip(text, at + 1),
            ']' => {}
            _ => return None,
        }
    }
}

fn plain_in_flow(text: &str, at: usize) -> Option<Token> {
    let rest = &text[at..];
    let plain = rest[..rest.find([',', '[', ']', '{', '}', '\n'])?].trim_end();
    let odd = plain.starts_with(['&', '*', '!', '|', '>', '%', '@', '`', '#', '"', '\'', '?'])
        || plain.contains(": ")
        || plain.ends_with(':')
        || plain.contains(" #");
    (!plain.is_empty() && !odd).then(|| Token {
        text: plain.to_owned(),
        span: at..at + plain.len(),
        quote: Quote::Plain,
    })
}

/// Past blanks, line ends and comments.
fn skip(text: &str, mut at: usize) -> usize {
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

/// A text as a scalar, in the quotes that its neighbours or its former value have, if it can be said in them.
pub(super) fn written(text: &str, quote: Quote) -> String {
    match quote {
        Quote::Plain if is_safe_plain(text) => text.to_owned(),
        Quote::Single if !text.chars().any(needs_escape) => format!("'{}'", text.replace('\'', "''")),
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

/// What other readers of YAML take for a line end or refuse.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A text that every reader takes for this text, in a list as well: no sign of YAML, no number, no truth value.
fn is_safe_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    text.starts_with(char::is_alphabetic)
        && !text.ends_with(' ')
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ' '))
        && !WORDS.contains(&text.to_lowercase().as_str())
}
