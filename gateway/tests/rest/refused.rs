//! Commands that cannot be carried over REST.

use serde_json::json;

use crate::support::{Gateway, prefix};

const REFUSED: &[&str] = &[
    "AUTH",
    "HELLO",
    "RESET",
    "QUIT",
    "SELECT",
    "CLIENT",
    "READONLY",
    "READWRITE",
    "ASKING",
    "MULTI",
    "EXEC",
    "DISCARD",
    "WATCH",
    "UNWATCH",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "PSUBSCRIBE",
    "PUNSUBSCRIBE",
    "SSUBSCRIBE",
    "SUNSUBSCRIBE",
    "MONITOR",
    "BLPOP",
    "BRPOP",
    "BRPOPLPUSH",
    "BLMOVE",
    "BLMPOP",
    "BZPOPMIN",
    "BZPOPMAX",
    "BZMPOP",
    "WAIT",
    "WAITAOF",
    "SHUTDOWN",
    "DEBUG",
    "REPLICAOF",
    "SLAVEOF",
    "FAILOVER",
    "SYNC",
    "PSYNC",
    "REPLCONF",
    "MIGRATE",
    "MODULE",
    "CLUSTER",
];

#[tokio::test]
async fn commands_of_the_connection_or_the_server_are_refused_in_any_case() {
    let gateway = Gateway::start().await;
    for name in REFUSED {
        let error = format!(
            "ERR Command \"{name}\" is not allowed in REST or it has a special context path"
        );
        assert_eq!(
            gateway.single(json!([name.to_lowercase(), "x"])).await,
            (400, json!({ "error": error }))
        );
    }
}

#[tokio::test]
async fn reading_a_stream_is_refused_only_when_it_would_wait() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let refused = |name| json!({"error": format!("ERR Command \"{name}\" is not allowed in REST or it has a special context path")});
    let blocking = json!(["XREAD", "COUNT", 1, "block", 0, "STREAMS", key, "$"]);
    assert_eq!(gateway.single(blocking).await, (400, refused("XREAD")));
    let blocking = json!([
        "XREADGROUP",
        "GROUP",
        "g",
        "c",
        "BLOCK",
        0,
        "STREAMS",
        key,
        ">"
    ]);
    assert_eq!(gateway.single(blocking).await, (400, refused("XREADGROUP")));
    // BLOCK may also be the name of a stream, a group or a consumer.
    assert_eq!(
        gateway
            .single(json!(["XREAD", "STREAMS", "BLOCK", 0]))
            .await,
        (200, json!({"result": null}))
    );
    gateway
        .pipeline(json!([
            ["XGROUP", "CREATE", key, "BLOCK", "$", "MKSTREAM"],
            ["EXPIRE", key, 100]
        ]))
        .await;
    let named = json!(["XREADGROUP", "GROUP", "BLOCK", "BLOCK", "STREAMS", key, ">"]);
    assert_eq!(gateway.single(named).await, (200, json!({"result": null})));
}

#[tokio::test]
async fn the_script_debugger_is_refused_and_the_rest_of_script_is_not() {
    let gateway = Gateway::start().await;
    let error = "ERR Command \"SCRIPT\" is not allowed in REST or it has a special context path";
    assert_eq!(
        gateway.single(json!(["SCRIPT", "debug", "YES"])).await,
        (400, json!({ "error": error }))
    );
    assert_eq!(
        gateway.single(json!(["SCRIPT", "EXISTS", "x"])).await,
        (200, json!({"result": [0]}))
    );
}

#[tokio::test]
async fn what_a_full_token_needs_is_let_through() {
    let gateway = Gateway::start().await;
    for command in [
        json!(["DBSIZE"]),
        json!(["RANDOMKEY"]),
        json!(["KEYS", "no-such-key-*"]),
        json!(["FUNCTION", "LIST"]),
        json!(["SCAN", 0]),
        json!(["INFO", "server"]),
        json!(["TIME"]),
    ] {
        assert_eq!(gateway.single(command.clone()).await.0, 200, "{command}");
    }
}
