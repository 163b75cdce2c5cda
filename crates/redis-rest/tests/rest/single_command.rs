//! `/`: a single command as a JSON array.

use reqwest::Method;
use serde_json::json;

use crate::support::{Gateway, failed, ok, prefix, send};

#[tokio::test]
async fn command_is_a_json_array() {
    let gateway = Gateway::start().await;
    let key = prefix();
    responds!(gateway.single(json!(["SET", key, "bar", "EX", 100])) => ok("OK"));
    responds!(gateway.single(json!(["get", key])) => ok("bar"));
    responds!(gateway.single(json!(["TTL", key])) => ok(100));
}

#[tokio::test]
async fn any_method_and_content_type_is_accepted() {
    let gateway = Gateway::start().await;
    for method in [Method::GET, Method::PUT, Method::POST] {
        for kind in [
            "application/json",
            "application/x-www-form-urlencoded",
            "text/plain",
            "image/png",
        ] {
            let request = gateway
                .request(method.clone(), "/")
                .header("content-type", kind)
                .body(r#"["ECHO","hi"]"#);
            assert_eq!(send(request).await.json(), ok("hi"), "{method} {kind}");
        }
    }
}

#[tokio::test]
async fn head_runs_command_without_response_body() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let (status, body) = send(gateway.request(Method::HEAD, &format!("/set/{key}/v/EX/100")))
        .await
        .text();
    assert_eq!((status, body.as_str()), (200, ""));
    responds!(gateway.single(json!(["GET", key])) => ok("v"));
}

#[tokio::test]
async fn other_methods_return_405() {
    let gateway = Gateway::start().await;
    for method in [Method::DELETE, Method::PATCH, Method::TRACE] {
        let (status, body) = send(gateway.request(method.clone(), "/")).await.text();
        assert_eq!((status, body.as_str()), (405, ""), "{method}");
    }
}

#[tokio::test]
async fn invalid_command_returns_400() {
    let gateway = Gateway::start().await;
    for (body, error) in [
        ("", "EOF"),
        ("  \n", "EOF"),
        ("{}", "expected JSON array"),
        ("\"PING\"", "expected JSON array"),
        ("17", "expected JSON array"),
        ("null", "expected JSON array"),
        ("[]", "ERR empty command"),
        ("[", "ERR failed to parse command"),
        ("PING", "ERR failed to parse command"),
        (r#"["PING"]x"#, "ERR failed to parse command"),
        (r#"["PING",]"#, "ERR failed to parse command"),
    ] {
        assert_eq!(
            gateway.post("/", body).await,
            failed(400, error),
            "{body:?}"
        );
    }
}

#[tokio::test]
async fn get_root_without_body_returns_400() {
    let gateway = Gateway::start().await;
    responds!(gateway.get("/") => failed(400, "EOF"));
}

#[tokio::test]
async fn redis_error_returns_400_verbatim() {
    let gateway = Gateway::start().await;
    let key = prefix();
    for (command, error) in [
        (
            json!(["SET", key]),
            "ERR wrong number of arguments for 'set' command",
        ),
        (
            json!(["OBJECT", "NOSUCH"]),
            "ERR unknown subcommand 'NOSUCH'. Try OBJECT HELP.",
        ),
        (
            json!(["EVAL", "return redis.error_reply('MY  own: text ')", 0]),
            "MY  own: text ",
        ),
    ] {
        responds!(gateway.single(command) => failed(400, error));
    }
    gateway.single(json!(["SETEX", key, 100, "text"])).await;
    let wrong_type = "WRONGTYPE Operation against a key holding the wrong kind of value";
    responds!(gateway.single(json!(["LPUSH", key, "a"])) => failed(400, wrong_type));
}

#[tokio::test]
async fn values_keep_their_resp2_shape() {
    let gateway = Gateway::start().await;
    let key = prefix();
    gateway
        .single(json!(["HSET", key, "f", "1.5", "g", "x"]))
        .await;
    gateway
        .single(json!(["ZADD", format!("{key}z"), "inf", "a", "0.1", "b"]))
        .await;
    gateway
        .pipeline(json!([
            ["EXPIRE", key, 100],
            ["EXPIRE", format!("{key}z"), 100]
        ]))
        .await;
    for (command, result) in [
        (json!(["GET", format!("{key}none")]), json!(null)),
        (json!(["LRANGE", format!("{key}none"), 0, -1]), json!([])),
        (json!(["HGETALL", key]), json!(["f", "1.5", "g", "x"])),
        (json!(["HINCRBYFLOAT", key, "f", 0.25]), json!("1.75")),
        (json!(["ZSCORE", format!("{key}z"), "a"]), json!("inf")),
        (
            json!(["ZRANGE", format!("{key}z"), 0, -1, "WITHSCORES"]),
            json!(["b", "0.10000000000000001", "a", "inf"]),
        ),
        (json!(["EXISTS", key]), json!(1)),
        (json!(["PING"]), json!("PONG")),
        (
            json!([
                "EVAL",
                "return {1,{'a',{false,{}}},redis.status_reply('OK')}",
                0
            ]),
            json!([1, ["a", [null, []]], "OK"]),
        ),
        (
            json!(["EVAL", "return {'a',{err='BAD inside'}}", 0]),
            json!(["a", "BAD inside"]),
        ),
    ] {
        assert_eq!(
            gateway.single(command.clone()).await,
            ok(result),
            "{command}"
        );
    }
}
