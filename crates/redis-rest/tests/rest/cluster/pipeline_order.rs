//! Order of the results of large pipelines.

use std::sync::Arc;

use serde_json::{Value, json};

use super::gateway;
use crate::support::prefix;

const CLIENTS: usize = 32;
const PIPELINES: usize = 4;
const COMMANDS: usize = 1000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pipelines_across_slots_keep_result_order() {
    let gateway = Arc::new(gateway().await);
    let key = prefix();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (gateway, key) = (Arc::clone(&gateway), format!("{key}:{client}"));
            tokio::spawn(async move {
                for round in 0..PIPELINES {
                    let (commands, results): (Vec<Value>, Vec<Value>) = (0..COMMANDS)
                        .map(|index| command(&key, round, index))
                        .unzip();
                    responds!(gateway.pipeline(json!(commands)) => (200, json!(results)));
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
}

/// Returns a command and its expected result, which may depend on earlier commands of the pipeline.
fn command(key: &str, round: usize, index: usize) -> (Value, Value) {
    let own = format!("{key}:{}", index / 4);
    let text = format!("{round}-{}", index / 4);
    match index % 4 {
        0 => (json!(["SETEX", own, 100, text]), json!({"result": "OK"})),
        1 => (json!(["GET", own]), json!({"result": text})),
        2 => (
            json!(["INCR", own]),
            json!({"error": "ERR value is not an integer or out of range"}),
        ),
        _ => (json!(["ECHO", text]), json!({"result": text})),
    }
}
