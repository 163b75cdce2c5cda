//! With a queue bound: 202 where the store does not answer, and counted later, once.

use std::time::{Duration, Instant};

use futures::future::join_all;
use test_support::{Api, Fault, Forwarder, Value, WorkerBuilder, Wrangler, gateway, json, until};

use crate::client::Client;
use crate::site::patient;
use crate::store::Store;
use crate::token::sign::{SECRET, claims_with, hs256, now};

const DEADLINE: Duration = Duration::from_millis(1_500);

fn queued() -> Value {
    json!({"outcome": "queued", "points": 0})
}

fn like(target: &str) -> Value {
    json!({"user": "42", "action": "like", "target": target})
}

fn undo(target: &str) -> Value {
    json!({"user": "42", "action": "like", "target": target, "undo": true})
}

/// A Worker with a queue, behind a forwarder; a message is tried so often.
fn start(
    tries: u32,
    configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder,
) -> (Wrangler, Client, Forwarder) {
    let forwarder = Forwarder::to(&gateway().url());
    let worker = configure(patient().store(&forwarder.url()));
    let wrangler = worker.queued(tries).start_wrangler();
    let client = Client::new(wrangler.api());
    (wrangler, client, forwarder)
}

fn impatient(worker: WorkerBuilder) -> WorkerBuilder {
    worker.json("STORE_TIMEOUT_MS", json!(DEADLINE.as_millis()))
}

/// Waits until so many batches were counted.
async fn batches(wrangler: &Wrangler, number: usize) {
    until("the queue", async || {
        (wrangler.log().matches("QUEUE activity-rank-held").count() >= number).then_some(())
    })
    .await;
}

async fn score(client: &Client) -> Value {
    let answer = client.get("/v1/ranking/all/users/42").await;
    answer.assert_status(200).body["score"].clone()
}

#[tokio::test]
async fn what_was_counted_although_the_answer_was_lost_is_not_counted_again() {
    let (wrangler, client, forwarder) = start(100, impatient);
    let mut store = Store::shared(wrangler.prefix());
    client
        .post("/v1/activity", &like("x"))
        .await
        .assert_status(200);
    let mut sent = 0;
    // One each of those after which nobody can know: no answer, half of one, none in time.
    for fault in [Fault::CutAfter, Fault::HalfAnswer, Fault::HangAfter] {
        let array = json!([like("a"), undo("a"), {}, like("b"), undo("b"), like("b"), undo("c"),
            {"user": "42", "action": "visit", "target": "/a//"}]);
        for body in [
            like("post-7"),
            undo("post-7"),
            like("post-7"),
            undo("post-7"),
            array,
        ] {
            forwarder.fail_next(fault.clone());
            let answer = client.post("/v1/activity", &body).await;
            if body.is_array() {
                let results = answer.assert_status(200).body["results"].as_array();
                let (bad, good): (Vec<_>, Vec<_>) = results
                    .into_iter()
                    .flatten()
                    .partition(|item| item["error"].is_object());
                assert_eq!(
                    (bad.len(), good),
                    (1, vec![&queued(); 7]),
                    "{}",
                    answer.text
                );
            } else {
                answer.assert(202, queued());
            }
            let counted = store.snapshot();
            sent += 1;
            batches(&wrangler, sent).await;
            assert_eq!(store.snapshot(), counted, "{fault:?} {body}");
        }
    }
    assert_eq!(score(&client).await, 2 + 2 + 1);
}

#[tokio::test]
async fn what_waits_takes_its_turn_by_when_it_was_accepted() {
    let (wrangler, client, forwarder) = start(100, |worker| worker);
    client
        .post("/v1/activity", &like("x"))
        .await
        .assert_status(200);
    // Neither arrives, nor when it is tried for the first time; by then it is taken back.
    let mut failures = 2;
    forwarder.fail(move |_| {
        failures -= 1;
        (failures >= 0).then_some(Fault::CutBefore)
    });
    client
        .post("/v1/activity", &like("a"))
        .await
        .assert(202, queued());
    batches(&wrangler, 1).await;
    let answer = client.post("/v1/activity", &undo("a")).await;
    assert_eq!(answer.body["outcome"], "nothing-to-undo");
    batches(&wrangler, 2).await;
    assert_eq!(score(&client).await, 2);

    // A delayed copy, of before it was taken back.
    let copy = r#"[{"user":"42","action":"like","target":"a","at":"2026-11-01T08:00:00Z"}]"#;
    wrangler.enqueue(copy).await;
    batches(&wrangler, 3).await;
    assert_eq!(score(&client).await, 2);

    // Liked, taken back, liked again; what came second arrives last.
    let held = r#"[{"user":"42","action":"like","target":"x","at":"AT","undo":true}]"#;
    let second = jiff::Timestamp::now() - jiff::SignedDuration::from_millis(5);
    let third = client.post("/v1/activity", &like("x")).await;
    assert_eq!(third.body["outcome"], "duplicate");
    wrangler
        .enqueue(&held.replace("AT", &second.to_string()))
        .await;
    batches(&wrangler, 4).await;
    assert_eq!(score(&client).await, 2);

    // An undo of another day asks twice; only the first was answered.
    let dated =
        json!({"user": "42", "action": "like", "target": "d", "at": "2026-11-01T08:00:00Z"});
    client.post("/v1/activity", &dated).await.assert_status(200);
    assert_eq!(score(&client).await, 4);
    let mut number = 0;
    forwarder.fail(move |_| {
        number += 1;
        (number == 2).then_some(Fault::CutBefore)
    });
    client
        .post("/v1/activity", &undo("d"))
        .await
        .assert(202, queued());
    batches(&wrangler, 5).await;
    assert_eq!(score(&client).await, 2);
}

