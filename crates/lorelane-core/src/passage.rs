//! A text cut into passages: what recall finds, and shows with its lines.
//!
//! A passage is as long as one thought: paragraphs are joined up to a size, and a heading begins a new one. What
//! stands before the first heading is a passage like any other. Every line that says something is in exactly one
//! passage, so whatever is written can be found, and no passage is found twice for one line.

use crate::markdown::{Line, LineKind, lines};
use crate::text::tokens;

/// Up to this size paragraphs are joined. A model's words, not characters: a character of Chinese says as much as
/// a word of English.
pub const PASSAGE_TOKENS: usize = 250;
/// A section that says less than this is joined with what follows it.
const SMALL_TOKENS: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The headings above it, the outermost first.
    pub headings: Vec<String>,
    /// Its first and its last line in the file, counted from 1.
    pub lines: (usize, usize),
    pub text: String,
}

/// The passages of a Markdown text whose first line is this line of its file.
pub fn of_prose(text: &str, first_line: usize) -> Vec<Passage> {
    let lines = lines(text);
    let mut cutter = Cutter { first_line, ..Cutter::default() };
    for piece in pieces(&lines) {
        cutter.take(&piece);
    }
    cutter.finish()
}

/// Lines that stay together: a heading, a block of code, or as much of a paragraph as fits.
struct Piece<'a, 't> {
    lines: &'a [Line<'t>],
    /// The number of its first line in the text, from 0.
    at: usize,
}

impl Piece<'_, '_> {
    fn tokens(&self) -> usize {
        self.lines.iter().map(|line| tokens(line.text)).sum()
    }
}

fn pieces<'a, 't>(lines: &'a [Line<'t>]) -> Vec<Piece<'a, 't>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let length = match lines[at].kind {
            LineKind::Blank => {
                at += 1;
                continue;
            }
            LineKind::Heading { .. } => 1,
            LineKind::Code => run(&lines[at..], |line| line.kind == LineKind::Code),
            LineKind::Text => fitting(&lines[at..]),
        };
        pieces.push(Piece { lines: &lines[at..at + length], at });
        at += length;
    }
    pieces
}

fn run(lines: &[Line<'_>], belongs: impl Fn(&Line<'_>) -> bool) -> usize {
    lines.iter().take_while(|line| belongs(line)).count()
}

/// How many lines of a paragraph fit into one passage; the first one always does.
fn fitting(lines: &[Line<'_>]) -> usize {
    let mut size = 0;
    let fits = |line: &&Line<'_>| {
        size += tokens(line.text);
        line.kind == LineKind::Text && size <= PASSAGE_TOKENS
    };
    lines.iter().take_while(fits).count().max(1)
}

#[derive(Default)]
struct Cutter {
    first_line: usize,
    done: Vec<Passage>,
    open: Option<Open>,
    /// The headings above the next line, with their levels.
    headings: Vec<(usize, String)>,
}

/// A passage that may still grow.
struct Open {
    passage: Passage,
    tokens: usize,
    /// Whether it says more than headings.
    says: bool,
}

impl Cutter {
    fn take(&mut self, piece: &Piece<'_, '_>) {
        let size = piece.tokens();
        let heading = match piece.lines[0].kind {
            LineKind::Heading { level, title } => Some((level, title)),
            _ => None,
        };
        let cut = self.open.as_ref().is_some_and(|open| match heading {
            Some(_) => open.says && open.tokens >= SMALL_TOKENS,
            None => open.says && open.tokens + size > PASSAGE_TOKENS,
        });
        if cut {
            self.close();
        }
        if let Some((level, title)) = heading {
            self.headings.retain(|(above, _)| *above < level);
            self.headings.push((level, title.to_owned()));
        }
        let from = self.first_line + piece.at;
        let to = from + piece.lines.len() - 1;
        let text = piece.lines.iter().map(|line| line.text).collect::<Vec<_>>().join("\n");
        match &mut self.open {
            Some(open) => {
                let gap = if from > open.passage.lines.1 + 1 { "\n\n" } else { "\n" };
                open.passage.text.push_str(gap);
                open.passage.text.push_str(&text);
                open.passage.lines.1 = to;
                open.tokens += size;
                let above = titles(&self.headings);
                if open.says {
                    // Joined sections have in common what stands above all of them.
                    let shared =
                        open.passage.headings.iter().zip(&above).take_while(|(own, other)| own == other);
                    let shared = shared.count();
                    open.passage.headings.truncate(shared);
                } else {
                    // Headings alone belong to what stands below the last of them.
                    open.passage.headings = above;
                }
                open.says |= heading.is_none();
            }
            None => {
                let headings = titles(&self.headings);
                let passage = Passage { headings, lines: (from, to), text };
                self.open = Some(Open { passage, tokens: size, says: heading.is_none() });
            }
        }
    }

