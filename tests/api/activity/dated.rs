//! `POST /v1/activity` with `at`: activity dated in the past.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{self, board, dated, empty_board, entry, outcome, undo, with};
use crate::clock::{ago, ahead, day, noon, period, standings};

fn like(at: &str) -> Value {
    dated(bodies::like("42", "p"), at)
}

fn unlike(at: &str) -> Value {
    undo(like(at))
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
async fn undo_subtracts_from_the_original_boards() {
    let app = TestApp::start();
    let liked = with(like(&noon(40)), json!({"groups": ["eu"]}));
    app.counted(liked).await;
    app.count("42", "like", "other").await;
    let undo = undo(with(bodies::like("42", "p"), json!({"groups": ["us"]})));
    let undone = outcome("undone", -2, standings(day(0), 2, 1));
    app.assert_activity(undo, undone).await;
    for group in ["", "&group=eu", "&group=us"] {
        let path = format!("/v1/ranking/day?date={}{group}", day(40));
        app.assert_get(&path, empty_board("day", day(40))).await;
    }
}

#[tokio::test]
async fn activity_before_the_last_change_is_stale() {
    let app = TestApp::start();
    app.counted(like(&ago(300))).await;
    app.outcome(unlike(&ago(100)), "undone").await;
    let stale = outcome("stale", 0, standings(day(0), 0, Value::Null));
    app.assert_activity(like(&ago(200)), stale).await;
    app.outcome(unlike(&ago(200)), "stale").await;
    app.counted(like(&ago(50))).await;
    app.outcome(like(&ago(60)), "stale").await;
    app.outcome(like(&ago(40)), "duplicate").await;
}

/// The undo arrives first, so the earlier like that follows must not count.
#[tokio::test]
async fn undo_without_record_blocks_a_delayed_like() {
    let app = TestApp::start();
    app.outcome(unlike(&ago(100)), "nothing-to-undo").await;
    app.outcome(like(&ago(200)), "stale").await;
    app.outcome(unlike(&ago(200)), "stale").await;
    app.counted(like(&ago(90))).await;
}

#[tokio::test]
async fn instant_equal_to_last_change_is_not_stale() {
    let app = TestApp::start();
    let at = ago(100);
    app.counted(like(&at)).await;
    app.outcome(unlike(&at), "undone").await;
    app.counted(like(&at)).await;
    app.outcome(like(&at), "duplicate").await;
}

#[tokio::test]
async fn instants_are_compared_in_milliseconds() {
    let app = TestApp::start();
    let at = |fraction: &str| ago(100).replace('Z', &format!(".{fraction}Z"));
    app.counted(like(&at("123"))).await;
    app.outcome(unlike(&at("122999")), "stale").await;
    app.outcome(unlike(&at("123")), "undone").await;
}

#[tokio::test]
async fn at_may_be_a_minute_ahead() {
    let app = TestApp::start();
    app.counted(like(&ahead(50))).await;
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
