//! Requests whose caller goes away: the platform destroys the context of such a request at once,
//! unless its work is kept alive.

use std::time::Duration;

use futures::{StreamExt, stream};
use test_support::{Api, Fault, Forwarder, Method, SERVICE_KEY, Value, depth, json, until};

use crate::app::TestApp;
use crate::bodies::{like, moderation};

fn start() -> (TestApp, Forwarder) {
    TestApp::behind_forwarder(|worker| worker.aborting())
}

/// Sends a request and aborts it after some milliseconds. Returns whether it was answered before.
async fn abort(url: &str, method: Method, path: &str, body: &Value, after: u64) -> bool {
    let api = Api::new(url).with_key(SERVICE_KEY);
    let after = after.to_string();
    let headers = [
        ("content-type", "application/json"),
        ("x-abort-after", after.as_str()),
    ];
    let response = api.send(method, path, body.to_string(), &headers).await;
    match response.status {
        200 => true,
        499 => false,
        other => panic!("{other} {}", response.text),
    }
}

#[tokio::test]
async fn aborted_activity_counts() {
    let (app, forwarder) = start();
    forwarder.fail(|_| Some(Fault::Hold));
    let path = "/v1/activity";
    assert!(!abort(app.url(), Method::POST, path, &like("42", "post-7"), 50).await);
    forwarder.heal();
    until("the points", async || {
        let standing = app.read("/v1/ranking/all/users/42").await;
        (standing["score"] == 2).then_some(())
    })
    .await;
}

/// The store hangs: the Worker can only queue the activity after its client has gone away.
#[tokio::test]
async fn aborted_activity_in_outage_is_queued() {
    let (app, forwarder) =
        TestApp::behind_forwarder(|worker| worker.queued(100).var("STORE_TIMEOUT_MS", "500"));
    forwarder.fail(|_| Some(Fault::HangBefore));
    let path = "/v1/activity";
    assert!(
        !abort(
            app.worker.url(),
            Method::POST,
            path,
            &like("42", "post-7"),
            50
        )
        .await
    );
    until("a queued activity", async || {
        let requests = forwarder.count();
        (requests >= 2).then_some(())
    })
    .await;
    forwarder.heal();
    until("the points", async || {
        // 503 while the circuit breaker is open.
        let response = app.worker.api().get("/v1/ranking/all/users/42").await;
        (response.body["score"] == 2).then_some(())
    })
    .await;
}

/// Each of the two steps of hiding a user is a request to the store.
#[tokio::test]
async fn aborted_moderation_finishes() {
    let (app, forwarder) = start();
    app.count("42", "like", "post-7").await;
    forwarder.fail(|_| Some(Fault::Hold));
    let path = "/v1/users/42/moderation";
    assert!(!abort(app.url(), Method::PUT, path, &moderation(true, false), 50).await);
    forwarder.heal();
    until("the end of the moderation", async || {
        let board = app.read("/v1/ranking/all").await;
        (board["total"] == 0).then_some(())
    })
    .await;
    let state = app.read(path).await;
    assert_eq!(state["hidden"], true);
}

/// The number of requests of a test of memory that were aborted, and the memory that they took, in kilobytes.
struct Aborts {
    sent: usize,
    aborted: usize,
    grown: u64,
}

/// Sends activities whose bodies are as large as bodies may be, eight at a time, and aborts each after some milliseconds.
/// `warm_up` of them first take the memory that so many at a time take.
async fn abort_many(app: &TestApp, (warm_up, sent): (usize, usize), after: fn() -> u64) -> Aborts {
    let target = "x".repeat(480);
    let items = json!(vec![like("42", &target); 460]);
    let run = async |requests: usize| {
        let abort = |_| abort(app.url(), Method::POST, "/v1/activity", &items, after());
        let answered = stream::iter(0..requests).map(abort).buffer_unordered(8);
        let aborted = answered.filter(|answered| std::future::ready(!answered));
        aborted.count().await
    };
    run(warm_up).await;
    let before = app.memory();
    let aborted = run(sent).await;
    let grown = app.memory().saturating_sub(before);
    println!("{aborted} of {sent} requests aborted: {before} kB before, {grown} kB more after");
    Aborts {
        sent,
        aborted,
        grown,
    }
}

/// Before the work of aborted requests was kept alive, 600 of them took 1.4 GB.
#[tokio::test]
async fn aborted_requests_leave_no_memory() {
    let (app, forwarder) = start();
    forwarder.fail(|_| Some(Fault::Delay(Duration::from_millis(fastrand::u64(0..40)))));
    let aborts = abort_many(&app, (100, depth(120, 400)), || fastrand::u64(0..60)).await;
    assert!(aborts.aborted > aborts.sent / 4, "{}", aborts.aborted);
    assert!(aborts.grown < 200_000, "{} kB", aborts.grown);
    let standing = app.read("/v1/ranking/all/users/42").await;
    assert_eq!(standing["score"], 2);
}

/// Clients that send arrays and go away while the store takes its time do not fill the memory with their work: beyond a
/// bound it is not begun.
#[tokio::test]
async fn aborted_arrays_have_a_bound() {
    let (app, forwarder) = start();
    forwarder.fail(|_| Some(Fault::Delay(Duration::from_millis(1900))));
    let aborts = abort_many(&app, (20, depth(300, 600)), || 30).await;
    assert!(aborts.aborted > aborts.sent / 2, "{}", aborts.aborted);
    assert!(aborts.grown < 150_000, "{} kB", aborts.grown);
    forwarder.heal();
    until("an answer", async || {
        let response = app.get("/v1/ranking/all/users/42").await;
        (response.status == 200).then_some(())
    })
    .await;
}
