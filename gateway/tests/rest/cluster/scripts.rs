//! A script known to one node is known to all.

use serde_json::{Value, json};

use super::gateway;
use crate::support::prefix;

/// Keys of all three nodes.
fn keys(prefix: &str) -> Vec<String> {
    (0..12).map(|each| format!("{prefix}:{each}")).collect()
}

fn runs(sha: &Value, prefix: &str) -> (Value, Value) {
    let keys = keys(prefix);
    let commands: Vec<Value> = keys
        .iter()
        .map(|key| json!(["EVALSHA", sha, 1, key]))
        .collect();
    let slots: Vec<Value> = keys.iter().map(|key| json!({ "result": key })).collect();
    (json!(commands), json!(slots))
}

#[tokio::test]
async fn a_script_loaded_once_runs_on_every_node() {
    let gateway = gateway().await;
    let key = prefix();
    let text = format!("return KEYS[1] -- {key}");
    let (status, loaded) = gateway.single(json!(["SCRIPT", "LOAD", text])).await;
    assert_eq!(status, 200);
    assert_eq!(
        gateway
            .single(json!([
                "SCRIPT",
                "EXISTS",
                loaded["result"],
                "0".repeat(40)
            ]))
            .await,
        (200, json!({ "result": [1, 0] }))
    );
    let (commands, slots) = runs(&loaded["result"], &key);
    assert_eq!(gateway.pipeline(commands).await, (200, slots));
}

#[tokio::test]
async fn a_script_seen_once_is_loaded_where_it_is_missing() {
    let gateway = gateway().await;
    let key = prefix();
    let text = format!("return KEYS[1] -- seen {key}");
    // One node has seen it, and then not even that one.
    let (status, _) = gateway.single(json!(["EVAL", text, 1, key])).await;
    assert_eq!(status, 200);
    let sha = json!(sha1_hex(&text));
    assert_eq!(
        gateway.single(json!(["SCRIPT", "EXISTS", sha])).await,
        (200, json!({ "result": [1] }))
    );
    let (commands, slots) = runs(&sha, &key);
    assert_eq!(
        gateway.pipeline(commands.clone()).await,
        (200, slots.clone())
    );
    for place in 0..crate::support::PRIMARIES {
        super::shared_cluster().run::<()>(place, &["SCRIPT", "FLUSH"]);
    }
    assert_eq!(
        gateway.pipeline(commands.clone()).await,
        (200, slots.clone())
    );
    for place in 0..crate::support::PRIMARIES {
        super::shared_cluster().run::<()>(place, &["SCRIPT", "FLUSH"]);
    }
    let run = json!([["EVALSHA", sha, 1, key], ["GET", key]]);
    assert_eq!(
        gateway.multi_exec(run).await,
        (200, json!([{ "result": key }, { "result": null }]))
    );
}

#[tokio::test]
async fn a_script_nobody_has_seen_is_noscript() {
    let gateway = gateway().await;
    let unknown = json!({"error": "NOSCRIPT No matching script. Please use EVAL."});
    let sha = "f".repeat(40);
    assert_eq!(
        gateway
            .pipeline(json!([
                ["EVALSHA", sha, 1, "foo"],
                ["EVALSHA", sha, 1, "bar"],
                ["EVALSHA", sha, 0]
            ]))
            .await,
        (200, json!([unknown, unknown, unknown]))
    );
}

#[tokio::test]
async fn after_a_flush_no_script_comes_back() {
    let own = crate::support::Cluster::start();
    let gateway = super::before(&own).await;
    let (_, loaded) = gateway
        .single(json!(["SCRIPT", "LOAD", "return KEYS[1]"]))
        .await;
    assert_eq!(
        gateway.single(json!(["SCRIPT", "FLUSH"])).await,
        (200, json!({"result": "OK"}))
    );
    let unknown = json!({"error": "NOSCRIPT No matching script. Please use EVAL."});
    let run = json!(["EVALSHA", loaded["result"], 1, "foo"]);
    assert_eq!(gateway.single(run).await, (400, unknown));
}

/// The name Redis gives a script.
fn sha1_hex(text: &str) -> String {
    use sha1::{Digest, Sha1};
    let digest = Sha1::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
