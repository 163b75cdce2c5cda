//! Many clients at once.

use crate::site::{ACTIVITY, KINDS, act, at, board, in_groups, like, outcome, ranked, undo};
use std::collections::BTreeMap;
use test_support::reference::{now, written};
use test_support::{Value, Worker, json, peer};
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_like_sent_by_64_clients_50_times_each_counts_once() {
    let worker = Worker::builder()
        .json("STORE_TIMEOUT_MS", json!(30_000))
        .start();
    let mut clients = JoinSet::new();
    for _ in 0..64 {
        let api = worker.api();
        clients.spawn(async move {
            let mut outcomes = Vec::new();
            for _ in 0..50 {
                let answer = api.post(ACTIVITY, &like("42", "post-7")).await;
                let standing = &answer.body["standings"]["all"];
                assert_eq!(*standing, json!({ "id": "all", "score": 2, "rank": 1 }));
                outcomes.push(outcome(&answer).to_owned());
            }
            outcomes
        });
    }
    let mut outcomes = BTreeMap::new();
    for outcome in clients.join_all().await.into_iter().flatten() {
        *outcomes.entry(outcome).or_insert(0) += 1;
    }
    let expected = [("counted", 1), ("duplicate", 64 * 50 - 1)];
    assert_eq!(
        outcomes,
        BTreeMap::from(expected.map(|(name, n)| (name.to_owned(), n)))
    );
    let api = worker.api();
    for kind in KINDS {
        assert_eq!(board(&api, kind).await, [("42".to_owned(), 2.0)], "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equals_that_come_at_once_rank_in_the_order_redis_saw_them() {
    let worker = Worker::builder()
        .json("STORE_TIMEOUT_MS", json!(30_000))
        .start();
    let mut clients = JoinSet::new();
    for number in 0..64 {
        let api = worker.api();
        clients.spawn(async move {
            let user = peer(&format!("u{number}"));
            let answer = api.post(ACTIVITY, &act(&user, "comment", "c")).await;
            assert_eq!(outcome(&answer), "counted");
            // Who comes later ranks lower, so the rank on arrival is the order of arrival.
            let rank = |kind: &str| answer.body["standings"][kind]["rank"].as_u64().unwrap();
            (KINDS.map(rank), user)
        });
    }
    let mut arrivals = clients.join_all().await;
    arrivals.sort();
    for (place, (ranks, _)) in (1..).zip(&arrivals) {
        assert_eq!(
            *ranks, [place; 5],
            "each rank once, and the same on all boards"
        );
    }
    let arrivals: Vec<_> = arrivals.into_iter().map(|(_, user)| user).collect();
    for kind in KINDS {
        assert_eq!(ranked(&worker.api(), kind).await, arrivals, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn likes_and_unlikes_of_several_days_and_groups_at_once_end_in_one_or_none() {
    let worker = Worker::builder()
        .json("STORE_TIMEOUT_MS", json!(30_000))
        .start();
    let post = like("42", "post-7");
    // Without a date none is stale; the place of the mark changes under every undo.
    let ahead = |seconds: i64| written(now() + seconds * 1000);
    let places = [
        post.clone(),
        in_groups(&post, &["eu"]),
        in_groups(&post, &["us", "eu"]),
        in_groups(&at(&post, &ahead(50)), &["us"]),
    ];
    let mut clients = JoinSet::new();
    for number in 0..16 {
        let (api, like) = (worker.api(), places[number % 4].clone());
        clients.spawn(async move {
            let (mut balance, undo) = (0, undo(&post_of(&like)));
            for turn in 0..40 {
                let activity = if (number + turn) % 2 == 0 {
                    &like
                } else {
                    &undo
                };
                let answer = api.post(ACTIVITY, activity).await;
                outcome(&answer);
                balance += answer.body["points"].as_i64().unwrap();
            }
            balance
        });
    }
    let left: i64 = clients.join_all().await.into_iter().sum();
    assert!(left == 0 || left == 2, "{left}");
    let api = worker.api();
    for kind in KINDS {
        let found = board(&api, kind).await;
        let expected = [("42".to_owned(), 2.0)];
        assert_eq!(found, expected[..(left / 2) as usize], "{kind}");
    }
    let last = api.post(ACTIVITY, &undo(&post)).await;
    assert_eq!(last.body["points"], -left);
    for kind in KINDS {
        for group in ["", "?group=eu", "?group=us"] {
            assert_eq!(
                board(&api, &format!("{kind}{group}")).await,
                [],
                "{kind}{group}"
            );
        }
    }
}

/// The activity without date and groups.
fn post_of(activity: &Value) -> Value {
    let text = |field: &str| activity[field].as_str().unwrap();
    act(text("user"), text("action"), text("target"))
}
