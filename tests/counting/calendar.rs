//! Days and periods of a time zone, by jiff: the service's own calendar is under test.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use test_support::{Value, json};

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
    pub name: &'static str,
    pub zone: TimeZone,
}

impl Calendar {
    pub fn of(name: &'static str) -> Self {
        Self {
            name,
            zone: TimeZone::get(name).unwrap(),
        }
    }

    /// The day an instant (Unix milliseconds) falls on.
    pub fn date(&self, at: i64) -> Date {
        self.zone.to_datetime(timestamp(at)).date()
    }

    /// The first instant of a day.
    pub fn start(&self, date: Date) -> i64 {
        date.to_zoned(self.zone.clone())
            .unwrap()
            .start_of_day()
            .unwrap()
            .timestamp()
            .as_millisecond()
    }

    /// The `period` of an answer, of the period instance that contains a day.
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
            date.iso_week_date().first_of_week().unwrap().date(),
            7.days(),
        ),
        "month" => (date.first_of_month(), 1.month()),
        "year" => (date.first_of_year(), 1.year()),
        _ => return None,
    };
    assert!(kind != "week" || first.weekday() == Weekday::Monday);
    Some((first, first.checked_add(length).unwrap()))
}

/// The host's clock, which is the Worker's too, in Unix milliseconds.
pub fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// An instant as `at` takes it.
pub fn written(at: i64) -> String {
    timestamp(at).to_string()
}

fn timestamp(at: i64) -> Timestamp {
    Timestamp::from_millisecond(at).unwrap()
}
