//! A query text analyzed into terms, an embedding, names and months.

use super::months::{self, Month};
use super::prompt::PromptParts;
use super::spelling;
use super::word_judge::{WordJudge, WordWeight};
use crate::embed::{QuantizedVector, Table, Vector, WordPiece};
use crate::terms::{Language, Term, each_word, stem_of, term_of};
use crate::time::Timestamp;
use std::collections::{BTreeSet, HashSet};

/// Of a longer text only the beginning and the end are analyzed: the request is there, and what was pasted is in
/// between.
const TEXT_MAX: usize = 16 << 10;
/// How many terms of a long text are looked up: the rarest.
const TERMS_MAX: usize = 20;
/// How many of them may be pasted, besides what the person says, and what such a term weighs.
const PASTED_MAX: usize = 8;
const PASTED_WEIGHT: f32 = 0.3;
/// Further distinct words are ignored.
const WORDS_MAX: usize = 128;
/// What speaks for a respelling, besides the logarithm of its doc frequency: that it is a word, that two letters were
/// swapped, and its cosine with the query.
const KNOWN_WORD: f32 = 2.0;
const SWAPPED: f32 = 1.5;
const FITTING: f32 = 4.0;
/// A shorter stem has too many neighbours.
const STEM_MIN: usize = 4;

/// A query text, ready to be scored against passages.
#[derive(Clone, Debug)]
pub struct AnalyzedQuery {
    /// The distinct terms: first what the person says, then what was pasted, each in the order of the text.
    pub terms: Vec<QueryTerm>,
    /// The embedding of what the person says, from the built-in table.
    pub vector: Vector,
    pub(super) small: QuantizedVector,
    /// The embedding by the added model, if one runs.
    pub second: Option<Vec<f32>>,
    /// What the person says.
    own: String,
    /// The terms of a long text that are not looked up, with their doc frequencies.
    pub(super) dropped: Vec<(u64, QueryTerm)>,
    /// Whether its function words are not English.
    is_foreign: bool,
    /// The months that the text mentions.
    months: Vec<Month>,
}

#[derive(Clone, Debug)]
pub struct QueryTerm {
    /// As it was written, in lower case.
    pub word: String,
    /// The word that it was taken for, because no memory has it as it was written.
    pub instead: Option<String>,
    /// The terms of the word in each language that the memories are written in.
    pub variants: Vec<Term>,
    /// Whether it is a name: capitalized in the middle of a sentence, or a name by its meaning.
    is_name: bool,
    /// What it weighs among the words that an answer has to cover, if memories have it and if none has.
    asked: WordWeight,
    /// Whether it occurs only in what was pasted. Then it ranks a little, and is nothing that is asked for.
    is_pasted: bool,
    /// Whether it is a function word of another language than English, which may be none of the memories'.
    is_function_word: bool,
}

impl QueryTerm {
    /// The weight of its idf.
    pub fn weight(&self) -> f32 {
        if self.is_pasted || self.is_function_word { PASTED_WEIGHT } else { 1.0 }
    }

    /// Whether a person asks it.
    pub(super) fn is_asked(&self) -> bool {
        !self.is_pasted
    }

    /// The share of its idf among the words that an answer has to cover.
    pub(super) fn asked_weight(&self, doc_freq: u64) -> f32 {
        match doc_freq {
            _ if self.is_pasted => 0.0,
            0 => self.asked.unknown,
            _ => self.asked.known,
        }
    }

    pub(super) fn is_name(&self) -> bool {
        self.is_name
    }

    /// `servce → service`, or the word as it was written.
    pub(super) fn shown(&self) -> String {
        match &self.instead {
            Some(instead) => format!("{} → {instead}", self.word),
            None => self.word.clone(),
        }
    }
}

/// How many words are tried for one that no memory has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpellingEffort {
    /// Only those that the embedding table knows: a handful.
    KnownWords,
    /// Every one, for names and identifiers: a few hundred, which take milliseconds.
    AllWords,
}

impl SpellingEffort {
    /// For how many words of a query.
    pub fn words_max(self) -> usize {
        match self {
            SpellingEffort::KnownWords => 6,
            SpellingEffort::AllWords => 2,
        }
    }
}

/// A word that an unknown query term may stand for.
#[derive(Clone, Debug)]
pub struct Respelling {
    /// The position of the query term.
    at: usize,
    word: String,
    /// The terms of the word in each language of the memories; of a compound, those of both parts.
    parts: Vec<Vec<Term>>,
}

impl Respelling {
    pub fn terms(&self) -> impl Iterator<Item = Term> {
        self.parts.iter().flatten().copied()
    }
}

