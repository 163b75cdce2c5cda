//! `GET /v1/content/hot`.

use test_support::{Value, json};

use super::{content, deliver, register, start, write_board};
use crate::app::TestApp;
use crate::bodies::{like, with};
use crate::clock::{day, noon};

/// Likes a target so many days ago.
fn like_ago(user: &str, target: &str, days: i32) -> Value {
    let at = match days {
        0 => json!({}),
        _ => json!({"at": noon(i64::from(days))}),
    };
    with(like(user, target), at)
}

async fn hot(app: &TestApp, query: &str) -> Vec<(String, f64)> {
    let body = app.read(&format!("/v1/content/hot{query}")).await;
    let entries = body["entries"].as_array().expect("entries");
    let row = |(rank, entry): (usize, &Value)| {
        assert_eq!(entry["rank"], rank);
        let id = entry["target"]["id"].as_str().expect("an id");
        (id.to_owned(), entry["score"].as_f64().expect("a score"))
    };
    (1..).zip(entries).map(row).collect()
}

fn row(id: &str, score: f64) -> (String, f64) {
    (id.to_owned(), score)
}

#[tokio::test]
async fn points_halve_with_each_of_seven_days() {
    let app = start();
    app.assert_get("/v1/content/hot", json!({"entries": []}))
        .await;
    app.set_name("9", "Ada").await;
    for target in ["a", "b", "c", "d", "hidden"] {
        register(&app, target, json!({"author": "9", "title": "A title"})).await;
    }
    let likes = [
        like_ago("42", "a", 1),
        like_ago("43", "a", 1),
        like_ago("42", "b", 0),
        like_ago("42", "c", 6),
        like_ago("42", "d", 7),
        like_ago("42", "hidden", 0),
        like_ago("43", "hidden", 0),
    ];
    app.send_activity(json!(likes)).await.assert_status(200);
    deliver(&app).await;
    app.moderate_target("hidden", true).await;
    // Of equal sums, the higher id is first.
    let expected = [row("b", 2.0), row("a", 2.0), row("c", 0.031)];
    assert_eq!(hot(&app, "").await, expected);
    assert_eq!(hot(&app, "?limit=1").await, expected[..1]);
    let body = app.read("/v1/content/hot?limit=1").await;
    let target = json!({"id": "b", "title": "A title"});
    let author = json!({"id": "9", "name": "Ada"});
    let entry = json!({"rank": 1, "score": 2, "target": target, "author": author});
    assert_eq!(body, json!({"entries": [entry]}));
}

/// More targets than a page of a day, in another order each day.
#[tokio::test]
async fn sums_over_several_pages_are_exact() {
    let app = start();
    let points = |index: i64, ago: i64| 2 * (1 + (31 * index + 7 * ago) % 5);
    let id = |index: i64| format!("t-{index:03}");
    for ago in 0..3 {
        let rows = (0..600).map(|index| (id(index), points(index, ago)));
        let rows: Vec<_> = rows.collect();
        write_board(&mut app.store(), &format!("bTd:{}", day(ago)), &rows);
    }
    let half_lives = |index, ago: i64| points(index, ago) as f64 / f64::powi(2.0, ago as i32);
    let sum = |index| (0..3).map(|ago| half_lives(index, ago)).sum::<f64>();
    let mut sums: Vec<_> = (0..600).map(|index| (sum(index), id(index))).collect();
    sums.sort_by(|one, other| other.partial_cmp(one).expect("numbers"));
    for limit in [1, 30, 100] {
        let expected = sums[..limit].iter().map(|(sum, id)| row(id, *sum));
        let expected: Vec<_> = expected.collect();
        assert_eq!(hot(&app, &format!("?limit={limit}")).await, expected);
    }
}

#[tokio::test]
async fn hot_needs_boards_of_days() {
    let app = TestApp::with(|worker| worker.var("CONTENT_PERIODS", "week"));
    let response = app.get("/v1/content/hot").await;
    response.assert_status(404);
    assert_eq!(response.body["detail"], "The period day is switched off.");
    let app = TestApp::with(|worker| content(worker).var("DECIMALS", "0"));
    for query in ["limit=0", "limit=101", "date=2026-01-01", "offset=1"] {
        let response = app.get(&format!("/v1/content/hot?{query}")).await;
        response.assert_status(400);
    }
}
