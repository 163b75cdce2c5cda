//! Store errors: wrong types and a full memory never leave a partial change.

use crate::requests::{
    ACTIVITY, PERIODS, act, assert_board, board, expect, in_groups, like, outcome, outcomes, undo,
};
use redis::cmd;
use test_support::reference::Store;
use test_support::{Api, Gateway, RedisOptions, RedisServer, Worker, json, redis};

/// Starts a service with keys of every type.
async fn started() -> (Worker, Api, Store) {
    let rules = json!({ "share": { "points": 1, "cooldown": 60, "daily_cap": 50 } });
    let worker = Worker::builder().json("RULES", rules).start();
    let (api, store) = (worker.api(), Store::new(redis(), worker.prefix()));
    expect(&api, &in_groups(&like("42", "a"), &["eu"]), "counted").await;
    expect(&api, &act("42", "visit", "/"), "counted").await;
    expect(&api, &undo(&like("42", "gone")), "nothing-to-undo").await;
    (worker, api, store)
}

#[tokio::test]
async fn wrong_type_refuses_activity_without_changes() {
    let activities = [
        in_groups(&act("42", "comment", "new"), &["eu"]),
        act("42", "share", "new"),
        act("42", "visit", "/new"),
        undo(&in_groups(&like("42", "a"), &["eu"])),
        undo(&like("42", "never")),
    ];
    let keys = started().await.2.keys("");
    assert_eq!(keys.len(), 14, "{keys:?}");
    let (mut refused, mut changed) = (0, Vec::new());
    for key in keys {
        let (_worker, api, mut store) = started().await;
        // No command of the scripts accepts a stream.
        store.run::<()>("DEL", &key, &[]);
        store.run::<()>("XADD", &key, &["*", "wrong", "type"]);
        for activity in &activities {
            let before = store.snapshot();
            let response = api.post(ACTIVITY, activity).await;
            if response.status == 200 {
                continue;
            }
            assert!(
                [500, 503].contains(&response.status),
                "{activity} with {key}: {}",
                response.text
            );
            refused += 1;
            if store.snapshot() != before {
                changed.push(format!("{activity} with {key} of a wrong type"));
            }
        }
    }
    assert!(refused > 40, "{refused}");
    assert_eq!(changed, [""; 0], "refused, but the store changed");
}

#[tokio::test]
async fn wrong_type_fails_only_its_own_item() {
    for (key, action) in [("m:42", "comment"), ("h:", "visit"), ("h:", "comment")] {
        let (_worker, api, mut store) = started().await;
        for key in store.keys(key) {
            store.run::<()>("DEL", &key, &[]);
            store.run::<()>("XADD", &key, &["*", "wrong", "type"]);
        }
        let mine = act("42", action, "/new");
        let array = json!([mine, like("7", "a"), mine, like("7", "b")]);
        for expected in ["counted", "duplicate"] {
            let response = api.post(ACTIVITY, &array).await;
            let expected_outcomes = ["misconfigured", expected, "misconfigured", expected];
            assert_eq!(
                outcomes(&response),
                expected_outcomes,
                "{key}: {}",
                response.text
            );
        }
        let score = board(&api, "all")
            .await
            .into_iter()
            .find(|(user, _)| user == "7");
        assert_eq!(score, Some(("7".to_owned(), 4.0)), "{key}");
    }
}

#[tokio::test]
async fn full_store_never_leaves_a_partial_change() {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let worker = Worker::builder().store(&gateway.url()).start();
    let (api, mut store) = (worker.api(), Store::new(&redis, worker.prefix()));
    let liked = in_groups(&like("42", "a"), &["eu"]);
    expect(&api, &liked, "counted").await;
    expect(&api, &act("42", "comment", "c"), "counted").await;
    let limit = |bytes: &str| {
        let mut set = cmd("CONFIG");
        set.arg("SET")
            .arg("maxmemory")
            .arg(bytes)
            .exec(&mut redis.connection())
            .unwrap();
    };
    let before = store.snapshot();
    limit("1");
    for activity in [
        like("42", "b"),
        like("7", "a"),
        act("42", "visit", "/"),
        undo(&like("7", "a")),
    ] {
        let response = api.post(ACTIVITY, &activity).await;
        assert!(
            [500, 503].contains(&response.status),
            "{activity}: {}",
            response.text
        );
        let array = api.post(ACTIVITY, &json!([activity])).await;
        assert!(
            [500, 503].contains(&array.status),
            "[{activity}]: {}",
            array.text
        );
    }
    assert!(store.snapshot() == before);
    let undone = api.post(ACTIVITY, &undo(&liked)).await;
    limit("0");
    let points = if undone.status == 200 { 3.0 } else { 5.0 };
    for period in PERIODS {
        assert_eq!(
            board(&api, period).await,
            [("42".to_owned(), points)],
            "{period}"
        );
    }
    let response = api.post(ACTIVITY, &undo(&liked)).await;
    let expected = if undone.status == 200 {
        "nothing-to-undo"
    } else {
        "undone"
    };
    assert_eq!(outcome(&response), expected);
    for period in PERIODS {
        assert_board(&api, period, &[("42", 3.0)]).await;
        assert_board(&api, &format!("{period}?group=eu"), &[]).await;
    }
}
