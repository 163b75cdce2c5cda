//! Paths with ids and periods in them, and query parameters.

use super::problem::{ID, Problem, fault, faults};
use super::row::{Row, get};

const KINDS: &str = "must be one of day, week, month, year, all";
const LIMIT: &str = "must be a whole number, 1 to 100";
const OFFSET: &str = "must be a whole number, 0 to 100000";
const AROUND: &str = "must be a whole number, 0 to 25";
const AFTER: &str = "must be a whole number, 0 to 4294967295";
const ENTRIES: &str = "must be a whole number, 1 to 5000";
const SHARD: &str = "must be a whole number, 0 to 63";
const DAYS: &str = "must be a whole number, 1 to 31";
const DATE: &str = "must be a day such as 2026-11-20";
const ONCE: &str = "must be given once";
const NONE: &str = "is not known: there are no parameters here";

pub fn rows() -> Vec<Row> {
    let mut rows = numbers();
    rows.extend(boards());
    rows.extend(compared());
    rows.extend(unknown());
    rows.extend(paths());
    rows
}

fn numbers() -> Vec<Row> {
    let parameters = [
        ("/v1/ranking/day", "limit", LIMIT, ["0", "101"]),
        ("/v1/ranking/day", "offset", OFFSET, ["-1", "100001"]),
        ("/v1/ranking/day/winners", "limit", LIMIT, ["0", "101"]),
        ("/v1/ranking/day/users/42", "around", AROUND, ["-1", "26"]),
        ("/v1/users/42/activity", "days", DAYS, ["0", "32"]),
        ("/v1/journal", "after", AFTER, ["-1", "4294967296"]),
        ("/v1/journal", "limit", ENTRIES, ["0", "5001"]),
        ("/v1/journal", "shard", SHARD, ["-1", "64"]),
    ];
    let mut rows = Vec::new();
    for (path, name, detail, outside) in parameters {
        let odd = [
            "",
            "x",
            "1.5",
            "1e1",
            "%2B5",
            "+5",
            "%205",
            "0x5",
            "99999999999999999999",
            "%EF%BC%95",
        ];
        for value in outside.into_iter().chain(odd) {
            rows.push(get(&format!("{path}?{name}={value}"), fault(name, detail)));
        }
        rows.push(get(&format!("{path}?{name}"), fault(name, detail)));
        rows.push(get(&format!("{path}?{name}=5&{name}=5"), fault(name, ONCE)));
    }
    rows
}

/// What the three routes of boards have in common.
fn boards() -> Vec<Row> {
    let tomorrow = format!("must not be after today, {}", crate::clock::day(0));
    let mut rows = Vec::new();
    for path in [
        "/v1/ranking/day",
        "/v1/ranking/day/users/42",
        "/v1/ranking/day/users",
    ] {
        let row = |query: &str, name, detail| {
            let ids = if path.ends_with("users") {
                "ids=42&"
            } else {
                ""
            };
            get(&format!("{path}?{ids}{query}"), fault(name, detail))
        };
        rows.push(row(
            &format!("date={}", crate::clock::day(-1)),
            "date",
            &tomorrow,
        ));
        rows.push(row("date=9999-12-31", "date", &tomorrow));
        let dates = [
            "",
            "today",
            "2026-11",
            "2026-W47",
            "2026-02-29",
            "2026-1-1",
            "2026-11-20T00:00:00Z",
            "20261120",
            "0000-01-01",
            "%2B2026-11-20",
        ];
        rows.extend(dates.map(|date| row(&format!("date={date}"), "date", DATE)));
        rows.push(row("date=2026-01-01&date=2026-01-01", "date", ONCE));
        let groups = [
            "", "e%20u", "e+u", ".", "..", "a,b", "%C3%A9", "%FF", "a%00", "a%2Fb",
        ];
        rows.extend(groups.map(|group| row(&format!("group={group}"), "group", ID)));
        rows.push(row(&format!("group={}", "g".repeat(65)), "group", ID));
        rows.push(row("group=eu&group=us", "group", ONCE));
    }
    rows
}

