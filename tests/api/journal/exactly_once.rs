//! Failures and concurrency: no journal row is missing and none is written twice.

use std::ops::Range;

use futures::future::join_all;
use test_support::{Fault, Forwarder, Recorded, Value, gateway, json, shard_of, shards};

use super::{JournalApp, like, start, start_with};
use crate::bodies;

/// Reads the targets of the counted likes, in row order.
async fn targets(app: &JournalApp) -> Vec<String> {
    let rows = app.rows().await;
    let entries = rows.iter().map(|(_, _, entry)| &entry["mark"]);
    let records = entries.filter_map(Value::as_str);
    records
        .map(|record| record.trim_start_matches("like:").to_owned())
        .collect()
}

fn numbers(range: Range<usize>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

/// Sends likes on numbered targets.
async fn send(app: &JournalApp, range: Range<usize>) {
    for chunk in numbers(range).chunks(500) {
        let likes: Vec<Value> = chunk.iter().map(|target| like("a", target)).collect();
        app.send(json!(likes)).await;
    }
}

/// The rows are written, but the command that trims the outbox fails. The next drain finds the same
/// entries again.
#[tokio::test]
async fn failed_outbox_trim_duplicates_no_row() {
    let forwarder = Forwarder::to(&gateway().url());
    let mut app = start_with(|worker| worker.store(&forwarder.url()));
    let trims = |request: &Recorded| String::from_utf8_lossy(&request.body).contains("XDEL");
    let mut sent = 0;
    for fault in [
        Fault::CutBefore,
        Fault::CutAfter,
        Fault::PartialResponse,
        Fault::Respond(502, "Bad Gateway".to_owned()),
    ] {
        send(&app, sent..sent + 7).await;
        sent += 7;
        let injected = fault.clone();
        forwarder.fail(move |request| trims(request).then(|| injected.clone()));
        app.worker.minute().await;
        assert_eq!(targets(&app).await, numbers(0..sent), "{fault:?}");
        let response = app.get("/v1/journal").await;
        // Some faults cut the connection after the trim.
        let status = if app.outbox().is_empty() { 200 } else { 503 };
        assert_eq!(response.status, status, "{fault:?}");
        forwarder.heal();
        app.worker.minute().await;
        assert_eq!(targets(&app).await, numbers(0..sent), "{fault:?}");
        assert_eq!(app.outbox(), [""; 0]);
    }
}

/// A restored backup of Redis brings written entries back into the outbox.
#[tokio::test]
async fn restored_outbox_entries_are_not_written_again() {
    let mut app = start();
    send(&app, 0..20).await;
    let dump = app.dump_outbox();
    app.worker.minute().await;
    let rows = app.rows().await;
    assert_eq!((rows.len(), app.outbox().len()), (20, 0));
    app.restore_outbox(&dump);
    send(&app, 20..30).await;
    assert_eq!(app.outbox().len(), 30);
    app.worker.minute().await;
    let after = app.rows().await;
    assert_eq!(after[..20], rows);
    assert_eq!(targets(&app).await, numbers(0..30));
    assert_eq!(app.outbox(), [""; 0]);
}

/// Journal reads and cron drain the outbox at once, in several batches.
#[tokio::test]
async fn concurrent_drains_write_each_entry_once() {
    let mut app = start();
    send(&app, 0..2500).await;
    let reads = join_all((0..6).map(|_| app.get("/v1/journal?limit=5000")));
    let (reads, (), ()) = futures::join!(reads, app.worker.minute(), async {
        send(&app, 2500..3000).await
    });
    for response in reads {
        // A read returns at least the entries that preceded it.
        let entries = response.assert_status(200).body["entries"].as_array();
        assert!(entries.is_some_and(|entries| entries.len() >= 2500));
    }
    app.worker.minute().await;
    assert_eq!(targets(&app).await, numbers(0..3000));
    assert_eq!(app.outbox(), [""; 0]);
    assert_eq!(app.entries_after(2999).await.len(), 1);
}

#[tokio::test]
async fn database_outage_loses_no_entry() {
    let mut app = start();
    send(&app, 0..3).await;
    app.break_database().await;
    app.worker.minute().await;
    app.get("/v1/journal").await.assert_status(503);
    send(&app, 3..5).await;
    app.erase("unknown").await;
    assert_eq!(app.outbox().len(), 6);
    app.worker.logs("JOURNAL: ").await;
    app.repair_database().await;
    app.worker.minute().await;
    assert_eq!(targets(&app).await, numbers(0..5));
    assert_eq!(app.outbox(), [""; 0]);
}

/// With `shard`, a read drains and returns that shard only.
#[tokio::test]
async fn journal_keeps_order_within_each_shard() {
    let mut app = start();
    let user = |number: usize| format!("u{number}");
    for target in ["1", "2"] {
        let like = |number| bodies::like(&user(number), target);
        let likes: Vec<Value> = (0..60).map(like).collect();
        app.send(json!(likes)).await;
    }
    let entries = app.entries_after(0).await;
    assert_eq!(entries.len(), 120);
    for shard in 0..shards() {
        let on_shard = entries.iter().filter(|entry| entry["shard"] == shard);
        let on_shard: Vec<Value> = on_shard.cloned().collect();
        let found: Vec<_> = on_shard
            .iter()
            .map(|entry| (entry["user"].clone(), entry["mark"].clone()))
            .collect();
        let users = || (0..60).map(user).filter(|user| shard_of(user) == shard);
        let likes = |record: &'static str| users().map(move |user| (json!(user), json!(record)));
        let expected: Vec<_> = likes("like:1").chain(likes("like:2")).collect();
        assert_eq!(found, expected, "shard {shard}");
        let body = app.read(&format!("/v1/journal?shard={shard}")).await;
        assert_eq!(body["entries"], json!(on_shard));
        let outbox = app.store.key_on(shard, "o");
        assert_eq!(app.store.run::<i64>("XLEN", &[&outbox]), 0);
    }
    app.send(like("a", "3")).await;
    let home = shard_of("42");
    let outbox = app.store.key_on(home, "o");
    for (shard, found, left) in [((home + 1) % 64, 0, 1), (home, 1, 0)] {
        let path = format!("/v1/journal?shard={shard}&after={}", entries.len());
        let body = app.read(&path).await;
        let entries = body["entries"].as_array();
        assert_eq!(entries.map(Vec::len), Some(found), "{body}");
        assert_eq!(body["next"], Value::Null);
        assert_eq!(app.store.run::<i64>("XLEN", &[&outbox]), left);
    }
}

/// A store that cannot send so many entries at once.
#[tokio::test]
async fn outbox_batch_is_halved_after_a_failure() {
    let forwarder = Forwarder::to(&gateway().url());
    let mut app = start_with(|worker| worker.store(&forwarder.url()));
    send(&app, 0..600).await;
    forwarder.fail(|request| {
        let reads = String::from_utf8_lossy(&request.body).contains("XRANGE");
        let large = ["1000", "500"].map(|count| format!("\"{count}\""));
        let is_large = large
            .iter()
            .any(|count| String::from_utf8_lossy(&request.body).contains(count));
        (reads && is_large).then(|| Fault::Respond(502, "Bad Gateway".to_owned()))
    });
    app.worker.minute().await;
    assert_eq!(targets(&app).await, numbers(0..600));
    assert_eq!(app.outbox(), [""; 0]);
}

/// The free plan allows 50 requests and queries.
#[tokio::test]
async fn cron_moves_20_000_entries_within_50_requests() {
    let mut app = start();
    let outbox = app.store.key("o");
    let fill = "for i = 1, 20000 do redis.call('XADD', KEYS[1], '*', 'did', 'x') end";
    app.store.run::<()>("EVAL", &[fill, "1", &outbox]);
    let cost = app.worker.metered_minute().await;
    assert_eq!(app.outbox(), [""; 0]);
    assert_eq!(app.rows().await.len(), 20_000);
    assert!(cost.subrequests <= 50, "{cost:?}");
    assert!(cost.queries <= 50, "{cost:?}");
}
