//! Lost answers, stores that don't answer, and retries.

use crate::site::{ACTIVITY, KINDS, act, board, expect, like, outcomes, undo};
use test_support::{
    Answer, Api, Fault, Forwarder, Gateway, RedisOptions, RedisServer, Worker, gateway, json, until,
};

const DEADLINE_MS: u32 = 300;

fn behind(forwarder: &Forwarder) -> Worker {
    let builder = Worker::builder().store(&forwarder.url());
    builder.json("STORE_TIMEOUT_MS", json!(DEADLINE_MS)).start()
}

#[track_caller]
fn assert_unavailable(answer: &Answer) {
    let problem = json!({
        "type": "/problems/store-unavailable",
        "title": answer.body["title"],
        "status": 503,
        "detail": answer.body["detail"],
    });
    answer.assert(503, problem);
    assert!(answer.body["title"].is_string() && answer.body["detail"].is_string());
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json")
    );
    let seconds = answer
        .header("retry-after")
        .and_then(|seconds| seconds.parse().ok());
    assert!(
        seconds.is_some_and(|seconds: u32| seconds > 0),
        "{:?}",
        answer.headers
    );
}

async fn assert_points(api: &Api, points: f64) {
    for kind in KINDS {
        assert_eq!(
            board(api, kind).await,
            [("42".to_owned(), points)],
            "{kind}"
        );
    }
}

#[tokio::test]
async fn a_retry_after_a_lost_answer_is_a_duplicate_and_counts_once() {
    let forwarder = Forwarder::to(&gateway().url());
    let faults = [
        Fault::CutAfter,
        Fault::HalfAnswer,
        Fault::HangAfter,
        Fault::HangInAnswer,
    ];
    for fault in faults {
        let worker = behind(&forwarder);
        let api = worker.api();
        // So that no other fault than this one can be in the way.
        expect(&api, &act("42", "visit", "/"), "counted").await;
        forwarder.fail_next_script(fault.clone());
        assert_unavailable(&api.post(ACTIVITY, &like("42", "post-7")).await);
        let again = expect(&api, &like("42", "post-7"), "duplicate").await;
        assert_eq!(
            again.body["standings"]["all"],
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
async fn a_retry_after_a_request_that_never_arrived_counts() {
    let forwarder = Forwarder::to(&gateway().url());
    let faults = [
        Fault::CutBefore,
        Fault::HangBefore,
        Fault::Answer(502, "<html>Bad gateway</html>".to_owned()),
        Fault::Answer(200, "no JSON".to_owned()),
        Fault::Answer(200, "[]".to_owned()),
    ];
    for fault in faults {
        let worker = behind(&forwarder);
        let api = worker.api();
        forwarder.fail_next_script(fault);
        assert_unavailable(&api.post(ACTIVITY, &like("42", "post-7")).await);
        expect(&api, &like("42", "post-7"), "counted").await;
        assert_points(&api, 2.0).await;
    }
}

#[tokio::test]
async fn a_lost_answer_to_an_array_is_unavailable_for_all_and_its_retry_counts_nothing_twice() {
    let forwarder = Forwarder::to(&gateway().url());
    let worker = behind(&forwarder);
    let api = worker.api();
    let array = json!([
        like("42", "a"),
        {},
        act("42", "comment", "c"),
        undo(&like("42", "a"))
    ]);
    forwarder.fail_next_script(Fault::CutAfter);
    assert_unavailable(&api.post(ACTIVITY, &array).await);
    assert_points(&api, 3.0).await;
    // Without dates, a like after the undo counts again: the array ends as it did.
    let expected = ["counted", "invalid-request", "duplicate", "undone"];
    assert_eq!(outcomes(&api.post(ACTIVITY, &array).await), expected);
    assert_points(&api, 3.0).await;
}

#[tokio::test]
async fn an_undo_of_another_day_is_safe_to_repeat_whichever_of_its_two_answers_is_lost() {
    let forwarder = Forwarder::to(&gateway().url());
    for lost in 0..2 {
        let worker = behind(&forwarder);
        let api = worker.api();
        let then =
            json!({ "user": "42", "action": "like", "target": "t", "at": "2026-11-01T08:00:00Z" });
        expect(&api, &then, "counted").await;
        let mut number = 0;
        forwarder.fail(move |_| {
            number += 1;
            (number - 1 == lost).then_some(Fault::CutAfter)
        });
        assert_unavailable(&api.post(ACTIVITY, &undo(&like("42", "t"))).await);
        forwarder.heal();
        let expected = ["undone", "nothing-to-undo"][lost];
        expect(&api, &undo(&like("42", "t")), expected).await;
        assert_eq!(board(&api, "all").await, []);
        assert_eq!(board(&api, "day?date=2026-11-01").await, []);
    }
}

#[tokio::test]
async fn without_redis_the_service_says_so_and_comes_back_with_it() {
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
    until("health", async || {
        (api.get("/healthz").await.status == 200).then_some(())
    })
    .await;
    expect(&api, &like("42", "post-7"), "duplicate").await;
    expect(&api, &like("42", "post-8"), "counted").await;
    assert_points(&api, 4.0).await;
}
