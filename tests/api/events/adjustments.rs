//! `POST /v1/users/{user}/adjustments` with `event`: points that moderators add to the board of an event, or deduct.

use test_support::{Value, json};

use super::{Event, another, start};
use crate::app::TestApp;
use crate::bodies::{like, outcome, rows, with};
use crate::clock::{day, standings};
use crate::problem::{assert_problem, problem};

/// Returns an adjustment of an event.
fn points(id: &str, event: &str, points: i64) -> Value {
    json!({"id": id, "event": event, "points": points, "reason": "Likes bought"})
}

fn undo(id: &str) -> Value {
    json!({"id": id, "undo": true, "reason": "Appeal granted"})
}

/// Returns the response to the adjustment of an event.
fn adjusted(name: &str, points: i64, score: u32, rank: impl Into<Value>) -> Value {
    let standing = json!({"hackathon": {"score": score, "rank": rank.into()}});
    with(
        outcome(name, points, json!({})),
        json!({"events": standing}),
    )
}

/// Defines an event that runs.
async fn running(app: &TestApp) -> Event {
    let mut event = Event::new("hackathon");
    event.begin(app, &mut app.store()).await;
    event
}

/// The standings of calendar boards in the response to an undo are those of today.
#[tokio::test]
async fn adjustment_changes_board_of_event_alone() {
    let app = start();
    let event = running(&app).await;
    app.count("a", "like", "p").await;
    let paths = [
        "/v1/ranking/day",
        "/v1/ranking/all",
        "/v1/users/a/activity",
        "/v1/users/b/activity",
    ];
    let mut before = Vec::new();
    for path in paths {
        before.push(app.read(path).await);
    }
    for (user, body, expected) in [
        (
            "a",
            points("17", "hackathon", 5),
            adjusted("counted", 5, 7, 1),
        ),
        (
            "a",
            points("17", "hackathon", 5),
            adjusted("duplicate", 0, 7, 1),
        ),
        (
            "b",
            points("17", "hackathon", 9),
            adjusted("counted", 9, 9, 1),
        ),
        (
            "a",
            points("18", "hackathon", -100),
            adjusted("counted", -7, 0, Value::Null),
        ),
    ] {
        app.adjust(user, &body).await.assert(200, expected);
    }
    event.assert_rows(&app, &[("b", 9)]).await;
    let today = |name: &str, points: i64, event: Value| {
        let body = outcome(name, points, standings(day(0), 2, 1));
        with(body, json!({"events": {"hackathon": event}}))
    };
    let undone = app.adjust("a", &undo("18")).await;
    undone.assert(200, today("undone", 7, json!({"score": 7, "rank": 2})));
    let undone = app.adjust("a", &undo("17")).await;
    undone.assert(200, today("undone", -5, json!({"score": 2, "rank": 2})));
    let again = app.adjust("a", &undo("17")).await;
    again.assert(200, outcome("nothing-to-undo", 0, standings(day(0), 2, 1)));
    event.assert_rows(&app, &[("b", 9), ("a", 2)]).await;
    for (path, before) in paths.iter().zip(before) {
        app.assert_get(path, before).await;
    }
}

/// An undo of a calendar adjustment leaves the day's adjustment of an event alone, and the other way round.
#[tokio::test]
async fn adjustments_of_event_and_day_are_independent() {
    let app = start();
    let event = running(&app).await;
    let plain = json!({"id": "1", "points": 4, "reason": "A gift", "groups": ["hackathon"]});
    app.adjust("a", &plain).await.assert_status(200);
    let response = app.adjust("a", &points("2", "hackathon", 3)).await;
    response.assert_status(200);
    event.assert_rows(&app, &[("a", 3)]).await;
    let history = app.read("/v1/users/a/activity").await;
    let actions = json!({"adjust": {"count": 1, "points": 4}});
    assert_eq!(history["days"][0]["actions"], actions);
    app.adjust("a", &undo("2")).await.assert_status(200);
    assert_eq!(app.read("/v1/users/a/activity").await, history);
    event.assert_rows(&app, &[]).await;
    assert_eq!(
        app.read("/v1/ranking/all/users/a?group=hackathon").await["score"],
        4
    );
    // The id is taken, whatever it adjusted.
    let taken = app.adjust("a", &points("1", "hackathon", 3)).await;
    taken.assert(200, adjusted("duplicate", 0, 0, Value::Null));
}

#[tokio::test]
async fn hidden_and_frozen_users_are_adjusted() {
    let app = start();
    let event = running(&app).await;
    app.moderate("a", true, true).await;
    let counted = app.adjust("a", &points("1", "hackathon", 5)).await;
    counted.assert(200, adjusted("counted", 5, 5, Value::Null));
    event.assert_rows(&app, &[]).await;
    app.moderate("a", false, false).await;
    event.assert_rows(&app, &[("a", 5)]).await;
    app.erase("a").await;
    event.assert_rows(&app, &[]).await;
}

#[tokio::test]
async fn adjustment_of_closed_event_changes_nothing() {
    let app = start();
    let event = Event::new("hackathon");
    event.put(&app).await;
    app.count("a", "like", "p").await;
    let before = app.store().snapshot();
    let unknown = app.adjust("a", &points("1", "unknown", 5)).await;
    unknown.assert(404, problem("not-found", "There is no event unknown."));
    let coming = app.adjust("a", &points("1", "hackathon", 5)).await;
    coming.assert(409, problem("event-conflict", "The event has not begun."));
    assert!(app.store().snapshot() == before, "Redis was changed");
}

