//! The tokenizer for titles and tags: Unicode words, folded case and accents, bigrams in scripts without spaces.

use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The stop words of titles and tags: the list of the `claude-memory` scripts, which is part of their scoring.
const STOP_WORDS: &[&str] = &[
    "a", "about", "also", "an", "and", "are", "at", "be", "been", "being", "but", "by", "can", "could",
    "did", "do", "does", "else", "for", "from", "get", "go", "had", "has", "have", "he", "help", "how", "i",
    "if", "in", "into", "is", "it", "just", "know", "let", "like", "make", "may", "me", "might", "must",
    "my", "need", "no", "not", "of", "on", "or", "out", "please", "see", "shall", "she", "should", "so",
    "that", "the", "then", "these", "they", "think", "this", "those", "to", "too", "up", "use", "very",
    "want", "was", "we", "were", "what", "when", "where", "which", "who", "whom", "why", "will", "with",
    "would", "yes", "you", "your",
];

const STOP_WORD_MAX: usize = 6;

fn is_stop_word(word: &str) -> bool {
    word.len() <= STOP_WORD_MAX && STOP_WORDS.binary_search(&word).is_ok()
}

/// The words of a text without stop words, in order, repetitions included.
///
/// ASCII words shorter than three letters are dropped; in other alphabets two letters can be a word. Runs of Han,
/// Kana and Hangul become overlapping pairs, because nothing marks where a word ends, and words of two characters
/// are the most common.
pub fn words(text: &str) -> Vec<String> {
    if text.is_ascii() {
        // The common case, without Unicode tables.
        let runs = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| run.len() > 2);
        return runs.map(str::to_ascii_lowercase).filter(|word| !is_stop_word(word)).collect();
    }
    let mut found = Vec::new();
    let mut word = String::new();
    let mut run = Vec::new();
    let finish_word = |word: &mut String, found: &mut Vec<String>| {
        let long_enough = if word.is_ascii() { word.len() > 2 } else { word.chars().nth(1).is_some() };
        if long_enough && !is_stop_word(word) {
            found.push(std::mem::take(word));
        }
        word.clear();
    };
    let finish_run = |run: &mut Vec<char>, found: &mut Vec<String>| {
        match run.as_slice() {
            [] => {}
            [single] => found.push(single.to_string()),
            pairs => found.extend(pairs.windows(2).map(|pair| pair.iter().collect())),
        }
        run.clear();
    };
    each_folded(text, &mut |c| {
        if writes_no_blanks(c) {
            finish_word(&mut word, &mut found);
            run.push(c);
        } else {
            finish_run(&mut run, &mut found);
            if c.is_alphanumeric() || is_combining_mark(c) {
                word.push(c)
            } else {
                finish_word(&mut word, &mut found)
            }
        }
    });
    finish_word(&mut word, &mut found);
    finish_run(&mut run, &mut found);
    found
}

/// The short names in a text that [`words`] drops: `ci`, `r`, `c++`. Stop words are not names, but several short
/// words with punctuation between them may be: `i/o`, `to-do`.
pub fn short_names(text: &str) -> Vec<String> {
    let folded = fold(text);
    let mut names = Vec::new();
    // Short words that follow each other with one character between them.
    let mut chain = WordChain::default();
    for word in short_parts(&folded) {
        let is_common = is_stop_word(&folded[word.clone()]);
        if !is_common {
            names.push(folded[word.clone()].to_owned());
        }
        if !chain.goes_on(&folded, &word) {
            names.extend(chain.name(&folded));
            chain = WordChain { from: word.start, ..WordChain::default() };
        }
        chain.to = word.end;
        chain.words += 1;
        chain.has_stop_word |= is_common;
    }
    names.extend(chain.name(&folded));
    names
}

#[derive(Default)]
struct WordChain {
    from: usize,
    to: usize,
    words: usize,
    has_stop_word: bool,
}

