//! Authentication by token.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Gateway, READ_ONLY_TOKEN, TOKEN, failed, no_permission, ok, pong, send};

const WRONGPASS: &str = "WRONGPASS invalid or missing auth token. See https://docs.upstash.com/redis/troubleshooting/http_unauthorized for details.";

async fn with_header(gateway: &Gateway, path: &str, value: &str) -> (u16, Value) {
    let request = gateway.request_without_token(Method::GET, path);
    send(request.header("authorization", value)).await.json()
}

#[tokio::test]
async fn bearer_scheme_is_case_insensitive_and_optional() {
    let gateway = Gateway::start().await;
    for header in [
        format!("Bearer {TOKEN}"),
        format!("bearer {TOKEN}"),
        format!("BEARER  {TOKEN}"),
        TOKEN.to_owned(),
    ] {
        let response = with_header(&gateway, "/ping", &header).await;
        assert_eq!(response, ok("PONG"), "{header}");
    }
}

#[tokio::test]
async fn missing_or_wrong_token_returns_401() {
    let gateway = Gateway::start().await;
    let paths = "/ /pipeline /multi-exec /ping /subscribe/a /monitor /no/such /healthz/x";
    let headers = ",Bearer,Bearer ,Bearer wrong,Basic YTpi,Bearer a-token-of-the-test";
    for path in paths.split(' ') {
        for header in headers.split(',') {
            let response = with_header(&gateway, path, header).await;
            assert_eq!(response, failed(401, WRONGPASS), "{path} {header}");
        }
        let request = gateway.request_without_token(Method::POST, path);
        let response = send(request.body("[\"PING\"]")).await.json();
        assert_eq!(response, failed(401, WRONGPASS), "{path}");
    }
    let request = gateway.request_without_token(Method::POST, "/");
    let large = request.bearer_auth("wrong").body(vec![b'x'; 20_000_000]);
    assert_eq!(send(large).await.json(), failed(401, WRONGPASS));
}

#[tokio::test]
async fn query_token_overrides_header() {
    let gateway = Gateway::start().await;
    let query = format!("_token={TOKEN}");
    responds!(with_header(&gateway, &format!("/ping?{query}"), "Bearer wrong") => ok("PONG"));
    let wrong = with_header(&gateway, "/ping?_token=wrong", &format!("Bearer {TOKEN}")).await;
    assert_eq!(wrong, failed(401, WRONGPASS));
    for (path, body, response) in [
        ("/", r#"["PING"]"#, ok("PONG")),
        ("/pipeline", r#"[["PING"]]"#, pong()),
        ("/multi-exec", r#"[["PING"]]"#, pong()),
    ] {
        let path = format!("{path}?{query}");
        let request = gateway.request_without_token(Method::POST, &path);
        assert_eq!(send(request.body(body)).await.json(), response, "{path}");
    }
}

/// A disabled `_token` is ignored, and is not an argument of the command either.
#[tokio::test]
async fn query_token_can_be_disabled() {
    let gateway = Gateway::with(|config| config.query_token = false).await;
    let path = format!("/echo/hi?_token={TOKEN}");
    let request = gateway.request_without_token(Method::GET, &path);
    assert_eq!(send(request).await.json(), failed(401, WRONGPASS));
    responds!(gateway.get(&path) => ok("hi"));
}

#[tokio::test]
async fn read_only_token_rejects_writes() {
    let gateway = Gateway::with_read_only().await;
    responds!(gateway.post_read_only("/", r#"["GET","read-only"]"#) => ok(Value::Null));
    responds!(gateway.post_read_only("/multi-exec", r#"[["PING"]]"#) => pong());
    let names = "set evalsha eval scan keys script flushall config publish nosuch";
    for name in names.split(' ') {
        responds!(gateway.post_read_only(&format!("/{name}/a"), "") => no_permission(name));
    }
    responds!(gateway.post_read_only("/monitor", "[]") => no_permission("monitor"));
    // In a pipeline only the write fails. A transaction is discarded.
    let body = r#"[["PING"],["SET","read-only","x"]]"#;
    let results = json!([{"result": "PONG"}, no_permission("set").1]);
    responds!(gateway.post_read_only("/pipeline", body) => (200, results));
    responds!(gateway.post_read_only("/multi-exec", body) => no_permission("set"));
    responds!(gateway.get("/exists/read-only") => ok(0));
}

/// A token that is read from a file may end with a newline.
#[tokio::test]
async fn newline_after_token_is_ignored() {
    let gateway = Gateway::with(|config| config.token = format!("{TOKEN}\n")).await;
    responds!(gateway.get("/ping") => ok("PONG"));
}

const SCRIPT_COMMANDS: [&str; 3] = [
    r#"["EVAL_RO","return 1","0"]"#,
    r#"["EVALSHA_RO","e0e1f9fabfc9d4800c877a703b823ac0578ff8db","0"]"#,
    r#"["FCALL_RO","nosuch","0"]"#,
];

/// A script can block Redis, and list keys.
#[tokio::test]
async fn read_only_token_runs_no_scripts() {
    let gateway = Gateway::with_read_only().await;
    for command in SCRIPT_COMMANDS {
        let name = command.split('"').nth(1).unwrap().to_lowercase();
        let (error, batch) = (no_permission(&name), format!("[{command}]"));
        let results = (200, json!([error.1]));
        responds!(gateway.post_read_only("/", command) => error);
        responds!(gateway.post_read_only("/pipeline", batch.clone()) => results);
        responds!(gateway.post_read_only("/multi-exec", batch) => error);
    }
}

#[tokio::test]
async fn read_only_scripts_can_be_enabled() {
    let gateway = Gateway::with(|config| {
        READ_ONLY_TOKEN.clone_into(&mut config.readonly_token);
        config.readonly_scripts = true;
    })
    .await;
    responds!(gateway.post_read_only("/", SCRIPT_COMMANDS[0]) => ok(1));
    let path = "/evalsha_ro/e0e1f9fabfc9d4800c877a703b823ac0578ff8db/0";
    responds!(gateway.post_read_only(path, "") => ok(1));
    let unknown = failed(400, "ERR Function not found");
    responds!(gateway.post_read_only("/", SCRIPT_COMMANDS[2]) => unknown);
    let writing = r#"["EVAL","return 1","0"]"#;
    responds!(gateway.post_read_only("/", writing) => no_permission("eval"));
}
