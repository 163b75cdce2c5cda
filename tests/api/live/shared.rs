//! One asks for all.

use std::time::{Duration, Instant};

use test_support::{Forwarder, Stream, until};

use super::{start, watch};
use crate::site::Site;

/// How long so many requests to the store take, one of them just made.
async fn pace(forwarder: &Forwarder, requests: usize) -> Duration {
    forwarder.reset();
    let made = async |count| {
        until("a request", async || {
            (forwarder.count() >= count).then_some(())
        })
        .await;
        Instant::now()
    };
    let first = made(1).await;
    made(1 + requests).await - first
}

async fn watchers(site: &Site, count: usize, path: &str) -> Vec<Stream> {
    let open = (0..count).map(|_| watch(site, path));
    let mut streams = futures::future::join_all(open).await;
    for stream in &mut streams {
        stream.event().await;
    }
    streams
}

#[tokio::test]
async fn however_many_watch_a_board_the_store_is_asked_once_a_second() {
    let (site, forwarder) = start();
    site.count("42", "like", "p").await;
    let mut streams = Vec::new();
    for more in [1, 60] {
        streams.extend(watchers(&site, more, "/v1/ranking/day/live").await);
        // Of other lengths too.
        streams.extend(watchers(&site, more, "/v1/ranking/day/live?limit=7").await);
        let took = pace(&forwarder, 4).await;
        // Less than four only where the first was noticed late.
        assert!(took > Duration::from_secs(3), "{more} more: {took:?}");
    }
    for request in forwarder.requests() {
        let shards = test_support::shards() as usize;
        assert_eq!(
            request.commands().len(),
            shards,
            "one question to each shard"
        );
    }
}

#[tokio::test]
async fn many_who_come_at_once_cost_one_request() {
    let (site, forwarder) = start();
    site.count("42", "like", "p").await;
    forwarder.reset();
    let asked = Instant::now();
    let streams = watchers(&site, 80, "/v1/ranking/day/live").await;
    let seconds = usize::try_from(asked.elapsed().as_secs()).expect("seconds");
    assert!(
        forwarder.count() <= 1 + seconds,
        "{} in {seconds} s",
        forwarder.count()
    );
    drop(streams);
}

#[tokio::test]
async fn when_nobody_watches_any_more_nobody_asks() {
    let (site, forwarder) = start();
    site.count("42", "like", "p").await;
    let streams = watchers(&site, 5, "/v1/ranking/day/live").await;
    drop(streams);
    // Two changes: what is written first to who has gone is lost without a word.
    for target in ["q", "r"] {
        site.count("42", "like", target).await;
        pace(&forwarder, 1).await;
    }
    let (mut seen, mut since) = (0, Instant::now());
    until("silence", async || {
        if forwarder.count() != seen {
            (seen, since) = (forwarder.count(), Instant::now());
        }
        (since.elapsed() > Duration::from_secs(3)).then_some(())
    })
    .await;
    // And who comes then finds it as it is.
    site.count("42", "like", "s").await;
    let mut stream = watch(&site, "/v1/ranking/day/live").await;
    assert_eq!(stream.event().await.json()["entries"][0]["score"], 8);
}
