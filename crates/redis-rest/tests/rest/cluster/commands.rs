//! Commands that involve several nodes behave as on a single Redis server.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{gateway, shared_cluster};
use crate::support::{Gateway, PRIMARIES, failed, not_allowed, ok, prefix};

/// Sets `count` keys, which are in slots of all nodes.
async fn set_keys(gateway: &Gateway, key: &str, count: usize) -> Vec<String> {
    let keys: Vec<String> = (0..count).map(|each| format!("{key}:{each}")).collect();
    let commands = keys.iter().map(|key| json!(["SETEX", key, 100, key]));
    let (status, _) = gateway.pipeline(commands.collect()).await;
    assert_eq!(status, 200);
    keys
}

fn command(name: &str, keys: &[String]) -> Value {
    let keys = keys.iter().map(String::as_str);
    std::iter::once(name).chain(keys).collect()
}

#[tokio::test]
async fn multi_key_commands_span_slots() {
    let gateway = gateway().await;
    let keys = set_keys(&gateway, &prefix(), 50).await;
    let mut requested = keys.clone();
    requested.insert(7, "missing".to_owned());
    requested.push(keys[0].clone());
    let mut values: Vec<Value> = requested.iter().map(|key| json!(key)).collect();
    values[7] = Value::Null;
    responds!(gateway.single(command("MGET", &requested)) => ok(values));
    responds!(gateway.single(command("EXISTS", &requested)) => ok(51));
    responds!(gateway.single(command("touch", &keys)) => ok(50));
    responds!(gateway.single(command("UNLINK", &keys[..20])) => ok(20));
    responds!(gateway.single(command("DEL", &requested)) => ok(30));
}

#[tokio::test]
async fn atomic_commands_across_slots_return_crossslot() {
    let gateway = gateway().await;
    let error = json!({"error": "CROSSSLOT Keys in request don't hash to the same slot"});
    for command in [
        json!(["MSET", "foo", 1, "bar", 2]),
        json!(["RENAME", "foo", "bar"]),
        json!(["EVAL", "return 1", 2, "foo", "bar"]),
    ] {
        responds!(gateway.single(command) => (400, error.clone()));
    }
    let key = prefix();
    responds!(
        gateway.pipeline(json!([["SETEX", key, 100, 1], ["SUNION", "foo", "bar"], ["GET", key]]))
            => (200, json!([{"result": "OK"}, error, {"result": "1"}]))
    );
}

/// Returns all keys that a complete SCAN finds.
async fn scan(gateway: &Gateway, pattern: &str) -> Vec<String> {
    let mut cursor = "0".to_owned();
    let mut all = Vec::new();
    loop {
        let command = json!(["SCAN", cursor, "MATCH", pattern, "COUNT", 20]);
        let (status, response) = gateway.single(command).await;
        assert_eq!(status, 200, "{response}");
        let keys = response["result"][1].as_array().unwrap();
        all.extend(keys.iter().map(|key| key.as_str().unwrap().to_owned()));
        let next = response["result"][0].as_str().unwrap();
        next.clone_into(&mut cursor);
        if cursor == "0" {
            return all;
        }
    }
}

#[tokio::test]
async fn scan_and_keys_cover_all_nodes() {
    let gateway = gateway().await;
    let key = prefix();
    let keys: BTreeSet<String> = set_keys(&gateway, &key, 1000).await.into_iter().collect();
    let found = scan(&gateway, &format!("{key}:*")).await;
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), keys);
    let (_, listed) = gateway.single(json!(["KEYS", format!("{key}:*")])).await;
    let listed: BTreeSet<String> = serde_json::from_value(listed["result"].clone()).unwrap();
    assert_eq!(listed, keys);
    let sizes = (0..PRIMARIES).map(|node| -> i64 { shared_cluster().run(node, &["DBSIZE"]) });
    for size in sizes {
        assert!(size > 200, "one node has only {size} keys");
    }
}

#[tokio::test]
async fn invalid_scan_cursor_returns_400() {
    let gateway = gateway().await;
    let moved = "ERR hash slots have moved since this SCAN started; start again with cursor 0";
    for (cursor, error) in [("x", "ERR invalid cursor"), ("1", moved)] {
        responds!(gateway.single(json!(["SCAN", cursor])) => failed(400, error));
    }
}

#[tokio::test]
async fn dbsize_randomkey_and_flushdb_cover_all_nodes() {
    let cluster = crate::support::Cluster::start_without_failover();
    let gateway = super::gateway_for(&cluster).await;
    responds!(gateway.single(json!(["RANDOMKEY"])) => ok(Value::Null));
    let key = prefix();
    assert_eq!(gateway.single(json!(["SET", key, 1])).await.0, 200);
    for _ in 0..PRIMARIES {
        responds!(gateway.single(json!(["RANDOMKEY"])) => ok(&key));
    }
    set_keys(&gateway, &key, 99).await;
    responds!(gateway.single(json!(["DBSIZE"])) => ok(100));
    responds!(
        gateway.pipeline(json!([["FLUSHDB"], ["DBSIZE"]]))
            => (200, json!([{"result": "OK"}, {"result": 0}]))
    );
}

#[tokio::test]
async fn redis_errors_are_returned_verbatim() {
    let gateway = gateway().await;
    let unknown = "ERR unknown subcommand 'NOSUCH'. Try OBJECT HELP.";
    let number = "ERR wrong number of arguments for 'get' command";
    let range = "ERR value is not an integer or out of range";
    for (command, response) in [
        (json!(["OBJECT", "NOSUCH", "a"]), failed(400, unknown)),
        (json!(["GET"]), failed(400, number)),
        (json!(["EVAL", "return 1", "x"]), failed(400, range)),
        (json!(["SELECT", 1]), not_allowed("SELECT")),
    ] {
        responds!(gateway.single(command) => response);
    }
    // Commands that read the state of the cluster are allowed.
    responds!(gateway.single(json!(["CLUSTER", "KEYSLOT", "foo"])) => ok(12182));
    responds!(gateway.get("/healthz") => ok("PONG"));
}
