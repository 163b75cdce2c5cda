//! Equal scores, the largest scores, and the end of order numbers.

use crate::site::{
    ACTIVITY, KINDS, act, at, board, expect, in_groups, like, outcomes, ranked, undo,
};
use test_support::reference::Store;
use test_support::{Api, Value, Worker, WorkerBuilder, json, peer, peers, redis};

/// One millisecond for all.
const AT: &str = "2026-11-18T08:00:00.123Z";
const DAY: &str = "date=2026-11-18";
/// The most that a score holds, less 7.
const BIG: u64 = 8_388_600;

fn builder() -> WorkerBuilder {
    let rules = json!({
        "big": { "points": BIG },
        "one": { "points": 1 },
    });
    Worker::builder().json("RULES", rules)
}

/// Users of one shard, in an order that is neither that of their ids nor its reverse.
fn users() -> Vec<String> {
    (0..30)
        .map(|number| peer(&format!("u{}", (number * 7 + 3) % 30)))
        .collect()
}

async fn assert_ranked(api: &Api, group: &str, expected: &[String]) {
    for kind in KINDS {
        assert_eq!(
            ranked(api, &format!("{kind}?{DAY}{group}")).await,
            expected,
            "{kind}{group}"
        );
    }
}

#[tokio::test]
async fn equals_of_one_millisecond_rank_in_order_of_arrival() {
    let worker = builder().start();
    let api = worker.api();
    for user in users() {
        let comment = in_groups(&at(&act(&user, "comment", "c"), AT), &["eu"]);
        expect(&api, &comment, "counted").await;
    }
    assert_ranked(&api, "", &users()).await;
    assert_ranked(&api, "&group=eu", &users()).await;
}

#[tokio::test]
async fn equals_in_one_array_rank_in_its_order() {
    let worker = builder().start();
    let api = worker.api();
    let comments: Value = users()
        .iter()
        .map(|user| at(&act(user, "comment", "c"), AT))
        .collect();
    let answer = api.post(ACTIVITY, &comments).await;
    assert_eq!(outcomes(&answer), ["counted"; 30]);
    assert_ranked(&api, "", &users()).await;
}

#[tokio::test]
async fn who_comes_down_to_a_score_arrives_there_last() {
    let worker = builder().start();
    let api = worker.api();
    let [first, second] = peers(["first", "second"]);
    let more = at(&like(&first, "b"), AT);
    expect(&api, &at(&like(&first, "a"), AT), "counted").await;
    expect(&api, &at(&like(&second, "a"), AT), "counted").await;
    expect(&api, &more, "counted").await;
    assert_ranked(&api, "", &[first.clone(), second.clone()]).await;
    expect(&api, &undo(&more), "undone").await;
    assert_ranked(&api, "", &[second, first]).await;
}

#[tokio::test]
async fn the_largest_scores_rank_in_order_of_arrival_and_one_beyond_is_refused_whole() {
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
    // Some of them in one request, the others each in seven.
    let (together, alone) = (&users()[..15], &users()[15..]);
    let all: Vec<Value> = together.iter().flat_map(|user| ones(user)).collect();
    assert_eq!(
        outcomes(&api.post(ACTIVITY, &json!(all)).await),
        ["counted"; 105]
    );
    for one in alone.iter().flat_map(|user| ones(user)) {
        expect(&api, &one, "counted").await;
    }
    assert_ranked(&api, "", &users()).await;
    let scores = board(&api, &format!("all?{DAY}")).await;
    assert!(
        scores.iter().all(|(_, score)| *score == (BIG + 7) as f64),
        "{scores:?}"
    );

    let before = store.snapshot();
    let beyond = at(&in_groups(&act(&peer("u3"), "one", "beyond"), &["eu"]), AT);
    let answer = api.post(ACTIVITY, &beyond).await;
    answer.assert_status(422);
    assert_eq!(answer.body["type"], "/problems/score-overflow");
    // On another day only the board of all time has no room for it: it counts nowhere.
    let elsewhere = at(&beyond, "2024-02-29T12:00:00Z");
    assert_eq!(
        api.post(ACTIVITY, &elsewhere).await.body["type"],
        "/problems/score-overflow"
    );
    assert!(store.snapshot() == before);

    let fits = at(&act(&peer("new"), "one", "fits"), AT);
    let array = json!([beyond, fits, elsewhere, undo(&fits)]);
    let answer = api.post(ACTIVITY, &array).await;
    let expected = ["score-overflow", "counted", "score-overflow", "undone"];
    assert_eq!(outcomes(&answer), expected);
    assert_ranked(&api, "", &users()).await;

    // With room again it counts.
    expect(
        &api,
        &at(&undo(&act(&peer("u3"), "one", "0")), AT),
        "undone",
    )
    .await;
    expect(&api, &beyond, "counted").await;
}

