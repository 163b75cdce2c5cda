//! Browsers.

use reqwest::Method;

use crate::support::{Gateway, ask};

#[tokio::test]
async fn a_preflight_is_200_without_a_token_and_echoes_the_origin() {
    let gateway = Gateway::start().await;
    let request = gateway
        .anonymous(Method::OPTIONS, "/pipeline")
        .header("origin", "https://example.org")
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,upstash-telemetry-sdk",
        );
    let answer = ask(request).await;
    assert_eq!(
        answer.header("access-control-allow-origin"),
        "https://example.org"
    );
    assert_eq!(answer.header("access-control-allow-credentials"), "true");
    assert_eq!(
        answer.header("access-control-allow-headers"),
        "authorization,upstash-telemetry-sdk"
    );
    assert_eq!(
        answer.header("access-control-allow-methods"),
        "GET, HEAD, POST, PUT, OPTIONS"
    );
    assert_eq!(answer.header("vary"), "origin");
    assert_eq!(answer.text(), (200, String::new()));
}

#[tokio::test]
async fn answers_allow_credentials_and_let_scripts_read_the_sync_token() {
    let gateway = Gateway::start().await;
    let answer = ask(gateway
        .request(Method::GET, "/ping")
        .header("origin", "https://example.org"))
    .await;
    assert_eq!(
        answer.header("access-control-allow-origin"),
        "https://example.org"
    );
    assert_eq!(answer.header("access-control-allow-credentials"), "true");
    assert_eq!(
        answer.header("access-control-expose-headers"),
        "upstash-sync-token"
    );
    let answer = ask(gateway.anonymous(Method::GET, "/ping")).await;
    assert_eq!(answer.header("access-control-allow-origin"), "");
    assert_eq!(answer.header("access-control-allow-credentials"), "true");
}
