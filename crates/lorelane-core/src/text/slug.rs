//! Turns titles into file names.

use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;

pub const SLUG_MAX: usize = 80;

/// The file stem for a title: ASCII letters and digits, joined by `-`. Empty if no letter remains, as for a title
/// in another script.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.nfkd().filter(char::is_ascii) {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(SLUG_MAX);
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// A key that is equal for names that are one file on systems that ignore case or Unicode normalization.
pub fn file_key(name: &str) -> String {
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// Whether a text is a slug: `^[a-z0-9]([a-z0-9-]{0,78}[a-z0-9])?$`.
pub fn is_slug(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    (1..=SLUG_MAX).contains(&bytes.len())
        && bytes.iter().all(|byte| inner(*byte) || *byte == b'-')
        && inner(bytes[0])
        && inner(bytes[bytes.len() - 1])
}

/// Whether a new title shares less than half of its words with the old one. Then it is about something else, and
/// the file is renamed.
pub fn title_changed_enough_for_a_new_slug(old: &str, new: &str) -> bool {
    let set =
        |title: &str| title.to_lowercase().split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
    let (old, new) = (set(old), set(new));
    let differing = old.symmetric_difference(&new).count();
    2 * differing > old.union(&new).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn titles_become_slugs() {
        let table = [
            ("Café Ünïcode — naïve", "cafe-unicode-naive"),
            ("ﬁne ①", "fine-1"),
            ("日本語", ""),
            ("  Use JWT -> now!  ", "use-jwt-now"),
            ("", ""),
        ];
        for (title, expected) in table {
            assert_eq!(slug(title), expected, "{title:?}");
        }
        assert_eq!(slug(&"ab-".repeat(40)).len(), 80);
        assert_eq!(slug(&format!("{}-x", "a".repeat(79))), "a".repeat(79));
    }

    #[test]
    fn a_slug_follows_its_title_only_when_most_words_changed() {
        let table = [
            ("use jwt", "use jwt", false),
            ("use jwt", "use paseto", true),
            ("use jwt for auth", "use jwt for login", false),
            ("", "", false),
            ("a b", "a b c d", false),
        ];
        for (old, new, expected) in table {
            assert_eq!(title_changed_enough_for_a_new_slug(old, new), expected, "{old:?} -> {new:?}");
        }
    }

    proptest! {
        #[test]
        fn a_slug_is_empty_or_well_formed(title in "\\PC*") {
            let slug = slug(&title);
            prop_assert!(slug.is_empty() || is_slug(&slug), "{slug:?}");
        }
    }
}
