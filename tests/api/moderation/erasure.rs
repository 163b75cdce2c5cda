//! Erasure of a moderated user.

use test_support::json;

use super::{assert_boards, boards, count_activities, without};
use crate::app::TestApp;
use crate::bodies::rows;

/// The audit log keeps the user's entries without id and reason. The erasure entry counts the
/// removed board entries and keys.
#[tokio::test]
async fn erasure_after_moderation_leaves_no_trace() {
    let app = TestApp::start();
    let users = ["a", "gone-user", "c"];
    count_activities(&app, &users).await;
    let before = boards(&app, &users).await;
    app.set_name("gone-user", "Gone").await;
    app.moderate("gone-user", true, true).await;
    let adjustment = json!({"id": "case-17", "points": 5, "reason": "gone-user asked"});
    let adjusted = app.adjust("gone-user", &adjustment).await;
    adjusted.assert_status(200);
    app.moderate("c", true, false).await;

    app.erase("gone-user").await;
    let mut store = app.store();
    assert_eq!(store.traces("gone-user"), [""; 0]);
    for (key, (value, _)) in store.snapshot() {
        assert!(!value.contains("gone"), "{key} names the user: {value}");
    }
    app.moderate("c", false, false).await;
    let expected = without("gone-user", &before);
    assert_boards(&boards(&app, &users).await, &expected);

    let audit_log = app.read("/v1/moderation").await;
    let entries = &audit_log["entries"];
    let summary = rows(entries, ["/action", "/user", "/reason"]);
    let c = json!({"id": "c"});
    let expected = json!([
        ["unhide", c, "A test"],
        ["erase", null, null],
        ["hide", c, "A test"],
        ["adjust", null, null],
        ["freeze", null, null],
        ["hide", null, null]
    ]);
    assert_eq!(summary, expected);
    // Up to 13 global boards and as many of the group. The keys are the histories of two spans and
    // the deduplication records.
    let removed = &entries[1]["removed"];
    assert_eq!(removed["profiles"], 1);
    assert!(removed["boards"].as_u64().unwrap() >= 18, "{removed}");
    assert!(removed["keys"].as_u64().unwrap() >= 3, "{removed}");
    // A user who returns after the erasure is neither hidden nor frozen.
    let state = json!({"user": {"id": "gone-user"}, "hidden": false, "frozen": false});
    app.assert_get("/v1/users/gone-user/moderation", state)
        .await;
    app.count("gone-user", "like", "p0").await;
}
