//! Commands that are not allowed over REST, or not available.

use serde_json::{Value, json};

use crate::support::{
    Gateway, READ_ONLY_TOKEN, failed, no_permission, not_allowed, ok, prefix, private_redis,
};

/// Commands that would change, block or close a shared connection.
const REFUSED: [&str; 4] = [
    "AUTH HELLO RESET QUIT SELECT CLIENT READONLY READWRITE ASKING MULTI EXEC DISCARD",
    "WATCH UNWATCH SUBSCRIBE UNSUBSCRIBE PSUBSCRIBE PUNSUBSCRIBE SSUBSCRIBE",
    "SUNSUBSCRIBE MONITOR BLPOP BRPOP BRPOPLPUSH BLMOVE BLMOVEM BLMPOP BZPOPMIN BZPOPMAX",
    "BZMPOP WAIT WAITAOF SYNC PSYNC REPLCONF",
];

#[tokio::test]
async fn connection_commands_are_refused() {
    let gateway = Gateway::start().await;
    for name in REFUSED.iter().flat_map(|names| names.split(' ')) {
        responds!(gateway.single(json!([name.to_lowercase(), "x"])) => not_allowed(name));
    }
    responds!(gateway.single(json!(["SCRIPT", "debug", "YES"])) => not_allowed("SCRIPT"));
    responds!(gateway.single(json!(["SCRIPT", "EXISTS", "x"])) => ok(json!([0])));
}

#[tokio::test]
async fn blocking_stream_reads_are_refused() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let blocking = json!(["XREAD", "COUNT", 1, "block", 0, "STREAMS", key, "$"]);
    responds!(gateway.single(blocking) => not_allowed("XREAD"));
    let group = [
        "XREADGROUP",
        "GROUP",
        "g",
        "c",
        "BLOCK",
        "0",
        "STREAMS",
        &key,
        ">",
    ];
    responds!(gateway.single(json!(group)) => not_allowed("XREADGROUP"));
    // BLOCK may also be the name of a stream, group or consumer.
    responds!(gateway.single(json!(["XREAD", "STREAMS", "BLOCK", 0])) => ok(Value::Null));
    let create = json!(["XGROUP", "CREATE", key, "BLOCK", "$", "MKSTREAM"]);
    let created = gateway.pipeline(json!([create, ["EXPIRE", key, 100]]));
    responds!(created => (200, json!([{"result": "OK"}, {"result": 1}])));
    let named = json!(["XREADGROUP", "GROUP", "BLOCK", "BLOCK", "STREAMS", key, ">"]);
    responds!(gateway.single(named) => ok(Value::Null));
}

/// Returns the error of a command that is not available.
fn not_available(name: &str) -> String {
    let remedy = "ALLOW_COMMANDS of the gateway can make it available";
    format!("ERR Command is not available: '{name}'. {remedy}")
}

#[tokio::test]
async fn server_commands_are_not_available() {
    let redis = private_redis();
    let gateway = Gateway::on(&redis.url()).await;
    for line in [
        "config|set maxmemory 1",
        "CONFIG|GET requirepass",
        "CONFIG",
        "ACL|SETUSER x on",
        "ACL|LIST",
        "SWAPDB 0 1",
        "MOVE a 1",
        "SAVE",
        "BGSAVE",
        "BGREWRITEAOF",
        "DEBUG|SLEEP 0",
        "SHUTDOWN",
        "MODULE|LIST",
        "REPLICAOF NO ONE",
        "SLAVEOF NO ONE",
        "FAILOVER",
        "MIGRATE h 1 k 0 1",
        "SLOWLOG|GET",
        "LATENCY|RESET",
        "MEMORY|PURGE",
        "CLUSTER|RESET",
        "NOSUCH secret",
    ] {
        let name = line.split(' ').next().unwrap_or_default().to_uppercase();
        let command = json!(line.split(['|', ' ']).collect::<Vec<_>>());
        let error = not_available(&name);
        let response = gateway.single(command.clone()).await;
        assert_eq!(response, failed(400, &error), "{command}");
        let results = json!([{ "error": error }, { "result": "PONG" }]);
        responds!(gateway.pipeline(json!([command, ["PING"]])) => (200, results));
        let commands = json!([["SET", "written", 1], command]);
        responds!(gateway.multi_exec(commands) => failed(400, &error));
    }
    let error = not_available(&"X".repeat(128));
    responds!(gateway.single(json!(["x".repeat(1000)])) => failed(400, &error));
    let path = gateway.get("/config/set/maxmemory/1").await;
    assert_eq!(path, failed(400, &not_available("CONFIG|SET")));
    responds!(gateway.single(json!(["EXISTS", "written"])) => ok(0));
}

#[tokio::test]
async fn listed_commands_become_available() {
    let gateway = Gateway::with(|config| {
        config.allow_commands = "config|get, SLOWLOG,NOSUCH".to_owned();
        READ_ONLY_TOKEN.clone_into(&mut config.readonly_token);
    })
    .await;
    let set = not_available("CONFIG|SET");
    let unknown = "ERR unknown command 'NOSUCH', with args beginning with: ";
    for (path, response) in [
        ("/CONFIG/GET/appendonly", ok(["appendonly", "no"])),
        ("/slowlog/reset", ok("OK")),
        ("/CONFIG/SET/appendonly/no", failed(400, &set)),
        ("/NOSUCH", failed(400, unknown)),
    ] {
        responds!(gateway.get(path) => response);
    }
    // The read-only token does not allow them.
    responds!(gateway.post_read_only("/config/get/appendonly", "") => no_permission("config"));
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
    let gateway = Gateway::on(&redis.url()).await;
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
    let gateway = Gateway::on(&redis.url()).await;
    let blocking = category(&gateway, "blocking").await;
    let mut refused = Vec::new();
    let kinds = "string bitmap hash list set sortedset geo hyperloglog stream scripting keyspace";
    for kind in kinds.split(' ') {
        for name in category(&gateway, kind).await {
            if !blocking.contains(&name) && is_refused(&error_of(&gateway, &name).await) {
                refused.push(name);
            }
        }
    }
    refused.sort();
    refused.dedup();
    let expected = "migrate move pfdebug pfselftest restore-asking script|debug swapdb";
    assert_eq!(refused.join(" "), expected);
}

#[tokio::test]
async fn administrative_reads_are_allowed() {
    let gateway = Gateway::start().await;
    let commands = "dbsize randomkey keys/no-such-key-* function/list scan/0 info/server time acl/whoami \
                    memory/usage/no-such-key command/count pubsub/numpat";
    for command in commands.split(' ') {
        let (status, body) = gateway.get(&format!("/{command}")).await;
        assert_eq!(status, 200, "{command}: {body}");
    }
}
