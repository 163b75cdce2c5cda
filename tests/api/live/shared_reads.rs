//! One store read serves all streams of a board.

use std::time::{Duration, Instant};

use test_support::{Forwarder, Stream, until};

use super::{open, start};
use crate::app::TestApp;

const LIVE: &str = "/v1/ranking/day/live";

/// Measures the time from the next store request until a number of further ones.
async fn time_for(forwarder: &Forwarder, requests: usize) -> Duration {
    forwarder.reset();
    let reached = async |count| {
        until("a store request", async || {
            (forwarder.count() >= count).then_some(())
        })
        .await;
        Instant::now()
    };
    let first = reached(1).await;
    reached(1 + requests).await - first
}

/// Opens streams at once and reads the first board of each.
async fn open_many(app: &TestApp, count: usize, path: &str) -> Vec<Stream> {
    let open = (0..count).map(|_| open(app, path));
    let mut streams = futures::future::join_all(open).await;
    for stream in &mut streams {
        stream.event().await;
    }
    streams
}

/// Streams of any `limit` share the read, which is one request with one command per shard.
#[tokio::test]
async fn watchers_share_one_store_read_per_second() {
    let (app, forwarder) = start();
    app.count("42", "like", "p").await;
    let mut streams = Vec::new();
    for count in [1, 60] {
        for path in [LIVE, "/v1/ranking/day/live?limit=7"] {
            streams.extend(open_many(&app, count, path).await);
        }
        let elapsed = time_for(&forwarder, 4).await;
        // Less than 4 seconds only where the first request was noticed late.
        assert!(elapsed > Duration::from_secs(3), "{count}: {elapsed:?}");
    }
    for request in forwarder.requests() {
        let shards = test_support::shards() as usize;
        assert_eq!(
            request.commands().len(),
            shards,
            "one command for each shard"
        );
    }
}

#[tokio::test]
async fn simultaneous_watchers_share_first_read() {
    let (app, forwarder) = start();
    app.count("42", "like", "p").await;
    forwarder.reset();
    let started = Instant::now();
    let streams = open_many(&app, 80, LIVE).await;
    let seconds = usize::try_from(started.elapsed().as_secs()).expect("seconds");
    let requests = forwarder.count();
    assert!(requests <= 1 + seconds, "{requests} in {seconds} s");
    drop(streams);
}

#[tokio::test]
async fn store_reads_stop_after_last_watcher_leaves() {
    let (app, forwarder) = start();
    app.count("42", "like", "p").await;
    drop(open_many(&app, 5, LIVE).await);
    // The Worker notices a closed stream at its second write: the first one is lost silently.
    for target in ["q", "r"] {
        app.count("42", "like", target).await;
        time_for(&forwarder, 1).await;
    }
    let (mut count, mut since) = (0, Instant::now());
    until("3 seconds without a store request", async || {
        if forwarder.count() != count {
            (count, since) = (forwarder.count(), Instant::now());
        }
        (since.elapsed() > Duration::from_secs(3)).then_some(())
    })
    .await;
    // A stream opened afterwards starts with the current board.
    app.count("42", "like", "s").await;
    let mut stream = open(&app, LIVE).await;
    assert_eq!(stream.event().await.json()["entries"][0]["score"], 8);
}
