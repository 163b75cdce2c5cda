//! `POINT_DECIMALS`: exact decimal points.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{activity as act, board, outcome, undo};
use crate::clock::{day, noon_zone, period, standings};
use crate::problem::assert_problem;

fn with_decimals(rules: Value) -> TestApp {
    TestApp::with(|worker| worker.var("POINT_DECIMALS", "2").json("RULES", rules))
}

#[tokio::test]
async fn decimal_scores_are_exact() {
    let app = with_decimals(json!({"tip": {"points": 0.1}, "gift": {"points": 0.75}}));
    for (number, score) in [json!(0.1), json!(0.2), json!(0.3)].into_iter().enumerate() {
        let tip = act("a", "tip", &number.to_string());
        let counted = outcome("counted", 0.1, standings(day(0), score, 1));
        app.assert_activity(tip, counted).await;
    }
    app.counted(act("b", "gift", "p")).await;
    let counted = outcome("counted", 2, standings(day(0), 2.75, 1));
    app.assert_activity(act("b", "like", "p"), counted).await;
    let undone = outcome("undone", -0.75, standings(day(0), 2, 1));
    app.assert_activity(undo(act("b", "gift", "p")), undone)
        .await;

    let entries = json!([{"rank": 1, "score": 2, "user": {"id": "b"}},
        {"rank": 2, "score": 0.3, "user": {"id": "a"}}]);
    let expected = board(period("day", day(0)), 2, entries);
    app.assert_get("/v1/ranking/day", expected).await;
    let compared = app.read("/v1/ranking/day/users?ids=a").await;
    assert_eq!(compared["entries"][0]["score"], 0.3);
    let today = json!({"date": day(0).to_string(), "points": 0.3,
        "actions": {"tip": {"count": 3, "points": 0.3}}});
    let streak = json!({"current": 1, "longest": 1, "weeks": {"current": 1, "longest": 1}});
    let history =
        json!({"user": {"id": "a"}, "timezone": noon_zone(), "days": [today], "streak": streak});
    app.assert_get("/v1/users/a/activity?days=1", history).await;
}

#[tokio::test]
async fn next_rank_is_one_step_away() {
    let app = with_decimals(json!({"tip": {"points": 0.01}}));
    app.counted(act("a", "like", "p")).await;
    app.counted(act("b", "like", "p")).await;
    let next = json!({"rank": 1, "score": 2, "points": 0.01});
    assert_eq!(app.read("/v1/ranking/day/users/b").await["next"], next);
    let tip = app.counted(act("b", "tip", "p")).await;
    assert_eq!(tip["standings"], standings(day(0), 2.01, 1));
}

#[tokio::test]
async fn daily_cap_accepts_decimals() {
    let app = with_decimals(json!({"tip": {"points": 0.1, "daily_cap": 0.29}}));
    app.counted(act("a", "tip", "1")).await;
    app.counted(act("a", "tip", "2")).await;
    app.outcome(act("a", "tip", "3"), "capped").await;
}

#[tokio::test]
async fn score_reaches_eight_million_steps() {
    let app = with_decimals(json!({"jackpot": {"points": 79_999.99}, "tip": {"points": 0.01}}));
    app.counted(act("a", "jackpot", "p")).await;
    let full = app.counted(act("a", "tip", "p")).await;
    assert_eq!(full["standings"], standings(day(0), 80_000, 1));
    let refused = app.send_activity(act("a", "jackpot", "q")).await;
    assert_problem(&refused, "score-overflow");
}
