//! Edits of a listing's text: one line out, one line in, every other byte stays.

use memchr::memmem;

/// A line of a listing. `key` orders it; no two memories of a lane have the same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListingLine {
    pub key: String,
    pub text: String,
}

/// Removes a line. `None` if the listing does not have it.
#[must_use]
pub fn remove_line(listing: &mut Vec<u8>, line: &str) -> Option<()> {
    let begin = start_of(listing, line)?;
    listing.drain(begin..=begin + line.len());
    Some(())
}

/// Inserts a line before another one, or at the end. `None` if the listing does not have the other one.
#[must_use]
pub fn insert_line(listing: &mut Vec<u8>, line: &str, before: Option<&str>) -> Option<()> {
    let at = match before {
        Some(before) => start_of(listing, before)?,
        None => listing.len(),
    };
    listing.splice(at..at, line.bytes().chain([b'\n']));
    Some(())
}

/// Where a line begins. The header is above all lines, so each has a line break before it.
fn start_of(listing: &[u8], line: &str) -> Option<usize> {
    memmem::find(listing, format!("\n{line}\n").as_bytes()).map(|line_break| line_break + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "# Listing\n\n- a\n- ab\n- b\n";

    #[test]
    fn a_line_is_removed_as_a_whole_and_no_other() {
        for (line, expected) in [
            ("- a", Some("# Listing\n\n- ab\n- b\n")),
            ("- ab", Some("# Listing\n\n- a\n- b\n")),
            ("- b", Some("# Listing\n\n- a\n- ab\n")),
            ("- ", None),
            ("a", None),
            ("- c", None),
        ] {
            let mut listing = LISTING.as_bytes().to_vec();
            let removed = remove_line(&mut listing, line);
            assert_eq!(removed.map(|()| String::from_utf8(listing).unwrap()).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_line_is_inserted_before_another_or_at_the_end() {
        for (before, expected) in [
            (Some("- a"), Some("# Listing\n\n- x\n- a\n- ab\n- b\n")),
            (Some("- b"), Some("# Listing\n\n- a\n- ab\n- x\n- b\n")),
            (None, Some("# Listing\n\n- a\n- ab\n- b\n- x\n")),
            (Some("- "), None),
        ] {
            let mut listing = LISTING.as_bytes().to_vec();
            let inserted = insert_line(&mut listing, "- x", before);
            assert_eq!(
                inserted.map(|()| String::from_utf8(listing).unwrap()).as_deref(),
                expected,
                "{before:?}"
            );
        }
    }
}