impl WordChain {
    fn goes_on(&self, folded: &str, word: &Range<usize>) -> bool {
        let mut between = folded[self.to..word.start].chars();
        self.words > 0
            && between.next().is_some_and(|sign| !sign.is_alphanumeric() && !sign.is_whitespace())
            && between.next().is_none()
    }

    /// The whole chain, only if its words are not names themselves: `ci/cd` is `ci` and `cd`, whatever is between
    /// them.
    fn name(&self, folded: &str) -> Option<String> {
        (self.words > 1 && self.has_stop_word).then(|| folded[self.from..self.to].to_owned())
    }
}

/// The spans of the words that are too short or too common for [`words`].
fn short_parts(folded: &str) -> impl Iterator<Item = Range<usize>> {
    let is_letter_or_digit = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    parts(folded).filter(move |part| {
        let part = &folded[part.clone()];
        (matches!(part.len(), 1 | 2) && is_letter_or_digit(part))
            || part.ends_with(['+', '#'])
            || is_stop_word(part)
    })
}

/// The spans of all words, including `c++` and `c#`. `we'd` is one word: what follows its apostrophe is not a
/// name.
fn parts(folded: &str) -> impl Iterator<Item = Range<usize>> {
    const QUOTES: [char; 2] = ['\'', '’'];
    let is_part =
        |c: char| c.is_alphanumeric() || QUOTES.contains(&c) || (!c.is_ascii() && is_combining_mark(c));
    let mut at = 0;
    std::iter::from_fn(move || {
        at += folded[at..].find(is_part)?;
        let quoted = &folded[at..];
        let quoted = &quoted[..quoted.find(|c| !is_part(c)).unwrap_or(quoted.len())];
        let bare = quoted.trim_start_matches(QUOTES);
        let from = at + quoted.len() - bare.len();
        let bare = bare.trim_end_matches(QUOTES);
        let signed = if bare.len() == 1 { signed_letter(&folded[from..]) } else { None };
        let to = from + signed.unwrap_or(bare).len();
        at = to.max(at + quoted.len());
        Some(from..to)
    })
}

/// The letter at the start of a text with the punctuation that makes it another name: `c++`, `c#`, but not `i+j`.
/// It keeps its punctuation because `c` alone is not a term.
pub(crate) fn signed_letter(text: &str) -> Option<&str> {
    let signs = text.strip_prefix(|c: char| c.is_ascii_alphabetic())?;
    let after = signs.strip_prefix("++").or_else(|| signs.strip_prefix('#'))?;
    let goes_on = after.starts_with(|c: char| c.is_alphabetic() || matches!(c, '+' | '#'));
    (!goes_on).then(|| &text[..text.len() - after.len()])
}

/// Whether a folded text has this word, as [`words`] would find it, without splitting the text.
pub fn holds_word(folded: &str, word: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(is_of_a_word);
    let run = word.starts_with(writes_no_blanks);
    folded.match_indices(word).any(|(at, _)| {
        run || !(joins(folded[..at].chars().next_back()) || joins(folded[at + word.len()..].chars().next()))
    })
}

/// Those of the `wanted` words that a folded text has: like [`holds_word`] for each, but in one pass over the
/// text.
pub fn held_words<'w>(folded: &str, wanted: &[&'w str]) -> Vec<&'w str> {
    let mut held: Vec<bool> =
        wanted.iter().map(|word| word.starts_with(writes_no_blanks) && folded.contains(word)).collect();
    let mut begins = [false; 256];
    wanted.iter().filter_map(|word| word.bytes().next()).for_each(|byte| begins[usize::from(byte)] = true);
    let mut meet = |found: &[u8]| {
        if found.first().is_some_and(|byte| begins[usize::from(*byte)]) {
            wanted.iter().zip(&mut held).for_each(|(word, held)| *held |= word.as_bytes() == found);
        }
    };
    if folded.is_ascii() {
        folded.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()).for_each(&mut meet);
    } else {
        folded.split(|c| !is_of_a_word(c)).for_each(|found| meet(found.as_bytes()));
    }
    wanted.iter().zip(held).filter_map(|(word, held)| held.then_some(*word)).collect()
}

