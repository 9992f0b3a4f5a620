//! The words of a sentence, and the phrases of a lexicon that they form.

use crate::text::{fold, writes_no_blanks};
use std::ops::Range;

/// A folded sentence and its words.
#[derive(Debug)]
pub(super) struct SentenceWords {
    folded: String,
    words: Vec<HashedWord>,
    /// Whether some of it is in a script without spaces.
    is_unspaced: bool,
}

#[derive(Debug)]
struct HashedWord {
    span: Range<usize>,
    hash: u64,
}

impl SentenceWords {
    pub(super) fn new(text: &str) -> SentenceWords {
        let folded = joined_negations(fold(text));
        let mut words = Vec::with_capacity(folded.len() / 5);
        let mut is_unspaced = false;
        let mut start = None;
        let mut add = |span: Range<usize>| words.push(HashedWord { hash: hash(&folded[span.clone()]), span });
        if folded.is_ascii() {
            for (at, byte) in folded.bytes().enumerate() {
                if byte.is_ascii_alphanumeric() {
                    start.get_or_insert(at);
                } else if let Some(start) = start.take() {
                    add(start..at);
                }
            }
        } else {
            for (at, c) in folded.char_indices() {
                let unspaced = !c.is_ascii() && writes_no_blanks(c);
                is_unspaced |= unspaced;
                if c.is_alphanumeric() && !unspaced {
                    start.get_or_insert(at);
                } else if let Some(start) = start.take() {
                    add(start..at);
                }
            }
        }
        start.into_iter().for_each(|start| add(start..folded.len()));
        SentenceWords { folded, words, is_unspaced }
    }

    pub(super) fn folded(&self) -> &str {
        &self.folded
    }

    pub(super) fn is_unspaced(&self) -> bool {
        self.is_unspaced
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|word| &self.folded[word.span.clone()])
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| &self.folded[word.span.clone()])
    }

    /// The words with their hashes.
    pub(super) fn hashed(&self) -> impl Iterator<Item = (&str, u64)> {
        self.words.iter().map(|word| (&self.folded[word.span.clone()], word.hash))
    }

    /// Whether a clause begins with this word: it is the first, or a sign other than an apostrophe is before it.
    pub(super) fn begins_clause(&self, at: usize) -> bool {
        let Some(word) = self.words.get(at) else { return false };
        let before = at.checked_sub(1).map_or(0, |before| self.words[before].span.end);
        at == 0
            || self.folded[before..word.span.start]
                .contains(|c: char| !c.is_whitespace() && !is_apostrophe(c))
    }

    /// Whether the words from a place on are those of a phrase.
    fn has_phrase(&self, at: usize, phrase: &str) -> bool {
        let mut rest = phrase;
        for at in at.. {
            let Some(word) = self.get(at) else { return false };
            match rest.strip_prefix(word) {
                Some("") => return true,
                Some(after) => match after.strip_prefix(' ') {
                    Some(after) => rest = after,
                    None => return false,
                },
                None => return false,
            }
        }
        false
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | '´')
}

/// `don't` becomes `dont`, which many people type anyway. In other words an apostrophe separates: `we'll` is not
/// `well`.
fn joined_negations(folded: String) -> String {
    if !folded.contains(is_apostrophe) {
        return folded;
    }
    let mut joined = String::with_capacity(folded.len());
    let mut chars = folded.chars().peekable();
    while let Some(c) = chars.next() {
        let negates = is_apostrophe(c) && joined.ends_with('n') && chars.peek() == Some(&'t');
        if negates {
            let mut after = chars.clone();
            after.next();
            if !after.next().is_some_and(char::is_alphanumeric) {
                continue;
            }
        }
        joined.push(c);
    }
    joined
}

/// The phrases of a lexicon, found by their first word, or by their first character in scripts without spaces.
#[derive(Debug)]
pub(super) struct PhraseTable<S: 'static> {
    /// By the hash of the first word or character: one more than the place of the first entry, or zero.
    buckets: Vec<u16>,
    entries: Vec<PhraseEntry<S>>,
}

#[derive(Debug)]
struct PhraseEntry<S> {
    phrase: &'static str,
    /// Of its first word or character.
    hash: u64,
    sense: S,
    /// The next entry of the bucket, as in `buckets`.
    next: u16,
}

const BUCKETS: usize = 4096;
/// A phrase without spaces that starts in the first characters counts as the beginning of its sentence.
const UNSPACED_START: usize = 4;

