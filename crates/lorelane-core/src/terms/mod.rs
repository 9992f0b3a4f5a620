//! Search terms of a text: words folded and stemmed, the parts of identifiers and paths, character pairs in
//! scripts without spaces.
//!
//! A term is a hash. Terms are only compared with each other, so their letters are not needed, and every script
//! costs the same.

mod arabic;
mod common;
mod language;

pub use common::rarity;
pub use language::Language;

use crate::text::{fold, signed_letter};

/// A word as search compares it: 32 bits of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u32);

impl Term {
    fn of(stem: &str) -> Term {
        // FNV-1a, both halves. In a store of 100,000 words, one word in 40,000 shares its term with another.
        let hash = stem.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Term((hash ^ (hash >> 32)) as u32)
    }
}

/// Longer runs of letters are keys or data, not words.
const WORD_MAX: usize = 64;

/// Calls `each` for the terms of a text, in order. An identifier gives itself and its parts.
pub fn each_term(text: &str, language: Language, each: &mut dyn FnMut(Term)) {
    each_word(text, &mut |word| {
        if let Some(term) = term_of(word, language) {
            each(term);
        }
    });
}

pub fn terms(text: &str, language: Language) -> Vec<Term> {
    let mut terms = Vec::new();
    each_term(text, language, &mut |term| terms.push(term));
    terms
}

/// The term of a word; `None` for a stop word.
pub fn term_of(word: &str, language: Language) -> Option<Term> {
    // A single letter or digit is a remnant of an identifier or a contraction.
    if word.len() == 1 || language.is_stop_word(word) {
        return None;
    }
    Some(Term::of(&stem_of(word, language)))
}

/// The stem of a word, folded.
pub(crate) fn stem_of(word: &str, language: Language) -> String {
    match language.stemmer_for(word) {
        Some(stemmer) => fold(&stemmer.stem(word)),
        None if arabic::is_arabic(word) => fold(&arabic::stem(word)),
        None => fold(word),
    }
}

/// Whether a word in lower case is a stop word of English.
pub(crate) fn is_english_stop_word(word: &str) -> bool {
    Language::English.is_stop_word(word)
}

/// Whether a word in lower case is a function word of any language with a stemmer.
pub(crate) fn is_function_word(word: &str) -> bool {
    is_english_stop_word(word) || Language::ALL.iter().any(|language| language.has_small_word(word))
}

/// Calls `each` for the words of a text in lower case: each run between spaces and punctuation, then the parts
/// that `snake_case`, `camelCase` and digits divide it into. In scripts without spaces, character pairs.
pub fn each_word(text: &str, each: &mut dyn FnMut(&str)) {
    let divides = |c: char| !(c.is_alphanumeric() || c == '_' || is_mark(c));
    let mut at = 0;
    for piece in text.split_inclusive(divides) {
        let run = piece.strip_suffix(divides).unwrap_or(piece);
        match run.len() {
            0 => {}
            1 => lowered_letter(&text[at..], run, each),
            _ if run.is_ascii() => whole_and_parts(run, each),
            _ => mixed(run, each),
        }
        at += piece.len();
    }
}

/// A word of one letter or digit, with the punctuation that belongs to its name: `c++`.
fn lowered_letter(text: &str, letter: &str, each: &mut dyn FnMut(&str)) {
    if letter != "_" {
        lowered(signed_letter(text).unwrap_or(letter), each);
    }
}

/// A combining mark belongs to the letter before it: in Indic scripts it is a vowel.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && unicode_normalization::char::is_combining_mark(c)
}

/// Splits a run that is not plain ASCII: scripts without spaces become pairs, other parts stay words.
fn mixed(run: &str, each: &mut dyn FnMut(&str)) {
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let pairs = crate::text::writes_no_blanks(first);
        let end = rest.find(|c| crate::text::writes_no_blanks(c) != pairs).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        if pairs {
            each_pair(part, each)
        } else {
            whole_and_parts(part, each)
        }
        rest = after;
    }
}

