//! Compares the calendar with `jiff` in time zones with unusual rules.

use super::{Calendar, Date, Instant, Period, Zone};
use jiff::civil;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use proptest::prelude::*;

struct JiffZone(TimeZone);

impl Zone for JiffZone {
    fn offset(&self, at: Instant) -> i64 {
        i64::from(self.0.to_offset(timestamp(at)).seconds()) * 1000
    }
}

/// The first four skip midnight about once a year. Kathmandu is at UTC+05:45, Lord Howe changes its
/// clock by half an hour, Apia skipped the day 2011-12-30, and Kiritimati is at UTC+14. The rest
/// have ordinary rules.
const ZONES: [&str; 12] = [
    "America/Santiago",
    "Africa/Cairo",
    "Asia/Beirut",
    "America/Havana",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "America/New_York",
    "Europe/Berlin",
    "Asia/Shanghai",
    "UTC",
];

fn timestamp(at: Instant) -> Timestamp {
    Timestamp::from_millisecond(at.0).unwrap()
}

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

fn calendar(name: &str) -> Calendar {
    Calendar::new(name, Box::new(JiffZone(zone(name))))
}

fn civil(date: Date) -> civil::Date {
    date.to_string().parse().unwrap()
}

fn date() -> impl Strategy<Value = Date> {
    // 1990-01-01 to 2089-12-31
    (7305i64..43_829).prop_map(|days| Date::from_local_millis(days * Date::MILLIS))
}

fn zone_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&ZONES)
}

proptest! {
    #[test]
    fn day_start_matches_jiff(name in zone_name(), date in date()) {
        let start = civil(date).to_zoned(zone(name)).unwrap().start_of_day().unwrap();
        // In Apia the start of the skipped day is the start of the next day.
        prop_assert_eq!(timestamp(calendar(name).start_of(date)), start.timestamp());
    }

    #[test]
    fn date_at_matches_local_date(
        name in zone_name(),
        millis in 631_152_000_000i64..3_786_912_000_000,
    ) {
        let at = Instant(millis);
        let local = timestamp(at).to_zoned(zone(name)).date();
        let (calendar, fresh) = (calendar(name), calendar(name));
        prop_assert_eq!(civil(calendar.date_at(at)), local);
        // The later calls use the cached starts.
        prop_assert_eq!(calendar.date_at(at), fresh.date_at(at));
        prop_assert_eq!(calendar.date_at(at), fresh.date_at(at));
    }

    #[test]
    fn days_do_not_overlap(name in zone_name(), date in date()) {
        let calendar = calendar(name);
        let (start, end) = (calendar.start_of(date), calendar.start_of(date.next()));
        prop_assert!(start <= end);
        if start < end {
            prop_assert_eq!(calendar.date_at(start), date);
            prop_assert_eq!(calendar.date_at(Instant(end.0 - 1)), date);
        }
    }

    #[test]
    fn weeks_match_iso_8601(date in date()) {
        let week = civil(date).iso_week_date();
        let id = format!("{:04}-W{:02}", week.year(), week.week());
        prop_assert_eq!(Period::Week.id(date), id);
        let (monday, next) = Period::Week.days(date).unwrap();
        prop_assert_eq!(civil(monday), week.first_of_week().unwrap().date());
        prop_assert_eq!(next.days_since(monday), 7);
    }

    #[test]
    fn months_and_years_match_jiff(date in date()) {
        let (month, next_month) = Period::Month.days(date).unwrap();
        let (year, next_year) = Period::Year.days(date).unwrap();
        prop_assert_eq!(civil(month), civil(date).first_of_month());
        prop_assert_eq!(civil(next_month), civil(date).last_of_month().saturating_add(1.day()));
        prop_assert_eq!(civil(year), civil(date).first_of_year());
        prop_assert_eq!(civil(next_year), civil(date).last_of_year().saturating_add(1.day()));
        prop_assert_eq!(Period::Month.id(date), civil(date).strftime("%Y-%m").to_string());
        prop_assert_eq!(Period::Year.id(date), civil(date).strftime("%Y").to_string());
    }

    #[test]
    fn formatted_date_parses_back(date in date()) {
        prop_assert_eq!(Date::parse(&date.to_string()), Some(date));
        let (year, month, day) = date.civil();
        prop_assert_eq!(Date::new(year, month, day), Some(date));
    }

    #[test]
    fn formatted_instant_parses_back(millis in -62_135_510_400_000i64..253_402_300_800_000) {
        let at = Instant(millis);
        prop_assert_eq!(Instant::parse(&at.to_string()), Some(at));
        prop_assert_eq!(at.to_string().parse::<Timestamp>().unwrap(), timestamp(at));
    }

    #[test]
    fn parsers_never_panic(text in ".{0,40}") {
        let _ = (Date::parse(&text), Instant::parse(&text), Period::parse(&text));
    }
}

#[test]
fn instant_accepts_offsets_and_fractions() {
    let parse = |text: &str| Instant::parse(text).map(|at| at.0);
    assert_eq!(parse("1970-01-01T00:00:00Z"), Some(0));
    assert_eq!(parse("1970-01-01t00:00:00.5z"), Some(500));
    assert_eq!(parse("1970-01-01T00:00:00.123999Z"), Some(123));
    assert_eq!(parse("1970-01-01T08:00:00+08:00"), Some(0));
    assert_eq!(parse("1969-12-31T19:30:00-04:30"), Some(0));
    assert_eq!(parse("1970-01-01T00:00:60Z"), Some(60_000));
}

#[test]
fn invalid_instants_are_rejected() {
    for text in [
        "",
        "2026-11-20",
        "2026-11-20 08:00:00Z",
        "2026-11-20T08:00:00",
        "2026-11-20T08:00Z",
        "2026-11-20T24:00:00Z",
        "2026-11-20T08:60:00Z",
        "2026-11-20T08:00:61Z",
        "2026-11-20T08:00:00.Z",
        "2026-11-20T08:00:00+8:00",
        "2026-11-20T08:00:00+24:00",
        "2026-13-20T08:00:00Z",
        "2026-02-29T08:00:00Z",
        "2026-11-20T08:00:00Zjunk",
        "0001-01-01T23:59:59Z",
        "0001-01-02T00:00:00+00:01",
        "9999-12-31T23:59:60Z",
        "9999-12-31T23:59:59-00:01",
        "２０２６-11-20T08:00:00Z",
    ] {
        assert_eq!(Instant::parse(text), None, "{text}");
    }
}

#[test]
fn invalid_dates_are_rejected() {
    let dates = "2026-1-20 2026-11-31 2025-02-29 0000-01-01 2026/11/20 +026-11-20 ";
    for text in dates.split(' ') {
        assert_eq!(Date::parse(text), None, "{text}");
    }
    let leap = Date::parse("2024-02-29").map(|date| date.weekday());
    assert_eq!(leap, Some(3));
}

/// Until 2011, St. John's set its clock back from 00:01 to 23:01 of the previous day.
#[test]
fn hour_repeated_at_midnight_belongs_to_new_day() {
    let calendar = calendar("America/St_Johns");
    let date = Date::parse("2010-11-07").unwrap();
    let start = calendar.start_of(date);
    let repeated = Instant(start.0 + 30 * 60_000);
    assert_eq!(calendar.date_at(start), date);
    assert_eq!(calendar.date_at(repeated), date);
    assert_eq!(calendar.date_at(Instant(start.0 - 1)), date.plus(-1));
}
