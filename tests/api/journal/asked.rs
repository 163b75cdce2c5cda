//! What is asked of it, and by whom.

use test_support::{Api, Value, json, peer, shards};

use super::{Journalled, like, start};
use crate::client::Client;
use crate::clock::noon_zone;
use crate::site::Site;
use crate::token::sign::{SECRET, claims, hs256};

#[tokio::test]
async fn it_is_read_page_by_page_to_its_end() {
    let site = start(|worker| worker.json("KEEP_DAYS", json!({"day": 2, "marks": 5})));
    let empty = site.client.get("/v1/journal").await;
    empty.assert(
        200,
        json!({"prefix": site.wrangler.prefix(), "keep": {"boards": {"day": 2 * 86_400, "week": 91 * 86_400, "month": 366 * 86_400,
            "year": 731 * 86_400, "all": null}, "histories": 62 * 86_400, "marks": 5 * 86_400,
            "undos": 62 * 86_400},
            "stamp": format!("v2 shards={} decimals=0 timezone={}", shards(), noon_zone()), "entries": [], "next": null}),
    );
    assert_eq!(empty.header("cache-control"), Some("no-store"));
    let likes: Vec<Value> = (0..5).map(|n| like("a", &n.to_string())).collect();
    site.send(json!(likes)).await;
    let (mut after, mut pages, mut marks) = (json!(0), Vec::new(), Vec::new());
    while !after.is_null() {
        let path = format!("/v1/journal?limit=2&after={after}");
        let answer = site.client.get(&path).await;
        let entries = answer.assert_status(200).body["entries"].as_array();
        let entries = entries.expect("entries");
        pages.push(entries.len());
        marks.extend(entries.iter().map(|entry| entry["mark"].clone()));
        let last = entries.last().map(|entry| &entry["n"]);
        after = answer.body["next"].clone();
        assert!(after.is_null() || Some(&after) == last, "{}", answer.text);
    }
    assert_eq!(pages, [2, 2, 1]);
    assert_eq!(marks, ["like:0", "like:1", "like:2", "like:3", "like:4"]);
    let after = site.client.get("/v1/journal?after=4294967295").await;
    assert_eq!(after.body["entries"], json!([]));
    let head = site.client.head("/v1/journal").await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
}

#[tokio::test]
async fn whoever_may_moderate_may_read_it() {
    let keys = "full,activity:a,profiles:p,admin:d,activity+profiles:ap";
    let site = Site::with(|worker| worker.var("SERVICE_KEYS", keys).var("JWT_SECRET", SECRET));
    let client = |key: &str| Client::new(Api::new(site.url()).with_key(key));
    let member = hs256(&claims("42"));
    // Here none is kept.
    for (key, status) in [
        ("full", 404),
        ("d", 404),
        ("a", 403),
        ("p", 403),
        ("ap", 403),
        (member.as_str(), 403),
        ("nobody's", 401),
    ] {
        let answer = client(key).get("/v1/journal").await;
        answer.assert_status(status);
    }
}

#[tokio::test]
async fn where_none_is_kept_there_is_nothing_to_read_and_nothing_waits() {
    let site = Site::start();
    let path = |what: &str| format!("/v1/users/{}{what}", peer("a"));
    let detail = "This deployment keeps no journal: JOURNAL is not bound.";
    site.get("/v1/journal").await.assert(
        404,
        json!({"type": "/problems/not-found", "title": "There is nothing here", "status": 404,
            "detail": detail}),
    );
    site.outcome(like("a", "1"), "counted").await;
    site.outcome(super::taken_back(like("a", "1")), "undone")
        .await;
    site.put(&path(""), &json!({"name": "Ada"}))
        .await
        .assert_status(200);
    let verdict = json!({"hidden": true, "frozen": false, "reason": "r"});
    site.put(&path("/moderation"), &verdict)
        .await
        .assert_status(200);
    let adjustment = json!({"id": "1", "points": 5, "reason": "r"});
    let adjusted = site.post(&path("/adjustments"), &adjustment).await;
    adjusted.assert_status(200);
    site.delete(&path("")).await.assert_status(204);
    let keys = site.store().keys();
    assert!(!keys.contains(&"o".to_owned()), "{keys:?}");
    // There is no queue either, from which anything could come later.
    assert!(!keys.contains(&"e".to_owned()), "{keys:?}");
}

#[tokio::test]
async fn health_tells_what_is_bound_and_when_too_much_waits() {
    let mut site: Journalled = start(|worker| worker.archive().queued(100));
    let health = site.client.get("/healthz").await;
    let bound = &health.body["configured"]["bound"];
    assert_eq!(bound, &json!(["queue", "archive", "journal", "snapshots"]));
    assert_eq!(health.body["warnings"], json!([]));
    let outbox = site.store.key("o");
    let fill = "for i = 1, 100000 do redis.call('XADD', KEYS[1], '*', 'did', 'x') end";
    site.store.run::<()>("EVAL", &[fill, "1", &outbox]);
    let health = site.client.get("/healthz").await;
    assert_eq!(health.body["warnings"], json!([]));
    site.store
        .run::<String>("XADD", &[&outbox, "*", "did", "x"]);
    let health = site.client.get("/healthz").await;
    assert_eq!(health.status, 200);
    let warning = "More than 100,000 entries wait for the journal: is its cron running, and its database there?";
    assert_eq!(health.body["warnings"], json!([warning]));
}
