//! Pipelines over all slots.

use std::sync::Arc;

use serde_json::{Value, json};

use super::gateway;
use crate::support::prefix;

const CLIENTS: usize = 32;
const PIPELINES: usize = 4;
const COMMANDS: usize = 1000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_of_a_hundred_thousand_is_in_its_own_place() {
    let gateway = Arc::new(gateway().await);
    let key = prefix();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (gateway, key) = (Arc::clone(&gateway), format!("{key}:{client}"));
            tokio::spawn(async move {
                for round in 0..PIPELINES {
                    let (commands, slots): (Vec<Value>, Vec<Value>) = (0..COMMANDS)
                        .map(|place| command(&key, round, place))
                        .unzip();
                    assert_eq!(gateway.pipeline(json!(commands)).await, (200, json!(slots)));
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
}

/// A command and its answer: what was set a moment ago, also within the same pipeline.
fn command(key: &str, round: usize, place: usize) -> (Value, Value) {
    let own = format!("{key}:{}", place / 4);
    let text = format!("{round}-{}", place / 4);
    match place % 4 {
        0 => (json!(["SETEX", own, 100, text]), json!({"result": "OK"})),
        1 => (json!(["GET", own]), json!({"result": text})),
        2 => (
            json!(["INCR", own]),
            json!({"error": "ERR value is not an integer or out of range"}),
        ),
        _ => (json!(["ECHO", text]), json!({"result": text})),
    }
}
