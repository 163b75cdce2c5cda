//! `/multi-exec` in a cluster.

use serde_json::{Value, json};

use super::gateway;
use crate::support::{failed, ok, prefix};

#[tokio::test]
async fn transaction_runs_on_node_of_its_keys() {
    let gateway = gateway().await;
    for each in 0..12 {
        let tag = format!("{{{}:{each}}}", prefix());
        let (set, get) = (json!(["SETEX", tag, 100, 5]), json!(["GET", tag]));
        let publish = json!(["PUBLISH", "elsewhere", "x"]);
        let results = json!([{"result": "OK"}, {"result": 6}, {"result": 0}, {"result": "6"}]);
        assert_eq!(
            gateway
                .multi_exec(json!([set, ["INCR", tag], publish, get]))
                .await,
            (200, results)
        );
    }
    assert_eq!(
        gateway.multi_exec(json!([["PING"], ["ECHO", "a"]])).await,
        (200, json!([{"result": "PONG"}, {"result": "a"}]))
    );
}

#[tokio::test]
async fn transaction_across_slots_returns_400() {
    let gateway = gateway().await;
    let key = prefix();
    let error = "CROSSSLOT Keys in request don't hash to the same slot";
    let commands = json!([
        ["SETEX", key, 100, 1],
        ["SETEX", format!("{key}:other"), 100, 1]
    ]);
    assert_eq!(gateway.multi_exec(commands).await, failed(400, error));
    assert_eq!(gateway.single(json!(["GET", key])).await, ok(Value::Null));
    let error =
        "ERR Command \"KEYS\" runs on every node of a cluster and is not allowed in a transaction";
    assert_eq!(
        gateway
            .multi_exec(json!([["GET", key], ["KEYS", "*"]]))
            .await,
        failed(400, error)
    );
}

#[tokio::test]
async fn queueing_error_discards_cluster_transaction() {
    let gateway = gateway().await;
    let key = prefix();
    let error = "ERR wrong number of arguments for 'get' command";
    assert_eq!(
        gateway
            .multi_exec(json!([["SETEX", key, 100, 1], ["GET"]]))
            .await,
        failed(400, error)
    );
    assert_eq!(gateway.single(json!(["GET", key])).await, ok(Value::Null));
}
