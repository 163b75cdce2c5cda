//! Authentication by token.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Gateway, TOKEN, failed, ok, send};

const WRONGPASS: &str = "WRONGPASS invalid or missing auth token. See https://docs.upstash.com/redis/troubleshooting/http_unauthorized for details.";

async fn with_header(gateway: &Gateway, path: &str, value: &str) -> (u16, Value) {
    send(
        gateway
            .request_without_token(Method::GET, path)
            .header("authorization", value),
    )
    .await
    .json()
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
        assert_eq!(
            with_header(&gateway, "/ping", &header).await,
            ok("PONG"),
            "{header}"
        );
    }
}

#[tokio::test]
async fn missing_or_wrong_token_returns_401() {
    let gateway = Gateway::start().await;
    for path in [
        "/",
        "/pipeline",
        "/multi-exec",
        "/ping",
        "/subscribe/a",
        "/monitor",
        "/no/such",
        "/healthz/x",
    ] {
        for header in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer wrong",
            "Basic YTpi",
            "Bearer a-token-of-the-test",
        ] {
            assert_eq!(
                with_header(&gateway, path, header).await,
                failed(401, WRONGPASS),
                "{path} {header}"
            );
        }
        let response = send(
            gateway
                .request_without_token(Method::POST, path)
                .body("[\"PING\"]"),
        )
        .await
        .json();
        assert_eq!(response, failed(401, WRONGPASS));
    }
}

#[tokio::test]
async fn wrong_token_with_large_body_returns_401() {
    let gateway = Gateway::start().await;
    let request = gateway
        .request_without_token(Method::POST, "/")
        .bearer_auth("wrong")
        .body(vec![b'x'; 20_000_000]);
    assert_eq!(send(request).await.json(), failed(401, WRONGPASS));
}

#[tokio::test]
async fn query_token_overrides_header() {
    let gateway = Gateway::start().await;
    let query = format!("_token={TOKEN}");
    let pong = ok("PONG");
    assert_eq!(
        with_header(&gateway, &format!("/ping?{query}"), "Bearer wrong").await,
        pong
    );
    assert_eq!(
        with_header(&gateway, "/ping?_token=wrong", &format!("Bearer {TOKEN}"))
            .await
            .0,
        401
    );
    let post = |path: &str, body: &'static str| {
        send(
            gateway
                .request_without_token(Method::POST, &format!("{path}?{query}"))
                .body(body),
        )
    };
    assert_eq!(post("/", r#"["PING"]"#).await.json(), pong);
    assert_eq!(
        post("/pipeline", r#"[["PING"]]"#).await.json(),
        (200, json!([{"result": "PONG"}]))
    );
    assert_eq!(
        post("/multi-exec", r#"[["PING"]]"#).await.json(),
        (200, json!([{"result": "PONG"}]))
    );
}

/// A disabled `_token` is ignored, and is not an argument of the command either.
#[tokio::test]
async fn query_token_can_be_disabled() {
    let gateway = Gateway::with(|config| config.query_token = false).await;
    let path = format!("/echo/hi?_token={TOKEN}");
    assert_eq!(
        send(gateway.request_without_token(Method::GET, &path))
            .await
            .json(),
        failed(401, WRONGPASS)
    );
    responds!(gateway.get(&path) => ok("hi"));
}

/// Sends a request with the read-only token.
async fn send_read_only(gateway: &Gateway, path: &str, body: &'static str) -> (u16, Value) {
    send(
        gateway
            .request_without_token(Method::POST, path)
            .bearer_auth("a-second-token")
            .body(body),
    )
    .await
    .json()
}

#[tokio::test]
async fn read_only_token_rejects_writes() {
    let gateway = Gateway::with(|config| config.readonly_token = "a-second-token".into()).await;
    assert_eq!(
        send_read_only(&gateway, "/", r#"["GET","read-only"]"#).await,
        ok(Value::Null)
    );
    assert_eq!(
        send_read_only(&gateway, "/multi-exec", r#"[["PING"]]"#).await,
        (200, json!([{"result": "PONG"}]))
    );
    for name in [
        "set", "evalsha", "eval", "scan", "keys", "script", "flushall", "config", "publish",
        "nosuch",
    ] {
        let error = format!(
            "NOPERM this user has no permissions to run the '{name}' command or its subcommand"
        );
        assert_eq!(
            send_read_only(&gateway, &format!("/{name}/a"), "").await,
            failed(400, &error)
        );
    }
    let monitor_error =
        "NOPERM this user has no permissions to run the 'monitor' command or its subcommand";
    assert_eq!(
        send_read_only(&gateway, "/monitor", "[]").await,
        failed(400, monitor_error)
    );
}

/// In a pipeline only the write fails. A transaction is discarded.
#[tokio::test]
async fn read_only_token_rejects_writes_in_batches() {
    let gateway = Gateway::with(|config| config.readonly_token = "a-second-token".into()).await;
    let error = "NOPERM this user has no permissions to run the 'set' command or its subcommand";
    let body = r#"[["PING"],["SET","read-only","x"]]"#;
    let results = json!([{"result": "PONG"}, { "error": error }]);
    assert_eq!(
        send_read_only(&gateway, "/pipeline", body).await,
        (200, results)
    );
    assert_eq!(
        send_read_only(&gateway, "/multi-exec", body).await,
        failed(400, error)
    );
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
    let gateway = Gateway::with(|config| config.readonly_token = "a-second-token".into()).await;
    for command in SCRIPT_COMMANDS {
        let name = command.split('"').nth(1).unwrap().to_lowercase();
        let error = format!(
            "NOPERM this user has no permissions to run the '{name}' command or its subcommand"
        );
        let batch: &'static str = format!("[{command}]").leak();
        assert_eq!(
            send_read_only(&gateway, "/", command).await,
            failed(400, &error)
        );
        assert_eq!(
            send_read_only(&gateway, "/pipeline", batch).await,
            (200, json!([{ "error": error }]))
        );
        assert_eq!(
            send_read_only(&gateway, "/multi-exec", batch).await,
            failed(400, &error)
        );
    }
}

#[tokio::test]
async fn read_only_scripts_can_be_enabled() {
    let gateway = Gateway::with(|config| {
        config.readonly_token = "a-second-token".into();
        config.readonly_scripts = true;
    })
    .await;
    assert_eq!(
        send_read_only(&gateway, "/", SCRIPT_COMMANDS[0]).await,
        ok(1)
    );
    assert_eq!(
        send_read_only(
            &gateway,
            "/evalsha_ro/e0e1f9fabfc9d4800c877a703b823ac0578ff8db/0",
            ""
        )
        .await,
        ok(1)
    );
    assert_eq!(
        send_read_only(&gateway, "/", SCRIPT_COMMANDS[2]).await,
        failed(400, "ERR Function not found")
    );
    let error = "NOPERM this user has no permissions to run the 'eval' command or its subcommand";
    assert_eq!(
        send_read_only(&gateway, "/", r#"["EVAL","return 1","0"]"#).await,
        failed(400, error)
    );
}
