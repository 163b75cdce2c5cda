//! Days and periods of a time zone, by jiff: the service's own calendar is under test.

use std::sync::OnceLock;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

/// Every kind of period, and the letter that stands for it in Redis.
pub const KINDS: [(&str, char); 5] = [
    ("day", 'd'),
    ("week", 'w'),
    ("month", 'm'),
    ("year", 'y'),
    ("all", 'a'),
];

/// A time zone.
#[derive(Clone)]
pub struct Calendar {
    /// As IANA has it.
    pub name: &'static str,
    /// Its rules.
    pub zone: TimeZone,
}

impl Calendar {
    /// That of a time zone.
    ///
    /// # Panics
    ///
    /// When there is none of that name.
    #[must_use]
    pub fn of(name: &'static str) -> Self {
        Self {
            name,
            zone: TimeZone::get(name).expect("a time zone"),
        }
    }

    /// The day an instant (Unix milliseconds) falls on.
    #[must_use]
    pub fn date(&self, at: i64) -> Date {
        self.zone.to_datetime(timestamp(at)).date()
    }

    /// The first instant of a day.
    ///
    /// # Panics
    ///
    /// At the ends of time, like all that follow.
    #[must_use]
    pub fn start(&self, date: Date) -> i64 {
        date.to_zoned(self.zone.clone())
            .and_then(|day| day.start_of_day())
            .expect("a day has a beginning")
            .timestamp()
            .as_millisecond()
    }

    /// The `period` of an answer, of the period instance that contains a day.
    #[must_use]
    pub fn view(&self, kind: &str, date: Date, now: i64) -> Value {
        let bounds =
            bounds(kind, date).map(|(first, after)| (self.start(first), self.start(after)));
        json!({
            "kind": kind, "id": id(kind, date), "timezone": self.name,
            "start": bounds.map(|(start, _)| timestamp(start).to_string()),
            "end": bounds.map(|(_, end)| timestamp(end).to_string()),
            "closed": bounds.is_some_and(|(_, end)| end <= now),
        })
    }
}

/// The id of the period instance that contains a day.
///
/// # Panics
///
/// When there is no such kind of period.
#[must_use]
pub fn id(kind: &str, date: Date) -> String {
    match kind {
        "day" => date.to_string(),
        "week" => {
            let week = date.iso_week_date();
            format!("{:04}-W{:02}", week.year(), week.week())
        }
        "month" => date.strftime("%Y-%m").to_string(),
        "year" => date.strftime("%Y").to_string(),
        "all" => "all".to_owned(),
        other => panic!("no kind of period: {other}"),
    }
}

/// Its first day, and the first one after it.
fn bounds(kind: &str, date: Date) -> Option<(Date, Date)> {
    let (first, length) = match kind {
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
    assert!(kind != "week" || first.weekday() == Weekday::Monday);
    Some((first, first.checked_add(length).expect("a later day")))
}

/// A time zone in which it is about noon: no day ends while a test runs.
pub fn noon_zone() -> &'static str {
    static ZONE: OnceLock<String> = OnceLock::new();
    ZONE.get_or_init(
        || match 12 - Timestamp::now().to_zoned(TimeZone::UTC).hour() {
            0 => "UTC".to_owned(),
            // These zones count westwards: Etc/GMT-3 is three hours ahead.
            east @ 1.. => format!("Etc/GMT-{east}"),
            west => format!("Etc/GMT+{}", -west),
        },
    )
}

/// The host's clock, which is the Worker's too, in Unix milliseconds.
#[must_use]
pub fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// An instant as `at` takes it.
#[must_use]
pub fn written(at: i64) -> String {
    timestamp(at).to_string()
}

fn timestamp(at: i64) -> Timestamp {
    Timestamp::from_millisecond(at).expect("an instant")
}
