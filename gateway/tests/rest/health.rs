//! `/healthz`.

use reqwest::Method;
use serde_json::json;

use crate::support::{Gateway, Redis, ask};

#[tokio::test]
async fn health_needs_no_token_and_is_200_while_redis_answers() {
    let gateway = Gateway::start().await;
    let answer = ask(gateway.anonymous(Method::GET, "/healthz")).await;
    assert_eq!(answer.json(), (200, json!({"result": "PONG"})));
    assert_eq!(
        ask(gateway.anonymous(Method::HEAD, "/healthz/"))
            .await
            .text(),
        (200, String::new())
    );
}

#[tokio::test]
async fn health_is_503_when_redis_is_not_there_from_the_start() {
    let nowhere = Redis::start();
    let url = nowhere.url();
    nowhere.kill();
    let gateway = Gateway::with(|config| config.redis_url = url).await;
    let error = "ERR redis is not reachable: Connection refused (os error 111)";
    let answer = ask(gateway.anonymous(Method::GET, "/healthz")).await;
    assert_eq!(answer.header("retry-after"), "1");
    assert_eq!(answer.json(), (503, json!({ "error": error })));
}
