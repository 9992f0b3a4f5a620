//! The months that a text names, in the ways people write them: `May 2023`, `may 2023`, `Jan 7`, `in oct`, `2023-01`.

use std::borrow::Cow;

/// A month by number, with its year if the text names one.
pub(super) type Month = (Option<i64>, i64);

const NAMES: [&str; 12] = [
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

/// What stands before a month and not before a verb or a name.
const BEFORE: &[&str] = &[
    "after", "before", "between", "by", "during", "early", "from", "in", "last", "late", "mid", "next", "of",
    "since", "this", "through", "till", "until",
];

/// The months that a text names, each with the year that follows it.
pub(super) fn months(text: &str) -> Vec<Month> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    for at in 0..words.len() {
        found.extend(in_digits(bare(words[at])).map(|(year, month)| (Some(year), month)));
        if let Some(month) = numbered_at(&words, at) {
            found.push((words[at + 1..].iter().take(2).find_map(|next| year(bare(next))), month));
        }
        if let Some(month) = named_at(&words, at) {
            // `May 2023`, `May 7, 2023`, `May of 2023`.
            found.push((words[at + 1..].iter().take(2).find_map(|next| year(bare(next))), month));
        }
    }
    found
}

/// The text with `2023-01` and `Jan 2023` written as `January 2023`: memories spell months out, and a number or
/// an abbreviation is another word.
pub(super) fn spelled_out(text: &str) -> Cow<'_, str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let spelled = |at: usize| -> Option<String> {
        let word = bare(words[at]);
        let instead = match (in_digits(word), word.len()) {
            // A whole date is a word of its own.
            (Some((year, month)), 7) => format!("{} {year}", name(month)?),
            (None, _) if full(word).is_none() => {
                name(numbered_at(&words, at).or_else(|| named_at(&words, at))?)?.to_owned()
            }
            _ => return None,
        };
        Some(words[at].replacen(word, &instead, 1))
    };
    let spelled: Vec<Option<String>> = (0..words.len()).map(spelled).collect();
    if spelled.iter().all(Option::is_none) {
        return text.into();
    }
    let words =
        words.iter().zip(spelled).map(|(word, spelled)| spelled.unwrap_or_else(|| (*word).to_owned()));
    words.collect::<Vec<_>>().join(" ").into()
}

/// Whether a word in lower case is the name of a month.
pub(super) fn is_month(word: &str) -> bool {
    full(word).is_some()
}

/// The month that the word at this place names. `may` and `march` are verbs too, `mar` and `dec` are identifiers
/// and `Jan` is a person: they count only next to a number or after a word such as `in`.
fn named_at(words: &[&str], at: usize) -> Option<i64> {
    let word = bare(words[at]);
    let before = at.checked_sub(1).map(|before| words[before]);
    let is_number = |word: &str| day(bare(word)) || year(bare(word)).is_some();
    let is_dated = words.get(at + 1).is_some_and(|next| is_number(next))
        || before.is_some_and(|before| day(bare(before)) || is_before(before));
    if let Some(month) = full(word) {
        let begins = before.is_none_or(|before| before.ends_with(['.', '?', '!']));
        let is_name = word.starts_with(char::is_uppercase) && !begins;
        return (is_name || is_dated || !matches!(month, 3 | 5)).then_some(month);
    }
    let is_cased = word.chars().skip(1).all(|c| !c.is_uppercase());
    if is_dated && is_cased { short(word) } else { None }
}

/// The month in `09 24, 2031` and `in 06`: two digits before a day and a year, or after a word such as `in`. `in 12`
/// may be minutes, so a word after it decides.
fn numbered_at(words: &[&str], at: usize) -> Option<i64> {
    let word = bare(words[at]);
    let month = (word.len() == 2).then(|| word.parse().ok()).flatten()?;
    let next = |after: usize| words.get(at + after).map(|next| bare(next)).unwrap_or_default();
    let is_full = day(next(1)) && year(next(2)).is_some();
    let ends = words[at].len() > word.len() || at + 1 == words.len();
    let is_alone = at > 0 && is_before(words[at - 1]) && (word.starts_with('0') || ends);
    ((1..=12).contains(&month) && (is_full || is_alone)).then_some(month)
}

fn is_before(word: &str) -> bool {
    BEFORE.binary_search(&word.to_lowercase().as_str()).is_ok()
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn name(month: i64) -> Option<&'static str> {
    NAMES.get(usize::try_from(month - 1).ok()?).copied()
}

fn full(word: &str) -> Option<i64> {
    (1..).zip(NAMES).find_map(|(number, name)| word.eq_ignore_ascii_case(name).then_some(number))
}

fn short(word: &str) -> Option<i64> {
    let word = if word.eq_ignore_ascii_case("sept") { "sep" } else { word };
    (1..).zip(NAMES).find_map(|(number, name)| word.eq_ignore_ascii_case(&name[..3]).then_some(number))
}

/// `2023-01`, `2023-01-07` or `2023/01`.
fn in_digits(word: &str) -> Option<(i64, i64)> {
    let mut parts = word.split(['-', '/']);
    let (first, second) = (parts.next()?, parts.next()?);
    let is_date = match (parts.next(), parts.next()) {
        (None, _) => true,
        (Some(third), None) => third.len() == 2 && day(third),
        _ => false,
    };
    let month = (second.len() == 2).then(|| second.parse().ok()).flatten()?;
    (is_date && (1..=12).contains(&month)).then_some((year(first)?, month))
}

fn year(word: &str) -> Option<i64> {
    let is_year = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    is_year.then(|| word.parse().ok()).flatten().filter(|year| (1900..2200).contains(year))
}

/// `7`, `07`, `7th`.
fn day(word: &str) -> bool {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    digits.len() <= 2 && digits.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_seen_however_they_are_written() {
        let table: [(&str, &[Month]); 20] = [
            ("what was decided in May 2023?", &[(Some(2023), 5)]),
            ("what was decided in may 2023?", &[(Some(2023), 5)]),
            ("on July 7, 2024", &[(Some(2024), 7)]),
            ("on jul 7, 2024", &[(Some(2024), 7)]),
            ("on 7 Jul", &[(None, 7)]),
            ("in August", &[(None, 8)]),
            ("in sept.", &[(None, 9)]),
            ("during october", &[(None, 10)]),
            ("since 2023-01", &[(Some(2023), 1)]),
            ("on 2023-01-07?", &[(Some(2023), 1)]),
            ("May I use it? March on", &[]),
            ("you may", &[]),
            ("ask Jan about the mar file", &[]),
            ("dec rax", &[]),
            ("on 09 24, 2031", &[(Some(2031), 9)]),
            ("where was it in 06?", &[(None, 6)]),
            ("ready in 12 minutes", &[]),
            ("version 2023-13", &[]),
            ("10.0.0.1 12-12", &[]),
            ("", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(months(text), expected, "{text}");
        }
    }

    #[test]
    fn abbreviations_and_numbers_are_spelled_out() {
        for (text, expected) in [
            ("what in Jan 2023?", "what in January 2023?"),
            ("what in 2023-01?", "what in January 2023?"),
            ("in jan, or (oct 3)", "in January, or (October 3)"),
            ("in january\nand on 2023-01-07", "in january\nand on 2023-01-07"),
            ("on 09 24, 2031", "on September 24, 2031"),
            ("the mar file", "the mar file"),
        ] {
            assert_eq!(spelled_out(text), expected, "{text}");
        }
    }

    #[test]
    fn the_words_before_a_month_are_sorted() {
        assert!(BEFORE.is_sorted());
    }
}
