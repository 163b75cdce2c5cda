//! `GET /v1/ranking/{period}`

use test_support::{Value, json, peer, peers};

use crate::clock::{day, noon, period};
use crate::site::Site;

/// Users `u1`, `u2` … with 2 points each, in this order, as [`peers`].
async fn ranked(site: &Site, users: usize) {
    let like = |user| json!({"user": peer(&format!("u{user}")), "action": "like", "target": "p"});
    let likes: Vec<Value> = (1..=users).map(like).collect();
    site.send_activity(json!(likes)).await.assert_status(200);
}

fn entries(ranks: impl Iterator<Item = usize>) -> Vec<Value> {
    let user = |rank| json!({"id": peer(&format!("u{rank}"))});
    let entry = |rank| json!({"rank": rank, "score": 2, "user": user(rank)});
    ranks.map(entry).collect()
}

#[tokio::test]
async fn a_board_lists_users_best_first_with_their_profiles() {
    let site = Site::start();
    let [kim, nobody] = peers(["7", "nobody"]);
    site.count(&kim, "like", "p").await;
    site.count("42", "comment", "p").await;
    site.count(&nobody, "like", "p").await;
    let ada = json!({"name": "Ada", "avatar": "https://example.com/a.png", "url": "https://example.com/a"});
    site.put("/v1/users/42", &ada).await.assert_status(200);
    site.put(&format!("/v1/users/{kim}"), &json!({"name": "Kim"}))
        .await
        .assert_status(200);
    for kind in ["day", "week", "month", "year", "all"] {
        let answer = site.get(&format!("/v1/ranking/{kind}")).await;
        let expected = json!({"period": period(kind, day(0)), "total": 3, "entries": [
            {"rank": 1, "score": 3, "user": {"id": "42", "name": "Ada",
                "avatar": "https://example.com/a.png", "url": "https://example.com/a"}},
            {"rank": 2, "score": 2, "user": {"id": kim, "name": "Kim"}},
            {"rank": 3, "score": 2, "user": {"id": nobody}},
        ]});
        answer.assert(200, expected);
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn limit_and_offset_choose_a_stretch() {
    let site = Site::start();
    ranked(&site, 130).await;
    let cases = [
        ("", 1..=30),
        ("?limit=1", 1..=1),
        ("?limit=100", 1..=100),
        ("?offset=100&limit=100", 101..=130),
        ("?limit=2&offset=3", 4..=5),
        ("?offset=129", 130..=130),
        ("?offset=0", 1..=30),
    ];
    for (query, ranks) in cases {
        let answer = site.get(&format!("/v1/ranking/week{query}")).await;
        let period = period("week", day(0));
        answer.assert(
            200,
            json!({"period": period, "total": 130, "entries": entries(ranks)}),
        );
    }
    for query in ["?offset=130", "?offset=100000"] {
        let answer = site.get(&format!("/v1/ranking/week{query}")).await;
        answer.assert(
            200,
            json!({"period": period("week", day(0)), "total": 130, "entries": []}),
        );
    }
}

#[tokio::test]
async fn a_group_board_ranks_only_what_was_sent_with_the_group() {
    let site = Site::start();
    let [a, b, c] = &peers(["a", "b", "c"]);
    let grouped = |user: &str, groups: Value| json!({"user": user, "action": "like", "target": "p", "groups": groups});
    site.outcome(grouped(a, json!(["eu"])), "counted").await;
    site.outcome(grouped(b, json!(["eu", "us", "x:y", "all"])), "counted")
        .await;
    site.outcome(grouped(c, json!([])), "counted").await;
    let users = async |query: &str| -> Vec<Value> {
        let answer = site.get(&format!("/v1/ranking/month{query}")).await;
        assert_eq!(answer.body["period"], period("month", day(0)));
        let entries = answer.body["entries"].as_array().unwrap();
        entries
            .iter()
            .map(|entry| entry["user"]["id"].clone())
            .collect()
    };
    assert_eq!(users("").await, [a, b, c].map(|user| json!(user)));
    assert_eq!(users("?group=eu").await, [a, b].map(|user| json!(user)));
    for group in ["us", "x:y", "x%3Ay", "all"] {
        let query = format!("?group={group}");
        assert_eq!(users(&query).await, [json!(b)], "{group}");
    }
    assert_eq!(users("?group=EU").await, [""; 0]);
}

#[tokio::test]
async fn a_date_names_the_board_that_contains_it() {
    let site = Site::start();
    let dated =
        json!({"user": "42", "action": "like", "target": "p", "at": noon(400), "groups": ["eu"]});
    site.outcome(dated, "counted").await;
    for kind in ["day", "week", "month", "year", "all"] {
        for group in ["", "&group=eu"] {
            let answer = site
                .get(&format!("/v1/ranking/{kind}?date={}{group}", day(400)))
                .await;
            let expected = json!({"period": period(kind, day(400)), "total": 1,
                "entries": [{"rank": 1, "score": 2, "user": {"id": "42"}}]});
            answer.assert(200, expected);
            assert_eq!(answer.body["period"]["closed"], kind != "all");
        }
    }
    let today = site.get(&format!("/v1/ranking/day?date={}", day(0))).await;
    today.assert(
        200,
        json!({"period": period("day", day(0)), "total": 0, "entries": []}),
    );
    assert_eq!(today.body["period"]["closed"], false);
}

#[tokio::test]
async fn a_board_never_written_is_empty() {
    let site = Site::start();
    for (kind, date) in [
        ("year", "0001-01-01"),
        ("week", "1969-12-29"),
        ("day", "2024-02-29"),
    ] {
        let answer = site.get(&format!("/v1/ranking/{kind}?date={date}")).await;
        let period = period(kind, date.parse().unwrap());
        answer.assert(200, json!({"period": period, "total": 0, "entries": []}));
    }
}

#[tokio::test]
async fn anybody_may_read_a_board() {
    let site = Site::start();
    ranked(&site, 1).await;
    let expected = json!({"period": period("day", day(0)), "total": 1, "entries": entries(1..=1)});
    site.without_key()
        .get("/v1/ranking/day")
        .await
        .assert(200, expected.clone());
    let wrong = [("authorization", "Bearer nobody's")];
    let answer = site
        .send(test_support::Method::GET, "/v1/ranking/day", "", &wrong)
        .await;
    answer.assert(200, expected);
}

#[tokio::test]
async fn who_falls_back_to_zero_leaves_the_board() {
    let site = Site::start();
    ranked(&site, 2).await;
    let undo = json!({"user": peer("u1"), "action": "like", "target": "p", "undo": true});
    site.outcome(undo, "undone").await;
    let entry = json!({"rank": 1, "score": 2, "user": {"id": peer("u2")}});
    let expected = json!({"period": period("day", day(0)), "total": 1, "entries": [entry]});
    site.get("/v1/ranking/day").await.assert(200, expected);
}
