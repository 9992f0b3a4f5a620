//! A question, ready to be compared with memories.

use crate::embed::{Quantised, Table, Vector};
use crate::terms::{Language, Term, each_word, term_of};
use std::collections::HashMap;

/// Of a longer text only its beginning and its end are looked at: there stands what is wanted, and between them
/// what was pasted.
const TEXT_MAX: usize = 16 << 10;
/// More different words than this are not told apart.
const WORDS_MAX: usize = 256;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Each once, in the order of the text.
    pub terms: Vec<AskedTerm>,
    /// What the text is about.
    pub vector: Vector,
    pub(super) small: Quantised,
}

#[derive(Clone, Debug)]
pub struct AskedTerm {
    /// As it was written, in lower case.
    pub word: String,
    /// The terms it is in the languages that the memories are written in.
    pub variants: Vec<Term>,
}

impl Asked {
    /// `languages` are those of the memories that are searched.
    pub fn new(text: &str, languages: &[Language], table: &Table<'_>) -> Asked {
        let text = both_ends(text);
        let mut terms: Vec<AskedTerm> = Vec::new();
        let mut known: HashMap<Term, usize> = HashMap::new();
        each_word(&text, &mut |word| {
            let mut variants: Vec<Term> =
                languages.iter().filter_map(|language| term_of(word, *language)).collect();
            variants.sort_unstable();
            variants.dedup();
            let Some(first) = variants.first() else { return };
            if terms.len() == WORDS_MAX || known.contains_key(first) {
                return;
            }
            variants.iter().for_each(|variant| {
                known.insert(*variant, terms.len());
            });
            terms.push(AskedTerm { word: word.to_owned(), variants });
        });
        let vector = table.vector(&text);
        Asked { terms, small: Quantised::of(&vector), vector }
    }

    /// Whether nothing can be found with it.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The same with only the terms at these places, in this order.
    pub fn with_terms(self, keep: &[usize]) -> Asked {
        let terms = keep.iter().filter_map(|at| self.terms.get(*at).cloned()).collect();
        Asked { terms, ..self }
    }
}

fn both_ends(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= TEXT_MAX {
        return text.into();
    }
    let (head, tail) = (text.floor_char_boundary(TEXT_MAX / 2), text.ceil_char_boundary(text.len() - TEXT_MAX / 2));
    format!("{}\n{}", &text[..head], &text[tail..]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str, languages: &[Language]) -> Asked {
        Asked::new(text, languages, &Table::built_in())
    }

    #[test]
    fn a_word_is_asked_once_in_all_languages_of_the_memories() {
        let one = asked("rate limits: what is the rate limit?", &[Language::English]);
        assert_eq!(one.terms.iter().map(|term| term.word.as_str()).collect::<Vec<_>>(), ["rate", "limits"]);
        let two = asked("Datenbanken", &[Language::English, Language::German]);
        assert_eq!(two.terms[0].variants.len(), 2);
    }

    #[test]
    fn a_text_of_any_size_is_a_question() {
        assert!(asked("", &[Language::English]).is_empty());
        assert!(asked("?!. the of", &[Language::English]).is_empty());
        let long = format!("alpha {} omega", "é lorem ".repeat(200_000));
        let words: Vec<String> =
            asked(&long, &[Language::English]).terms.into_iter().map(|term| term.word).collect();
        assert_eq!(words, ["alpha", "é", "lorem", "omega"]);
    }
}
