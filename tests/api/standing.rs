//! `GET /v1/ranking/{period}/users/{user}`

use test_support::{Value, json, peer, peers};

use crate::clock::{day, noon, period};
use crate::site::Site;

/// Who they are: those with equal points as [`peers`].
fn names() -> [String; 5] {
    let [b, c] = peers(["b", "c"]);
    ["a".to_owned(), b, c, "d".to_owned(), "e".to_owned()]
}

/// Users with 9, 7, 7, 4 and 2 points.
async fn five() -> Site {
    let site = Site::start();
    for (user, actions) in names().iter().zip(["ccc", "cll", "llc", "ll", "l"]) {
        for (number, action) in actions.chars().enumerate() {
            let action = if action == 'c' { "comment" } else { "like" };
            site.count(user, action, &number.to_string()).await;
        }
    }
    site
}

fn entry(rank: u32, score: u32, user: &str) -> Value {
    json!({"rank": rank, "score": score, "user": {"id": user}})
}

#[tokio::test]
async fn a_standing_tells_rank_score_and_what_is_missing_to_the_next() {
    let (site, [a, b, c, d, e]) = (five().await, names());
    let ranks = [
        (a, 1, 9, 100.0, Value::Null),
        (b, 2, 7, 80.0, json!({"rank": 1, "score": 9, "points": 3})),
        // Equal, but later: one point more takes the rank.
        (c, 3, 7, 60.0, json!({"rank": 2, "score": 7, "points": 1})),
        (d, 4, 4, 40.0, json!({"rank": 3, "score": 7, "points": 4})),
        (e, 5, 2, 20.0, json!({"rank": 4, "score": 4, "points": 3})),
    ];
    for kind in ["day", "week", "month", "year", "all"] {
        for (user, rank, score, percentile, next) in &ranks {
            let answer = site.get(&format!("/v1/ranking/{kind}/users/{user}")).await;
            let expected = json!({"period": period(kind, day(0)), "user": {"id": user},
                "rank": rank, "score": score, "total": 5, "percentile": percentile,
                "next": next, "around": []});
            answer.assert(200, expected);
            assert_eq!(answer.header("cache-control"), Some("no-store"));
        }
    }
}

#[tokio::test]
async fn the_points_told_take_the_next_rank() {
    let (site, c) = (five().await, peer("c"));
    // c is equal to b and lower; the smallest action brings it past b, and equal to nobody.
    site.outcome(
        json!({"user": c, "action": "visit", "target": "/"}),
        "counted",
    )
    .await;
    let answer = site.get(&format!("/v1/ranking/day/users/{c}")).await;
    assert_eq!(
        (&answer.body["rank"], &answer.body["score"]),
        (&json!(2), &json!(8))
    );
}

#[tokio::test]
async fn around_lists_neighbours_on_both_sides_as_far_as_there_are_any() {
    let (site, [a, b, c, d, e]) = (five().await, &names());
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
        let answer = site
            .get(&format!("/v1/ranking/day/users/{user}?around={around}"))
            .await;
        answer.assert_status(200);
        assert_eq!(
            answer.body["around"],
            json!(all[rows]),
            "{}",
            answer.request
        );
    }
}

#[tokio::test]
async fn twenty_five_neighbours_on_a_long_board() {
    let site = Site::start();
    let user = |number: u32| peer(&format!("u{number}"));
    let like = |number| json!({"user": user(number), "action": "like", "target": "p"});
    let likes: Vec<Value> = (1..=100).map(like).collect();
    site.send_activity(json!(likes)).await.assert_status(200);
    let path = format!("/v1/ranking/day/users/{}?around=25", user(60));
    let answer = site.get(&path).await;
    let row = |rank| entry(rank, 2, &user(rank));
    let expected = json!({"period": period("day", day(0)), "user": {"id": user(60)}, "rank": 60,
        "score": 2, "total": 100, "percentile": 41.0,
        "next": {"rank": 59, "score": 2, "points": 1},
        "around": (35..=85).map(row).collect::<Vec<Value>>()});
    answer.assert(200, expected);
}

