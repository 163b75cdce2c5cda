//! The `Upstash-Sync-Token` header.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Gateway, prefix, send};

/// Sends a request and returns the sync token of the response.
async fn token_after(gateway: &Gateway, path: &str, body: Value) -> String {
    let response = send(
        gateway
            .request(Method::POST, path)
            .header("upstash-sync-token", "")
            .body(body.to_string()),
    )
    .await;
    let token = response.header("upstash-sync-token").to_owned();
    assert!(!token.is_empty(), "{response:?}");
    token
}

#[tokio::test]
async fn sync_token_changes_after_every_write() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let set = json!(["SETEX", key, 100, 1]);
    let script = json!([
        "EVAL",
        "return redis.call('SETEX', KEYS[1], 100, 1)",
        1,
        key
    ]);
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
    assert_eq!(
        token_after(
            &gateway,
            "/pipeline",
            json!([["GET", key], ["ZRANGE", key, 0, 1]])
        )
        .await,
        first
    );
    assert_eq!(token_after(&gateway, "/", json!(["QUIT"])).await, first);
}

#[tokio::test]
async fn gateways_have_different_sync_tokens() {
    let (first, second) = (Gateway::start().await, Gateway::start().await);
    let ping = json!(["PING"]);
    assert_ne!(
        token_after(&first, "/", ping.clone()).await,
        token_after(&second, "/", ping).await
    );
}
