//! Commands in the path: `/{command}/{argument}/…`.

use reqwest::Method;
use serde_json::json;

use crate::support::{Gateway, TOKEN, failed, ok, prefix, send};

#[tokio::test]
async fn path_segments_are_arguments() {
    let gateway = Gateway::start().await;
    let key = prefix();
    for method in [Method::GET, Method::POST, Method::PUT] {
        let set = send(gateway.request(method.clone(), &format!("/set/{key}/{method}/EX/100")))
            .await
            .json();
        assert_eq!(set, ok("OK"));
        responds!(gateway.get(&format!("/get/{key}")) => ok(method.as_str()));
    }
}

#[tokio::test]
async fn path_segments_are_percent_decoded() {
    let gateway = Gateway::start().await;
    for (segment, text) in [
        ("a%2Fb", "a/b"),
        ("a+b", "a+b"),
        ("%C3%A9%20", "é "),
        ("%25", "%"),
        ("%ff", "\u{fffd}"),
    ] {
        assert_eq!(
            gateway.get(&format!("/echo/{segment}")).await,
            ok(text),
            "{segment}"
        );
    }
}

#[tokio::test]
async fn trailing_slash_is_ignored() {
    let gateway = Gateway::start().await;
    responds!(gateway.get("/ping/") => ok("PONG"));
    assert_eq!(
        gateway.post("/pipeline/", r#"[["PING"]]"#).await,
        (200, json!([{"result": "PONG"}]))
    );
    assert_eq!(
        gateway.post("/multi-exec/", r#"[["PING"]]"#).await,
        (200, json!([{"result": "PONG"}]))
    );
}

#[tokio::test]
async fn empty_segment_is_empty_argument() {
    let gateway = Gateway::start().await;
    responds!(gateway.get("/eval/return%20ARGV/0/a//b") => ok(json!(["a", "", "b"])));
}

#[tokio::test]
async fn body_precedes_query_arguments() {
    let gateway = Gateway::start().await;
    let key = prefix();
    assert_eq!(
        gateway
            .post(&format!("/set/{key}?EX=100"), "[\"va lue\"]")
            .await,
        ok("OK")
    );
    responds!(gateway.get(&format!("/get/{key}")) => ok("[\"va lue\"]"));
    responds!(gateway.get(&format!("/ttl/{key}")) => ok(100));
}

#[tokio::test]
async fn binary_body_is_unchanged() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let all: Vec<u8> = (0..=255).collect();
    gateway
        .post(&format!("/set/{key}?EX=100"), all.clone())
        .await;
    let response = send(
        gateway
            .request(Method::GET, &format!("/get/{key}"))
            .header("upstash-response-format", "resp2"),
    )
    .await;
    assert_eq!(
        response.body,
        [b"$256\r\n", all.as_slice(), b"\r\n"].concat()
    );
}

#[tokio::test]
async fn query_keys_and_values_are_arguments() {
    let gateway = Gateway::start().await;
    let path = format!("/eval/return%20ARGV/0?b=1&_token={TOKEN}&a=&NX&x=y%3Dz+w&a=2&&");
    let result = json!(["b", "1", "a", "", "NX", "x", "y=z w", "a", "2"]);
    responds!(gateway.get(&path) => ok(result));
}

#[tokio::test]
async fn unknown_path_is_unknown_command() {
    let gateway = Gateway::start().await;
    let error = "ERR Command is not available: 'FAVICON.ICO'. ALLOW_COMMANDS of the gateway can make it available";
    responds!(gateway.get("/favicon.ico") => failed(400, error));
}

#[tokio::test]
async fn publish_is_a_regular_command() {
    let gateway = Gateway::start().await;
    assert_eq!(
        gateway
            .post(&format!("/publish/{}/hello", prefix()), "")
            .await,
        ok(0)
    );
}
