//! Scripts that run too long, and commands that scripts must not run.

use redis::{Client, cmd};
use serde_json::{Value, json};

use crate::support::{
    Cluster, Gateway, READ_ONLY_TOKEN, busy_script, failed, impatient_redis, no_permission,
    not_allowed, ok, prefix, private_redis, scaled_ms, wait_for, wait_until_busy,
};

const DENIED: &str = "ERR The user executing the script can't run this command or subcommand";

/// Runs a command on the server, without the gateway.
fn run<T: redis::FromRedisValue>(url: &str, words: &[&str]) -> T {
    let mut connection = Client::open(url).unwrap().get_connection().unwrap();
    let reply = cmd(words[0]).arg(&words[1..]).query(&mut connection);
    reply.unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

fn timed_out(milliseconds: u64) -> (u16, Value) {
    let error =
        format!("ERR redis did not answer within {milliseconds} ms; the command may still run");
    failed(504, &error)
}

/// Asserts that a script was stopped. Redis may report it before the timeout of the request.
#[track_caller]
fn assert_stopped(response: &(u16, Value), milliseconds: u64) {
    let is_killed = response.1.to_string().contains("killed by user");
    assert!(
        is_killed || *response == timed_out(milliseconds),
        "{response:?}"
    );
}

#[tokio::test]
async fn endless_scripts_are_killed() {
    let (redis, timeout) = (impatient_redis(), scaled_ms(100));
    let gateway = Gateway::with(|config| {
        config.redis_url = redis.url();
        config.readonly_scripts = true;
        config.timeout_ms = timeout;
    })
    .await;
    let library = "#!lua name=endless\nredis.register_function('endless', function() while true do end end)\n\
        redis.register_function{function_name='endless_ro', callback=function() while true do end end, flags={'no-writes'}}";
    run::<()>(&redis.url(), &["FUNCTION", "LOAD", library]);
    let endless = "while true do end";
    let sha: String = run(&redis.url(), &["SCRIPT", "LOAD", endless]);
    let read_only = json!(["EVAL_RO", endless, 0]);
    for (path, body) in [
        ("/", json!(["EVAL", endless, 0])),
        ("/", read_only.clone()),
        ("/", json!(["EVALSHA", sha, 0])),
        ("/", json!(["EVALSHA_RO", sha, 0])),
        ("/", json!(["FCALL", "endless", 0])),
        ("/", json!(["FCALL_RO", "endless_ro", 0])),
        ("/multi-exec", json!([read_only])),
        ("/pipeline", json!([read_only, read_only, read_only])),
    ] {
        let started = gateway.post(path, body.to_string()).await;
        assert_stopped(&started, timeout);
        wait_for(&gateway, json!(["PING"]), ok("PONG")).await;
    }
}

/// The timeout of the client that went away still applies.
#[tokio::test]
async fn endless_script_of_lost_client_is_killed() {
    let redis = impatient_redis();
    let gateway = Gateway::with(|config| {
        config.redis_url = redis.url();
        config.timeout_ms = scaled_ms(1000);
    })
    .await;
    let endless = gateway.single(json!(["EVAL", "while true do end", 0]));
    tokio::select! {
        response = endless => panic!("{response:?}"),
        () = wait_until_busy(&redis) => {}
    }
    // The script runs on.
    wait_until_busy(&redis).await;
    wait_for(&gateway, json!(["PING"]), ok("PONG")).await;
}

/// A connection that is opened meanwhile does not know whether its user is restricted.
#[tokio::test]
async fn busy_redis_leaves_no_connection_unrestricted() {
    let redis = impatient_redis();
    let (url, script) = (redis.url(), busy_script(1000));
    let script = tokio::task::spawn_blocking(move || run::<i64>(&url, &["EVAL", &script, "0"]));
    wait_until_busy(&redis).await;
    let gateway = Gateway::with(|config| config.redis_url = redis.url()).await;
    assert_eq!(script.await.unwrap(), 1);
    wait_for(&gateway, json!(["PING"]), ok("PONG")).await;
    let select = json!(["EVAL", "return redis.pcall('SELECT', 1)", 0]);
    wait_for(&gateway, select, failed(400, DENIED)).await;
}

/// Redis does not kill a script that has written.
#[tokio::test]
async fn script_that_has_written_runs_to_its_end() {
    let (redis, timeout) = (impatient_redis(), scaled_ms(50));
    let gateway = Gateway::with(|config| {
        config.redis_url = redis.url();
        config.timeout_ms = timeout;
    })
    .await;
    let busy = busy_script(500).replace("return 1", "redis.call('SET', KEYS[1], 2)");
    let writes = format!("redis.call('SET', KEYS[1], 1) {busy}");
    let started = gateway.single(json!(["EVAL", writes, 1, "written"])).await;
    assert_eq!(started, timed_out(timeout));
    wait_for(&gateway, json!(["GET", "written"]), ok("2")).await;
}

#[tokio::test]
async fn scripts_run_only_available_commands() {
    let redis = private_redis();
    let gateway = Gateway::with(|config| {
        config.redis_url = redis.url();
        config.allow_commands = "SLOWLOG".to_owned();
    })
    .await;
    let call = "return redis.pcall(unpack(ARGV))";
    for command in ["SWAPDB 0 1", "SELECT 1", "MOVE a 1", "MIGRATE h 1 k 0 1"] {
        let eval = ["EVAL", call, "0"].into_iter().chain(command.split(' '));
        let response = gateway.single(eval.collect()).await;
        assert_eq!(response, failed(400, DENIED), "{command}");
    }
    for (command, response) in [
        (json!(["EVAL", call, 0, "SLOWLOG", "RESET"]), ok("OK")),
        (json!(["EVAL", call, 0, "SET", "a", "b"]), ok("OK")),
        (json!(["EVAL", call, 0, "KEYS", "*"]), ok(["a"])),
        (json!(["FLUSHALL"]), ok("OK")),
    ] {
        responds!(gateway.single(command.clone()) => response);
    }
    let library = "#!lua name=l\nredis.register_function('swap', function() return redis.pcall('SWAPDB', 0, 1) end)";
    gateway.single(json!(["FUNCTION", "LOAD", library])).await;
    responds!(gateway.single(json!(["FCALL", "swap", 0])) => failed(400, DENIED));
    responds!(
        gateway.multi_exec(json!([["EVAL", call, 0, "SWAPDB", 0, 1]]))
            => (200, json!([{ "error": DENIED }]))
    );
}

/// Restarts and further gateways of the same configuration add no users.
#[tokio::test]
async fn gateways_share_their_redis_user() {
    let redis = private_redis();
    let url = redis.url();
    run::<()>(&url, &["CONFIG", "SET", "requirepass", "secret"]);
    let url = url.replace("redis://", "redis://:secret@");
    let start = || Gateway::with(|config| config.redis_url = format!("{url}/3"));
    let first = start().await;
    let (status, user) = first.single(json!(["ACL", "WHOAMI"])).await;
    assert_eq!(status, 200);
    let name = user["result"].as_str().unwrap();
    assert!(name.starts_with("redis-rest-"), "{name}");
    let second = start().await;
    responds!(second.single(json!(["ACL", "WHOAMI"])) => ok(name));
    let users: Vec<String> = run(&url, &["ACL", "USERS"]);
    assert_eq!(users, ["default", name]);
    // The user has a password of its own, and the database of the URL.
    let password = redis.url_as(name, "secret");
    assert!(Client::open(password).unwrap().get_connection().is_err());
    responds!(second.single(json!(["SET", "a", "b"])) => ok("OK"));
    let value: String = run(&format!("{url}/3"), &["GET", "a"]);
    assert_eq!(value, "b");
}

/// An operator who restricts the Redis user decides what its scripts can do.
#[tokio::test]
async fn restricted_redis_user_is_kept() {
    let redis = private_redis();
    let user = "ACL SETUSER operator on >secret ~mine:* &* +@all -swapdb";
    run::<()>(&redis.url(), &user.split(' ').collect::<Vec<_>>());
    let url = redis.url_as("operator", "secret");
    let gateway = Gateway::on(&url).await;
    responds!(gateway.single(json!(["ACL", "WHOAMI"])) => ok("operator"));
    let error = "NOPERM this user has no permissions to access one of the keys used as arguments";
    responds!(gateway.single(json!(["GET", "other"])) => failed(400, error));
}

/// Every node of a cluster has its own users, and runs its own scripts.
#[tokio::test]
async fn cluster_nodes_restrict_and_kill_scripts() {
    let cluster = tokio::task::spawn_blocking(Cluster::start_without_failover);
    let cluster = cluster.await.unwrap();
    for node in 0..3 {
        cluster.run::<()>(node, &["CONFIG", "SET", "busy-reply-threshold", "10"]);
    }
    let gateway = Gateway::with(|config| {
        config.redis_url = cluster.url();
        READ_ONLY_TOKEN.clone_into(&mut config.readonly_token);
        config.timeout_ms = scaled_ms(500);
    })
    .await;
    let key = prefix();
    let call = "return redis.pcall(unpack(ARGV))";
    for slot in ["a", "b", "c", "d"] {
        let key = format!("{key}{slot}");
        responds!(gateway.single(json!(["EVAL", call, 1, key, "SELECT", 0])) => failed(400, DENIED));
        let endless = json!(["EVAL_RO", "while true do end", 1, key]);
        assert_stopped(&gateway.single(endless).await, scaled_ms(500));
        wait_for(&gateway, json!(["GET", key]), ok(Value::Null)).await;
    }
    for name in ["eval_ro", "evalsha_ro", "fcall_ro", "fcall"] {
        let body = json!([name, "x", 1, key]).to_string();
        responds!(gateway.post_read_only("/", body) => no_permission(name));
    }
    responds!(gateway.post_read_only("/", r#"["MULTI"]"#) => not_allowed("MULTI"));
}
