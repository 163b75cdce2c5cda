//! The schema fingerprint in Redis protects live data from changed settings.

use test_support::{Method, json, shard_among};

use crate::app::TestApp;
use crate::bodies::like;
use crate::client::JSON;
use crate::clock::noon_zone;
use crate::misconfigured::{REQUESTS, assert_misconfigured, store_requests};

#[tokio::test]
async fn changed_setting_on_live_data_is_rejected() {
    let app = TestApp::start();
    app.count("42", "like", "p").await;
    app.set_name("42", "Kim").await;
    let before = app.store().snapshot();
    let zone = noon_zone();
    let other_zone = if zone == "UTC" {
        "Asia/Shanghai"
    } else {
        "UTC"
    };
    let cases = [
        ("POINT_DECIMALS", "2", "0"),
        ("POINT_DECIMALS", "1", "0"),
        ("ORDER_BITS", "20", "30"),
        ("TIMEZONE", other_zone, zone),
    ];
    for (name, configured, stored) in cases {
        let prefix = app.prefix();
        let other = TestApp::with(|worker| worker.var("PREFIX", prefix).var(name, configured));
        let detail = format!(
            "{name}: is {configured}, but the data under PREFIX {prefix} was written with {stored}; \
             set {name} back to {stored}, or choose another PREFIX to start anew"
        );
        assert_misconfigured(&other, store_requests(), &detail).await;
        assert!(app.store().snapshot() == before, "{name} changed something");
    }
    // The original settings still work.
    app.count("42", "like", "q").await;
}

/// The lines of pending changes follow the settings.
#[tokio::test]
async fn changed_setting_is_named_during_pending_change() {
    let app = TestApp::start();
    app.count("42", "like", "p").await;
    let (mut store, prefix) = (app.store(), app.prefix());
    let users = store.key_of("42", "p");
    let stored = store.run::<String>("HGET", &[&users, "\t"]);
    store.run::<i64>(
        "HSET",
        &[&users, "\t", &format!("{stored}\nh 17 order_bits=20")],
    );
    let other = TestApp::with(|worker| worker.var("PREFIX", prefix).var("ORDER_BITS", "20"));
    let refused = other.send_activity(like("42", "q")).await;
    let detail = format!(
        "ORDER_BITS: is 20, but the data under PREFIX {prefix} was written with 30; set ORDER_BITS \
         back to 30, or choose another PREFIX to start anew"
    );
    assert_eq!(refused.assert_status(500).body["detail"], detail);
}

#[tokio::test]
async fn changed_shard_count_on_live_data_is_rejected() {
    for (stored, configured) in [(1, 8), (8, 1), (8, 4), (4, 8), (64, 63), (2, 3)] {
        let app = TestApp::with(|worker| worker.json("SHARDS", json!(stored)));
        // The user is not on the first shard, if there are several.
        let is_elsewhere = |user: &String| stored == 1 || shard_among(user, stored) > 0;
        let mut users = (0..).map(|user| user.to_string());
        let user = users.find(is_elsewhere).expect("a user");
        app.count(&user, "like", "p").await;
        let before = app.store().snapshot();
        let prefix = app.prefix();
        let other = TestApp::with(|worker| {
            worker
                .var("PREFIX", prefix)
                .json("SHARDS", json!(configured))
        });
        let detail = format!(
            "SHARDS: is {configured}, but the data under PREFIX {prefix} was written with {stored}; set \
             SHARDS back to {stored}, or choose another PREFIX to start anew"
        );
        assert_misconfigured(&other, store_requests(), &detail).await;
        let health = other.get("/healthz").await;
        let problem = &health.assert_status(503).body["problem"];
        assert_eq!(problem["detail"], detail);
        let unchanged = app.store().snapshot() == before;
        assert!(unchanged, "{configured} for {stored} shards changed Redis");
        app.count(&user, "like", "q").await;
    }
}

/// A service with another setting can read until the first write and is rejected afterwards.
#[tokio::test]
async fn first_write_stores_the_fingerprint() {
    let app = TestApp::start();
    let prefix = app.prefix();
    let other = TestApp::with(|worker| worker.var("PREFIX", prefix).var("POINT_DECIMALS", "1"));
    let undo = r#"{"user":"42","action":"like","target":"never","undo":true}"#;
    let undo = (Method::POST, "/v1/activity", undo);
    for (method, path, body) in [&REQUESTS[0], &REQUESTS[8], &REQUESTS[9], &undo] {
        other.get("/v1/ranking/day").await.assert_status(200);
        let written = app.send(method.clone(), path, *body, JSON).await;
        written.assert_status(200);
        other.get("/v1/ranking/day").await.assert_status(500);
        app.store().clear();
    }
}

#[tokio::test]
async fn reads_store_no_fingerprint() {
    let app = TestApp::start();
    let reads = store_requests().iter();
    for (_, path, _) in reads.filter(|(method, ..)| *method == Method::GET) {
        app.get(path).await;
    }
    app.erase("42").await;
    assert_eq!(app.store().keys(), [""; 0]);
}

#[tokio::test]
async fn prefixes_separate_deployments_in_one_store() {
    let one = TestApp::start();
    let two = TestApp::with(|worker| worker.var("POINT_DECIMALS", "2"));
    let longer_prefix = format!("{}:0", one.prefix());
    let three = TestApp::with(|worker| worker.var("PREFIX", &longer_prefix));
    for app in [&one, &two, &three] {
        app.count("42", "like", "p").await;
    }
    one.erase("42").await;
    for app in [&two, &three] {
        assert_eq!(app.read("/v1/ranking/all/users/42").await["score"], 2);
    }
}
