//! Pages, scopes and health of the journal.

use test_support::{Value, json, peer, shards};

use super::{like, start_with};
use crate::app::TestApp;
use crate::bodies::undo;
use crate::clock::noon_zone;
use crate::healthz::with_setup;
use crate::problem::problem;

#[tokio::test]
async fn journal_is_paginated_to_its_end() {
    let app = start_with(|worker| worker.json("KEEP_DAYS", json!({"day": 2, "marks": 5})));
    let empty = app.get("/v1/journal").await;
    let day = 86_400;
    empty.assert(
        200,
        json!({
            "prefix": app.worker.prefix(),
            "keep": {
                "boards": {"day": 2 * day, "week": 91 * day, "month": 366 * day, "year": 731 * day, "all": null},
                "histories": 62 * day, "marks": 6 * day, "undos": 62 * day,
            },
            "stamp": format!("v4 shards={} decimals=0 timezone={}", shards(), noon_zone()),
            "entries": [],
            "next": null,
        }),
    );
    assert_eq!(empty.header("cache-control"), Some("no-store"));
    let likes: Vec<Value> = (0..5).map(|n| like("a", &n.to_string())).collect();
    app.send(json!(likes)).await;
    let (mut after, mut pages, mut records) = (json!(0), Vec::new(), Vec::new());
    while !after.is_null() {
        let path = format!("/v1/journal?limit=2&after={after}");
        let response = app.get(&path).await;
        let entries = response.assert_status(200).body["entries"].as_array();
        let entries = entries.expect("entries");
        pages.push(entries.len());
        records.extend(entries.iter().map(|entry| entry["mark"].clone()));
        let last = entries.last().map(|entry| &entry["n"]);
        after = response.body["next"].clone();
        assert!(after.is_null() || Some(&after) == last, "{}", response.text);
    }
    assert_eq!(pages, [2, 2, 1]);
    assert_eq!(records, ["like:0", "like:1", "like:2", "like:3", "like:4"]);
    let beyond = app.get("/v1/journal?after=4294967295").await;
    assert_eq!(beyond.body["entries"], json!([]));
    let head = app.head("/v1/journal").await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
}

/// It writes no tombstones either: without a queue, no older activity can arrive.
#[tokio::test]
async fn service_without_journal_writes_no_outbox() {
    let app = TestApp::start();
    let detail = "This deployment keeps no journal: JOURNAL is not bound.";
    let response = app.get("/v1/journal").await;
    response.assert(404, problem("not-found", detail));
    app.counted(like("a", "1")).await;
    app.outcome(undo(like("a", "1")), "undone").await;
    let user = &peer("a");
    app.set_name(user, "Ada").await;
    app.moderate(user, true, false).await;
    let adjustment = json!({"id": "1", "points": 5, "reason": "r"});
    app.adjust(user, &adjustment).await.assert_status(200);
    app.erase(user).await;
    let keys = app.store().keys();
    for key in ["o", "e"] {
        assert!(!keys.contains(&key.to_owned()), "{keys:?}");
    }
}

/// The warning starts above three quarters of what a run of cron moves on the free plan.
#[tokio::test]
async fn healthz_lists_bindings_and_warns_of_large_outbox() {
    let mut app = start_with(|worker| worker.archive().queued(100));
    let health = app.read("/healthz").await;
    let bound = &health["configured"]["bound"];
    assert_eq!(bound, &json!(["queue", "archive", "journal", "snapshots"]));
    assert_eq!(health["warnings"], with_setup(&[]));
    let outbox = app.store.key("o");
    let fill = "for i = 1, 15000 do redis.call('XADD', KEYS[1], '*', 'did', 'x') end";
    app.store.run::<()>("EVAL", &[fill, "1", &outbox]);
    assert_eq!(app.read("/healthz").await["warnings"], with_setup(&[]));
    let entry = [&*outbox, "*", "did", "x"];
    app.store.run::<String>("XADD", &entry);
    let warning = "More than 15000 entries wait in the outbox of the journal, and each minute moves at most 20000. Check its cron trigger and its database; on the paid plan, raise CRON_BUDGET.";
    let health = app.read("/healthz").await;
    assert_eq!(health["warnings"], with_setup(&[warning]));
}
