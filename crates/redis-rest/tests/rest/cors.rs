//! CORS headers.

use reqwest::Method;

use crate::support::{Gateway, send};

const ORIGIN: &str = "https://example.org";

#[tokio::test]
async fn preflight_needs_no_token_and_echoes_origin() {
    let gateway = Gateway::start().await;
    let headers = "authorization,upstash-telemetry-sdk";
    let request = gateway.request_without_token(Method::OPTIONS, "/pipeline");
    let request = request.header("origin", ORIGIN);
    let request = request.header("access-control-request-method", "POST");
    let request = request.header("access-control-request-headers", headers);
    let response = send(request).await;
    for (name, value) in [
        ("access-control-allow-origin", ORIGIN),
        ("access-control-allow-credentials", "true"),
        ("access-control-allow-headers", headers),
        (
            "access-control-allow-methods",
            "GET, HEAD, POST, PUT, OPTIONS",
        ),
        ("vary", "origin"),
    ] {
        assert_eq!(response.header(name), value, "{name}");
    }
    assert_eq!(response.text(), (200, String::new()));
}

#[tokio::test]
async fn responses_expose_sync_token() {
    let gateway = Gateway::start().await;
    let cross_origin = gateway
        .request(Method::GET, "/ping")
        .header("origin", ORIGIN);
    let same_origin = gateway.request_without_token(Method::GET, "/ping");
    let exposed = "upstash-sync-token";
    for (request, origin, exposed) in [(cross_origin, ORIGIN, exposed), (same_origin, "", "")] {
        let response = send(request).await;
        for (name, value) in [
            ("access-control-allow-origin", origin),
            ("access-control-allow-credentials", "true"),
            ("access-control-expose-headers", exposed),
        ] {
            assert_eq!(response.header(name), value, "{name}");
        }
    }
}
