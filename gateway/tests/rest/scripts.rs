//! Scripts: NOSCRIPT, and the flag only the hosted service knows.

use serde_json::{Value, json};

use crate::support::{Gateway, prefix};

const NOSCRIPT: &str = "NOSCRIPT No matching script. Please use EVAL.";

/// A script nobody else has, its first line as given; it returns its own line number.
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
async fn an_unknown_script_answers_the_words_clients_look_for() {
    let gateway = Gateway::start().await;
    let sha = "0".repeat(40);
    assert_eq!(
        gateway.single(json!(["EVALSHA", sha, 0])).await,
        (400, json!({ "error": NOSCRIPT }))
    );
    assert_eq!(
        gateway.pipeline(json!([["EVALSHA", sha, 0]])).await,
        (200, json!([{ "error": NOSCRIPT }]))
    );
}

#[tokio::test]
async fn a_script_that_asks_for_key_locking_runs() {
    let gateway = Gateway::start().await;
    for first_line in [
        "#!lua flags=allow-key-locking",
        "#!lua flags=allow-key-locking,no-writes",
        "#!lua flags=no-writes,allow-key-locking",
        "\n#!lua flags=allow-key-locking",
    ] {
        let answer = gateway.single(json!(["EVAL", script(first_line), 0])).await;
        assert_eq!(answer, (200, json!({"result": 42})), "{first_line:?}");
    }
}

#[tokio::test]
async fn the_other_flags_stay_in_force() {
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
async fn a_rewritten_script_reports_errors_on_the_line_the_author_wrote() {
    let gateway = Gateway::start().await;
    let faulty = "#!lua flags=allow-key-locking\n\nerror('here')";
    let (_, body) = gateway.single(json!(["EVAL", faulty, 0])).await;
    assert!(
        body["error"]
            .as_str()
            .unwrap()
            .contains("user_script:3: here"),
        "{body}"
    );
}

#[tokio::test]
async fn a_rewritten_script_is_known_by_the_sha_of_what_was_sent_on_every_endpoint() {
    let gateway = Gateway::start().await;
    let text = script("#!lua flags=allow-key-locking");
    let sha = sha1(&gateway, &text).await;
    let call = json!(["EVALSHA", sha, 0]);
    assert_eq!(
        gateway.single(call.clone()).await,
        (400, json!({ "error": NOSCRIPT }))
    );
    assert_eq!(
        gateway.single(json!(["EVAL", text, 0])).await,
        (200, json!({"result": 42}))
    );
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
async fn loading_a_script_answers_the_sha_of_what_was_sent_and_it_exists() {
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
        assert_eq!(
            gateway.single(exists).await,
            (200, json!({"result": [1, 0]}))
        );
        assert_eq!(
            gateway.single(json!(["EVALSHA", sha, 0])).await,
            (200, json!({"result": 42}))
        );
    }
}

#[tokio::test]
async fn a_gateway_that_has_never_seen_the_script_is_healed_by_the_clients_own_eval() {
    let first = Gateway::start().await;
    let text = script("#!lua flags=allow-key-locking");
    let sha = sha1(&first, &text).await;
    first.single(json!(["EVAL", text, 0])).await;
    let second = Gateway::start().await;
    assert_eq!(
        second.single(json!(["EVALSHA", sha, 0])).await,
        (400, json!({ "error": NOSCRIPT }))
    );
    assert_eq!(
        second.single(json!(["EVAL", text, 0])).await,
        (200, json!({"result": 42}))
    );
    assert_eq!(
        second.single(json!(["EVALSHA", sha, 0])).await,
        (200, json!({"result": 42}))
    );
}

#[tokio::test]
async fn read_only_variants_are_rewritten_too() {
    let gateway = Gateway::start().await;
    let text = script("#!lua flags=allow-key-locking,no-writes");
    let sha = sha1(&gateway, &text).await;
    assert_eq!(
        gateway.single(json!(["EVAL_RO", text, 0])).await,
        (200, json!({"result": 42}))
    );
    assert_eq!(
        gateway.single(json!(["EVALSHA_RO", sha, 0])).await,
        (200, json!({"result": 42}))
    );
}

#[tokio::test]
async fn a_function_that_asks_for_key_locking_loads_and_runs() {
    let gateway = Gateway::start().await;
    let name = prefix();
    let library = format!(
        "#!lua name={name}\nredis.register_function{{function_name='{name}', \
         callback=function() return 42 end, flags={{'allow-key-locking', 'no-writes'}}}}"
    );
    assert_eq!(
        gateway.single(json!(["FUNCTION", "LOAD", library])).await,
        (200, json!({ "result": name }))
    );
    assert_eq!(
        gateway.single(json!(["FCALL_RO", name, 0])).await,
        (200, json!({"result": 42}))
    );
    assert_eq!(
        gateway.single(json!(["FUNCTION", "DELETE", name])).await,
        (200, json!({"result": "OK"}))
    );
}
