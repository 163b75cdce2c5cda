//! Invalid path segments and query parameters.

use test_support::Method;

use super::case::{Case, get};
use crate::problem::{ID, NO_PARAMETERS, Problem, columns, field_error, field_errors};

const AFTER: &str = "must be an integer from 0 to 4294967295";
const AROUND: &str = "must be an integer from 0 to 25";
const DATE: &str = "must be a day such as 2026-11-20";
const DAYS: &str = "must be an integer from 1 to 31";
const ENTRIES: &str = "must be an integer from 1 to 5000";
const FLAG: &str = "must be true or false";
const LIMIT: &str = "must be an integer from 1 to 100";
const OFFSET: &str = "must be an integer from 0 to 100000";
const PERIOD: &str = "must be one of day, week, month, year, all";
const REPEATED: &str = "must be given only once";
const SHARD: &str = "must be an integer from 0 to 63";

pub fn cases() -> Vec<Case> {
    let mut cases = numbers();
    cases.extend(dates_and_groups());
    cases.extend(movements());
    cases.extend(id_lists());
    cases.extend(invalid_parameters());
    cases.extend(path_segments());
    cases.extend(deliveries());
    cases.extend(syncs());
    cases
}

fn numbers() -> Vec<Case> {
    let parameters = [
        ("/v1/ranking/day", "limit", LIMIT, ["0", "101"]),
        ("/v1/ranking/day", "offset", OFFSET, ["-1", "100001"]),
        ("/v1/ranking/day/live", "limit", LIMIT, ["0", "101"]),
        ("/v1/ranking/day/winners", "limit", LIMIT, ["0", "101"]),
        ("/v1/ranking/day/users/42", "around", AROUND, ["-1", "26"]),
        ("/v1/users/42/activity", "days", DAYS, ["0", "367"]),
        ("/v1/webhooks/deliveries", "limit", LIMIT, ["0", "101"]),
        ("/v1/cases", "limit", LIMIT, ["0", "101"]),
        ("/v1/journal", "after", AFTER, ["-1", "4294967296"]),
        ("/v1/journal", "limit", ENTRIES, ["0", "5001"]),
        ("/v1/journal", "shard", SHARD, ["-1", "64"]),
    ];
    let malformed = " x 1.5 1e1 %2B5 +5 %205 0x5 99999999999999999999 %EF%BC%95".split(' ');
    let mut cases = Vec::new();
    for (path, name, detail, out_of_range) in parameters {
        let case = |query: &str, detail| get(&format!("{path}?{query}"), field_error(name, detail));
        for value in out_of_range.into_iter().chain(malformed.clone()) {
            cases.push(case(&format!("{name}={value}"), detail));
        }
        cases.push(case(name, detail));
        cases.push(case(&format!("{name}=5&{name}=5"), REPEATED));
    }
    // Without an archive of day boards, more days are refused for that reason.
    let reason = "must be at most 31: this deployment has no archive of day boards";
    for value in ["32", "366"] {
        let path = format!("/v1/users/42/activity?days={value}");
        cases.push(get(&path, field_error("days", reason)));
    }
    cases
}

/// The parameters of deliveries to webhooks.
fn deliveries() -> Vec<Case> {
    const PATH: &str = "/v1/webhooks/deliveries";
    let id = "must be the id of a delivery: msg_ and 32 hexadecimal digits";
    let mut cases = Vec::new();
    let upper = format!("msg_{}", "A".repeat(32));
    for delivery in ["1", "msg_", &upper] {
        let path = format!("{PATH}?before={delivery}");
        cases.push(get(&path, field_error("before", id)));
        let path = format!("{PATH}/{delivery}/retry");
        cases.push(Case::new(Method::POST, &path, field_error("id", id)));
    }
    let path = format!("{PATH}/msg_{}/retry?state=failed", "0".repeat(32));
    let unknown = field_error("state", NO_PARAMETERS);
    cases.push(Case::new(Method::POST, &path, unknown));
    cases
}