#[tokio::test]
async fn overflowing_adjustment_of_event_writes_nothing() {
    let app = start();
    running(&app).await;
    app.count("a", "like", "p").await;
    let response = app.adjust("a", &points("1", "hackathon", -2)).await;
    response.assert_status(200);
    let response = app.adjust("a", &points("2", "hackathon", 8_388_607)).await;
    response.assert_status(200);
    let before = app.store().snapshot();
    let more = app.adjust("a", &points("3", "hackathon", 1)).await;
    assert_problem(&more, "score-overflow");
    assert_problem(&app.adjust("a", &undo("1")).await, "score-overflow");
    assert!(app.store().snapshot() == before, "Redis was changed");
}

/// A repeated request is answered as before. An undo is refused for good, also by an event of the same id that is
/// defined later.
#[tokio::test]
async fn final_event_is_not_adjusted() {
    let app = TestApp::with(|worker| worker.var("BOARD_MAX_AGE", "0").var("SETTLE_MINUTES", "0"));
    let mut event = running(&app).await;
    app.count("a", "like", "p").await;
    let response = app.adjust("a", &points("1", "hackathon", -1)).await;
    response.assert_status(200);
    event.end(&mut app.store());
    let app = another(&app, "0");
    let before = app.store().snapshot();
    let refused = app.adjust("a", &points("2", "hackathon", 1)).await;
    refused.assert(409, problem("event-conflict", "The event is final."));
    let detail = "The event of this adjustment is final or deleted: it cannot be undone.";
    let closed = || problem("event-conflict", detail);
    app.adjust("a", &undo("1")).await.assert(409, closed());
    let again = app.adjust("a", &points("1", "hackathon", -1)).await;
    again.assert(200, outcome("duplicate", 0, json!({})));
    assert!(app.store().snapshot() == before, "Redis was changed");
    event.assert_rows(&app, &[("a", 1)]).await;
    app.delete(&event.path()).await.assert_status(204);
    app.adjust("a", &undo("1")).await.assert(409, closed());
    let deleted = app.adjust("a", &points("2", "hackathon", 1)).await;
    assert_problem(&deleted, "not-found");
    let later = Event::between("hackathon", 1_000, 600_000);
    later.put(&app).await;
    later.wait_for(&app, "running").await;
    app.adjust("a", &undo("1")).await.assert(409, closed());
    later.assert_rows(&app, &[]).await;
}

/// While an event settles, moderators adjust its board as before.
#[tokio::test]
async fn settling_event_is_adjusted() {
    let app = start();
    let mut event = running(&app).await;
    event.end(&mut app.store());
    let app = another(&app, "180");
    let counted = app.adjust("a", &points("1", "hackathon", 5)).await;
    counted.assert(200, adjusted("counted", 5, 5, 1));
    app.adjust("a", &undo("1")).await.assert_status(200);
    event.assert_rows(&app, &[]).await;
}

#[tokio::test]
async fn audit_log_names_the_event() {
    let app = start();
    running(&app).await;
    let response = app.adjust("a", &points("1", "hackathon", 5)).await;
    response.assert_status(200);
    app.adjust("a", &undo("1")).await.assert_status(200);
    let log = app.read("/v1/moderation").await;
    let found = rows(
        &log["entries"],
        ["/action", "/user", "/reason", "/adjustment"],
    );
    let entry = |action: &str, reason: &str, points: i64| {
        let adjustment = json!({"id": "1", "event": "hackathon", "points": points});
        json!([action, {"id": "a"}, reason, adjustment])
    };
    let undone = entry("undo-adjust", "Appeal granted", -5);
    assert_eq!(found, json!([undone, entry("adjust", "Likes bought", 5)]));
}

/// The points of a user name the event, from the records and from the journal.
#[tokio::test]
async fn points_of_user_name_the_event() {
    let app = start();
    running(&app).await;
    let response = app.adjust("a", &points("1", "hackathon", 5)).await;
    response.assert_status(200);
    let entries = async |app: &crate::client::Client| {
        let page = app.read("/v1/users/a/points").await;
        let entries = page["entries"].as_array().expect("entries").iter();
        let without_time = |entry: &Value| {
            let mut entry = entry.clone();
            entry.as_object_mut().expect("an object").remove("at");
            entry
        };
        entries.map(without_time).collect::<Vec<Value>>()
    };
    let adjustment = |undone: bool| json!({"type": "adjustment", "points": 5, "event": "hackathon", "undone": undone});
    assert_eq!(entries(&app).await, [adjustment(false)]);

    let app = TestApp::with(|worker| worker.journal());
    Event::new("hackathon").begin(&app, &mut app.store()).await;
    let response = app.adjust("a", &points("1", "hackathon", 5)).await;
    response.assert_status(200);
    app.adjust("a", &undo("1")).await.assert_status(200);
    app.counted(like("a", "p")).await;
    let like = json!({"type": "activity", "action": "like", "target": {"id": "p"}, "points": 2, "undone": false});
    let undone = json!({"type": "undo", "action": "adjust", "points": -5, "event": "hackathon"});
    assert_eq!(entries(&app).await, [like, undone, adjustment(true)]);
}
