//! Redis becomes unreachable and returns.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Gateway, Redis, failed, ok};

/// Sends PING until the response has the expected status, and returns that response.
async fn ping_until(gateway: &Gateway, expected: u16) -> (u16, Value) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let response = gateway.single(json!(["PING"])).await;
        if response.0 == expected || Instant::now() > deadline {
            return response;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn outage_returns_503_until_redis_is_back() {
    let redis = Redis::start();
    let url = redis.url();
    let gateway = Gateway::with(|config| config.redis_url = url).await;
    assert_eq!(gateway.single(json!(["PING"])).await, ok("PONG"));
    let port = redis.kill();
    assert_eq!(ping_until(&gateway, 503).await.0, 503);
    let refused = "ERR redis is not reachable: Connection refused (os error 111)";
    let deadline = Instant::now() + Duration::from_secs(10);
    while gateway.single(json!(["PING"])).await != failed(503, refused) {
        assert!(
            Instant::now() < deadline,
            "the response never contained the reason"
        );
    }
    let started = Instant::now();
    for _ in 0..20 {
        assert_eq!(
            gateway.pipeline(json!([["PING"]])).await,
            failed(503, refused)
        );
        assert_eq!(
            gateway.multi_exec(json!([["PING"]])).await,
            failed(503, refused)
        );
        assert_eq!(gateway.get("/get/a").await, failed(503, refused));
        assert_eq!(gateway.get("/healthz").await, failed(503, refused));
    }
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "80 responses took {:?}",
        started.elapsed()
    );
    let _redis = Redis::start_on(port);
    assert_eq!(ping_until(&gateway, 200).await, ok("PONG"));
}

#[tokio::test]
async fn restart_between_requests_is_invisible() {
    let redis = Redis::start();
    let url = redis.url();
    let gateway = Gateway::with(|config| config.redis_url = url).await;
    assert_eq!(gateway.single(json!(["PING"])).await, ok("PONG"));
    let port = redis.kill();
    let _redis = Redis::start_on(port);
    // Waits until the gateway has reconnected. `/healthz` is not one of the two requests.
    let reconnected = async {
        while gateway.get("/healthz").await.0 != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), reconnected)
        .await
        .expect("the gateway reconnects");
    for _ in 0..10 {
        assert_eq!(gateway.single(json!(["PING"])).await, ok("PONG"));
    }
}

#[tokio::test]
async fn request_in_flight_fails_when_redis_dies() {
    let redis = Redis::start();
    let url = redis.url();
    let gateway = Gateway::with(|config| config.redis_url = url).await;
    let endless = gateway.single(json!(["EVAL", "while true do end", 0]));
    let script_running = async {
        // Once Redis stops replying, the script is running.
        while gateway.single(json!(["PING"])).await == ok("PONG") {}
    };
    let kill = async {
        tokio::time::timeout(Duration::from_millis(300), script_running)
            .await
            .ok();
        redis.kill()
    };
    let (response, _port) = tokio::join!(endless, kill);
    let error = "ERR the connection to redis was lost before it answered; the command may or may not have run";
    assert_eq!(response, failed(503, error));
}
