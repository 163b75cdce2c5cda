//! `/pipeline`: many commands, each for itself.

use serde_json::json;

use crate::support::{Gateway, prefix};

#[tokio::test]
async fn each_command_is_answered_in_order_and_a_failure_stops_nothing() {
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
    let slots = json!([
        {"result": "OK"},
        {"error": "ERR value is not an integer or out of range"},
        {"error": "ERR Command \"CLIENT\" is not allowed in REST or it has a special context path"},
        {"error": "ERR empty pipeline command"},
        {"error": "ERR unknown command 'NOSUCH', with args beginning with: "},
        {"result": "a"}
    ]);
    assert_eq!(gateway.pipeline(commands).await, (200, slots));
}

#[tokio::test]
async fn a_pipeline_of_nothing_but_refused_commands_needs_no_redis() {
    let gateway = Gateway::start().await;
    let refused = json!({"error": "ERR Command \"QUIT\" is not allowed in REST or it has a special context path"});
    assert_eq!(
        gateway.pipeline(json!([["quit"], ["QUIT"]])).await,
        (200, json!([refused, refused]))
    );
}

#[tokio::test]
async fn what_is_no_pipeline_is_400() {
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
            assert_eq!(
                gateway.post(path, body).await,
                (400, json!({ "error": error })),
                "{path} {body:?}"
            );
        }
    }
}

#[tokio::test]
async fn five_hundred_scripts_of_twenty_keys_fit_one_request() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let script =
        "for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'EX', 100) end return #KEYS";
    let (_, loaded) = gateway.single(json!(["SCRIPT", "LOAD", script])).await;
    let commands: Vec<_> = (0..500)
        .map(|each| {
            let mut command = vec![json!("EVALSHA"), loaded["result"].clone(), json!(20)];
            command.extend((0..20).map(|part| json!(format!("{{{key}}}:{each}:{part}"))));
            command.push(json!(each));
            json!(command)
        })
        .collect();
    let (status, slots) = gateway.pipeline(json!(commands)).await;
    assert_eq!(
        (status, slots),
        (200, json!(vec![json!({"result": 20}); 500]))
    );
    assert_eq!(
        gateway
            .single(json!(["GET", format!("{{{key}}}:499:19")]))
            .await,
        (200, json!({"result": "499"}))
    );
}
