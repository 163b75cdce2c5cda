//! `RULES`: additional actions, changed rules, caps and cooldowns.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{self, activity, dated};
use crate::clock::noon;
use crate::problem::assert_problem;

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
