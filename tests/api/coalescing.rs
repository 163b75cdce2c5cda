//! Requests that go to the store at the same time go together: `src/platform/coalesce.js`.

use std::time::{Duration, Instant};

use futures::future::join_all;
use futures::{StreamExt, stream};
use test_support::{
    Answer, Api, Fault, Forwarder, Method, SERVICE_KEY, depth, json, scaled, until,
};

use crate::app::TestApp;
use crate::bodies::like;
use crate::client::JSON;
use crate::single_flight::commands;

const REQUESTS: usize = 24;

/// Sends an activity of each of some users at the same time. `after` are the milliseconds after which
/// the caller in front of the Worker aborts them.
async fn send_activities(app: &TestApp, prefix: &str, after: Option<u32>) -> Vec<Answer> {
    let api = Api::new(app.url()).with_key(SERVICE_KEY);
    let after = after.map(|after| after.to_string());
    let abort = after.iter().map(|after| ("x-abort-after", after.as_str()));
    let headers: Vec<(&str, &str)> = JSON.iter().copied().chain(abort).collect();
    let send = |number| {
        let activity = like(&format!("{prefix}{number}"), "post-7");
        api.send(Method::POST, "/v1/activity", activity.to_string(), &headers)
    };
    join_all((0..REQUESTS).map(send)).await
}

async fn assert_total(app: &TestApp, total: usize) {
    let board = app.read("/v1/ranking/all").await;
    assert_eq!(board["total"], total);
}

/// Holds all requests to the store from now on.
fn hold(forwarder: &Forwarder) {
    forwarder.reset();
    forwarder.fail(|_| Some(Fault::Hold));
}

/// Sends activities while the store holds their requests, until they go there together: the Worker gathers for a few
/// milliseconds, in which they may arrive one after the other. Returns their answers.
async fn send_together(app: &TestApp, forwarder: &Forwarder) -> Vec<Answer> {
    until("few requests to the store", async || {
        hold(forwarder);
        let all_sent = async {
            let sent = async || (commands(forwarder) >= REQUESTS).then_some(());
            until("all activities at the store", sent).await;
            let count = forwarder.count();
            forwarder.heal();
            count
        };
        let (answers, count) = futures::join!(send_activities(app, "u", None), all_sent);
        (count <= REQUESTS / 2).then_some(answers)
    })
    .await
}

#[tokio::test]
async fn concurrent_activities_share_store_requests() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker);
    app.count("42", "like", "post-7").await;
    for response in send_together(&app, &forwarder).await {
        response.assert_status(200);
    }
    assert_total(&app, REQUESTS + 1).await;
    for response in send_activities(&app, "u", None).await {
        assert_eq!(response.body["outcome"], "duplicate", "{}", response.text);
    }
}

/// The first ones lead; their clients go away while the store works.
#[tokio::test]
async fn aborted_leaders_serve_their_followers() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.aborting());
    hold(&forwarder);
    let aborted = async {
        let aborted = send_activities(&app, "a", Some(100)).await;
        forwarder.heal();
        aborted
    };
    let (aborted, others) = futures::join!(aborted, send_activities(&app, "b", None));
    for (answers, status) in [(aborted, 499), (others, 200)] {
        for answer in answers {
            answer.assert_status(status);
        }
    }
    until("all activity", async || {
        let board = app.read("/v1/ranking/all").await;
        (board["total"] == 2 * REQUESTS).then_some(())
    })
    .await;
}

/// The record of one user has another type, which makes the script of their activity fail.
#[tokio::test]
async fn failing_command_leaves_the_others() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker);
    app.count("42", "like", "post-7").await;
    let mut store = app.store();
    let key = store.key_of("u7", "m:u7");
    store.run::<i64>("RPUSH", &[&key, "foreign"]);
    let responses = send_together(&app, &forwarder).await;
    for (number, response) in responses.iter().enumerate() {
        response.assert_status(if number == 7 { 500 } else { 200 });
    }
    assert_total(&app, REQUESTS).await;
}

/// All wait at the same time, and no request waits for two deadlines.
#[tokio::test]
async fn hanging_store_ends_all_at_their_deadline() {
    let deadline = scaled(Duration::from_secs(2));
    let (app, forwarder) = TestApp::behind_forwarder(|worker| {
        worker.json("STORE_TIMEOUT_MS", json!(deadline.as_millis()))
    });
    for fault in [Fault::HangBefore, Fault::HangAfter, Fault::HangInResponse] {
        forwarder.fail(move |_| Some(fault.clone()));
        let start = Instant::now();
        for response in send_activities(&app, "u", None).await {
            response.assert_status(503);
        }
        assert!(start.elapsed() < deadline * 2, "{:?}", start.elapsed());
        forwarder.heal();
        // If the requests did not go together, their timeouts have opened the circuit.
        until("a closed circuit", async || {
            let response = app.get("/v1/ranking/all/users/42").await;
            (response.status == 200).then_some(())
        })
        .await;
        for response in send_activities(&app, "u", None).await {
            response.assert_status(200);
        }
    }
    assert_total(&app, REQUESTS).await;
}

/// V8 optimizes code that has run some thousand times, more than 8,000 in this test. With promises by `new Promise`,
/// every tenth request failed after that. Half of the readers share responses, the others only requests to the
/// store.
#[tokio::test]
async fn requests_stay_in_their_context() {
    let app = TestApp::start();
    app.count("42", "like", "post-7").await;
    let clients = [app.with_key(SERVICE_KEY), app.without_key()];
    let read = |number: usize| clients[number % 2].get("/v1/ranking/all/users/42");
    let answers = stream::iter(0..depth(12_000, 20_000))
        .map(read)
        .buffer_unordered(16);
    let failed = answers.filter(|answer| std::future::ready(answer.status != 200));
    assert_eq!(failed.count().await, 0);
}