/// Sources of sync runs.
fn syncs() -> Vec<Case> {
    let source = "must be 1 to 100 of a-z 0-9 . _ : / - and not '.' or '..'";
    let long = "a".repeat(101);
    let segments = ["", "%20", "a%20b", "Ghost", "%C3%A9", &long];
    let refused = segments.map(|segment| {
        let path = format!("/v1/syncs/{segment}");
        Case::new(Method::DELETE, &path, field_error("source", source))
    });
    let unknown = || field_error("state", NO_PARAMETERS);
    let mut cases = Vec::from(refused);
    cases.push(get("/v1/syncs?state=done", unknown()));
    let path = "/v1/syncs/ghost?state=done";
    cases.push(Case::new(Method::DELETE, path, unknown()));
    cases
}

/// The parameters that the three board routes share.
fn dates_and_groups() -> Vec<Case> {
    let future = format!("must not be after today, {}", crate::clock::day(0));
    let tomorrow = crate::clock::day(-1);
    let long = "g".repeat(65);
    let dates = " today 2026-11 2026-W47 2026-02-29 2026-1-1 2026-11-20T00:00:00Z 20261120 0000-01-01 %2B2026-11-20".split(' ');
    let groups = [
        "", "e%20u", "e+u", ".", "..", "a,b", "%C3%A9", "%FF", "a%00", "a%2Fb", &long,
    ];
    let mut cases = Vec::new();
    for path in [
        "/v1/ranking/day?",
        "/v1/ranking/day/users/42?",
        "/v1/ranking/day/users?ids=42&",
    ] {
        let case = |query: &str, name: &str, detail: &str| {
            get(&format!("{path}{query}"), field_error(name, detail))
        };
        cases.push(case(&format!("date={tomorrow}"), "date", &future));
        cases.push(case("date=9999-12-31", "date", &future));
        cases.extend(
            dates
                .clone()
                .map(|date| case(&format!("date={date}"), "date", DATE)),
        );
        cases.push(case("date=2026-01-01&date=2026-01-01", "date", REPEATED));
        cases.extend(groups.map(|group| case(&format!("group={group}"), "group", ID)));
        cases.push(case("group=eu&group=us", "group", REPEATED));
    }
    for name in ["from", "to"] {
        let path = format!("/v1/stats?{name}={tomorrow}");
        cases.push(get(&path, field_error(name, &future)));
    }
    cases
}

fn movements() -> Vec<Case> {
    let mut cases = Vec::new();
    for path in [
        "/v1/ranking/day",
        "/v1/ranking/all",
        "/v1/ranking/day/live",
        "/v1/ranking/day/users/42",
    ] {
        let case =
            |query: &str, detail| get(&format!("{path}?{query}"), field_error("movement", detail));
        cases.extend(
            ["", "1", "True", "true,"].map(|value| case(&format!("movement={value}"), FLAG)),
        );
        cases.push(case("movement=true&movement=true", REPEATED));
    }
    cases
}

fn id_lists() -> Vec<Case> {
    let detail = format!("must be ids between commas; each {ID}");
    let path = "/v1/ranking/day/users";
    let case =
        |ids: &str, detail: &str| get(&format!("{path}?ids={ids}"), field_error("ids", detail));
    let long = "u".repeat(65);
    let mut cases = vec![
        get(path, field_error("ids", &detail)),
        case(&["42"; 101].join(","), "must be at most 100 ids, not 101"),
        case("42&ids=7", REPEATED),
    ];
    let lists = [
        "", ",", "42,", ",42", "42,,7", "42,%207", "42;7", "..", "4%202", &long,
    ];
    cases.extend(lists.map(|ids| case(ids, &detail)));
    let follower = |query: &str, detail: &str| {
        let path = format!("{path}?{query}");
        get(&path, field_error("followed_by", detail))
    };
    cases.extend(["", "4%202", "42,7", &long].map(|id| follower(&format!("followed_by={id}"), ID)));
    cases.extend([
        follower("ids=7&followed_by=42", "must not be given with ids"),
        follower("followed_by=42&followed_by=42", REPEATED),
    ]);
    let path = "/v1/users/42/standings";
    let flag = |value: &str| {
        let path = format!("{path}?friends={value}");
        get(&path, field_error("friends", "must be true or false"))
    };
    cases.extend(["", "1", "True", "yes"].map(flag));
    let case = |groups: &str, detail: &str| {
        let path = format!("{path}?groups={groups}");
        get(&path, field_error("groups", detail))
    };
    cases.extend(lists.map(|groups| case(groups, &detail)));
    cases.extend([
        case("a,b,c,d,e", "must be at most 4 ids, not 5"),
        case("a,b,a", "must not repeat a group: a"),
        case("a&groups=b", REPEATED),
    ]);
    cases
}

