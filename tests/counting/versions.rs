//! Published rules, counted by several Workers with caches of their own.

use crate::comparison::LAG;
use crate::requests::{ACTIVITY, at, like, outcomes};
use crate::variable;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use test_support::reference::{Store, StoredRecord, now, rfc3339};
use test_support::{Answer, Api, Value, Worker, depth, json, redis, scaled, until};
use tokio::task::JoinSet;

/// Activities of one request.
const ITEMS: u64 = 10;
/// Requests at the same time.
const CLIENTS: u64 = 4;
/// Returns the milliseconds from a publication until it holds: it must have reached every shard before.
fn lead() -> i64 {
    scaled(Duration::from_secs(3)).as_millis() as i64
}

/// Publishes a version that gives other points than the one before. Returns its beginning.
async fn publish(api: &Api, points: u64) -> i64 {
    let from = now() + lead();
    let body = json!({
        "from": rfc3339(from), "rules": { "like": { "points": points } }, "reason": "A test",
    });
    let response: Answer = api.post("/v1/rules", &body).await;
    response.assert_status(200);
    assert!(now() < from, "the publication took too long");
    from
}

/// While two Workers count `STEPS` activities of now and of the last seconds, versions begin that a third one has published.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_count_by_version_of_each_instant() {
    let steps = variable("STEPS", depth(2_000, 10_000));
    let builder = Worker::builder().json("RULES", json!({ "like": { "points": 1 } }));
    let publisher = builder.clone().ahead(-LAG).start();
    let second = builder.clone().start();
    let first = builder.start();
    let prefix = first.prefix().to_owned();
    let (begin, sent) = (now(), Arc::new(AtomicU64::new(0)));
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let workers = [first.api(), second.api()];
        let sent = Arc::clone(&sent);
        clients.spawn(async move {
            // Versions begin until the end.
            while sent.fetch_add(ITEMS, Ordering::Relaxed) < steps || now() < begin + 3 * lead() {
                let number = sent.load(Ordering::Relaxed);
                let user = format!("u{}", number % 97);
                let items = (0..ITEMS).map(|item| {
                    let activity = like(&user, &format!("p{client}-{number}-{item}"));
                    match item % 3 {
                        0 => at(&activity, &rfc3339(now() - 700 * item as i64)),
                        _ => activity,
                    }
                });
                let items: Value = items.collect();
                let worker = &workers[(number / ITEMS) as usize % 2];
                let response = worker.post(ACTIVITY, &items).await;
                assert_eq!(outcomes(&response), ["counted"; ITEMS as usize]);
            }
        });
    }
    let mut versions = BTreeMap::new();
    while sent.load(Ordering::Relaxed) < steps || now() < begin + 2 * lead() {
        let points = 2 + versions.len() as u64;
        let from = publish(&publisher.api(), points).await;
        versions.insert(from, points as i64);
        until("the next publication", async || {
            (now() > from - lead() + 250).then_some(())
        })
        .await;
    }
    clients.join_all().await;
    let mut store = Store::new(redis(), &prefix);
    let mut counted: BTreeMap<i64, usize> = BTreeMap::new();
    for key in store.keys("m:") {
        for (field, text) in store.hash(&key) {
            if field == "\t" {
                continue;
            }
            let record = StoredRecord::parse(&text);
            let version = versions.range(..=record.at).next_back();
            let points = version.map_or(1, |(_, points)| *points);
            assert_eq!(
                record.amounts,
                [points],
                "{key} {field} {text} {versions:?}"
            );
            *counted.entry(points).or_default() += 1;
        }
    }
    let sum: usize = counted.values().sum();
    assert!(sum as u64 >= steps, "{counted:?}");
    // Versions began while they counted.
    assert!(counted.len() > 4, "{counted:?}");
    println!("{sum} activities by {} versions", counted.len());
}
