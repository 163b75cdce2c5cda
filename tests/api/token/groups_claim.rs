//! `JWT_GROUPS_CLAIM`: groups that a user token names.

use test_support::{Value, json, peer};

use super::like;
use super::sign::{SECRET, claims_with, hs256};
use crate::app::TestApp;
use crate::client::Client;

/// A client of user 42 whose token has these teams. Null leaves the claim out.
fn client(app: &TestApp, teams: Value) -> Client {
    app.with_key(&hs256(&claims_with(json!({"teams": teams}))))
}

/// Reads ids and scores of every board: each period, globally and for three groups.
async fn boards(app: &TestApp) -> Vec<(String, Value)> {
    let mut boards = Vec::new();
    for period in ["day", "week", "month", "year", "all"] {
        for group in ["", "&group=eu", "&group=us", "&group=asia"] {
            let path = format!("/v1/ranking/{period}?limit=100{group}");
            let board = app.read(&path).await;
            let entries = board["entries"].as_array().expect("entries").iter();
            let scores = entries.map(|entry| json!([entry["user"]["id"], entry["score"]]));
            boards.push((group.to_owned(), scores.collect()));
        }
    }
    boards
}

/// Replaces the scores of the global boards and of the boards of these groups.
fn with_scores(
    boards: &[(String, Value)],
    groups: &[&str],
    scores: &Value,
) -> Vec<(String, Value)> {
    let changes = |query: &str| {
        let mut groups = groups.iter();
        query.is_empty() || groups.any(|group| query == format!("&group={group}"))
    };
    let board = |(query, before): &(String, Value)| {
        let scores = if changes(query) { scores } else { before };
        (query.clone(), scores.clone())
    };
    boards.iter().map(board).collect()
}

/// Starts a deployment in which 7, on the shard of 42, has 2 points on every board. Returns its
/// boards too.
async fn start() -> (TestApp, Vec<(String, Value)>) {
    let app = TestApp::with(|worker| {
        let worker = worker.var("JWT_SECRET", SECRET);
        worker.var("JWT_GROUPS_CLAIM", "teams")
    });
    let activity = like(json!({"user": peer("7"), "groups": ["eu", "us", "asia"]}));
    app.counted(activity).await;
    let boards = boards(&app).await;
    let expected = json!([[peer("7"), 2]]);
    assert!(boards.iter().all(|(_, scores)| *scores == expected));
    (app, boards)
}

#[tokio::test]
async fn token_groups_gain_and_lose_points() {
    let (app, before) = start().await;
    let user = client(&app, json!(["eu", "us"]));
    user.counted(like(json!({}))).await;
    let both = json!([[peer("7"), 2], ["42", 2]]);
    let counted = with_scores(&before, &["eu", "us"], &both);
    assert_eq!(boards(&app).await, counted);
    user.outcome(like(json!({"groups": []})), "duplicate").await;
    assert_eq!(boards(&app).await, counted);
    user.outcome(like(json!({"undo": true})), "undone").await;
    assert_eq!(boards(&app).await, before);
    let fields = [json!({}), json!({"target": "q"}), json!({"user": "7"})];
    let other = client(&app, json!("asia"));
    let response = other.send_activity(json!(fields.map(like))).await;
    response.assert_status(200);
    let scores = json!([["42", 4], [peer("7"), 2]]);
    assert_eq!(boards(&app).await, with_scores(&before, &["asia"], &scores));
}

/// An undo ignores the groups of the current token. An undo of a service names no groups either.
#[tokio::test]
async fn undo_uses_groups_of_counted_activity() {
    for teams in [json!(null), json!(["asia", "us"])] {
        let (app, before) = start().await;
        let user = client(&app, json!(["us", "eu"]));
        user.counted(like(json!({}))).await;
        let moved = client(&app, teams.clone());
        moved.outcome(like(json!({})), "duplicate").await;
        moved.outcome(like(json!({"undo": true})), "undone").await;
        assert_eq!(boards(&app).await, before, "{teams}");
        user.counted(like(json!({}))).await;
        app.outcome(like(json!({"undo": true})), "undone").await;
        assert_eq!(boards(&app).await, before, "{teams}");
    }
}
