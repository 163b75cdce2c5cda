//! The Worker that `scripts/build --features reqwest` builds: it sends requests to the store with the
//! reqwest crate instead of the platform's `fetch`.

use std::time::Duration;

use test_support::{Fault, Forwarder, Value, WorkerBuilder, gateway, json, root, scaled, until};

use crate::app::TestApp;
use crate::bodies::{board, entry, like, outcome};
use crate::clock::{day, period, standings};
use crate::problem::{problem, store_unavailable};

fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> TestApp {
    let bundle = root().join("target/reqwest/build");
    TestApp::with(|worker| configure(worker.bundle(&bundle)))
}

/// Asserts that a write and a read return this problem.
async fn assert_problem(app: &TestApp, problem: &Value) {
    let status = problem["status"].as_u64().unwrap().try_into().unwrap();
    let (write, read) = (
        app.send_activity(like("42", "post-7")),
        app.get("/v1/ranking/day"),
    );
    write.await.assert(status, problem.clone());
    read.await.assert(status, problem.clone());
}

/// The second activity also shows that the script is found by its digest.
#[tokio::test]
async fn reqwest_worker_counts_once_and_ranks() {
    let app = start(|worker| worker);
    let standings = standings(day(0), 2, 1);
    for (name, points) in [("counted", 2), ("duplicate", 0)] {
        let response = app.send_activity(like("42", "post-7")).await;
        response.assert(200, outcome(name, points, standings.clone()));
    }
    let (period, entry) = (period("week", day(0)), entry(1, 2, "42"));
    let expected = board(period.clone(), 1, [entry.clone()]);
    app.assert_get("/v1/ranking/week", expected).await;
    app.get("/v1/ranking/week/users/42?around=1").await.assert(
        200,
        json!({"period": period, "user": {"id": "42"}, "rank": 1, "score": 2, "total": 1,
            "percentile": 100.0, "next": null, "around": [entry]}),
    );
}

#[tokio::test]
async fn reqwest_worker_reports_rejected_token() {
    let app = start(|worker| worker.var("UPSTASH_REDIS_REST_TOKEN", "wrong"));
    let detail = "UPSTASH_REDIS_REST_TOKEN: the store rejects this token";
    assert_problem(&app, &problem("misconfigured", detail)).await;
}

/// The logged causes contain no URL: it can have a password.
#[tokio::test]
async fn reqwest_worker_reports_unavailable_store() {
    let problem = store_unavailable();
    let unreachable = start(|worker| worker.store("http://127.0.0.1:1"));
    assert_problem(&unreachable, &problem).await;
    let forwarder = Forwarder::to(&gateway().url());
    let deadline = scaled(Duration::from_millis(500));
    let failing = start(|worker| {
        worker
            .store(&forwarder.url())
            .json("STORE_TIMEOUT_MS", json!(deadline.as_millis()))
    });
    for fault in [Fault::CutBefore, Fault::HangBefore, Fault::HangInResponse] {
        forwarder.fail(move |_| Some(fault.clone()));
        assert_problem(&failing, &problem).await;
    }
    let (lost, timeout) = ("Network connection lost.", "timed out");
    for (app, expected) in [
        (unreachable, &[lost; 2][..]),
        (failing, &[lost, lost, timeout, timeout, timeout, timeout]),
    ] {
        let lines = until("all lines", async || {
            let lines = app.log_lines();
            (lines.len() >= expected.len()).then_some(lines)
        });
        let lines = lines.await;
        let causes: Vec<&Value> = lines.iter().map(|line| &line["cause"]).collect();
        assert_eq!(causes, expected);
    }
}

/// The platform follows the redirect, but removes the token from a request to another origin, so the
/// other store rejects it.
#[tokio::test]
async fn reqwest_worker_redirects_without_token() {
    let gateway = gateway().url();
    let (forwarder, other) = (Forwarder::to(&gateway), Forwarder::to(&gateway));
    let app = start(|worker| worker.store(&forwarder.url()));
    let url = format!("{}/pipeline", other.url());
    forwarder.fail(move |_| Some(Fault::Redirect(url.clone())));
    let detail = "UPSTASH_REDIS_REST_TOKEN: the store rejects this token";
    assert_problem(&app, &problem("misconfigured", detail)).await;
    assert_eq!(other.count(), 2);
}
