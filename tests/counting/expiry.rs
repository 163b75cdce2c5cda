//! What lives how long, and what happens when one part is gone before the others.

use crate::site::{ACTIVITY, KINDS, act, board, expect, in_groups, like, outcomes, undo};
use std::collections::BTreeSet;
use test_support::reference::{Calendar, Store, board_key, history_key, now};
use test_support::{Api, Value, Worker, json, peer, redis, rest, until};

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

/// Ada's standing marks. Everybody is on one shard here, so that each name is one key.
fn marks() -> String {
    format!("m:{}", peer("ada"))
}

/// Something of every kind, that leaves a key of every kind.
async fn mixed_load(api: &Api) {
    api.put(
        &format!("/v1/users/{}", peer("ada")),
        &json!({ "name": "Ada" }),
    )
    .await
    .assert_status(200);
    let old = json!({ "user": peer("ada"), "action": "like", "target": "old", "at": "2024-02-29T12:00:00Z" });
    let load = json!([
        like(&peer("ada"), "post-7"),
        in_groups(&act(&peer("ada"), "comment", "c"), &["eu", "us"]),
        act(&peer("ada"), "visit", "/"),
        act(&peer("ada"), "share", "s"),
        old,
        like(&peer("bob"), "post-7"),
        undo(&like(&peer("bob"), "post-7")),
        undo(&like(&peer("eve"), "post-7")),
    ]);
    let answer = api.post(ACTIVITY, &load).await;
    let expected = [&["counted"; 6][..], &["undone", "nothing-to-undo"]].concat();
    assert_eq!(outcomes(&answer), expected);
}

#[tokio::test]
async fn every_key_but_the_exempt_ones_expires_in_its_time() {
    let (_worker, api, mut store) = started();
    let before = now();
    mixed_load(&api).await;
    let after = now();
    let mut kinds = BTreeSet::new();
    for key in store.keys("") {
        let kind = if key.starts_with('b') {
            &key[..2]
        } else {
            &key[..1]
        };
        kinds.insert(kind.to_owned());
        let lives = store.expiry(&key);
        // Histories are held 31 days, undos remembered so long: such keys may live a little more.
        let days = match kind {
            "s" | "i" | "p" | "ba" => {
                assert_eq!(lives, -1, "{key} lives for ever");
                continue;
            }
            "bd" => 2..=2,
            "bw" => 3..=3,
            "bm" => 4..=4,
            "by" => 5..=5,
            "m" => 6..=6,
            "h" | "v" | "u" => 31..=62,
            other => panic!("no key begins with {other}: {key}"),
        };
        let least = before + days.start() * DAY;
        let most = after + days.end() * DAY;
        assert!(
            (least..=most).contains(&lives),
            "{key} expires {lives}, not {least} to {most}"
        );
    }
    let all = [
        "ba", "bd", "bm", "bw", "by", "h", "i", "m", "p", "s", "u", "v",
    ];
    assert_eq!(kinds, all.map(str::to_owned).into());
}

/// Lets each key that expires live half an hour and a little, and returns when it ends.
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
async fn only_what_counts_moves_an_expiry_and_only_that_of_standing_marks() {
    let (_worker, api, mut store) = started();
    mixed_load(&api).await;
    let shortened = shorten(&mut store);
    let assert_unmoved = |store: &mut Store, but: &str| {
        for (key, expiry) in &shortened {
            let moved = store.expiry(key) != *expiry;
            assert!(
                !moved || key == but,
                "{key} expired {expiry}, now {}",
                store.expiry(key)
            );
            assert!(moved || key != but, "{key} still expires {expiry}");
        }
    };
    expect(&api, &like(&peer("ada"), "post-7"), "duplicate").await;
    expect(&api, &undo(&like(&peer("ada"), "post-7")), "undone").await;
    expect(
        &api,
        &undo(&like(&peer("bob"), "post-7")),
        "nothing-to-undo",
    )
    .await;
    expect(&api, &undo(&like(&peer("eve"), "other")), "nothing-to-undo").await;
    assert_unmoved(&mut store, "none");
    let another = in_groups(&like(&peer("ada"), "post-8"), &["eu", "us"]);
    for counts in [another, act(&peer("ada"), "visit", "/other")] {
        store.run::<()>("PEXPIRE", &marks(), &["1900000"]);
        expect(&api, &counts, "counted").await;
        let lives = store.expiry(&marks()) - now();
        assert!((6 * DAY - 60_000..=6 * DAY).contains(&lives), "{lives}");
    }
    assert_unmoved(&mut store, &marks());
}

