//! Points in time, parsed and formatted as RFC 3339.

use super::date::{Date, digits};
use std::fmt;

/// Milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub i64);

/// 0001-01-02T00:00:00Z: no time zone's local year is below 1 from here on.
const EARLIEST: Instant = Instant(-62_135_510_400_000);

/// 9999-12-31T23:59:59.999Z: later years have five digits, which no parser of RFC 3339 reads.
const LATEST: Instant = Instant(253_402_300_799_999);

impl Instant {
    /// Parses an RFC 3339 date-time with `Z` or a numeric offset.
    ///
    /// Truncates the fraction to milliseconds. A leap second becomes the following second. Returns
    /// `None` before 0001-01-02 UTC, which is a year below 1 in some time zones, and from the year 10000 UTC on.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (day, time) = text.split_at_checked(10)?;
        let date = Date::parse(day)?;
        let time = time.strip_prefix(['T', 't'])?;
        let (clock, rest) = time.split_at_checked(8)?;
        let (fraction, zone) = split_fraction(rest)?;
        let [hour, minute, second] = pairs(clock)?;
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let seconds = i64::from(hour * 3600 + minute * 60 + second) - offset_seconds(zone)?;
        let at = Self(date.local_millis() + seconds * 1000 + i64::from(fraction));
        at.is_readable().then_some(at)
    }

    /// Returns whether [`Self::parse`] reads the text of this instant.
    #[must_use]
    pub fn is_readable(self) -> bool {
        (EARLIEST..=LATEST).contains(&self)
    }
}

impl fmt::Display for Instant {
    /// Formats the instant as RFC 3339 in UTC; the fraction is omitted if it is zero.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = Date::from_local_millis(self.0);
        let millis = self.0.rem_euclid(Date::MILLIS);
        let (seconds, millis) = (millis / 1000, millis % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{date}T{hour:02}:{minute:02}:{second:02}")?;
        if millis > 0 {
            write!(f, ".{millis:03}")?;
        }
        f.write_str("Z")
    }
}

/// Splits a fraction such as `.5` from the text after it; returns the fraction in milliseconds.
fn split_fraction(rest: &str) -> Option<(u32, &str)> {
    let Some(after) = rest.strip_prefix('.') else {
        return Some((0, rest));
    };
    let end = after.find(|c: char| !c.is_ascii_digit())?;
    let (fraction, zone) = after.split_at_checked(end)?;
    if fraction.is_empty() {
        return None;
    }
    let padded: Vec<u8> = fraction.bytes().chain([b'0'; 3]).take(3).collect();
    Some((digits(&padded)?, zone))
}

/// Parses two-digit numbers separated by colons.
fn pairs<const N: usize>(text: &str) -> Option<[u32; N]> {
    let mut numbers = [0; N];
    let mut parts = text.split(':');
    for number in &mut numbers {
        *number = digits(parts.next().filter(|part| part.len() == 2)?.as_bytes())?;
    }
    parts.next().is_none().then_some(numbers)
}

fn offset_seconds(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let east = zone.starts_with('+');
    let [hours, minutes] = pairs(zone.strip_prefix(['+', '-'])?)?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = i64::from(hours * 3600 + minutes * 60);
    Some(if east { seconds } else { -seconds })
}
