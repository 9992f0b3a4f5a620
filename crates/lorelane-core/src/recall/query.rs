//! A query text analyzed into terms, an embedding, names and months.

use crate::embed::{QuantizedVector, Table, Vector};
use crate::terms::{Language, Term, each_word, term_of};
use crate::time::Timestamp;
use std::collections::{BTreeSet, HashSet};

/// Of a longer text only the beginning and the end are analyzed: the request is there, and what was pasted is in
/// between.
const TEXT_MAX: usize = 16 << 10;
/// How many terms of a long text are looked up: the rarest.
const TERMS_MAX: usize = 20;
/// Further distinct words are ignored.
const WORDS_MAX: usize = 128;

/// A month by number, with its year if the text names one.
type Month = (Option<i64>, i64);

/// A query text, ready to be scored against passages.
#[derive(Clone, Debug)]
pub struct AnalyzedQuery {
    /// The distinct terms, in the order of the text.
    pub terms: Vec<QueryTerm>,
    /// The embedding of the text, from the built-in table.
    pub vector: Vector,
    pub(super) small: QuantizedVector,
    /// The embedding by the added model, if one runs.
    pub second: Option<Vec<f32>>,
    /// The months that the text mentions.
    months: Vec<Month>,
}

#[derive(Clone, Debug)]
pub struct QueryTerm {
    /// As it was written, in lower case.
    pub word: String,
    /// The terms of the word in each language that the memories are written in.
    pub variants: Vec<Term>,
    /// Whether it is written like a name: capitalized in the middle of a sentence.
    is_name: bool,
}

impl AnalyzedQuery {
    /// `languages` are the languages of the memories that are searched.
    pub fn new(text: &str, languages: &[Language], table: &Table<'_>) -> AnalyzedQuery {
        let text = both_ends(text);
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut known: HashSet<Term> = HashSet::new();
        let names = names(&text);
        each_word(&text, &mut |word| {
            let mut variants: Vec<Term> =
                languages.iter().filter_map(|language| term_of(word, *language)).collect();
            variants.sort_unstable();
            variants.dedup();
            let Some(first) = variants.first() else { return };
            if terms.len() == WORDS_MAX || known.contains(first) {
                return;
            }
            known.extend(&variants);
            let is_name = names.contains(word);
            terms.push(QueryTerm { word: word.to_owned(), variants, is_name });
        });
        let vector = table.vector(&text);
        AnalyzedQuery {
            terms,
            small: QuantizedVector::of(&vector),
            vector,
            second: None,
            months: months(&text),
        }
    }

    /// Whether it has more terms than will be looked up.
    pub fn is_long(&self) -> bool {
        self.terms.len() > TERMS_MAX
    }

    /// Keeps the rarest terms. `holding` is the doc frequency of each; a term that occurs nowhere finds nothing,
    /// so it is dropped first.
    pub fn rarest(mut self, holding: &[u64]) -> AnalyzedQuery {
        let mut counted: Vec<(u64, QueryTerm)> = holding.iter().copied().zip(self.terms).collect();
        counted.sort_by_key(|(holding, _)| if *holding == 0 { u64::MAX } else { *holding });
        self.terms = counted.into_iter().take(TERMS_MAX).map(|(_, term)| term).collect();
        self
    }

    /// Whether the query has names, and none of them occurs in any memory.
    pub(super) fn names_strangers(&self, holding: &[u64]) -> bool {
        let mut names = self.terms.iter().zip(holding).filter(|(term, _)| term.is_name).peekable();
        names.peek().is_some() && names.all(|(_, holding)| *holding == 0)
    }

    pub(super) fn mentions_month(&self, at: Timestamp) -> bool {
        !self.months.is_empty() && {
            let (year, month) = at.year_and_month();
            self.months.iter().any(|(asked, of)| *of == month && asked.is_none_or(|asked| asked == year))
        }
    }
}

/// The words that are capitalized without starting a sentence, in lower case.
fn names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut begins = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let mut letters = bare.chars();
        let is_name =
            letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase);
        if is_name && !begins {
            let end = bare.find(|c: char| !c.is_alphanumeric()).unwrap_or(bare.len());
            names.insert(bare[..end].to_lowercase());
        }
        begins = word.ends_with(['.', '?', '!', ':']);
    }
    names
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The months that a text names, each with the year that follows it. `May` and `March` at the start of a sentence
/// are taken for verbs.
fn months(text: &str) -> Vec<Month> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(month) =
            (1..).zip(MONTHS).find_map(|(number, month)| (bare(word) == month).then_some(number))
        else {
            continue;
        };
        let is_verb = matches!(month, 3 | 5) && (at == 0 || words[at - 1].ends_with(['.', '?', '!']));
        if is_verb {
            continue;
        }
        // `May 2023`, `May 7, 2023`, `May of 2023`.
        let year = words[at + 1..].iter().take(2).find_map(|next| {
            let digits = bare(next);
            (digits.len() == 4).then(|| digits.parse().ok()).flatten()
        });
        found.push((year, month));
    }
    found
}

/// The part of a text that is analyzed.
pub fn both_ends(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= TEXT_MAX {
        return text.into();
    }
    let (head, _) = text.split_at(text.floor_char_boundary(TEXT_MAX / 2));
    let (_, tail) = text.split_at(text.ceil_char_boundary(text.len() - TEXT_MAX / 2));
    // Cut at whitespace: half a word would be another word.
    let head = head.rfind(char::is_whitespace).map_or(head, |end| &head[..end]);
    let tail = tail.find(char::is_whitespace).map_or(tail, |start| &tail[start..]);
    format!("{head}\n{tail}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analyze(text: &str, languages: &[Language]) -> AnalyzedQuery {
        AnalyzedQuery::new(text, languages, &Table::built_in())
    }

    #[test]
    fn a_word_is_asked_once_in_all_languages_of_the_memories() {
        let one = analyze("rate limits: what is the rate limit?", &[Language::English]);
        assert_eq!(one.terms.iter().map(|term| term.word.as_str()).collect::<Vec<_>>(), ["rate", "limits"]);
        let two = analyze("Datenbanken", &[Language::English, Language::German]);
        assert_eq!(two.terms[0].variants.len(), 2);
    }

    #[test]
    fn names_and_months_are_seen() {
        assert_eq!(
            names("What did Ann Lee say? Then Bob's dog"),
            BTreeSet::from(["ann", "lee", "bob"].map(str::to_owned))
        );
        assert_eq!(names("How does JWT work"), BTreeSet::new());
        let table: [(&str, &[Month]); 5] = [
            ("what was decided in May 2023?", &[(Some(2023), 5)]),
            ("on July 7, 2024", &[(Some(2024), 7)]),
            ("in August", &[(None, 8)]),
            ("May I use it? March on", &[]),
            ("you may", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(months(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_of_any_size_is_a_question() {
        assert!(analyze("", &[Language::English]).terms.is_empty());
        assert!(analyze("?!. the of", &[Language::English]).terms.is_empty());
        let long = format!("alpha {} omega", "é lorem ".repeat(200_000));
        let words: Vec<String> =
            analyze(&long, &[Language::English]).terms.into_iter().map(|term| term.word).collect();
        assert_eq!(words, ["alpha", "é", "lorem", "omega"]);
    }
}
