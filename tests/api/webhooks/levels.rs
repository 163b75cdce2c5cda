//! `level.reached`.

use test_support::{Value, json, peer};

use super::{HookApp, contents, respond, start_with};
use crate::bodies::{activity, undo};

/// Levels at 3 and 10 votes.
fn start() -> HookApp {
    start_with(|worker| {
        let rules = json!({"vote": {"points": 1}});
        let levels = json!({"Newcomer": 0, "Regular": 3, "Pillar": 10});
        worker.json("RULES", rules).json("LEVELS", levels)
    })
}

/// Sends votes for targets with these numbers.
async fn vote(app: &HookApp, user: &str, targets: std::ops::Range<u32>) {
    let targets: Vec<u32> = targets.collect();
    for targets in targets.chunks(400) {
        let votes = targets
            .iter()
            .map(|target| activity(user, "vote", &target.to_string()));
        let votes: Vec<Value> = votes.collect();
        app.send_activity(json!(votes)).await.assert_status(200);
    }
}

fn reached(user: &str, number: u32, name: &str) -> (Value, Value) {
    let data = json!({"user": {"id": user}, "level": {"number": number, "name": name}});
    (json!("level.reached"), data)
}

#[tokio::test]
async fn member_reaches_each_level_once() {
    let app = start();
    let user = &peer("42");
    vote(&app, user, 0..2).await;
    assert_eq!(app.minute().await, []);
    vote(&app, user, 2..4).await;
    assert_eq!(contents(&app.minute().await), [reached(user, 2, "Regular")]);
    let taken_back = [2, 3].map(|target| undo(activity(user, "vote", &target.to_string())));
    let response = app.send_activity(json!(taken_back)).await;
    response.assert_status(200);
    assert_eq!(app.minute().await, []);
    vote(&app, user, 4..10).await;
    assert_eq!(app.minute().await, []);
    vote(&app, user, 10..13).await;
    assert_eq!(contents(&app.minute().await), [reached(user, 3, "Pillar")]);
}

/// Only the highest of several levels has a message.
#[tokio::test]
async fn new_member_skips_levels() {
    let app = start();
    let user = &peer("42");
    app.put_profile(user, json!({"name": "Ada"})).await;
    vote(&app, user, 0..12).await;
    let messages = app.minute().await;
    let data =
        json!({"user": {"id": user, "name": "Ada"}, "level": {"number": 3, "name": "Pillar"}});
    assert_eq!(contents(&messages), [(json!("level.reached"), data)]);
}

/// The journal has their earlier points from before the webhook.
#[tokio::test]
async fn earlier_level_of_known_member_has_no_message() {
    let app = start();
    let user = &peer("42");
    vote(&app, user, 0..5).await;
    app.minute().await;
    for table in ["levels", "deliveries"] {
        app.worker.sql(&format!("DELETE FROM {table}")).await;
    }
    vote(&app, user, 5..7).await;
    assert_eq!(app.minute().await, []);
    vote(&app, user, 7..10).await;
    assert_eq!(contents(&app.minute().await), [reached(user, 3, "Pillar")]);
}

/// Points that wait behind a batch count as made before, but the level is known from the batch before.
#[tokio::test]
async fn level_in_a_backlog_is_reached_once() {
    let app = start();
    let user = &peer("42");
    vote(&app, user, 0..1).await;
    app.minute().await;
    vote(&app, user, 1..2300).await;
    let mut messages = app.minute().await;
    messages.extend(app.minute().await);
    assert_eq!(contents(&messages), [reached(user, 3, "Pillar")]);
}

#[tokio::test]
async fn hidden_or_erased_member_is_dropped() {
    let app = start();
    let [hidden, erased] = &["42", "7"].map(peer);
    respond(&app.receiver, 500);
    for user in [hidden, erased] {
        vote(&app, user, 0..5).await;
    }
    // The receiver fails, so the second message is not tried.
    assert_eq!(app.minute().await.len(), 1);
    app.moderate(hidden, true, false).await;
    app.erase(erased).await;
    app.pass(5).await;
    respond(&app.receiver, 200);
    for message in app.minute().await {
        assert!(
            message.body["type"]
                .as_str()
                .is_some_and(|kind| kind.starts_with("moderation."))
        );
    }
    assert_eq!(app.states("level.reached").await, ["dropped", "dropped"]);
    let rows = app.worker.sql("SELECT COUNT(*) AS count FROM levels").await;
    assert_eq!(rows, json!([{"count": 1}]));
}

/// The level of a hidden member stays as it was.
#[tokio::test]
async fn hidden_member_reaches_no_level() {
    let app = start();
    let user = &peer("42");
    vote(&app, user, 0..1).await;
    app.moderate(user, true, false).await;
    app.minute().await;
    vote(&app, user, 1..5).await;
    assert_eq!(app.minute().await, []);
    app.moderate(user, false, false).await;
    app.minute().await;
    vote(&app, user, 5..6).await;
    assert_eq!(contents(&app.minute().await), [reached(user, 2, "Regular")]);
}
