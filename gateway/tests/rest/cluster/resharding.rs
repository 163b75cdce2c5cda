//! Slots move from one primary to another while everything goes on.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use super::before;
use crate::support::{Cluster, Gateway};

const CLIENTS: usize = 16;
/// Users of each client; each has two keys in one slot.
const USERS: usize = 40;
/// As many as are moved: a quarter of those of the first primary.
const SLOTS: u16 = 1365;

/// Counts for a user, and keeps in a second key that it did: several keys in one slot, as scripts
/// of applications have them.
const COUNT: &str = "redis.call('HSET', KEYS[2], ARGV[1], 1) return redis.call('INCR', KEYS[1])";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_slots_move_nothing_is_lost_or_done_twice_and_no_answer_is_wrong() {
    let cluster = Arc::new(Cluster::start());
    let gateway = Arc::new(before(&cluster).await);
    let moved = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| tokio::spawn(count(Arc::clone(&gateway), Arc::clone(&moved), client)))
        .collect();
    let resharding = {
        let cluster = Arc::clone(&cluster);
        tokio::task::spawn_blocking(move || {
            cluster.reshard(0..SLOTS, 0, 1);
            // And back, so that a node gets back what it has just given away.
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
    let plain: i64 = cluster.run(0, &["CLUSTER", "COUNTKEYSINSLOT", "1000"]);
    assert_eq!(plain, 0, "slot 1000 is still where it was");
}

/// Counts, as often as there is time, once for each user in one pipeline. Every answer must be the
/// very next number.
async fn count(gateway: Arc<Gateway>, moved: Arc<AtomicBool>, client: usize) -> usize {
    let (status, loaded) = gateway.single(json!(["SCRIPT", "LOAD", COUNT])).await;
    assert_eq!(status, 200);
    let mut counts = [0; USERS];
    let mut rounds = 0;
    while !moved.load(Ordering::Relaxed) {
        rounds += 1;
        let commands: Vec<Value> = (0..USERS)
            .flat_map(|user| {
                let tag = format!("{{{client}:{user}}}");
                let run = json!([
                    "EVALSHA",
                    loaded["result"],
                    2,
                    tag,
                    format!("{tag}:seen"),
                    rounds
                ]);
                [run, json!(["GET", tag])]
            })
            .collect();
        let (status, slots) = gateway.pipeline(json!(commands)).await;
        assert_eq!(status, 200, "{slots}");
        let slots = slots.as_array().unwrap();
        assert_eq!(slots.len(), 2 * USERS);
        for (user, pair) in slots.chunks(2).enumerate() {
            counts[user] = counted(&gateway, client, user, counts[user], pair).await;
        }
    }
    for (user, count) in counts.into_iter().enumerate() {
        let tag = format!("{{{client}:{user}}}");
        let both = json!([["GET", tag], ["HLEN", format!("{tag}:seen")]]);
        let slots = json!([{ "result": count.to_string() }, { "result": count }]);
        assert_eq!(gateway.pipeline(both).await, (200, slots), "{tag}");
    }
    rounds
}

/// The count after one round. What was refused for good did not run: it goes again.
async fn counted(
    gateway: &Gateway,
    client: usize,
    user: usize,
    before: i64,
    pair: &[Value],
) -> i64 {
    let next = before + 1;
    if pair[0] == json!({ "result": next }) {
        // The second command may have been answered before a refused first one ran.
        let read = pair[1]["result"].as_str().unwrap_or_default();
        assert!(
            read == next.to_string() || read == before.to_string(),
            "{client}:{user} after {next}: {pair:?}"
        );
        return next;
    }
    let error = pair[0]["error"].as_str().unwrap_or_default();
    assert!(error.starts_with("TRYAGAIN"), "{client}:{user}: {pair:?}");
    tokio::time::sleep(Duration::from_millis(20)).await;
    let tag = format!("{{{client}:{user}}}");
    let (_, read) = gateway.single(json!(["GET", tag])).await;
    let expected = if before == 0 {
        Value::Null
    } else {
        json!(before.to_string())
    };
    assert_eq!(read, json!({ "result": expected }), "a refused command ran");
    before
}
