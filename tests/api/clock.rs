//! Dates of the tests, and periods as answers show them.

use std::sync::OnceLock;

use jiff::civil::{Date, Time, date};
use jiff::{Timestamp, ToSpan, Unit, Zoned};
use test_support::{Value, json};

pub use test_support::reference::noon_zone;

/// Today, or a day that many days ago, in [`noon_zone`].
pub fn day(back: i64) -> Date {
    now().date().checked_sub(back.days()).expect("a date")
}

/// Noon of a day that many days ago, as `at` takes it.
pub fn noon(back: i64) -> String {
    let noon = day(back)
        .at(12, 0, 0, 0)
        .to_zoned(now().time_zone().clone());
    noon.expect("noon").timestamp().to_string()
}

/// That many seconds before the first use, as `at` takes it: two of them lie exactly apart.
pub fn ago(seconds: i64) -> String {
    static FIRST: OnceLock<Timestamp> = OnceLock::new();
    let first = FIRST.get_or_init(|| Timestamp::now().round(Unit::Second).expect("an instant"));
    (*first - seconds.seconds()).to_string()
}

/// That many seconds from now, as `at` takes it.
pub fn ahead(seconds: i64) -> String {
    (Timestamp::now() + seconds.seconds()).to_string()
}

/// The period of a kind that contains a day, in [`noon_zone`].
pub fn period(kind: &str, day: Date) -> Value {
    let (first, end) = match kind {
        "day" => (day, day.tomorrow().expect("a date")),
        "week" => {
            let monday = day.checked_sub(i64::from(day.weekday().to_monday_zero_offset()).days());
            let monday = monday.expect("a date");
            (monday, monday.checked_add(7.days()).expect("a date"))
        }
        "month" => (
            day.first_of_month(),
            day.last_of_month().tomorrow().expect("a date"),
        ),
        "year" => (day.first_of_year(), date(day.year() + 1, 1, 1)),
        _ => {
            return json!({"kind": kind, "id": "all", "start": null, "end": null,
                "timezone": noon_zone(), "closed": false});
        }
    };
    let start = |day: Date| {
        let midnight = day
            .to_datetime(Time::midnight())
            .to_zoned(now().time_zone().clone());
        midnight.expect("midnight").timestamp()
    };
    json!({"kind": kind, "id": id(kind, day), "start": start(first).to_string(),
        "end": start(end).to_string(), "timezone": noon_zone(), "closed": start(end) <= Timestamp::now()})
}

/// The id of the period of a kind that contains a day.
pub fn id(kind: &str, day: Date) -> String {
    match kind {
        "day" => day.to_string(),
        "week" => {
            let week = day.iso_week_date();
            format!("{:04}-W{:02}", week.year(), week.week())
        }
        "month" => day.strftime("%Y-%m").to_string(),
        "year" => day.strftime("%Y").to_string(),
        _ => "all".to_owned(),
    }
}

/// What an activity's answer says where a score and rank are the same on all boards of a day.
pub fn standings(day: Date, score: impl Into<Value>, rank: impl Into<Value>) -> Value {
    let (score, rank) = (score.into(), rank.into());
    let place = |kind| json!({"id": id(kind, day), "score": score, "rank": rank});
    json!({"day": place("day"), "week": place("week"), "month": place("month"),
        "year": place("year"), "all": place("all")})
}

fn now() -> Zoned {
    Timestamp::now().in_tz(noon_zone()).expect("a zone")
}