/// Lets a key expire now.
async fn expire(store: &mut Store, key: &str) {
    assert_eq!(
        store.run::<i32>("PEXPIRE", key, &["1"]),
        1,
        "there is no {key}"
    );
    until("a key to expire", async || {
        (store.run::<i32>("EXISTS", key, &[]) == 0).then_some(())
    })
    .await;
}

fn today() -> jiff::civil::Date {
    Calendar::of("UTC").date(now())
}

/// Ada likes and comments for a group, Bob likes.
async fn two_users(api: &Api) -> Value {
    let liked = in_groups(&like(&peer("ada"), "post-7"), &["eu"]);
    expect(api, &liked, "counted").await;
    expect(
        api,
        &in_groups(&act(&peer("ada"), "comment", "c"), &["eu"]),
        "counted",
    )
    .await;
    expect(
        api,
        &in_groups(&like(&peer("bob"), "post-7"), &["eu"]),
        "counted",
    )
    .await;
    undo(&liked)
}

async fn assert_history(api: &Api, points: u64, actions: Value) {
    let path = format!("/v1/users/{}/activity?days=1", peer("ada"));
    let answer = api.get(&path).await;
    let day = json!({ "date": today().to_string(), "points": points, "actions": actions });
    assert_eq!(answer.body["days"], json!([day]));
}

#[tokio::test]
async fn an_undo_revives_no_board_that_has_expired_and_the_others_stay_right() {
    for gone_kind in KINDS {
        for gone_group in [None, Some("eu".to_owned())] {
            let (_worker, api, mut store) = started();
            let undo = two_users(&api).await;
            let calendar = Calendar::of("UTC");
            let id = calendar.view(gone_kind, today(), now())["id"]
                .as_str()
                .unwrap()
                .to_owned();
            let gone = board_key(&(gone_kind, id, gone_group.clone()));
            expire(&mut store, &gone).await;
            expect(&api, &undo, "undone").await;
            assert_eq!(store.run::<i32>("EXISTS", &gone, &[]), 0, "{gone} is back");
            for kind in KINDS {
                for (group, question) in [(None, ""), (Some("eu".to_owned()), "?group=eu")] {
                    let there = kind != gone_kind || group != gone_group;
                    let all = [(peer("ada"), 3.0), (peer("bob"), 2.0)];
                    let expected = if there { &all[..] } else { &[] };
                    let found = board(&api, &format!("{kind}{question}")).await;
                    assert_eq!(found, expected, "{kind}{question} without {gone}");
                }
            }
            assert_history(&api, 3, json!({ "comment": { "count": 1, "points": 3 } })).await;
        }
    }
}

#[tokio::test]
async fn an_undo_after_its_mark_expired_takes_nothing() {
    let (_worker, api, mut store) = started();
    let undo = two_users(&api).await;
    expire(&mut store, &marks()).await;
    let mut before = store.snapshot();
    expect(&api, &undo, "nothing-to-undo").await;
    let mut after = store.snapshot();
    // What is remembered of an undo is no mark.
    before.retain(|key, _| !rest(key).starts_with('u'));
    after.retain(|key, _| !rest(key).starts_with('u'));
    assert!(after == before);
    expect(&api, &like(&peer("ada"), "post-7"), "counted").await;
}

#[tokio::test]
async fn an_undo_revives_no_history_that_has_expired_and_the_boards_stay_right() {
    let (_worker, api, mut store) = started();
    let undo = two_users(&api).await;
    let history = history_key(today(), &peer("ada"));
    expire(&mut store, &history).await;
    expect(&api, &undo, "undone").await;
    assert_eq!(store.run::<i32>("EXISTS", &history, &[]), 0);
    assert_history(&api, 0, json!({})).await;
    for question in KINDS
        .into_iter()
        .flat_map(|kind| [kind.to_owned(), format!("{kind}?group=eu")])
    {
        let expected = [(peer("ada"), 3.0), (peer("bob"), 2.0)];
        assert_eq!(board(&api, &question).await, expected, "{question}");
    }
}

#[tokio::test]
async fn an_undo_when_only_its_mark_is_left_revives_nothing() {
    let (_worker, api, mut store) = started();
    let undo = two_users(&api).await;
    for key in store.keys("b").into_iter().chain(store.keys("h")) {
        expire(&mut store, &key).await;
    }
    expect(&api, &undo, "undone").await;
    assert_eq!(store.keys("b"), BTreeSet::new());
    assert_eq!(store.keys("h"), BTreeSet::new());
    // Ada's comment and Bob's like.
    let fields = ["ada", "bob"].map(|user| store.hash(&format!("m:{}", peer(user))).len());
    assert_eq!(fields, [1, 1]);
}
