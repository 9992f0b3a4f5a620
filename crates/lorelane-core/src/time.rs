//! Points in time as values: core never reads the clock.
//!
//! The calendar is jiff's, without its time zone database and its clock. The grammar is the one that the schemas
//! publish: jiff's own parser accepts forms that no file has (`20260131`, an hour without minutes, `[UTC]`) and
//! rejects fractions of more than nine digits. A time costs 270 instructions to read (316 with our own calendar)
//! and 1,050 to write (2,740).

use crate::json::as_text;
use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use std::fmt;

pub const DAY: i64 = 86_400;
const EPOCH: DateTime = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);
/// The first second of the year 0 and the last of 9999: the range of four-digit years.
const WRITABLE: (i64, i64) = (-62_167_219_200, 253_402_300_799);

/// Seconds since 1970-01-01T00:00:00Z. Written as `YYYY-MM-DDTHH:MM:SSZ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// How complete a written time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Date, time and offset.
    Exact,
    /// No offset, or no time: read as UTC, at midnight if the time is missing.
    Naive,
}

/// Why a text is not a time, phrased to follow "it is".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeFault {
    /// It does not have the form of a time.
    #[error("not a valid time")]
    Form,
    /// It has the form, but there is no such date: `2026-02-31`.
    #[error("a date that does not exist")]
    Date,
}

impl Timestamp {
    /// A time in the past as people type it: `12h`, `30d`, `2w` or a date.
    pub fn typed(text: &str, now: Timestamp) -> Result<Timestamp, TimeFault> {
        match Timestamp::read(text) {
            Err(TimeFault::Form) => ago(text, now).ok_or(TimeFault::Form),
            read => read.map(|(at, _)| at),
        }
    }

    /// Reads RFC 3339 and its common variants (a space for the `T`, no seconds, no offset, a bare date).
    pub fn parse(text: &str) -> Option<(Timestamp, Precision)> {
        Timestamp::read(text).ok()
    }

    /// [`Timestamp::parse`] with the reason, for error messages.
    pub fn read(text: &str) -> Result<(Timestamp, Precision), TimeFault> {
        let written = DateParts::read(text.as_bytes()).ok_or(TimeFault::Form)?;
        let (year, month, day) = written.date;
        let date = Date::new(year, month, day).map_err(|_| TimeFault::Date)?;
        let midnight = date.duration_since(EPOCH.date()).as_secs();
        let offset = written.offset.unwrap_or(0);
        let precision = if written.offset.is_some() { Precision::Exact } else { Precision::Naive };
        Ok((Timestamp(midnight + written.second - offset), precision))
    }

    /// Whole days from `earlier` to `self`; negative if `earlier` is later.
    pub fn days_since(self, earlier: Timestamp) -> i64 {
        (self.0 - earlier.0).div_euclid(DAY)
    }

    pub fn year_and_month(self) -> (i64, i64) {
        let date = self.civil().date();
        (i64::from(date.year()), i64::from(date.month()))
    }

    pub fn date(self) -> String {
        self.civil().date().to_string()
    }

