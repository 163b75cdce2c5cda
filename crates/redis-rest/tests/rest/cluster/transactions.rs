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
        responds!(gateway.multi_exec(json!([set, ["INCR", tag], publish, get])) => (200, results));
    }
    responds!(
        gateway.multi_exec(json!([["PING"], ["ECHO", "a"]]))
            => (200, json!([{"result": "PONG"}, {"result": "a"}]))
    );
}

#[tokio::test]
async fn transaction_across_slots_returns_400() {
    let gateway = gateway().await;
    let key = prefix();
    let error = "CROSSSLOT Keys in request don't hash to the same slot";
    let other = format!("{key}:other");
    let commands = json!([["SETEX", key, 100, 1], ["SETEX", other, 100, 1]]);
    responds!(gateway.multi_exec(commands) => failed(400, error));
    responds!(gateway.single(json!(["GET", key])) => ok(Value::Null));
    let error =
        "ERR Command \"KEYS\" runs on every node of a cluster and is not allowed in a transaction";
    responds!(gateway.multi_exec(json!([["GET", key], ["KEYS", "*"]])) => failed(400, error));
}

#[tokio::test]
async fn queueing_error_discards_cluster_transaction() {
    let gateway = gateway().await;
    let key = prefix();
    let error = "ERR wrong number of arguments for 'get' command";
    responds!(gateway.multi_exec(json!([["SETEX", key, 100, 1], ["GET"]])) => failed(400, error));
    responds!(gateway.single(json!(["GET", key])) => ok(Value::Null));
}
