//! Servers killed under load: after the same load is repeated, the totals are exact.

use crate::requests::{ACTIVITY, PERIODS, act, board, like};
use redis::cmd;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use test_support::{
    Api, Gateway, Method, RedisOptions, RedisServer, Value, Worker, WorkerBuilder, json, scaled,
    until,
};
use tokio::task::JoinSet;

const CLIENTS: usize = 16;
const REQUESTS: usize = 60;
const BOUND: Duration = Duration::from_secs(120);

fn builder() -> WorkerBuilder {
    let timeout = scaled(Duration::from_secs(5)).as_millis() as u64;
    Worker::builder().json("STORE_TIMEOUT_MS", json!(timeout))
}

/// Returns a request of the load. All differ, and every third is an array.
fn request(client: usize, number: usize) -> Value {
    let user = format!("u{}", (client + number) % 20);
    let target = format!("{client}-{number}");
    if !number.is_multiple_of(3) {
        return like(&user, &target);
    }
    (0..10)
        .map(|item| act(&user, "comment", &format!("{target}-{item}")))
        .collect()
}

/// Returns the points of each user after the complete load.
fn totals() -> BTreeMap<String, f64> {
    let mut totals = BTreeMap::new();
    let all = (0..CLIENTS).flat_map(|client| (0..REQUESTS).map(move |n| request(client, n)));
    for request in all {
        let items = request.as_array();
        let points = items.map_or(2.0, |items| 3.0 * items.len() as f64);
        let user = &request.get(0).unwrap_or(&request)["user"];
        *totals.entry(user.as_str().unwrap().to_owned()).or_default() += points;
    }
    totals
}

/// Starts the load; the counter holds the number of requests that returned 200.
fn load(api: &Api) -> (JoinSet<()>, Arc<AtomicUsize>) {
    let (mut clients, done) = (JoinSet::new(), Arc::new(AtomicUsize::new(0)));
    for client in 0..CLIENTS {
        let (api, done) = (api.clone(), Arc::clone(&done));
        clients.spawn(async move {
            for number in 0..REQUESTS {
                let body = request(client, number).to_string();
                let json = &[("content-type", "application/json")];
                match api.try_send(Method::POST, ACTIVITY, body, json).await {
                    Ok(response) if response.status == 200 => {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(response) => {
                        response.assert_status(503);
                        assert_eq!(response.body["type"], "/problems/store-unavailable");
                        assert!(response.header("retry-after").is_some());
                    }
                    // The Worker itself was killed.
                    Err(_) => {}
                }
            }
        });
    }
    (clients, done)
}

/// Sends the load and runs `interrupt` when a quarter of it is done, until requests have failed: on a busy machine the
/// load may be over before this task sees the quarter.
async fn interrupted_load(api: &Api, mut interrupt: impl FnMut()) {
    let quarter = CLIENTS * REQUESTS / 4;
    for _ in 0..10 {
        let (clients, done) = load(api);
        until("a quarter of the load", async || {
            (done.load(Ordering::Relaxed) >= quarter).then_some(())
        })
        .await;
        interrupt();
        clients.join_all().await;
        if done.load(Ordering::Relaxed) < CLIENTS * REQUESTS {
            return;
        }
    }
    panic!("the kills interrupted no request");
}

/// Repeats the load and asserts the scores on the boards of every period.
async fn assert_totals(api: &Api) {
    let (clients, done) = load(api);
    clients.join_all().await;
    let done = done.load(Ordering::Relaxed);
    assert_eq!(done, CLIENTS * REQUESTS, "every repeated request succeeds");
    for period in PERIODS {
        let found: BTreeMap<String, f64> = board(api, period).await.into_iter().collect();
        assert_eq!(found, totals(), "{period}");
    }
}

/// Fails the test if it takes longer than [`BOUND`].
async fn within_bound(test: impl Future<Output = ()>) {
    tokio::time::timeout(scaled(BOUND), test)
        .await
        .expect("in time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gateway_restart_under_load_keeps_totals_exact() {
    let mut gateway = Gateway::spawn(&test_support::redis().url());
    let worker = builder().store(&gateway.url()).start();
    within_bound(async {
        interrupted_load(&worker.api(), || gateway.restart()).await;
        assert_totals(&worker.api()).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worker_restart_under_load_keeps_totals_exact() {
    let builder = builder();
    // The second Worker from this builder has the same prefix.
    let mut worker = builder.clone().start();
    within_bound(async {
        interrupted_load(&worker.api(), || worker.kill()).await;
        assert_totals(&builder.start().api()).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_restart_under_load_keeps_totals_exact() {
    let mut redis = RedisServer::spawn(RedisOptions::default().append_only());
    let gateway = Gateway::spawn(&redis.url());
    let worker = builder().store(&gateway.url()).start();
    within_bound(async {
        interrupted_load(&worker.api(), || redis.restart()).await;
        until("the gateway to reconnect", async || {
            (worker.api().get("/healthz").await.status == 200).then_some(())
        })
        .await;
        assert_totals(&worker.api()).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn script_flush_under_load_fails_no_request() {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let worker = builder().store(&gateway.url()).start();
    within_bound(async {
        let (mut clients, done) = load(&worker.api());
        let mut connection = redis.connection();
        let mut flushed = 0;
        while clients.try_join_next().is_some() || !clients.is_empty() {
            cmd("SCRIPT").arg("FLUSH").exec(&mut connection).unwrap();
            flushed += 1;
            tokio::task::yield_now().await;
        }
        assert!(flushed > 10, "{flushed}");
        let done = done.load(Ordering::Relaxed);
        assert_eq!(done, CLIENTS * REQUESTS, "a flush made requests fail");
        assert_totals(&worker.api()).await;
    })
    .await;
}