    fn close(&mut self) {
        self.done.extend(self.open.take().map(|open| open.passage));
    }

    fn finish(mut self) -> Vec<Passage> {
        self.close();
        self.done
    }
}

fn titles(headings: &[(usize, String)]) -> Vec<String> {
    headings.iter().map(|(_, title)| title.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(text: &str, expected: &Expect) {
        let shown: Vec<String> = of_prose(text, 1)
            .into_iter()
            .map(|passage| {
                let start: String = passage.text.chars().take(24).collect();
                format!("{:?} {:?} {start:?}\n", passage.lines, passage.headings)
            })
            .collect();
        expected.assert_eq(&shown.concat());
    }

    /// The first system indexed nothing before the first heading.
    #[test]
    fn the_text_before_the_first_heading_is_found() {
        let intro = "Plan to refactor [[src/auth.py]] to use JWT tokens. ".repeat(4);
        check(
            &format!("{intro}\n\n## Goals\n- Remove session-based auth"),
            &expect![[r###"
            (1, 1) [] "Plan to refactor [[src/a"
            (3, 4) ["Goals"] "## Goals\n- Remove sessio"
        "###]],
        );
    }

    #[test]
    fn small_sections_are_joined_and_long_ones_are_cut_at_lines() {
        let long = "A line of the journal that goes on for a while, as journals do.\n".repeat(40);
        check(
            &format!("# Title\n\n## A\none\n\n## B\ntwo\n\n## C\n{long}\nlast"),
            &expect![[r###"
            (1, 24) ["Title"] "# Title\n\n## A\none\n\n## B\n"
            (25, 39) ["Title", "C"] "A line of the journal th"
            (40, 51) ["Title", "C"] "A line of the journal th"
        "###]],
        );
    }

    #[test]
    fn code_is_not_torn() {
        let code = format!("```rust\n{}\n```", "let x = compute_something(42);\n\n".repeat(60));
        let passages = of_prose(&format!("# A\nintro\n\n{code}\nafter"), 1);
        assert!(passages.iter().any(|passage| passage.text.contains(&code)), "{passages:?}");
    }

    #[test]
    fn a_line_of_another_script_counts_for_what_it_says() {
        let line = "認証トークンは十五分ごとに更新される。".repeat(5);
        let text = [line.as_str(); 6].join("\n\n");
        assert_eq!(of_prose(&text, 1).len(), 3);
    }

    #[test]
    fn lines_are_those_of_the_file() {
        assert_eq!(of_prose("\n\ntext\r\nmore\r\n\n", 8)[0].lines, (10, 11));
        assert_eq!(of_prose(" \n\n", 1), []);
    }

    proptest! {
        #[test]
        fn every_line_that_says_something_is_in_one_passage_and_in_order(
            text in prop::collection::vec(
                "(# |## |- |```|~~~|)[a-z日]{0,6}|( )?|(lorem ipsum ){0,200}", 0..60
            ).prop_map(|lines| lines.join("\n")),
            first_line in 1..50usize,
        ) {
            let passages = of_prose(&text, first_line);
            let mut next = first_line;
            let all: Vec<&str> = text.lines().collect();
            for passage in &passages {
                let (from, to) = passage.lines;
                prop_assert!(next <= from && from <= to, "{:?}", passages);
                let skipped = &all[next - first_line..from - first_line];
                prop_assert!(skipped.iter().all(|line| line.trim().is_empty()), "{:?}", skipped);
                let said = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
                let own = all[from - first_line..=to - first_line].join("\n");
                prop_assert_eq!(said(&passage.text), said(&own));
                next = to + 1;
            }
            let rest = all.get(next - first_line..).unwrap_or_default();
            prop_assert!(rest.iter().all(|line| line.trim().is_empty()), "{:?}", rest);
        }
    }
}
