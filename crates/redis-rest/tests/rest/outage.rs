//! Redis becomes unreachable and returns.

use std::time::{Duration, Instant};

use serde_json::json;
use test_support::scaled;

use crate::support::{
    Gateway, failed, impatient_redis, ok, private_redis, wait_for, wait_until_busy, within,
};

#[tokio::test]
async fn outage_returns_503_until_redis_is_back() {
    let mut redis = private_redis();
    let gateway = Gateway::on(&redis.url()).await;
    responds!(gateway.single(json!(["PING"])) => ok("PONG"));
    redis.kill();
    let refused = "ERR redis is not reachable: Connection refused (os error 111)";
    wait_for(&gateway, json!(["PING"]), failed(503, refused)).await;
    let started = Instant::now();
    for _ in 0..20 {
        responds!(gateway.pipeline(json!([["PING"]])) => failed(503, refused));
        responds!(gateway.multi_exec(json!([["PING"]])) => failed(503, refused));
        responds!(gateway.get("/get/a") => failed(503, refused));
        responds!(gateway.get("/healthz") => failed(503, refused));
    }
    let elapsed = started.elapsed();
    assert!(elapsed < scaled(Duration::from_secs(4)), "{elapsed:?}");
    redis.restart();
    wait_for(&gateway, json!(["PING"]), ok("PONG")).await;
}

#[tokio::test]
async fn restart_between_requests_is_invisible() {
    let mut redis = private_redis();
    let gateway = Gateway::on(&redis.url()).await;
    responds!(gateway.single(json!(["PING"])) => ok("PONG"));
    redis.restart();
    // Waits until the gateway has reconnected. `/healthz` is not one of the two requests.
    let reconnected = async {
        while gateway.get("/healthz").await.0 != 200 {
            tokio::task::yield_now().await;
        }
    };
    within("the gateway reconnects", reconnected).await;
    for _ in 0..10 {
        responds!(gateway.single(json!(["PING"])) => ok("PONG"));
    }
}

#[tokio::test]
async fn request_in_flight_fails_when_redis_dies() {
    let mut redis = impatient_redis();
    let gateway = Gateway::on(&redis.url()).await;
    let endless = gateway.single(json!(["EVAL", "while true do end", 0]));
    let kill = async {
        wait_until_busy(&redis).await;
        redis.kill();
    };
    let (response, ()) = tokio::join!(endless, kill);
    let error = "ERR the connection to redis was lost before it answered; the command may or may not have run";
    assert_eq!(response, failed(503, error));
}
