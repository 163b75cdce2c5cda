//! Expiry of keys, and undo after some of the keys have expired.

use crate::requests::{ACTIVITY, PERIODS, act, at, board, expect, in_groups, like, outcomes, undo};
use std::collections::{BTreeMap, BTreeSet};
use test_support::reference::{Calendar, Store, board_key, history_key, now, period_id};
use test_support::{Api, Value, Worker, json, peer, peers, redis, rest, until};

const DAY: i64 = 86_400_000;

fn started() -> (Worker, Api, Store) {
    let keep = json!({ "day": 2, "week": 3, "month": 4, "year": 5, "marks": 6 });
    let rules = json!({ "share": { "points": 1, "cooldown": 1 } });
    let worker = Worker::builder()
        .json("KEEP_DAYS", keep)
        .json("RULES", rules)
        .start();
    let (api, store) = (worker.api(), Store::new(redis(), worker.prefix()));
    (worker, api, store)
}

/// Returns the key of Ada's active records. All users are on one shard, so that each board is one
/// key.
fn active_records() -> String {
    format!("m:{}", peer("ada"))
}

/// Sends activities that create a key of every type.
async fn mixed_load(api: &Api) {
    let [ada, bob, eve] = &peers(["ada", "bob", "eve"]);
    let path = format!("/v1/users/{ada}");
    let named = api.put(&path, &json!({ "name": "Ada" })).await;
    named.assert_status(200);
    let load = json!([
        like(ada, "post-7"),
        in_groups(&act(ada, "comment", "c"), &["eu", "us"]),
        act(ada, "visit", "/"),
        act(ada, "share", "s"),
        at(&like(ada, "old"), "2024-02-29T12:00:00Z"),
        like(bob, "post-7"),
        undo(&like(bob, "post-7")),
        undo(&like(eve, "post-7")),
    ]);
    let response = api.post(ACTIVITY, &load).await;
    let expected = [&["counted"; 6][..], &["undone", "nothing-to-undo"]].concat();
    assert_eq!(outcomes(&response), expected);
}

/// Shortens the lifetime of each expiring key to about half an hour, and returns the new expiries.
fn shorten(store: &mut Store) -> Vec<(String, i64)> {
    let mut shortened = Vec::new();
    for (number, key) in store.keys("").into_iter().enumerate() {
        if store.expiry(&key) > 0 {
            store.run::<()>("PEXPIRE", &key, &[&(1_800_000 + number).to_string()]);
            shortened.push((key.clone(), store.expiry(&key)));
        }
    }
    shortened
}

#[tokio::test]
async fn counting_extends_only_active_records() {
    let (_worker, api, mut store) = started();
    mixed_load(&api).await;
    let shortened = shorten(&mut store);
    let assert_unmoved = |store: &mut Store, except: &str| {
        for (key, expiry) in &shortened {
            let moved = store.expiry(key) != *expiry;
            assert!(
                !moved || key == except,
                "the expiry of {key} moved from {expiry} to {}",
                store.expiry(key)
            );
            assert!(
                moved || key != except,
                "the expiry of {key} is still {expiry}"
            );
        }
    };
    let [ada, bob, eve] = &peers(["ada", "bob", "eve"]);
    expect(&api, &like(ada, "post-7"), "duplicate").await;
    expect(&api, &undo(&like(ada, "post-7")), "undone").await;
    expect(&api, &undo(&like(bob, "post-7")), "nothing-to-undo").await;
    expect(&api, &undo(&like(eve, "other")), "nothing-to-undo").await;
    assert_unmoved(&mut store, "none");
    let another = in_groups(&like(ada, "post-8"), &["eu", "us"]);
    for activity in [&another, &act(ada, "visit", "/other")] {
        // As if the records had been extended yesterday.
        let marker: i64 = store.run("HGET", &active_records(), &["\t"]);
        store.run::<()>(
            "HSET",
            &active_records(),
            &["\t", &(marker - 1).to_string()],
        );
        store.run::<()>("PEXPIRE", &active_records(), &["1900000"]);
        expect(&api, activity, "counted").await;
        let ttl = store.expiry(&active_records()) - now();
        assert!((7 * DAY - 60_000..=7 * DAY).contains(&ttl), "{ttl}");
    }
    assert_unmoved(&mut store, &active_records());
    let expiry = store.expiry(&active_records());
    expect(&api, &like(ada, "post-9"), "counted").await;
    assert_eq!(store.expiry(&active_records()), expiry, "on the same day");
}

