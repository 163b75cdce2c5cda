//! The largest requests and the oldest instants.

use crate::requests::{ACTIVITY, assert_board, at, expect, in_groups, like, outcomes, undo};
use jiff::civil::date;
use jiff::{ToSpan, civil::Date};
use test_support::{Value, Worker, json};

/// Returns 500 distinct days.
fn days() -> impl Iterator<Item = Date> {
    (0..500).map(|number| date(2024, 1, 1).checked_add((2 * number).days()).unwrap())
}

#[tokio::test]
async fn array_of_500_days_in_four_groups_is_undone() {
    let worker = Worker::start();
    let api = worker.api();
    let likes: Vec<Value> = days()
        .map(|day| {
            let like = at(&like("42", &day.to_string()), &format!("{day}T12:00:00Z"));
            in_groups(&like, &["eu", "us", "asia", "africa"])
        })
        .collect();
    // The undos name neither day nor groups: the records name 500 different sets of boards.
    let undos: Vec<Value> = days()
        .map(|day| undo(&like("42", &day.to_string())))
        .collect();
    let response = api.post(ACTIVITY, &json!(likes)).await;
    assert_eq!(outcomes(&response), ["counted"; 500]);
    assert_board(&api, "all?group=africa", &[("42", 1000.0)]).await;
    assert_board(&api, "year?date=2025-01-01&group=us", &[("42", 366.0)]).await;
    let response = api.post(ACTIVITY, &json!(undos)).await;
    assert_eq!(outcomes(&response), ["undone"; 500]);
    for query in ["all", "all?group=africa", "year?date=2025-01-01&group=us"] {
        assert_board(&api, query, &[]).await;
    }
}

#[tokio::test]
async fn activity_of_any_age_is_undoable_or_refused() {
    let worker = Worker::start();
    let api = worker.api();
    let instants = [
        "1969-12-31T23:59:59.999Z",
        "1582-10-10T00:00:00Z",
        "0001-01-01T00:00:00Z",
        // In UTC this is in year 0.
        "0001-01-01T00:00:00+14:00",
    ];
    for instant in instants {
        let like = like("42", instant);
        let response = api.post(ACTIVITY, &at(&like, instant)).await;
        if response.status == 400 {
            continue;
        }
        response.assert_status(200);
        assert_eq!(response.body["outcome"], "counted", "{instant}");
        expect(&api, &undo(&like), "undone").await;
    }
}
