//! `GET /v1/moderation`: the audit log.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::clock::day;

/// Sends requests of every kind that adds an entry, and repeats that do not.
async fn add_entries(app: &TestApp) {
    app.count("42", "like", "p").await;
    for reason in ["Spam ring", "Once more"] {
        let state = json!({"hidden": true, "frozen": true, "reason": reason});
        app.write("/v1/users/42/moderation", &state).await;
    }
    app.moderate("42", false, false).await;
    let deduction = json!({"id": "case-17", "points": -1, "reason": "Likes bought"});
    let undo = json!({"id": "case-17", "undo": true, "reason": "Appeal"});
    for adjustment in [&deduction, &deduction, &undo, &undo] {
        app.adjust("42", adjustment).await.assert_status(200);
    }
    for hidden in [true, true, false] {
        let profile = json!({"name": "Ada", "hidden": hidden});
        app.put_profile("42", profile).await;
    }
}

/// Reads the entries, checks the form of `id` and `at`, and removes both.
async fn entries(app: &TestApp) -> Vec<Value> {
    let log = app.read("/v1/moderation").await;
    let mut entries = log["entries"].as_array().cloned().unwrap();
    for entry in &mut entries {
        let fields = entry.as_object_mut().unwrap();
        let (id, at) = (fields.remove("id"), fields.remove("at"));
        assert!(id.is_some_and(|id| id.as_str().unwrap().contains('-')));
        assert!(at.is_some_and(|at| at.as_str().unwrap().ends_with('Z')));
    }
    entries
}

#[tokio::test]
async fn audit_log_lists_each_change_once_newest_first() {
    let app = TestApp::start();
    add_entries(&app).await;
    let ada = json!({"id": "42", "name": "Ada"});
    let by_user = |action: &str| json!({"action": action, "actor": null, "user": ada});
    let entry = |action: &str, reason: &str| json!({"action": action, "actor": null, "user": ada, "reason": reason});
    let adjusted = |action: &str, reason: &str, points: i64| {
        let adjustment = json!({"id": "case-17", "date": day(0).to_string(), "points": points});
        json!({"action": action, "actor": null, "user": ada, "reason": reason,
            "adjustment": adjustment})
    };
    let expected = [
        by_user("opt-in"),
        by_user("opt-out"),
        adjusted("undo-adjust", "Appeal", 1),
        adjusted("adjust", "Likes bought", -1),
        entry("unfreeze", "A test"),
        entry("unhide", "A test"),
        entry("freeze", "Spam ring"),
        entry("hide", "Spam ring"),
    ];
    assert_eq!(entries(&app).await, expected);

    // None of these changes anything.
    app.moderate("42", false, false).await;
    let undo = json!({"id": "1", "undo": true, "reason": "A test"});
    app.adjust("42", &undo).await.assert_status(200);
    app.put_profile("42", json!({"name": "Ada", "hidden": false}))
        .await;
    app.erase("unknown").await;
    assert_eq!(entries(&app).await, expected);
}

#[tokio::test]
async fn audit_log_is_paginated() {
    let app = TestApp::start();
    let empty = || json!({"entries": [], "next": null});
    app.assert_get("/v1/moderation", empty()).await;
    add_entries(&app).await;
    let complete = app.read("/v1/moderation").await;
    assert_eq!(complete["next"], Value::Null);
    let paged = app.pages("/v1/moderation", "before", 3).await;
    assert_eq!(json!(paged), complete["entries"]);
    app.assert_get("/v1/moderation?before=1-0", empty()).await;
}