/// Expires a key now.
async fn expire(store: &mut Store, key: &str) {
    let found: i32 = store.run("PEXPIRE", key, &["1"]);
    assert_eq!(found, 1, "{key} does not exist");
    until("expiry of the key", async || {
        (store.run::<i32>("EXISTS", key, &[]) == 0).then_some(())
    })
    .await;
}

fn today() -> jiff::civil::Date {
    Calendar::new("UTC").date(now())
}

/// Ada likes and comments, Bob likes, all in a group. Returns the undo of Ada's like.
async fn two_users(api: &Api) -> Value {
    let [ada, bob] = &peers(["ada", "bob"]);
    let activities = [
        like(ada, "post-7"),
        act(ada, "comment", "c"),
        like(bob, "post-7"),
    ];
    let [liked, others @ ..] = activities.map(|activity| in_groups(&activity, &["eu"]));
    for activity in [&liked, &others[0], &others[1]] {
        expect(api, activity, "counted").await;
    }
    undo(&liked)
}

async fn assert_history(api: &Api, points: u64, actions: Value) {
    let path = format!("/v1/users/{}/activity?days=1", peer("ada"));
    let response = api.get(&path).await;
    let day = json!({ "date": today().to_string(), "points": points, "actions": actions });
    assert_eq!(response.body["days"], json!([day]));
}

#[tokio::test]
async fn undo_does_not_recreate_an_expired_board() {
    for expired_period in PERIODS {
        for expired_group in [None, Some("eu".to_owned())] {
            let (_worker, api, mut store) = started();
            let undo = two_users(&api).await;
            let id = period_id(expired_period, today());
            let expired = board_key(&(expired_period, id, expired_group.clone()));
            expire(&mut store, &expired).await;
            expect(&api, &undo, "undone").await;
            let exists: i32 = store.run("EXISTS", &expired, &[]);
            assert_eq!(exists, 0, "{expired} exists again");
            for period in PERIODS {
                for (group, query) in [(None, ""), (Some("eu".to_owned()), "?group=eu")] {
                    let exists = period != expired_period || group != expired_group;
                    let all = [(peer("ada"), 3.0), (peer("bob"), 2.0)];
                    let expected = if exists { &all[..] } else { &[] };
                    let found = board(&api, &format!("{period}{query}")).await;
                    assert_eq!(found, expected, "{period}{query} without {expired}");
                }
            }
            assert_history(&api, 3, json!({ "comment": { "count": 1, "points": 3 } })).await;
        }
    }
}

#[tokio::test]
async fn undo_after_record_expiry_changes_nothing() {
    let (_worker, api, mut store) = started();
    let undo = two_users(&api).await;
    expire(&mut store, &active_records()).await;
    let (mut before, histories) = (store.snapshot(), store.histories());
    expect(&api, &undo, "nothing-to-undo").await;
    let mut after = store.snapshot();
    // The undo record may change.
    before.retain(|key, _| !rest(key).starts_with('h'));
    after.retain(|key, _| !rest(key).starts_with('h'));
    assert!(after == before);
    assert_eq!(store.histories(), histories);
    expect(&api, &like(&peer("ada"), "post-7"), "counted").await;
}

#[tokio::test]
async fn undo_does_not_recreate_an_expired_history() {
    let (_worker, api, mut store) = started();
    let undo = two_users(&api).await;
    let history = history_key(today(), &peer("ada"));
    expire(&mut store, &history).await;
    expect(&api, &undo, "undone").await;
    // The undo record, and the marker of the expiry.
    assert_eq!(store.hash(&history).len(), 2);
    assert_history(&api, 0, json!({})).await;
    for query in PERIODS
        .into_iter()
        .flat_map(|period| [period.to_owned(), format!("{period}?group=eu")])
    {
        let expected = [(peer("ada"), 3.0), (peer("bob"), 2.0)];
        assert_eq!(board(&api, &query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn undo_with_only_the_record_left_recreates_nothing() {
    let (_worker, api, mut store) = started();
    let undo = two_users(&api).await;
    for key in store.keys("b").into_iter().chain(store.keys("h")) {
        expire(&mut store, &key).await;
    }
    expect(&api, &undo, "undone").await;
    assert_eq!(store.keys("b"), BTreeSet::new());
    assert_eq!(store.histories(), BTreeMap::new());
    // Ada's comment and Bob's like, and the days of the expiries.
    let fields = ["ada", "bob"].map(|user| store.hash(&format!("m:{}", peer(user))).len());
    assert_eq!(fields, [2, 2]);
}
