//! Commands in the path: `/{command}/{argument}/…`.

use reqwest::Method;
use serde_json::json;

use crate::support::{Gateway, TOKEN, failed, ok, pong, prefix, send};

#[tokio::test]
async fn path_segments_are_arguments() {
    let gateway = Gateway::start().await;
    let key = prefix();
    for method in [Method::GET, Method::POST, Method::PUT] {
        let path = format!("/set/{key}/{method}/EX/100");
        let set = send(gateway.request(method.clone(), &path)).await;
        assert_eq!(set.json(), ok("OK"));
        responds!(gateway.get(&format!("/get/{key}")) => ok(method.as_str()));
    }
}

#[tokio::test]
async fn path_segments_are_percent_decoded_and_may_be_empty() {
    let gateway = Gateway::start().await;
    responds!(gateway.get("/eval/return%20ARGV/0/a//b") => ok(json!(["a", "", "b"])));
    for (segment, text) in [
        ("a%2Fb", "a/b"),
        ("a+b", "a+b"),
        ("%C3%A9%20", "é "),
        ("%25", "%"),
        ("%ff", "\u{fffd}"),
    ] {
        responds!(gateway.get(&format!("/echo/{segment}")) => ok(text));
    }
}

#[tokio::test]
async fn trailing_slash_is_ignored() {
    let gateway = Gateway::start().await;
    responds!(gateway.get("/ping/") => ok("PONG"));
    responds!(gateway.post("/pipeline/", r#"[["PING"]]"#) => pong());
    responds!(gateway.post("/multi-exec/", r#"[["PING"]]"#) => pong());
}

#[tokio::test]
async fn body_precedes_query_arguments() {
    let gateway = Gateway::start().await;
    let key = prefix();
    responds!(gateway.post(&format!("/set/{key}?EX=100"), "[\"va lue\"]") => ok("OK"));
    responds!(gateway.get(&format!("/get/{key}")) => ok("[\"va lue\"]"));
    responds!(gateway.get(&format!("/ttl/{key}")) => ok(100));
}

#[tokio::test]
async fn binary_body_is_unchanged() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let all: Vec<u8> = (0..=255).collect();
    let path = format!("/set/{key}?EX=100");
    responds!(gateway.post(&path, all.clone()) => ok("OK"));
    let header = ["upstash-response-format", "resp2"];
    let response = gateway.post_with(header, &format!("/get/{key}"), "").await;
    let bulk = [b"$256\r\n", all.as_slice(), b"\r\n"].concat();
    assert_eq!(response.body, bulk);
}

#[tokio::test]
async fn query_keys_and_values_are_arguments() {
    let gateway = Gateway::start().await;
    let path = format!("/eval/return%20ARGV/0?b=1&_token={TOKEN}&a=&NX&x=y%3Dz+w&a=2&&");
    let result = json!(["b", "1", "a", "", "NX", "x", "y=z w", "a", "2"]);
    responds!(gateway.get(&path) => ok(result));
}

#[tokio::test]
async fn publish_and_unknown_paths_are_regular_commands() {
    let gateway = Gateway::start().await;
    responds!(gateway.post(&format!("/publish/{}/hello", prefix()), "") => ok(0));
    let error = "ERR Command is not available: 'FAVICON.ICO'. ALLOW_COMMANDS of the gateway can make it available";
    responds!(gateway.get("/favicon.ico") => failed(400, error));
}
