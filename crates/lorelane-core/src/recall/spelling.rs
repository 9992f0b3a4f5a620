//! Words that a misspelled word may stand for.
//!
//! The index has no letters, only hashes of stems, so nothing in it can be compared with a word. But a word has only
//! a few hundred neighbours at one edit, and each of them has a hash that can be looked up. A list of the store's
//! words would have to be kept at every change and cleared by `forget`; this costs nothing until a word is unknown.

/// A shorter word has too many neighbours that mean something else.
const LETTERS_MIN: usize = 4;
/// A longer word is an identifier or data.
const LETTERS_MAX: usize = 24;
/// The shortest part of a compound.
const PART_MIN: usize = 4;

/// Whether a word is long enough and only letters.
pub(super) fn is_word_like(word: &str) -> bool {
    word.chars().all(char::is_alphabetic) && word.chars().nth(LETTERS_MIN - 1).is_some()
}

/// Every word at one edit from this one: two letters swapped, one deleted, replaced or inserted. The first letter
/// stays: people rarely get it wrong, and it keeps unrelated words out. None for a word that is not only letters of
/// one alphabet.
pub(super) fn neighbours(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let Some(alphabet) = alphabet(&letters) else { return Vec::new() };
    if !(LETTERS_MIN..=LETTERS_MAX).contains(&letters.len()) {
        return Vec::new();
    }
    let with = |at: usize, removed: usize, put: Option<char>| -> String {
        letters[..at].iter().copied().chain(put).chain(letters[at + removed..].iter().copied()).collect()
    };
    let mut words = Vec::new();
    for at in 1..letters.len() {
        if at + 1 < letters.len() && letters[at] != letters[at + 1] {
            let mut swapped = letters.clone();
            swapped.swap(at, at + 1);
            words.push(swapped.into_iter().collect());
        }
        words.push(with(at, 1, None));
    }
    for at in 1..=letters.len() {
        for letter in alphabet.clone() {
            words.push(with(at, 0, Some(letter)));
            if at < letters.len() && letters[at] != letter {
                words.push(with(at, 1, Some(letter)));
            }
        }
    }
    words
}

/// Whether two words differ by two neighbouring letters that changed places.
pub(super) fn is_swapped(one: &str, other: &str) -> bool {
    let mut pairs = one.chars().zip(other.chars()).skip_while(|(a, b)| a == b);
    let (first, second) = (pairs.next(), pairs.next());
    let crossed = match (first, second) {
        (Some((a, b)), Some((c, d))) => a == d && b == c,
        _ => false,
    };
    crossed && one.len() == other.len() && pairs.all(|(a, b)| a == b)
}

fn alphabet(letters: &[char]) -> Option<std::ops::RangeInclusive<char>> {
    let is_latin = |c: &char| c.is_ascii_lowercase() || matches!(c, 'ß'..='ÿ');
    if letters.iter().all(is_latin) {
        Some('a'..='z')
    } else if letters.iter().all(|c| ('а'..='ё').contains(c)) {
        Some('а'..='я')
    } else {
        None
    }
}

/// Other spellings of a correct English word: `colour` and `color`, `organise` and `organize`.
pub(super) fn other_spellings(word: &str) -> Vec<String> {
    const PAIRS: [(&str, &str); 10] = [
        ("isation", "ization"),
        ("ising", "izing"),
        ("ise", "ize"),
        ("yse", "yze"),
        ("our", "or"),
        ("tre", "ter"),
        ("ogue", "og"),
        ("ence", "ense"),
        ("lled", "led"),
        ("lling", "ling"),
    ];
    let mut words = Vec::new();
    for (british, american) in PAIRS {
        for (one, other) in [(british, american), (american, british)] {
            // Inside a word too: `colourful`, `organised`.
            if let Some((before, after)) = word.rsplit_once(one)
                && before.len() >= 2
                && after.len() <= 4
            {
                words.push(format!("{before}{other}{after}"));
            }
        }
    }
    words
}

/// The ways to cut a compound in two: `gartenzaun` is `garten` and `zaun`. A linking `s` or `n` may stand
/// between the parts.
pub(super) fn halves(word: &str) -> Vec<(&str, &str)> {
    let mut halves = Vec::new();
    if word.chars().count() > LETTERS_MAX * 2 || !word.chars().all(char::is_alphabetic) {
        return halves;
    }
    for (at, _) in word.char_indices() {
        let (first, second) = word.split_at(at);
        if first.chars().count() < PART_MIN || second.chars().count() < PART_MIN {
            continue;
        }
        halves.push((first, second));
        let linked = first.strip_suffix(['s', 'n']).filter(|first| first.chars().count() >= PART_MIN);
        halves.extend(linked.map(|first| (first, second)));
    }
    halves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_reaches_the_word_that_was_meant() {
        for (typed, meant) in [
            ("servce", "service"),
            ("serivce", "service"),
            ("servicce", "service"),
            ("servixe", "service"),
            ("решние", "решение"),
        ] {
            assert!(neighbours(typed).contains(&meant.to_owned()), "{typed}");
        }
        for none in ["abc", "a1b2c3", "認証トークン", "x".repeat(40).as_str(), ""] {
            assert!(neighbours(none).is_empty(), "{none}");
        }
        assert!(!neighbours("mitten").contains(&"kitten".to_owned()));
        assert!(neighbours(&"q".repeat(24)).len() < 1_500);
    }

    #[test]
    fn a_swap_is_the_most_common_mistake() {
        assert!(is_swapped("reids", "redis") && is_swapped("teh", "the"));
        assert!(!is_swapped("reids", "reads") && !is_swapped("reids", "reid") && !is_swapped("same", "same"));
    }

    #[test]
    fn spellings_of_two_countries_are_one_word() {
        for (one, other) in [
            ("colour", "color"),
            ("colorful", "colourful"),
            ("organise", "organize"),
            ("organized", "organised"),
            ("catalogue", "catalog"),
            ("centre", "center"),
            ("travelled", "traveled"),
        ] {
            assert!(other_spellings(one).contains(&other.to_owned()), "{one}");
        }
        assert!(other_spellings("our").is_empty());
    }

    #[test]
    fn a_compound_is_cut_where_both_parts_are_long_enough() {
        assert!(halves("gartenzaun").contains(&("garten", "zaun")));
        assert!(halves("zeitungsartikel").contains(&("zeitung", "artikel")));
        assert!(halves("cache").is_empty());
        assert!(halves("v2alpha3beta4").is_empty());
    }
}
