//! WordPiece tokenization as in BERT's uncased models.
//!
//! First into words: invisible characters dropped, accents stripped, lower case, every punctuation mark and every
//! Han character a word of its own. Then each word into the longest pieces of the vocabulary, from left to right.
//! A word that cannot be covered is left out as a whole: half of a name is another name. The `tokenizers` crate
//! was rejected because loading its vocabulary file alone takes longer than a hook may take.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

/// Longer words are hashes, keys or encoded data.
const MAX_WORD_CHARS: usize = 100;
/// Longer pieces are not looked up: no vocabulary has any, and a list of checksums has very many prefixes.
pub(super) const MAX_PIECE_CHARS: usize = 24;

/// A part of a word, as it is looked up in a vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordPiece<'a> {
    /// The start of a word, or all of it.
    Start(&'a str),
    /// A continuation inside a word; vocabularies write it as `##text`.
    Rest(&'a str),
}

impl<'a> WordPiece<'a> {
    /// Parses a line of a vocabulary.
    pub fn from_line(line: &'a str) -> WordPiece<'a> {
        // `##` alone is a word of punctuation, not a continuation.
        line.strip_prefix("##")
            .filter(|rest| !rest.is_empty())
            .map_or(WordPiece::Start(line), WordPiece::Rest)
    }

    pub(super) fn text(self) -> &'a str {
        match self {
            WordPiece::Start(text) | WordPiece::Rest(text) => text,
        }
    }

    /// The offsets where pieces that start here may end, shortest first.
    pub(super) fn ends(self) -> impl Iterator<Item = usize> {
        self.text().char_indices().take(MAX_PIECE_CHARS).map(|(at, c)| at + c.len_utf8())
    }

    pub(super) fn up_to(self, end: usize) -> WordPiece<'a> {
        match self {
            WordPiece::Start(text) => WordPiece::Start(&text[..end]),
            WordPiece::Rest(text) => WordPiece::Rest(&text[..end]),
        }
    }
}

/// Calls `each` for the known pieces of a text, in order. `longest` looks up the longest piece at the start of the
/// rest of a word and returns its end.
pub fn each_piece<T>(
    text: &str,
    longest: impl Fn(WordPiece<'_>) -> Option<(usize, T)>,
    mut each: impl FnMut(T),
) {
    let mut found = Vec::new();
    each_word(text, |word| {
        if covers(word, &longest, &mut found) {
            found.drain(..).for_each(&mut each);
        }
        found.clear();
    });
}

/// The longest piece at the start of a rest, for a vocabulary that looks up one piece at a time.
pub fn longest<T>(rest: WordPiece<'_>, find: impl Fn(WordPiece<'_>) -> Option<T>) -> Option<(usize, T)> {
    let ends: Vec<usize> = rest.ends().collect();
    ends.into_iter().rev().find_map(|end| Some((end, find(rest.up_to(end))?)))
}

/// Splits one word; returns whether pieces cover it to its end.
fn covers<T>(word: &str, longest: &impl Fn(WordPiece<'_>) -> Option<(usize, T)>, found: &mut Vec<T>) -> bool {
    if word.len() > MAX_WORD_CHARS && word.chars().count() > MAX_WORD_CHARS {
        return false;
    }
    let mut rest = WordPiece::Start(word);
    while !rest.text().is_empty() {
        let Some((end, known)) = longest(rest) else { return false };
        found.push(known);
        rest = WordPiece::Rest(&rest.text()[end..]);
    }
    true
}

fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    let mut take = |c: char| {
        let apart = is_punctuation(c) || is_han(c);
        if (apart || c.is_whitespace()) && !word.is_empty() {
            each(&word);
            word.clear();
        }
        if apart {
            each(c.encode_utf8(&mut [0; 4]));
        } else if !c.is_whitespace() {
            word.push(c);
        }
    };
    if text.is_ascii() {
        let shown = text.chars().filter(|c| !is_invisible(*c));
        shown.for_each(|c| take(c.to_ascii_lowercase()));
    } else {
        let shown = text.chars().filter(|c| !is_invisible(*c));
        let bare = shown.nfd().filter(|c| c.is_ascii() || category(*c) != GeneralCategory::NonspacingMark);
        bare.flat_map(char::to_lowercase).for_each(&mut take);
    }
    // Flush the last word.
    take(' ');
}

fn category(c: char) -> GeneralCategory {
    get_general_category(c)
}

fn is_invisible(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\u{fffd}' => true,
        c if c.is_ascii() => c.is_ascii_control(),
        c => {
            matches!(
                category(c),
                GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
            )
        }
    }
}

fn is_punctuation(c: char) -> bool {
    use GeneralCategory::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation, InitialPunctuation,
        OpenPunctuation, OtherPunctuation,
    };
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    matches!(
        category(c),
        ClosePunctuation
            | ConnectorPunctuation
            | DashPunctuation
            | FinalPunctuation
            | InitialPunctuation
            | OpenPunctuation
            | OtherPunctuation
    )
}

/// Kana and Hangul are not included: the vocabulary has them in words.
fn is_han(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}'
        | '\u{2b740}'..='\u{2b81f}'
        | '\u{2b920}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}'
        | '\u{2f800}'..='\u{2fa1f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_are_those_of_the_uncased_models() {
        for (text, expected) in [
            ("Don't use_it!", vec!["don", "'", "t", "use", "_", "it", "!"]),
            ("Crème BRÛLÉE", vec!["creme", "brulee"]),
            ("e\u{301}a\u{200b}b\u{0}c\u{fffd}d", vec!["eabcd"]),
            ("a\u{b}b\tc\u{a0}d\u{2028}e", vec!["ab", "c", "d", "e"]),
            ("日本語 kana かな", vec!["日", "本", "語", "kana", "かな"]),
            ("“quoted” — dash…", vec!["“", "quoted", "”", "—", "dash", "…"]),
            ("", vec![]),
            (" \n ", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_longest_pieces_are_taken_and_half_a_word_is_none() {
        let vocabulary = ["un", "una", "##fit", "##a", "a"];
        let find =
            |piece: WordPiece<'_>| vocabulary.into_iter().find(|line| WordPiece::from_line(line) == piece);
        for (text, expected) in [
            ("a unfit a", "a un ##fit a".to_owned()),
            ("unaa", "una ##a".to_owned()),
            ("unafitx a", "a".to_owned()),
            ("fit", String::new()),
            (&"a".repeat(100), format!("a{}", " ##a".repeat(99))),
            (&"a".repeat(101), String::new()),
        ] {
            let mut pieces = Vec::new();
            each_piece(text, |rest| longest(rest, find), |piece| pieces.push(piece));
            assert_eq!(pieces.join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn a_checksum_is_not_asked_for_from_every_letter_to_its_end() {
        let asked = std::cell::Cell::new(0);
        let find = |piece: WordPiece<'_>| {
            asked.set(asked.get() + 1);
            matches!(piece, WordPiece::Start("0") | WordPiece::Rest("0")).then_some(())
        };
        each_piece(&"0".repeat(100), |rest| longest(rest, find), |()| {});
        assert!(asked.get() <= 100 * MAX_PIECE_CHARS, "{}", asked.get());
    }
}
