//! The circuit breaker: after several timeouts in a row, requests fail at once.

use std::time::{Duration, Instant};

use futures::future::join_all;
use test_support::{Fault, json, scaled, until};

use crate::app::TestApp;
use crate::bodies::like;
use crate::problem::assert_problem;

/// Timeouts in a row that open the circuit.
const TIMEOUTS: usize = 5;

/// After [`TIMEOUTS`] timeouts, requests return 503 without a request to the store.
#[tokio::test]
async fn open_circuit_skips_store_until_it_recovers() {
    let deadline = scaled(Duration::from_secs(1));
    let (app, forwarder) = TestApp::behind_forwarder(|worker| {
        worker.json("STORE_TIMEOUT_MS", json!(deadline.as_millis()))
    });
    app.count("42", "like", "q").await;
    let like = like("42", "r");

    forwarder.fail(|_| Some(Fault::HangBefore));
    // Requests at the same time go to the store together, and time out as one.
    until("the circuit to open", async || {
        forwarder.reset();
        let requests = (0..TIMEOUTS).map(|_| app.get("/v1/ranking/day/users/42"));
        for response in join_all(requests).await {
            response.assert_status(503);
        }
        (forwarder.count() == 0).then_some(())
    })
    .await;
    let start = Instant::now();
    for _ in 0..10 {
        let read = app.get("/v1/ranking/day/users/42").await;
        assert_problem(&read, "store-unavailable");
        let write = app.send_activity(like.clone()).await;
        assert_problem(&write, "store-unavailable");
    }
    // None of the 20 waits for the deadline.
    assert!(start.elapsed() < 10 * deadline, "{:?}", start.elapsed());
    assert_eq!(forwarder.count(), 0);

    // The health check and the state always send a request to the store.
    let store = app.read("/v1/status").await["store"].clone();
    assert_eq!(store, json!({"latency_ms": null, "circuit": "open"}));
    app.get("/healthz").await.assert_status(503);
    assert_eq!(forwarder.count(), 2);

    forwarder.heal();
    until("a write to succeed", async || {
        let response = app.send_activity(like.clone()).await;
        (response.status == 200).then_some(response)
    })
    .await;
    app.get("/v1/ranking/day/users/42").await.assert_status(200);
}

/// Only timeouts open the circuit; a failure that takes no time costs the client nothing.
#[tokio::test]
async fn immediate_failures_keep_the_circuit_closed() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker);
    app.count("42", "like", "q").await;
    for fault in [
        Fault::CutBefore,
        Fault::Respond(502, "Bad gateway".to_owned()),
        Fault::Respond(401, r#"{"error":"Unauthorized"}"#.to_owned()),
        Fault::Respond(200, r#"[{"error":"LOADING Redis is loading"}]"#.to_owned()),
    ] {
        forwarder.reset();
        forwarder.fail(move |_| Some(fault.clone()));
        for requests in 1..=2 * TIMEOUTS {
            app.get("/v1/ranking/day/users/42").await;
            assert_eq!(forwarder.count(), requests);
        }
    }
    forwarder.heal();
    app.get("/v1/ranking/day/users/42").await.assert_status(200);
}
