//! Writes during an outage, with a queue bound: 202 at first, and counted exactly once later.

use std::time::{Duration, Instant};

use test_support::{Fault, Forwarder, Value, Worker, WorkerBuilder, json, scaled, until};

use crate::app::TestApp;
use crate::bodies::{self, activity, dated};
use crate::client::Client;
use crate::events::Event;
use crate::token::sign::{SECRET, claims_with, hs256, now};

/// Returns the store timeout of [`with_deadline`].
fn deadline() -> Duration {
    scaled(Duration::from_secs(1))
}

fn queued() -> Value {
    json!({"outcome": "queued", "points": 0})
}

fn like(target: &str) -> Value {
    bodies::like("42", target)
}

fn undo(target: &str) -> Value {
    bodies::undo(like(target))
}

/// Starts a Worker with a queue behind a forwarder; a message is delivered at most `tries` times.
fn start(
    tries: u32,
    configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder,
) -> (TestApp, Forwarder) {
    TestApp::behind_forwarder(|worker| configure(worker.queued(tries)))
}

/// Sets the store timeout to the [`deadline`].
fn with_deadline(worker: WorkerBuilder) -> WorkerBuilder {
    worker.json("STORE_TIMEOUT_MS", json!(deadline().as_millis()))
}

/// Waits until this many batches have been processed.
async fn batches(worker: &Worker, number: usize) {
    until("the queue", async || {
        (worker.log().matches("DONE [").count() >= number).then_some(())
    })
    .await;
}

/// Waits until the dead-letter queue has two messages and returns them.
async fn two_dead_letters(worker: &Worker) -> Vec<String> {
    until("two dead letters", async || {
        let messages = worker.dead();
        (messages.len() == 2).then_some(messages)
    })
    .await
}

fn parse(messages: &[String]) -> Vec<Value> {
    let messages = messages.iter();
    messages
        .map(|text| serde_json::from_str(text).expect("JSON"))
        .collect()
}

/// Returns the all-time score of user 42.
async fn score(client: &Client) -> Value {
    client.read("/v1/ranking/all/users/42").await["score"].clone()
}

/// The script runs, but its response is lost, so the Worker also queues the activity.
#[tokio::test]
async fn queued_copy_of_counted_activity_is_duplicate() {
    let (app, forwarder) = start(100, with_deadline);
    let mut store = app.store();
    app.send_activity(like("x")).await.assert_status(200);
    let mut sent = 0;
    // After each of these faults the Worker cannot know whether the script ran.
    for fault in [Fault::CutAfter, Fault::PartialResponse, Fault::HangAfter] {
        // The undo comes last: in the millisecond of its 202 it is applied again, which has the next activity renew the
        // expiry of the user's records.
        let array = json!([
            activity("42", "visit", "/a//"),
            like("a"),
            undo("a"),
            {},
            like("b"),
            undo("b"),
            like("b"),
            undo("c")
        ]);
        for body in [
            like("post-7"),
            undo("post-7"),
            like("post-7"),
            undo("post-7"),
            array,
        ] {
            forwarder.fail_next(fault.clone());
            let response = app.send_activity(body.clone()).await;
            if body.is_array() {
                let results = &response.assert_status(200).body["results"];
                let mut results = results.as_array().expect("results").clone();
                results.retain(|result| !result["error"].is_object());
                assert_eq!(results, vec![queued(); 7], "{}", response.text);
            } else {
                response.assert(202, queued());
            }
            let counted = store.snapshot();
            sent += 1;
            batches(&app.worker, sent).await;
            assert_eq!(store.snapshot(), counted, "{fault:?} {body}");
        }
    }
    // Five timeouts have opened the circuit of visitors; the queue has its own.
    let read = until("the circuit to close", async || {
        let response = app.get("/v1/ranking/all/users/42").await;
        (response.status == 200).then_some(response)
    })
    .await;
    assert_eq!(read.body["score"], 2 + 2 + 1);
}

