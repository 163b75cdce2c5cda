//! Scopes of service keys.

use activity_rank_core::config::Scope;
use test_support::{Answer, Method, Value, json};

use crate::app::TestApp;
use crate::bodies::{activity, like, moderation};
use crate::client::{Client, JSON};
use crate::problem::{problem, unauthenticated};

const KEYS: &str =
    "full,activity:a,profiles:p,admin:d,metrics:m,activity+profiles:ap,admin+activity:da";
/// The keys of [`KEYS`] with their scopes.
const SCOPES: [(&str, &[Scope]); 7] = [
    ("full", &Scope::ALL),
    ("a", &[Scope::Activity]),
    ("p", &[Scope::Profiles]),
    ("d", &[Scope::Admin]),
    ("m", &[Scope::Metrics]),
    ("ap", &[Scope::Activity, Scope::Profiles]),
    ("da", &[Scope::Admin, Scope::Activity]),
];

/// The scopes that allow to read the data of a user: `/admin` shows it.
const READ: &[Scope] = &[Scope::Activity, Scope::Admin];

/// Returns a request to every protected route with the scopes that allow it.
fn routes() -> Vec<(&'static [Scope], Method, &'static str, Value)> {
    let like = like("42", "p");
    let partly_valid = json!([like, {}]);
    let (activity, history) = ("/v1/activity", "/v1/users/42/activity");
    let standings = "/v1/users/42/standings";
    let ada = json!({"name": "Ada"});
    let profiles = json!([{"id": "42", "name": "Ada"}, {}]);
    let (account, pause) = ("/v1/users/42/account", "/v1/users/42/pause");
    let today = crate::clock::day(0).to_string();
    let today = json!({"from": today, "until": today});
    let (state, adjustments) = ("/v1/users/42/moderation", "/v1/users/42/adjustments");
    let (from, to) = ("9000-01-01T00:00:00Z", "9000-01-02T00:00:00Z");
    let event = json!({"title": "Hackathon", "from": from, "to": to});
    let rules = json!({"rules": {"like": {"points": 3}}, "reason": "A test"});
    let adjustment = json!({"id": "1", "points": 5, "reason": "A test"});
    let (sync, running) = ("/v1/syncs/ghost", json!({"state": "running"}));
    let (deliveries, preview) = ("/v1/webhooks/deliveries", "/v1/rules/preview");
    let retry = "/v1/webhooks/deliveries/msg_00000000000000000000000000000000/retry";
    let recount = "/v1/events/e/recount";
    let previewed = json!({"rules": {"like": {"points": 3}}, "from": crate::clock::ago(86_400)});
    vec![
        (&[Scope::Activity], Method::POST, activity, like),
        (&[Scope::Activity], Method::POST, activity, partly_valid),
        (&[Scope::Activity], Method::POST, activity, json!([])),
        (READ, Method::GET, history, Value::Null),
        (READ, Method::GET, "/v1/users/42/points", Value::Null),
        (READ, Method::GET, standings, Value::Null),
        (&[Scope::Profiles], Method::PUT, "/v1/users/42", ada),
        (&[Scope::Profiles], Method::PUT, "/v1/users", profiles),
        (&[Scope::Profiles], Method::PUT, "/v1/users", json!([])),
        (&[Scope::Profiles], Method::PUT, pause, today),
        (&[Scope::Profiles], Method::GET, pause, Value::Null),
        (&[Scope::Profiles], Method::DELETE, pause, Value::Null),
        (&[Scope::Admin], Method::PUT, state, moderation(true, false)),
        (&[Scope::Admin], Method::GET, state, Value::Null),
        (&[Scope::Admin], Method::GET, account, Value::Null),
        (&[Scope::Admin], Method::PUT, account, json!({"of": "9"})),
        (&[Scope::Admin], Method::DELETE, account, Value::Null),
        (&[Scope::Admin], Method::POST, adjustments, adjustment),
        (&[Scope::Admin], Method::GET, "/v1/moderation", Value::Null),
        (&[Scope::Admin], Method::GET, "/v1/status", Value::Null),
        (&[Scope::Metrics], Method::GET, "/metrics", Value::Null),
        (&[Scope::Admin], Method::DELETE, "/v1/users/42", Value::Null),
        (&[Scope::Admin], Method::PUT, "/v1/events/e", event),
        (&[Scope::Admin], Method::DELETE, "/v1/events/e", Value::Null),
        (&[Scope::Admin], Method::POST, "/v1/rules", rules),
        (&[Scope::Admin], Method::GET, "/v1/journal", Value::Null),
        (&[Scope::Admin], Method::GET, "/v1/syncs", Value::Null),
        (&[Scope::Admin], Method::PUT, sync, running),
        (&[Scope::Admin], Method::DELETE, sync, Value::Null),
        (&[Scope::Admin], Method::GET, deliveries, Value::Null),
        (&[Scope::Admin], Method::POST, retry, Value::Null),
        (&[Scope::Admin], Method::GET, preview, Value::Null),
        (&[Scope::Admin], Method::POST, preview, previewed),
        (&[Scope::Admin], Method::DELETE, preview, Value::Null),
        (&[Scope::Admin], Method::POST, recount, json!({})),
    ]
}