impl AnalyzedQuery {
    /// `languages` are the languages of the memories that are searched.
    pub fn new(text: &str, languages: &[Language], table: &Table<'_>) -> AnalyzedQuery {
        let text = both_ends(text);
        let PromptParts { own, pasted } = PromptParts::of(&text);
        let own = months::spelled_out(&own).into_owned();
        let words = WordJudge::new(&own, table);
        let is_foreign = !words.is_english();
        let names = if words.is_english() { names(&own) } else { BTreeSet::new() };
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut known: HashSet<Term> = HashSet::new();
        for (text, is_pasted) in [(own.as_str(), false), (pasted.as_str(), true)] {
            each_word(text, &mut |word| {
                let variants = variants(word, languages);
                let Some(first) = variants.first() else { return };
                if terms.len() == WORDS_MAX || known.contains(first) {
                    return;
                }
                known.extend(&variants);
                let asked = if is_pasted { WordWeight::NONE } else { words.weight(word) };
                let is_name = !is_pasted && (names.contains(word) || words.is_name(word));
                let is_function_word = !is_pasted && words.is_function_word(word);
                terms.push(QueryTerm {
                    word: word.to_owned(),
                    instead: None,
                    variants,
                    is_name,
                    asked,
                    is_pasted,
                    is_function_word,
                });
            });
        }
        if terms.iter().all(|term| term.is_pasted) {
            // `what is this?`: nothing is asked but what was pasted.
            terms.iter_mut().for_each(|term| term.is_pasted = false);
        }
        let vector = embedding(&own, table);
        let months = months::months(&own);
        AnalyzedQuery {
            terms,
            small: QuantizedVector::of(&vector),
            vector,
            second: None,
            own,
            is_foreign,
            dropped: Vec::new(),
            months,
        }
    }

    /// What the person says, without pastes and courtesy.
    pub fn said(&self) -> &str {
        &self.own
    }

    /// Whether it has more terms than will be looked up.
    pub fn is_long(&self) -> bool {
        self.terms.len() > TERMS_MAX || self.terms.iter().any(|term| term.is_pasted)
    }

    /// Keeps the rarest terms. `holding` is the doc frequency of each; a term that occurs nowhere finds nothing,
    /// so it is dropped first.
    pub fn rarest(mut self, doc_freqs: &[u64]) -> AnalyzedQuery {
        let counted = doc_freqs.iter().copied().zip(self.terms);
        let (mut pasted, mut own): (Vec<(u64, QueryTerm)>, Vec<_>) =
            counted.partition(|(_, term)| term.is_pasted);
        let rarity = |(doc_freq, _): &(u64, QueryTerm)| if *doc_freq == 0 { u64::MAX } else { *doc_freq };
        if own.len() > TERMS_MAX {
            own.sort_by_key(rarity);
            self.dropped.extend(own.split_off(TERMS_MAX));
        }
        pasted.sort_by_key(rarity);
        let looked_up = pasted.iter().take(PASTED_MAX).filter(|(doc_freq, _)| *doc_freq > 0).count();
        self.dropped.extend(pasted.split_off(looked_up));
        self.terms = own.into_iter().chain(pasted).map(|(_, term)| term).collect();
        self
    }

    /// The positions of the terms that no memory has and that may be spelled in another way. `holding` is the doc
    /// frequency of each term.
    pub fn unknown(&self, doc_freqs: &[u64]) -> Vec<usize> {
        let is_unknown = |(term, doc_freq): (&QueryTerm, &u64)| {
            *doc_freq == 0
                && !term.is_pasted
                && term.instead.is_none()
                && term.asked != WordWeight::NONE
                && spelling::is_word_like(&term.word)
        };
        let unknown = self.terms.iter().zip(doc_freqs).map(is_unknown).enumerate();
        unknown.filter_map(|(at, is_unknown)| is_unknown.then_some(at)).collect()
    }