/// Queued activity is dated with the instant of its 202, so a later undo wins over it.
#[tokio::test]
async fn queued_activity_applies_by_acceptance_time() {
    let (app, forwarder) = start(100, |worker| worker);
    app.send_activity(like("x")).await.assert_status(200);
    // Neither the request nor the first delivery reaches the store; then the like is undone.
    let mut failures = 2;
    forwarder.fail(move |_| {
        failures -= 1;
        (failures >= 0).then_some(Fault::CutBefore)
    });
    app.send_activity(like("a")).await.assert(202, queued());
    batches(&app.worker, 1).await;
    let response = app.send_activity(undo("a")).await;
    assert_eq!(response.body["outcome"], "nothing-to-undo");
    batches(&app.worker, 2).await;
    assert_eq!(score(&app).await, 2);

    // A delayed copy of the like, dated before the undo.
    let delayed_like =
        r#"[{"user":"42","action":"like","target":"a","at":"2026-11-01T08:00:00Z"}]"#;
    app.worker.enqueue(delayed_like).await;
    batches(&app.worker, 3).await;
    assert_eq!(score(&app).await, 2);

    // Like, undo, like again: the undo, second in time, is delivered last.
    let queued_undo = r#"[{"user":"42","action":"like","target":"x","at":"AT","undo":true}]"#;
    let second = jiff::Timestamp::now() - jiff::SignedDuration::from_millis(5);
    let third = app.send_activity(like("x")).await;
    assert_eq!(third.body["outcome"], "duplicate");
    app.worker
        .enqueue(&queued_undo.replace("AT", &second.to_string()))
        .await;
    batches(&app.worker, 4).await;
    assert_eq!(score(&app).await, 2);

    // An undo of an older like needs two requests to the store; the second one fails.
    let dated = dated(like("d"), "2026-11-01T08:00:00Z");
    app.send_activity(dated).await.assert_status(200);
    assert_eq!(score(&app).await, 4);
    let mut number = 0;
    forwarder.fail(move |_| {
        number += 1;
        (number == 2).then_some(Fault::CutBefore)
    });
    app.send_activity(undo("d")).await.assert(202, queued());
    batches(&app.worker, 5).await;
    assert_eq!(score(&app).await, 2);
}

/// The store is unavailable until the event has ended. The activity was accepted before.
#[tokio::test]
async fn queued_activity_counts_in_event_that_settles() {
    let (app, forwarder) = start(100, |worker| worker.var("BOARD_MAX_AGE", "0"));
    // In whole seconds: jiff and the service print zeros of a fraction differently.
    let whole = |time| i64::try_from(scaled(time).as_secs()).expect("seconds");
    let [from, to] = [1, 5].map(|seconds| whole(Duration::from_secs(seconds)));
    let event = Event::between("hackathon", from * 1000, to * 1000);
    event.put(&app).await;
    event.wait_for(&app, "running").await;
    forwarder.fail(|_| Some(Fault::CutBefore));
    app.send_activity(like("a")).await.assert(202, queued());
    event.wait_for_end().await;
    forwarder.heal();
    let counted = async || (score(&app).await == 2).then_some(());
    until("the activity is counted", counted).await;
    event.assert_rows(&app, &[("42", 2)]).await;
    app.assert_get(&event.path(), event.view("settling")).await;
}

/// The queue has a longer deadline: a store that is too slow for visitors is fast enough for it.
#[tokio::test]
async fn slow_store_counts_queued_activity() {
    let (app, forwarder) = start(100, with_deadline);
    forwarder.fail(|_| Some(Fault::Delay(2 * deadline())));
    app.send_activity(like("x")).await.assert(202, queued());
    let mut store = app.store();
    until("the activity to be counted", async || {
        let board = |key: &String| key.ends_with("ba:all");
        store.keys().iter().any(board).then_some(())
    })
    .await;
    forwarder.heal();
    assert_eq!(score(&app).await, 2);
}

/// The store refuses requests of more than so many bytes.
#[tokio::test]
async fn queued_batch_is_halved_until_it_is_accepted() {
    let (app, forwarder) = start(100, |worker| worker);
    // The store knows the script, which is longer than that.
    app.send_activity(like("x")).await.assert_status(200);
    forwarder.fail(|request| {
        let error = r#"{"error":"ERR max request size exceeded"}"#;
        let refused = Fault::Respond(503, error.to_owned());
        (request.body.len() > 8_000).then_some(refused)
    });
    let likes: Vec<Value> = (0..400).map(|number| like(&format!("p{number}"))).collect();
    let response = app.send_activity(json!(likes)).await;
    response.assert(200, json!({"results": vec![queued(); 400]}));
    let done = async || (score(&app).await == 802).then_some(());
    until("all activity to be counted", done).await;
    let sizes = forwarder.requests().into_iter();
    let sizes: Vec<usize> = sizes.map(|request| request.body.len()).collect();
    assert!(sizes.iter().any(|size| *size > 16_000), "{sizes:?}");
}

