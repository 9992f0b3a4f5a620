//! How much a word of a question says about what is asked.

use super::months;
use crate::embed::{DIMENSIONS, Table, Vector};
use crate::terms::Language;
use crate::text::writes_no_blanks;

/// What a word weighs among those that an answer has to cover, as a share of its idf.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WordWeight {
    pub(super) known: f32,
    pub(super) unknown: f32,
}

impl WordWeight {
    pub(super) const NONE: WordWeight = WordWeight { known: 0.0, unknown: 0.0 };
    const FULL: WordWeight = WordWeight { known: 1.0, unknown: 1.0 };
    /// A pair of characters that no memory has: most of them lie across two words.
    const PAIR: WordWeight = WordWeight { known: 1.0, unknown: 0.25 };
}

/// The vector of a word with as much meaning as a noun has this length.
const FULL_LENGTH: f32 = 1.3;
/// A word nearer than this to the first names is one.
const NAME_COSINE: f32 = 0.22;
/// First names that are hardly anything else: the middle of their vectors is where names are.
const FIRST_NAMES: [&str; 12] =
    ["mary", "john", "susan", "peter", "laura", "david", "emma", "thomas", "anna", "james", "sarah", "paul"];

/// Words about a question and not about its subject. That no memory has one says nothing.
const QUESTION_FRAME: &[&str] = &[
    "according",
    "ask",
    "asked",
    "asking",
    "attribute",
    "attributes",
    "based",
    "consider",
    "considered",
    "considers",
    "describe",
    "described",
    "describes",
    "different",
    "discuss",
    "discussed",
    "discusses",
    "example",
    "examples",
    "explain",
    "explains",
    "indicate",
    "indicates",
    "item",
    "items",
    "kind",
    "kinds",
    "likely",
    "list",
    "main",
    "mention",
    "mentioned",
    "mentions",
    "might",
    "name",
    "names",
    "order",
    "particular",
    "reason",
    "reasons",
    "refer",
    "refers",
    "regarding",
    "said",
    "say",
    "says",
    "sort",
    "sorts",
    "specific",
    "status",
    "tell",
    "thing",
    "things",
    "trait",
    "traits",
    "type",
    "types",
    "various",
];

/// Judges the words of one question.
pub(super) struct WordJudge<'t> {
    table: &'t Table<'t>,
    name: Vector,
    /// The language of its function words, if it is not English.
    other: Option<Language>,
}

impl<'t> WordJudge<'t> {
    pub(super) fn new(text: &str, table: &'t Table<'t>) -> WordJudge<'t> {
        let names: Vec<Vector> =
            FIRST_NAMES.iter().filter_map(|name| Some(unit(&table.word(name)?))).collect();
        WordJudge { table, name: Vector::middle(&names), other: Language::of_question(text) }
    }

    /// Whether capital letters mark names: in German they mark nouns.
    pub(super) fn is_english(&self) -> bool {
        self.other.is_none()
    }

    /// Whether a word in lower case is the name of a person by its meaning.
    pub(super) fn is_name(&self, word: &str) -> bool {
        self.table.word(word).is_some_and(|row| unit(&row).cosine(&self.name) > NAME_COSINE)
    }

    /// Whether a word in lower case is a function word of a question that is not in English.
    pub(super) fn is_function_word(&self, word: &str) -> bool {
        self.other.is_some_and(|language| language.is_question_word(word))
            || Language::is_arabic_function_word(word)
    }

    pub(super) fn weight(&self, word: &str) -> WordWeight {
        if word.starts_with(writes_no_blanks) {
            return if is_hiragana(word) { WordWeight::NONE } else { WordWeight::PAIR };
        }
        if self.is_function_word(word) || is_date(word) {
            return WordWeight::NONE;
        }
        if QUESTION_FRAME.binary_search(&word).is_ok() {
            return WordWeight { unknown: 0.0, ..WordWeight::FULL };
        }
        // A common word such as `happen` is missing by chance.
        let length = |row: [f32; DIMENSIONS]| row.iter().map(|value| value * value).sum::<f32>().sqrt();
        let unknown = self.table.word(word).map_or(1.0, |row| (length(row) / FULL_LENGTH).min(1.0));
        WordWeight { unknown, ..WordWeight::FULL }
    }
}

fn unit(row: &[f32; DIMENSIONS]) -> Vector {
    Vector::pointing(*row)
}

/// Japanese writes particles and endings in hiragana.
fn is_hiragana(word: &str) -> bool {
    word.chars().all(|c| matches!(c, '\u{3041}'..='\u{309f}'))
}

/// A month, a year or a day: memories have their date outside of their text.
fn is_date(word: &str) -> bool {
    let is_number =
        word.len() <= 2 || (word.len() == 4 && (word.starts_with("19") || word.starts_with("20")));
    months::is_month(word) || (is_number && word.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_frame_are_sorted() {
        assert!(QUESTION_FRAME.is_sorted());
    }

    #[test]
    fn words_weigh_what_they_say() {
        let table = Table::built_in();
        let english = WordJudge::new("what happened to the camera", &table);
        let german = WordJudge::new("Wie wird der Dienst gestartet?", &table);
        assert!(english.is_english() && !german.is_english());
        assert!(english.weight("camera").unknown > english.weight("happened").unknown);
        assert_eq!(english.weight("zorblax").unknown, 1.0);
        assert_eq!(english.weight("wird").known, 1.0);
        assert_eq!(english.weight("describe"), WordWeight { known: 1.0, unknown: 0.0 });
        for nothing in ["2023", "may", "17", "です", "كيف"] {
            assert_eq!(english.weight(nothing), WordWeight::NONE, "{nothing}");
        }
        assert_eq!(german.weight("wird"), WordWeight::NONE);
        assert!(english.weight("認証").unknown < english.weight("認証").known);
    }
}
