//! `RULES`: new actions, caps and cooldowns.

use test_support::{Value, json};

use crate::clock::{ago, day, noon, standings};
use crate::site::Site;

fn with_rules(rules: Value) -> Site {
    Site::with(|worker| worker.json("RULES", rules))
}

fn act(action: &str, target: &str) -> Value {
    json!({"user": "42", "action": action, "target": target})
}

fn act_at(action: &str, target: &str, at: &str) -> Value {
    json!({"user": "42", "action": action, "target": target, "at": at})
}

fn undo(action: &str, target: &str) -> Value {
    json!({"user": "42", "action": action, "target": target, "undo": true})
}

#[tokio::test]
async fn a_new_action_needs_no_code() {
    let site = with_rules(json!({"answer": {"points": 5}}));
    let answer = site.send_activity(act("answer", "question-1")).await;
    let expected = standings(day(0), 5, 1);
    answer.assert(
        200,
        json!({"outcome": "counted", "points": 5, "standings": expected}),
    );
    site.outcome(undo("answer", "question-1"), "undone").await;
    // The rules that come with the service are still there.
    site.outcome(act("like", "p"), "counted").await;
}

#[tokio::test]
async fn a_rule_is_changed_in_the_part_that_is_named() {
    let site = with_rules(json!({"like": {"points": 7}, "follow": {"undo": false}}));
    let liked = site.outcome(act("like", "p"), "counted").await;
    assert_eq!(liked["points"], 7);
    let undone = site.outcome(undo("like", "p"), "undone").await;
    assert_eq!(undone["points"], -7);
    let followed = site.outcome(act("follow", "p"), "counted").await;
    assert_eq!(followed["points"], 2);
    site.send_activity(undo("follow", "p"))
        .await
        .assert_status(422);
}

#[tokio::test]
async fn rules_may_be_the_json_of_a_table() {
    let site = Site::with(|worker| worker.var("RULES", r#"{"answer":{"points":5}}"#));
    site.outcome(act("answer", "question-1"), "counted").await;
}

#[tokio::test]
async fn an_action_can_count_once_a_day_like_a_visit_and_of_any_target() {
    let site = with_rules(json!({"check-in": {"points": 1, "once": "day"}}));
    site.outcome(act("check-in", "shop?a=1"), "counted").await;
    site.outcome(act("check-in", "shop?a=1"), "duplicate").await;
    site.outcome(act("check-in", "shop"), "counted").await;
    site.outcome(act_at("check-in", "shop", &noon(1)), "counted")
        .await;
    site.outcome(act_at("check-in", "shop", &noon(31)), "stale")
        .await;
    site.send_activity(undo("check-in", "shop"))
        .await
        .assert_status(422);
}

#[tokio::test]
async fn a_daily_cap_leaves_out_what_does_not_fit_as_a_whole() {
    let site = with_rules(json!({"like": {"daily_cap": 5}}));
    site.outcome(act("like", "a"), "counted").await;
    site.outcome(act("like", "b"), "counted").await;
    let answer = site.send_activity(act("like", "c")).await;
    let expected = standings(day(0), 4, 1);
    answer.assert(
        200,
        json!({"outcome": "capped", "reason": "daily-cap", "points": 0, "standings": expected}),
    );
    // It left no mark: another day counts it, and so does today once there is room.
    site.outcome(act_at("like", "c", &noon(1)), "counted").await;
    site.outcome(act("like", "c"), "duplicate").await;
    site.outcome(act("like", "d"), "capped").await;
    site.outcome(undo("like", "d"), "nothing-to-undo").await;
    site.outcome(undo("like", "a"), "undone").await;
    site.outcome(act("like", "d"), "counted").await;
    site.outcome(act("like", "a"), "capped").await;
    // Others and other actions have room of their own.
    site.outcome(act("follow", "c"), "counted").await;
    site.count("7", "like", "c").await;
}

#[tokio::test]
async fn a_cooldown_leaves_out_what_comes_too_soon() {
    let site = with_rules(json!({"comment": {"cooldown": 100}}));
    site.outcome(act_at("comment", "a", &ago(500)), "counted")
        .await;
    let answer = site.send_activity(act_at("comment", "b", &ago(401))).await;
    let expected = standings(day(0), 3, 1);
    answer.assert(
        200,
        json!({"outcome": "capped", "reason": "cooldown", "points": 0, "standings": expected}),
    );
    site.outcome(act_at("comment", "b", &ago(399)), "counted")
        .await;
    site.outcome(act("comment", "c"), "counted").await;
    site.outcome(act("comment", "d"), "capped").await;
    site.outcome(act("comment", "c"), "duplicate").await;
    site.outcome(act("like", "d"), "counted").await;
    site.count("7", "comment", "d").await;
}

#[tokio::test]
async fn an_array_is_capped_item_by_item() {
    let site = with_rules(json!({"like": {"daily_cap": 2}, "comment": {"cooldown": 60}}));
    let items = json!([
        act("like", "a"),
        act("like", "b"),
        act("comment", "a"),
        act("comment", "b")
    ]);
    let capped = |reason: &str| json!({"outcome": "capped", "reason": reason, "points": 0});
    let results = json!([
        {"outcome": "counted", "points": 2}, capped("daily-cap"),
        {"outcome": "counted", "points": 3}, capped("cooldown"),
    ]);
    site.send_activity(items)
        .await
        .assert(200, json!({"results": results}));
}

#[tokio::test]
async fn points_that_a_board_cannot_hold_are_refused_whole() {
    let site = with_rules(json!({"jackpot": {"points": 8_000_000}}));
    site.outcome(act_at("jackpot", "a", &noon(400)), "counted")
        .await;
    let before = site.store().snapshot();
    // Only the board of all time is full.
    let answer = site.send_activity(act("jackpot", "b")).await;
    answer.assert(
        422,
        json!({"type": "/problems/score-overflow", "title": "The score would grow too large",
            "status": 422, "detail": "The score on one of its boards cannot hold these points."}),
    );
    assert!(site.store().snapshot() == before, "something was written");
    site.outcome(act("like", "b"), "counted").await;
}
