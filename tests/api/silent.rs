//! A store that keeps silent costs its first few visitors the deadline, and then nobody.

use std::time::{Duration, Instant};

use futures::future::join_all;
use test_support::{Fault, Forwarder, gateway, json, until};

use crate::site::Site;

const DEADLINE: Duration = Duration::from_millis(1_000);

/// So many in a row, and the store counts as down.
const SILENCES: usize = 5;

#[tokio::test]
async fn a_store_that_keeps_silent_is_asked_no_more_and_found_again_when_it_is_back() {
    let forwarder = Forwarder::to(&gateway().url());
    let site = Site::with(|worker| {
        let worker = worker.store(&forwarder.url());
        worker.json("STORE_TIMEOUT_MS", json!(DEADLINE.as_millis()))
    });
    site.count("42", "like", "q").await;
    let like = json!({"user": "42", "action": "like", "target": "r"});

    forwarder.fail(|_| Some(Fault::HangBefore));
    let first = (0..SILENCES).map(|_| site.get("/v1/ranking/day/users/42"));
    for answer in join_all(first).await {
        answer.assert_status(503);
    }
    forwarder.reset();
    let began = Instant::now();
    for _ in 0..10 {
        let reads = site.get("/v1/ranking/day/users/42").await;
        assert_eq!(reads.body["type"], "/problems/store-unavailable");
        let writes = site.post("/v1/activity", &like).await;
        assert_eq!(writes.body["type"], "/problems/store-unavailable");
    }
    assert!(began.elapsed() < DEADLINE, "{:?}", began.elapsed());
    assert_eq!(forwarder.count(), 0);

    // Whoever asks whether the store is there is not told from memory.
    site.get("/healthz").await.assert_status(503);
    assert_eq!(forwarder.count(), 1);

    forwarder.heal();
    until("the store is asked again", async || {
        let answer = site.post("/v1/activity", &like).await;
        (answer.status == 200).then_some(answer)
    })
    .await;
    site.get("/v1/ranking/day/users/42")
        .await
        .assert_status(200);
}

#[tokio::test]
async fn a_store_that_fails_at_once_is_asked_every_time() {
    let forwarder = Forwarder::to(&gateway().url());
    let site = Site::with(|worker| worker.store(&forwarder.url()));
    site.count("42", "like", "q").await;
    for fault in [
        Fault::CutBefore,
        Fault::Answer(502, "Bad gateway".to_owned()),
        Fault::Answer(401, r#"{"error":"Unauthorized"}"#.to_owned()),
        Fault::Answer(200, r#"[{"error":"LOADING Redis is loading"}]"#.to_owned()),
    ] {
        forwarder.reset();
        forwarder.fail(move |_| Some(fault.clone()));
        for asked in 1..=2 * SILENCES {
            site.get("/v1/ranking/day/users/42").await;
            assert_eq!(forwarder.count(), asked);
        }
    }
    forwarder.heal();
    site.get("/v1/ranking/day/users/42")
        .await
        .assert_status(200);
}
