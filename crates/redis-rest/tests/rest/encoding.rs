//! `Upstash-Encoding: base64`, and text encoding without it.

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Gateway, failed, ok, prefix, send};

async fn base64(gateway: &Gateway, path: &str, body: Value) -> (u16, Value) {
    let header = ["upstash-encoding", "base64"];
    gateway
        .post_with(header, path, body.to_string())
        .await
        .json()
}

#[tokio::test]
async fn all_byte_values_round_trip_in_base64() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let all: Vec<u8> = (0..=255).collect();
    let path = format!("/setex/{key}/100");
    responds!(gateway.post(&path, all.clone()) => ok("OK"));
    let encoded = STANDARD.encode(&all);
    responds!(base64(&gateway, "/", json!(["GET", key])) => ok(&encoded));
    let results = json!([{ "result": encoded }]);
    responds!(base64(&gateway, "/pipeline", json!([["GET", key]])) => (200, results.clone()));
    responds!(base64(&gateway, "/multi-exec", json!([["GET", key]])) => (200, results));
}

#[tokio::test]
async fn base64_encodes_all_but_top_level_ok() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let nested = "return {'a',{'b',1,false},redis.status_reply('OK')}";
    for (command, result) in [
        (json!(["SETEX", key, 100, "v"]), json!("OK")),
        (json!(["GET", key]), json!("dg==")),
        (json!(["PING"]), json!("UE9ORw==")),
        (json!(["TYPE", key]), json!("c3RyaW5n")),
        (json!(["ECHO", ""]), json!("")),
        (json!(["EXISTS", key]), json!(1)),
        (json!(["GET", format!("{key}none")]), json!(null)),
        (
            json!(["EVAL", nested, 0]),
            json!(["YQ==", ["Yg==", 1, null], "T0s="]),
        ),
    ] {
        let response = base64(&gateway, "/", command.clone()).await;
        assert_eq!(response, ok(&result), "{command}");
        for path in ["/pipeline", "/multi-exec"] {
            let results = json!([{ "result": result }]);
            responds!(base64(&gateway, path, json!([command])) => (200, results));
        }
    }
}

#[tokio::test]
async fn base64_does_not_encode_errors() {
    let gateway = Gateway::start().await;
    let error = json!({"error": "ERR wrong number of arguments for 'get' command"});
    responds!(base64(&gateway, "/", json!(["GET"])) => (400, error.clone()));
    responds!(base64(&gateway, "/pipeline", json!([["GET"]])) => (200, json!([error])));
}

#[tokio::test]
async fn text_replaces_invalid_utf8() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let bytes = b"a\xff\xc3\xa9\xe2\x82z\x00\x1f\"\\".to_vec();
    responds!(gateway.post(&format!("/setex/{key}/100"), bytes) => ok("OK"));
    let response = send(gateway.request(Method::GET, &format!("/get/{key}"))).await;
    let text = "{\"result\":\"a\u{fffd}é\u{fffd}z\\u0000\\u001f\\\"\\\\\"}";
    assert_eq!(response.text(), (200, text.to_owned()));
}

/// The client library closes a connection on such a line, so the gateway replaces the invalid bytes.
#[tokio::test]
async fn invalid_utf8_in_error_keeps_connection() {
    let gateway = Gateway::with(|config| config.connections = 1).await;
    let script = "return redis.error_reply('BAD ' .. string.char(255, 10, 254))";
    let (status, body) = gateway.single(json!(["EVAL", script, 0])).await;
    assert_eq!((status, body), failed(400, "BAD ? ?"));
    responds!(gateway.single(json!(["PING"])) => ok("PONG"));
}