    /// A time outside of the writable range becomes the nearest one inside it.
    fn civil(self) -> DateTime {
        EPOCH.saturating_add(SignedDuration::from_secs(self.0.clamp(WRITABLE.0, WRITABLE.1)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Z", self.civil())
    }
}

as_text!(Timestamp, |text| Timestamp::parse(text).map(|(at, _)| at));

fn ago(text: &str, now: Timestamp) -> Option<Timestamp> {
    let (count, unit) = [("h", 3_600), ("d", DAY), ("w", 7 * DAY)]
        .into_iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    let count: i64 = count.parse().ok()?;
    Some(Timestamp(now.0.saturating_sub(count.saturating_mul(unit))))
}

/// The fields of a written time, whether or not its date exists.
struct DateParts {
    /// Year, month, day.
    date: (i16, i8, i8),
    /// Since midnight; second 60 of a minute is the first second of the next.
    second: i64,
    /// East of UTC, in seconds.
    offset: Option<i64>,
}

impl DateParts {
    fn read(text: &[u8]) -> Option<DateParts> {
        let (&[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2], clock) = text.split_first_chunk()? else {
            return None;
        };
        let year = i16::try_from(number(&[y1, y2, y3, y4], 9999)?).ok()?;
        let two = |a: u8, b: u8| i8::try_from(number(&[a, b], 99)?).ok();
        let date = (year, two(m1, m2)?, two(d1, d2)?);
        if clock.is_empty() {
            return Some(DateParts { date, second: 0, offset: None });
        }
        let (&[b'T' | b't' | b' ', h1, h2, b':', m1, m2], mut rest) = clock.split_first_chunk()? else {
            return None;
        };
        let mut second = number(&[h1, h2], 23)? * 3600 + number(&[m1, m2], 59)? * 60;
        if let [b':', s1, s2, more @ ..] = rest {
            second += number(&[*s1, *s2], 60)?;
            rest = without_fraction(more)?;
        }
        Some(DateParts { date, second, offset: read_offset(rest)? })
    }
}

/// Skips fractions of a second: a [`Timestamp`] has none.
fn without_fraction(text: &[u8]) -> Option<&[u8]> {
    let [b'.', digits @ ..] = text else { return Some(text) };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then_some(&digits[count..])
}

fn read_offset(text: &[u8]) -> Option<Option<i64>> {
    let (sign, hours, minutes) = match text {
        [] => return Some(None),
        b"Z" | b"z" => return Some(Some(0)),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] | [sign @ (b'+' | b'-'), h1, h2, m1, m2] => {
            (sign, [*h1, *h2], [*m1, *m2])
        }
        _ => return None,
    };
    let seconds = number(&hours, 23)? * 3600 + number(&minutes, 59)? * 60;
    Some(Some(if *sign == b'-' { -seconds } else { seconds }))
}

fn number(digits: &[u8], max: i64) -> Option<i64> {
    let mut value = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    (value <= max).then_some(value)
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
            assert_eq!(Timestamp::typed(text, now).ok(), expected.map(Timestamp), "{text}");
        }
        assert_eq!(Timestamp::typed("1970-02-31", now), Err(TimeFault::Date));
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

    // Every month had 31 days: `2026-02-31` was stored and counted as 3 March (finding 13).
    #[test]
    fn a_date_that_does_not_exist_is_told_from_what_is_no_time() {
        for (text, expected) in [
            ("2026-02-31T00:00:00Z", Some(TimeFault::Date)),
            ("2026-02-29", Some(TimeFault::Date)),
            ("2024-02-29", None),
            ("1900-02-29", Some(TimeFault::Date)),
            ("2000-02-29", None),
            ("0000-02-29", None),
            ("2026-04-31 09:00", Some(TimeFault::Date)),
            ("2026-00-10", Some(TimeFault::Date)),
            ("2026-13-01", Some(TimeFault::Date)),
            ("2026-01-00", Some(TimeFault::Date)),
            ("2026-01-32", Some(TimeFault::Date)),
            ("2026-02-31T25:00:00Z", Some(TimeFault::Form)),
            ("2026-02-31 or so", Some(TimeFault::Form)),
            ("2026-2-31", Some(TimeFault::Form)),
        ] {
            assert_eq!(Timestamp::read(text).err(), expected, "{text}");
        }
    }

    #[test]
    fn the_ends_of_what_can_be_written() {
        for (seconds, expected) in [
            (WRITABLE.0, "0000-01-01T00:00:00Z"),
            (WRITABLE.1, "9999-12-31T23:59:59Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (i64::MIN, "0000-01-01T00:00:00Z"),
            (i64::MAX, "9999-12-31T23:59:59Z"),
        ] {
            let at = Timestamp(seconds);
            assert_eq!(
                (at.to_string().as_str(), at.date().as_str()),
                (expected, &expected[..10]),
                "{seconds}"
            );
        }
        let (last, _) = Timestamp::parse("9999-12-31T23:59:60-23:59").expect("a time");
        assert_eq!(last.0, WRITABLE.1 + 1 + 86_340);
    }

    proptest! {
        #[test]
        fn a_time_reads_back_as_it_was_written(seconds in WRITABLE.0..=WRITABLE.1) {
            let at = Timestamp(seconds);
            prop_assert_eq!(Timestamp::parse(&at.to_string()), Some((at, Precision::Exact)));
        }

        #[test]
        fn any_text_is_read_without_panic(text in "\\PC*") {
            let _ = Timestamp::parse(&text);
        }
    }
}
