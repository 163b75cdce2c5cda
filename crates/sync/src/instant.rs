//! Instants as databases and exports write them.

use std::ops::Range;

use activity_rank_core::calendar::Instant;
use jiff::Zoned;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

/// Unix time in seconds, and in milliseconds, of the years 2001 to 2286. Any other whole number may be a date without
/// separators, a year, or a day of a spreadsheet.
const SECONDS: Range<i64> = 1_000_000_000..10_000_000_000;
const MILLISECONDS: Range<i64> = 1_000_000_000_000..10_000_000_000_000;

/// How the instants of a source are written.
#[derive(Clone, Debug, Default)]
pub struct InstantFormat {
    /// Format of `strptime`; RFC 3339, what databases print and Unix time are read without one.
    pub format: Option<String>,
    /// The time zone of instants that do not name theirs.
    pub zone: Option<TimeZone>,
}

impl InstantFormat {
    /// Parses an instant, to the millisecond.
    ///
    /// # Errors
    ///
    /// Returns what is missing or expected.
    pub fn parse(&self, text: &str) -> Result<Instant, String> {
        let text = text.trim();
        let millis = match &self.format {
            Some(format) => self.parse_as(format, text)?,
            None => self.parse_common(text)?,
        };
        let at = Instant(millis);
        match at.is_readable() {
            true => Ok(at),
            false => Err(format!("at: '{text}' is not in the years 1 to 9999")),
        }
    }

    fn parse_as(&self, format: &str, text: &str) -> Result<i64, String> {
        let invalid = |_| format!("at: '{text}' does not have the format '{format}'");
        let parsed = strtime::parse(format, text).map_err(invalid)?;
        if parsed.offset().is_some() || parsed.iana_time_zone().is_some() {
            return Ok(parsed.to_timestamp().map_err(invalid)?.as_millisecond());
        }
        if let Ok(timestamp) = parsed.to_timestamp() {
            return Ok(timestamp.as_millisecond());
        }
        let local = parsed.to_datetime();
        // A format of a day alone means its first moment.
        let local = local.or_else(|_| parsed.to_date().map(DateTime::from));
        self.local(local.map_err(invalid)?, text)
    }

    fn parse_common(&self, text: &str) -> Result<i64, String> {
        let invalid = |what: &str| format!("at: '{text}' is no {what}: --date-format describes it");
        if let Ok(number) = text.parse::<i64>() {
            return match number {
                number if MILLISECONDS.contains(&number) => Ok(number),
                number if SECONDS.contains(&number) => Ok(number * 1000),
                _ => Err(invalid("Unix time of 2001 or later")),
            };
        }
        // A time zone in brackets, which the parsers of other instants would leave out.
        if text.ends_with(']') {
            let zoned = text.parse::<Zoned>();
            let zoned = zoned.map_err(|_| invalid("instant in its time zone"))?;
            return Ok(zoned.timestamp().as_millisecond());
        }
        if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
            return Ok(timestamp.as_millisecond());
        }
        // PostgreSQL writes whole hours as +01.
        let hours = text.split_at_checked(text.len().saturating_sub(3));
        let is_short = |zone: &str| {
            let digits = zone.strip_prefix(['+', '-']).unwrap_or_default();
            digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if hours.is_some_and(|(time, zone)| time.contains(':') && is_short(zone))
            && let Ok(timestamp) = format!("{text}:00").parse::<jiff::Timestamp>()
        {
            return Ok(timestamp.as_millisecond());
        }
        let local = text.parse::<DateTime>();
        self.local(local.map_err(|_| invalid("instant"))?, text)
    }

    fn local(&self, local: DateTime, text: &str) -> Result<i64, String> {
        let zone = self.zone.clone();
        let zone =
            zone.ok_or_else(|| format!("at: '{text}' has no time zone: --timezone names it"))?;
        let zoned = local.to_zoned(zone);
        let invalid = |_| format!("at: '{text}' does not exist");
        Ok(zoned.map_err(invalid)?.timestamp().as_millisecond())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(format: Option<&str>, zone: Option<&str>, text: &str) -> Result<String, String> {
        let zone = zone.map(|zone| TimeZone::get(zone).unwrap());
        let format = format.map(str::to_owned);
        InstantFormat { format, zone }
            .parse(text)
            .map(|at| at.to_string())
    }

    #[test]
    fn instants_of_databases_are_read() {
        for (text, expected) in [
            ("2026-11-20T08:00:00Z", "2026-11-20T08:00:00Z"),
            ("2026-11-20 08:00:00.123456+00", "2026-11-20T08:00:00.123Z"),
            ("2026-11-20 08:00:00-05", "2026-11-20T13:00:00Z"),
            ("2026-11-20 08:00:00+05:30", "2026-11-20T02:30:00Z"),
            ("1795132800", "2026-11-20T00:00:00Z"),
            ("1795132800123", "2026-11-20T00:00:00.123Z"),
        ] {
            assert_eq!(parse(None, None, text).as_deref(), Ok(expected), "{text}");
        }
    }

    /// Of an hour that a clock shows twice the first one, and after a gap the instant behind it.
    #[test]
    fn local_time_needs_a_zone() {
        let berlin = Some("Europe/Berlin");
        let (minute, zoned) = (Some("%d.%m.%Y %H:%M"), Some("%Y-%m-%d %H:%M %z"));
        for (format, text, expected) in [
            (None, "2026-11-20 08:00:00", "2026-11-20T07:00:00Z"),
            (None, "2026-07-01T08:00:00.5", "2026-07-01T06:00:00.500Z"),
            (None, "2026-10-25 02:30:00", "2026-10-25T00:30:00Z"),
            (None, "2026-03-29 02:30:00", "2026-03-29T01:30:00Z"),
            (minute, "20.11.2026 08:00", "2026-11-20T07:00:00Z"),
            (Some("%d.%m.%Y"), "20.11.2026", "2026-11-19T23:00:00Z"),
            (zoned, "2026-11-20 08:00 +0000", "2026-11-20T08:00:00Z"),
        ] {
            let found = parse(format, berlin, text);
            assert_eq!(found.as_deref(), Ok(expected), "{text}");
        }
        let missing = "at: '2026-11-20 08:00:00' has no time zone: --timezone names it";
        let found = parse(None, None, "2026-11-20 08:00:00");
        assert_eq!(found.unwrap_err(), missing);
        let zone = "2026-11-20T10:00:00[Europe/Berlin]";
        assert_eq!(
            parse(None, Some("UTC"), zone).as_deref(),
            Ok("2026-11-20T09:00:00Z")
        );
        let (number, zone) = ("Unix time of 2001 or later", "instant in its time zone");
        for (text, expected) in [
            ("soon", "instant"),
            ("20261129", number),
            ("202611291030", number),
            ("20261129103000", number),
            ("2026", number),
            ("46355", number),
            ("0", number),
            ("-1", number),
            ("-9223372036854775808", number),
            ("2026-11-20T10:00:00[Europe/Nowhere]", zone),
            ("2026-11-20T10:00:00+05:00[Europe/Berlin]", zone),
        ] {
            let invalid = format!("at: '{text}' is no {expected}: --date-format describes it");
            assert_eq!(parse(None, berlin, text), Err(invalid));
        }
    }
}
