//! A light stemmer for Arabic: it removes the article, the prepositions that are written as one word with it, and
//! endings of number and gender, like Larkey's light10. Snowball's stems the same noun differently with and without
//! its article.

const PREFIXES: [&str; 8] = ["وال", "بال", "كال", "فال", "ال", "لل", "و", "ل"];
const SUFFIXES: [&str; 10] = ["ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي"];
/// A stem keeps at least this many letters.
const STEM_MIN: usize = 3;

pub(super) fn is_arabic(word: &str) -> bool {
    word.starts_with(|c| ('\u{620}'..='\u{6ff}').contains(&c))
}

pub(super) fn stem(word: &str) -> String {
    let word: String = word.chars().filter(|c| !is_vowel_mark(*c)).map(alike).collect();
    let is_stem = |rest: &&str| rest.chars().nth(STEM_MIN - 1).is_some();
    let mut stem = word.as_str();
    stem = PREFIXES.iter().find_map(|prefix| stem.strip_prefix(prefix).filter(is_stem)).unwrap_or(stem);
    // A noun may have two: `ات` and `ها`.
    for _ in 0..2 {
        stem = SUFFIXES.iter().find_map(|suffix| stem.strip_suffix(suffix).filter(is_stem)).unwrap_or(stem);
    }
    stem.to_owned()
}

/// Letters that people write for each other.
fn alike(c: char) -> char {
    match c {
        'أ' | 'إ' | 'آ' | 'ٱ' => 'ا',
        'ى' => 'ي',
        c => c,
    }
}

fn is_vowel_mark(c: char) -> bool {
    matches!(c, '\u{64b}'..='\u{652}' | '\u{640}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_has_one_stem_with_and_without_its_article() {
        for (one, other) in [
            ("المدرسات", "مدرسات"),
            ("للشجر", "الشجرة"),
            ("للمعلمات", "المعلم"),
            ("لمدينة", "مدينة"),
            ("أسبوع", "اسبوع"),
            ("والقمر", "القمر"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        assert_ne!(stem("القمر"), stem("الشجرة"));
        for short in ["ال", "و", "لي", "هي"] {
            assert!(!stem(short).is_empty(), "{short}");
        }
    }
}
