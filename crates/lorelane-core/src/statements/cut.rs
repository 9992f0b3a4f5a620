//! Cuts a message into statements: lines, list items and sentences that people typed.
//!
//! Code, logs, quotes, tables, headings and elements of markup are left out. Neighbouring sentences of one line stay
//! together while they are short: a rule and its reason usually are two sentences.

use std::ops::Range;

/// Longer statements are cut, and sentences are joined up to this length, in characters.
pub(super) const STATEMENT_MAX: usize = 280;
/// Nobody types a longer line, in bytes.
const LINE_MAX: usize = 4_000;
/// What follows in a message is pasted, in bytes.
const MESSAGE_MAX: usize = 64_000;
/// A cut leaves at least this much on both sides, in characters.
const PIECE_MIN: usize = 40;
/// Closing tags that are searched for in vain, per message. Otherwise a text of open tags would take quadratic time.
const MISSING_TAGS_MAX: usize = 16;

/// The statements of one message, and what the message is made of.
#[derive(Debug, Default)]
pub(super) struct MessageCut {
    pub(super) statements: Vec<CutStatement>,
    pub(super) headings: usize,
    pub(super) log_lines: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct CutStatement {
    /// In the text of the message.
    pub(super) span: Range<usize>,
    /// Its sentences, at least one.
    pub(super) sentences: Vec<Range<usize>>,
    /// Whether a heading or a code block is before it in the message.
    pub(super) in_document: bool,
    line: usize,
}

pub(super) fn cut(text: &str) -> MessageCut {
    let text = &text[..text.floor_char_boundary(MESSAGE_MAX)];
    let mut cut = MessageCut::default();
    let mut block = None;
    let mut in_document = false;
    let mut missing_tags = 0;
    let mut at = 0;
    for line in text.split('\n') {
        let start = at;
        at += line.len() + 1;
        let trimmed = line.trim();
        match &block {
            Some(Block::Fence(fence)) if trimmed.starts_with(fence) => block = None,
            Some(Block::Element(close)) if line.contains(close.as_str()) => block = None,
            Some(_) => {}
            None => match line_kind(line, trimmed) {
                TypedLine::Blank | TypedLine::Quote => {}
                TypedLine::Fence(fence) => {
                    block = Some(Block::Fence(fence));
                    in_document = true;
                }
                TypedLine::Tag(name) => {
                    let close = format!("</{name}>");
                    if !line.contains(&close) && missing_tags < MISSING_TAGS_MAX {
                        if text.get(at..).is_some_and(|after| after.contains(&close)) {
                            block = Some(Block::Element(close));
                        } else {
                            missing_tags += 1;
                        }
                    }
                }
                TypedLine::Heading => {
                    cut.headings += 1;
                    in_document = true;
                }
                TypedLine::Log => cut.log_lines += 1,
                TypedLine::Prose => {
                    add_line(text, start..start + line.len(), in_document, &mut cut.statements)
                }
            },
        }
    }
    cut
}

enum Block {
    Fence(&'static str),
    /// Until the line with this closing tag.
    Element(String),
}

enum TypedLine<'t> {
    Blank,
    Fence(&'static str),
    Tag(&'t str),
    Quote,
    Heading,
    Log,
    Prose,
}

fn line_kind<'t>(line: &'t str, trimmed: &'t str) -> TypedLine<'t> {
    for fence in ["```", "~~~"] {
        if trimmed.strip_prefix(fence).is_some_and(|rest| !rest.contains(fence)) {
            return TypedLine::Fence(fence);
        }
    }
    if trimmed.is_empty() {
        return TypedLine::Blank;
    }
    if line.len() > LINE_MAX {
        return TypedLine::Log;
    }
    if let Some(name) = tag_name(trimmed) {
        return TypedLine::Tag(name);
    }
    let is_place_holder = trimmed.starts_with('[') && trimmed.ends_with(']') && trimmed.chars().count() < 40;
    if trimmed.starts_with('>') || is_place_holder {
        return TypedLine::Quote;
    }
    let title = trimmed.trim_start_matches('#');
    if title.len() < trimmed.len() && (title.is_empty() || title.starts_with(' ')) {
        return TypedLine::Heading;
    }
    if is_log(trimmed) { TypedLine::Log } else { TypedLine::Prose }
}

fn tag_name(trimmed: &str) -> Option<&str> {
    let name =
        trimmed.strip_prefix('<').filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let end = name.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'))).unwrap_or(name.len());
    Some(&name[..end])
}

/// Lines of these programs and of comments begin so.
const LOG_HEADS: &[&str] = &[
    "$ ",
    "#!",
    "+++",
    "---",
    "@@",
    "npm ERR",
    "npm error",
    "npm warn",
    "Traceback",
    "Caused by",
    "File \"",
    "//",
    "/*",
    "* @",
    ")",
];
/// Lines of code begin so, and so do sentences.
const CODE_HEADS: &[&str] = &[
    "import ",
    "const ",
    "let ",
    "var ",
    "function ",
    "export ",
    "return ",
    "from ",
    "async ",
    "def ",
    "class ",
    "public ",
    "private ",
];
const TABLE_SIGNS: &[char] = &['|', '│', '╭', '╰', '├', '└', '┌', '┐', '━', '─', '═', '·', '^', '{', '}'];

/// Whether a program wrote a line: a log, a stack trace, a table, code.
fn is_log(line: &str) -> bool {
    let ends_with = |signs: &[char]| line.ends_with(signs);
    let begins_with = |heads: &[&str]| heads.iter().any(|head| line.starts_with(head));
    if line.starts_with(TABLE_SIGNS) || begins_with(LOG_HEADS) {
        return true;
    }
    let has_code = || {
        ends_with(&[';', '{', '(', ',', ')'])
            || ["=>", " = ", " from '", " from \""].iter().any(|code| line.contains(code))
    };
    if begins_with(CODE_HEADS) && has_code() {
        return true;
    }
    if line.starts_with("at ") && line.contains('(') && line.contains(':') {
        return true;
    }
    if begins_with_time(line) || begins_with_line_number(line) || begins_with_source_place(line) {
        return true;
    }
    let words = line.split_whitespace();
    if words.clone().take(12).count() < 12 && words.clone().any(|word| word.chars().count() > 90) {
        return true;
    }
    let all = line.chars().count() as f64;
    let share = line.chars().filter(|c| c.is_alphabetic() || c.is_whitespace()).count() as f64 / all;
    if all >= 12.0 && share < 0.62 {
        return true;
    }
    if ends_with(&['{', '}', ';', ',']) && share < 0.85 && line.contains(['=', '(', '<']) {
        return true;
    }
    line.split_once(':').is_some_and(|(name, _)| {
        (name.ends_with("Error") || name.ends_with("Exception"))
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'))
    })
}

/// A date or a time, after at most two signs.
fn begins_with_time(line: &str) -> bool {
    let mut rest = line;
    for _ in 0..2 {
        rest = rest.strip_prefix(|c: char| !c.is_alphanumeric()).unwrap_or(rest);
    }
    let matches = |pattern: &str| {
        let bytes = rest.as_bytes().get(..pattern.len());
        bytes.is_some_and(|bytes| {
            let fits =
                |(byte, sign): (&u8, u8)| if sign == b'0' { byte.is_ascii_digit() } else { *byte == sign };
            bytes.iter().zip(pattern.bytes()).all(fits)
        })
    };
    matches("0000-00-00") || matches("00:00:00")
}

/// `12 | code`.
fn begins_with_line_number(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.trim_start_matches(' ').starts_with(['|', '│'])
}

/// `src/main.rs:12`.
fn begins_with_source_place(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    let is_number = |(at, _): &(usize, &str)| word[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let Some((colon, _)) = word.match_indices(':').find(is_number) else { return false };
    let Some((name, extension)) = word[..colon].rsplit_once('.') else { return false };
    !name.is_empty()
        && (1..=5).contains(&extension.chars().count())
        && extension.chars().all(char::is_alphanumeric)
}

/// Adds the statements of a line.
fn add_line(text: &str, line: Range<usize>, in_document: bool, statements: &mut Vec<CutStatement>) {
    let body = line.start + bullet(&text[line.clone()])..line.end;
    for sentence in sentences(text, body) {
        let mut pieces = Vec::new();
        cut_at_clauses(text, sentence, &mut pieces);
        for piece in pieces {
            let piece = trimmed(text, piece, |c| c.is_whitespace() || matches!(c, ',' | ';' | ':'));
            let words = &text[piece.clone()];
            if words.chars().nth(1).is_none() || !words.contains(char::is_alphabetic) {
                continue;
            }
            match statements.last_mut() {
                Some(last)
                    if last.line == line.start
                        && text[last.span.start..piece.end].chars().count() <= STATEMENT_MAX =>
                {
                    last.span.end = piece.end;
                    last.sentences.push(piece);
                }
                _ => statements.push(CutStatement {
                    span: piece.clone(),
                    sentences: vec![piece],
                    in_document,
                    line: line.start,
                }),
            }
        }
    }
}

/// The length of what marks a list item: `- `, `1. `, `a) `, also several of them.
fn bullet(line: &str) -> usize {
    let mut rest = line;
    loop {
        rest = rest.trim_start();
        let unmarked = rest.trim_start_matches(['-', '*', '+', '•', '–']);
        let signs = &rest[..rest.len() - unmarked.len()];
        let is_dash = signs.bytes().all(|byte| byte == b'-') && unmarked.starts_with(char::is_alphanumeric);
        if !signs.is_empty() && (unmarked.starts_with(char::is_whitespace) || is_dash) {
            rest = unmarked;
            continue;
        }
        let number = rest.strip_prefix('(').unwrap_or(rest);
        let digits = number.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let letters = usize::from(digits == 0 && number.starts_with(|c: char| c.is_ascii_alphabetic()));
        let after = number[digits + letters..].strip_prefix(['.', ')']).filter(|_| digits + letters > 0);
        match after {
            Some(after) if after.starts_with(char::is_whitespace) => rest = after,
            _ => return line.len() - rest.len(),
        }
    }
}

const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "eg", "ie", "z.b", "bzw", "ca", "approx", "no", "p.ej", "ej", "d.h", "usw",
    "st", "dr", "mr", "mrs", "ms", "cf", "fig", "al",
];

/// The sentences of a line.
fn sentences(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = line.start;
    let mut chars = text[line.clone()].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let at = line.start + at;
        let end = match c {
            '。' | '！' | '？' | '；' => at + c.len_utf8(),
            '.' | '!' | '?' | '…' | ';' => {
                let mut end = at + c.len_utf8();
                while let Some((place, sign)) = chars.next_if(|(_, sign)| closes_sentence(*sign)) {
                    end = line.start + place + sign.len_utf8();
                }
                let is_last = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
                if !is_last || (c == '.' && is_abbreviation(&text[start..at])) {
                    continue;
                }
                end
            }
            _ => continue,
        };
        found.push(trimmed(text, start..end, char::is_whitespace));
        start = end;
    }
    found.push(trimmed(text, start..line.end, char::is_whitespace));
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Further signs at the end of a sentence.
fn closes_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '"' | '\'' | ')' | '”' | '’' | ']' | '*')
}

/// Whether the full stop after these words ends no sentence.
fn is_abbreviation(before: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    let Some(last) = words.next().filter(|_| !before.ends_with(char::is_whitespace)) else { return false };
    let word = last.trim_start_matches(['(', '[', '*', '"', '\'']).to_lowercase();
    let is_number = !word.is_empty() && word.chars().all(char::is_numeric) && words.next().is_none();
    let mut letters = word.chars();
    let is_letter =
        matches!((letters.next(), letters.next()), (Some(c), None) if c.is_alphabetic() && c != 'i');
    ABBREVIATIONS.contains(&word.as_str()) || is_number || is_letter
}

/// Cuts what is too long at the clause nearest to its middle, or else at a space.
fn cut_at_clauses(text: &str, span: Range<usize>, pieces: &mut Vec<Range<usize>>) {
    let statement = &text[span.clone()];
    let length = statement.chars().count();
    if length <= STATEMENT_MAX {
        pieces.push(span);
        return;
    }
    let middle = length / 2;
    // The distance to the middle, and where the piece ends.
    let mut clause: Option<(usize, usize)> = None;
    let mut blank: Option<(usize, usize)> = None;
    let mut before = None;
    let mut chars = statement.char_indices().enumerate().peekable();
    while let Some((number, (at, c))) = chars.next() {
        let blank_after = chars.peek().is_some_and(|(_, (_, next))| next.is_whitespace());
        let blank_before = before.replace(c).is_some_and(char::is_whitespace);
        if !(PIECE_MIN..=length - PIECE_MIN).contains(&(number + 1)) {
            continue;
        }
        let is_clause = match c {
            '，' | '、' | '：' => true,
            ',' | ':' => blank_after,
            '-' | '–' | '—' => blank_before && blank_after,
            _ => false,
        };
        let distance = number.abs_diff(middle);
        let end = at + c.len_utf8();
        for (applies, best) in [(is_clause, &mut clause), (c.is_whitespace(), &mut blank)] {
            if applies && best.is_none_or(|(known, _)| distance < known) {
                *best = Some((distance, end));
            }
        }
    }
    match clause.or(blank) {
        Some((_, end)) => {
            let end = span.start + end;
            cut_at_clauses(text, span.start..end, pieces);
            cut_at_clauses(text, end..span.end, pieces);
        }
        None => pieces.push(span),
    }
}

/// A span without such characters at its start and without whitespace at its end.
fn trimmed(text: &str, span: Range<usize>, skips: impl Fn(char) -> bool) -> Range<usize> {
    let ended = text[span.clone()].trim_end();
    let begun = ended.trim_start_matches(skips);
    let start = span.start + (ended.len() - begun.len());
    start..span.start + ended.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(text: &str) -> Vec<&str> {
        cut(text).statements.into_iter().map(|statement| &text[statement.span]).collect()
    }

    #[test]
    fn lines_items_and_sentences_are_statements() {
        for (text, expected) in [
            ("use tabs", vec!["use tabs"]),
            ("Use tabs. They are wider!", vec!["Use tabs. They are wider!"]),
            ("Use tabs\nKeep lines short", vec!["Use tabs", "Keep lines short"]),
            (
                "- one thing\n  * another\n3) third\n-fourth\na. fifth",
                vec!["one thing", "another", "third", "fourth", "fifth"],
            ),
            ("3.5 is fine, e.g. for us", vec!["3.5 is fine, e.g. for us"]),
            ("先写测试。再提交！", vec!["先写测试。再提交！"]),
            ("  , : ok then", vec!["ok then"]),
            ("? 12 --- !", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(statements(text), expected, "{text:?}");
        }
    }

    #[test]
    fn sentences_are_joined_while_they_are_short() {
        let sentence = "This sentence has about fifty characters, or so. ";
        let text = sentence.repeat(8);
        let cut = cut(&text);
        let lengths: Vec<usize> = cut.statements.iter().map(|statement| statement.sentences.len()).collect();
        assert_eq!(lengths, [5, 3]);
    }

    #[test]
    fn a_long_sentence_is_cut_at_a_clause() {
        let clause = "and a clause that goes on for quite a while without any full stop";
        let text = [clause; 6].join(", ");
        let found = statements(&text);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|part| part.chars().count() <= STATEMENT_MAX), "{found:?}");
        assert!(found[1].starts_with("and a clause"), "{found:?}");
        // Without any space it is one statement, however long.
        assert_eq!(statements(&"x".repeat(600)).len(), 0, "one word of 600 letters is no prose");
        assert_eq!(statements(&"字".repeat(600)).len(), 0);
    }

