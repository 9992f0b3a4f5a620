//! Finds all phrases of the lexicon in one pass over a line.
//!
//! The `claude-memory` scripts used a regular expression per phrase. Compiling those would take longer than a stop
//! hook may, and running them would read every line seventy times.

use super::lexicon::CategoryLexicon;

/// The categories whose phrases occur in a line: one bit per row of the lexicon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineCategories {
    pub(super) primary: u8,
    pub(super) boosters: u8,
}

/// The phrases by their first letter.
#[derive(Debug)]
pub(super) struct Phrases {
    by_letter: [Vec<Phrase>; 26],
}

#[derive(Debug)]
struct Phrase {
    text: &'static str,
    row: u8,
    booster: bool,
}

impl Phrases {
    pub(super) fn of(lexicon: &[CategoryLexicon]) -> Phrases {
        let mut by_letter: [Vec<Phrase>; 26] = Default::default();
        for (row, kind) in (0u8..).zip(lexicon) {
            for (texts, booster) in [(kind.primary, false), (kind.boosters, true)] {
                for text in texts {
                    let Some(letter) = letter(text.as_bytes()[0]) else { continue };
                    by_letter[letter].push(Phrase { text, row, booster });
                }
            }
        }
        Phrases { by_letter }
    }

    pub(super) fn categories_in(&self, line: &str) -> LineCategories {
        let mut categories = LineCategories::default();
        let bytes = line.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            let Some(letter) = letter(*byte) else { continue };
            if at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || ends_in_word(&line[..at])) {
                continue;
            }
            for phrase in &self.by_letter[letter] {
                let bit = 1 << phrase.row;
                let bits = if phrase.booster { &mut categories.boosters } else { &mut categories.primary };
                if *bits & bit == 0 && begins_with(&line[at..], phrase.text) {
                    *bits |= bit;
                }
            }
        }
        categories
    }
}

fn letter(byte: u8) -> Option<usize> {
    byte.is_ascii_alphabetic().then(|| usize::from(byte.to_ascii_lowercase() - b'a'))
}

fn joins(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn ends_in_word(before: &str) -> bool {
    before.chars().next_back().is_some_and(joins)
}

/// Whether a text starts with a phrase that ends at a word boundary.
fn begins_with(text: &str, phrase: &str) -> bool {
    let mut rest = text;
    for (number, word) in phrase.split(' ').enumerate() {
        if number > 0 {
            let blanks = rest.trim_start();
            if blanks.len() == rest.len() {
                return false;
            }
            rest = blanks;
        }
        match rest.as_bytes().get(..word.len()) {
            Some(same) if same.eq_ignore_ascii_case(word.as_bytes()) => rest = &rest[word.len()..],
            _ => return false,
        }
    }
    !rest.chars().next().is_some_and(joins)
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::SCRIPTS;
    use super::*;
    use proptest::prelude::*;

    /// Checks the bit of the first row, which is decisions.
    fn decides(line: &str) -> bool {
        Phrases::of(&SCRIPTS).categories_in(line).primary & 1 == 1
    }

    #[test]
    fn a_phrase_stands_between_ends_of_words() {
        for (line, found) in [
            ("We DECIDED so", true),
            ("decided", true),
            ("(decided)", true),
            ("undecided", false),
            ("decided_on", false),
            ("re-decided", true),
            ("édecided", false),
            ("decidedé", false),
            ("went with it", true),
            ("went \t\u{a0}with it", true),
            ("wentwith it", false),
            ("went without", false),
            ("日本decided", false),
            ("。decided。", true),
        ] {
            assert_eq!(decides(line), found, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_searched_without_panic(line in "\\PC*") {
            Phrases::of(&SCRIPTS).categories_in(&line);
        }
    }
}
