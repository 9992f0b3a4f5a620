//! Cuts a text into passages: the unit that recall finds and shows with its lines.
//!
//! A passage is one thought: a paragraph, a list or a code block, with the headings right above it. Text before
//! the first heading is a passage like any other. Every line that is not blank is in exactly one passage, so
//! everything can be found, and no line is found twice. Context comes from scoring: a passage is scored with its
//! neighbours, its section and its memory, which beat larger passages on every measured set.

use crate::markdown::{LineKind, MarkdownLine, lines};

/// A longer paragraph is cut at its lines.
pub const PASSAGE_SIZE: usize = 250;
/// Headings down to this level begin a section; deeper ones subdivide it.
const SECTION_LEVEL: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    /// The number of its section, from 0.
    pub section: usize,
    /// Its first and last line in the file, from 1.
    pub lines: (usize, usize),
    pub text: String,
}

/// The passages of a Markdown text that starts at this line of its file.
pub fn of_prose(text: &str, first_line: usize) -> Vec<Passage> {
    let lines = lines(text);
    let mut cutter = Cutter { first_line, ..Cutter::default() };
    for piece in pieces(&lines) {
        cutter.take(&piece);
    }
    cutter.finish()
}

/// The size of a text in passages. Not characters: a Chinese one says as much as an English word. Not
/// [`tokens`](crate::text::tokens) either: recall was measured with these cuts, every index holds them, and a better
/// estimate of what a model reads must not move them.
pub fn passage_size(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + others
}

/// Lines that stay together: a heading, a code block, or as much of a paragraph as fits. A code block is never
/// cut, however long it is.
struct TextBlock<'a, 't> {
    lines: &'a [MarkdownLine<'t>],
    /// The index of its first line, from 0.
    at: usize,
}

fn pieces<'a, 't>(lines: &'a [MarkdownLine<'t>]) -> Vec<TextBlock<'a, 't>> {
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
        pieces.push(TextBlock { lines: &lines[at..at + length], at });
        at += length;
    }
    pieces
}

fn run(lines: &[MarkdownLine<'_>], belongs: impl Fn(&MarkdownLine<'_>) -> bool) -> usize {
    lines.iter().take_while(|line| belongs(line)).count()
}

/// How many lines of a paragraph fit into one passage; the first one always does.
fn fitting(lines: &[MarkdownLine<'_>]) -> usize {
    let mut size = 0;
    let fits = |line: &&MarkdownLine<'_>| {
        size += passage_size(line.text);
        line.kind == LineKind::Text && size <= PASSAGE_SIZE
    };
    lines.iter().take_while(fits).count().max(1)
}

#[derive(Default)]
struct Cutter {
    first_line: usize,
    done: Vec<Passage>,
    /// Headings whose text has not come yet.
    open: Option<Passage>,
    /// The headings above the next line, with their levels.
    headings: Vec<(usize, String)>,
    section: usize,
}

impl Cutter {
    fn take(&mut self, piece: &TextBlock<'_, '_>) {
        let from = self.first_line + piece.at;
        let lines = (from, from + piece.lines.len() - 1);
        let text = piece.lines.iter().map(|line| line.text).collect::<Vec<_>>().join("\n");
        if let LineKind::Heading { level, title } = piece.lines[0].kind {
            self.headings.retain(|(above, _)| *above < level);
            self.headings.push((level, title.to_owned()));
            if level <= SECTION_LEVEL {
                self.section += 1;
            }
            self.open = Some(self.joined(lines, text));
        } else {
            let passage = self.joined(lines, text);
            self.done.push(passage);
        }
    }

    /// The lines together with the pending headings.
    fn joined(&mut self, lines: (usize, usize), text: String) -> Passage {
        let headings = titles(&self.headings);
        match self.open.take() {
            None => Passage { headings, section: self.section, lines, text },
            Some(above) => {
                let gap = if lines.0 > above.lines.1 + 1 { "\n\n" } else { "\n" };
                let (lines, text) = ((above.lines.0, lines.1), format!("{}{gap}{text}", above.text));
                Passage { headings, section: self.section, lines, text }
            }
        }
    }

    fn finish(mut self) -> Vec<Passage> {
        self.done.extend(self.open.take());
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
                format!("{:?} {} {:?} {start:?}\n", passage.lines, passage.section, passage.headings)
            })
            .collect();
        expected.assert_eq(&shown.concat());
    }

    /// The `ragdocs` server indexed nothing before the first heading.
    #[test]
    fn the_text_before_the_first_heading_is_found() {
        check(
            "Plan to refactor [[src/auth.py]].\n\n## Goals\n- Remove session-based auth",
            &expect![[r###"
                (1, 1) 0 [] "Plan to refactor [[src/a"
                (3, 4) 1 ["Goals"] "## Goals\n- Remove sessio"
            "###]],
        );
    }

    #[test]
    fn headings_join_what_follows_and_long_paragraphs_are_cut_at_lines() {
        let long = "A line of the journal that goes on for a while, as journals do.\n".repeat(40);
        check(
            &format!("# Title\n\n## A\none\n\ntwo\n\n### B\nthree\n\n## C\n{long}\n# D"),
            &expect![[r####"
                (1, 4) 2 ["Title", "A"] "# Title\n\n## A\none"
                (6, 6) 2 ["Title", "A"] "two"
                (8, 9) 2 ["Title", "A", "B"] "### B\nthree"
                (11, 26) 3 ["Title", "C"] "## C\nA line of the journ"
                (27, 41) 3 ["Title", "C"] "A line of the journal th"
                (42, 51) 3 ["Title", "C"] "A line of the journal th"
                (53, 53) 4 ["D"] "# D"
            "####]],
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
        assert_eq!(of_prose(&text, 1).len(), 6);
        assert_eq!(of_prose(&[line.as_str(); 6].join("\n"), 1).len(), 3);
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
