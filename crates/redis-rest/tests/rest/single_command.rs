//! `/`: a single command as a JSON array.

use reqwest::Method;
use serde_json::json;

use crate::support::{Gateway, failed, ok, prefix, send};

#[tokio::test]
async fn any_method_and_content_type_is_accepted() {
    let gateway = Gateway::start().await;
    let kinds = "application/json application/x-www-form-urlencoded text/plain image/png";
    for method in [Method::GET, Method::PUT, Method::POST] {
        for kind in kinds.split(' ') {
            let request = gateway.request(method.clone(), "/");
            let request = request.header("content-type", kind);
            let response = send(request.body(r#"["echo","hi"]"#)).await.json();
            assert_eq!(response, ok("hi"), "{method} {kind}");
        }
    }
}

#[tokio::test]
async fn head_runs_command_without_response_body() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let path = format!("/set/{key}/v/EX/100");
    let response = send(gateway.request(Method::HEAD, &path)).await;
    assert_eq!(response.text(), (200, String::new()));
    responds!(gateway.single(json!(["GET", key])) => ok("v"));
}

#[tokio::test]
async fn other_methods_return_405() {
    let gateway = Gateway::start().await;
    for method in [Method::DELETE, Method::PATCH, Method::TRACE] {
        let response = send(gateway.request(method.clone(), "/")).await;
        assert_eq!(response.text(), (405, String::new()), "{method}");
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
        let response = gateway.post("/", body).await;
        assert_eq!(response, failed(400, error), "{body:?}");
    }
    responds!(gateway.get("/") => failed(400, "EOF"));
}

#[tokio::test]
async fn redis_error_returns_400_verbatim() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let script = "return redis.error_reply('MY  own: text ')";
    let number = "ERR wrong number of arguments for 'set' command";
    let unknown = "ERR unknown subcommand 'NOSUCH'. Try OBJECT HELP.";
    for (command, error) in [
        (json!(["SET", key]), number),
        (json!(["OBJECT", "NOSUCH"]), unknown),
        (json!(["EVAL", script, 0]), "MY  own: text "),
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
    let scores = format!("{key}z");
    let commands = json!([
        ["HSET", key, "f", "1.5", "g", "x"],
        ["ZADD", scores, "inf", "a", "0.1", "b"],
        ["EXPIRE", key, 100],
        ["EXPIRE", scores, 100]
    ]);
    gateway.pipeline(commands).await;
    let nested = "return {1,{'a',{false,{}}},redis.status_reply('OK')}";
    let rows = json!(["b", "0.10000000000000001", "a", "inf"]);
    for (command, result) in [
        (json!(["GET", format!("{key}none")]), json!(null)),
        (json!(["LRANGE", format!("{key}none"), 0, -1]), json!([])),
        (json!(["HGETALL", key]), json!(["f", "1.5", "g", "x"])),
        (json!(["HINCRBYFLOAT", key, "f", 0.25]), json!("1.75")),
        (json!(["ZSCORE", scores, "a"]), json!("inf")),
        (json!(["ZRANGE", scores, 0, -1, "WITHSCORES"]), rows),
        (json!(["EXISTS", key]), json!(1)),
        (json!(["PING"]), json!("PONG")),
        (
            json!(["EVAL", nested, 0]),
            json!([1, ["a", [null, []]], "OK"]),
        ),
        (
            json!(["EVAL", "return {'a',{err='BAD inside'}}", 0]),
            json!(["a", "BAD inside"]),
        ),
    ] {
        let response = gateway.single(command.clone()).await;
        assert_eq!(response, ok(result), "{command}");
    }
}
