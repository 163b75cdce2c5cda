//! `POST /v1/users/{user}/adjustments`: points added or deducted by moderators.

use test_support::{Api, SERVICE_KEY, Value, json};

use crate::app::TestApp;
use crate::bodies::{activity, outcome, with};
use crate::clock::{day, standings};
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
