//! An outbox or tombstone key of an unexpected Redis type: a request writes everything or nothing.

use test_support::{Method, json, peer};

use super::{like, start};
use crate::bodies::{dated, moderation, undo};
use crate::client::JSON;
use crate::clock::noon;
use crate::problem::assert_problem;

#[tokio::test]
async fn wrong_type_outbox_prevents_every_write() {
    let mut app = start();
    app.send(json!([like("a", "1"), like("b", "1")])).await;
    let profile = json!({"name": "Ada", "hidden": true});
    app.put("a", "", profile).await;
    let adjustment = json!({"id": "1", "points": 1, "reason": "A test"});
    app.adjust("a", &adjustment).await.assert_status(200);
    let activity = || "/v1/activity".to_owned();
    let path = |user: &str, route: &str| format!("/v1/users/{}{route}", peer(user));
    let deduction = json!({"id": "2", "points": -1, "reason": "A test"});
    let undo_adjustment = json!({"id": "1", "undo": true, "reason": "A test"});
    let requests = [
        (Method::POST, activity(), like("a", "2")),
        (Method::POST, activity(), undo(like("a", "1"))),
        (Method::POST, activity(), undo(like("a", "never"))),
        (Method::PUT, path("a", ""), json!({"name": "Bea"})),
        (Method::PUT, path("a", ""), json!({"hidden": false})),
        (
            Method::PUT,
            path("b", "/moderation"),
            moderation(true, true),
        ),
        (Method::POST, path("a", "/adjustments"), deduction),
        (Method::POST, path("a", "/adjustments"), undo_adjustment),
        (Method::DELETE, path("a", ""), json!(null)),
    ];
    let outbox = app.store.key("o");
    app.store.run::<i64>("DEL", &[&outbox]);
    app.store.run::<()>("SET", &[&outbox, "foreign"]);
    let before = app.store.snapshot();
    for (method, path, body) in &requests {
        let sent = app
            .client
            .send(method.clone(), path, body.to_string(), JSON)
            .await;
        assert_problem(&sent, "misconfigured");
        let unchanged = app.store.snapshot() == before;
        assert!(unchanged, "{method} {path} changed Redis");
    }
    app.get("/v1/journal").await.assert_status(500);
    let health = app.get("/healthz").await;
    assert_eq!(health.assert_status(503).body["status"], "misconfigured");

    // Dated activity and erasure need the tombstones. Other activity does not.
    let tombstones = app.store.key("e");
    app.store.run::<()>("RENAME", &[&outbox, &tombstones]);
    let before = app.store.snapshot();
    let dated = dated(like("a", "9"), noon(1));
    assert_eq!(app.send(json!([dated])).await, ["/problems/misconfigured"]);
    app.delete(&path("a", "")).await.assert_status(500);
    assert!(app.store.snapshot() == before);
    assert_eq!(app.send(like("a", "2")).await, ["counted"]);
}