#[tokio::test]
async fn who_is_not_on_the_board_has_no_rank() {
    let site = five().await;
    site.put("/v1/users/new", &json!({"name": "Kim"}))
        .await
        .assert_status(200);
    let nobody = |user: Value, total: u32| {
        json!({"period": period("day", day(0)), "user": user, "rank": null, "score": 0,
            "total": total, "percentile": null, "next": null, "around": []})
    };
    let answer = site.get("/v1/ranking/day/users/nobody?around=5").await;
    answer.assert(200, nobody(json!({"id": "nobody"}), 5));
    let answer = site.get("/v1/ranking/day/users/new").await;
    answer.assert(200, nobody(json!({"id": "new", "name": "Kim"}), 5));
    let answer = site.get("/v1/ranking/day/users/a?group=eu").await;
    answer.assert(200, nobody(json!({"id": "a"}), 0));
}

#[tokio::test]
async fn profiles_are_shown_of_the_user_and_those_around() {
    let site = Site::start();
    site.count("a", "comment", "p").await;
    site.count("b", "like", "p").await;
    site.put("/v1/users/a", &json!({"name": "Ada"}))
        .await
        .assert_status(200);
    site.put("/v1/users/b", &json!({"url": "https://example.com/b"}))
        .await
        .assert_status(200);
    let answer = site
        .without_key()
        .get("/v1/ranking/all/users/b?around=1")
        .await;
    let (a, b) = (
        json!({"id": "a", "name": "Ada"}),
        json!({"id": "b", "url": "https://example.com/b"}),
    );
    let expected = json!({"period": period("all", day(0)), "user": b, "rank": 2, "score": 2,
        "total": 2, "percentile": 50.0, "next": {"rank": 1, "score": 3, "points": 2},
        "around": [{"rank": 1, "score": 3, "user": a}, {"rank": 2, "score": 2, "user": b}]});
    answer.assert(200, expected);
}

#[tokio::test]
async fn date_and_group_choose_the_board() {
    let site = Site::start();
    let dated =
        json!({"user": "42", "action": "like", "target": "p", "at": noon(9), "groups": ["eu"]});
    site.outcome(dated, "counted").await;
    site.outcome(
        json!({"user": "7", "action": "comment", "target": "p", "at": noon(9)}),
        "counted",
    )
    .await;
    let path = format!("/v1/ranking/day/users/42?date={}", day(9));
    let expected = |rank: u32, total: u32, percentile: f64, next: Value| {
        json!({"period": period("day", day(9)), "user": {"id": "42"}, "rank": rank, "score": 2,
            "total": total, "percentile": percentile, "next": next, "around": []})
    };
    let next = json!({"rank": 1, "score": 3, "points": 2});
    site.get(&path)
        .await
        .assert(200, expected(2, 2, 50.0, next));
    let group = site.get(&format!("{path}&group=eu")).await;
    group.assert(200, expected(1, 1, 100.0, Value::Null));
}

#[tokio::test]
async fn a_percentile_has_one_decimal() {
    let site = Site::start();
    let like = |user: &str| json!({"user": user, "action": "like", "target": "p"});
    let users = peers(["a", "b", "c"]);
    let likes: Vec<Value> = users.iter().map(|user| like(user)).collect();
    site.send_activity(json!(likes)).await.assert_status(200);
    for (user, percentile) in users.iter().zip([100.0, 66.7, 33.3]) {
        let answer = site.get(&format!("/v1/ranking/day/users/{user}")).await;
        assert_eq!(answer.body["percentile"], percentile);
    }
}

#[tokio::test]
async fn an_id_in_a_path_may_be_percent_encoded() {
    let site = Site::start();
    site.count("me@x|y:z", "like", "p").await;
    for written in ["me@x|y:z", "me%40x%7Cy%3Az", "%6De@x%7cy:z"] {
        let answer = site.get(&format!("/v1/ranking/day/users/{written}")).await;
        assert_eq!(
            (&answer.body["user"]["id"], &answer.body["rank"]),
            (&json!("me@x|y:z"), &json!(1))
        );
    }
}
