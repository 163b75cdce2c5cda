//! `/multi-exec` on one slot of a cluster.

use serde_json::json;

use super::gateway;
use crate::support::prefix;

#[tokio::test]
async fn a_transaction_runs_where_its_keys_are() {
    let gateway = gateway().await;
    for each in 0..12 {
        let tag = format!("{{{}:{each}}}", prefix());
        let (set, get) = (json!(["SETEX", tag, 100, 5]), json!(["GET", tag]));
        let publish = json!(["PUBLISH", "elsewhere", "x"]);
        let slots = json!([{"result": "OK"}, {"result": 6}, {"result": 0}, {"result": "6"}]);
        assert_eq!(
            gateway
                .multi_exec(json!([set, ["INCR", tag], publish, get]))
                .await,
            (200, slots)
        );
    }
    assert_eq!(
        gateway.multi_exec(json!([["PING"], ["ECHO", "a"]])).await,
        (200, json!([{"result": "PONG"}, {"result": "a"}]))
    );
}

#[tokio::test]
async fn a_transaction_over_several_slots_is_400_and_nothing_runs() {
    let gateway = gateway().await;
    let key = prefix();
    let error = "CROSSSLOT Keys in request don't hash to the same slot";
    let commands = json!([
        ["SETEX", key, 100, 1],
        ["SETEX", format!("{key}:other"), 100, 1]
    ]);
    assert_eq!(
        gateway.multi_exec(commands).await,
        (400, json!({ "error": error }))
    );
    assert_eq!(
        gateway.single(json!(["GET", key])).await,
        (200, json!({ "result": null }))
    );
    let error =
        "ERR Command \"KEYS\" concerns every node of a cluster and cannot be part of a transaction";
    assert_eq!(
        gateway
            .multi_exec(json!([["GET", key], ["KEYS", "*"]]))
            .await,
        (400, json!({ "error": error }))
    );
}

#[tokio::test]
async fn a_transaction_that_cannot_be_queued_says_why() {
    let gateway = gateway().await;
    let key = prefix();
    let error = "ERR unknown command 'NOSUCH', with args beginning with: ";
    assert_eq!(
        gateway
            .multi_exec(json!([["SETEX", key, 100, 1], ["NOSUCH"]]))
            .await,
        (400, json!({ "error": error }))
    );
    assert_eq!(
        gateway.single(json!(["GET", key])).await,
        (200, json!({ "result": null }))
    );
}