    /// The words that the terms at these positions, which no memory has, may stand for.
    pub fn respellings(
        &self,
        unknown: &[usize],
        effort: SpellingEffort,
        languages: &[Language],
        table: &Table<'_>,
    ) -> Vec<Respelling> {
        let mut all = Vec::new();
        for at in unknown.iter().copied() {
            let word = self.terms[at].word.as_str();
            let whole = |other: String| {
                let terms = variants(&other, languages);
                (!terms.is_empty()).then(|| Respelling { at, parts: vec![terms], word: other })
            };
            all.extend(spelling::other_spellings(word).into_iter().filter_map(whole));
            // `kitten` is a word, even if no memory has it.
            if is_word(word, table) {
                continue;
            }
            let mut neighbours = spelling::neighbours(word);
            if effort == SpellingEffort::KnownWords {
                neighbours.retain(|word| is_word(word, table));
                all.extend(neighbours.into_iter().filter_map(whole));
                continue;
            }
            all.extend(neighbours.into_iter().filter_map(whole));
            all.extend(spelling::halves(word).into_iter().map(|(first, second)| Respelling {
                at,
                word: format!("{first} {second}"),
                parts: vec![variants(first, languages), variants(second, languages)],
            }));
        }
        all
    }

    /// The query with each unknown word taken for the most frequent word that it may stand for; `None` if there is
    /// no such word. `holding` is the doc frequency of a term.
    pub fn respelled(
        &self,
        respellings: Vec<Respelling>,
        doc_freq: impl Fn(Term) -> u64,
        languages: &[Language],
        table: &Table<'_>,
    ) -> Option<AnalyzedQuery> {
        let mut best: Vec<Option<((usize, f32), Respelling)>> = vec![None; self.terms.len()];
        for mut respelling in respellings {
            let part = |terms: &Vec<Term>| terms.iter().map(|term| doc_freq(*term)).sum::<u64>();
            let freqs: Vec<u64> = respelling.parts.iter().map(part).collect();
            let is_known = is_word(&respelling.word, table);
            let found = match freqs.as_slice() {
                [freq] => (2, *freq),
                // Of a compound, one part may be enough if it is most of it: in languages that write them as one word.
                [first, second] => {
                    let (long, _) = respelling.word.split_once(' ').unwrap_or_default();
                    let rest = respelling.word.len() - long.len();
                    match (*first > 0, *second > 0) {
                        (true, true) => (1, *first.min(second)),
                        (true, false) if self.is_foreign && long.len() > rest => (0, *first),
                        (false, true) if self.is_foreign && long.len() < rest => (0, *second),
                        _ => continue,
                    }
                }
                _ => continue,
            };
            let (parts, freq) = found;
            let typed = &self.terms[respelling.at].word;
            if freq == 0 || (parts == 2 && !is_known && !keeps_stem(typed, &respelling.word, languages)) {
                continue;
            }
            respelling.parts.retain(|terms| part(terms) > 0);
            // One word before two, then what is frequent, a word, a common mistake, and fits the rest.
            let swapped = if spelling::is_swapped(typed, &respelling.word) { SWAPPED } else { 0.0 };
            let fits = table.vector(&respelling.word).cosine(&self.vector);
            let known = if is_known { KNOWN_WORD } else { 0.0 };
            let rank = (parts, (freq as f32).ln() + known + swapped + FITTING * fits);
            let known = &mut best[respelling.at];
            if known.as_ref().is_none_or(|(best, _)| *best < rank) {
                *known = Some((rank, respelling));
            }
        }
        if best.iter().all(Option::is_none) {
            return None;
        }
        let mut asked = self.clone();
        for (term, best) in asked.terms.iter_mut().zip(best) {
            if let Some((_, respelling)) = best {
                asked.own = with_word(&asked.own, &term.word, &respelling.word);
                term.variants = respelling.parts.concat();
                term.instead = Some(respelling.word);
            }
        }
        asked.vector = embedding(&asked.own, table);
        asked.small = QuantizedVector::of(&asked.vector);
        Some(asked)
    }

    /// Whether the query has names, and none of them occurs in any memory.
    pub(super) fn names_strangers(&self, doc_freqs: &[u64]) -> bool {
        let mut names = self.terms.iter().zip(doc_freqs).filter(|(term, _)| term.is_name).peekable();
        names.peek().is_some() && names.all(|(_, doc_freq)| *doc_freq == 0)
    }

    pub(super) fn mentions_month(&self, at: Timestamp) -> bool {
        !self.months.is_empty() && {
            let (year, month) = at.year_and_month();
            self.months.iter().any(|(asked, of)| *of == month && asked.is_none_or(|asked| asked == year))
        }
    }
}

/// The embedding of a text. The table has no pieces of other scripts: what is left of such a text is punctuation.
fn embedding(text: &str, table: &Table<'_>) -> Vector {
    if text.contains(|c: char| c.is_ascii_alphabetic()) { table.vector(text) } else { Vector::ZERO }
}

/// The terms of a word, without duplicates.
fn variants(word: &str, languages: &[Language]) -> Vec<Term> {
    let mut variants: Vec<Term> = languages.iter().filter_map(|language| term_of(word, *language)).collect();
    variants.sort_unstable();
    variants.dedup();
    variants
}

