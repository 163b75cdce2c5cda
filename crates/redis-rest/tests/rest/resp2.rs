//! The `Upstash-Response-Format` header.

use reqwest::Method;

use crate::support::{Gateway, HttpResponse, failed, ok, pong, send};

async fn raw(gateway: &Gateway, path: &str, body: &'static str) -> HttpResponse {
    gateway
        .post_with(["upstash-response-format", "resp2"], path, body)
        .await
}

#[tokio::test]
async fn resp2_returns_raw_reply() {
    let gateway = Gateway::start().await;
    let nested = r#"["EVAL","return {1,{'a',redis.status_reply('OK')},{}}",0]"#;
    for (body, bytes) in [
        (r#"["PING"]"#, "+PONG\r\n"),
        (r#"["ECHO","hé"]"#, "$3\r\nhé\r\n"),
        (r#"["EXISTS","resp2-none"]"#, ":0\r\n"),
        (r#"["GET","resp2-none"]"#, "$-1\r\n"),
        (nested, "*3\r\n:1\r\n*2\r\n$1\r\na\r\n+OK\r\n*0\r\n"),
    ] {
        let response = raw(&gateway, "/", body).await;
        assert_eq!(response.header("content-type"), "application/octet-stream");
        assert_eq!(response.text(), (200, bytes.to_owned()), "{body}");
    }
}

#[tokio::test]
async fn resp2_error_keeps_status_400() {
    let gateway = Gateway::start().await;
    let response = raw(&gateway, "/", r#"["GET"]"#).await;
    let error = "-ERR wrong number of arguments for 'get' command\r\n";
    assert_eq!(response.text(), (400, error.to_owned()));
}

#[tokio::test]
async fn resp2_pipeline_concatenates_replies() {
    let gateway = Gateway::start().await;
    let body = r#"[["PING"],["QUIT"],["GET"],["ECHO","a"]]"#;
    let response = raw(&gateway, "/pipeline", body).await;
    let bytes = "+PONG\r\n\
        -ERR Command \"QUIT\" is not allowed in REST or it has a special context path\r\n\
        -ERR wrong number of arguments for 'get' command\r\n\
        $1\r\na\r\n";
    assert_eq!(response.text(), (200, bytes.to_owned()));
}

#[tokio::test]
async fn resp2_is_ignored_for_transactions() {
    let gateway = Gateway::start().await;
    let response = raw(&gateway, "/multi-exec", r#"[["PING"]]"#).await;
    assert_eq!(response.json(), pong());
}

#[tokio::test]
async fn unknown_response_format_returns_400() {
    let gateway = Gateway::start().await;
    let error = "ERR Upstash-Response-Format must be json or resp2";
    for (format, response) in [
        ("json", ok("PONG")),
        ("resp3", failed(400, error)),
        ("", failed(400, error)),
    ] {
        let header = ["upstash-response-format", format];
        let ping = gateway.post_with(header, "/ping", "").await;
        assert_eq!(ping.json(), response, "{format}");
    }
}

#[tokio::test]
async fn resp2_with_base64_returns_400() {
    let gateway = Gateway::start().await;
    let request = gateway.request(Method::GET, "/ping");
    let request = request.header("upstash-response-format", "resp2");
    let request = request.header("upstash-encoding", "base64");
    let error =
        "ERR Upstash-Encoding: base64 cannot be combined with Upstash-Response-Format: resp2";
    assert_eq!(send(request).await.json(), failed(400, error));
}
