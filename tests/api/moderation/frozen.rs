//! Frozen users.

use test_support::json;

use super::{boards, count_activities};
use crate::app::TestApp;
use crate::bodies::{activity, like, undo};
use crate::problem::problem;
use crate::token::sign;

const FROZEN: &str = "This user is frozen: their activity is not counted.";

/// A frozen user keeps all points. Activities and undos of the user are 403 and write nothing. Rules are checked first because
/// they need no Redis read.
#[tokio::test]
async fn frozen_user_cannot_count_or_undo() {
    let app = TestApp::start();
    count_activities(&app, &["a", "b"]).await;
    let before = boards(&app, &["a", "b"]).await;
    let frozen = json!({"user": {"id": "a"}, "hidden": false, "frozen": true});
    app.moderate("a", false, true).await.assert(200, frozen);
    assert_eq!(boards(&app, &["a", "b"]).await, before);
    let stored = app.store().snapshot();
    let new = like("a", "new");
    let undo = undo(activity("a", "comment", "c"));
    let visit = activity("a", "visit", "/");
    let duplicate = activity("a", "comment", "c");
    for activity in [&new, &undo, &visit, &duplicate] {
        let response = app.send_activity(activity.clone()).await;
        response.assert(403, problem("forbidden", FROZEN));
    }
    assert!(app.store().snapshot() == stored, "Redis was changed");
    let other = like("b", "new");
    let response = app.send_activity(json!([new, other, undo])).await;
    let error = json!({"error": problem("forbidden", FROZEN)});
    let counted = json!({"outcome": "counted", "points": 2});
    response.assert(200, json!({"results": [error, counted, error]}));
    app.moderate("a", false, false).await;
    app.outcome(undo, "undone").await;
    app.counted(new).await;

    app.moderate("a", false, true).await;
    let response = app.send_activity(activity("a", "dance", "t")).await;
    response.assert_status(422);
}

#[tokio::test]
async fn frozen_user_cannot_change_own_profile() {
    let app = TestApp::with(|worker| worker.var("JWT_SECRET", sign::SECRET));
    let user = app.with_key(&sign::hs256(&sign::claims("a")));
    user.write("/v1/users/a", &json!({"name": "Ada"})).await;
    app.moderate("a", false, true).await;
    let stored = app.store().snapshot();
    let detail = "This user is frozen: their profile cannot be changed.";
    for profile in [
        json!({"url": "https://spam.example/"}),
        json!({"hidden": true}),
    ] {
        let response = user.put("/v1/users/a", &profile).await;
        response.assert(403, problem("forbidden", detail));
    }
    assert!(app.store().snapshot() == stored, "Redis was changed");
    app.assert_get("/v1/users/a", json!({"id": "a", "name": "Ada"}))
        .await;
    app.set_name("a", "Ada L.").await;
    app.moderate("a", false, false).await;
    user.write("/v1/users/a", &json!({"name": "Ada"})).await;
}
