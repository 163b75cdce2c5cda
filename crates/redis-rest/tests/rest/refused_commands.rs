//! Commands that are not allowed over REST, or not available.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Gateway, failed, ok, prefix, private_redis, send};

/// Commands that would change, block or close a shared connection.
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
    "SYNC",
    "PSYNC",
    "REPLCONF",
];

#[tokio::test]
async fn connection_commands_are_refused() {
    let gateway = Gateway::start().await;
    for name in REFUSED {
        let error = format!(
            "ERR Command \"{name}\" is not allowed in REST or it has a special context path"
        );
        responds!(gateway.single(json!([name.to_lowercase(), "x"])) => failed(400, &error));
    }
}

#[tokio::test]
async fn blocking_stream_reads_are_refused() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let refused = |name| json!({"error": format!("ERR Command \"{name}\" is not allowed in REST or it has a special context path")});
    let blocking = json!(["XREAD", "COUNT", 1, "block", 0, "STREAMS", key, "$"]);
    responds!(gateway.single(blocking) => (400, refused("XREAD")));
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
    responds!(gateway.single(blocking) => (400, refused("XREADGROUP")));
    // BLOCK may also be the name of a stream, group or consumer.
    responds!(gateway.single(json!(["XREAD", "STREAMS", "BLOCK", 0])) => ok(Value::Null));
    gateway
        .pipeline(json!([
            ["XGROUP", "CREATE", key, "BLOCK", "$", "MKSTREAM"],
            ["EXPIRE", key, 100]
        ]))
        .await;
    let named = json!(["XREADGROUP", "GROUP", "BLOCK", "BLOCK", "STREAMS", key, ">"]);
    responds!(gateway.single(named) => ok(Value::Null));
}

#[tokio::test]
async fn script_debug_is_refused() {
    let gateway = Gateway::start().await;
    let error = "ERR Command \"SCRIPT\" is not allowed in REST or it has a special context path";
    responds!(gateway.single(json!(["SCRIPT", "debug", "YES"])) => failed(400, error));
    responds!(gateway.single(json!(["SCRIPT", "EXISTS", "x"])) => ok(json!([0])));
}

/// Returns the error of a command that is not available.
fn not_available(name: &str) -> String {
    format!(
        "ERR Command is not available: '{name}'. ALLOW_COMMANDS of the gateway can make it available"
    )
}

#[tokio::test]
async fn server_commands_are_not_available() {
    let redis = private_redis();
    let gateway = Gateway::with(|config| config.redis_url = redis.url()).await;
    for (command, name) in [
        (json!(["config", "set", "maxmemory", 1]), "CONFIG|SET"),
        (json!(["CONFIG", "GET", "requirepass"]), "CONFIG|GET"),
        (json!(["CONFIG"]), "CONFIG"),
        (json!(["ACL", "SETUSER", "x", "on"]), "ACL|SETUSER"),
        (json!(["ACL", "LIST"]), "ACL|LIST"),
        (json!(["SWAPDB", 0, 1]), "SWAPDB"),
        (json!(["MOVE", "a", 1]), "MOVE"),
        (json!(["SAVE"]), "SAVE"),
        (json!(["BGSAVE"]), "BGSAVE"),
        (json!(["BGREWRITEAOF"]), "BGREWRITEAOF"),
        (json!(["DEBUG", "SLEEP", 0]), "DEBUG|SLEEP"),
        (json!(["SHUTDOWN"]), "SHUTDOWN"),
        (json!(["MODULE", "LIST"]), "MODULE|LIST"),
        (json!(["REPLICAOF", "NO", "ONE"]), "REPLICAOF"),
        (json!(["SLAVEOF", "NO", "ONE"]), "SLAVEOF"),
        (json!(["FAILOVER"]), "FAILOVER"),
        (json!(["MIGRATE", "h", 1, "k", 0, 1]), "MIGRATE"),
        (json!(["SLOWLOG", "GET"]), "SLOWLOG|GET"),
        (json!(["LATENCY", "RESET"]), "LATENCY|RESET"),
        (json!(["MEMORY", "PURGE"]), "MEMORY|PURGE"),
        (json!(["CLUSTER", "RESET"]), "CLUSTER|RESET"),
        (json!(["NOSUCH", "secret"]), "NOSUCH"),
    ] {
        let error = not_available(name);
        let response = gateway.single(command.clone()).await;
        assert_eq!(response, failed(400, &error), "{command}");
        let results = json!([{ "error": error }, { "result": "PONG" }]);
        responds!(gateway.pipeline(json!([command, ["PING"]])) => (200, results));
        let commands = json!([["SET", "written", 1], command]);
        responds!(gateway.multi_exec(commands) => failed(400, &error));
    }
    let path = gateway.get("/config/set/maxmemory/1").await;
    assert_eq!(path, failed(400, &not_available("CONFIG|SET")));
    responds!(gateway.single(json!(["EXISTS", "written"])) => ok(0));
}

