//! The token: where it may stand, and what its absence answers.

use reqwest::Method;
use serde_json::json;

use crate::support::{Gateway, TOKEN, ask};

const WRONGPASS: &str = "WRONGPASS invalid or missing auth token. See https://docs.upstash.com/redis/troubleshooting/http_unauthorized for details.";

async fn with_header(gateway: &Gateway, path: &str, value: &str) -> (u16, serde_json::Value) {
    ask(gateway
        .anonymous(Method::GET, path)
        .header("authorization", value))
    .await
    .json()
}

#[tokio::test]
async fn the_scheme_is_case_insensitive_and_may_be_missing() {
    let gateway = Gateway::start().await;
    for header in [
        format!("Bearer {TOKEN}"),
        format!("bearer {TOKEN}"),
        format!("BEARER  {TOKEN}"),
        TOKEN.to_owned(),
    ] {
        assert_eq!(
            with_header(&gateway, "/ping", &header).await,
            (200, json!({"result": "PONG"})),
            "{header}"
        );
    }
}

#[tokio::test]
async fn a_missing_or_wrong_token_is_401_on_every_path() {
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
                (401, json!({ "error": WRONGPASS })),
                "{path} {header}"
            );
        }
        let answer = ask(gateway.anonymous(Method::POST, path).body("[\"PING\"]"))
            .await
            .json();
        assert_eq!(answer, (401, json!({ "error": WRONGPASS })));
    }
}

#[tokio::test]
async fn a_large_body_with_a_wrong_token_still_sees_the_401() {
    let gateway = Gateway::start().await;
    let request = gateway
        .anonymous(Method::POST, "/")
        .bearer_auth("wrong")
        .body(vec![b'x'; 20_000_000]);
    assert_eq!(
        ask(request).await.json(),
        (401, json!({ "error": WRONGPASS }))
    );
}

#[tokio::test]
async fn the_token_in_the_query_works_everywhere_and_wins_over_the_header() {
    let gateway = Gateway::start().await;
    let right = format!("_token={TOKEN}");
    let pong = (200, json!({"result": "PONG"}));
    assert_eq!(
        with_header(&gateway, &format!("/ping?{right}"), "Bearer wrong").await,
        pong
    );
    assert_eq!(
        with_header(&gateway, "/ping?_token=wrong", &format!("Bearer {TOKEN}"))
            .await
            .0,
        401
    );
    let post = |path: &str, body: &'static str| {
        ask(gateway
            .anonymous(Method::POST, &format!("{path}?{right}"))
            .body(body))
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

#[tokio::test]
async fn the_token_in_the_query_can_be_switched_off_and_is_no_argument_then_either() {
    let gateway = Gateway::with(|config| config.query_token = false).await;
    let path = format!("/echo/hi?_token={TOKEN}");
    assert_eq!(
        ask(gateway.anonymous(Method::GET, &path)).await.json(),
        (401, json!({ "error": WRONGPASS }))
    );
    assert_eq!(gateway.get(&path).await, (200, json!({"result": "hi"})));
}

async fn reading(gateway: &Gateway, path: &str, body: &'static str) -> (u16, serde_json::Value) {
    ask(gateway
        .anonymous(Method::POST, path)
        .bearer_auth("a-second-token")
        .body(body))
    .await
    .json()
}

#[tokio::test]
async fn a_read_only_token_reads_and_nothing_else() {
    let gateway = Gateway::with(|config| config.readonly_token = "a-second-token".into()).await;
    assert_eq!(
        reading(&gateway, "/", r#"["GET","read-only"]"#).await,
        (200, json!({"result": null}))
    );
    assert_eq!(
        reading(&gateway, "/multi-exec", r#"[["PING"]]"#).await,
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
            reading(&gateway, &format!("/{name}/a"), "").await,
            (400, json!({ "error": error }))
        );
    }
    let no_monitor =
        "NOPERM this user has no permissions to run the 'monitor' command or its subcommand";
    assert_eq!(
        reading(&gateway, "/monitor", "[]").await,
        (400, json!({ "error": no_monitor }))
    );
}

#[tokio::test]
async fn what_a_read_only_token_may_not_do_fails_in_its_slot_or_discards_a_transaction() {
    let gateway = Gateway::with(|config| config.readonly_token = "a-second-token".into()).await;
    let error = "NOPERM this user has no permissions to run the 'set' command or its subcommand";
    let body = r#"[["PING"],["SET","read-only","x"]]"#;
    let slots = json!([{"result": "PONG"}, { "error": error }]);
    assert_eq!(reading(&gateway, "/pipeline", body).await, (200, slots));
    assert_eq!(
        reading(&gateway, "/multi-exec", body).await,
        (400, json!({ "error": error }))
    );
    assert_eq!(
        gateway.get("/exists/read-only").await,
        (200, json!({"result": 0}))
    );
}

#[tokio::test]
async fn the_line_end_of_a_token_from_a_file_is_no_part_of_it() {
    let gateway = Gateway::with(|config| config.token = format!("{TOKEN}\n")).await;
    assert_eq!(gateway.get("/ping").await, (200, json!({"result": "PONG"})));
}
