//! Requests during a rebuild, which write-locks the store: callers see a store outage.

use test_support::{Answer, Method, json, peer, shards, until};

use super::{like, start_with};
use crate::app::TestApp;
use crate::bodies::{moderation, undo};
use crate::client::JSON;
use crate::misconfigured::REQUESTS;
use crate::problem::assert_problem;
use crate::store::{FINGERPRINT, Store};

/// Writes a schema fingerprint to every shard.
fn set_fingerprint(store: &mut Store, fingerprint: &str) {
    for shard in 0..shards() {
        let key = store.key_on(shard, "p");
        store.run::<()>("HSET", &[&key, FINGERPRINT, fingerprint]);
    }
}

/// Write-locks every shard. Returns the fingerprint that [`set_fingerprint`] restores.
fn lock(store: &mut Store) -> String {
    let key = store.key("p");
    let fingerprint: String = store.run("HGET", &[&key, FINGERPRINT]);
    set_fingerprint(store, &format!("rebuilding {fingerprint}"));
    fingerprint
}

fn path(route: &str) -> String {
    format!("/v1/users/{}{route}", peer("a"))
}

#[track_caller]
fn assert_unavailable(response: &Answer) {
    assert_problem(response, "store-unavailable");
    assert!(response.header("retry-after").is_some());
}

/// The journal stays readable. Queued activity is counted after the rebuild.
#[tokio::test]
async fn rebuild_queues_activity_and_serves_stale_boards() {
    let mut app = start_with(|worker| worker.archive().queued(100).var("BOARD_MAX_AGE", "1"));
    app.send(like("a", "1")).await;
    app.miniflare.tick().await;
    app.send(like("a", "2")).await;
    let fingerprint = lock(&mut app.store);
    let before = app.store.snapshot();

    let queued = json!({"outcome": "queued", "points": 0});
    let response = app.send_activity(like("a", "3")).await;
    response.assert(202, queued.clone());
    let array = json!([undo(like("a", "1"))]);
    app.assert_activity(array, json!({"results": [queued]}))
        .await;
    let state = moderation(true, false);
    assert_unavailable(&app.client.put(&path("/moderation"), &state).await);
    assert_unavailable(&app.client.put(&path(""), &json!({"name": "Ada"})).await);
    assert_unavailable(&app.delete(&path("")).await);
    assert_unavailable(&app.get(&path("")).await);
    assert_eq!(app.read("/v1/ranking/all").await["stale"], true);
    let health = app.get("/healthz").await;
    assert_eq!(
        health.assert_status(503).body["status"],
        "store-unavailable"
    );
    assert!(app.store.snapshot() == before);

    assert_eq!(app.entries_after(0).await.len(), 2);
    assert_eq!(app.outbox(), [""; 0]);
    // The rebuild of an empty store locks it without a fingerprint.
    set_fingerprint(&mut app.store, "rebuilding ");
    assert_eq!(app.entries_after(0).await.len(), 2);
    assert_unavailable(&app.get(&path("")).await);

    set_fingerprint(&mut app.store, &fingerprint);
    let mut operations = until("the queued activity", async || {
        let entries = app.entries_after(0).await;
        let operations = entries.iter().filter_map(|entry| entry["did"].as_str());
        let operations: Vec<String> = operations.map(str::to_owned).collect();
        (operations.len() == 4).then_some(operations)
    })
    .await;
    operations[2..].sort_unstable();
    assert_eq!(operations, ["count", "count", "count", "undo"]);
}

/// A lock with the fingerprint of other settings is reported as a schema mismatch.
#[tokio::test]
async fn rebuild_without_queue_returns_503() {
    let app = TestApp::start();
    app.count(&peer("a"), "like", "1").await;
    let mut store = app.store();
    let fingerprint = lock(&mut store);
    let before = store.snapshot();
    for (method, path, body) in REQUESTS {
        if path.starts_with("/v1") && method != Method::HEAD {
            assert_unavailable(&app.send(method, path, body, JSON).await);
        }
    }
    assert!(store.snapshot() == before);
    set_fingerprint(&mut store, &fingerprint);
    app.count(&peer("a"), "like", "2").await;

    set_fingerprint(
        &mut store,
        "rebuilding v4 generation=1 shards=1 decimals=2 timezone=UTC",
    );
    assert_problem(&app.get(&path("")).await, "misconfigured");
}
