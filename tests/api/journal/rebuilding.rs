//! While a rebuild holds the site: to those who write or read it is as if the store were down.

use test_support::{Answer, Method, Value, json, peer, shards, until};

use super::{like, start, taken_back};
use crate::client::Client;
use crate::site::Site;
use crate::store::Store;

/// Puts a stamp on every shard.
fn stamp(store: &mut Store, stamp: &str) {
    for shard in 0..shards() {
        let key = store.key_on(shard, "s");
        store.run::<()>("SET", &[&key, stamp]);
    }
}

fn path(what: &str) -> String {
    format!("/v1/users/{}{what}", peer("a"))
}

fn is_unavailable(answer: &Answer) {
    let told = (answer.status, &answer.body["type"]);
    let expected = (503, &json!("/problems/store-unavailable"));
    assert_eq!(told, expected, "{}: {}", answer.request, answer.text);
    assert!(answer.header("retry-after").is_some());
}

#[tokio::test]
async fn activity_waits_in_the_queue_boards_are_stale_and_the_journal_goes_on() {
    let mut site = start(|worker| worker.archive().queued(100).var("BOARD_MAX_AGE", "1"));
    site.send(like("a", "1")).await;
    let key = site.store.key("s");
    let settings: String = site.store.run("GET", &[&key]);
    site.wrangler.tick().await;
    site.send(like("a", "2")).await;
    let held = format!("rebuilding {settings}");
    stamp(&mut site.store, &held);
    let before = site.store.snapshot();

    let queued = json!({"outcome": "queued", "points": 0});
    let answer = site.client.post("/v1/activity", &like("a", "3")).await;
    answer.assert(202, queued.clone());
    let array = json!([taken_back(like("a", "1"))]);
    let answer = site.client.post("/v1/activity", &array).await;
    answer.assert(200, json!({"results": [queued]}));
    let verdict = json!({"hidden": true, "frozen": false, "reason": "r"});
    is_unavailable(&site.client.put(&path("/moderation"), &verdict).await);
    is_unavailable(&site.client.put(&path(""), &json!({"name": "Ada"})).await);
    is_unavailable(&site.client.delete(&path("")).await);
    is_unavailable(&site.client.get(&path("")).await);
    let board = site.client.get("/v1/ranking/all").await;
    assert_eq!(board.assert_status(200).body["stale"], json!(true));
    let health = site.client.get("/healthz").await;
    let told = (health.status, &health.body["status"]);
    assert_eq!(told, (503, &json!("store-unavailable")));
    assert!(site.store.snapshot() == before);

    assert_eq!(site.after(0).await.len(), 2);
    assert_eq!(site.waiting(), [""; 0]);
    // Where nothing was stamped before, there is nothing behind the word.
    stamp(&mut site.store, "rebuilding ");
    assert_eq!(site.after(0).await.len(), 2);
    is_unavailable(&site.client.get(&path("")).await);

    stamp(&mut site.store, &settings);
    let mut did = until("what waited", async || {
        let entries = site.after(0).await;
        let did = entries.iter().filter_map(|entry| entry["did"].as_str());
        let did: Vec<String> = did.map(str::to_owned).collect();
        (did.len() == 4).then_some(did)
    })
    .await;
    did[2..].sort_unstable();
    assert_eq!(did, ["count", "count", "count", "undo"]);
}

#[tokio::test]
async fn without_a_queue_writers_are_told_to_try_again() {
    let site = Site::start();
    site.count(&peer("a"), "like", "1").await;
    let mut store = site.store();
    let key = store.key("s");
    let settings: String = store.run("GET", &[&key]);
    stamp(&mut store, &format!("rebuilding {settings}"));
    let before = store.snapshot();
    let client: &Client = &site;
    let json = [("content-type", "application/json")];
    for (method, path, body) in crate::misconfigured::REQUESTS {
        if !path.starts_with("/v1") || method == Method::HEAD {
            continue;
        }
        is_unavailable(&client.send(method, path, body, &json).await);
    }
    assert!(store.snapshot() == before);
    stamp(&mut store, &settings);
    site.count(&peer("a"), "like", "2").await;

    // Of other settings it is told as ever.
    let others = "rebuilding v2 shards=1 decimals=2 timezone=UTC";
    stamp(&mut store, others);
    let other: Value = site.get(&path("")).await.assert_status(500).body.clone();
    assert_eq!(other["type"], "/problems/misconfigured");
}
