//! Points in time as values: the core never asks what time it is.

use std::fmt;

pub const DAY: i64 = 86_400;

/// Seconds since 1970-01-01T00:00:00Z. Written as `YYYY-MM-DDTHH:MM:SSZ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// How much of a written time its author left to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Date, time and offset: one reading only.
    Exact,
    /// No offset, or no time at all: read as UTC, at midnight when the time is missing.
    Naive,
}

impl Timestamp {
    /// A moment in the past as people type it: `12h`, `30d`, `2w` or a date.
    pub fn typed(text: &str, now: Timestamp) -> Option<Timestamp> {
        if let Some((at, _)) = Timestamp::parse(text) {
            return Some(at);
        }
        let (count, unit) = [("h", 3_600), ("d", DAY), ("w", 7 * DAY)]
            .into_iter()
            .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
        let count: i64 = count.parse().ok()?;
        Some(Timestamp(now.0.saturating_sub(count.saturating_mul(unit))))
    }

    /// Reads RFC 3339 and its usual relatives (a blank for the `T`, no seconds, no offset, a bare date).
    pub fn parse(text: &str) -> Option<(Timestamp, Precision)> {
        let bytes = text.as_bytes();
        if !text.is_ascii() || bytes.len() < 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let (year, month, day) =
            (number(&bytes[..4], 0..=9999)?, number(&bytes[5..7], 1..=12)?, number(&bytes[8..10], 1..=31)?);
        let midnight = days_from_civil(year, month, day) * DAY;
        let rest = &bytes[10..];
        if rest.is_empty() {
            return Some((Timestamp(midnight), Precision::Naive));
        }
        if !matches!(rest[0], b'T' | b't' | b' ') || rest.len() < 6 || rest[3] != b':' {
            return None;
        }
        let (hour, minute) = (number(&rest[1..3], 0..=23)?, number(&rest[4..6], 0..=59)?);
        let mut rest = &rest[6..];
        let mut second = 0;
        if rest.first() == Some(&b':') {
            second = number(rest.get(1..3)?, 0..=60)?;
            rest = &rest[3..];
            if rest.first() == Some(&b'.') {
                let digits = rest[1..].iter().take_while(|b| b.is_ascii_digit()).count();
                if digits == 0 {
                    return None;
                }
                rest = &rest[1 + digits..];
            }
        }
        let local = midnight + hour * 3600 + minute * 60 + second;
        let (offset, precision) = match rest {
            [] => (0, Precision::Naive),
            b"Z" | b"z" => (0, Precision::Exact),
            [sign @ (b'+' | b'-'), zone @ ..] => {
                let (hours, minutes) = match zone {
                    [_, _, b':', _, _] => (&zone[..2], &zone[3..]),
                    [_, _, _, _] => (&zone[..2], &zone[2..]),
                    _ => return None,
                };
                let seconds = number(hours, 0..=23)? * 3600 + number(minutes, 0..=59)? * 60;
                (if *sign == b'-' { -seconds } else { seconds }, Precision::Exact)
            }
            _ => return None,
        };
        Some((Timestamp(local - offset), precision))
    }

    /// Whole days from `earlier` to `self`; negative when `earlier` is later.
    pub fn days_since(self, earlier: Timestamp) -> i64 {
        (self.0 - earlier.0).div_euclid(DAY)
    }

    pub fn year_and_month(self) -> (i64, i64) {
        let (year, month, _) = civil_from_days(self.0.div_euclid(DAY));
        (year, month)
    }

    pub fn date(self) -> String {
        self.to_string()[..10].to_owned()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

fn number(digits: &[u8], range: std::ops::RangeInclusive<i64>) -> Option<i64> {
    let mut value = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    range.contains(&value).then_some(value)
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so that
/// the leap day is the last day of a year and needs no case of its own.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_moment_is_a_date_or_so_long_ago() {
        let now = Timestamp(20 * DAY);
        for (text, expected) in [
            ("12h", Some(20 * DAY - 43_200)),
            ("3d", Some(17 * DAY)),
            ("2w", Some(6 * DAY)),
            ("1970-01-03", Some(2 * DAY)),
            ("9999999999999999999d", None),
            ("9000000000000000000d", Some((20 * DAY).saturating_sub(i64::MAX))),
            ("d", None),
            ("3 d", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(Timestamp::typed(text, now), expected.map(Timestamp), "{text}");
        }
    }

    #[test]
    fn written_times_are_read_in_every_usual_form() {
        let table = [
            ("1970-01-01T00:00:00Z", Some((0, Precision::Exact))),
            ("2024-02-29T12:00:00Z", Some((1_709_208_000, Precision::Exact))),
            ("2024-02-29T12:00:00.123456+00:00", Some((1_709_208_000, Precision::Exact))),
            ("2024-02-29 14:00:00+0200", Some((1_709_208_000, Precision::Exact))),
            ("2024-02-29T12:00", Some((1_709_208_000, Precision::Naive))),
            ("2024-02-29", Some((1_709_164_800, Precision::Naive))),
            ("2024-13-01", None),
            ("2024-02-29T25:00:00Z", None),
            ("2024-02-29T12:00:00.Z", None),
            ("yesterday", None),
            ("２０２４-02-29", None),
            ("", None),
        ];
        for (text, expected) in table {
            let read = Timestamp::parse(text).map(|(at, precision)| (at.0, precision));
            assert_eq!(read, expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_time_reads_back_as_it_was_written(seconds in -62_135_596_800i64..253_402_300_799) {
            let at = Timestamp(seconds);
            prop_assert_eq!(Timestamp::parse(&at.to_string()), Some((at, Precision::Exact)));
        }

        #[test]
        fn any_text_is_read_without_panic(text in "\\PC*") {
            let _ = Timestamp::parse(&text);
        }
    }
}
