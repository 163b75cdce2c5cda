//! `POST /v1/users/{user}/adjustments`: points added or deducted by moderators.

use test_support::{Api, SERVICE_KEY, Value, json};

use super::{boards, count_activities};
use crate::app::TestApp;
use crate::bodies::{self, activity, like, outcome, with};
use crate::clock::{day, noon, standings};
use crate::problem::assert_problem;

fn points(points: impl Into<Value>) -> Value {
    json!({"id": "case-17", "points": points.into(), "reason": "Likes bought"})
}

fn undo() -> Value {
    json!({"id": "case-17", "undo": true, "reason": "Appeal granted"})
}

/// Returns points and actions of one day in the history of `a`.
async fn history(app: &TestApp, days_ago: usize) -> Value {
    let history = app.read("/v1/users/a/activity").await;
    let day = &history["days"][days_ago];
    json!([day["points"], day["actions"]])
}

#[tokio::test]
async fn adjustment_counts_once_and_appears_in_history() {
    let app = TestApp::start();
    app.count("b", "like", "p").await;
    app.count("a", "comment", "c").await;
    let added = app.adjust("a", &points(4)).await;
    added.assert(200, outcome("counted", 4, standings(day(0), 7, 1)));
    let again = app.adjust("a", &points(4)).await;
    again.assert(200, outcome("duplicate", 0, standings(day(0), 7, 1)));
    let comment = json!({"count": 1, "points": 3});
    let adjusted = json!({"count": 1, "points": 4});
    let both = json!([7, {"comment": comment, "adjust": adjusted}]);
    assert_eq!(history(&app, 0).await, both);
    let undone = app.adjust("a", &undo()).await;
    undone.assert(200, outcome("undone", -4, standings(day(0), 3, 1)));
    let again = app.adjust("a", &undo()).await;
    again.assert(200, outcome("nothing-to-undo", 0, standings(day(0), 3, 1)));
    assert_eq!(history(&app, 0).await, json!([3, {"comment": comment}]));
}

/// A deduction stops at zero on each board. Its undo adds to each board what it removed there.
#[tokio::test]
async fn adjustment_undo_restores_only_removed_points() {
    let app = TestApp::start();
    let users = ["a", "b"];
    count_activities(&app, &users).await;
    let before = boards(&app, &users).await;
    // Of these 5 points, that day and its group have 2, and the all-time board has 9.
    let deduction = with(points(-5), json!({"at": noon(12), "groups": ["eu"]}));
    let response = app.adjust("a", &deduction).await;
    assert_eq!(response.body["points"], -5);
    let day_board = format!("/v1/ranking/day/users/a?date={}", day(12));
    for (path, score, rank) in [
        (&*day_board, 0, Value::Null),
        (&*format!("{day_board}&group=eu"), 0, Value::Null),
        ("/v1/ranking/all/users/a", 4, json!(2)),
        ("/v1/ranking/all/users/a?group=eu", 1, json!(2)),
        ("/v1/ranking/day/users/a", 5, json!(1)),
    ] {
        let body = app.read(path).await;
        assert_eq!(body["score"], score, "{path}");
        assert_eq!(body["rank"], rank, "{path}");
    }
    let like = json!({"count": 1, "points": 2});
    let adjusted = json!({"count": 1, "points": -2});
    let both = json!([0, {"like": like, "adjust": adjusted}]);
    assert_eq!(history(&app, 12).await, both);

    let response = app.adjust("a", &undo()).await;
    assert_eq!(response.body["points"], 5);
    assert_eq!(history(&app, 12).await, json!([2, {"like": like}]));
    // Compare scores only: the undo is a new arrival, so `a` now ranks below its equals.
    let scores = |boards: &[(String, Value)]| {
        let scores = |(path, body): &(String, Value)| {
            let entries = body["entries"].as_array()?;
            let score = |user: &str| {
                let mut entries = entries.iter();
                let entry = entries.find(|entry| entry["user"]["id"] == user)?;
                Some(entry["score"].clone())
            };
            Some((path.clone(), users.map(score)))
        };
        boards.iter().filter_map(scores).collect::<Vec<_>>()
    };
    let after = boards(&app, &users).await;
    assert_eq!(scores(&after), scores(&before));
}

