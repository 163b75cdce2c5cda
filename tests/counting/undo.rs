//! Undo: the points it subtracts, and the undo records that make delayed activities stale.

use crate::requests::{
    ACTIVITY, PERIODS, act, assert_board, at, expect, in_groups, like, outcomes, undo,
};
use test_support::reference::{Store, now, rfc3339};
use test_support::{Value, Worker, json, redis};

const AT: [&str; 3] = [
    "2026-11-18T08:00:00.001Z",
    "2026-11-18T08:00:00.002Z",
    "2026-11-18T08:00:00.003Z",
];

#[tokio::test]
async fn delayed_like_after_undated_undo_is_stale() {
    let worker = Worker::start();
    let api = worker.api();
    let like = like("42", "post-7");
    let before = rfc3339(now() - 100);
    expect(&api, &like, "counted").await;
    expect(&api, &undo(&like), "undone").await;
    expect(&api, &at(&like, &before), "stale").await;
    for period in PERIODS {
        assert_board(&api, period, &[]).await;
    }
}

#[tokio::test]
async fn last_change_of_a_record_never_moves_back() {
    let worker = Worker::start();
    let api = worker.api();
    let like = like("42", "post-7");
    let ahead = |seconds: i64| rfc3339(now() + seconds * 1000);
    let (sooner, later) = (ahead(20), ahead(50));
    expect(&api, &at(&like, &later), "counted").await;
    // Without `at` an undo is applied on arrival, but the record's last change is already later.
    expect(&api, &undo(&like), "undone").await;
    expect(&api, &at(&like, &sooner), "stale").await;
    expect(&api, &like, "counted").await;
    expect(&api, &at(&undo(&like), &sooner), "stale").await;
    expect(&api, &at(&undo(&like), &later), "undone").await;
}

#[tokio::test]
async fn undo_record_is_found_in_the_next_span() {
    let worker = Worker::start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    let like = like("42", "post-7");
    expect(&api, &at(&undo(&like), AT[1]), "nothing-to-undo").await;
    // Moves the undo record to the previous span.
    let key = store.keys("h:").pop_first().unwrap();
    let span: i64 = key.split(':').nth(1).unwrap().parse().unwrap();
    let before = store.key(&format!("h:{}:42", span - 1));
    store.run::<()>("RENAME", &key, &[&before]);
    expect(&api, &at(&like, AT[0]), "stale").await;
    expect(&api, &at(&like, AT[2]), "counted").await;
    // An active record replaces the undo record.
    assert_eq!(store.undo_records(), []);
}

#[tokio::test]
async fn undo_records_do_not_accumulate() {
    let worker = Worker::start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    let likes: Vec<Value> = (0..250).map(|n| like("42", &format!("post-{n}"))).collect();
    let undos: Vec<Value> = likes.iter().map(undo).collect();
    let array = json!([likes.clone(), undos.clone()].concat());
    for _ in 0..2 {
        let response = api.post(ACTIVITY, &array).await;
        assert_eq!(
            outcomes(&response),
            [["counted"; 250], ["undone"; 250]].concat()
        );
    }
    let fields: Vec<String> = store.hash("m:42").into_keys().collect();
    assert_eq!(fields, ["\t"], "no active records");
    // One undo record per target, in keys that expire.
    let undo_records = store.undo_records();
    let records: usize = undo_records.iter().map(|(_, records)| records.len()).sum();
    assert_eq!(records, 250);
    for (key, _) in undo_records {
        let ttl: i64 = store.run("TTL", &key, &[]);
        assert!(ttl > 31 * 86_400 - 60, "{key} expires in {ttl} s");
    }
    api.post(ACTIVITY, &json!(likes)).await.assert_status(200);
    // An active record replaces the undo record.
    assert_eq!(store.undo_records(), []);
}

#[tokio::test]
async fn undo_subtracts_from_disabled_periods() {
    let builder = Worker::builder();
    let all = builder.clone().start();
    let days = builder.var("PERIODS", "day").start();
    let like = in_groups(&like("42", "post-7"), &["eu"]);
    expect(&all.api(), &like, "counted").await;
    expect(&days.api(), &undo(&like), "undone").await;
    for period in PERIODS {
        for query in [period.to_owned(), format!("{period}?group=eu")] {
            assert_board(&all.api(), &query, &[]).await;
        }
    }
}

#[tokio::test]
async fn undo_skips_periods_enabled_later() {
    let builder = Worker::builder();
    let all = builder.clone().start();
    let days = builder.var("PERIODS", "day").start();
    expect(&days.api(), &like("42", "post-7"), "counted").await;
    expect(&all.api(), &act("42", "comment", "c"), "counted").await;
    expect(&all.api(), &undo(&like("42", "post-7")), "undone").await;
    for period in PERIODS {
        assert_board(&all.api(), period, &[("42", 3.0)]).await;
    }
}

#[tokio::test]
async fn undo_subtracts_the_points_originally_given() {
    let builder = Worker::builder();
    let before = builder.clone().start();
    let after = builder
        .json("RULES", json!({ "like": { "points": 5 } }))
        .start();
    expect(&before.api(), &like("42", "post-7"), "counted").await;
    expect(&before.api(), &like("42", "post-8"), "counted").await;
    let response = expect(&after.api(), &undo(&like("42", "post-7")), "undone").await;
    assert_eq!(response.body["points"], -2);
    assert_board(&after.api(), "all", &[("42", 2.0)]).await;
}

#[tokio::test]
async fn undo_uses_the_groups_of_the_record() {
    let worker = Worker::start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    let like = like("42", "post-7");
    for sent in [&["asia"][..], &["us", "eu"], &["eu"], &[]] {
        expect(&api, &in_groups(&like, &["eu", "us"]), "counted").await;
        expect(&api, &undo(&in_groups(&like, sent)), "undone").await;
        for period in PERIODS {
            for group in ["", "?group=eu", "?group=us", "?group=asia"] {
                let query = format!("{period}{group}");
                assert_board(&api, &query, &[]).await;
            }
        }
    }
    let created = store
        .keys("b")
        .into_iter()
        .filter(|key| key.ends_with("asia"));
    assert_eq!(created.count(), 0);
}

#[tokio::test]
async fn items_of_one_record_apply_in_array_order() {
    let worker = Worker::start();
    let api = worker.api();
    let now = in_groups(&like("42", "post-7"), &["eu"]);
    let then = at(&like("42", "post-7"), AT[0]);
    expect(&api, &then, "counted").await;
    // The boards of the first undo are known only from the record.
    let array = json!([
        undo(&now),
        now,
        now,
        undo(&then),
        undo(&now),
        undo(&now),
        now
    ]);
    let response = api.post(ACTIVITY, &array).await;
    let expected = [
        "undone",
        "counted",
        "duplicate",
        "stale",
        "undone",
        "nothing-to-undo",
        "counted",
    ];
    assert_eq!(outcomes(&response), expected);
    assert_board(&api, "day?date=2026-11-18", &[]).await;
    for query in ["day", "day?group=eu", "all", "all?group=eu"] {
        assert_board(&api, query, &[("42", 2.0)]).await;
    }
}
