//! `RULES`: additional actions, changed rules, caps and cooldowns.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{self, activity, dated, outcome, with};
use crate::clock::{ago, day, noon, standings};
use crate::problem::{assert_problem, problem};

fn with_rules(rules: Value) -> TestApp {
    TestApp::with(|worker| worker.json("RULES", rules))
}

fn act(action: &str, target: &str) -> Value {
    activity("42", action, target)
}

fn act_at(action: &str, target: &str, at: &str) -> Value {
    dated(act(action, target), at)
}

fn undo(action: &str, target: &str) -> Value {
    bodies::undo(act(action, target))
}

fn capped(reason: &str, standings: Value) -> Value {
    with(outcome("capped", 0, standings), json!({"reason": reason}))
}

#[tokio::test]
async fn new_action_needs_only_configuration() {
    let app = with_rules(json!({"answer": {"points": 5}}));
    let counted = outcome("counted", 5, standings(day(0), 5, 1));
    app.assert_activity(act("answer", "question-1"), counted)
        .await;
    app.outcome(undo("answer", "question-1"), "undone").await;
    // The default rules remain.
    app.counted(act("like", "p")).await;
}

#[tokio::test]
async fn rule_override_keeps_other_fields() {
    let app = with_rules(json!({"like": {"points": 7}, "follow": {"undo": false}}));
    for (activity, outcome, points) in [
        (act("like", "p"), "counted", 7),
        (undo("like", "p"), "undone", -7),
        (act("follow", "p"), "counted", 2),
    ] {
        assert_eq!(app.outcome(activity, outcome).await["points"], points);
    }
    let refused = app.send_activity(undo("follow", "p")).await;
    assert_problem(&refused, "not-undoable");
}