#[tokio::test]
async fn long_names_are_shortened_in_errors() {
    let gateway = Gateway::start().await;
    let error = not_available(&"X".repeat(128));
    let command = json!(["x".repeat(1000)]);
    responds!(gateway.single(command) => failed(400, &error));
}

#[tokio::test]
async fn listed_commands_become_available() {
    let gateway = Gateway::with(|config| {
        config.allow_commands = "config|get, SLOWLOG,NOSUCH".to_owned();
        config.readonly_token = "a-second-token".to_owned();
    })
    .await;
    for (command, response) in [
        (
            json!(["CONFIG", "GET", "appendonly"]),
            ok(["appendonly", "no"]),
        ),
        (json!(["slowlog", "reset"]), ok("OK")),
        (
            json!(["CONFIG", "SET", "appendonly", "no"]),
            failed(400, &not_available("CONFIG|SET")),
        ),
        (
            json!(["NOSUCH"]),
            failed(
                400,
                "ERR unknown command 'NOSUCH', with args beginning with: ",
            ),
        ),
    ] {
        responds!(gateway.single(command.clone()) => response);
    }
    // The read-only token does not allow them.
    let error = "NOPERM this user has no permissions to run the 'config' command or its subcommand";
    let request = gateway
        .request_without_token(Method::GET, "/config/get/appendonly")
        .bearer_auth("a-second-token");
    assert_eq!(send(request).await.json(), failed(400, error));
}

/// Returns the commands of a category of Redis, with subcommands as `config|get`.
async fn category(gateway: &Gateway, name: &str) -> Vec<String> {
    let list = json!(["COMMAND", "LIST", "FILTERBY", "ACLCAT", name]);
    let (_, body) = gateway.single(list).await;
    serde_json::from_value(body["result"].clone()).expect("a list of names")
}

/// Sends a command without its arguments, and returns the error.
async fn error_of(gateway: &Gateway, name: &str) -> String {
    let words: Vec<&str> = name.split('|').collect();
    let (_, body) = gateway.single(json!(words)).await;
    body["error"].as_str().unwrap_or_default().to_owned()
}

fn is_refused(error: &str) -> bool {
    error.contains("is not allowed in REST") || error.starts_with("ERR Command is not available")
}

/// Every command that Redis classifies as administration, except for harmless ones.
#[tokio::test]
async fn administration_is_not_available() {
    let redis = private_redis();
    let gateway = Gateway::with(|config| config.redis_url = redis.url()).await;
    let mut available = Vec::new();
    for name in category(&gateway, "admin").await {
        if !is_refused(&error_of(&gateway, &name).await) {
            available.push(name);
        }
    }
    available.sort();
    assert_eq!(available, ["cluster|replicas", "lastsave", "role"]);
}

#[tokio::test]
async fn data_commands_are_available() {
    let redis = private_redis();
    let gateway = Gateway::with(|config| config.redis_url = redis.url()).await;
    let blocking = category(&gateway, "blocking").await;
    let mut refused = Vec::new();
    for kind in [
        "string",
        "bitmap",
        "hash",
        "list",
        "set",
        "sortedset",
        "geo",
        "hyperloglog",
        "stream",
        "scripting",
        "keyspace",
    ] {
        for name in category(&gateway, kind).await {
            if !blocking.contains(&name) && is_refused(&error_of(&gateway, &name).await) {
                refused.push(name);
            }
        }
    }
    refused.sort();
    refused.dedup();
    let expected = [
        "migrate",
        "move",
        "pfdebug",
        "pfselftest",
        "restore-asking",
        "script|debug",
        "swapdb",
    ];
    assert_eq!(refused, expected);
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
        json!(["ACL", "WHOAMI"]),
        json!(["MEMORY", "USAGE", "no-such-key"]),
        json!(["COMMAND", "COUNT"]),
        json!(["PUBSUB", "NUMPAT"]),
    ] {
        assert_eq!(gateway.single(command.clone()).await.0, 200, "{command}");
    }
}
