//! `TIMEZONE`: when a day begins and ends, also where clocks are changed.

use test_support::{Worker, json};

use crate::client::Client;
use crate::site::patient;

/// Zone, day, its first instant and the first after it.
const DAYS: [(&str, &str, &str, &str); 17] = [
    (
        "UTC",
        "2026-11-19",
        "2026-11-19T00:00:00Z",
        "2026-11-20T00:00:00Z",
    ),
    (
        "Asia/Shanghai",
        "2026-11-19",
        "2026-11-18T16:00:00Z",
        "2026-11-19T16:00:00Z",
    ),
    (
        "Asia/Kathmandu",
        "2026-11-19",
        "2026-11-18T18:15:00Z",
        "2026-11-19T18:15:00Z",
    ),
    (
        "Pacific/Kiritimati",
        "2026-11-19",
        "2026-11-18T10:00:00Z",
        "2026-11-19T10:00:00Z",
    ),
    (
        "Pacific/Pago_Pago",
        "2026-11-18",
        "2026-11-18T11:00:00Z",
        "2026-11-19T11:00:00Z",
    ),
    // 23 and 25 hours.
    (
        "America/New_York",
        "2026-03-08",
        "2026-03-08T05:00:00Z",
        "2026-03-09T04:00:00Z",
    ),
    (
        "America/New_York",
        "2026-11-01",
        "2026-11-01T04:00:00Z",
        "2026-11-02T05:00:00Z",
    ),
    (
        "Europe/Berlin",
        "2026-03-29",
        "2026-03-28T23:00:00Z",
        "2026-03-29T22:00:00Z",
    ),
    (
        "Europe/Berlin",
        "2026-10-25",
        "2026-10-24T22:00:00Z",
        "2026-10-25T23:00:00Z",
    ),
    // Half an hour.
    (
        "Australia/Lord_Howe",
        "2026-04-05",
        "2026-04-04T13:00:00Z",
        "2026-04-05T13:30:00Z",
    ),
    // Midnight is missing: the day begins at one.
    (
        "America/Santiago",
        "2025-09-07",
        "2025-09-07T04:00:00Z",
        "2025-09-08T03:00:00Z",
    ),
    (
        "Africa/Cairo",
        "2026-04-24",
        "2026-04-23T22:00:00Z",
        "2026-04-24T21:00:00Z",
    ),
    (
        "Asia/Beirut",
        "2026-03-29",
        "2026-03-28T22:00:00Z",
        "2026-03-29T21:00:00Z",
    ),
    // The last hour comes twice.
    (
        "America/Santiago",
        "2026-04-04",
        "2026-04-04T03:00:00Z",
        "2026-04-05T04:00:00Z",
    ),
    (
        "America/Santiago",
        "2026-04-05",
        "2026-04-05T04:00:00Z",
        "2026-04-06T04:00:00Z",
    ),
    // The whole day is missing.
    (
        "Pacific/Apia",
        "2011-12-29",
        "2011-12-29T10:00:00Z",
        "2011-12-30T10:00:00Z",
    ),
    (
        "Pacific/Apia",
        "2011-12-31",
        "2011-12-30T10:00:00Z",
        "2011-12-31T10:00:00Z",
    ),
];

fn client(zone: &str) -> (Worker, Client) {
    let worker = patient().var("TIMEZONE", zone).start();
    let client = Client::new(worker.api());
    (worker, client)
}

/// A millisecond before an instant that falls on a whole second.
fn just_before(instant: &str) -> String {
    let instant: jiff::Timestamp = instant.parse().expect("an instant");
    let before = instant - jiff::SignedDuration::from_millis(1);
    before.to_string()
}

#[tokio::test]
async fn a_day_holds_what_happens_between_the_instants_that_its_board_tells() {
    for days in DAYS.chunk_by(|one, other| one.0 == other.0) {
        let zone = days[0].0;
        let (_worker, client) = client(zone);
        for (_, day, start, end) in days {
            let user = format!("u-{day}");
            let at = |target: &str, at: &str| json!({"user": user, "action": "like", "target": target, "at": at});
            let sent = [
                at("before", &just_before(start)),
                at("first", start),
                at("last", &just_before(end)),
                at("after", end),
            ];
            let answer = client.post("/v1/activity", &json!(sent)).await;
            answer.assert_status(200);
            let standing = format!("/v1/ranking/day/users/{user}?date={day}");
            assert_eq!(client.get(&standing).await.body["score"], 4, "{zone} {day}");
            let board = client.get(&format!("/v1/ranking/day?date={day}")).await;
            let period = json!({"kind": "day", "id": day, "start": start, "end": end,
                "timezone": zone, "closed": true});
            assert_eq!((board.status, &board.body["period"]), (200, &period));
        }
    }
}

#[tokio::test]
async fn longer_periods_begin_and_end_with_their_days() {
    let (_worker, client) = client("America/Santiago");
    let cases = [
        (
            "week",
            "2025-09-07",
            "2025-W36",
            "2025-09-01T04:00:00Z",
            "2025-09-08T03:00:00Z",
        ),
        (
            "month",
            "2025-09-07",
            "2025-09",
            "2025-09-01T04:00:00Z",
            "2025-10-01T03:00:00Z",
        ),
        (
            "year",
            "2025-09-07",
            "2025",
            "2025-01-01T03:00:00Z",
            "2026-01-01T03:00:00Z",
        ),
        // ISO weeks belong to the year of their Thursday.
        (
            "week",
            "2024-12-30",
            "2025-W01",
            "2024-12-30T03:00:00Z",
            "2025-01-06T03:00:00Z",
        ),
        (
            "week",
            "2021-01-03",
            "2020-W53",
            "2020-12-28T03:00:00Z",
            "2021-01-04T03:00:00Z",
        ),
        (
            "month",
            "2024-02-29",
            "2024-02",
            "2024-02-01T03:00:00Z",
            "2024-03-01T03:00:00Z",
        ),
        (
            "month",
            "2024-12-31",
            "2024-12",
            "2024-12-01T03:00:00Z",
            "2025-01-01T03:00:00Z",
        ),
    ];
    for (kind, date, id, start, end) in cases {
        let answer = client.get(&format!("/v1/ranking/{kind}?date={date}")).await;
        let period = json!({"kind": kind, "id": id, "start": start, "end": end,
            "timezone": "America/Santiago", "closed": true});
        answer.assert(200, json!({"period": period, "total": 0, "entries": []}));
    }
}

#[tokio::test]
async fn one_instant_decides_every_board() {
    let (_worker, client) = client("Asia/Shanghai");
    // The last millisecond of a year there, which is afternoon in Greenwich.
    let like =
        json!({"user": "42", "action": "like", "target": "p", "at": "2025-12-31T15:59:59.999Z"});
    let place = |id: &str| json!({"id": id, "score": 2, "rank": 1});
    let standings = json!({"day": place("2025-12-31"), "week": place("2026-W01"),
        "month": place("2025-12"), "year": place("2025"), "all": place("all")});
    let answer = client.post("/v1/activity", &like).await;
    answer.assert(
        200,
        json!({"outcome": "counted", "points": 2, "standings": standings}),
    );
}
