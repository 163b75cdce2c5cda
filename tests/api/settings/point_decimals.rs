//! `POINT_DECIMALS`: exact decimal points.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::activity as act;
use crate::clock::{day, standings};
use crate::problem::assert_problem;

fn with_decimals(rules: Value) -> TestApp {
    TestApp::with(|worker| worker.var("POINT_DECIMALS", "2").json("RULES", rules))
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