/// The routes that need the journal or webhooks, which the deployment does not have.
const UNBOUND: [&str; 5] = [
    "/v1/journal",
    "/v1/syncs",
    "/v1/webhooks",
    "/v1/rules/preview",
    "/v1/events/e/recount",
];

fn lacks(scope: &str) -> Value {
    let detail = format!("This service key lacks the scope {scope}.");
    problem("forbidden", detail)
}

async fn send(client: &Client, method: &Method, path: &str, body: &Value) -> Answer {
    let (body, headers): (_, &[_]) = match body {
        Value::Null => (String::new(), &[]),
        body => (body.to_string(), JSON),
    };
    client.send(method.clone(), path, body, headers).await
}

#[tokio::test]
async fn routes_accept_only_keys_with_their_scope() {
    let app = TestApp::with(|worker| worker.var("SERVICE_KEYS", KEYS));
    let missing = "Send the header Authorization: Bearer <service key>.";
    let before = app.store().snapshot();
    for (_, method, path, body) in routes() {
        for (client, detail) in [
            (app.without_key(), missing),
            (app.with_key("unknown"), "Unknown service key."),
        ] {
            let response = send(&client, &method, path, &body).await;
            response.assert(401, unauthenticated(detail).body());
        }
    }
    assert!(app.store().snapshot() == before, "Redis was changed");
    for (key, scopes) in SCOPES {
        let client = app.with_key(key);
        for (allowing, method, path, body) in routes() {
            let before = app.store().snapshot();
            let response = send(&client, &method, path, &body).await;
            if scopes.iter().any(|scope| allowing.contains(scope)) {
                let success = match method {
                    _ if UNBOUND.iter().any(|route| path.starts_with(route)) => 404,
                    Method::DELETE => 204,
                    _ => 200,
                };
                response.assert_status(success);
            } else {
                response.assert(403, lacks(allowing[0].name()));
                let unchanged = app.store().snapshot() == before;
                assert!(unchanged, "{key}: {method} {path} changed Redis");
            }
        }
    }
    let health = app.read("/healthz").await;
    assert_eq!(health["configured"]["service_keys"], SCOPES.len());
}

#[tokio::test]
async fn scope_is_checked_after_body_and_before_rules() {
    let app = TestApp::with(|worker| worker.var("SERVICE_KEYS", KEYS));
    let (profiles, activities) = (app.with_key("p"), app.with_key("a"));
    let response = profiles.send_activity(like("4 2", "p")).await;
    response.assert_status(400);
    for (path, body) in [
        ("/v1/users/42", json!({"name": 1})),
        ("/v1/users", json!({})),
    ] {
        activities.put(path, &body).await.assert_status(400);
    }
    let dance = activity("42", "dance", "p");
    let response = profiles.send_activity(dance).await;
    response.assert(403, lacks("activity"));
    let response = activities.delete("/v1/users/4%202").await;
    response.assert_status(400);
    let path = "/v1/users/42/activity?days=0";
    profiles.get(path).await.assert_status(400);
}

#[tokio::test]
async fn scope_prefix_is_not_part_of_the_key() {
    let app = TestApp::with(|worker| worker.var("SERVICE_KEYS", KEYS));
    for key in ["activity:a", "activity", "full,activity:a"] {
        let response = app.with_key(key).put("/v1/users/42", &json!({})).await;
        response.assert_status(401);
    }
}

/// Three configurations in a row: the old key, both keys, the new key.
#[tokio::test]
async fn service_key_rotates_without_downtime() {
    let stages = [
        ("activity:old", &["old"][..], "new"),
        ("activity:old,activity:new", &["old", "new"], "other"),
        ("activity:new", &["new"], "old"),
    ];
    for (keys, good, bad) in stages {
        let app = TestApp::with(|worker| worker.var("SERVICE_KEYS", keys));
        for key in good {
            let client = app.with_key(key);
            client.send_activity(json!([])).await.assert_status(200);
            let response = client.delete("/v1/users/42").await;
            response.assert(403, lacks("admin"));
        }
        let response = app.with_key(bad).send_activity(json!([])).await;
        response.assert_status(401);
    }
}
