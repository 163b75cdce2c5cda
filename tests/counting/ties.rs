//! Equal scores, maximum scores, and exhausted order numbers.

use crate::requests::{
    ACTIVITY, PERIODS, act, at, board, expect, in_groups, like, outcomes, ranked, undo,
};
use test_support::reference::Store;
use test_support::{Api, Value, Worker, WorkerBuilder, json, peer, peers, redis};

/// The instant of all activities.
const AT: &str = "2026-11-18T08:00:00.123Z";
const DAY: &str = "date=2026-11-18";
/// The maximum score less 7.
const BIG: u64 = 8_388_600;

fn builder() -> WorkerBuilder {
    let rules = json!({
        "big": { "points": BIG },
        "one": { "points": 1 },
    });
    Worker::builder().json("RULES", rules)
}

/// Returns users of one shard, in neither ascending nor descending order of their ids.
fn users() -> Vec<String> {
    (0..30)
        .map(|number| peer(&format!("u{}", (number * 7 + 3) % 30)))
        .collect()
}

async fn assert_ranked(api: &Api, expected: &[String]) {
    for period in PERIODS {
        let found = ranked(api, &format!("{period}?{DAY}")).await;
        assert_eq!(found, expected, "{period}");
    }
}

#[tokio::test]
async fn ties_within_one_array_rank_by_array_order() {
    let worker = builder().start();
    let api = worker.api();
    let comments: Value = users()
        .iter()
        .map(|user| at(&act(user, "comment", "c"), AT))
        .collect();
    let response = api.post(ACTIVITY, &comments).await;
    assert_eq!(outcomes(&response), ["counted"; 30]);
    assert_ranked(&api, &users()).await;
}

#[tokio::test]
async fn user_dropping_to_a_score_ranks_last_of_its_ties() {
    let worker = builder().start();
    let api = worker.api();
    let [first, second] = peers(["first", "second"]);
    let more = at(&like(&first, "b"), AT);
    expect(&api, &at(&like(&first, "a"), AT), "counted").await;
    expect(&api, &at(&like(&second, "a"), AT), "counted").await;
    expect(&api, &more, "counted").await;
    assert_ranked(&api, &[first.clone(), second.clone()]).await;
    expect(&api, &undo(&more), "undone").await;
    assert_ranked(&api, &[second, first]).await;
}

#[tokio::test]
async fn maximum_score_ranks_exactly_overflow_is_refused() {
    let worker = builder().start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    for user in users() {
        expect(&api, &at(&act(&user, "big", "b"), AT), "counted").await;
    }
    let ones = |user: &str| -> Vec<Value> {
        (0..7)
            .map(|number| at(&act(user, "one", &number.to_string()), AT))
            .collect()
    };
    // Half of the users reach the maximum in one shared request, the others in seven each.
    let (batched, single) = (&users()[..15], &users()[15..]);
    let all: Vec<Value> = batched.iter().flat_map(|user| ones(user)).collect();
    assert_eq!(
        outcomes(&api.post(ACTIVITY, &json!(all)).await),
        ["counted"; 105]
    );
    for one in single.iter().flat_map(|user| ones(user)) {
        expect(&api, &one, "counted").await;
    }
    assert_ranked(&api, &users()).await;
    let scores = board(&api, &format!("all?{DAY}")).await;
    assert!(
        scores.iter().all(|(_, score)| *score == (BIG + 7) as f64),
        "{scores:?}"
    );

    let before = store.snapshot();
    let beyond = at(&in_groups(&act(&peer("u3"), "one", "beyond"), &["eu"]), AT);
    let response = api.post(ACTIVITY, &beyond).await;
    response.assert_status(422);
    assert_eq!(response.body["type"], "/problems/score-overflow");
    // On another day only the all-time board would overflow: still nothing counts.
    let other_day = at(&beyond, "2024-02-29T12:00:00Z");
    assert_eq!(
        api.post(ACTIVITY, &other_day).await.body["type"],
        "/problems/score-overflow"
    );
    assert!(store.snapshot() == before);

    let fits = at(&act(&peer("new"), "one", "fits"), AT);
    let array = json!([beyond, fits, other_day, undo(&fits)]);
    let response = api.post(ACTIVITY, &array).await;
    let expected = ["score-overflow", "counted", "score-overflow", "undone"];
    assert_eq!(outcomes(&response), expected);
    assert_ranked(&api, &users()).await;

    // After an undo the score fits.
    expect(
        &api,
        &at(&undo(&act(&peer("u3"), "one", "0")), AT),
        "undone",
    )
    .await;
    expect(&api, &beyond, "counted").await;
}