fn compared() -> Vec<Row> {
    let ids = format!("must be ids between commas; each {ID}");
    let many = vec!["42"; 101].join(",");
    let path = "/v1/ranking/day/users";
    let mut rows = vec![
        get(path, fault("ids", &ids)),
        get(
            &format!("{path}?ids={many}"),
            fault("ids", "must be at most 100 ids, not 101"),
        ),
        get(&format!("{path}?ids=42&ids=7"), fault("ids", ONCE)),
    ];
    let bad = [
        "", ",", "42,", ",42", "42,,7", "42,%207", "42;7", "..", "4%202",
    ];
    rows.extend(bad.map(|value| get(&format!("{path}?ids={value}"), fault("ids", &ids))));
    rows.push(get(
        &format!("{path}?ids={}", "u".repeat(65)),
        fault("ids", &ids),
    ));
    rows
}

fn unknown() -> Vec<Row> {
    let known = |names: &str| format!("is not known; known are {names}");
    vec![
        get(
            "/v1/ranking/day?page=2",
            fault("page", &known("limit, offset, date, group")),
        ),
        get(
            "/v1/ranking/day?Limit=2",
            fault("Limit", &known("limit, offset, date, group")),
        ),
        get(
            "/v1/ranking/day?around=2",
            fault("around", &known("limit, offset, date, group")),
        ),
        get(
            "/v1/ranking/day/users/42?limit=2",
            fault("limit", &known("around, date, group")),
        ),
        get(
            "/v1/ranking/day/users?ids=42&limit=2",
            fault("limit", &known("ids, date, group")),
        ),
        get(
            "/v1/journal?before=7",
            fault("before", &known("after, limit, shard")),
        ),
        get(
            "/v1/users/42/activity?date=2026-11-20",
            fault("date", &known("days")),
        ),
        get("/v1/users/42?days=1", fault("days", NONE)),
        get("/healthz?verbose", fault("verbose", NONE)),
        get("/openapi.json?pretty=1", fault("pretty", NONE)),
        get("/?period=day", fault("period", NONE)),
        get("/docs?period=day", fault("period", NONE)),
        get("/v1/users/42?=1", fault("", NONE)),
        get(
            "/v1/ranking/year?limit=0&offset=x&date=soon&group=&page=1",
            faults(&[
                ("page", &known("limit, offset, date, group")),
                ("limit", LIMIT),
                ("offset", OFFSET),
                ("date", DATE),
                ("group", ID),
            ]),
        ),
    ]
}

fn paths() -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in ["hour", "Day", "days", "2026-11-20", "%20day", "%F0"] {
        rows.push(get(&format!("/v1/ranking/{kind}"), fault("period", KINDS)));
    }
    rows.push(get("/v1/ranking/hour/users/42", fault("period", KINDS)));
    rows.push(get("/v1/ranking/hour/users?ids=42", fault("period", KINDS)));
    rows.push(get("/v1/ranking/", fault("period", KINDS)));
    let users = [
        "4%202", "%C3%A9", "a%2Fb", "a,b", "42%0A", "%00", "%FF", "a%23b", "%7B42%7D",
    ];
    for user in users {
        rows.push(get(&format!("/v1/users/{user}"), fault("user", ID)));
        rows.push(get(
            &format!("/v1/users/{user}/activity"),
            fault("user", ID),
        ));
        rows.push(get(
            &format!("/v1/ranking/day/users/{user}"),
            fault("user", ID),
        ));
    }
    let long = "u".repeat(65);
    rows.push(get(&format!("/v1/users/{long}"), fault("user", ID)));
    rows.push(get("/v1/users/", fault("user", ID)));
    rows.push(get("/v1/ranking/day/users/", fault("user", ID)));
    rows.push(get("/v1/users//activity", fault("user", ID)));
    rows.push(get(
        "/v1/ranking/hour/users/4%202?around=26",
        faults(&[("user", ID), ("around", AROUND), ("period", KINDS)]),
    ));
    let off = || Problem::new("not-found", "The period year is switched off.");
    rows.push(get("/v1/ranking/year", off()));
    rows.push(get("/v1/ranking/year/users/42", off()));
    rows.push(get("/v1/ranking/year/users?ids=42", off()));
    rows.push(get(
        "/v1/users/nobody",
        Problem::new("not-found", "The user nobody has no profile."),
    ));
    rows
}
