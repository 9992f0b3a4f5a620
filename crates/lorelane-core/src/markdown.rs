//! Markdown as lines: headings, code, text and blank lines.
//!
//! Only what links, titles and passages need: every line of any text is one of these kinds. Indented code counts
//! as text.

use crate::steps;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownLine<'t> {
    /// Without its line ending.
    pub text: &'t str,
    /// Its span, including the line ending.
    pub span: Range<usize>,
    pub kind: LineKind<'t>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind<'t> {
    Blank,
    /// `# Heading`. An underlined heading counts as text, because `---` below a line may also be a rule.
    Heading {
        level: usize,
        title: &'t str,
    },
    /// A line of a fenced code block, including fences and blank lines.
    Code,
    Text,
}

/// The distance to the next run of exactly this many backticks.
pub fn closing_backticks(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = steps::searched(&text[at..], text[at..].find('`')) {
        let begin = at + found;
        let run = text[begin..].bytes().take_while(|byte| *byte == b'`').count();
        if run == ticks {
            return Some(begin);
        }
        at = begin + run;
    }
    None
}

pub fn lines(text: &str) -> Vec<MarkdownLine<'_>> {
    let mut lines = Vec::new();
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let span = at..at + whole.len();
        at = span.end;
        let line = whole.trim_end_matches(['\n', '\r']);
        let kind = match (fence, opens(line)) {
            (Some(open), _) => {
                if closes(line, open) {
                    fence = None;
                }
                LineKind::Code
            }
            (None, Some(open)) => {
                fence = Some(open);
                LineKind::Code
            }
            (None, None) if line.trim().is_empty() => LineKind::Blank,
            (None, None) => heading(line).unwrap_or(LineKind::Text),
        };
        lines.push(MarkdownLine { text: line, span, kind });
    }
    lines
}

/// The first heading of level 1.
pub fn title(text: &str) -> Option<&str> {
    lines(text).into_iter().find_map(|line| match line.kind {
        LineKind::Heading { level: 1, title } if !title.is_empty() => Some(title),
        _ => None,
    })
}

/// The characters that open a fence. Any indentation is accepted: in a list, a fence is indented like its item.
fn opens(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(sign);
    let open = &line[..line.len() - rest.len()];
    // Backticks after backticks on one line are inline code.
    (open.len() >= 3 && !(sign == '`' && rest.contains('`'))).then_some(open)
}

fn closes(line: &str, open: &str) -> bool {
    let line = line.trim();
    line.len() >= open.len() && line.bytes().all(|byte| byte == open.as_bytes()[0])
}

fn heading(line: &str) -> Option<LineKind<'_>> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let bare = title.trim_end_matches('#');
    let closed = bare.is_empty() || bare.ends_with([' ', '\t']);
    Some(LineKind::Heading { level, title: if closed { bare.trim_end() } else { title } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(text: &str) -> String {
        let sign = |line: MarkdownLine<'_>| match line.kind {
            LineKind::Blank => '_',
            LineKind::Heading { level, .. } => char::from_digit(level as u32, 10).unwrap(),
            LineKind::Code => 'c',
            LineKind::Text => 't',
        };
        lines(text).into_iter().map(sign).collect()
    }

    #[test]
    fn every_line_is_one_thing() {
        let table = [
            ("", ""),
            ("# A\n\ntext\n## B", "1_t2"),
            ("#tag\n####### seven\n#\n", "tt1"),
            ("a\r\n\r\n```rust\r\n# no heading\r\n\r\n```\r\nb", "t_cccct"),
            ("~~~\n```\n~~~~\nt", "ccct"),
            ("```\nnever closed\n\n# x", "cccc"),
            ("```x``` is code in a sentence", "t"),
            ("- item\n  ```\n  code\n  ```\n- next", "tccct"),
        ];
        for (text, expected) in table {
            assert_eq!(kinds(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_title_is_the_first_heading_of_the_first_level() {
        let table = [
            ("## Goals\n# Auth plan ##\n# Other", Some("Auth plan")),
            ("```\n# comment\n```\n# C# notes", Some("C# notes")),
            ("#\ntext", None),
            ("text", None),
        ];
        for (text, expected) in table {
            assert_eq!(title(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn lines_join_to_their_text(text in "(#| |`|~|\n|\r\n|x|日){0,40}") {
            let joined: String = lines(&text).into_iter().map(|line| &text[line.span]).collect();
            prop_assert_eq!(joined, text);
        }
    }
}
