//! User tokens: verification, and what their users may do.

mod edge_cache;
mod groups_claim;
mod issuer;
mod jwks;
mod profile_claims;
pub mod row;
mod shared_secret;
pub mod sign;
mod user_ids;

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{self, activity, undo, with};
use crate::client::Client;
use crate::healthz::NO_ORIGINS;
use crate::problem::problem;
use sign::{SECRET, claims, hs256};

/// Starts a deployment with service keys and a shared token secret.
fn start() -> TestApp {
    TestApp::with(|worker| worker.var("JWT_SECRET", SECRET))
}

fn client_of(app: &TestApp, user: &str) -> Client {
    app.with_key(&hs256(&claims(user)))
}

/// A like of user 42 with some fields set.
fn like(fields: Value) -> Value {
    with(bodies::like("42", "p"), fields)
}

const NOT_YOURS: &str = "This user token only grants access to the data of user 42.";

/// Other users, `at`, `groups` and the actions of services are 403. Content is checked before,
/// rules afterwards.
#[tokio::test]
async fn service_only_input_is_forbidden_to_users() {
    let app = start();
    let user = client_of(&app, "42");
    let before = app.store().snapshot();
    let at = "2026-01-01T00:00:00Z";
    let only_services = |input: &str| format!("Only trusted services may send {input}.");
    let publish = only_services("the action publish");
    for (fields, detail) in [
        (json!({"user": "7"}), NOT_YOURS),
        (json!({"user": "7", "undo": true}), NOT_YOURS),
        (json!({"user": "7", "at": at}), NOT_YOURS),
        (json!({"user": "7", "action": "dance"}), NOT_YOURS),
        (json!({"at": at}), &*only_services("`at`")),
        (json!({"groups": ["eu"]}), &only_services("`groups`")),
        (json!({"action": "publish"}), &publish),
        (json!({"action": "publish", "undo": true}), &publish),
    ] {
        let response = user.send_activity(like(fields)).await;
        response.assert(403, problem("forbidden", detail));
    }
    for (fields, status) in [
        (json!({"user": "4 2"}), 400),
        (json!({"user": "7", "undo": 1}), 400),
        (json!({"action": "dance"}), 422),
        (json!({"action": "visit", "target": "/", "undo": true}), 422),
    ] {
        let response = user.send_activity(like(fields)).await;
        response.assert_status(status);
    }
    assert!(app.store().snapshot() == before, "Redis was changed");
}

#[tokio::test]
async fn rule_by_decides_who_may_send_action() {
    let app = TestApp::with(|worker| {
        let rules = json!({"publish": {"by": "user"}, "like": {"by": "service"}});
        worker.var("JWT_SECRET", SECRET).json("RULES", rules)
    });
    let user = client_of(&app, "42");
    let detail = "Only trusted services may send the action like.";
    let response = user.send_activity(like(json!({}))).await;
    response.assert(403, problem("forbidden", detail));
    let publish = like(json!({"action": "publish"}));
    user.counted(publish).await;
    app.counted(like(json!({}))).await;
}

#[tokio::test]
async fn forbidden_array_item_leaves_others_counted() {
    let app = start();
    let user = client_of(&app, "42");
    let activities = json!([
        like(json!({})),
        like(json!({"user": "7"})),
        like(json!({"target": "q"})),
        like(json!({"target": "q", "groups": ["eu"]})),
    ]);
    let groups = "Only trusted services may send `groups`.";
    let counted = json!({"outcome": "counted", "points": 2});
    let error = |detail: &str| json!({"error": problem("forbidden", detail)});
    let results = [&counted, &error(NOT_YOURS), &counted, &error(groups)];
    user.assert_activity(activities, json!({"results": results}))
        .await;
    assert_eq!(app.read("/v1/ranking/day/users/7").await["score"], 0);
}

/// Content is checked before the user.
#[tokio::test]
async fn profile_and_history_belong_to_token_user() {
    let app = start();
    let (user, other) = (client_of(&app, "42"), client_of(&app, "7"));
    let (profile, history) = ("/v1/users/42", "/v1/users/42/activity");
    let ada = json!({"id": "42", "name": "Ada"});
    let response = user.put(profile, &json!({"name": "Ada"})).await;
    response.assert(200, ada.clone());
    user.get(history).await.assert_status(200);
    user.head(history).await.assert_status(200);
    let not_yours = problem(
        "forbidden",
        "This user token only grants access to the data of user 7.",
    );
    let response = other.put(profile, &json!({"name": "Eve"})).await;
    response.assert(403, not_yours.clone());
    other.get(history).await.assert(403, not_yours);
    let invalid = other.put(profile, &json!({"name": 1})).await;
    invalid.assert_status(400);
    let invalid = other.get("/v1/users/42/activity?days=0").await;
    invalid.assert_status(400);
    other.assert_get(profile, ada).await;
}

