//! Redis goes away and comes back.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Gateway, Redis};

async fn until(gateway: &Gateway, wanted: u16) -> (u16, Value) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let answer = gateway.single(json!(["PING"])).await;
        if answer.0 == wanted || Instant::now() > deadline {
            return answer;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn while_redis_is_down_every_path_is_503_at_once_and_afterwards_all_is_well() {
    let redis = Redis::start();
    let url = redis.url();
    let gateway = Gateway::with(|config| config.redis_url = url).await;
    assert_eq!(
        gateway.single(json!(["PING"])).await,
        (200, json!({"result": "PONG"}))
    );
    let port = redis.kill();
    assert_eq!(until(&gateway, 503).await.0, 503);
    let refused = "ERR redis is not reachable: Connection refused (os error 111)";
    let deadline = Instant::now() + Duration::from_secs(10);
    while gateway.single(json!(["PING"])).await != (503, json!({ "error": refused })) {
        assert!(Instant::now() < deadline, "the reason never became clear");
    }
    let begun = Instant::now();
    for _ in 0..20 {
        assert_eq!(
            gateway.pipeline(json!([["PING"]])).await,
            (503, json!({ "error": refused }))
        );
        assert_eq!(
            gateway.multi_exec(json!([["PING"]])).await,
            (503, json!({ "error": refused }))
        );
        assert_eq!(
            gateway.get("/get/a").await,
            (503, json!({ "error": refused }))
        );
        assert_eq!(
            gateway.get("/healthz").await,
            (503, json!({ "error": refused }))
        );
    }
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "80 refusals took {:?}",
        begun.elapsed()
    );
    let _redis = Redis::start_on(port);
    assert_eq!(until(&gateway, 200).await, (200, json!({"result": "PONG"})));
}

#[tokio::test]
async fn a_restart_between_two_requests_is_not_noticed() {
    let redis = Redis::start();
    let url = redis.url();
    let gateway = Gateway::with(|config| config.redis_url = url).await;
    assert_eq!(
        gateway.single(json!(["PING"])).await,
        (200, json!({"result": "PONG"}))
    );
    let port = redis.kill();
    let _redis = Redis::start_on(port);
    // Time for the gateway to find out by itself, without any request.
    let health = async {
        while gateway.get("/healthz").await.0 != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), health)
        .await
        .expect("it heals");
    for _ in 0..10 {
        assert_eq!(
            gateway.single(json!(["PING"])).await,
            (200, json!({"result": "PONG"}))
        );
    }
}

#[tokio::test]
async fn a_request_in_flight_when_redis_dies_is_answered_in_json() {
    let redis = Redis::start();
    let url = redis.url();
    let gateway = Gateway::with(|config| config.redis_url = url).await;
    let endless = gateway.single(json!(["EVAL", "while true do end", 0]));
    let killed = async {
        // The script runs as soon as Redis answers nobody else.
        while gateway.single(json!(["PING"])).await == (200, json!({"result": "PONG"})) {}
    };
    let kill = async {
        tokio::time::timeout(Duration::from_millis(300), killed)
            .await
            .ok();
        redis.kill()
    };
    let (answer, _port) = tokio::join!(endless, kill);
    let error = "ERR the connection to redis was lost before it answered; the command may or may not have run";
    assert_eq!(answer, (503, json!({ "error": error })));
}
