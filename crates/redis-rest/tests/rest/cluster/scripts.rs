//! A script that one node knows runs on all nodes.

use serde_json::{Value, json};

use super::gateway;
use crate::support::{ok, prefix};

/// Returns a pipeline that runs a script for keys that are spread over all three primaries, and its expected results.
fn run_for_each_key(sha: &Value, prefix: &str) -> (Value, Value) {
    let keys: Vec<String> = (0..12).map(|each| format!("{prefix}:{each}")).collect();
    let commands = keys.iter().map(|key| json!(["EVALSHA", sha, 1, key]));
    let results = keys.iter().map(|key| json!({ "result": key }));
    (commands.collect(), results.collect())
}

#[tokio::test]
async fn loaded_script_runs_on_every_node() {
    let gateway = gateway().await;
    let key = prefix();
    let text = format!("return KEYS[1] -- {key}");
    let (status, loaded) = gateway.single(json!(["SCRIPT", "LOAD", text])).await;
    assert_eq!(status, 200);
    responds!(
        gateway.single(json!(["SCRIPT", "EXISTS", loaded["result"], "0".repeat(40)]))
            => ok(json!([1, 0]))
    );
    let (commands, results) = run_for_each_key(&loaded["result"], &key);
    responds!(gateway.pipeline(commands) => (200, results));
}

#[tokio::test]
async fn key_locking_script_runs_on_every_node() {
    let gateway = gateway().await;
    let key = prefix();
    let text = format!("#!lua flags=allow-key-locking\nreturn KEYS[1] -- {key}");
    // EVAL reaches one node only.
    responds!(gateway.single(json!(["EVAL", text, 1, key])) => ok(&key));
    let (commands, results) = run_for_each_key(&json!(sha1_hex(&text)), &key);
    responds!(gateway.pipeline(commands) => (200, results));
}

#[tokio::test]
async fn missing_script_is_loaded_from_cache() {
    let gateway = gateway().await;
    let key = prefix();
    let text = format!("return KEYS[1] -- cached {key}");
    // EVAL loads the script on one node only. SCRIPT FLUSH then removes it without the gateway.
    let (status, _) = gateway.single(json!(["EVAL", text, 1, key])).await;
    assert_eq!(status, 200);
    let sha = json!(sha1_hex(&text));
    responds!(gateway.single(json!(["SCRIPT", "EXISTS", sha])) => ok(json!([1])));
    let (commands, results) = run_for_each_key(&sha, &key);
    responds!(gateway.pipeline(commands.clone()) => (200, results.clone()));
    let flush = || {
        for node in 0..crate::support::PRIMARIES {
            super::shared_cluster().run::<()>(node, &["SCRIPT", "FLUSH"]);
        }
    };
    flush();
    responds!(gateway.pipeline(commands.clone()) => (200, results.clone()));
    flush();
    let run = json!([["EVALSHA", sha, 1, key], ["GET", key]]);
    responds!(gateway.multi_exec(run) => (200, json!([{ "result": key }, { "result": null }])));
}

#[tokio::test]
async fn uncached_script_returns_noscript() {
    let gateway = gateway().await;
    let unknown = json!({"error": "NOSCRIPT No matching script. Please use EVAL."});
    let sha = "f".repeat(40);
    responds!(
        gateway.pipeline(json!([["EVALSHA", sha, 1, "foo"], ["EVALSHA", sha, 1, "bar"], ["EVALSHA", sha, 0]]))
            => (200, json!([unknown, unknown, unknown]))
    );
}

#[tokio::test]
async fn script_flush_clears_script_cache() {
    let cluster = crate::support::Cluster::start_without_failover();
    let gateway = super::gateway_for(&cluster).await;
    let load = json!(["SCRIPT", "LOAD", "return KEYS[1]"]);
    let (_, loaded) = gateway.single(load).await;
    responds!(gateway.single(json!(["SCRIPT", "FLUSH"])) => ok("OK"));
    let unknown = json!({"error": "NOSCRIPT No matching script. Please use EVAL."});
    let run = json!(["EVALSHA", loaded["result"], 1, "foo"]);
    responds!(gateway.single(run) => (400, unknown));
}

/// Returns the SHA-1 of a script, which is its name in Redis.
fn sha1_hex(text: &str) -> String {
    use sha1::{Digest, Sha1};
    let digest = Sha1::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
