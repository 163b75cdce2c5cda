//! A Redis shared with other applications: an ACL on the own prefix suffices, and foreign keys are
//! never touched.

mod anything;
mod requests;
mod strings;

use test_support::{Gateway, RedisOptions, RedisServer, json};

use crate::app::TestApp;
use crate::bodies::{activity, dated, like, undo, with};
use crate::clock::{day, noon};
use crate::healthz::with_setup;
use crate::problem::assert_problem;
use crate::store::Store;

/// Starts a service with the prefix `mine`, whose Redis user may access only keys of `prefix`.
fn start(prefix: &str) -> (RedisServer, Gateway, TestApp) {
    let acl = format!("user ours on >secret resetkeys ~{{{prefix}:* resetchannels +@all");
    let redis = RedisServer::spawn(RedisOptions::default().acl(&acl));
    let gateway = Gateway::spawn(&redis.url_as("ours", "secret"));
    let app = TestApp::with(|worker| worker.var("PREFIX", "mine").store(&gateway.url()));
    (redis, gateway, app)
}

/// The Redis user of the service may access only keys that start with `{mine:`.
#[tokio::test]
async fn acl_on_own_prefix_is_sufficient() {
    let (redis, _gateway, client) = start("mine");
    let mut others = Store::of(&redis, "mine2");
    for name in ["i", "p", "ba:all", "m:42"] {
        let key = others.key(name);
        others.run::<()>("SET", &[&key, "foreign"]);
    }
    others.run::<()>("SET", &["mine", "foreign"]);
    let before = others.snapshot();

    let grouped = |action: &str, target: &str| {
        let groups = json!({"groups": ["eu"]});
        with(activity("42", action, target), groups)
    };
    let (like_r, follow) = (grouped("like", "r"), grouped("follow", "r"));
    let sent = [
        grouped("like", "p"),
        grouped("visit", "/"),
        undo(grouped("like", "p")),
        undo(grouped("like", "q")),
        dated(grouped("like", "then"), noon(40)),
        undo(like("42", "then")),
        json!([like_r, undo(like_r.clone()), follow]),
    ];
    for body in sent {
        client.send_activity(body).await.assert_status(200);
    }
    client.set_name("42", "Ada").await;
    let written = client.put("/v1/users", &json!([{"id": "7"}])).await;
    written.assert_status(200);
    let reads = [
        "/v1/ranking/day",
        "/v1/ranking/all?group=eu",
        &format!("/v1/ranking/week?date={}", day(40)),
        "/v1/ranking/year/users/42?around=5",
        "/v1/ranking/month/users?ids=42,7",
        "/v1/users/42/activity",
        "/v1/users/42/standings",
        "/v1/users/42",
        "/healthz",
        "/openapi.json",
        "/",
        "/docs",
    ];
    for path in reads {
        client.get(path).await.assert_status(200);
    }
    assert_eq!(client.read("/healthz").await["warnings"], with_setup(&[]));
    client.erase("42").await;

    let refused: Vec<redis::Value> = others.run("ACL", &["LOG"]);
    assert!(refused.is_empty(), "{refused:?}");
    assert!(others.snapshot() == before, "foreign keys were touched");
    assert_eq!(others.run::<String>("GET", &["mine"]), "foreign");
    let all: usize = others.run("DBSIZE", &[]);
    let ours = Store::of(&redis, "mine").full_keys().len();
    let known = ours + before.len() + 1;
    assert_eq!(all, known, "a key outside the prefix was written");
}

/// The Redis user of the service may access only keys of another prefix.
#[tokio::test]
async fn acl_without_own_prefix_returns_500() {
    let (redis, _gateway, client) = start("other");
    let response = client.send_activity(like("42", "p")).await;
    assert_problem(&response, "misconfigured");
    let detail = response.body["detail"].as_str().unwrap_or_default();
    let expected = "PREFIX: the store rejects commands on keys with this prefix (";
    assert!(detail.starts_with(expected), "{detail}");
    let health = client.get("/healthz").await;
    let status = &health.assert_status(503).body["status"];
    assert_eq!(status, "misconfigured", "{}", health.text);
    assert_eq!(Store::of(&redis, "mine").keys(), [""; 0]);
}
