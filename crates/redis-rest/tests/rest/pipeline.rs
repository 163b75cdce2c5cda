//! `/pipeline`: independent commands in one request.

use serde_json::json;

use crate::support::{Gateway, failed, not_allowed, ok, prefix};

#[tokio::test]
async fn pipeline_continues_after_failed_command() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let commands = json!([
        ["SETEX", key, 100, "a"],
        ["INCR", key],
        ["CLIENT", "ID"],
        [],
        ["NOSUCH"],
        ["GET", key]
    ]);
    let results = json!([
        {"result": "OK"},
        {"error": "ERR value is not an integer or out of range"},
        not_allowed("CLIENT").1,
        {"error": "ERR empty pipeline command"},
        {"error": "ERR Command is not available: 'NOSUCH'. ALLOW_COMMANDS of the gateway can make it available"},
        {"result": "a"}
    ]);
    responds!(gateway.pipeline(commands) => (200, results));
    // Commands that are all refused.
    let (_, refused) = not_allowed("QUIT");
    responds!(gateway.pipeline(json!([["quit"], ["QUIT"]])) => (200, json!([refused, refused])));
}

#[tokio::test]
async fn invalid_pipeline_returns_400() {
    let gateway = Gateway::start().await;
    for path in ["/pipeline", "/multi-exec"] {
        for (body, error) in [
            ("", "EOF"),
            ("{}", "expected JSON array"),
            ("[]", "ERR empty pipeline request"),
            ("[[", "ERR failed to parse pipeline request"),
            (r#"["PING"]"#, "ERR failed to parse pipeline request"),
            (r#"[["PING"],null]"#, "ERR failed to parse pipeline request"),
        ] {
            let response = gateway.post(path, body).await;
            assert_eq!(response, failed(400, error), "{path} {body:?}");
        }
    }
}

#[tokio::test]
async fn pipeline_runs_500_scripts_of_20_keys() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let script =
        "for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'EX', 100) end return #KEYS";
    let (_, loaded) = gateway.single(json!(["SCRIPT", "LOAD", script])).await;
    let commands: Vec<_> = (0..500)
        .map(|call| {
            let mut command = vec![json!("EVALSHA"), loaded["result"].clone(), json!(20)];
            command.extend((0..20).map(|index| json!(format!("{{{key}}}:{call}:{index}"))));
            command.push(json!(call));
            json!(command)
        })
        .collect();
    let results = json!(vec![json!({"result": 20}); 500]);
    responds!(gateway.pipeline(json!(commands)) => (200, results));
    responds!(gateway.single(json!(["GET", format!("{{{key}}}:499:19")])) => ok("499"));
}
