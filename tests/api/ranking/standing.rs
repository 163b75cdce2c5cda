//! `GET /v1/ranking/{period}/users/{user}`: the standing of one user.

use test_support::{Value, json, peer};

use crate::app::TestApp;
use crate::bodies::{entry, like};
use crate::clock::{day, period};

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