#[tokio::test]
async fn a_store_that_keeps_silent_costs_writers_nothing_either() {
    let (_wrangler, client, forwarder) = start(100, impatient);
    client
        .post("/v1/activity", &like("x"))
        .await
        .assert_status(200);
    forwarder.fail(|_| Some(Fault::HangBefore));
    let targets: Vec<String> = (0..25).map(|number| number.to_string()).collect();
    let (first, then) = targets.split_at(5);
    for answer in join_all(
        first
            .iter()
            .map(async |to| client.post("/v1/activity", &like(to)).await),
    )
    .await
    {
        answer.assert(202, queued());
    }
    let began = Instant::now();
    for target in then {
        client
            .post("/v1/activity", &like(target))
            .await
            .assert(202, queued());
    }
    assert!(began.elapsed() < DEADLINE, "{:?}", began.elapsed());
    forwarder.heal();
    until("all of it counted", async || {
        let answer = client.get("/v1/ranking/all/users/42").await;
        (answer.body["score"] == 2 + 2 * targets.len()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_counted_ends_apart_and_blocks_nothing() {
    let (wrangler, client, _forwarder) = start(2, |worker| worker);
    client
        .post("/v1/activity", &like("x"))
        .await
        .assert_status(200);
    let frozen = json!({"hidden": false, "frozen": true, "reason": "A test"});
    client
        .put("/v1/users/7/moderation", &frozen)
        .await
        .assert_status(200);

    let undated = r#"[{"user":"42","action":"like","target":"a"}]"#;
    let nobody = r#"[{"user":"7","action":"like","target":"a","at":"2026-11-01T08:00:00Z"}]"#;
    let gone = r#"[{"user":"42","action":"dance","target":"a","at":"2026-11-01T08:00:00Z"},
        {"user":"42","action":"like","target":"a","at":"2026-11-01T08:00:00Z"}]"#;
    for message in ["no JSON", undated, nobody, gone] {
        wrangler.enqueue(message).await;
    }
    until("what is good of it", async || {
        (score(&client).await == 4).then_some(())
    })
    .await;
    let buried = until("what is bad", async || {
        let dead = wrangler.dead();
        (dead.len() == 2).then_some(dead)
    })
    .await;
    let buried = buried
        .iter()
        .map(|text| serde_json::from_str(text).expect("JSON"));
    assert_eq!(
        buried.collect::<Vec<Value>>(),
        [
            json!({"message": "no JSON", "reason": "unreadable: The body is not JSON: expected ident at line 1 column 2."}),
            json!({"message": undated, "reason": "unreadable: at: must be there"}),
        ]
    );
    for cause in [
        "dropped: This user is frozen: nothing they do or take back counts.",
        "dropped: action: must be one of bookmark, comment, follow, like, publish, visit",
        "unreadable: at: must be there",
    ] {
        wrangler.logs(cause).await;
    }
}

#[tokio::test]
async fn what_is_given_up_holds_what_was_understood_and_can_be_sent_again() {
    let (wrangler, client, forwarder) = start(2, |worker| {
        let worker = worker.var("JWT_SECRET", SECRET);
        worker.var("JWT_GROUPS_CLAIM", "teams")
    });
    forwarder.fail(|_| Some(Fault::CutBefore));
    let member =
        |claims| Client::new(Api::new(wrangler.url()).with_key(&hs256(&claims_with(claims))));
    let member = member(json!({"teams": ["eu"], "name": "Ada"}));
    // Who sends it and what it says are looked at first, as ever.
    let post = async |client: &Client, body: Value| client.post("/v1/activity", &body).await;
    post(&client.without_key(), like("a"))
        .await
        .assert_status(401);
    post(&client, json!({"user": "42", "action": "like"}))
        .await
        .assert_status(400);
    post(
        &client,
        json!({"user": "42", "action": "dance", "target": "a"}),
    )
    .await
    .assert_status(422);
    post(
        &member,
        json!({"user": "7", "action": "like", "target": "a"}),
    )
    .await
    .assert_status(403);

    let dated = json!({"user": "42", "action": "visit", "target": "/a/?b", "at": "2026-11-18T08:00:00.5+01:00"});
    post(&client, dated).await.assert(202, queued());
    let before = now() * 1000;
    post(&member, undo("z")).await.assert(202, queued());
    let mut given_up = until("what was given up", async || {
        let dead = wrangler.dead();
        (dead.len() == 2).then_some(dead)
    })
    .await;
    given_up.sort_by_key(|text| text.contains("undo"));
    assert_eq!(
        given_up[0],
        r#"[{"user":"42","action":"visit","target":"/a","at":"2026-11-18T07:00:00.500Z"}]"#
    );
    let mut messages: Vec<Value> = given_up
        .iter()
        .map(|text| serde_json::from_str(text).expect("JSON"))
        .collect();
    let at = messages[1][0]["at"].take();
    let at: jiff::Timestamp = at.as_str().expect("an instant").parse().expect("RFC 3339");
    assert!(
        (before..before + 10_000).contains(&at.as_millisecond()),
        "{at}"
    );
    let expected = json!([{"user": "42", "action": "like", "target": "z", "undo": true, "at": null, "groups": ["eu"]}]);
    assert_eq!(messages[1], expected);

    forwarder.heal();
    for (text, outcome) in given_up.iter().zip(["counted", "nothing-to-undo"]) {
        let answer = post(&client, serde_json::from_str(text).expect("JSON")).await;
        assert_eq!(
            answer.assert_status(200).body["results"][0]["outcome"],
            outcome
        );
    }
}
