//! One store read serves all streams of a board.

use std::time::Instant;

use test_support::{Stream, until};

use super::{board_reads, open, start, until_quiet};
use crate::app::TestApp;

const LIVE: &str = "/v1/ranking/day/live";

/// Opens streams at once and reads the first board of each.
async fn open_many(app: &TestApp, count: usize, path: &str) -> Vec<Stream> {
    let open = (0..count).map(|_| open(app, path));
    let mut streams = futures::future::join_all(open).await;
    for stream in &mut streams {
        stream.event().await;
    }
    streams
}

/// Streams of any `limit` share the read, which is one request with one command per shard, at most
/// once a second while the board changes.
#[tokio::test]
async fn watchers_share_one_store_read_per_second() {
    let (app, forwarder) = start();
    app.count("42", "like", "p").await;
    let mut streams = Vec::new();
    for count in [1, 60] {
        for path in [LIVE, "/v1/ranking/day/live?limit=7"] {
            streams.extend(open_many(&app, count, path).await);
        }
        until_quiet(&forwarder).await;
        forwarder.reset();
        let (started, mut target) = (Instant::now(), 0);
        let reads = until("three reads of a changing board", async || {
            app.count("42", "like", &format!("{count}-{target}")).await;
            target += 1;
            let reads = board_reads(&forwarder);
            (reads.len() >= 3).then_some(reads)
        })
        .await;
        // The first and the last second may be partial.
        let seconds = usize::try_from(started.elapsed().as_secs()).expect("seconds");
        assert!(reads.len() <= 2 + seconds, "{} in {seconds} s", reads.len());
        let shards = test_support::shards() as usize;
        for read in reads {
            assert_eq!(read.commands().len(), shards, "one command for each shard");
        }
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
    let reads = board_reads(&forwarder).len();
    assert!(reads <= 1 + seconds, "{reads} in {seconds} s");
    drop(streams);
}

/// The object also removes its registration: later activity does not wake it.
#[tokio::test]
async fn store_reads_stop_after_last_watcher_leaves() {
    let (app, forwarder) = start();
    app.count("42", "like", "p").await;
    let streams = open_many(&app, 5, LIVE).await;
    let mut store = app.store();
    let users = store.key("p");
    let mut is_registered = || {
        let watched: Option<String> = store.run("HGET", &[&users, "\t#"]);
        watched.is_some()
    };
    until("the registration", async || is_registered().then_some(())).await;
    drop(streams);
    let mut target = 0;
    // The Worker notices a closed stream at its second write: the first one is lost silently.
    until("the end of the registration", async || {
        target += 1;
        app.count("42", "like", &format!("q{target}")).await;
        (!is_registered()).then_some(())
    })
    .await;
    until_quiet(&forwarder).await;
    forwarder.reset();
    app.count("42", "like", "r").await;
    until_quiet(&forwarder).await;
    assert_eq!(board_reads(&forwarder).len(), 0);
    // A stream opened afterwards starts with the current board.
    app.count("42", "like", "s").await;
    let mut stream = open(&app, LIVE).await;
    let score = 2 * (target + 3);
    assert_eq!(stream.event().await.json()["entries"][0]["score"], score);
}