/// A path, the invalid parameter and its error.
const INVALID: &str = "
    /v1/ranking/day?page=2                              page        is unknown; expected one of limit, offset, date, group, movement
    /v1/ranking/day?Limit=2                             Limit       is unknown; expected one of limit, offset, date, group, movement
    /v1/ranking/day?around=2                            around      is unknown; expected one of limit, offset, date, group, movement
    /v1/ranking/day/users/42?limit=2                    limit       is unknown; expected one of around, date, group, movement
    /v1/ranking/day/users?ids=42&limit=2                limit       is unknown; expected one of ids, followed_by, date, group, movement
    /v1/journal?before=7                                before      is unknown; expected one of after, limit, shard
    /v1/users/42/activity?date=2026-11-20               date        is unknown; expected one of days, year
    /v1/users/42/points?after=1                         after       is unknown; expected one of limit, before, date, refused
    /v1/users/42/points?refused=1                       refused     must be true or false
    /v1/users/42/points?before=x                        before      must be `next` of the previous page
    /v1/users/42/points?date=2026-11                    date        must be a day such as 2026-11-20
    /v1/users/42/activity?year=2025                     year        this deployment has no archive of day boards
    /v1/stats?date=2026-11-20                           date        is unknown; expected one of from, to
    /v1/users/42/standings?group=eu                     group       is unknown; expected one of groups, friends, movement
    /v1/events/e/ranking?date=2026-11-20                date        is unknown; expected one of limit, offset
    /v1/events/e/ranking/users/42?movement=true         movement    is unknown; expected one of around
    /v1/events/e/ranking/users?ids=42&group=eu          group       is unknown; expected one of ids, followed_by
    /v1/events?state=final                              state       is unknown; this route has no parameters
    /v1/events/e?limit=1                                limit       is unknown; this route has no parameters
    /v1/users/42?days=1                                 days        is unknown; this route has no parameters
    /v1/users/42/card?theme=dark                        theme       is unknown; this route has no parameters
    /v1/users/42/card.svg?theme=Dark                    theme       must be light or dark
    /v1/users/42/badge.svg?lang=zh                      lang        must be en or zh-Hans
    /v1/status?verbose                                  verbose     is unknown; this route has no parameters
    /metrics?name                                       name        is unknown; this route has no parameters
    /v1/stats?to=today                                  to          must be a day such as 2026-11-20
    /v1/stats?from=2026-11                              from        must be a day such as 2026-11-20
    /v1/stats?to=2026-01-01&to=2026-01-01               to          must be given only once
    /v1/stats?from=2026-01-02&to=2026-01-01             from        must not be after to, 2026-01-01
    /v1/stats?from=2025-01-01&to=2026-01-02             from        must be at most 365 days before to
    /v1/webhooks/deliveries?state=                      state       must be one of pending, delivered, failed, dropped
    /v1/webhooks/deliveries?state=Pending               state       must be one of pending, delivered, failed, dropped
    /v1/webhooks/deliveries?state=pending,failed        state       must be one of pending, delivered, failed, dropped
    /v1/cases?state=                                    state       must be one of open, dismissed, excluded
    /v1/cases?state=Open                                state       must be one of open, dismissed, excluded
    /v1/cases?state=open,dismissed                      state       must be one of open, dismissed, excluded
    /v1/cases?after=1                                   after       must be the id of a case: case_ and 16 hexadecimal digits
    /v1/cases?after=case_                               after       must be the id of a case: case_ and 16 hexadecimal digits
    /v1/cases?after=case_AAAAAAAAAAAAAAAA               after       must be the id of a case: case_ and 16 hexadecimal digits
    /v1/cases/1                                         id          must be the id of a case: case_ and 16 hexadecimal digits
    /v1/cases/case_                                     id          must be the id of a case: case_ and 16 hexadecimal digits
    /v1/cases/case_AAAAAAAAAAAAAAAA                     id          must be the id of a case: case_ and 16 hexadecimal digits
    /v1/moderation?user=42                              user        is unknown; expected one of before, limit