/// The highest order number: from there on, the counter moves by fractions.
const MAX_ORDER: u64 = (1 << 30) - 1;

fn board_keys() -> [&'static str; 5] {
    [
        "bd:2026-11-18",
        "bw:2026-W47",
        "bm:2026-11",
        "by:2026",
        "ba:all",
    ]
}

#[tokio::test]
async fn exhausted_order_numbers_rank_later_ties_by_id() {
    let worker = builder().start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    let early = peer("early");
    expect(&api, &at(&act(&early, "big", "b"), AT), "counted").await;
    for key in board_keys() {
        store.run::<()>("ZADD", key, &[&(MAX_ORDER - 9).to_string(), "#"]);
    }
    for user in users() {
        expect(&api, &at(&act(&user, "comment", "c"), AT), "counted").await;
    }
    // The counter is nine below its maximum: nine users get exact numbers, all later ones the last.
    let (exact, equal) = (users()[..9].to_vec(), users()[9..].to_vec());
    for period in PERIODS {
        let ranking = ranked(&api, &format!("{period}?{DAY}")).await;
        assert_eq!(ranking[0], early);
        assert_eq!(ranking[1..10], exact, "{period}");
        let (mut by_id, mut expected) = (ranking[10..].to_vec(), equal.clone());
        assert!(
            by_id.is_sorted() || by_id.iter().rev().is_sorted(),
            "{by_id:?}"
        );
        by_id.sort();
        expected.sort();
        assert_eq!(by_id, expected, "{period}");
    }
    // Points stay exact when scores rise and fall.
    expect(
        &api,
        &at(&undo(&act(&peer("u3"), "comment", "c")), AT),
        "undone",
    )
    .await;
    expect(&api, &at(&act(&early, "one", "o"), AT), "counted").await;
    expect(&api, &at(&undo(&act(&early, "big", "b")), AT), "undone").await;
    for period in PERIODS {
        let board = board(&api, &format!("{period}?{DAY}")).await;
        assert_eq!(board.len(), 30, "{period}");
        let (last, others) = board.split_last().unwrap();
        assert_eq!(*last, (early.clone(), 1.0), "{period}");
        assert!(
            others
                .iter()
                .all(|(user, score)| *score == 3.0 && *user != peer("u3")),
            "{board:?}"
        );
    }
    for key in board_keys() {
        let counter: f64 = store.run("ZSCORE", key, &["#"]);
        assert_eq!(counter.floor(), MAX_ORDER as f64, "{key}");
    }
}

#[tokio::test]
async fn healthz_warns_at_80_percent_of_order_numbers() {
    let worker = builder().start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    expect(&api, &like("42", "post-7"), "counted").await;
    let mut warnings = async |used: u64| {
        for key in store.keys("b") {
            store.run::<()>("ZADD", &key, &[&used.to_string(), "#"]);
        }
        let response = api.get("/healthz").await;
        response.assert_status(200);
        let warnings = response.body["warnings"].as_array().unwrap().clone();
        let warned = |period: &&str| {
            warnings.iter().any(|warning| {
                let warning = warning.as_str().unwrap();
                warning.contains(*period) && warning.contains("order")
            })
        };
        PERIODS.into_iter().filter(warned).collect::<Vec<_>>()
    };
    assert_eq!(warnings(MAX_ORDER * 79 / 100).await, [""; 0]);
    assert_eq!(warnings(MAX_ORDER * 80 / 100 + 1).await, PERIODS);
    assert_eq!(warnings(MAX_ORDER).await, PERIODS);
}
