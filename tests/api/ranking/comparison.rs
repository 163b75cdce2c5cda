//! `GET /v1/ranking/{period}/users?ids=`: several users of a board.

use test_support::{Value, json, peer, peers};

use crate::app::TestApp;
use crate::bodies::board;
use crate::clock::{day, period};

/// Starts a service where `a` has 3 points, and the [`peers`] `b` and `c` have 2.
async fn three() -> TestApp {
    let app = TestApp::start();
    let [b, c] = peers(["b", "c"]);
    app.count("a", "comment", "p").await;
    app.count(&b, "like", "p").await;
    app.count(&c, "like", "p").await;
    app.set_name(&c, "Kim").await;
    app
}

fn row(position: u32, rank: u32, score: u32, user: Value) -> Value {
    json!({"position": position, "rank": rank, "score": score, "user": user})
}

/// The row of the user with the best rank.
fn first() -> Value {
    row(1, 1, 3, json!({"id": "a"}))
}

/// The row of `c`, requested together with one user of a better rank.
fn kim() -> Value {
    row(2, 3, 2, json!({"id": peer("c"), "name": "Kim"}))
}

fn unranked(user: &str) -> Value {
    json!({"position": null, "rank": null, "score": 0, "user": {"id": user}})
}

#[tokio::test]
async fn users_sort_by_rank_then_by_request_order() {
    let (app, c) = (three().await, peer("c"));
    for kind in ["day", "week", "month", "year", "all"] {
        let path = format!("/v1/ranking/{kind}/users?ids=y,{c},x,a");
        let response = app.get(&path).await;
        let entries = [first(), kim(), unranked("y"), unranked("x")];
        response.assert(200, board(period(kind, day(0)), 3, entries));
        assert_eq!(response.header("cache-control"), Some("no-store"));
    }
}

#[tokio::test]
async fn repeated_id_is_returned_once() {
    let (app, [b, c]) = (three().await, &peers(["b", "c"]));
    let second = |position| row(position, 2, 2, json!({"id": b}));
    for (ids, entries) in [
        (
            format!("{b},x,{b},a,x"),
            vec![first(), second(2), unranked("x")],
        ),
        // Commas may be percent-encoded.
        (format!("{c}%2C{b}%2C{c}"), vec![second(1), kim()]),
    ] {
        let path = format!("/v1/ranking/day/users?ids={ids}");
        let expected = board(period("day", day(0)), 3, entries);
        app.without_key().assert_get(&path, expected).await;
    }
}

#[tokio::test]
async fn hundred_users_are_compared() {
    let app = three().await;
    let others: Vec<String> = (0..99).map(|user| format!("u{user}")).collect();
    let path = format!("/v1/ranking/day/users?ids={},a", others.join(","));
    let others = others.iter().map(|user| unranked(user));
    let entries: Vec<Value> = [first()].into_iter().chain(others).collect();
    let expected = board(period("day", day(0)), 3, entries);
    app.assert_get(&path, expected).await;
}
