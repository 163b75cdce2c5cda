//! `/healthz`.

use reqwest::Method;

use crate::support::{Gateway, failed, ok, private_redis, send};

#[tokio::test]
async fn healthz_without_token_returns_200() {
    let gateway = Gateway::start().await;
    let response = send(gateway.request_without_token(Method::GET, "/healthz")).await;
    assert_eq!(response.json(), ok("PONG"));
    let head = send(gateway.request_without_token(Method::HEAD, "/healthz/")).await;
    assert_eq!(head.text(), (200, String::new()));
}

#[tokio::test]
async fn healthz_without_redis_returns_503() {
    let mut redis = private_redis();
    let url = redis.url();
    redis.kill();
    let gateway = Gateway::with(|config| config.redis_url = url).await;
    let error = "ERR redis is not reachable: Connection refused (os error 111)";
    let response = send(gateway.request_without_token(Method::GET, "/healthz")).await;
    assert_eq!(response.header("retry-after"), "1");
    assert_eq!(response.json(), failed(503, error));
}
