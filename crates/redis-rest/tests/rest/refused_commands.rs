//! Commands that are not allowed over REST.

use serde_json::{Value, json};

use crate::support::{Gateway, failed, ok, prefix};

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
async fn connection_and_server_commands_are_refused() {
    let gateway = Gateway::start().await;
    for name in REFUSED {
        let error = format!(
            "ERR Command \"{name}\" is not allowed in REST or it has a special context path"
        );
        assert_eq!(
            gateway.single(json!([name.to_lowercase(), "x"])).await,
            failed(400, &error)
        );
    }
}

#[tokio::test]
async fn blocking_stream_reads_are_refused() {
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
    // BLOCK may also be the name of a stream, group or consumer.
    assert_eq!(
        gateway
            .single(json!(["XREAD", "STREAMS", "BLOCK", 0]))
            .await,
        ok(Value::Null)
    );
    gateway
        .pipeline(json!([
            ["XGROUP", "CREATE", key, "BLOCK", "$", "MKSTREAM"],
            ["EXPIRE", key, 100]
        ]))
        .await;
    let named = json!(["XREADGROUP", "GROUP", "BLOCK", "BLOCK", "STREAMS", key, ">"]);
    assert_eq!(gateway.single(named).await, ok(Value::Null));
}

#[tokio::test]
async fn script_debug_is_refused() {
    let gateway = Gateway::start().await;
    let error = "ERR Command \"SCRIPT\" is not allowed in REST or it has a special context path";
    assert_eq!(
        gateway.single(json!(["SCRIPT", "debug", "YES"])).await,
        failed(400, error)
    );
    assert_eq!(
        gateway.single(json!(["SCRIPT", "EXISTS", "x"])).await,
        ok(json!([0]))
    );
}

#[tokio::test]
async fn administrative_reads_are_allowed() {
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