fn each_pair(run: &str, each: &mut dyn FnMut(&str)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    match starts.as_slice() {
        [from, to] => each(&run[*from..*to]),
        starts => starts.windows(3).for_each(|pair| each(&run[pair[0]..pair[2]])),
    }
}

fn whole_and_parts(run: &str, each: &mut dyn FnMut(&str)) {
    let mut parts = Parts { rest: run };
    let first = parts.next().unwrap_or_default();
    let whole = run.trim_matches('_');
    if whole.is_empty() {
        return;
    }
    if whole.len() <= WORD_MAX {
        lowered(whole, each);
    }
    if first.len() < whole.len() {
        for part in std::iter::once(first).chain(parts).filter(|part| part.len() <= WORD_MAX) {
            lowered(part, each);
        }
    }
}

fn lowered(word: &str, each: &mut dyn FnMut(&str)) {
    if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        each(word);
    } else {
        each(&word.to_lowercase());
    }
}

/// The parts of an identifier: `HTTPServer2_test` is `HTTP`, `Server`, `2`, `test`.
struct Parts<'t> {
    rest: &'t str,
}

impl<'t> Iterator for Parts<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start_matches('_');
        let mut chars = rest.char_indices().peekable();
        let (_, first) = chars.next()?;
        let mut before = first;
        let mut end = rest.len();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            if begins_part(before, c, next) {
                end = at;
                break;
            }
            before = c;
        }
        let (part, after) = rest.split_at(end);
        self.rest = after;
        Some(part)
    }
}

fn begins_part(before: char, c: char, next: Option<char>) -> bool {
    if c == '_' {
        return true;
    }
    if is_mark(c) {
        return false;
    }
    before.is_numeric() != c.is_numeric()
        || (before.is_lowercase() && c.is_uppercase())
        || (before.is_uppercase() && c.is_uppercase() && next.is_some_and(char::is_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, &mut |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn identifiers_and_paths_give_their_parts() {
        let table: [(&str, &[&str]); 13] = [
            ("Use JWT", &["use", "jwt"]),
            ("src/auth_service.rs", &["src", "auth_service", "auth", "service", "rs"]),
            ("parseHTTPServer2", &["parsehttpserver2", "parse", "http", "server", "2"]),
            ("__init__", &["init"]),
            ("___", &[]),
            ("v2", &["v2", "v", "2"]),
            ("don't", &["don", "t"]),
            ("認証トークンauth限", &["認証", "証ト", "トー", "ーク", "クン", "auth", "限"]),
            ("हिन्दी Ünïcode", &["हिन्दी", "ünïcode"]),
            // With its punctuation it is another name.
            ("C++, c#", &["c++", "c#"]),
            ("c++17", &["c++", "17"]),
            ("i+j x#y c+++", &["i", "j", "x", "y", "c"]),
            ("vec++ é#", &["vec", "é"]),
        ];
        for (text, expected) in table {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn forms_of_one_word_are_one_term() {
        let table = [
            (Language::English, "limits", "Limit"),
            (Language::English, "café", "cafe"),
            (Language::English, "caching", "cached"),
            (Language::German, "Datenbanken", "Datenbank"),
            (Language::Russian, "решения", "решение"),
            (Language::French, "décisions", "décision"),
            (Language::English, "C++", "c++"),
            (Language::French, "C#", "c#"),
        ];
        for (language, one, other) in table {
            assert_eq!(terms(one, language), terms(other, language), "{one} {other}");
        }
        assert_eq!(terms("what is the", Language::English), []);
        assert_ne!(terms("c++", Language::English), terms("c#", Language::English));
        assert_eq!(terms("c++", Language::German).len(), 1);
        assert_ne!(terms("cache", Language::English), terms("queue", Language::English));
        // An older Snowball stemmed these to the same term.
        assert_ne!(terms("internal", Language::English), terms("intern", Language::English));
        assert_ne!(terms("internal", Language::English), terms("international", Language::English));
    }

    proptest! {
        #[test]
        fn any_text_has_terms_in_any_language(text in "\\PC{0,60}|[a-zß-ÿ'_A-Z0-9]{0,40}|[а-я]{0,20}") {
            for language in Language::ALL {
                terms(&text, language);
            }
        }
    }
}
