//! `GET /v1/ranking/{period}/users/{user}`: the standing of one user.

use test_support::{Value, json, peer, peers};

use crate::app::TestApp;
use crate::bodies::{entry, like};
use crate::clock::{day, period};

/// Returns the users of [`five_users`]; the tied ones are [`peers`].
fn names() -> [String; 5] {
    let [b, c] = peers(["b", "c"]);
    ["a".to_owned(), b, c, "d".to_owned(), "e".to_owned()]
}

/// Starts a service with users of 9, 7, 7, 4 and 2 points.
async fn five_users() -> TestApp {
    let app = TestApp::start();
    for (user, actions) in names().iter().zip(["ccc", "cll", "llc", "ll", "l"]) {
        for (number, action) in actions.chars().enumerate() {
            let action = if action == 'c' { "comment" } else { "like" };
            app.count(user, action, &number.to_string()).await;
        }
    }
    app
}

#[tokio::test]
async fn standing_has_rank_score_and_points_to_next_rank() {
    let (app, [a, b, c, d, e]) = (five_users().await, names());
    let ranks = [
        (a, 1, 9, 100.0, Value::Null),
        (b, 2, 7, 80.0, json!({"rank": 1, "score": 9, "points": 3})),
        // Tied but later: one point more takes the rank.
        (c, 3, 7, 60.0, json!({"rank": 2, "score": 7, "points": 1})),
        (d, 4, 4, 40.0, json!({"rank": 3, "score": 7, "points": 4})),
        (e, 5, 2, 20.0, json!({"rank": 4, "score": 4, "points": 3})),
    ];
    for kind in ["day", "week", "month", "year", "all"] {
        for (user, rank, score, percentile, next) in &ranks {
            let response = app.get(&format!("/v1/ranking/{kind}/users/{user}")).await;
            let expected = json!({"period": period(kind, day(0)), "user": {"id": user},
                "rank": rank, "score": score, "total": 5, "percentile": percentile,
                "next": next, "around": []});
            response.assert(200, expected);
            assert_eq!(response.header("cache-control"), Some("no-store"));
        }
    }
}

#[tokio::test]
async fn around_lists_neighbors_on_both_sides() {
    let (app, [a, b, c, d, e]) = (five_users().await, &names());
    let all = [
        entry(1, 9, a),
        entry(2, 7, b),
        entry(3, 7, c),
        entry(4, 4, d),
        entry(5, 2, e),
    ];
    let cases = [
        (a, 0, 0..0),
        (a, 1, 0..2),
        (a, 25, 0..5),
        (b, 1, 0..3),
        (c, 1, 1..4),
        (c, 2, 0..5),
        (d, 2, 1..5),
        (e, 1, 3..5),
        (e, 3, 1..5),
        (e, 25, 0..5),
    ];
    for (user, around, rows) in cases {
        let path = format!("/v1/ranking/day/users/{user}?around={around}");
        let standing = app.read(&path).await;
        assert_eq!(standing["around"], json!(all[rows]), "{path}");
    }
}

#[tokio::test]
async fn around_25_lists_51_users() {
    let app = TestApp::start();
    let user = |number: u32| peer(&format!("u{number}"));
    let like = |number| like(&user(number), "p");
    let likes: Vec<Value> = (1..=100).map(like).collect();
    app.send_activity(json!(likes)).await.assert_status(200);
    let path = format!("/v1/ranking/day/users/{}?around=25", user(60));
    let response = app.get(&path).await;
    let row = |rank| entry(rank, 2, &user(rank));
    let expected = json!({"period": period("day", day(0)), "user": {"id": user(60)}, "rank": 60,
        "score": 2, "total": 100, "percentile": 41.0,
        "next": {"rank": 59, "score": 2, "points": 1},
        "around": (35..=85).map(row).collect::<Vec<Value>>()});
    response.assert(200, expected);
}

#[tokio::test]
async fn user_off_the_board_has_no_rank() {
    let app = five_users().await;
    app.set_name("new", "Kim").await;
    let unranked = |user: Value, total: u32| {
        json!({"period": period("day", day(0)), "user": user, "rank": null, "score": 0,
            "total": total, "percentile": null, "next": null, "around": []})
    };
    for (path, user, total) in [
        ("unknown?around=5", json!({"id": "unknown"}), 5),
        ("new", json!({"id": "new", "name": "Kim"}), 5),
        ("a?group=eu", json!({"id": "a"}), 0),
    ] {
        let path = format!("/v1/ranking/day/users/{path}");
        app.assert_get(&path, unranked(user, total)).await;
    }
}

#[tokio::test]
async fn standing_includes_profiles() {
    let app = TestApp::start();
    app.count("a", "comment", "p").await;
    app.count("b", "like", "p").await;
    app.set_name("a", "Ada").await;
    let url = "https://example.com/b";
    app.put_profile("b", json!({"url": url})).await;
    let (a, b) = (
        json!({"id": "a", "name": "Ada"}),
        json!({"id": "b", "url": url}),
    );
    let expected = json!({"period": period("all", day(0)), "user": b, "rank": 2, "score": 2,
        "total": 2, "percentile": 50.0, "next": {"rank": 1, "score": 3, "points": 2},
        "around": [{"rank": 1, "score": 3, "user": a}, {"rank": 2, "score": 2, "user": b}]});
    let path = "/v1/ranking/all/users/b?around=1";
    app.without_key().assert_get(path, expected).await;
}

#[tokio::test]
async fn user_in_path_may_be_percent_encoded() {
    let app = TestApp::start();
    app.count("me@x|y:z", "like", "p").await;
    for encoded in ["me@x|y:z", "me%40x%7Cy%3Az", "%6De@x%7cy:z"] {
        let standing = app.read(&format!("/v1/ranking/day/users/{encoded}")).await;
        assert_eq!(standing["user"]["id"], "me@x|y:z");
        assert_eq!(standing["rank"], 1);
    }
}
