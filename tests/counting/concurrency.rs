//! Concurrent clients.

use crate::requests::{
    ACTIVITY, PERIODS, act, assert_board, at, board, in_groups, like, outcome, ranked, undo,
};
use test_support::reference::{now, rfc3339};
use test_support::{Value, Worker, json, peer};
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn same_like_from_64_clients_counts_once() {
    let worker = Worker::start();
    let mut clients = JoinSet::new();
    for _ in 0..64 {
        let api = worker.api();
        clients.spawn(async move {
            let mut outcomes = Vec::new();
            for _ in 0..50 {
                let response = api.post(ACTIVITY, &like("42", "post-7")).await;
                let standing = &response.body["standings"]["all"];
                assert_eq!(*standing, json!({ "id": "all", "score": 2, "rank": 1 }));
                outcomes.push(outcome(&response).to_owned());
            }
            outcomes
        });
    }
    let mut outcomes = clients.join_all().await.concat();
    outcomes.sort();
    let (counted, duplicates) = outcomes.split_first().unwrap();
    assert_eq!(counted, "counted");
    assert_eq!(duplicates, vec!["duplicate"; 64 * 50 - 1]);
    let api = worker.api();
    for period in PERIODS {
        assert_board(&api, period, &[("42", 2.0)]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_ties_rank_by_arrival_at_redis() {
    let worker = Worker::start();
    let mut clients = JoinSet::new();
    for number in 0..64 {
        let api = worker.api();
        clients.spawn(async move {
            let user = peer(&format!("u{number}"));
            let response = api.post(ACTIVITY, &act(&user, "comment", "c")).await;
            assert_eq!(outcome(&response), "counted");
            // Later ties rank lower, so the rank in the response is the position of the arrival.
            let rank = |period: &str| response.body["standings"][period]["rank"].as_u64().unwrap();
            (PERIODS.map(rank), user)
        });
    }
    let mut arrivals = clients.join_all().await;
    arrivals.sort();
    for (rank, (ranks, _)) in (1..).zip(&arrivals) {
        assert_eq!(
            *ranks, [rank; 5],
            "every rank is unique and the same on all boards"
        );
    }
    let arrivals: Vec<_> = arrivals.into_iter().map(|(_, user)| user).collect();
    for period in PERIODS {
        assert_eq!(ranked(&worker.api(), period).await, arrivals, "{period}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_likes_and_undos_leave_one_or_none() {
    let worker = Worker::start();
    let post = like("42", "post-7");
    // Without `at` no undo is stale; the boards of the record change concurrently.
    let ahead = |seconds: i64| rfc3339(now() + seconds * 1000);
    let variants = [
        post.clone(),
        in_groups(&post, &["eu"]),
        in_groups(&post, &["us", "eu"]),
        in_groups(&at(&post, &ahead(50)), &["us"]),
    ];
    let mut clients = JoinSet::new();
    for number in 0..16 {
        let (api, like) = (worker.api(), variants[number % 4].clone());
        clients.spawn(async move {
            let (mut balance, undo) = (0, undo(&without_options(&like)));
            for turn in 0..40 {
                let activity = [&like, &undo][(number + turn) % 2];
                let response = api.post(ACTIVITY, activity).await;
                outcome(&response);
                balance += response.body["points"].as_i64().unwrap();
            }
            balance
        });
    }
    let balance: i64 = clients.join_all().await.into_iter().sum();
    assert!(balance == 0 || balance == 2, "{balance}");
    let api = worker.api();
    for period in PERIODS {
        let found = board(&api, period).await;
        let expected = [("42".to_owned(), 2.0)];
        assert_eq!(found, expected[..(balance / 2) as usize], "{period}");
    }
    let last = api.post(ACTIVITY, &undo(&post)).await;
    assert_eq!(last.body["points"], -balance);
    for period in PERIODS {
        for group in ["", "?group=eu", "?group=us"] {
            assert_board(&api, &format!("{period}{group}"), &[]).await;
        }
    }
}

/// Returns the activity without `at` and groups.
fn without_options(activity: &Value) -> Value {
    let text = |field: &str| activity[field].as_str().unwrap();
    act(text("user"), text("action"), text("target"))
}