/// After five timeouts the circuit is open; further writes are queued without waiting.
#[tokio::test]
async fn open_circuit_queues_writes_without_delay() {
    let (app, forwarder) = start(100, with_deadline);
    app.send_activity(like("x")).await.assert_status(200);
    forwarder.fail(|_| Some(Fault::HangBefore));
    let send = async |number: usize| {
        let response = app.send_activity(like(&number.to_string())).await;
        response.assert(202, queued());
    };
    for number in 0..5 {
        send(number).await;
    }
    let start = Instant::now();
    for number in 5..25 {
        send(number).await;
    }
    // None of the 20 waits for the deadline.
    assert!(start.elapsed() < 10 * deadline(), "{:?}", start.elapsed());
    forwarder.heal();
    until("all activity to be counted", async || {
        let response = app.get("/v1/ranking/all/users/42").await;
        (response.body["score"] == 2 + 2 * 25).then_some(())
    })
    .await;
}

/// Unreadable messages become dead letters; items that no rule allows are dropped and logged.
#[tokio::test]
async fn uncountable_message_blocks_no_other() {
    let (app, _forwarder) = start(2, |worker| worker);
    app.send_activity(like("x")).await.assert_status(200);
    app.moderate("7", false, true).await;

    let undated = r#"[{"user":"42","action":"like","target":"a"}]"#;
    let frozen_user = r#"[{"user":"7","action":"like","target":"a","at":"2026-11-01T08:00:00Z"}]"#;
    let partly_unknown = r#"[{"user":"42","action":"dance","target":"a","at":"2026-11-01T08:00:00Z"},
        {"user":"42","action":"like","target":"a","at":"2026-11-01T08:00:00Z"}]"#;
    for message in ["no JSON", undated, frozen_user, partly_unknown] {
        app.worker.enqueue(message).await;
    }
    let done = async || (score(&app).await == 4).then_some(());
    until("the valid activity to be counted", done).await;
    let dead_letters = two_dead_letters(&app.worker).await;
    assert_eq!(
        parse(&dead_letters),
        [
            json!({"message": "no JSON", "reason": "unreadable: The body is not JSON: expected ident at line 1 column 2."}),
            json!({"message": undated, "reason": "unreadable: at: must be there"}),
        ]
    );
    for cause in [
        "dropped: This user is frozen: their activity is not counted.",
        "dropped: action: must be one of bookmark, comment, follow, like, publish, visit",
        "unreadable: at: must be there",
    ] {
        app.worker.logs(cause).await;
    }
}

/// A message that fails too often is stored with the parsed activity and its instant.
#[tokio::test]
async fn dead_letters_can_be_sent_again() {
    let (app, forwarder) = start(2, |worker| {
        let worker = worker.var("JWT_SECRET", SECRET);
        worker.var("JWT_GROUPS_CLAIM", "teams")
    });
    forwarder.fail(|_| Some(Fault::CutBefore));
    let claims = claims_with(json!({"teams": ["eu"], "name": "Ada"}));
    let member = app.with_key(&hs256(&claims));
    // Authentication and validation still come first.
    let foreign_like = bodies::like("7", "a");
    let dance = activity("42", "dance", "a");
    for (client, activity, status) in [
        (&app.without_key(), like("a"), 401),
        (&*app, json!({"user": "42", "action": "like"}), 400),
        (&app, dance, 422),
        (&member, foreign_like, 403),
    ] {
        client.send_activity(activity).await.assert_status(status);
    }

    let dated = dated(
        activity("42", "visit", "/a/?b"),
        "2026-11-18T08:00:00.5+01:00",
    );
    app.send_activity(dated).await.assert(202, queued());
    let before = now() * 1000;
    member.send_activity(undo("z")).await.assert(202, queued());
    let mut dead_letters = two_dead_letters(&app.worker).await;
    dead_letters.sort_by_key(|text| text.contains("undo"));
    // What a member sent is sent again without the object around it.
    let member_letter = dead_letters[1].strip_prefix(r#"{"member":true,"activities":"#);
    dead_letters[1] = member_letter
        .expect("a member's letter")
        .strip_suffix('}')
        .expect("an object")
        .to_owned();
    assert_eq!(
        dead_letters[0],
        r#"[{"user":"42","action":"visit","target":"/a","at":"2026-11-18T07:00:00.500Z"}]"#
    );
    let mut messages = parse(&dead_letters);
    let at = messages[1][0]["at"].take();
    let at: jiff::Timestamp = at.as_str().expect("an instant").parse().expect("RFC 3339");
    assert!(
        (before..before + 10_000).contains(&at.as_millisecond()),
        "{at}"
    );
    let expected = json!([{"user": "42", "action": "like", "target": "z", "undo": true, "at": null, "groups": ["eu"]}]);
    assert_eq!(messages[1], expected);

    forwarder.heal();
    let outcomes = ["counted", "nothing-to-undo"];
    for (message, outcome) in parse(&dead_letters).into_iter().zip(outcomes) {
        let response = app.send_activity(message).await;
        let results = &response.assert_status(200).body["results"];
        assert_eq!(results[0]["outcome"], outcome);
    }
}
