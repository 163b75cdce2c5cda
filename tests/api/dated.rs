//! `POST /v1/activity` with `at`: activities that happened before they were sent.

use test_support::{Value, json};

use crate::clock::{ago, ahead, day, noon, period, standings};
use crate::site::Site;

fn like(at: &str) -> Value {
    json!({"user": "42", "action": "like", "target": "p", "at": at})
}

fn unlike(at: &str) -> Value {
    json!({"user": "42", "action": "like", "target": "p", "at": at, "undo": true})
}

#[tokio::test]
async fn it_counts_on_the_boards_of_its_instant_and_answers_with_them() {
    let site = Site::start();
    site.count("other", "comment", "p").await;
    let answer = site.send_activity(like(&noon(800))).await;
    let mut expected = standings(day(800), 2, 1);
    expected["all"]["rank"] = json!(2);
    answer.assert(
        200,
        json!({"outcome": "counted", "points": 2, "standings": expected}),
    );

    let today = site.get("/v1/ranking/day/users/42").await;
    assert_eq!(today.body["rank"], Value::Null, "{}", today.text);
    let then = site
        .get(&format!("/v1/ranking/month?date={}", day(800)))
        .await;
    let entry = json!({"rank": 1, "score": 2, "user": {"id": "42"}});
    let month = period("month", day(800));
    then.assert(
        200,
        json!({"period": month, "total": 1, "entries": [entry]}),
    );
}

#[tokio::test]
async fn an_undo_takes_the_points_back_where_they_were_given() {
    let site = Site::start();
    let given =
        json!({"user": "42", "action": "like", "target": "p", "at": noon(40), "groups": ["eu"]});
    site.outcome(given, "counted").await;
    site.count("42", "like", "other").await;
    let undo =
        json!({"user": "42", "action": "like", "target": "p", "undo": true, "groups": ["us"]});
    let answer = site.send_activity(undo).await;
    let standings = standings(day(0), 2, 1);
    answer.assert(
        200,
        json!({"outcome": "undone", "points": -2, "standings": standings}),
    );
    for group in ["", "&group=eu", "&group=us"] {
        let board = site
            .get(&format!("/v1/ranking/day?date={}{group}", day(40)))
            .await;
        let period = period("day", day(40));
        board.assert(200, json!({"period": period, "total": 0, "entries": []}));
    }
}

#[tokio::test]
async fn what_is_older_than_the_last_change_is_stale() {
    let site = Site::start();
    site.outcome(like(&ago(300)), "counted").await;
    site.outcome(unlike(&ago(100)), "undone").await;
    let answer = site.send_activity(like(&ago(200))).await;
    let standings = standings(day(0), 0, json!(null));
    answer.assert(
        200,
        json!({"outcome": "stale", "points": 0, "standings": standings}),
    );
    site.outcome(unlike(&ago(200)), "stale").await;
    site.outcome(like(&ago(50)), "counted").await;
    site.outcome(like(&ago(60)), "stale").await;
    site.outcome(like(&ago(40)), "duplicate").await;
}

#[tokio::test]
async fn an_undo_that_found_nothing_outlasts_the_delayed_like() {
    let site = Site::start();
    site.outcome(unlike(&ago(100)), "nothing-to-undo").await;
    site.outcome(like(&ago(200)), "stale").await;
    site.outcome(unlike(&ago(200)), "stale").await;
    site.outcome(like(&ago(90)), "counted").await;
}

#[tokio::test]
async fn an_instant_equal_to_the_last_change_is_not_stale() {
    let site = Site::start();
    let at = ago(100);
    site.outcome(like(&at), "counted").await;
    site.outcome(unlike(&at), "undone").await;
    site.outcome(like(&at), "counted").await;
    site.outcome(like(&at), "duplicate").await;
}

#[tokio::test]
async fn instants_are_compared_to_the_millisecond() {
    let site = Site::start();
    let at = |fraction: &str| ago(100).replace('Z', &format!(".{fraction}Z"));
    site.outcome(like(&at("123")), "counted").await;
    site.outcome(unlike(&at("122999")), "stale").await;
    site.outcome(unlike(&at("123")), "undone").await;
}

#[tokio::test]
async fn every_way_to_write_an_instant_is_read() {
    let site = Site::start();
    let written = [
        "2026-01-02T03:04:05Z",
        "2026-01-02t03:04:05z",
        "2026-01-02T03:04:05.5Z",
        "2026-01-02T03:04:05.123456789Z",
        "2026-01-02T03:04:05+14:00",
        "2026-01-02T03:04:05-11:30",
        "2016-12-31T23:59:60Z",
        "1969-12-31T23:59:59Z",
        "0001-02-03T04:05:06Z",
    ];
    for (number, at) in written.into_iter().enumerate() {
        let target = number.to_string();
        let dated = json!({"user": "42", "action": "like", "target": target, "at": at});
        site.outcome(dated, "counted").await;
        let undo = json!({"user": "42", "action": "like", "target": target, "undo": true});
        site.outcome(undo, "undone").await;
    }
}

#[tokio::test]
async fn a_clock_may_be_a_minute_ahead() {
    let site = Site::start();
    site.outcome(like(&ahead(50)), "counted").await;
}

#[tokio::test]
async fn the_earliest_instant_can_be_counted_and_undone_in_every_zone() {
    for zone in ["UTC", "America/Los_Angeles", "Pacific/Kiritimati"] {
        let site = Site::with(|worker| worker.var("TIMEZONE", zone));
        site.outcome(like("0001-01-02T00:00:00Z"), "counted").await;
        let undo = json!({"user": "42", "action": "like", "target": "p", "undo": true});
        site.outcome(undo, "undone").await;
    }
}
