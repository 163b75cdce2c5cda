//! `GET /v1/ranking/{period}`: a board.

mod comparison;
mod friends;
mod levels;
mod movement;
mod standing;

use test_support::{Value, json, peer, peers};

use crate::app::TestApp;
use crate::bodies::{board, empty_board, entry, like, with};
use crate::clock::{day, period};

/// Counts 2 points each for the [`peers`] `u1`, `u2` …, in this order.
async fn fill_board(app: &TestApp, users: usize) {
    let like = |user| like(&peer(&format!("u{user}")), "p");
    let likes: Vec<Value> = (1..=users).map(like).collect();
    app.send_activity(json!(likes)).await.assert_status(200);
}

fn entries(ranks: impl Iterator<Item = u32>) -> Vec<Value> {
    let entry = |rank| entry(rank, 2, &peer(&format!("u{rank}")));
    ranks.map(entry).collect()
}

#[tokio::test]
async fn board_lists_users_best_first_with_profiles() {
    let app = TestApp::start();
    let [kim, unnamed] = peers(["7", "unnamed"]);
    app.count(&kim, "like", "p").await;
    app.count("42", "comment", "p").await;
    app.count(&unnamed, "like", "p").await;
    let ada = json!({"name": "Ada", "avatar": "https://example.com/a.png", "url": "https://example.com/a"});
    app.put_profile("42", ada.clone()).await;
    let entries = json!([
        {"rank": 1, "score": 3, "user": with(ada, json!({"id": "42"}))},
        {"rank": 2, "score": 2, "user": {"id": kim, "name": "Kim"}},
        entry(3, 2, &unnamed),
    ]);
    app.set_name(&kim, "Kim").await;
    for kind in ["day", "week", "month", "year", "all"] {
        let response = app.get(&format!("/v1/ranking/{kind}")).await;
        response.assert(200, board(period(kind, day(0)), 3, entries.clone()));
        assert_eq!(response.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn limit_and_offset_select_a_page() {
    let app = TestApp::start();
    fill_board(&app, 130).await;
    let cases = [
        ("", 1..31),
        ("?limit=1", 1..2),
        ("?limit=100", 1..101),
        ("?offset=100&limit=100", 101..131),
        ("?limit=2&offset=3", 4..6),
        ("?offset=129", 130..131),
        ("?offset=0", 1..31),
        ("?offset=130", 131..131),
        ("?offset=100000", 131..131),
    ];
    for (query, ranks) in cases {
        let expected = board(period("week", day(0)), 130, entries(ranks));
        app.assert_get(&format!("/v1/ranking/week{query}"), expected)
            .await;
    }
}

#[tokio::test]
async fn unwritten_board_is_empty() {
    let app = TestApp::start();
    for (kind, date) in [
        ("year", "0001-01-01"),
        ("week", "1969-12-29"),
        ("day", "2024-02-29"),
    ] {
        let expected = empty_board(kind, date.parse().unwrap());
        let path = format!("/v1/ranking/{kind}?date={date}");
        app.assert_get(&path, expected).await;
    }
}

#[tokio::test]
async fn board_is_public() {
    let app = TestApp::start();
    fill_board(&app, 1).await;
    let expected = board(period("day", day(0)), 1, entries(1..=1));
    for client in [app.without_key(), app.with_key("invalid")] {
        client.assert_get("/v1/ranking/day", expected.clone()).await;
    }
}