/// Whether the embedding table has a word as a whole: it knows the common words and names.
fn is_word(word: &str, table: &Table<'_>) -> bool {
    table.find(WordPiece::Start(word)).is_some()
}

/// Whether a respelling that is no known word differs from what was typed inside its stem. Otherwise it may be an
/// invented form of another word: `brushness` has the stem of `brush`.
fn keeps_stem(typed: &str, respelling: &str, languages: &[Language]) -> bool {
    let same = typed.chars().zip(respelling.chars()).take_while(|(a, b)| a == b).count();
    let inside = |language: &Language| {
        let stem = stem_of(respelling, *language).chars().count();
        stem >= STEM_MIN && same < stem
    };
    languages.iter().any(inside)
}

/// A text with a word, which is in lower case, replaced wherever it occurs.
fn with_word(text: &str, word: &str, instead: &str) -> String {
    let is_letter = |c: char| c.is_alphanumeric();
    let mut out = String::with_capacity(text.len() + instead.len());
    for piece in text.split_inclusive(|c| !is_letter(c)) {
        let run = piece.trim_end_matches(|c| !is_letter(c));
        let is_same = run.to_lowercase() == word;
        out.push_str(if is_same { instead } else { run });
        out.push_str(&piece[run.len()..]);
    }
    out
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
            let name = bare[..end].to_lowercase();
            if !months::is_month(&name) {
                names.insert(name);
            }
        }
        begins = word.ends_with(['.', '?', '!', ':']);
    }
    names
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
    fn names_are_seen() {
        assert_eq!(
            names("What did Ann Lee say? Then Bob's dog"),
            BTreeSet::from(["ann", "lee", "bob"].map(str::to_owned))
        );
        assert_eq!(names("How does JWT work"), BTreeSet::new());
    }

    #[test]
    fn names_are_known_by_their_meaning_and_nouns_are_no_names() {
        let names = |text: &str| -> Vec<String> {
            let terms = analyze(text, &[Language::English]).terms.into_iter();
            terms.filter(|term| term.is_name).map(|term| term.word).collect()
        };
        assert_eq!(names("where did helen and Zorblax meet in March 2024"), ["helen", "zorblax"]);
        assert_eq!(names("Warum ist der Speicher des Dienstes voll?"), [""; 0]);
        assert_eq!(names("what happened to the camera lens"), [""; 0]);
    }

    #[test]
    fn what_was_pasted_weighs_little_and_is_not_asked() {
        let asked = analyze(
            "let total = items.iter().sum();\nprintln!(\"{}\", total);\n\nWhere are the invoices?",
            &[Language::English],
        );
        let of = |word: &str| asked.terms.iter().find(|term| term.word == word).expect(word);
        assert!(of("invoices").is_asked() && of("invoices").weight() == 1.0);
        assert!(
            !of("println").is_asked() && of("println").weight() < 1.0 && of("println").asked_weight(3) == 0.0
        );
        // Nothing is asked but what was pasted.
        let only = analyze("let total = items.iter().sum();\nprintln!(\"{}\", total);", &[Language::English]);
        assert!(only.terms.iter().all(QueryTerm::is_asked));
    }

    #[test]
    fn an_unknown_word_is_taken_for_one_that_memories_have() {
        let languages = [Language::English];
        let table = Table::built_in();
        let memories = ["service", "color", "brush", "mitten", "database", "zorblaxing"];
        let doc_freq =
            |term: Term| u64::from(memories.iter().any(|word| term_of(word, languages[0]) == Some(term)));
        for (typed, meant) in [
            ("servce", Some("service")),
            ("Srevice", Some("service")),
            ("colour", Some("color")),
            ("zoroblax", Some("zorblax")),
            ("brushless", None),
            ("kitten", None),
            ("abc", None),
        ] {
            let asked = analyze(typed, &languages);
            let unknown = asked.unknown(&[0]);
            let respellings = asked.respellings(&unknown, SpellingEffort::AllWords, &languages, &table);
            let respelled = asked.respelled(respellings, doc_freq, &languages, &table);
            let instead = respelled.as_ref().and_then(|asked| asked.terms[0].instead.as_deref());
            assert_eq!(instead, meant, "{typed}");
            if let (Some(respelled), Some(meant)) = (respelled, meant) {
                assert_eq!(respelled.vector, analyze(meant, &languages).vector, "{typed}");
                assert_eq!(respelled.terms[0].shown(), format!("{} → {meant}", typed.to_lowercase()));
            }
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