";

fn invalid_parameters() -> Vec<Case> {
    let board = "is unknown; expected one of limit, offset, date, group, movement";
    let rows = columns(INVALID).chain([["/v1/users/42?=1", "", NO_PARAMETERS]]);
    let cases = rows.map(|[path, name, detail]| get(path, field_error(name, detail)));
    let mut cases: Vec<Case> = cases.collect();
    let path = "/v1/cases/search?state=open";
    let unknown = field_error("state", NO_PARAMETERS);
    cases.push(Case::new(Method::POST, path, unknown));
    for (query, name, detail) in [
        ("step=x", "step", "must be the value of a step"),
        ("reason", "reason", "must be 1 to 500 characters"),
    ] {
        let path = format!("/v1/users/42/achievements/voter?{query}");
        cases.push(Case::new(Method::DELETE, path, field_error(name, detail)));
    }
    cases.push(Case::new(
        Method::DELETE,
        "/v1/rules/x?public_reason=1",
        field_errors(&[
            ("version", "must be the number of a version"),
            ("reason", "must be a text of 1 to 500 characters"),
            ("public_reason", FLAG),
        ]),
    ));
    cases.push(get(
        "/v1/ranking/year?limit=0&offset=x&date=soon&group=&page=1",
        field_errors(&[
            ("page", board),
            ("limit", LIMIT),
            ("offset", OFFSET),
            ("date", DATE),
            ("group", ID),
        ]),
    ));
    cases
}

fn path_segments() -> Vec<Case> {
    let case = |path: &str, name, detail| get(path, field_error(name, detail));
    let mut cases = Vec::new();
    for period in ["hour", "Day", "days", "2026-11-20", "%20day", "%F0", ""] {
        cases.push(case(&format!("/v1/ranking/{period}"), "period", PERIOD));
    }
    cases.push(case("/v1/ranking/hour/live", "period", PERIOD));
    cases.push(case("/v1/ranking/hour/users/42", "period", PERIOD));
    cases.push(case("/v1/ranking/hour/users?ids=42", "period", PERIOD));
    let week = "must be a week such as 2026-W47";
    for id in ["2026-11-20", "2026-W54", "2026", "week"] {
        cases.push(case(&format!("/v1/digest/{id}"), "week", week));
    }
    for path in [
        "",
        "/ranking",
        "/ranking/users/42",
        "/ranking/users?ids=42",
        "/live",
    ] {
        cases.push(case(&format!("/v1/events/a%20b{path}"), "event", ID));
    }
    let users = [
        "4%202", "%C3%A9", "a%2Fb", "a,b", "42%0A", "%00", "%FF", "a%23b", "%7B42%7D",
    ];
    for user in users {
        for path in [
            format!("/v1/users/{user}"),
            format!("/v1/users/{user}/activity"),
            format!("/v1/users/{user}/points"),
            format!("/v1/users/{user}/standings"),
            format!("/v1/users/{user}/card"),
            format!("/v1/ranking/day/users/{user}"),
        ] {
            cases.push(case(&path, "user", ID));
        }
    }
    let long = format!("/v1/users/{}", "u".repeat(65));
    for path in [
        &*long,
        "/v1/users/",
        "/v1/ranking/day/users/",
        "/v1/users//activity",
    ] {
        cases.push(case(path, "user", ID));
    }
    cases.push(get(
        "/v1/ranking/hour/users/4%202?around=26",
        field_errors(&[("user", ID), ("around", AROUND), ("period", PERIOD)]),
    ));
    for path in [
        "/v1/ranking/year",
        "/v1/ranking/year/users/42",
        "/v1/ranking/year/users?ids=42",
    ] {
        let off = Problem::new("not-found", "The period year is switched off.");
        cases.push(get(path, off));
    }
    let no_profile = Problem::new("not-found", "The user unknown has no profile.");
    cases.push(get("/v1/users/unknown", no_profile));
    cases
}
