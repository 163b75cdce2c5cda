//! Scripts: NOSCRIPT, and the `allow-key-locking` flag of the hosted service.

use serde_json::{Value, json};

use crate::support::{Gateway, failed, ok, prefix};

const NOSCRIPT: &str = "NOSCRIPT No matching script. Please use EVAL.";

/// Returns a unique script with this first line. It returns 42.
fn script(first_line: &str) -> String {
    format!("{first_line}\n-- {}\nreturn 42", prefix())
}

async fn sha1(gateway: &Gateway, text: &str) -> Value {
    gateway
        .single(json!(["EVAL", "return redis.sha1hex(ARGV[1])", 0, text]))
        .await
        .1["result"]
        .clone()
}

#[tokio::test]
async fn unknown_script_returns_noscript() {
    let gateway = Gateway::start().await;
    let sha = "0".repeat(40);
    assert_eq!(
        gateway.single(json!(["EVALSHA", sha, 0])).await,
        failed(400, NOSCRIPT)
    );
    assert_eq!(
        gateway.pipeline(json!([["EVALSHA", sha, 0]])).await,
        (200, json!([{ "error": NOSCRIPT }]))
    );
}

#[tokio::test]
async fn key_locking_script_runs() {
    let gateway = Gateway::start().await;
    for first_line in [
        "#!lua flags=allow-key-locking",
        "#!lua flags=allow-key-locking,no-writes",
        "#!lua flags=no-writes,allow-key-locking",
        "\n#!lua flags=allow-key-locking",
    ] {
        let response = gateway.single(json!(["EVAL", script(first_line), 0])).await;
        assert_eq!(response, ok(42), "{first_line:?}");
    }
}

#[tokio::test]
async fn other_script_flags_stay_effective() {
    let gateway = Gateway::start().await;
    let writes = "#!lua flags=allow-key-locking,no-writes\nreturn redis.call('SET', KEYS[1], 1)";
    let (status, body) = gateway.single(json!(["EVAL", writes, 1, prefix()])).await;
    let error = body["error"].as_str().unwrap();
    assert_eq!(status, 400);
    assert!(
        error.starts_with("ERR Write commands are not allowed from read-only scripts."),
        "{error}"
    );
}

#[tokio::test]
async fn rewritten_script_keeps_line_numbers() {
    let gateway = Gateway::start().await;
    let script = "#!lua flags=allow-key-locking\n\nerror('here')";
    let (_, body) = gateway.single(json!(["EVAL", script, 0])).await;
    assert!(
        body["error"]
            .as_str()
            .unwrap()
            .contains("user_script:3: here"),
        "{body}"
    );
}

#[tokio::test]
async fn rewritten_script_runs_by_original_sha() {
    let gateway = Gateway::start().await;
    let text = script("#!lua flags=allow-key-locking");
    let sha = sha1(&gateway, &text).await;
    let call = json!(["EVALSHA", sha, 0]);
    assert_eq!(gateway.single(call.clone()).await, failed(400, NOSCRIPT));
    assert_eq!(gateway.single(json!(["EVAL", text, 0])).await, ok(42));
    let result = json!({"result": 42});
    assert_eq!(gateway.single(call.clone()).await, (200, result.clone()));
    assert_eq!(
        gateway.pipeline(json!([call])).await,
        (200, json!([result]))
    );
    assert_eq!(
        gateway.multi_exec(json!([call])).await,
        (200, json!([result]))
    );
    let upper = sha.as_str().unwrap().to_uppercase();
    assert_eq!(
        gateway.single(json!(["EVALSHA_RO", upper, 0])).await,
        (200, result)
    );
}

#[tokio::test]
async fn script_load_returns_original_sha() {
    let gateway = Gateway::start().await;
    for endpoint in ["single", "pipeline", "multi-exec"] {
        let text = script("#!lua flags=allow-key-locking");
        let sha = sha1(&gateway, &text).await;
        let load = json!(["SCRIPT", "LOAD", text]);
        let loaded = match endpoint {
            "single" => gateway.single(load).await.1,
            "pipeline" => gateway.pipeline(json!([["PING"], load])).await.1[1].clone(),
            _ => gateway.multi_exec(json!([["PING"], load])).await.1[1].clone(),
        };
        assert_eq!(loaded, json!({ "result": sha }), "{endpoint}");
        let exists = json!(["SCRIPT", "EXISTS", sha, "0".repeat(40)]);
        assert_eq!(gateway.single(exists).await, ok(json!([1, 0])));
        assert_eq!(gateway.single(json!(["EVALSHA", sha, 0])).await, ok(42));
    }
}

#[tokio::test]
async fn eval_after_noscript_works_on_new_gateway() {
    let first = Gateway::start().await;
    let text = script("#!lua flags=allow-key-locking");
    let sha = sha1(&first, &text).await;
    first.single(json!(["EVAL", text, 0])).await;
    let second = Gateway::start().await;
    assert_eq!(
        second.single(json!(["EVALSHA", sha, 0])).await,
        failed(400, NOSCRIPT)
    );
    assert_eq!(second.single(json!(["EVAL", text, 0])).await, ok(42));
    assert_eq!(second.single(json!(["EVALSHA", sha, 0])).await, ok(42));
}

#[tokio::test]
async fn read_only_variants_are_rewritten() {
    let gateway = Gateway::start().await;
    let text = script("#!lua flags=allow-key-locking,no-writes");
    let sha = sha1(&gateway, &text).await;
    assert_eq!(gateway.single(json!(["EVAL_RO", text, 0])).await, ok(42));
    assert_eq!(gateway.single(json!(["EVALSHA_RO", sha, 0])).await, ok(42));
}

#[tokio::test]
async fn key_locking_function_runs() {
    let gateway = Gateway::start().await;
    let name = prefix();
    let library = format!(
        "#!lua name={name}\nredis.register_function{{function_name='{name}', \
         callback=function() return 42 end, flags={{'allow-key-locking', 'no-writes'}}}}"
    );
    assert_eq!(
        gateway.single(json!(["FUNCTION", "LOAD", library])).await,
        ok(&name)
    );
    assert_eq!(gateway.single(json!(["FCALL_RO", name, 0])).await, ok(42));
    assert_eq!(
        gateway.single(json!(["FUNCTION", "DELETE", name])).await,
        ok("OK")
    );
}
