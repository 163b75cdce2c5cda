//! A Redis shared with others: a user of its own that may touch our keys alone is enough.

mod anything;
mod requests;
mod strings;

use test_support::{Gateway, RedisOptions, RedisServer, json};

use crate::client::Client;
use crate::clock::{day, noon, noon_zone};
use crate::site::patient;
use crate::store::Store;

#[tokio::test]
async fn nothing_is_refused_to_a_user_who_may_touch_this_prefix_alone() {
    let acl = "user ours on >secret resetkeys ~{mine:* resetchannels +@all";
    let redis = RedisServer::spawn(RedisOptions::default().acl(acl));
    let gateway = Gateway::spawn(&redis.url_as("ours", "secret"));
    let worker = patient().var("PREFIX", "mine").var("TIMEZONE", noon_zone());
    let worker = worker.store(&gateway.url()).start();
    let client = Client::new(worker.api());
    let mut others = Store::of(&redis, "mine2");
    for name in ["s", "i", "p", "ba:all", "m:42"] {
        let key = others.key(name);
        others.run::<()>("SET", &[&key, "somebody's"]);
    }
    others.run::<()>("SET", &["mine", "somebody's"]);
    let before = others.snapshot();

    let of = |action: &str, target: &str, undo: bool| json!({"user": "42", "action": action, "target": target, "undo": undo, "groups": ["eu"]});
    let mut dated = of("like", "then", false);
    dated["at"] = json!(noon(40));
    let undo_dated = json!({"user": "42", "action": "like", "target": "then", "undo": true});
    let sent = [
        of("like", "p", false),
        of("visit", "/", false),
        of("like", "p", true),
        of("like", "q", true),
        dated,
        undo_dated,
        json!([
            of("like", "r", false),
            of("like", "r", true),
            of("follow", "r", false)
        ]),
    ];
    for activity in sent {
        client
            .post("/v1/activity", &activity)
            .await
            .assert_status(200);
    }
    let profile = json!({"name": "Ada"});
    client
        .put("/v1/users/42", &profile)
        .await
        .assert_status(200);
    client
        .put("/v1/users", &json!([{"id": "7"}]))
        .await
        .assert_status(200);
    let reads = [
        "/v1/ranking/day",
        "/v1/ranking/all?group=eu",
        &format!("/v1/ranking/week?date={}", day(40)),
        "/v1/ranking/year/users/42?around=5",
        "/v1/ranking/month/users?ids=42,7",
        "/v1/users/42/activity",
        "/v1/users/42",
        "/healthz",
        "/openapi.json",
        "/",
        "/docs",
    ];
    for path in reads {
        client.get(path).await.assert_status(200);
    }
    assert_eq!(client.get("/healthz").await.body["warnings"], json!([]));
    client.delete("/v1/users/42").await.assert_status(204);

    let refused: Vec<redis::Value> = others.run("ACL", &["LOG"]);
    assert!(refused.is_empty(), "{refused:?}");
    assert!(
        others.snapshot() == before,
        "another site's keys were touched"
    );
    assert_eq!(others.run::<String>("GET", &["mine"]), "somebody's");
    let all: usize = others.run("DBSIZE", &[]);
    let ours = Store::of(&redis, "mine").whole_keys().len();
    assert_eq!(
        all,
        ours + before.len() + 1,
        "a key outside the prefix was written"
    );
}

#[tokio::test]
async fn a_user_who_may_not_touch_this_prefix_is_told_so() {
    let acl = "user ours on >secret resetkeys ~{other:* resetchannels +@all";
    let redis = RedisServer::spawn(RedisOptions::default().acl(acl));
    let gateway = Gateway::spawn(&redis.url_as("ours", "secret"));
    let worker = patient()
        .var("PREFIX", "mine")
        .store(&gateway.url())
        .start();
    let client = Client::new(worker.api());
    let like = json!({"user": "42", "action": "like", "target": "p"});
    let answer = client.post("/v1/activity", &like).await;
    let detail = answer.body["detail"].as_str().unwrap_or_default();
    assert!(
        detail.starts_with("PREFIX: the store refuses what is under this prefix ("),
        "{}",
        answer.text
    );
    assert_eq!(
        (answer.status, &answer.body["type"]),
        (500, &json!("/problems/misconfigured"))
    );
    let health = client.get("/healthz").await;
    assert_eq!(
        (health.status, &health.body["status"]),
        (503, &json!("misconfigured")),
        "{}",
        health.text
    );
    assert_eq!(Store::of(&redis, "mine").keys(), [""; 0]);
}
