//! Many requests over few connections.

use serde_json::json;

use crate::support::{Gateway, prefix};

const CLIENTS: usize = 64;
const ROUNDS: usize = 25;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reply_ever_lands_in_another_requests_slot() {
    let gateway = std::sync::Arc::new(Gateway::with(|config| config.connections = 2).await);
    let key = prefix();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (gateway, key) = (std::sync::Arc::clone(&gateway), format!("{key}:{client}"));
            tokio::spawn(async move {
                for round in 0..ROUNDS {
                    one_round(&gateway, &key, &format!("{client}-{round}")).await;
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
}

/// Each kind of request, its answer recognisable; some fail, at queueing and at run time.
async fn one_round(gateway: &Gateway, key: &str, mark: &str) {
    let set = json!(["SETEX", key, 100, mark]);
    let transaction = gateway
        .multi_exec(json!([set, ["INCR", key], ["GET", key]]))
        .await;
    let not_a_number = json!({"error": "ERR value is not an integer or out of range"});
    assert_eq!(
        transaction,
        (
            200,
            json!([{"result": "OK"}, not_a_number, {"result": mark}])
        )
    );
    let discarded = gateway
        .multi_exec(json!([["SETEX", key, 100, "never"], ["NOSUCH", mark]]))
        .await;
    let error = format!("ERR unknown command 'NOSUCH', with args beginning with: '{mark}' ");
    assert_eq!(discarded, (400, json!({ "error": error })));
    assert_eq!(
        gateway.single(json!(["ECHO", mark])).await,
        (200, json!({ "result": mark }))
    );
    let pipeline = gateway
        .pipeline(json!([["GET", key], ["INCR", key], ["ECHO", mark]]))
        .await;
    assert_eq!(
        pipeline,
        (
            200,
            json!([{ "result": mark }, not_a_number, { "result": mark }])
        )
    );
}
