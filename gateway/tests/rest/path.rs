//! `/{command}/{argument}/…`

use reqwest::Method;
use serde_json::json;

use crate::support::{Gateway, TOKEN, ask, prefix};

#[tokio::test]
async fn segments_are_arguments_in_get_post_and_put() {
    let gateway = Gateway::start().await;
    let key = prefix();
    for method in [Method::GET, Method::POST, Method::PUT] {
        let set = ask(gateway.request(method.clone(), &format!("/set/{key}/{method}/EX/100")))
            .await
            .json();
        assert_eq!(set, (200, json!({"result": "OK"})));
        assert_eq!(
            gateway.get(&format!("/get/{key}")).await,
            (200, json!({ "result": method.as_str() }))
        );
    }
}

#[tokio::test]
async fn segments_are_percent_decoded_after_they_are_split() {
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
            (200, json!({ "result": text })),
            "{segment}"
        );
    }
}

#[tokio::test]
async fn a_slash_at_the_end_is_ignored() {
    let gateway = Gateway::start().await;
    assert_eq!(
        gateway.get("/ping/").await,
        (200, json!({"result": "PONG"}))
    );
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
async fn an_empty_segment_inside_is_an_empty_argument() {
    let gateway = Gateway::start().await;
    assert_eq!(
        gateway.get("/eval/return%20ARGV/0/a//b").await,
        (200, json!({"result": ["a", "", "b"]}))
    );
}

#[tokio::test]
async fn the_body_is_one_raw_argument_before_those_of_the_query() {
    let gateway = Gateway::start().await;
    let key = prefix();
    assert_eq!(
        gateway
            .post(&format!("/set/{key}?EX=100"), "[\"va lue\"]")
            .await,
        (200, json!({"result": "OK"}))
    );
    assert_eq!(
        gateway.get(&format!("/get/{key}")).await,
        (200, json!({"result": "[\"va lue\"]"}))
    );
    assert_eq!(
        gateway.get(&format!("/ttl/{key}")).await,
        (200, json!({"result": 100}))
    );
}

#[tokio::test]
async fn a_binary_body_arrives_byte_for_byte() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let all: Vec<u8> = (0..=255).collect();
    gateway
        .post(&format!("/set/{key}?EX=100"), all.clone())
        .await;
    let answer = ask(gateway
        .request(Method::GET, &format!("/get/{key}"))
        .header("upstash-response-format", "resp2"))
    .await;
    assert_eq!(answer.body, [b"$256\r\n", all.as_slice(), b"\r\n"].concat());
}

#[tokio::test]
async fn the_query_gives_keys_and_values_in_order_without_the_token() {
    let gateway = Gateway::start().await;
    let path = format!("/eval/return%20ARGV/0?b=1&_token={TOKEN}&a=&NX&x=y%3Dz+w&a=2&&");
    let result = json!(["b", "1", "a", "", "NX", "x", "y=z w", "a", "2"]);
    assert_eq!(gateway.get(&path).await, (200, json!({ "result": result })));
}

#[tokio::test]
async fn an_unknown_path_is_an_unknown_command() {
    let gateway = Gateway::start().await;
    let error = "ERR unknown command 'favicon.ico', with args beginning with: ";
    assert_eq!(
        gateway.get("/favicon.ico").await,
        (400, json!({ "error": error }))
    );
}

#[tokio::test]
async fn publish_is_an_ordinary_command() {
    let gateway = Gateway::start().await;
    assert_eq!(
        gateway
            .post(&format!("/publish/{}/hello", prefix()), "")
            .await,
        (200, json!({"result": 0}))
    );
}