    #[test]
    fn what_nobody_typed_is_left_out() {
        for text in [
            "```\nalways use tabs\n```",
            "~~~sh\nalways use tabs\n~~~",
            "> always use tabs",
            "# Always use tabs",
            "| always | use tabs |",
            "<context>\nalways use tabs\n</context>",
            "<b>always use tabs</b>",
            "2026-01-02T03:04:05Z always use tabs",
            "[12:30:01] always use tabs",
            "src/main.rs:12:4 always use tabs",
            "  12 | always use tabs",
            "TypeError: always use tabs",
            "    at Object.always (/use/tabs.js:1:2)",
            "const tabs = always;",
            "import { tabs } from 'always'",
            "$ always use tabs",
            "[always use tabs]",
            "{\"always\": \"use tabs\"}",
        ] {
            assert_eq!(statements(text), Vec::<&str>::new(), "{text:?}");
        }
        assert_eq!(statements("import the data from the old table"), ["import the data from the old table"]);
        assert_eq!(statements("at the top, show the name"), ["at the top, show the name"]);
        assert_eq!(statements("<never closed>\nuse tabs"), ["use tabs"]);
        assert_eq!(statements("```\ncode\n```\nuse tabs"), ["use tabs"]);
        let long = format!("use tabs {}", "x ".repeat(2_500));
        assert_eq!(statements(&long), Vec::<&str>::new());
    }

    #[test]
    fn a_message_knows_what_it_is_made_of() {
        let cut = cut("Look at this\n# One\n12:00:00 log\ntext\n## Two\n12:00:01 log");
        let marks: Vec<bool> = cut.statements.iter().map(|statement| statement.in_document).collect();
        assert_eq!((cut.headings, cut.log_lines, marks), (2, 2, vec![false, true]));
    }
}
