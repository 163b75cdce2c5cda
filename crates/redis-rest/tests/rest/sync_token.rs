//! The `Upstash-Sync-Token` header.

use serde_json::{Value, json};

use crate::support::{Gateway, prefix};

/// Sends a request and returns the sync token of the response.
async fn token_after(gateway: &Gateway, path: &str, body: Value) -> String {
    let header = ["upstash-sync-token", ""];
    let response = gateway.post_with(header, path, body.to_string()).await;
    let token = response.header("upstash-sync-token").to_owned();
    assert!(!token.is_empty(), "{response:?}");
    token
}

#[tokio::test]
async fn sync_token_changes_after_every_write() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let set = json!(["SETEX", key, 100, 1]);
    let script = "return redis.call('SETEX', KEYS[1], 100, 1)";
    let script = json!(["EVAL", script, 1, key]);
    let mut tokens = Vec::new();
    for (path, body) in [
        ("/", set.clone()),
        ("/", set.clone()),
        ("/", script.clone()),
        ("/pipeline", json!([["GET", key], set])),
        ("/multi-exec", json!([set])),
        ("/pipeline", json!([script])),
    ] {
        tokens.push(token_after(&gateway, path, body).await);
    }
    let count = tokens.len();
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), count, "{tokens:?}");
}

#[tokio::test]
async fn sync_token_is_stable_without_writes() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let first = token_after(&gateway, "/", json!(["GET", key])).await;
    let reads = json!([["GET", key], ["ZRANGE", key, 0, 1]]);
    responds!(token_after(&gateway, "/pipeline", reads) => first);
    assert_eq!(token_after(&gateway, "/", json!(["QUIT"])).await, first);
}

#[tokio::test]
async fn gateways_have_different_sync_tokens() {
    let (first, second) = (Gateway::start().await, Gateway::start().await);
    let token = token_after(&first, "/", json!(["PING"])).await;
    assert_ne!(token_after(&second, "/", json!(["PING"])).await, token);
}