#[tokio::test]
async fn profile_array_and_erasure_require_service_key() {
    let app = start();
    let user = client_of(&app, "42");
    user.set_name("42", "Ada").await;
    let forbidden = problem("forbidden", "Only trusted services may do this.");
    let profiles = json!([{"id": "42", "name": "Eve"}]);
    let response = user.put("/v1/users", &profiles).await;
    response.assert(403, forbidden.clone());
    user.put("/v1/users", &json!({})).await.assert_status(400);
    user.delete("/v1/users/42").await.assert(403, forbidden);
    user.delete("/v1/users/4%202").await.assert_status(400);
    app.assert_get("/v1/users/42", json!({"id": "42", "name": "Ada"}))
        .await;
}

/// A 401 names the credentials that the configuration accepts.
#[tokio::test]
async fn missing_credentials_detail_names_accepted_kinds() {
    let both = start();
    let users = TestApp::with(|worker| worker.var("JWT_SECRET", SECRET).without("SERVICE_KEYS"));
    for (app, kinds) in [(&both, "service key or user token"), (&users, "user token")] {
        let response = app.without_key().get("/v1/users/42/activity").await;
        let detail = format!("Send the header Authorization: Bearer <{kinds}>.");
        response.assert(401, problem("unauthenticated", detail));
        assert_eq!(response.header("www-authenticate"), Some("Bearer"));
        let health = app.get("/healthz").await;
        assert_eq!(health.body["warnings"], json!([NO_ORIGINS]));
        assert!(!health.text.contains(SECRET));
        let user = client_of(app, "42");
        user.get("/v1/users/42/activity").await.assert_status(200);
    }
}

#[tokio::test]
async fn member_array_has_at_most_50_items() {
    let app = start();
    let items = (0..51).map(|number| like(json!({"target": format!("p{number}")})));
    let items: Vec<Value> = items.collect();
    let client = client_of(&app, "42");
    let detail = "An array sent with a user token has at most 50 items.";
    let response = client.send_activity(json!(items)).await;
    response.assert(413, problem("too-large", detail));
    assert_eq!(app.store().keys(), [""; 0]);
    let response = client.send_activity(json!(items[..50])).await;
    let counted = json!({"outcome": "counted", "points": 2});
    response.assert(200, json!({"results": vec![counted; 50]}));
    // The limit of services is another one.
    app.send_activity(json!(items)).await.assert_status(200);
}

/// What members earn in a day is capped by default. Points that a service sent count against the cap,
/// but services are not bound by it.
#[tokio::test]
async fn member_cap_binds_members_only() {
    let app = start();
    let client = client_of(&app, "42");
    for (action, points, cap) in [
        ("visit", 1, 200),
        ("like", 2, 100),
        ("bookmark", 2, 100),
        ("follow", 2, 100),
        ("comment", 3, 90),
    ] {
        let item = |number: u32| activity("42", action, &format!("/{number}"));
        let counts = cap / points;
        // A service sends the first one.
        app.counted(item(0)).await;
        for first in (1..counts).step_by(50) {
            let items: Vec<Value> = (first..counts.min(first + 50)).map(item).collect();
            let response = client.send_activity(json!(items)).await;
            let results = response.assert_status(200).body["results"].as_array();
            let results = results.expect("results").clone();
            assert!(
                results.iter().all(|result| result["outcome"] == "counted"),
                "{}",
                response.text
            );
        }
        let capped = client.outcome(item(counts), "capped").await;
        assert_eq!(capped["reason"], "daily-cap");
        app.counted(item(counts)).await;
        if action != "visit" {
            // The cap is compared with the net points, so two undos make room for one.
            client.outcome(undo(item(1)), "undone").await;
            client.outcome(item(1), "capped").await;
            client.outcome(undo(item(2)), "undone").await;
            client.counted(item(1)).await;
        }
    }
}
