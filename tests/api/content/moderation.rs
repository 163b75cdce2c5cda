//! `/v1/targets/{target}/moderation`, and the deletion of targets.

use activity_rank_store::scripts::MODERATE_TARGET;
use test_support::{Fault, Forwarder, Value, json};

use super::{assert_boards, content, register, row, rows, start};
use crate::app::TestApp;
use crate::bodies::{activity, like, undo};
use crate::client::Client;
use crate::problem::{Problem, field_error, field_errors};

pub async fn delete(app: &Client, target: &str) -> u16 {
    app.delete(&format!("/v1/targets/{target}")).await.status
}

/// Interrupts the next moderation or deletion after its first request.
async fn interrupt_next(app: &Client, forwarder: &Forwarder) {
    // Loads the script: the first request of a script that the store lacks does nothing.
    delete(app, "unknown").await;
    let digests = [MODERATE_TARGET.sha, MODERATE_TARGET.plain_sha];
    forwarder.fail_script(digests, Fault::CutAfter);
}

/// Two targets of the author 9 with 4 and 2 points.
pub async fn two_targets(app: &TestApp) {
    register(app, "post-7", json!({"author": "9", "title": "A title"})).await;
    register(app, "post-8", json!({"author": "9"})).await;
    for (user, target) in [("42", "post-7"), ("43", "post-7"), ("42", "post-8")] {
        app.count(user, "like", target).await;
    }
}

#[tokio::test]
async fn hidden_target_leaves_boards_and_returns() {
    let app = start();
    two_targets(&app).await;
    let path = "/v1/targets/post-7/moderation";
    let state = |hidden: bool| {
        let target = json!({"id": "post-7", "title": "A title"});
        json!({"target": target, "hidden": hidden})
    };
    let body = json!({"hidden": true, "reason": "Spam"});
    app.put(path, &body).await.assert(200, state(true));
    app.assert_get(path, state(true)).await;
    assert_boards(&app, &[("post-8", 2)], &[("9", 6)]).await;
    app.get("/v1/targets/post-7").await.assert_status(404);
    let standing = app.read("/v1/content/all/targets/post-7").await;
    let unknown = [&standing["target"], &standing["rank"], &standing["score"]];
    assert_eq!(unknown, [&json!({"id": "post-7"}), &Value::Null, &json!(0)]);
    // It goes on receiving.
    app.count("44", "like", "post-7").await;
    app.outcome(undo(like("43", "post-7")), "undone").await;
    assert_boards(&app, &[("post-8", 2)], &[("9", 6)]).await;
    app.count("45", "like", "post-7").await;
    app.moderate_target("post-7", false).await;
    assert_boards(&app, &[("post-7", 6), ("post-8", 2)], &[("9", 8)]).await;
    app.assert_get(path, state(false)).await;
}

#[tokio::test]
async fn hidden_user_of_the_same_id_stays() {
    let app = start();
    register(&app, "9", json!({"author": "9"})).await;
    app.count("9", "comment", "c-1").await;
    app.count("42", "like", "9").await;
    app.moderate_target("9", true).await;
    assert_boards(&app, &[], &[("9", 2)]).await;
    assert_eq!(app.read("/v1/ranking/all/users/9").await["score"], 3);
    app.moderate_target("9", false).await;
    app.moderate("9", true, false).await;
    assert_boards(&app, &[("9", 2)], &[]).await;
    assert_eq!(delete(&app, "9").await, 204);
    app.moderate("9", false, false).await;
    assert_boards(&app, &[], &[("9", 2)]).await;
    register(&app, "42", json!({"author": "7"})).await;
    app.count("43", "like", "42").await;
    app.erase("42").await;
    assert_boards(&app, &[("42", 2)], &[("9", 2), ("7", 2)]).await;
}

