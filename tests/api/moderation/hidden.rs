//! Hidden users.

use std::collections::BTreeSet;

use test_support::{json, rest};

use super::{assert_boards, boards, count_activities, without};
use crate::app::TestApp;
use crate::bodies::{ids, rows};

use crate::token::sign;

const USERS: [&str; 4] = ["a", "b", "c", "d"];

#[tokio::test]
async fn hidden_user_leaves_and_regains_every_board() {
    let app = TestApp::start();
    count_activities(&app, &USERS).await;
    let before = boards(&app, &USERS).await;
    let mut store = app.store();
    let stored = store.snapshot();
    let boards_of = |key: &&String| rest(key).starts_with('b');
    let mut counters: Vec<(&str, u64)> = Vec::new();
    for key in stored.keys().filter(boards_of) {
        counters.push((key, store.run("ZSCORE", &[key, "#"])));
    }
    for user in USERS {
        let state = json!({"user": {"id": user}, "hidden": true, "frozen": false});
        app.moderate(user, true, false).await.assert(200, state);
        let found = boards(&app, &USERS).await;
        assert_boards(&found, &without(user, &before));
        app.moderate(user, false, false).await;
        assert_boards(&boards(&app, &USERS).await, &before);
    }
    // Only the order counters have moved.
    for (key, before) in counters {
        let after: u64 = store.run("ZSCORE", &[key, "#"]);
        assert!(after > before, "{key}: {before}, {after}");
        store.run::<i64>("ZADD", &[key, &before.to_string(), "#"]);
    }
    // Every earlier key has its value and expiry again. New are the moderation states, fields of the
    // hash of users, and the audit log.
    for key in store.full_keys().iter().filter(|key| rest(key) == "p") {
        let fields: Vec<String> = store.run("HKEYS", &[key]);
        for field in fields.iter().filter(|field| field.starts_with('!')) {
            store.run::<()>("HDEL", &[key, field]);
        }
    }
    let now = store.snapshot();
    for (key, value) in &stored {
        assert!(now.get(key) == Some(value), "{key} has changed");
    }
    let new = now.keys().filter(|key| !stored.contains_key(*key));
    let new: BTreeSet<&str> = new.map(|key| rest(key)).collect();
    assert_eq!(new, BTreeSet::from(["l", "w"]));
}

/// A service that updates the profile, and a moderator who unhides the user, leave the user's own
/// choice in place.
#[tokio::test]
async fn self_hidden_user_reappears_only_by_own_request() {
    let app = TestApp::with(|worker| worker.var("JWT_SECRET", sign::SECRET));
    count_activities(&app, &USERS).await;
    let before = boards(&app, &USERS).await;
    let user = app.with_key(&sign::hs256(&sign::claims("b")));
    let hidden = json!({"id": "b", "hidden": true});
    let response = user.put("/v1/users/b", &json!({"hidden": true})).await;
    response.assert(200, hidden.clone());
    app.assert_get("/v1/users/b", hidden).await;
    let without_b = without("b", &before);
    assert_boards(&boards(&app, &USERS).await, &without_b);

    let named = json!({"id": "b", "name": "Bea", "hidden": true});
    let response = app.put("/v1/users/b", &json!({"name": "Bea"})).await;
    response.assert(200, named.clone());
    let profiles = json!([{"id": "b", "name": "Bea"}]);
    let response = app.put("/v1/users", &profiles).await;
    response.assert(200, json!({"results": [named]}));
    assert_boards(&boards(&app, &USERS).await, &without_b);

    app.moderate("b", true, false).await;
    let visible = json!({"user": {"id": "b", "name": "Bea", "hidden": true}, "hidden": false, "frozen": false});
    app.moderate("b", false, false).await.assert(200, visible);
    assert_boards(&boards(&app, &USERS).await, &without_b);

    // The user's own request does not lift the moderator's decision.
    app.moderate("b", true, false).await;
    let response = user.put("/v1/users/b", &json!({"hidden": false})).await;
    response.assert(200, json!({"id": "b"}));
    assert_boards(&boards(&app, &USERS).await, &without_b);
    let state = json!({"user": {"id": "b"}, "hidden": true, "frozen": false});
    app.assert_get("/v1/users/b/moderation", state).await;
    app.moderate("b", false, false).await;
    assert_boards(&boards(&app, &USERS).await, &before);
}

#[tokio::test]
async fn profile_array_hides_users_last_item_wins() {
    let app = TestApp::start();
    count_activities(&app, &USERS).await;
    let before = boards(&app, &USERS).await;
    let profiles = json!([
        {"id": "a", "hidden": true}, {"id": "b", "hidden": true}, {"id": "x y", "hidden": true},
        {"id": "c", "hidden": true}, {"id": "c", "hidden": false}, {"id": "b"},
    ]);
    let response = app.put("/v1/users", &profiles).await;
    response.assert_status(200);
    let results = rows(&response.body["results"], ["/id", "/hidden"]);
    let expected = json!([
        ["a", true],
        ["b", true],
        [null, null],
        ["c", null],
        ["c", null],
        ["b", true]
    ]);
    assert_eq!(results, expected, "{}", response.text);
    let expected = without("b", &without("a", &before));
    assert_boards(&boards(&app, &USERS).await, &expected);
    let visible = json!([{"id": "a", "hidden": false}, {"id": "b", "hidden": false}]);
    app.write("/v1/users", &visible).await;
    assert_boards(&boards(&app, &USERS).await, &before);
}

#[tokio::test]
async fn user_without_activity_can_be_hidden() {
    let app = TestApp::start();
    let visible = json!({"user": {"id": "new"}, "hidden": false, "frozen": false});
    let path = "/v1/users/new/moderation";
    app.assert_get(path, visible.clone()).await;
    let response = app.moderate("new", false, false).await;
    response.assert(200, visible);
    assert_eq!(app.store().keys(), [""; 0]);
    app.moderate("new", true, false).await;
    app.count("new", "like", "p").await;
    assert_eq!(app.read("/v1/ranking/day").await["total"], 0);
    app.moderate("new", false, false).await;
    assert_eq!(ids(&app.read("/v1/ranking/day").await), ["new"]);
}
