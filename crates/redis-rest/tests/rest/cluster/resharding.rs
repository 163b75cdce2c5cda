//! Slots move between primaries under load.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use super::gateway_for;
use crate::support::{Cluster, Gateway};

const CLIENTS: usize = 16;
/// Users per client. Each has two keys in one slot.
const USERS: usize = 40;
/// The number of slots to move: a quarter of the first primary's slots.
const SLOTS: u16 = 1365;

/// Counts an activity of a user and records it in a second key, because scripts of applications also
/// use several keys in one slot.
const COUNT: &str = "redis.call('HSET', KEYS[2], ARGV[1], 1) return redis.call('INCR', KEYS[1])";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resharding_loses_and_repeats_nothing() {
    let cluster = Arc::new(Cluster::start_without_failover());
    let gateway = Arc::new(gateway_for(&cluster).await);
    let moved = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| tokio::spawn(count(Arc::clone(&gateway), Arc::clone(&moved), client)))
        .collect();
    let resharding = {
        let cluster = Arc::clone(&cluster);
        tokio::task::spawn_blocking(move || {
            cluster.reshard(0..SLOTS, 0, 1);
            // Moves some slots back to the node that just gave them away.
            cluster.reshard(0..SLOTS / 4, 1, 0);
        })
    };
    resharding.await.unwrap();
    moved.store(true, Ordering::Relaxed);
    let mut rounds = 0;
    for client in clients {
        rounds += client.await.unwrap();
    }
    assert!(rounds > CLIENTS, "no client counted while slots moved");
    let keys: i64 = cluster.run(0, &["CLUSTER", "COUNTKEYSINSLOT", "1000"]);
    assert_eq!(keys, 0, "slot 1000 was not moved");
}

/// Counts one activity per user in each pipeline until `moved` is set. Every result must be the next
/// number. Returns the number of pipelines.
async fn count(gateway: Arc<Gateway>, moved: Arc<AtomicBool>, client: usize) -> usize {
    let (status, loaded) = gateway.single(json!(["SCRIPT", "LOAD", COUNT])).await;
    assert_eq!(status, 200);
    let mut counts = [0; USERS];
    let mut rounds = 0;
    while !moved.load(Ordering::Relaxed) {
        rounds += 1;
        let commands = (0..USERS).flat_map(|user| {
            let tag = format!("{{{client}:{user}}}");
            let (sha, seen) = (&loaded["result"], format!("{tag}:seen"));
            let run = json!(["EVALSHA", sha, 2, tag, seen, rounds]);
            [run, json!(["GET", tag])]
        });
        let (status, results) = gateway.pipeline(commands.collect()).await;
        assert_eq!(status, 200, "{results}");
        let results = results.as_array().unwrap();
        assert_eq!(results.len(), 2 * USERS);
        for (user, pair) in results.chunks(2).enumerate() {
            counts[user] = check_count(&gateway, client, user, counts[user], pair).await;
        }
    }
    for (user, count) in counts.into_iter().enumerate() {
        let tag = format!("{{{client}:{user}}}");
        let both = json!([["GET", tag], ["HLEN", format!("{tag}:seen")]]);
        let results = json!([{ "result": count.to_string() }, { "result": count }]);
        responds!(gateway.pipeline(both) => (200, results));
    }
    rounds
}

/// Returns the count of a user after one pipeline. A command that failed with TRYAGAIN must not have
/// run.
async fn check_count(
    gateway: &Gateway,
    client: usize,
    user: usize,
    before: i64,
    pair: &[Value],
) -> i64 {
    let next = before + 1;
    if pair[0] == json!({ "result": next }) {
        // GET may have run before the retry of a rejected EVALSHA.
        let read = pair[1]["result"].as_str().unwrap_or_default();
        let is_known = read == next.to_string() || read == before.to_string();
        assert!(is_known, "{client}:{user} after {next}: {pair:?}");
        return next;
    }
    let error = pair[0]["error"].as_str().unwrap_or_default();
    assert!(error.starts_with("TRYAGAIN"), "{client}:{user}: {pair:?}");
    tokio::time::sleep(Duration::from_millis(20)).await;
    let tag = format!("{{{client}:{user}}}");
    let (_, read) = gateway.single(json!(["GET", tag])).await;
    let expected = match before {
        0 => Value::Null,
        _ => json!(before.to_string()),
    };
    let expected = json!({ "result": expected });
    assert_eq!(read, expected, "a rejected command ran");
    before
}