/// A deduction leaves 1 point of a like. The undo of the like removes that point, and the history
/// of the day stays equal to its board.
#[tokio::test]
async fn activity_undo_after_deduction_stops_at_zero() {
    let app = TestApp::start();
    let like = like("a", "p");
    app.counted(like.clone()).await;
    let deducted = app.adjust("a", &points(-1)).await;
    deducted.assert(200, outcome("counted", -1, standings(day(0), 1, 1)));
    let undone = outcome("undone", -2, standings(day(0), 0, Value::Null));
    app.assert_activity(bodies::undo(like.clone()), undone)
        .await;
    let adjusted = json!([0, {"adjust": {"count": 1, "points": 0}}]);
    assert_eq!(history(&app, 0).await, adjusted);
    app.counted(like).await;
    let standing = "/v1/ranking/day/users/a";
    assert_eq!(app.read(standing).await["score"], 2);
    assert_eq!(history(&app, 0).await[0], 2);
    let undone = app.adjust("a", &undo()).await;
    assert_eq!(undone.body["points"], 1);
    let score = &app.read(standing).await["score"];
    assert_eq!(*score, history(&app, 0).await[0]);
}

#[tokio::test]
async fn deduction_from_new_user_creates_no_board() {
    let app = TestApp::start();
    let deducted = app.adjust("a", &points(-3)).await;
    let none = standings(day(0), 0, Value::Null);
    deducted.assert(200, outcome("counted", 0, none));
    let keys = app.store().keys();
    assert!(!keys.iter().any(|key| key.starts_with('b')), "{keys:?}");
    let again = app.adjust("a", &points(-3)).await;
    assert_eq!(again.body["outcome"], "duplicate");
}

#[tokio::test]
async fn overflowing_adjustment_writes_nothing() {
    let app = TestApp::start();
    app.count("a", "like", "p").await;
    let assert_refused = async |adjustment: &Value| {
        let before = app.store().snapshot();
        assert_problem(&app.adjust("a", adjustment).await, "score-overflow");
        assert!(app.store().snapshot() == before, "Redis was changed");
    };
    assert_refused(&points(8_388_606)).await;
    app.adjust("a", &points(-2)).await.assert_status(200);
    let max = json!({"id": "2", "points": 8_388_607, "reason": "A test"});
    let max = app.adjust("a", &max).await;
    assert_eq!(max.body["standings"]["all"]["score"], 8_388_607);
    assert_refused(&undo()).await;
}

#[tokio::test]
async fn adjustment_points_follow_point_decimals() {
    let app = TestApp::with(|worker| worker.var("POINT_DECIMALS", "1"));
    app.count("a", "like", "p").await;
    let path = "/v1/users/a/adjustments";
    // `Client` checks against the OpenAPI document, which describes integer points.
    let client = Api::new(app.url()).with_key(SERVICE_KEY);
    let half = client.post(path, &points(-0.5)).await;
    half.assert(200, outcome("counted", -0.5, standings(day(0), 1.5, 1)));
    let quarter = client.post(path, &points(0.25)).await;
    quarter.assert_status(400);
    assert_eq!(quarter.body["errors"][0]["pointer"], "/points");
}

#[tokio::test]
async fn adjust_action_is_unknown_to_activity_route() {
    let app = TestApp::start();
    app.adjust("a", &points(5)).await.assert_status(200);
    for undo in [false, true] {
        let activity = with(activity("a", "adjust", "case-17"), json!({"undo": undo}));
        let response = app.send_activity(activity).await;
        assert_problem(&response, "unknown-action");
    }
}
