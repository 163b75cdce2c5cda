//! Servers that die in the middle of a load: the load repeated makes totals exact.

use crate::site::{ACTIVITY, KINDS, act, board, like};
use redis::cmd;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use test_support::{Api, Gateway, Method, RedisOptions, RedisServer, Value, Worker, json, until};
use tokio::task::JoinSet;

const CLIENTS: usize = 16;
const REQUESTS: usize = 60;
const BOUND: Duration = Duration::from_secs(120);

/// Every third request is an array; no two of a load are the same.
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

/// What the load amounts to.
fn totals() -> BTreeMap<String, f64> {
    let mut totals = BTreeMap::new();
    for (client, number) in (0..CLIENTS).flat_map(|client| (0..REQUESTS).map(move |n| (client, n)))
    {
        let request = request(client, number);
        let points = request
            .as_array()
            .map_or(2.0, |items| 3.0 * items.len() as f64);
        let first = request.get(0).unwrap_or(&request);
        *totals
            .entry(first["user"].as_str().unwrap().to_owned())
            .or_default() += points;
    }
    totals
}

/// Starts the load; the number counts the requests that were done.
fn load(api: &Api) -> (JoinSet<()>, Arc<AtomicUsize>) {
    let (mut clients, done) = (JoinSet::new(), Arc::new(AtomicUsize::new(0)));
    for client in 0..CLIENTS {
        let (api, done) = (api.clone(), Arc::clone(&done));
        clients.spawn(async move {
            for number in 0..REQUESTS {
                let body = request(client, number).to_string();
                let json = &[("content-type", "application/json")];
                match api.try_send(Method::POST, ACTIVITY, body, json).await {
                    Ok(answer) if answer.status == 200 => {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(answer) => {
                        answer.assert_status(503);
                        assert_eq!(answer.body["type"], "/problems/store-unavailable");
                        assert!(answer.header("retry-after").is_some());
                    }
                    // The Worker itself is gone.
                    Err(_) => {}
                }
            }
        });
    }
    (clients, done)
}

async fn in_the_middle(done: &AtomicUsize) {
    let middle = CLIENTS * REQUESTS / 4;
    until("a quarter of the load", async || {
        (done.load(Ordering::Relaxed) >= middle).then_some(())
    })
    .await;
}

async fn assert_totals(api: &Api) {
    let (clients, done) = load(api);
    clients.join_all().await;
    assert_eq!(
        done.load(Ordering::Relaxed),
        CLIENTS * REQUESTS,
        "the load repeated goes through"
    );
    for kind in KINDS {
        let found: BTreeMap<String, f64> = board(api, kind).await.into_iter().collect();
        assert_eq!(found, totals(), "{kind}");
    }
}

async fn within_bound(test: impl Future<Output = ()>) {
    tokio::time::timeout(BOUND, test).await.expect("in time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_killed_in_the_middle_of_a_load_loses_and_doubles_nothing() {
    let mut gateway = Gateway::spawn(&test_support::redis().url());
    let builder = Worker::builder().json("STORE_TIMEOUT_MS", json!(5_000));
    let worker = builder.store(&gateway.url()).start();
    within_bound(async {
        let (clients, done) = load(&worker.api());
        in_the_middle(&done).await;
        gateway.restart();
        clients.join_all().await;
        assert!(
            done.load(Ordering::Relaxed) < CLIENTS * REQUESTS,
            "some were lost"
        );
        assert_totals(&worker.api()).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_killed_in_the_middle_of_a_load_loses_and_doubles_nothing() {
    let builder = Worker::builder().json("STORE_TIMEOUT_MS", json!(5_000));
    // The next one has the same prefix.
    let mut worker = builder.clone().start();
    within_bound(async {
        let (clients, done) = load(&worker.api());
        in_the_middle(&done).await;
        worker.kill();
        clients.join_all().await;
        assert!(
            done.load(Ordering::Relaxed) < CLIENTS * REQUESTS,
            "some were lost"
        );
        assert_totals(&builder.start().api()).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_killed_in_the_middle_of_a_load_loses_and_doubles_nothing() {
    let mut redis = RedisServer::spawn(RedisOptions::default().append_only());
    let gateway = Gateway::spawn(&redis.url());
    let builder = Worker::builder().json("STORE_TIMEOUT_MS", json!(5_000));
    let worker = builder.store(&gateway.url()).start();
    within_bound(async {
        let (clients, done) = load(&worker.api());
        in_the_middle(&done).await;
        redis.restart();
        clients.join_all().await;
        until("the gateway has found Redis again", async || {
            (worker.api().get("/healthz").await.status == 200).then_some(())
        })
        .await;
        assert_totals(&worker.api()).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_flushed_again_and_again_in_the_middle_of_a_load_lose_and_double_nothing() {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let builder = Worker::builder().json("STORE_TIMEOUT_MS", json!(5_000));
    let worker = builder.store(&gateway.url()).start();
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
        assert_eq!(
            done.load(Ordering::Relaxed),
            CLIENTS * REQUESTS,
            "nobody noticed"
        );
        assert_totals(&worker.api()).await;
    })
    .await;
}
