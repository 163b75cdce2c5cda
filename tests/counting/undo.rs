//! What is remembered of an undo, and what one takes back.

use crate::site::{ACTIVITY, KINDS, act, at, board, expect, in_groups, like, outcomes, undo};
use test_support::reference::{Store, now, written};
use test_support::{Api, Value, Worker, json, redis};

const AT: [&str; 3] = [
    "2026-11-18T08:00:00.001Z",
    "2026-11-18T08:00:00.002Z",
    "2026-11-18T08:00:00.003Z",
];

async fn assert_on_no_board(api: &Api) {
    for kind in KINDS {
        for question in [kind.to_owned(), format!("{kind}?date=2026-11-18")] {
            assert_eq!(board(api, &question).await, [], "{question}");
        }
    }
}

#[tokio::test]
async fn a_delayed_copy_of_a_like_that_was_taken_back_stays_unliked() {
    let worker = Worker::start();
    let api = worker.api();
    let like = like("42", "post-7");
    expect(&api, &at(&like, AT[0]), "counted").await;
    expect(&api, &at(&undo(&like), AT[2]), "undone").await;
    expect(&api, &at(&like, AT[0]), "stale").await;
    expect(&api, &at(&like, AT[1]), "stale").await;
    assert_on_no_board(&api).await;
    expect(&api, &at(&like, AT[2]), "counted").await;
}

#[tokio::test]
async fn a_delayed_copy_of_a_like_that_was_taken_back_without_a_date_stays_unliked() {
    let worker = Worker::start();
    let api = worker.api();
    let like = like("42", "post-7");
    let before = written(now() - 100);
    expect(&api, &like, "counted").await;
    expect(&api, &undo(&like), "undone").await;
    expect(&api, &at(&like, &before), "stale").await;
    assert_on_no_board(&api).await;
}

#[tokio::test]
async fn a_like_that_arrives_after_its_later_unlike_stays_unliked() {
    let worker = Worker::start();
    let api = worker.api();
    let like = like("42", "post-7");
    expect(&api, &at(&undo(&like), AT[1]), "nothing-to-undo").await;
    expect(&api, &at(&like, AT[0]), "stale").await;
    // An older undo is stale too, and takes nothing back from what is remembered.
    expect(&api, &at(&undo(&like), AT[0]), "stale").await;
    expect(&api, &at(&like, AT[0]), "stale").await;
    assert_on_no_board(&api).await;
    expect(&api, &at(&like, AT[2]), "counted").await;
}

#[tokio::test]
async fn equal_instants_are_not_stale() {
    let worker = Worker::start();
    let api = worker.api();
    let like = at(&like("42", "post-7"), AT[1]);
    let turns = [
        ("counted", &like),
        ("duplicate", &like),
        ("undone", &undo(&like)),
    ];
    for (expected, activity) in turns.iter().chain(&turns) {
        expect(&api, activity, expected).await;
    }
    expect(&api, &undo(&like), "nothing-to-undo").await;
    expect(&api, &like, "counted").await;
}

#[tokio::test]
async fn the_last_change_of_a_mark_never_moves_back() {
    let worker = Worker::start();
    let api = worker.api();
    let like = like("42", "post-7");
    let ahead = |seconds: i64| written(now() + seconds * 1000);
    let (sooner, later) = (ahead(20), ahead(50));
    expect(&api, &at(&like, &later), "counted").await;
    // Without a date it is applied on arrival, but the mark has changed later already.
    expect(&api, &undo(&like), "undone").await;
    expect(&api, &at(&like, &sooner), "stale").await;
    expect(&api, &like, "counted").await;
    expect(&api, &at(&undo(&like), &sooner), "stale").await;
    expect(&api, &at(&undo(&like), &later), "undone").await;
}

#[tokio::test]
async fn an_undo_is_remembered_beyond_the_31_days_in_which_it_was_written() {
    let worker = Worker::start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    let like = like("42", "post-7");
    expect(&api, &at(&undo(&like), AT[1]), "nothing-to-undo").await;
    // As if it had been written in the span before this one.
    let key = store.keys("u:").pop_first().unwrap();
    let span: i64 = key.split(':').nth(1).unwrap().parse().unwrap();
    let before = store.key(&format!("u:{}:42", span - 1));
    store.run::<()>("RENAME", &key, &[&before]);
    expect(&api, &at(&like, AT[0]), "stale").await;
    expect(&api, &at(&like, AT[2]), "counted").await;
    assert_eq!(store.keys("u:").len(), 0, "what stands is no undo any more");
}

