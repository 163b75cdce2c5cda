//! Many concurrent requests over few connections.

use serde_json::json;

use crate::support::{Gateway, failed, ok, prefix};

const CLIENTS: usize = 64;
const ROUNDS: usize = 25;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_requests_receive_their_own_replies() {
    let gateway = std::sync::Arc::new(Gateway::with(|config| config.connections = 2).await);
    let key = prefix();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (gateway, key) = (std::sync::Arc::clone(&gateway), format!("{key}:{client}"));
            tokio::spawn(async move {
                for round in 0..ROUNDS {
                    send_all_kinds(&gateway, &key, &format!("{client}-{round}")).await;
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
}

/// Sends each kind of request, some of which fail. `tag` makes the responses unique.
async fn send_all_kinds(gateway: &Gateway, key: &str, tag: &str) {
    let set = json!(["SETEX", key, 100, tag]);
    let not_a_number = json!({"error": "ERR value is not an integer or out of range"});
    let commands = json!([set, ["INCR", key], ["GET", key]]);
    let results = json!([{"result": "OK"}, not_a_number, {"result": tag}]);
    responds!(gateway.multi_exec(commands) => (200, results));
    let discarded = json!([["SETEX", key, 100, "never"], ["OBJECT", tag]]);
    let error = format!("ERR unknown subcommand '{tag}'. Try OBJECT HELP.");
    responds!(gateway.multi_exec(discarded) => failed(400, &error));
    responds!(gateway.single(json!(["ECHO", tag])) => ok(tag));
    let commands = json!([["GET", key], ["INCR", key], ["ECHO", tag]]);
    let results = json!([{"result": tag}, not_a_number, {"result": tag}]);
    responds!(gateway.pipeline(commands) => (200, results));
}
