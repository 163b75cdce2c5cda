//! `Upstash-Response-Format`.

use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, Gateway, ask};

async fn raw(gateway: &Gateway, path: &str, body: &'static str) -> Answer {
    ask(gateway
        .request(Method::POST, path)
        .header("upstash-response-format", "resp2")
        .body(body))
    .await
}

#[tokio::test]
async fn a_reply_is_the_raw_bytes_of_redis() {
    let gateway = Gateway::start().await;
    for (body, bytes) in [
        (r#"["PING"]"#, "+PONG\r\n"),
        (r#"["ECHO","hé"]"#, "$3\r\nhé\r\n"),
        (r#"["EXISTS","resp2-none"]"#, ":0\r\n"),
        (r#"["GET","resp2-none"]"#, "$-1\r\n"),
        (
            r#"["EVAL","return {1,{'a',redis.status_reply('OK')},{}}",0]"#,
            "*3\r\n:1\r\n*2\r\n$1\r\na\r\n+OK\r\n*0\r\n",
        ),
    ] {
        let answer = raw(&gateway, "/", body).await;
        assert_eq!(answer.header("content-type"), "application/octet-stream");
        assert_eq!(answer.text(), (200, bytes.to_owned()), "{body}");
    }
}

#[tokio::test]
async fn an_error_of_redis_is_raw_as_well_with_its_status() {
    let gateway = Gateway::start().await;
    let answer = raw(&gateway, "/", r#"["GET"]"#).await;
    assert_eq!(
        answer.text(),
        (
            400,
            "-ERR wrong number of arguments for 'get' command\r\n".to_owned()
        )
    );
}

#[tokio::test]
async fn the_replies_of_a_pipeline_follow_one_another() {
    let gateway = Gateway::start().await;
    let answer = raw(
        &gateway,
        "/pipeline",
        r#"[["PING"],["QUIT"],["GET"],["ECHO","a"]]"#,
    )
    .await;
    let bytes = "+PONG\r\n\
        -ERR Command \"QUIT\" is not allowed in REST or it has a special context path\r\n\
        -ERR wrong number of arguments for 'get' command\r\n\
        $1\r\na\r\n";
    assert_eq!(answer.text(), (200, bytes.to_owned()));
}

#[tokio::test]
async fn a_transaction_is_json_all_the_same() {
    let gateway = Gateway::start().await;
    let answer = raw(&gateway, "/multi-exec", r#"[["PING"]]"#).await;
    assert_eq!(answer.json(), (200, json!([{"result": "PONG"}])));
}

#[tokio::test]
async fn json_may_be_asked_for_and_anything_else_is_400() {
    let gateway = Gateway::start().await;
    let ask = |format: &'static str| {
        ask(gateway
            .request(Method::GET, "/ping")
            .header("upstash-response-format", format))
    };
    assert_eq!(ask("json").await.json(), (200, json!({"result": "PONG"})));
    let error = json!({"error": "ERR Upstash-Response-Format must be json or resp2"});
    assert_eq!(ask("resp3").await.json(), (400, error.clone()));
    assert_eq!(ask("").await.json(), (400, error));
}

#[tokio::test]
async fn raw_bytes_cannot_be_had_in_base64() {
    let gateway = Gateway::start().await;
    let request = gateway
        .request(Method::GET, "/ping")
        .header("upstash-response-format", "resp2")
        .header("upstash-encoding", "base64");
    let error =
        "ERR Upstash-Encoding: base64 cannot be combined with Upstash-Response-Format: resp2";
    assert_eq!(ask(request).await.json(), (400, json!({ "error": error })));
}
