//! Requests whose caller goes away: the platform destroys the context of such a request at once,
//! unless its work is kept alive.
//!
//! `ABORTS` sets the number of requests that the test of the memory aborts.

use std::time::Duration;

use futures::{StreamExt, stream};
use test_support::{Api, Fault, Forwarder, Method, SERVICE_KEY, Value, json, until};

use crate::app::TestApp;
use crate::bodies::{like, moderation};

/// The time that the store takes: long enough for a busy machine to abort the request before.
const DELAY: Duration = Duration::from_secs(1);

fn start(delay: Duration) -> (TestApp, Forwarder) {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.aborting());
    forwarder.fail(move |_| Some(Fault::Delay(delay)));
    (app, forwarder)
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
    let (app, _forwarder) = start(DELAY);
    let path = "/v1/activity";
    assert!(!abort(app.url(), Method::POST, path, &like("42", "post-7"), 50).await);
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
    let (app, forwarder) = start(Duration::ZERO);
    app.count("42", "like", "post-7").await;
    forwarder.fail(|_| Some(Fault::Delay(DELAY)));
    let path = "/v1/users/42/moderation";
    assert!(!abort(app.url(), Method::PUT, path, &moderation(true, false), 50).await);
    until("the end of the moderation", async || {
        let board = app.read("/v1/ranking/all").await;
        (board["total"] == 0).then_some(())
    })
    .await;
    forwarder.heal();
    let state = app.read(path).await;
    assert_eq!(state["hidden"], true);
}

/// The body of each request is as large as bodies may be. Before their work was kept alive, 600
/// requests took 1.4 GB.
#[tokio::test]
async fn aborted_requests_leave_no_memory() {
    let aborts = std::env::var("ABORTS").map_or(400, |text| text.parse().expect("a number"));
    let (app, forwarder) = start(Duration::ZERO);
    forwarder.fail(|_| Some(Fault::Delay(Duration::from_millis(fastrand::u64(0..40)))));
    let target = "x".repeat(480);
    let items: Vec<Value> = (0..460).map(|_| like("42", &target)).collect();
    let items = json!(items);
    let run = async |requests: usize| {
        let abort = |_| {
            abort(
                app.url(),
                Method::POST,
                "/v1/activity",
                &items,
                fastrand::u64(0..60),
            )
        };
        let answered = stream::iter(0..requests).map(abort).buffer_unordered(8);
        answered
            .filter(|answered| std::future::ready(!answered))
            .count()
            .await
    };
    // The memory that so many requests at a time take.
    run(100).await;
    let before = app.memory();
    let aborted = run(aborts).await;
    let after = app.memory();
    println!("{aborted} of {aborts} requests aborted: {before} kB before, {after} kB after");
    assert!(aborted > aborts / 4, "{aborted} aborted");
    assert!(
        after < before + 200_000,
        "{before} kB before, {after} kB after"
    );
    let standing = app.read("/v1/ranking/all/users/42").await;
    assert_eq!(standing["score"], 2);
}

/// Clients that send arrays and go away while the store takes its time do not fill the memory with their work: beyond a
/// bound it is not begun.
#[tokio::test]
async fn aborted_arrays_have_a_bound() {
    let aborts = std::env::var("ABORTS").map_or(600, |text| text.parse().expect("a number"));
    let (app, forwarder) = start(Duration::from_millis(1900));
    let target = "x".repeat(480);
    let items: Vec<Value> = (0..460).map(|_| like("42", &target)).collect();
    let items = json!(items);
    let run = async |requests: usize| {
        let abort = |_| abort(app.url(), Method::POST, "/v1/activity", &items, 30);
        let answered = stream::iter(0..requests).map(abort).buffer_unordered(8);
        answered
            .filter(|answered| std::future::ready(!answered))
            .count()
            .await
    };
    run(20).await;
    let before = app.memory();
    let aborted = run(aborts).await;
    let after = app.memory();
    println!("{aborted} of {aborts} requests aborted: {before} kB before, {after} kB after");
    assert!(aborted > aborts / 2, "{aborted} aborted");
    assert!(
        after < before + 150_000,
        "{before} kB before, {after} kB after"
    );
    forwarder.heal();
    until("an answer", async || {
        let response = app.get("/v1/ranking/all/users/42").await;
        (response.status == 200).then_some(())
    })
    .await;
}
