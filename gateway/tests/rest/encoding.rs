//! `Upstash-Encoding: base64`, and text without it.

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Gateway, ask, prefix};

async fn base64(gateway: &Gateway, path: &str, body: Value) -> (u16, Value) {
    ask(gateway
        .request(Method::POST, path)
        .header("upstash-encoding", "base64")
        .body(body.to_string()))
    .await
    .json()
}

#[tokio::test]
async fn all_256_byte_values_make_the_round_trip_in_base64() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let all: Vec<u8> = (0..=255).collect();
    gateway
        .post(&format!("/setex/{key}/100"), all.clone())
        .await;
    let encoded = STANDARD.encode(&all);
    assert_eq!(
        base64(&gateway, "/", json!(["GET", key])).await,
        (200, json!({ "result": encoded }))
    );
    let slots = json!([{ "result": encoded }]);
    assert_eq!(
        base64(&gateway, "/pipeline", json!([["GET", key]])).await,
        (200, slots.clone())
    );
    assert_eq!(
        base64(&gateway, "/multi-exec", json!([["GET", key]])).await,
        (200, slots)
    );
}

#[tokio::test]
async fn every_string_is_encoded_but_the_status_ok_at_the_top() {
    let gateway = Gateway::start().await;
    let key = prefix();
    for (command, result) in [
        (json!(["SETEX", key, 100, "v"]), json!("OK")),
        (json!(["GET", key]), json!("dg==")),
        (json!(["PING"]), json!("UE9ORw==")),
        (json!(["TYPE", key]), json!("c3RyaW5n")),
        (json!(["ECHO", ""]), json!("")),
        (json!(["EXISTS", key]), json!(1)),
        (json!(["GET", format!("{key}none")]), json!(null)),
        (
            json!([
                "EVAL",
                "return {'a',{'b',1,false},redis.status_reply('OK')}",
                0
            ]),
            json!(["YQ==", ["Yg==", 1, null], "T0s="]),
        ),
    ] {
        assert_eq!(
            base64(&gateway, "/", command.clone()).await,
            (200, json!({ "result": result })),
            "{command}"
        );
        assert_eq!(
            base64(&gateway, "/pipeline", json!([command])).await,
            (200, json!([{ "result": result }]))
        );
        assert_eq!(
            base64(&gateway, "/multi-exec", json!([command])).await,
            (200, json!([{ "result": result }]))
        );
    }
}

#[tokio::test]
async fn the_text_of_an_error_is_never_encoded() {
    let gateway = Gateway::start().await;
    let error = json!({"error": "ERR wrong number of arguments for 'get' command"});
    assert_eq!(
        base64(&gateway, "/", json!(["GET"])).await,
        (400, error.clone())
    );
    assert_eq!(
        base64(&gateway, "/pipeline", json!([["GET"]])).await,
        (200, json!([error]))
    );
}

#[tokio::test]
async fn without_base64_what_is_not_utf8_becomes_the_replacement_character() {
    let gateway = Gateway::start().await;
    let key = prefix();
    gateway
        .post(
            &format!("/setex/{key}/100"),
            b"a\xff\xc3\xa9\xe2\x82z\x00\x1f\"\\".to_vec(),
        )
        .await;
    let (status, text) = ask(gateway.request(Method::GET, &format!("/get/{key}")))
        .await
        .text();
    assert_eq!(
        (status, text.as_str()),
        (
            200,
            "{\"result\":\"a\u{fffd}é\u{fffd}z\\u0000\\u001f\\\"\\\\\"}"
        )
    );
}

#[tokio::test]
async fn an_error_line_that_is_not_utf8_cuts_nobody_off() {
    let gateway = Gateway::with(|config| config.connections = 1).await;
    let script = "return redis.error_reply('BAD ' .. string.char(255, 10, 254))";
    let (status, body) = gateway.single(json!(["EVAL", script, 0])).await;
    assert_eq!((status, body), (400, json!({"error": "BAD ? ?"})));
    assert_eq!(
        gateway.single(json!(["PING"])).await,
        (200, json!({"result": "PONG"}))
    );
}