/// The highest order number, at which the counter stays.
const LAST: u64 = (1 << 30) - 1;

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
async fn the_last_order_numbers_still_rank_exactly_and_later_equals_by_id() {
    let worker = builder().start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    let early = peer("early");
    expect(&api, &at(&act(&early, "big", "b"), AT), "counted").await;
    for key in board_keys() {
        store.run::<()>("ZADD", key, &[&(LAST - 9).to_string(), "#"]);
    }
    for user in users() {
        expect(&api, &at(&act(&user, "comment", "c"), AT), "counted").await;
    }
    // Ten numbers are left, from LAST - 9 to LAST; from the tenth on all have the last one.
    let (exact, equal) = (users()[..9].to_vec(), users()[9..].to_vec());
    for kind in KINDS {
        let ranking = ranked(&api, &format!("{kind}?{DAY}")).await;
        assert_eq!(ranking[0], early);
        assert_eq!(ranking[1..10], exact, "{kind}");
        let (mut by_id, mut expected) = (ranking[10..].to_vec(), equal.clone());
        assert!(
            by_id.is_sorted() || by_id.iter().rev().is_sorted(),
            "{by_id:?}"
        );
        by_id.sort();
        expected.sort();
        assert_eq!(by_id, expected, "{kind}");
    }
    // Points stay exact, up and down.
    expect(
        &api,
        &at(&undo(&act(&peer("u3"), "comment", "c")), AT),
        "undone",
    )
    .await;
    expect(&api, &at(&act(&early, "one", "o"), AT), "counted").await;
    expect(&api, &at(&undo(&act(&early, "big", "b")), AT), "undone").await;
    for kind in KINDS {
        let board = board(&api, &format!("{kind}?{DAY}")).await;
        assert_eq!(board.len(), 30, "{kind}");
        let (last, others) = board.split_last().unwrap();
        assert_eq!(*last, (early.clone(), 1.0), "{kind}");
        assert!(
            others
                .iter()
                .all(|(user, score)| *score == 3.0 && *user != peer("u3")),
            "{board:?}"
        );
    }
    for key in board_keys() {
        let counter: f64 = store.run("ZSCORE", key, &["#"]);
        assert_eq!(counter, LAST as f64, "{key}");
    }
}

#[tokio::test]
async fn healthz_warns_when_four_fifths_of_the_order_numbers_are_used_up() {
    let worker = builder().start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    expect(&api, &like("42", "post-7"), "counted").await;
    let mut warnings = async |used: u64| {
        for key in store.keys("b") {
            store.run::<()>("ZADD", &key, &[&used.to_string(), "#"]);
        }
        let answer = api.get("/healthz").await;
        answer.assert_status(200);
        let warnings = answer.body["warnings"].as_array().unwrap().clone();
        let told = |kind: &&str| {
            warnings.iter().any(|warning| {
                let warning = warning.as_str().unwrap();
                warning.contains(*kind) && warning.contains("order")
            })
        };
        KINDS.into_iter().filter(told).collect::<Vec<_>>()
    };
    assert_eq!(warnings(LAST * 79 / 100).await, [""; 0]);
    assert_eq!(warnings(LAST * 80 / 100 + 1).await, KINDS);
    assert_eq!(warnings(LAST).await, KINDS);
}
