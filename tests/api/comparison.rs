//! `GET /v1/ranking/{period}/users?ids=`

use test_support::{Value, json, peer, peers};

use crate::clock::{day, noon, period};
use crate::site::Site;

/// `a` with 3 points, `b` and `c` with 2: these two as [`peers`].
async fn three() -> Site {
    let site = Site::start();
    let [b, c] = peers(["b", "c"]);
    site.count("a", "comment", "p").await;
    site.count(&b, "like", "p").await;
    site.count(&c, "like", "p").await;
    site.put(&format!("/v1/users/{c}"), &json!({"name": "Kim"}))
        .await
        .assert_status(200);
    site
}

fn row(position: u32, rank: u32, score: u32, user: Value) -> Value {
    json!({"position": position, "rank": rank, "score": score, "user": user})
}

fn unranked(user: &str) -> Value {
    json!({"position": null, "rank": null, "score": 0, "user": {"id": user}})
}

#[tokio::test]
async fn users_are_ordered_by_rank_and_those_without_one_as_asked() {
    let (site, c) = (three().await, peer("c"));
    for kind in ["day", "week", "month", "year", "all"] {
        let answer = site
            .get(&format!("/v1/ranking/{kind}/users?ids=y,{c},x,a"))
            .await;
        let kim = json!({"id": c, "name": "Kim"});
        let entries = json!([
            row(1, 1, 3, json!({"id": "a"})),
            row(2, 3, 2, kim),
            unranked("y"),
            unranked("x")
        ]);
        answer.assert(
            200,
            json!({"period": period(kind, day(0)), "total": 3, "entries": entries}),
        );
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
}

#[tokio::test]
async fn an_id_asked_twice_is_answered_once() {
    let (site, b) = (three().await, peer("b"));
    let answer = site
        .without_key()
        .get(&format!("/v1/ranking/day/users?ids={b},x,{b},a,x"))
        .await;
    let entries = json!([
        row(1, 1, 3, json!({"id": "a"})),
        row(2, 2, 2, json!({"id": b})),
        unranked("x")
    ]);
    answer.assert(
        200,
        json!({"period": period("day", day(0)), "total": 3, "entries": entries}),
    );
}

#[tokio::test]
async fn a_hundred_users_can_be_compared() {
    let site = three().await;
    let ids: Vec<String> = (0..99)
        .map(|user| format!("u{user}"))
        .chain(["a".to_owned()])
        .collect();
    let answer = site
        .get(&format!("/v1/ranking/day/users?ids={}", ids.join(",")))
        .await;
    let nobodies = ids.iter().take(99).map(|user| unranked(user));
    let entries: Vec<Value> = [row(1, 1, 3, json!({"id": "a"}))]
        .into_iter()
        .chain(nobodies)
        .collect();
    answer.assert(
        200,
        json!({"period": period("day", day(0)), "total": 3, "entries": entries}),
    );
}

#[tokio::test]
async fn commas_may_be_percent_encoded() {
    let (site, [b, c]) = (three().await, peers(["b", "c"]));
    let path = format!("/v1/ranking/day/users?ids={c}%2C{b}");
    let answer = site.get(&path).await;
    let kim = json!({"id": c, "name": "Kim"});
    let entries = json!([row(1, 2, 2, json!({"id": b})), row(2, 3, 2, kim)]);
    answer.assert(
        200,
        json!({"period": period("day", day(0)), "total": 3, "entries": entries}),
    );
}

#[tokio::test]
async fn date_and_group_choose_the_board() {
    let site = three().await;
    let dated =
        json!({"user": "b", "action": "like", "target": "q", "at": noon(9), "groups": ["eu"]});
    site.outcome(dated, "counted").await;
    let entries = json!([row(1, 1, 2, json!({"id": "b"})), unranked("a")]);
    for group in ["", "&group=eu"] {
        let path = format!("/v1/ranking/day/users?ids=a,b&date={}{group}", day(9));
        let period = period("day", day(9));
        site.get(&path).await.assert(
            200,
            json!({"period": period, "total": 1, "entries": entries}),
        );
    }
    let entries = json!([unranked("a"), unranked("b")]);
    let answer = site.get("/v1/ranking/day/users?ids=a,b&group=eu").await;
    answer.assert(
        200,
        json!({"period": period("day", day(0)), "total": 0, "entries": entries}),
    );
}