/// Whether a character is part of a word that is separated by spaces.
fn is_of_a_word(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || (!c.is_ascii() && (c.is_alphanumeric() || is_combining_mark(c)) && !writes_no_blanks(c))
}

/// Lower case without accents: `Ünïcode` and `unicode` are one word.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    each_folded(text, &mut |c| out.push(c));
    out
}

fn each_folded(text: &str, each: &mut dyn FnMut(char)) {
    if text.is_ascii() {
        return text.bytes().for_each(|byte| each(char::from(byte.to_ascii_lowercase())));
    }
    // Hangul decomposes into letters, which are composed again: people search for syllables.
    let bare = text.nfkd().filter(|c| !is_accent(*c)).flat_map(char::to_lowercase);
    bare.nfc().for_each(|c| match c {
        // Lower case does not unify what case folding would: `Straße` and `STRASSE`, the two forms of sigma.
        'ß' => "ss".chars().for_each(&mut *each),
        'ς' => each('σ'),
        c => each(c),
    });
}

/// Only marks of Latin, Greek and Cyrillic: in Indic scripts a combining mark is a vowel.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}') && is_combining_mark(c)
}

/// Scripts in which spaces do not reliably separate words.
pub(crate) fn writes_no_blanks(c: char) -> bool {
    matches!(c,
        '\u{3041}'..='\u{30ff}'      // Hiragana, Katakana
        | '\u{3400}'..='\u{4dbf}'    // Han, extension A
        | '\u{4e00}'..='\u{9fff}'    // Han
        | '\u{ac00}'..='\u{d7a3}'    // Hangul
        | '\u{f900}'..='\u{faff}'    // Han, compatibility
        | '\u{20000}'..='\u{323af}'  // Han, further extensions
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_script() {
        let table = [
            ("Use JWT for the auth-service v2", vec!["jwt", "auth", "service"]),
            ("Café Ünïcode — naïve", vec!["cafe", "unicode", "naive"]),
            ("Решение: кэш", vec!["решение", "кэш"]),
            ("認証トークン", vec!["認証", "証ト", "トー", "ーク", "クン"]),
            ("캐시 정책", vec!["캐시", "정책"]),
            ("rate 限 limit", vec!["rate", "限", "limit"]),
            ("हिन्दी", vec!["हिन्दी"]),
            ("Straße STRASSE", vec!["strasse", "strasse"]),
            ("ΟΔΥΣΣΕΥΣ οδυσσευς", vec!["οδυσσευσ", "οδυσσευσ"]),
            ("", vec![]),
        ];
        for (text, expected) in table {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_word_is_found_where_the_tokeniser_finds_it() {
        let texts = [
            "Use JWT for the auth-service v2",
            "Café Ünïcode — naïve",
            "認証トークン auth限",
            "캐시 정책",
            "हिन्दी",
        ];
        for text in texts {
            let folded = fold(text);
            for word in words(text) {
                assert!(holds_word(&folded, &word), "{word} in {folded}");
            }
            assert!(!holds_word(&folded, "ser") && !holds_word(&folded, "証明"), "{folded}");
            let all: Vec<String> =
                texts.iter().flat_map(|text| words(text)).chain(["ser".to_owned()]).collect();
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let one_by_one: Vec<&str> =
                all.iter().copied().filter(|word| holds_word(&folded, word)).collect();
            assert_eq!(held_words(&folded, &all), one_by_one, "{folded}");
        }
    }

    #[test]
    fn the_stop_words_are_sorted_for_their_search() {
        assert!(STOP_WORDS.is_sorted());
        assert_eq!(STOP_WORDS.len(), 87);
        assert_eq!(STOP_WORDS.iter().map(|word| word.len()).max(), Some(STOP_WORD_MAX));
    }
}
