//! `POST /v1/activity` with `at`: activity dated in the past.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{self, board, dated, entry, outcome, undo};
use crate::clock::{day, noon, period, standings};

fn like(at: &str) -> Value {
    dated(bodies::like("42", "p"), at)
}

#[tokio::test]
async fn dated_activity_counts_on_boards_of_its_instant() {
    let app = TestApp::start();
    app.count("other", "comment", "p").await;
    let response = app.send_activity(like(&noon(800))).await;
    let mut expected = standings(day(800), 2, 1);
    expected["all"]["rank"] = json!(2);
    response.assert(200, outcome("counted", 2, expected));

    let today = app.get("/v1/ranking/day/users/42").await;
    assert_eq!(today.body["rank"], Value::Null, "{}", today.text);
    let then = format!("/v1/ranking/month?date={}", day(800));
    let expected = board(period("month", day(800)), 1, [entry(1, 2, "42")]);
    app.assert_get(&then, expected).await;
}

#[tokio::test]
async fn earliest_instant_counts_in_every_time_zone() {
    for zone in ["UTC", "America/Los_Angeles", "Pacific/Kiritimati"] {
        let app = TestApp::with(|worker| worker.var("TIMEZONE", zone));
        app.counted(like("0001-01-02T00:00:00Z")).await;
        let undo = undo(bodies::like("42", "p"));
        app.outcome(undo, "undone").await;
    }
}
