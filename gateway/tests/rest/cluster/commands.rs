//! Commands that concern several nodes do what they do on one Redis.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{gateway, shared_cluster};
use crate::support::{Gateway, PRIMARIES, prefix};

/// Sets so many keys, which lie in slots of all nodes.
async fn set(gateway: &Gateway, key: &str, count: usize) -> Vec<String> {
    let keys: Vec<String> = (0..count).map(|each| format!("{key}:{each}")).collect();
    let commands: Vec<Value> = keys
        .iter()
        .map(|key| json!(["SETEX", key, 100, key]))
        .collect();
    let (status, _) = gateway.pipeline(json!(commands)).await;
    assert_eq!(status, 200);
    keys
}

fn with(name: &str, keys: &[String]) -> Value {
    let words: Vec<&str> = std::iter::once(name)
        .chain(keys.iter().map(String::as_str))
        .collect();
    json!(words)
}

#[tokio::test]
async fn keys_of_several_slots_are_read_and_removed_in_one_command() {
    let gateway = gateway().await;
    let keys = set(&gateway, &prefix(), 50).await;
    let mut asked = keys.clone();
    asked.insert(7, "nowhere".to_owned());
    asked.push(keys[0].clone());
    let mut values: Vec<Value> = asked.iter().map(|key| json!(key)).collect();
    values[7] = Value::Null;
    assert_eq!(
        gateway.single(with("MGET", &asked)).await,
        (200, json!({ "result": values }))
    );
    assert_eq!(
        gateway.single(with("EXISTS", &asked)).await,
        (200, json!({ "result": 51 }))
    );
    assert_eq!(
        gateway.single(with("touch", &keys)).await,
        (200, json!({ "result": 50 }))
    );
    assert_eq!(
        gateway.single(with("UNLINK", &keys[..20])).await,
        (200, json!({ "result": 20 }))
    );
    assert_eq!(
        gateway.single(with("DEL", &asked)).await,
        (200, json!({ "result": 30 }))
    );
}

#[tokio::test]
async fn what_must_be_one_step_is_refused_over_several_slots() {
    let gateway = gateway().await;
    let error = json!({"error": "CROSSSLOT Keys in request don't hash to the same slot"});
    for command in [
        json!(["MSET", "foo", 1, "bar", 2]),
        json!(["RENAME", "foo", "bar"]),
        json!(["EVAL", "return 1", 2, "foo", "bar"]),
    ] {
        assert_eq!(gateway.single(command).await, (400, error.clone()));
    }
    let key = prefix();
    assert_eq!(
        gateway
            .pipeline(json!([
                ["SETEX", key, 100, 1],
                ["SUNION", "foo", "bar"],
                ["GET", key]
            ]))
            .await,
        (200, json!([{"result": "OK"}, error, {"result": "1"}]))
    );
}

async fn scanned(gateway: &Gateway, pattern: &str) -> Vec<String> {
    let mut cursor = "0".to_owned();
    let mut all = Vec::new();
    loop {
        let command = json!(["SCAN", cursor, "MATCH", pattern, "COUNT", 20]);
        let (status, answer) = gateway.single(command).await;
        assert_eq!(status, 200, "{answer}");
        let keys = answer["result"][1].as_array().unwrap();
        all.extend(keys.iter().map(|key| key.as_str().unwrap().to_owned()));
        answer["result"][0]
            .as_str()
            .unwrap()
            .clone_into(&mut cursor);
        if cursor == "0" {
            return all;
        }
    }
}

#[tokio::test]
async fn a_scan_finds_every_key_of_every_node() {
    let gateway = gateway().await;
    let key = prefix();
    let keys: BTreeSet<String> = set(&gateway, &key, 1000).await.into_iter().collect();
    let found = scanned(&gateway, &format!("{key}:*")).await;
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), keys);
    let (_, listed) = gateway.single(json!(["KEYS", format!("{key}:*")])).await;
    let listed: BTreeSet<String> = serde_json::from_value(listed["result"].clone()).unwrap();
    assert_eq!(listed, keys);
    let spread = (0..PRIMARIES).map(|place| -> i64 { shared_cluster().run(place, &["DBSIZE"]) });
    for size in spread {
        assert!(size > 200, "one node has {size} keys");
    }
}

#[tokio::test]
async fn a_cursor_of_no_scan_is_refused() {
    let gateway = gateway().await;
    for (cursor, error) in [
        ("x", "ERR invalid cursor"),
        (
            "1",
            "ERR slots have moved since this scan began; begin again with cursor 0",
        ),
    ] {
        assert_eq!(
            gateway.single(json!(["SCAN", cursor])).await,
            (400, json!({ "error": error }))
        );
    }
}

#[tokio::test]
async fn sizes_add_up_a_random_key_is_found_and_a_flush_reaches_every_node() {
    let own = crate::support::Cluster::start();
    let gateway = super::before(&own).await;
    assert_eq!(
        gateway.single(json!(["RANDOMKEY"])).await,
        (200, json!({ "result": null }))
    );
    let key = prefix();
    assert_eq!(gateway.single(json!(["SET", key, 1])).await.0, 200);
    for _ in 0..PRIMARIES {
        assert_eq!(
            gateway.single(json!(["RANDOMKEY"])).await,
            (200, json!({ "result": key }))
        );
    }
    set(&gateway, &key, 99).await;
    assert_eq!(
        gateway.single(json!(["DBSIZE"])).await,
        (200, json!({ "result": 100 }))
    );
    assert_eq!(
        gateway.pipeline(json!([["FLUSHDB"], ["DBSIZE"]])).await,
        (200, json!([{"result": "OK"}, {"result": 0}]))
    );
}

#[tokio::test]
async fn what_redis_refuses_is_refused_in_its_own_words() {
    let gateway = gateway().await;
    for (command, error) in [
        (
            json!(["NOSUCH", "a"]),
            "ERR unknown command 'NOSUCH', with args beginning with: 'a' ",
        ),
        (
            json!(["GET"]),
            "ERR wrong number of arguments for 'get' command",
        ),
        (
            json!(["EVAL", "return 1", "x"]),
            "ERR value is not an integer or out of range",
        ),
        (
            json!(["SELECT", 1]),
            "ERR Command \"SELECT\" is not allowed in REST or it has a special context path",
        ),
    ] {
        assert_eq!(
            gateway.single(command).await,
            (400, json!({ "error": error }))
        );
    }
    // Asking about the cluster is allowed, other than changing it.
    assert_eq!(
        gateway.single(json!(["CLUSTER", "KEYSLOT", "foo"])).await,
        (200, json!({ "result": 12182 }))
    );
    assert_eq!(
        gateway.get("/healthz").await,
        (200, json!({ "result": "PONG" }))
    );
}
