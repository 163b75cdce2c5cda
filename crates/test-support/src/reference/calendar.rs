//! Days and periods of a time zone. Computed with jiff, because the service's own calendar is under
//! test.

use std::sync::OnceLock;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

/// Every period with its letter in Redis keys.
pub const PERIODS: [(&str, char); 5] = [
    ("day", 'd'),
    ("week", 'w'),
    ("month", 'm'),
    ("year", 'y'),
    ("all", 'a'),
];

/// The calendar of one time zone.
#[derive(Clone)]
pub struct Calendar {
    /// The IANA name.
    pub name: &'static str,
    /// The time zone.
    pub zone: TimeZone,
}

impl Default for Calendar {
    fn default() -> Self {
        Self::new("UTC")
    }
}

impl Calendar {
    /// Creates the calendar of a time zone.
    ///
    /// # Panics
    ///
    /// Panics when the name is unknown.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            zone: TimeZone::get(name).expect("a time zone"),
        }
    }

    /// Returns the day of an instant in Unix milliseconds.
    pub fn date(&self, at: i64) -> Date {
        self.zone.to_datetime(timestamp(at)).date()
    }

    /// Returns the first instant of a day in Unix milliseconds.
    ///
    /// # Panics
    ///
    /// Panics outside jiff's range of dates, like all functions below.
    pub fn start(&self, date: Date) -> i64 {
        date.to_zoned(self.zone.clone())
            .and_then(|day| day.start_of_day())
            .expect("a day has a beginning")
            .timestamp()
            .as_millisecond()
    }

    /// Returns the `period` field of a response for the period that contains a day.
    pub fn period_json(&self, period: &str, date: Date, now: i64) -> Value {
        let bounds =
            bounds(period, date).map(|(first, after)| (self.start(first), self.start(after)));
        json!({
            "kind": period, "id": period_id(period, date), "timezone": self.name,
            "start": bounds.map(|(start, _)| timestamp(start).to_string()),
            "end": bounds.map(|(_, end)| timestamp(end).to_string()),
            "closed": bounds.is_some_and(|(_, end)| end <= now),
        })
    }
}

/// Returns the id of the period that contains a day.
///
/// # Panics
///
/// Panics when the period does not exist.
pub fn period_id(period: &str, date: Date) -> String {
    match period {
        "day" => date.to_string(),
        "week" => {
            let week = date.iso_week_date();
            format!("{:04}-W{:02}", week.year(), week.week())
        }
        "month" => date.strftime("%Y-%m").to_string(),
        "year" => date.strftime("%Y").to_string(),
        "all" => "all".to_owned(),
        other => panic!("unknown period {other}"),
    }
}

/// Returns the first day of the period that contains a day, and the first day after it.
///
/// # Panics
///
/// Panics when a day is out of range.
pub fn bounds(period: &str, date: Date) -> Option<(Date, Date)> {
    let (first, length) = match period {
        "day" => (date, 1.day()),
        "week" => (
            date.iso_week_date()
                .first_of_week()
                .expect("a Monday")
                .date(),
            7.days(),
        ),
        "month" => (date.first_of_month(), 1.month()),
        "year" => (date.first_of_year(), 1.year()),
        _ => return None,
    };
    assert!(period != "week" || first.weekday() == Weekday::Monday);
    Some((first, first.checked_add(length).expect("a later day")))
}

/// Returns a time zone in which it is about noon, so that no day ends during a test.
pub fn noon_zone() -> &'static str {
    static ZONE: OnceLock<String> = OnceLock::new();
    ZONE.get_or_init(
        || match 12 - Timestamp::now().to_zoned(TimeZone::UTC).hour() {
            0 => "UTC".to_owned(),
            // Offsets of these zones count westwards: Etc/GMT-3 is three hours ahead of UTC.
            east @ 1.. => format!("Etc/GMT-{east}"),
            west => format!("Etc/GMT+{}", -west),
        },
    )
}

/// Returns the time of the host's clock, which the Worker uses too, in Unix milliseconds.
pub fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Formats an instant for the field `at`.
pub fn rfc3339(at: i64) -> String {
    timestamp(at).to_string()
}

fn timestamp(at: i64) -> Timestamp {
    Timestamp::from_millisecond(at).expect("an instant")
}
