//! Daily caps, exact to the step, and cooldowns, exact to the millisecond.

use crate::requests::{ACTIVITY, act, assert_board, at, expect, outcomes, undo};
use test_support::{Api, Value, Worker, json};

fn started() -> (Worker, Api) {
    let rules = json!({
        "like": { "daily_cap": 5 },
        "comment": { "cooldown": 60 },
        "both": { "points": 1, "daily_cap": 1, "cooldown": 60 },
    });
    let worker = Worker::builder().json("RULES", rules).start();
    let api = worker.api();
    (worker, api)
}

fn like(target: &str, instant: &str) -> Value {
    at(&act("42", "like", target), instant)
}

fn comment(target: &str, instant: &str) -> Value {
    at(&act("42", "comment", target), instant)
}

async fn expect_capped(api: &Api, activity: &Value, reason: &str) {
    let response = expect(api, activity, "capped").await;
    assert_eq!(response.body["reason"], reason, "{activity}");
    assert_eq!(response.body["points"], 0, "{activity}");
}

#[tokio::test]
async fn daily_cap_leaves_room_after_undo_or_on_another_day() {
    let (_worker, api) = started();
    expect(&api, &like("a", "2026-11-17T00:00:00Z"), "counted").await;
    expect(&api, &like("b", "2026-11-17T23:59:59.999Z"), "counted").await;
    // One point of room is not enough for two points.
    expect_capped(&api, &like("c", "2026-11-17T12:00:00Z"), "daily-cap").await;
    expect(&api, &like("c", "2026-11-18T00:00:00Z"), "counted").await;
    expect_capped(&api, &like("d", "2026-11-17T12:00:00Z"), "daily-cap").await;
    expect(&api, &undo(&like("a", "2026-11-17T13:00:00Z")), "undone").await;
    expect(&api, &like("d", "2026-11-17T12:00:00Z"), "counted").await;
    assert_board(&api, "day?date=2026-11-17", &[("42", 4.0)]).await;
    // The cap is per user.
    let other = at(&act("7", "like", "a"), "2026-11-17T12:00:00Z");
    expect(&api, &other, "counted").await;
}

#[tokio::test]
async fn cooldown_ends_to_the_millisecond() {
    let (_worker, api) = started();
    expect(&api, &comment("a", "2026-11-18T12:00:00Z"), "counted").await;
    for within in [
        "2026-11-18T12:00:00Z",
        "2026-11-18T12:00:59.999Z",
        "2026-11-18T11:59:00.001Z",
    ] {
        expect_capped(&api, &comment("b", within), "cooldown").await;
    }
    expect(&api, &comment("b", "2026-11-18T12:01:00Z"), "counted").await;
    expect(&api, &comment("c", "2026-11-18T12:02:00Z"), "counted").await;
    // The cooldown is per user and action.
    expect(&api, &like("a", "2026-11-18T12:01:00Z"), "counted").await;
    let other = at(&act("7", "comment", "a"), "2026-11-18T12:01:00Z");
    expect(&api, &other, "counted").await;
}

#[tokio::test]
async fn caps_apply_within_an_array() {
    let (_worker, api) = started();
    let array = json!([
        like("a", "2026-11-18T12:00:00Z"),
        like("b", "2026-11-18T12:00:00Z"),
        like("c", "2026-11-18T12:00:00Z"),
        undo(&like("b", "2026-11-18T12:00:00Z")),
        like("c", "2026-11-18T12:00:00Z"),
        comment("a", "2026-11-18T12:00:00Z"),
        comment("b", "2026-11-18T12:00:30Z"),
    ]);
    let response = api.post(ACTIVITY, &array).await;
    let expected = [
        "counted", "counted", "capped", "undone", "counted", "counted", "capped",
    ];
    assert_eq!(outcomes(&response), expected);
    assert_eq!(response.body["results"][2]["reason"], "daily-cap");
    assert_eq!(response.body["results"][6]["reason"], "cooldown");
}

#[tokio::test]
async fn duplicate_takes_precedence_over_cap() {
    let (_worker, api) = started();
    let once = act("42", "both", "a");
    expect(&api, &once, "counted").await;
    expect(&api, &once, "duplicate").await;
    expect(&api, &act("42", "both", "b"), "capped").await;
}