#[tokio::test]
async fn audit_log_lists_what_was_done_to_targets() {
    let app = start();
    two_targets(&app).await;
    app.moderate_target("post-7", true).await;
    app.moderate_target("post-7", true).await;
    app.moderate_target("post-7", false).await;
    assert_eq!(delete(&app, "post-8").await, 204);
    assert_eq!(delete(&app, "post-8").await, 204);
    app.moderate("42", true, false).await;
    let log = app.read("/v1/moderation").await;
    let mut entries = log["entries"].as_array().cloned().unwrap();
    for entry in &mut entries {
        entry["id"] = Value::Null;
        entry["at"] = Value::Null;
    }
    let entry = |action: &str, subject: Value| {
        let mut entry =
            json!({"id": null, "at": null, "action": action, "actor": null, "user": null});
        let fields = entry.as_object_mut().unwrap();
        fields.extend(subject.as_object().cloned().unwrap());
        entry
    };
    let target = json!({"target": {"id": "post-7", "title": "A title"}, "reason": "A test"});
    let expected = json!([
        entry("hide", json!({"user": {"id": "42"}, "reason": "A test"})),
        entry("delete", json!({"target": {"id": "post-8"}})),
        entry("unhide", target.clone()),
        entry("hide", target),
    ]);
    assert_eq!(json!(entries), expected);
}

#[tokio::test]
async fn unknown_target_is_not_moderated() {
    let app = start();
    let problem = Problem::new("not-found", "The target post-7 is not registered.");
    let path = "/v1/targets/post-7/moderation";
    let body = json!({"hidden": true, "reason": "Spam"});
    app.put(path, &body).await.assert(404, problem.body());
    app.get(path).await.assert(404, problem.body());
    assert_eq!(delete(&app, "post-7").await, 204);
    let expected = json!({"entries": [], "next": null});
    app.assert_get("/v1/moderation", expected).await;
}

#[tokio::test]
async fn moderation_needs_the_scope_and_a_valid_body() {
    let app = start();
    two_targets(&app).await;
    let path = "/v1/targets/post-7/moderation";
    let anonymous = app.without_key();
    anonymous.put(path, &json!({})).await.assert_status(401);
    anonymous.get(path).await.assert_status(401);
    assert_eq!(delete(&anonymous, "post-7").await, 401);
    let reason = "must be a text of 1 to 500 characters";
    let problem = field_errors(&[("hidden", "must be true or false"), ("reason", reason)]);
    app.put(path, &json!({})).await.assert(400, problem.body());
    let problem = field_error("frozen", "is unknown; expected one of hidden, reason");
    let body = json!({"hidden": true, "reason": "Spam", "frozen": true});
    app.put(path, &body).await.assert(400, problem.body());
    assert_boards(&app, &[("post-7", 4), ("post-8", 2)], &[("9", 6)]).await;
}

/// The first request after an interrupted deletion counts for the target again.
#[tokio::test]
async fn new_registration_waits_for_the_deletion() {
    let (app, forwarder) = TestApp::behind_forwarder(content);
    let again = [
        json!({"user": "44", "action": "like", "target": "post-7", "author": "9"}),
        json!({"user": "44", "action": "comment", "target": "c", "on": "post-7", "author": "9"}),
        activity("9", "publish", "post-7"),
    ];
    two_targets(&app).await;
    assert_eq!(delete(&app, "post-8").await, 204);
    for body in again {
        app.store().clear();
        two_targets(&app).await;
        interrupt_next(&app, &forwarder).await;
        assert_eq!(delete(&app, "post-7").await, 503);
        forwarder.heal();
        app.counted(body.clone()).await;
        let received = rows(&app, "/v1/content/all").await;
        let expected = match body["action"].as_str() {
            Some("publish") => None,
            Some("comment") => Some(row("post-7", 3)),
            _ => Some(row("post-7", 2)),
        };
        let found = received.into_iter().find(|(id, _)| id == "post-7");
        assert_eq!(found, expected, "{body}");
        assert_eq!(delete(&app, "post-7").await, 204);
    }
    assert_eq!(app.store().pending_changes("\tpost-7"), 0);
}

#[tokio::test]
async fn cron_completes_an_interrupted_deletion() {
    let (app, forwarder) = TestApp::behind_forwarder(content);
    register(&app, "post-7", json!({"author": "9"})).await;
    app.count("42", "like", "post-7").await;
    app.count("42", "like", "post-8").await;
    app.worker.minute().await;
    interrupt_next(&app, &forwarder).await;
    let first = delete(&app, "post-7").await;
    forwarder.heal();
    assert_eq!(first, 503);
    app.worker.minute().await;
    let mut store = app.store();
    assert_eq!(store.pending_changes("\tpost-7"), 0);
    let board = store.key_of("post-7", "bTa:all");
    assert_eq!(store.run::<i64>("ZCARD", &[&board]), 1);
}