impl<S: Copy> PhraseTable<S> {
    /// A table of comma-separated phrases.
    pub(super) fn new(lists: &[(S, &'static str)]) -> PhraseTable<S> {
        let mut table = PhraseTable { buckets: vec![0; BUCKETS], entries: Vec::new() };
        for (sense, list) in lists {
            for phrase in phrases(list) {
                table.add(phrase, *sense);
            }
        }
        table
    }

    fn add(&mut self, phrase: &'static str, sense: S) {
        let first = match phrase.chars().next().filter(|c| writes_no_blanks(*c)) {
            Some(c) => &phrase[..c.len_utf8()],
            None => phrase.split(' ').next().unwrap_or_default(),
        };
        let hash = hash(first);
        let bucket = &mut self.buckets[bucket_of(hash)];
        let Ok(place) = u16::try_from(self.entries.len() + 1) else { return };
        self.entries.push(PhraseEntry { phrase, hash, sense, next: *bucket });
        *bucket = place;
    }

    /// The entries that begin with a word or character, with their places.
    fn beginning_with(&self, hash: u64) -> impl Iterator<Item = (usize, &PhraseEntry<S>)> {
        let mut place = self.buckets[bucket_of(hash)];
        let next = move || {
            let at = usize::from(place).checked_sub(1)?;
            let entry = self.entries.get(at)?;
            place = entry.next;
            Some((at, entry))
        };
        std::iter::from_fn(next).filter(move |(_, entry)| entry.hash == hash)
    }

    /// Calls back with each phrase that occurs: its sense and the place of its first word.
    pub(super) fn each(&self, sentence: &SentenceWords, found: &mut dyn FnMut(S, usize)) {
        for (at, word) in sentence.words.iter().enumerate() {
            for (_, entry) in self.beginning_with(word.hash) {
                if sentence.has_phrase(at, entry.phrase) {
                    found(entry.sense, at);
                }
            }
        }
        if sentence.is_unspaced {
            self.each_unspaced(sentence.folded(), found);
        }
    }

    /// The same in a script without spaces, once for each phrase.
    fn each_unspaced(&self, folded: &str, found: &mut dyn FnMut(S, usize)) {
        let mut known = Vec::new();
        for (number, (at, c)) in folded.char_indices().enumerate().filter(|(_, (_, c))| writes_no_blanks(*c))
        {
            let rest = &folded[at..];
            for (place, entry) in self.beginning_with(hash(&rest[..c.len_utf8()])) {
                if rest.starts_with(entry.phrase) && !known.contains(&place) {
                    known.push(place);
                    found(entry.sense, if number < UNSPACED_START { 0 } else { usize::MAX });
                }
            }
        }
    }

    pub(super) fn has(&self, sentence: &SentenceWords, wanted: S) -> bool
    where
        S: PartialEq,
    {
        let mut has = false;
        self.each(sentence, &mut |sense, _| has |= sense == wanted);
        has
    }
}

/// A set of words, by their hashes.
#[derive(Debug)]
pub(super) struct WordSet(Vec<u64>);

impl WordSet {
    pub(super) fn new(words: &[&str]) -> WordSet {
        let mut hashes: Vec<u64> = words.iter().map(|word| hash(word)).collect();
        hashes.sort_unstable();
        WordSet(hashes)
    }

    pub(super) fn has(&self, hash: u64) -> bool {
        self.0.binary_search(&hash).is_ok()
    }
}

/// The phrases of a comma-separated list.
pub(super) fn phrases(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(',').map(str::trim).filter(|phrase| !phrase.is_empty())
}

/// FNV-1a.
pub(super) fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn bucket_of(hash: u64) -> usize {
    (hash >> 20) as usize % BUCKETS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_people_type_them() {
        for (text, expected) in [
            ("Don't do it", vec!["dont", "do", "it"]),
            ("we’ll see, he isn’t", vec!["we", "ll", "see", "he", "isnt"]),
            ("n'the", vec!["n", "the"]),
            ("Así, ¿no?", vec!["asi", "no"]),
            ("使用 pnpm だけ", vec!["pnpm"]),
            ("", vec![]),
        ] {
            assert_eq!(SentenceWords::new(text).iter().collect::<Vec<_>>(), expected, "{text:?}");
        }
    }

    #[test]
    fn phrases_are_found_with_their_place() {
        let table = PhraseTable::new(&[('a', "for now, now, 使用"), ('b', "now on, さい")]);
        let found = |text: &str| {
            let mut found = Vec::new();
            table.each(&SentenceWords::new(text), &mut |sense, at| found.push((sense, at)));
            found.sort_unstable();
            found
        };
        assert_eq!(found("Keep it for now"), [('a', 2), ('a', 3)]);
        assert_eq!(found("from now on"), [('a', 1), ('b', 1)]);
        assert_eq!(found("nowhere, snow"), []);
        assert_eq!(found("请使用它"), [('a', 0)]);
        assert_eq!(found("これを今日から使用してください"), [('a', usize::MAX), ('b', usize::MAX)]);
        assert!(table.has(&SentenceWords::new("Now!"), 'a') && !table.has(&SentenceWords::new("on"), 'a'));
    }

    #[test]
    fn a_clause_begins_after_a_sign() {
        let sentence = SentenceWords::new("ok, remember it's there - always");
        let begins: Vec<usize> = (0..sentence.len()).filter(|at| sentence.begins_clause(*at)).collect();
        assert_eq!(begins, [0, 1, 5]);
        assert!(!sentence.begins_clause(99));
    }
}
