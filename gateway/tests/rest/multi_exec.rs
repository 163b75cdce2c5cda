//! `/multi-exec`: all commands at once, or none.

use serde_json::json;

use crate::support::{Gateway, prefix};

#[tokio::test]
async fn a_committed_transaction_is_200_with_run_time_errors_in_their_slots() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let commands = json!([
        ["SETEX", key, 100, "a"],
        ["INCR", key],
        ["GET", key],
        ["LRANGE", "none", 0, 1]
    ]);
    let slots = json!([
        {"result": "OK"},
        {"error": "ERR value is not an integer or out of range"},
        {"result": "a"},
        {"result": []}
    ]);
    assert_eq!(gateway.multi_exec(commands).await, (200, slots));
}

#[tokio::test]
async fn the_first_command_that_cannot_be_queued_discards_all_with_its_own_error() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let commands = json!([["SET", key, "a"], ["NOSUCH"], ["SET"], ["GET", key]]);
    let error = "ERR unknown command 'NOSUCH', with args beginning with: ";
    assert_eq!(
        gateway.multi_exec(commands).await,
        (400, json!({ "error": error }))
    );
    assert_eq!(
        gateway.single(json!(["EXISTS", key])).await,
        (200, json!({"result": 0}))
    );
}

#[tokio::test]
async fn a_refused_or_empty_command_discards_all() {
    let gateway = Gateway::start().await;
    let key = prefix();
    for (bad, error) in [
        (
            json!(["SELECT", 1]),
            "ERR Command \"SELECT\" is not allowed in REST or it has a special context path",
        ),
        (
            json!(["exec"]),
            "ERR Command \"EXEC\" is not allowed in REST or it has a special context path",
        ),
        (json!([]), "ERR empty pipeline command"),
    ] {
        let commands = json!([["SET", key, "a"], bad]);
        assert_eq!(
            gateway.multi_exec(commands).await,
            (400, json!({ "error": error }))
        );
    }
    assert_eq!(
        gateway.single(json!(["EXISTS", key])).await,
        (200, json!({"result": 0}))
    );
}

#[tokio::test]
async fn the_connection_is_not_left_inside_a_transaction() {
    let gateway = Gateway::with(|config| config.connections = 1).await;
    gateway.multi_exec(json!([["NOSUCH"]])).await;
    assert_eq!(
        gateway.single(json!(["PING"])).await,
        (200, json!({"result": "PONG"}))
    );
    assert_eq!(
        gateway.multi_exec(json!([["PING"]])).await,
        (200, json!([{"result": "PONG"}]))
    );
}
