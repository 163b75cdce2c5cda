//! CORS headers.

use reqwest::Method;

use crate::support::{Gateway, send};

#[tokio::test]
async fn preflight_needs_no_token_and_echoes_origin() {
    let gateway = Gateway::start().await;
    let request = gateway
        .request_without_token(Method::OPTIONS, "/pipeline")
        .header("origin", "https://example.org")
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,upstash-telemetry-sdk",
        );
    let response = send(request).await;
    assert_eq!(
        response.header("access-control-allow-origin"),
        "https://example.org"
    );
    assert_eq!(response.header("access-control-allow-credentials"), "true");
    assert_eq!(
        response.header("access-control-allow-headers"),
        "authorization,upstash-telemetry-sdk"
    );
    assert_eq!(
        response.header("access-control-allow-methods"),
        "GET, HEAD, POST, PUT, OPTIONS"
    );
    assert_eq!(response.header("vary"), "origin");
    assert_eq!(response.text(), (200, String::new()));
}

#[tokio::test]
async fn responses_expose_sync_token() {
    let gateway = Gateway::start().await;
    let response = send(
        gateway
            .request(Method::GET, "/ping")
            .header("origin", "https://example.org"),
    )
    .await;
    assert_eq!(
        response.header("access-control-allow-origin"),
        "https://example.org"
    );
    assert_eq!(response.header("access-control-allow-credentials"), "true");
    assert_eq!(
        response.header("access-control-expose-headers"),
        "upstash-sync-token"
    );
    let response = send(gateway.request_without_token(Method::GET, "/ping")).await;
    assert_eq!(response.header("access-control-allow-origin"), "");
    assert_eq!(response.header("access-control-allow-credentials"), "true");
}
