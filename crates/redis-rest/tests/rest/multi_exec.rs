//! `/multi-exec`: transactions.

use serde_json::json;

use crate::support::{Gateway, failed, not_allowed, ok, pong, prefix};

#[tokio::test]
async fn transaction_reports_errors_per_command() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let commands = json!([
        ["SETEX", key, 100, "a"],
        ["INCR", key],
        ["GET", key],
        ["LRANGE", "none", 0, 1]
    ]);
    let results = json!([
        {"result": "OK"},
        {"error": "ERR value is not an integer or out of range"},
        {"result": "a"},
        {"result": []}
    ]);
    responds!(gateway.multi_exec(commands) => (200, results));
}

#[tokio::test]
async fn queueing_error_discards_transaction() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let commands = json!([["SET", key, "a"], ["GET"], ["SET"], ["GET", key]]);
    let error = "ERR wrong number of arguments for 'get' command";
    responds!(gateway.multi_exec(commands) => failed(400, error));
    responds!(gateway.single(json!(["EXISTS", key])) => ok(0));
}

#[tokio::test]
async fn refused_or_empty_command_discards_transaction() {
    let gateway = Gateway::start().await;
    let key = prefix();
    for (bad, response) in [
        (json!(["SELECT", 1]), not_allowed("SELECT")),
        (json!(["exec"]), not_allowed("EXEC")),
        (json!([]), failed(400, "ERR empty pipeline command")),
    ] {
        let commands = json!([["SET", key, "a"], bad]);
        responds!(gateway.multi_exec(commands) => response);
    }
    responds!(gateway.single(json!(["EXISTS", key])) => ok(0));
}

#[tokio::test]
async fn discarded_transaction_leaves_connection_usable() {
    let gateway = Gateway::with(|config| config.connections = 1).await;
    gateway.multi_exec(json!([["SET"]])).await;
    responds!(gateway.single(json!(["PING"])) => ok("PONG"));
    responds!(gateway.multi_exec(json!([["PING"]])) => pong());
}
