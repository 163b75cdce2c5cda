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