#[tokio::test]
async fn marks_that_were_taken_back_do_not_pile_up() {
    let worker = Worker::start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    let likes: Vec<Value> = (0..250).map(|n| like("42", &format!("post-{n}"))).collect();
    let undos: Vec<Value> = likes.iter().map(undo).collect();
    let array = json!([likes.clone(), undos.clone()].concat());
    for _ in 0..2 {
        let answer = api.post(ACTIVITY, &array).await;
        assert_eq!(
            outcomes(&answer),
            [["counted"; 250], ["undone"; 250]].concat()
        );
    }
    assert_eq!(store.keys("m:").len(), 0, "no standing mark");
    // Each is remembered once, in a key that goes of itself.
    let memories = store.keys("u:");
    let remembered: usize = memories.iter().map(|key| store.hash(key).len()).sum();
    assert_eq!(remembered, 250);
    for key in memories {
        let left: i64 = store.run("TTL", &key, &[]);
        assert!(left > 31 * 86_400 - 60, "{key} lives {left} s");
    }
    api.post(ACTIVITY, &json!(likes)).await.assert_status(200);
    assert_eq!(store.keys("u:").len(), 0, "what stands is no undo any more");
}

#[tokio::test]
async fn a_period_switched_off_still_gives_its_points_back() {
    let builder = Worker::builder();
    let all = builder.clone().start();
    let days = builder.var("PERIODS", "day").start();
    let like = in_groups(&like("42", "post-7"), &["eu"]);
    expect(&all.api(), &like, "counted").await;
    expect(&days.api(), &undo(&like), "undone").await;
    for kind in KINDS {
        for question in [kind.to_owned(), format!("{kind}?group=eu")] {
            assert_eq!(board(&all.api(), &question).await, [], "{question}");
        }
    }
}

#[tokio::test]
async fn a_period_switched_on_gives_no_points_back_that_it_never_had() {
    let builder = Worker::builder();
    let all = builder.clone().start();
    let days = builder.var("PERIODS", "day").start();
    expect(&days.api(), &like("42", "post-7"), "counted").await;
    expect(&all.api(), &act("42", "comment", "c"), "counted").await;
    expect(&all.api(), &undo(&like("42", "post-7")), "undone").await;
    for kind in KINDS {
        assert_eq!(
            board(&all.api(), kind).await,
            [("42".to_owned(), 3.0)],
            "{kind}"
        );
    }
}

#[tokio::test]
async fn an_undo_takes_back_the_points_that_were_given_whatever_they_are_now() {
    let builder = Worker::builder();
    let before = builder.clone().start();
    let after = builder
        .json("RULES", json!({ "like": { "points": 5 } }))
        .start();
    expect(&before.api(), &like("42", "post-7"), "counted").await;
    expect(&before.api(), &like("42", "post-8"), "counted").await;
    let answer = expect(&after.api(), &undo(&like("42", "post-7")), "undone").await;
    assert_eq!(answer.body["points"], -2);
    assert_eq!(board(&after.api(), "all").await, [("42".to_owned(), 2.0)]);
}

#[tokio::test]
async fn an_undo_takes_points_from_the_groups_of_the_mark_whatever_it_is_sent() {
    let worker = Worker::start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    let like = like("42", "post-7");
    for sent in [&["asia"][..], &["us", "eu"], &["eu"], &[]] {
        expect(&api, &in_groups(&like, &["eu", "us"]), "counted").await;
        expect(&api, &undo(&in_groups(&like, sent)), "undone").await;
        for kind in KINDS {
            for group in ["", "?group=eu", "?group=us", "?group=asia"] {
                let question = format!("{kind}{group}");
                assert_eq!(
                    board(&api, &question).await,
                    [],
                    "{question} after {sent:?}"
                );
            }
        }
    }
    let asian = store
        .keys("b")
        .into_iter()
        .filter(|key| key.ends_with("asia"));
    assert_eq!(asian.count(), 0);
}

#[tokio::test]
async fn items_with_the_same_mark_take_effect_in_array_order_whatever_their_days() {
    let worker = Worker::start();
    let api = worker.api();
    let now = in_groups(&like("42", "post-7"), &["eu"]);
    let then = at(&like("42", "post-7"), AT[0]);
    expect(&api, &then, "counted").await;
    // The first undo needs boards that only the mark names.
    let array = json!([
        undo(&now),
        now,
        now,
        undo(&then),
        undo(&now),
        undo(&now),
        now
    ]);
    let answer = api.post(ACTIVITY, &array).await;
    let expected = [
        "undone",
        "counted",
        "duplicate",
        "stale",
        "undone",
        "nothing-to-undo",
        "counted",
    ];
    assert_eq!(outcomes(&answer), expected);
    assert_eq!(board(&api, "day?date=2026-11-18").await, []);
    for question in ["day", "day?group=eu", "all", "all?group=eu"] {
        assert_eq!(
            board(&api, question).await,
            [("42".to_owned(), 2.0)],
            "{question}"
        );
    }
}
