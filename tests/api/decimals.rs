//! `POINT_DECIMALS`: points with decimals, exact.

use test_support::{Value, json};

use crate::clock::{day, noon_zone, period, standings};
use crate::site::Site;

fn with_decimals(rules: Value) -> Site {
    Site::with(|worker| worker.var("POINT_DECIMALS", "2").json("RULES", rules))
}

fn act(user: &str, action: &str, target: &str) -> Value {
    json!({"user": user, "action": action, "target": target})
}

#[tokio::test]
async fn scores_are_exact_and_whole_ones_are_written_without_decimals() {
    let site = with_decimals(json!({"tip": {"points": 0.1}, "gift": {"points": 0.75}}));
    for (number, score) in [json!(0.1), json!(0.2), json!(0.3)].into_iter().enumerate() {
        let answer = site
            .send_activity(act("a", "tip", &number.to_string()))
            .await;
        let standings = standings(day(0), score, 1);
        answer.assert(
            200,
            json!({"outcome": "counted", "points": 0.1, "standings": standings}),
        );
    }
    site.outcome(act("b", "gift", "p"), "counted").await;
    let answer = site.send_activity(act("b", "like", "p")).await;
    let expected = standings(day(0), 2.75, 1);
    answer.assert(
        200,
        json!({"outcome": "counted", "points": 2, "standings": expected}),
    );
    let undo = json!({"user": "b", "action": "gift", "target": "p", "undo": true});
    let answer = site.send_activity(undo).await;
    let expected = standings(day(0), 2, 1);
    answer.assert(
        200,
        json!({"outcome": "undone", "points": -0.75, "standings": expected}),
    );

    let board = site.get("/v1/ranking/day").await;
    let entries = json!([{"rank": 1, "score": 2, "user": {"id": "b"}},
        {"rank": 2, "score": 0.3, "user": {"id": "a"}}]);
    board.assert(
        200,
        json!({"period": period("day", day(0)), "total": 2, "entries": entries}),
    );
    let compared = site.get("/v1/ranking/day/users?ids=a").await;
    assert_eq!(compared.body["entries"][0]["score"], 0.3);
    let history = site.get("/v1/users/a/activity?days=1").await;
    let today = json!({"date": day(0).to_string(), "points": 0.3,
        "actions": {"tip": {"count": 3, "points": 0.3}}});
    let streak = json!({"current": 1, "longest": 1});
    history.assert(
        200,
        json!({"user": {"id": "a"}, "timezone": noon_zone(), "days": [today], "streak": streak}),
    );
}

#[tokio::test]
async fn the_next_place_is_a_smallest_step_away() {
    let site = with_decimals(json!({"tip": {"points": 0.01}}));
    site.outcome(act("a", "like", "p"), "counted").await;
    site.outcome(act("b", "like", "p"), "counted").await;
    let standing = site.get("/v1/ranking/day/users/b").await;
    let next = json!({"rank": 1, "score": 2, "points": 0.01});
    assert_eq!(standing.body["next"], next);
    let tip = site.outcome(act("b", "tip", "p"), "counted").await;
    assert_eq!(tip["standings"], standings(day(0), 2.01, 1));
}

#[tokio::test]
async fn caps_have_decimals_too() {
    let site = with_decimals(json!({"tip": {"points": 0.1, "daily_cap": 0.29}}));
    site.outcome(act("a", "tip", "1"), "counted").await;
    site.outcome(act("a", "tip", "2"), "counted").await;
    site.outcome(act("a", "tip", "3"), "capped").await;
}

#[tokio::test]
async fn a_score_reaches_eight_million_smallest_steps() {
    let site = with_decimals(json!({"jackpot": {"points": 79_999.99}, "tip": {"points": 0.01}}));
    site.outcome(act("a", "jackpot", "p"), "counted").await;
    let full = site.outcome(act("a", "tip", "p"), "counted").await;
    assert_eq!(full["standings"], standings(day(0), 80_000, 1));
    site.send_activity(act("a", "jackpot", "q"))
        .await
        .assert_status(422);
}
