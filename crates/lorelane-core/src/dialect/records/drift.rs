//! Compares a listing, which may have been edited, with the memory files.

use std::collections::HashMap;
use std::hash::Hash;

/// The paths that are missing from a listing or should not be in it. Both are empty for a correct listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Memories without a line.
    pub unlisted: Vec<String>,
    /// Lines that match no memory: it was removed or changed, or the line is a duplicate.
    pub stale: Vec<String>,
    /// The number of lines in the listing.
    pub listed: usize,
}

impl Drift {
    pub fn is_none(&self) -> bool {
        self.unlisted.is_empty() && self.stale.is_empty()
    }
}

/// Compares a listing's text with the expected lines. Order and header are ignored: the `claude-memory` scripts
/// sort in two ways. Whole lines are compared, so that a duplicate or an old title is found.
pub fn drift(text: &str, wanted: &[String]) -> Drift {
    let listed = text.lines().map(str::trim).filter(|line| line.starts_with("- ["));
    compare(listed, wanted.iter().map(String::as_str))
}

fn compare<L: AsRef<str> + Ord + Hash>(
    listed: impl Iterator<Item = L>,
    wanted: impl Iterator<Item = L>,
) -> Drift {
    let mut drift = Drift::default();
    // Counts, because removing each line from a list is quadratic, and a listing may have 100,000.
    let mut open: HashMap<L, usize> = HashMap::new();
    for line in wanted {
        *open.entry(line).or_default() += 1;
    }
    for line in listed {
        drift.listed += 1;
        match open.get_mut(&line) {
            Some(count) if *count > 0 => *count -= 1,
            _ => drift.stale.push(path_in(line.as_ref()).to_owned()),
        }
    }
    let mut unlisted: Vec<(L, usize)> = open.into_iter().filter(|(_, count)| *count > 0).collect();
    unlisted.sort_unstable();
    drift.unlisted = unlisted
        .into_iter()
        .flat_map(|(line, count)| std::iter::repeat_n(path_in(line.as_ref()).to_owned(), count))
        .collect();
    drift
}

/// The path in a line. A title written by the scripts may contain ` -> `; the last one precedes the path.
fn path_in(line: &str) -> &str {
    let line = line.rsplit_once(" #tags:").map_or(line, |(before, _)| before);
    line.rsplit_once(" -> ").map_or(line, |(_, path)| path).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps;
    use std::cmp::Ordering;
    use std::hash::Hasher;

    #[test]
    fn every_difference_but_the_order_is_seen() {
        let wanted =
            ["- [DECISION] B -> m/b.json".to_owned(), "- [RUNBOOK] A -> m/a.json #tags:x".to_owned()];
        let (b, a) = (wanted[0].as_str(), wanted[1].as_str());
        let evil = "- [DECISION] B - -> /etc/x #tags:y -> m/b.json #tags:z";
        let table: [(Vec<&str>, &[&str], &[&str]); 6] = [
            (vec!["# Memory Index", "", a, b], &[], &[]),
            (vec![a], &["m/b.json"], &[]),
            (vec![a, b, b], &[], &["m/b.json"]),
            (vec![a, evil], &["m/b.json"], &["m/b.json"]),
            (vec![a, b, "- [DECISION] C -> m/c.json"], &[], &["m/c.json"]),
            (vec![a, b, "- [nonsense"], &[], &["- [nonsense"]),
        ];
        for (lines, unlisted, stale) in table {
            let drift = drift(&lines.join("\n"), &wanted);
            let found = (drift.unlisted, drift.stale);
            let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            assert_eq!(found, (texts(unlisted), texts(stale)), "{lines:?}");
        }
    }

    /// A line that counts how often it is compared.
    struct Counted(String);

    impl Hash for Counted {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    impl Ord for Counted {
        fn cmp(&self, other: &Counted) -> Ordering {
            steps::add(1);
            self.0.cmp(&other.0)
        }
    }

    impl PartialOrd for Counted {
        fn partial_cmp(&self, other: &Counted) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl PartialEq for Counted {
        fn eq(&self, other: &Counted) -> bool {
            self.cmp(other).is_eq()
        }
    }

    impl Eq for Counted {}

    impl AsRef<str> for Counted {
        fn as_ref(&self) -> &str {
            &self.0
        }
    }

    #[test]
    fn a_very_long_listing_is_compared_line_by_line() {
        const LINES: usize = 20_000;
        let lines = |count| (0..count).map(|number| Counted(format!("- [DECISION] T -> m/{number:06}.json")));
        let mut drift = Drift::default();
        let looks = steps::of(|| drift = compare(lines(LINES), lines(LINES)));
        assert!(drift.is_none() && drift.listed == LINES);
        assert!(looks <= 3 * LINES, "{looks}");
        // The unlisted lines are sorted.
        let looks = steps::of(|| drift = compare(lines(0), lines(LINES)));
        assert_eq!(drift.unlisted.len(), LINES);
        assert!(looks <= 40 * LINES, "{looks}");
    }
}
