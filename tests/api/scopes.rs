//! What a service key with scopes is good for.

use activity_rank::config::Scope;
use test_support::{Api, Method, Value, json};

use crate::client::Client;
use crate::site::Site;
use crate::token::row::forbidden;

const KEYS: &str = "full,activity:a,profiles:p,admin:d,activity+profiles:ap,admin+activity:da";
/// A key of [`KEYS`] and its scopes.
const GOOD_FOR: [(&str, &[Scope]); 6] = [
    ("full", &Scope::ALL),
    ("a", &[Scope::Activity]),
    ("p", &[Scope::Profiles]),
    ("d", &[Scope::Admin]),
    ("ap", &[Scope::Activity, Scope::Profiles]),
    ("da", &[Scope::Admin, Scope::Activity]),
];

/// What only some may do, and the scope that a service key needs for it.
fn routes() -> Vec<(Scope, Method, &'static str, Value)> {
    let like = json!({"user": "42", "action": "like", "target": "p"});
    let ada = json!({"name": "Ada"});
    vec![
        (Scope::Activity, Method::POST, "/v1/activity", like.clone()),
        (
            Scope::Activity,
            Method::POST,
            "/v1/activity",
            json!([like, {}]),
        ),
        (Scope::Activity, Method::POST, "/v1/activity", json!([])),
        (
            Scope::Activity,
            Method::GET,
            "/v1/users/42/activity",
            Value::Null,
        ),
        (Scope::Profiles, Method::PUT, "/v1/users/42", ada),
        (
            Scope::Profiles,
            Method::PUT,
            "/v1/users",
            json!([{"id": "42", "name": "Ada"}, {}]),
        ),
        (Scope::Profiles, Method::PUT, "/v1/users", json!([])),
        (
            Scope::Admin,
            Method::PUT,
            "/v1/users/42/moderation",
            json!({"hidden": true, "frozen": false, "reason": "A test"}),
        ),
        (
            Scope::Admin,
            Method::GET,
            "/v1/users/42/moderation",
            Value::Null,
        ),
        (
            Scope::Admin,
            Method::POST,
            "/v1/users/42/adjustments",
            json!({"id": "1", "points": 5, "reason": "A test"}),
        ),
        (Scope::Admin, Method::GET, "/v1/moderation", Value::Null),
        (Scope::Admin, Method::DELETE, "/v1/users/42", Value::Null),
    ]
}

fn client(site: &Site, key: &str) -> Client {
    Client::new(Api::new(site.url()).with_key(key))
}

fn lacks(scope: &str) -> Value {
    forbidden(&format!("This service key lacks the scope {scope}."))
}

async fn send(client: &Client, method: &Method, path: &str, body: &Value) -> test_support::Answer {
    let (body, headers): (_, &[_]) = match body {
        Value::Null => (String::new(), &[]),
        body => (body.to_string(), &[("content-type", "application/json")]),
    };
    client.send(method.clone(), path, body, headers).await
}

#[tokio::test]
async fn every_route_takes_the_keys_with_its_scope_and_no_others() {
    let site = Site::with(|worker| worker.var("SERVICE_KEYS", KEYS));
    for (key, scopes) in GOOD_FOR {
        let client = client(&site, key);
        for (scope, method, path, body) in routes() {
            let before = site.store().snapshot();
            let answer = send(&client, &method, path, &body).await;
            if scopes.contains(&scope) {
                let done = if method == Method::DELETE { 204 } else { 200 };
                answer.assert_status(done);
            } else {
                answer.assert(403, lacks(scope.name()));
                let unchanged = site.store().snapshot() == before;
                assert!(unchanged, "{key}: {method} {path} changed Redis");
            }
        }
    }
    let told = site.get("/healthz").await;
    assert_eq!(told.body["configured"]["service_keys"], GOOD_FOR.len());
}

#[tokio::test]
async fn what_is_public_needs_no_scope() {
    let site = Site::with(|worker| worker.var("SERVICE_KEYS", KEYS));
    for (key, _) in GOOD_FOR {
        let client = client(&site, key);
        for path in ["/v1/ranking/day", "/v1/ranking/day/users/42", "/healthz"] {
            client.get(path).await.assert_status(200);
        }
    }
}

#[tokio::test]
async fn content_is_told_before_the_scope_and_rules_behind() {
    let site = Site::with(|worker| worker.var("SERVICE_KEYS", KEYS));
    let (profiles, activity) = (client(&site, "p"), client(&site, "a"));
    let like = json!({"user": "4 2", "action": "like", "target": "p"});
    let answer = profiles.post("/v1/activity", &like).await;
    answer.assert_status(400);
    let dance = json!({"user": "42", "action": "dance", "target": "p"});
    let answer = profiles.post("/v1/activity", &dance).await;
    answer.assert(403, lacks("activity"));
    let answer = activity.put("/v1/users/42", &json!({"name": 1})).await;
    answer.assert_status(400);
    activity
        .put("/v1/users", &json!({}))
        .await
        .assert_status(400);
    activity.delete("/v1/users/4%202").await.assert_status(400);
    let path = "/v1/users/42/activity?days=0";
    profiles.get(path).await.assert_status(400);
}

#[tokio::test]
async fn the_scopes_in_front_are_no_part_of_a_key() {
    let site = Site::with(|worker| worker.var("SERVICE_KEYS", KEYS));
    for key in [
        "activity:a",
        "activity",
        "activity+profiles:ap",
        "full,activity:a",
    ] {
        let answer = client(&site, key).put("/v1/users/42", &json!({})).await;
        answer.assert_status(401);
    }
}

#[tokio::test]
async fn a_key_is_replaced_by_another_without_a_moment_when_neither_holds() {
    let stages = [
        ("activity:old", &["old"][..], "new"),
        ("activity:old,activity:new", &["old", "new"], "other"),
        ("activity:new", &["new"], "old"),
    ];
    for (keys, good, bad) in stages {
        let site = Site::with(|worker| worker.var("SERVICE_KEYS", keys));
        for key in good {
            let client = client(&site, key);
            client
                .post("/v1/activity", &json!([]))
                .await
                .assert_status(200);
            let answer = client.delete("/v1/users/42").await;
            answer.assert(403, lacks("admin"));
        }
        let answer = client(&site, bad).post("/v1/activity", &json!([])).await;
        answer.assert_status(401);
    }
}
