//! Whether a memory is still true, according to its own file.
//!
//! A memory that is not current is never shown as if it were: not in a reminder, and in a search it is marked and
//! comes after everything current. It stays active, so lists and links still have it.

use crate::json::{Json, Object};
use crate::time::{DAY, Timestamp};
use std::fmt;

/// Why a memory is not current.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotCurrent {
    Superseded,
    Deprecated,
    Resolved,
    WontFix,
    /// `active: false`.
    Inactive,
    /// The day of `expires` is over.
    Expired,
    /// The file has conflict markers of git: it says two things at once.
    Conflicted,
}

impl NotCurrent {
    pub const ALL: [NotCurrent; 7] = [
        NotCurrent::Superseded,
        NotCurrent::Deprecated,
        NotCurrent::Resolved,
        NotCurrent::WontFix,
        NotCurrent::Inactive,
        NotCurrent::Expired,
        NotCurrent::Conflicted,
    ];

    pub fn name(self) -> &'static str {
        match self {
            NotCurrent::Superseded => "superseded",
            NotCurrent::Deprecated => "deprecated",
            NotCurrent::Resolved => "resolved",
            NotCurrent::WontFix => "wont_fix",
            NotCurrent::Inactive => "inactive",
            NotCurrent::Expired => "expired",
            NotCurrent::Conflicted => "conflicted",
        }
    }

    pub fn parse(name: &str) -> Option<NotCurrent> {
        NotCurrent::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// The explanation that `lorelane why` prints.
    pub fn says(self) -> &'static str {
        match self {
            NotCurrent::Superseded => "it is superseded (status)",
            NotCurrent::Deprecated => "it is deprecated (status)",
            NotCurrent::Resolved => "it is resolved (status)",
            NotCurrent::WontFix => "it will not be fixed (status: wont_fix)",
            NotCurrent::Inactive => "it is inactive (active: false)",
            NotCurrent::Expired => "it has expired (the date in `expires` has passed)",
            NotCurrent::Conflicted => "its file has conflict markers of git: resolve the conflict",
        }
    }

    /// A status that ends a memory. People write notes by hand, so case and separators make no difference.
    pub fn of_status(status: &str) -> Option<NotCurrent> {
        let status = status.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        let ends =
            [NotCurrent::Superseded, NotCurrent::Deprecated, NotCurrent::Resolved, NotCurrent::WontFix];
        ends.into_iter().find(|rule| rule.name() == status)
    }
}

impl fmt::Display for NotCurrent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a file says about how long its memory is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validity {
    /// Why it is not current, whatever the time.
    pub ended: Option<NotCurrent>,
    /// The first second at which it is no longer current.
    pub expires: Option<Timestamp>,
}

impl Validity {
    /// From the status, the flag `active` and the text `expires` of a memory, where it has them.
    pub fn new(status: Option<&str>, active: Option<bool>, expires: Option<&str>) -> Validity {
        let inactive = (active == Some(false)).then_some(NotCurrent::Inactive);
        Validity {
            ended: status.and_then(NotCurrent::of_status).or(inactive),
            expires: expires.and_then(end_of_day),
        }
    }

    /// From the content of a record. Only some categories have these fields, but a file that has one means it.
    pub fn of_content(content: &Object) -> Validity {
        let active = content.get("active").and_then(Json::as_bool);
        Validity::new(content.text("status"), active, content.text("expires"))
    }

    /// Why the memory is not current now, if it is not.
    pub fn at(self, now: Timestamp) -> Option<NotCurrent> {
        let expired = self.expires.is_some_and(|end| now >= end).then_some(NotCurrent::Expired);
        self.ended.or(expired)
    }
}

/// The end of the day of an ISO date or time, in UTC. Any other text, such as "after the release", never ends.
fn end_of_day(text: &str) -> Option<Timestamp> {
    let (at, _) = Timestamp::parse(text.trim())?;
    Some(Timestamp((at.0.div_euclid(DAY) + 1) * DAY))
}

/// Whether a text has the three conflict markers of git, in order and at the start of their lines. A note that
/// quotes a whole conflict cannot be told from one that has it.
pub fn is_conflicted(text: &str) -> bool {
    if !text.contains("<<<<<<< ") {
        return false;
    }
    let is_marker: [fn(&str) -> bool; 3] =
        [|line| line.starts_with("<<<<<<< "), |line| line == "=======", |line| line.starts_with(">>>>>>> ")];
    let mut wanted = is_marker.iter().peekable();
    for line in text.lines() {
        wanted.next_if(|is_marker| is_marker(line));
    }
    wanted.peek().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_read_back() {
        for rule in NotCurrent::ALL {
            assert_eq!(NotCurrent::parse(rule.name()), Some(rule));
        }
    }

    #[test]
    fn what_a_file_says_decides() {
        let table = [
            (None, None, None),
            (Some("accepted"), Some(true), None),
            (Some("superseded"), None, Some(NotCurrent::Superseded)),
            (Some(" Deprecated"), None, Some(NotCurrent::Deprecated)),
            (Some("resolved"), None, Some(NotCurrent::Resolved)),
            (Some("won't fix"), None, None),
            (Some("Wont-Fix"), None, Some(NotCurrent::WontFix)),
            // No status says these.
            (Some("expired"), None, None),
            (Some("conflicted"), None, None),
            (None, Some(false), Some(NotCurrent::Inactive)),
            (Some("superseded"), Some(false), Some(NotCurrent::Superseded)),
        ];
        for (status, active, expected) in table {
            let found = Validity::new(status, active, None).at(Timestamp(0));
            assert_eq!(found, expected, "{status:?} {active:?}");
        }
    }

    #[test]
    fn a_date_expires_at_the_end_of_its_day_and_other_text_never_does() {
        let end = Timestamp::parse("2026-02-01T00:00:00Z").unwrap().0;
        let table = [
            ("2026-01-31", Some(end)),
            (" 2026-01-31 ", Some(end)),
            ("2026-01-31T08:00:00Z", Some(end)),
            // Already the next day in UTC.
            ("2026-01-31T23:00:00-05:00", Some(Timestamp(end.0 + DAY))),
            ("2026-02-31", None),
            ("31.01.2026", None),
            ("2026", None),
            ("when the migration is done", None),
            ("", None),
        ];
        for (text, expected) in table {
            let validity = Validity::new(None, None, Some(text));
            assert_eq!(validity.expires, expected, "{text}");
            if let Some(end) = expected {
                assert_eq!(validity.at(Timestamp(end.0 - 1)), None, "{text}");
                assert_eq!(validity.at(end), Some(NotCurrent::Expired), "{text}");
            }
        }
    }

    #[test]
    fn a_conflict_has_its_three_markers_in_order() {
        let table = [
            ("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n", true),
            ("<<<<<<< HEAD\r\nb\r\n=======\r\nc\r\n>>>>>>> other\r\n", true),
            ("<<<<<<< HEAD\nb\n||||||| base\nx\n=======\nc\n>>>>>>> other", true),
            ("Title\n=======\n\ntext\n", false),
            ("the marker is `<<<<<<< HEAD`, then =======, then `>>>>>>> other`", false),
            ("<<<<<<< HEAD\nb\n", false),
            (">>>>>>> other\n=======\n<<<<<<< HEAD\n", false),
            (" <<<<<<< HEAD\n =======\n >>>>>>> other\n", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_conflicted(text), expected, "{text:?}");
        }
    }
}
