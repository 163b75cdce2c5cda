//! Retries after lost requests, lost responses and outages.

use crate::requests::{ACTIVITY, PERIODS, act, assert_board, board, expect, like, outcomes, undo};
use std::time::Duration;
use test_support::{
    Answer, Api, Fault, Forwarder, Gateway, RedisOptions, RedisServer, Worker, gateway, json,
    scaled, until,
};

/// The timeout of the store. After each fault a request must be answered within it.
const DEADLINE: Duration = Duration::from_secs(2);

/// Starts a Worker behind a forwarder, with a short store timeout.
fn start_behind(forwarder: &Forwarder) -> Worker {
    let builder = Worker::builder().store(&forwarder.url());
    builder
        .json(
            "STORE_TIMEOUT_MS",
            json!(scaled(DEADLINE).as_millis() as u64),
        )
        .start()
}

/// Asserts that a response is a complete `store-unavailable` problem with `Retry-After`.
#[track_caller]
fn assert_unavailable(response: &Answer) {
    let problem = json!({
        "type": "/problems/store-unavailable",
        "title": response.body["title"],
        "status": 503,
        "detail": response.body["detail"],
    });
    response.assert(503, problem);
    assert!(response.body["title"].is_string() && response.body["detail"].is_string());
    assert_eq!(
        response.header("content-type"),
        Some("application/problem+json")
    );
    let seconds = response
        .header("retry-after")
        .and_then(|seconds| seconds.parse().ok());
    assert!(
        seconds.is_some_and(|seconds: u32| seconds > 0),
        "{:?}",
        response.headers
    );
}

/// Asserts that user 42 is alone on the board of every period, with these points.
async fn assert_points(api: &Api, points: f64) {
    for period in PERIODS {
        assert_eq!(
            board(api, period).await,
            [("42".to_owned(), points)],
            "{period}"
        );
    }
}

#[tokio::test]
async fn retry_after_lost_response_is_duplicate() {
    let forwarder = Forwarder::to(&gateway().url());
    let faults = [
        Fault::CutAfter,
        Fault::PartialResponse,
        Fault::HangAfter,
        Fault::HangInResponse,
    ];
    for fault in faults {
        let worker = start_behind(&forwarder);
        let api = worker.api();
        // Loads the script, so that the fault meets the request that counts.
        expect(&api, &act("42", "visit", "/"), "counted").await;
        // The response to the first retry is lost, too.
        for _ in 0..2 {
            forwarder.fail_next_script(fault.clone());
            assert_unavailable(&api.post(ACTIVITY, &like("42", "post-7")).await);
        }
        let retry = expect(&api, &like("42", "post-7"), "duplicate").await;
        assert_eq!(
            retry.body["standings"]["all"],
            json!({ "id": "all", "score": 3, "rank": 1 })
        );
        assert_points(&api, 3.0).await;

        forwarder.fail_next_script(fault);
        assert_unavailable(&api.post(ACTIVITY, &undo(&like("42", "post-7"))).await);
        expect(&api, &undo(&like("42", "post-7")), "nothing-to-undo").await;
        assert_points(&api, 1.0).await;
    }
}

#[tokio::test]
async fn retry_after_lost_request_counts() {
    let forwarder = Forwarder::to(&gateway().url());
    let faults = [
        Fault::CutBefore,
        Fault::HangBefore,
        Fault::Respond(502, "<html>Bad gateway</html>".to_owned()),
        Fault::Respond(200, "no JSON".to_owned()),
        Fault::Respond(200, "[]".to_owned()),
    ];
    for fault in faults {
        let worker = start_behind(&forwarder);
        let api = worker.api();
        forwarder.fail_next_script(fault);
        assert_unavailable(&api.post(ACTIVITY, &like("42", "post-7")).await);
        expect(&api, &like("42", "post-7"), "counted").await;
        assert_points(&api, 2.0).await;
    }
}

#[tokio::test]
async fn array_retry_after_lost_response_counts_once() {
    let forwarder = Forwarder::to(&gateway().url());
    let worker = start_behind(&forwarder);
    let api = worker.api();
    let array = json!([
        like("42", "a"),
        {},
        act("42", "comment", "c"),
        undo(&like("42", "a"))
    ]);
    // Loads the script, so that the fault meets the request that counts.
    expect(&api, &act("42", "visit", "/"), "counted").await;
    forwarder.fail_next_script(Fault::CutAfter);
    assert_unavailable(&api.post(ACTIVITY, &array).await);
    assert_points(&api, 4.0).await;
    // Without `at`, the repeated like counts again after the undo; the final scores are the same.
    let expected = ["counted", "invalid-request", "duplicate", "undone"];
    assert_eq!(outcomes(&api.post(ACTIVITY, &array).await), expected);
    assert_points(&api, 4.0).await;
}

/// An undo of an older like needs two requests to the store; either response may be lost.
#[tokio::test]
async fn late_undo_retry_is_safe_after_either_loss() {
    let forwarder = Forwarder::to(&gateway().url());
    for lost in 0..2 {
        let worker = start_behind(&forwarder);
        let api = worker.api();
        let dated =
            json!({ "user": "42", "action": "like", "target": "t", "at": "2026-11-01T08:00:00Z" });
        expect(&api, &dated, "counted").await;
        let mut number = 0;
        forwarder.fail(move |_| {
            number += 1;
            (number - 1 == lost).then_some(Fault::CutAfter)
        });
        assert_unavailable(&api.post(ACTIVITY, &undo(&like("42", "t"))).await);
        forwarder.heal();
        let expected = ["undone", "nothing-to-undo"][lost];
        expect(&api, &undo(&like("42", "t")), expected).await;
        assert_board(&api, "all", &[]).await;
        assert_board(&api, "day?date=2026-11-01", &[]).await;
    }
}

/// The gateway keeps running while its Redis is killed and restarted.
#[tokio::test]
async fn service_recovers_after_redis_outage() {
    let mut redis = RedisServer::spawn(RedisOptions::default().append_only());
    let gateway = Gateway::spawn(&redis.url());
    let worker = Worker::builder().store(&gateway.url()).start();
    let api = worker.api();
    expect(&api, &like("42", "post-7"), "counted").await;
    redis.kill();
    assert_unavailable(&api.post(ACTIVITY, &like("42", "post-7")).await);
    assert_unavailable(&api.post(ACTIVITY, &json!([like("42", "post-8")])).await);
    assert_unavailable(&api.get("/v1/ranking/day").await);
    assert_unavailable(&api.get("/v1/ranking/day/users/42").await);
    assert_unavailable(&api.get("/v1/users/42/activity").await);
    api.get("/healthz").await.assert_status(503);
    redis.restart();
    // The gateway connects again with each of its connections by itself.
    let repeated = until("a response", async || {
        let response = api.post(ACTIVITY, &like("42", "post-7")).await;
        (response.status == 200).then_some(response)
    })
    .await;
    assert_eq!(repeated.body["outcome"], "duplicate");
    api.get("/healthz").await.assert_status(200);
    expect(&api, &like("42", "post-8"), "counted").await;
    assert_points(&api, 4.0).await;
}
