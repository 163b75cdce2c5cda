//! Dates and instants for tests, and periods as responses contain them.

use std::sync::OnceLock;

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan, Unit, Zoned};
use test_support::reference::{self, Calendar};
use test_support::{Value, json};

pub use test_support::reference::{noon_zone, period_id as id};

/// Returns the date `back` days ago in [`noon_zone`]; 0 is today.
pub fn day(back: i64) -> Date {
    now().date().checked_sub(back.days()).expect("a date")
}

/// Returns noon of the day `back` days ago, as a value for `at`.
pub fn noon(back: i64) -> String {
    let noon = day(back).at(12, 0, 0, 0);
    let noon = noon.to_zoned(now().time_zone().clone());
    noon.expect("noon").timestamp().to_string()
}

/// Returns the instant `seconds` before the first call of this function, as a value for `at`.
///
/// The difference between two results is exact.
pub fn ago(seconds: i64) -> String {
    static FIRST: OnceLock<Timestamp> = OnceLock::new();
    let first = FIRST.get_or_init(|| Timestamp::now().round(Unit::Second).expect("an instant"));
    (*first - seconds.seconds()).to_string()
}

/// Returns the instant `seconds` from now, as a value for `at`.
pub fn ahead(seconds: i64) -> String {
    (Timestamp::now() + seconds.seconds()).to_string()
}

/// Returns the period that contains a day, as responses contain it, in [`noon_zone`].
pub fn period(kind: &str, day: Date) -> Value {
    Calendar::new(noon_zone()).period_json(kind, day, reference::now())
}

/// Returns the `standings` of an activity with the same score and rank on all boards of a day.
pub fn standings(day: Date, score: impl Into<Value>, rank: impl Into<Value>) -> Value {
    let (score, rank) = (score.into(), rank.into());
    let standing = |kind| json!({"id": id(kind, day), "score": score, "rank": rank});
    json!({"day": standing("day"), "week": standing("week"), "month": standing("month"),
        "year": standing("year"), "all": standing("all")})
}

fn now() -> Zoned {
    Timestamp::now().in_tz(noon_zone()).expect("a zone")
}
