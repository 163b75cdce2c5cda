//! `Upstash-Sync-Token`.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Gateway, ask, prefix};

async fn after(gateway: &Gateway, path: &str, body: Value) -> String {
    let answer = ask(gateway
        .request(Method::POST, path)
        .header("upstash-sync-token", "")
        .body(body.to_string()))
    .await;
    let token = answer.header("upstash-sync-token").to_owned();
    assert!(!token.is_empty(), "{answer:?}");
    token
}

#[tokio::test]
async fn the_token_changes_after_every_write_on_every_endpoint() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let set = json!(["SETEX", key, 100, 1]);
    let script = json!([
        "EVAL",
        "return redis.call('SETEX', KEYS[1], 100, 1)",
        1,
        key
    ]);
    let mut seen = Vec::new();
    for (path, body) in [
        ("/", set.clone()),
        ("/", set.clone()),
        ("/", script.clone()),
        ("/pipeline", json!([["GET", key], set])),
        ("/multi-exec", json!([set])),
        ("/pipeline", json!([script])),
    ] {
        seen.push(after(&gateway, path, body).await);
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count, "{seen:?}");
}

#[tokio::test]
async fn the_token_stays_while_nothing_is_written() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let first = after(&gateway, "/", json!(["GET", key])).await;
    assert_eq!(
        after(
            &gateway,
            "/pipeline",
            json!([["GET", key], ["ZRANGE", key, 0, 1]])
        )
        .await,
        first
    );
    assert_eq!(after(&gateway, "/", json!(["QUIT"])).await, first);
}

#[tokio::test]
async fn two_gateways_do_not_share_a_token() {
    let (first, second) = (Gateway::start().await, Gateway::start().await);
    let ping = json!(["PING"]);
    assert_ne!(
        after(&first, "/", ping.clone()).await,
        after(&second, "/", ping).await
    );
}