#[tokio::test]
async fn rules_may_be_a_json_string() {
    let app = TestApp::with(|worker| worker.var("RULES", r#"{"answer":{"points":5}}"#));
    app.counted(act("answer", "question-1")).await;
}

#[tokio::test]
async fn once_a_day_action_compares_targets_as_sent() {
    let app = with_rules(json!({"check-in": {"points": 1, "once": "day"}}));
    app.counted(act("check-in", "shop?a=1")).await;
    app.outcome(act("check-in", "shop?a=1"), "duplicate").await;
    app.counted(act("check-in", "shop")).await;
    for (back, outcome) in [(1, "counted"), (31, "stale")] {
        let check_in = act_at("check-in", "shop", &noon(back));
        app.outcome(check_in, outcome).await;
    }
    let refused = app.send_activity(undo("check-in", "shop")).await;
    assert_problem(&refused, "not-undoable");
}

#[tokio::test]
async fn daily_cap_rejects_points_that_do_not_fit() {
    let app = with_rules(json!({"like": {"daily_cap": 5}}));
    app.counted(act("like", "a")).await;
    app.counted(act("like", "b")).await;
    let expected = capped("daily-cap", standings(day(0), 4, 1));
    app.assert_activity(act("like", "c"), expected).await;
    // A capped activity leaves no record: another day counts it, and so does today below the cap.
    app.counted(act_at("like", "c", &noon(1))).await;
    app.outcome(act("like", "c"), "duplicate").await;
    app.outcome(act("like", "d"), "capped").await;
    app.outcome(undo("like", "d"), "nothing-to-undo").await;
    app.outcome(undo("like", "a"), "undone").await;
    app.counted(act("like", "d")).await;
    app.outcome(act("like", "a"), "capped").await;
    // The cap is per user and action.
    app.counted(act("follow", "c")).await;
    app.count("7", "like", "c").await;
}

#[tokio::test]
async fn cooldown_rejects_early_repeats() {
    let app = with_rules(json!({"comment": {"cooldown": 100}}));
    app.counted(act_at("comment", "a", &ago(500))).await;
    let expected = capped("cooldown", standings(day(0), 3, 1));
    app.assert_activity(act_at("comment", "b", &ago(401)), expected)
        .await;
    app.counted(act_at("comment", "b", &ago(399))).await;
    app.counted(act("comment", "c")).await;
    app.outcome(act("comment", "d"), "capped").await;
    app.outcome(act("comment", "c"), "duplicate").await;
    app.counted(act("like", "d")).await;
    app.count("7", "comment", "d").await;
}

#[tokio::test]
async fn array_items_are_capped_individually() {
    let app = with_rules(json!({"like": {"daily_cap": 2}, "comment": {"cooldown": 60}}));
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
    app.assert_activity(items, json!({"results": results}))
        .await;
}

/// In Santiago 2026-09-06 has no midnight: the clock changes from 23:59:59 to 01:00. 2026-04-04 is 25 hours long.
#[tokio::test]
async fn rule_applies_from_its_instant() {
    let like = json!([
        {"points": 1},
        {"from": "2026-04-05", "points": 2},
        {"from": "2026-09-06", "points": 3},
        {"from": "2026-09-06T02:00:00.5-03:00", "points": 4},
    ]);
    let app = TestApp::with(|worker| {
        let worker = worker.json("RULES", json!({ "like": like }));
        worker.var("TIMEZONE", "America/Santiago")
    });
    for (at, points) in [
        ("2020-01-01T00:00:00Z", 1),
        // 23:59:59.999, for the second time.
        ("2026-04-05T03:59:59.999Z", 1),
        ("2026-04-05T04:00:00Z", 2),
        ("2026-09-06T03:59:59.999Z", 2),
        ("2026-09-06T04:00:00Z", 3),
        ("2026-09-06T05:00:00.499Z", 3),
        ("2026-09-06T05:00:00.500Z", 4),
        ("2026-09-06T05:00:00.501Z", 4),
    ] {
        let counted = app.counted(act_at("like", at, at)).await;
        assert_eq!(counted["points"], points, "{at}");
        let undone = app.outcome(undo("like", at), "undone").await;
        assert_eq!(undone["points"], -points, "{at}");
    }
}

/// A cap and a cooldown hold while their rule applies, and count what earlier rules gave on the day.
#[tokio::test]
async fn limits_belong_to_the_rule_of_the_instant() {
    let (day, hour) = (60 * 60 * 24, 60 * 60);
    let like = json!([
        {"daily_cap": 4},
        {"from": ago(2 * hour), "points": 3, "daily_cap": 7},
        {"from": ago(hour), "cooldown": 600, "own": true, "daily_cap": 20},
    ]);
    let app = with_rules(json!({ "like": like }));
    for (target, at, expected) in [
        ("a", 2 * hour + 3, "counted"),
        ("b", 2 * hour + 2, "counted"),
        ("c", 2 * hour + 1, "capped"),
        ("c", 2 * hour, "counted"),
        ("d", 2 * hour - 1, "capped"),
        ("42", day + 2 * hour, "capped"),
    ] {
        app.outcome(act_at("like", target, &ago(at)), expected)
            .await;
    }
    let other = |target: &str, at| dated(activity("7", "like", target), ago(at));
    for (target, at, expected) in [
        ("a", hour + 1, "counted"),
        ("b", hour, "counted"),
        ("7", hour - 599, "capped"),
    ] {
        app.outcome(other(target, at), expected).await;
    }
    let own = activity("8", "like", "8");
    app.outcome(dated(own.clone(), ago(hour + 1)), "capped")
        .await;
    app.counted(dated(own, ago(hour))).await;
}

/// The user has the largest score on the all-time board, but not on the boards of today.
#[tokio::test]
async fn score_overflow_changes_nothing() {
    let app = with_rules(json!({"jackpot": {"points": 8_000_000}}));
    app.counted(act_at("jackpot", "a", &noon(400))).await;
    let before = app.store().snapshot();
    // Only the all-time board is full.
    let response = app.send_activity(act("jackpot", "b")).await;
    let detail = "The score on one of the boards would exceed its maximum.";
    response.assert(422, problem("score-overflow", detail));
    assert!(app.store().snapshot() == before, "Redis was changed");
    app.counted(act("like", "b")).await;
}
