//! The most that one request may ask, and the oldest instants.

use crate::site::{ACTIVITY, at, board, expect, in_groups, like, outcomes, undo};
use jiff::civil::date;
use jiff::{ToSpan, civil::Date};
use test_support::{Value, Worker, json};

/// A day of its own for each of 500 items.
fn days() -> impl Iterator<Item = Date> {
    (0..500).map(|number| date(2024, 1, 1).checked_add((2 * number).days()).unwrap())
}

#[tokio::test]
async fn an_array_of_500_days_in_four_groups_each_counts_and_is_taken_back() {
    let worker = Worker::builder()
        .json("STORE_TIMEOUT_MS", json!(30_000))
        .start();
    let api = worker.api();
    let likes: Vec<Value> = days()
        .map(|day| {
            let like = at(&like("42", &day.to_string()), &format!("{day}T12:00:00Z"));
            in_groups(&like, &["eu", "us", "asia", "africa"])
        })
        .collect();
    // No undo knows where its points lie: the marks name 500 places.
    let undos: Vec<Value> = days()
        .map(|day| undo(&like("42", &day.to_string())))
        .collect();
    let answer = api.post(ACTIVITY, &json!(likes)).await;
    assert_eq!(outcomes(&answer), ["counted"; 500]);
    assert_eq!(
        board(&api, "all?group=africa").await,
        [("42".to_owned(), 1000.0)]
    );
    assert_eq!(
        board(&api, "year?date=2025-01-01&group=us").await,
        [("42".to_owned(), 366.0)]
    );
    let answer = api.post(ACTIVITY, &json!(undos)).await;
    assert_eq!(outcomes(&answer), ["undone"; 500]);
    for question in ["all", "all?group=africa", "year?date=2025-01-01&group=us"] {
        assert_eq!(board(&api, question).await, [], "{question}");
    }
}

#[tokio::test]
async fn an_activity_of_any_age_is_counted_and_taken_back_or_refused() {
    let worker = Worker::start();
    let api = worker.api();
    let instants = [
        "1969-12-31T23:59:59.999Z",
        "1582-10-10T00:00:00Z",
        "0001-01-01T00:00:00Z",
        // In UTC still the year before.
        "0001-01-01T00:00:00+14:00",
    ];
    for instant in instants {
        let like = like("42", instant);
        let answer = api.post(ACTIVITY, &at(&like, instant)).await;
        if answer.status == 400 {
            continue;
        }
        answer.assert_status(200);
        assert_eq!(answer.body["outcome"], "counted", "{instant}");
        expect(&api, &undo(&like), "undone").await;
    }
}
