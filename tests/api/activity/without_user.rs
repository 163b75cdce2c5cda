//! Undos without `user`: the journal names the members.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{activity, dated, like, rows, undo, with};
use crate::clock::ago;
use crate::problem::{Problem, assert_problem, field_error, not_undoable};
use crate::token::sign::{SECRET, claims_with, hs256};

fn start() -> TestApp {
    TestApp::with(|worker| worker.var("JWT_SECRET", SECRET).journal())
}

/// An undo without a user.
fn undo_all(action: &str, target: &str) -> Value {
    json!({"action": action, "target": target, "undo": true})
}

fn undone(user: &str, points: i64) -> Value {
    json!({"user": user, "outcome": "undone", "points": points})
}

/// A post by 31 is given to 32, and then deleted. The service does not know who received its points.
#[tokio::test]
async fn undo_without_user_finds_former_owner() {
    let app = start();
    let post = dated(activity("31", "comment", "post:88002"), ago(60));
    app.counted(post).await;
    let results = json!({"results": [undone("31", -3)]});
    app.assert_activity(undo_all("comment", "post:88002"), results)
        .await;
    let standing = app.read("/v1/ranking/all/users/31").await;
    let expected = (&json!(0), &json!(null));
    assert_eq!((&standing["score"], &standing["rank"]), expected);
    let nobody = json!({"results": []});
    app.assert_activity(undo_all("comment", "post:88002"), nobody)
        .await;
    // Nothing is remembered: the post may count again.
    app.count("31", "comment", "post:88002").await;
}

/// The last entry of the member is of an activity that did not count.
#[tokio::test]
async fn undo_without_user_ignores_refused_activity() {
    let app = TestApp::with(|worker| worker.json("JOURNAL_REFUSED", json!(true)).journal());
    app.count("1", "like", "p").await;
    app.outcome(like("1", "p"), "duplicate").await;
    let results = json!({"results": [undone("1", -2)]});
    app.assert_activity(undo_all("like", "p"), results).await;
}

#[tokio::test]
async fn undo_without_user_undoes_each_member() {
    let app = start();
    for user in ["1", "2", "3", "4", "5"] {
        app.count(user, "like", "p").await;
    }
    for (user, action, target) in [
        ("6", "like", "p2"),
        ("6", "bookmark", "p"),
        ("6", "like", "P"),
    ] {
        app.count(user, action, target).await;
    }
    app.outcome(undo(like("2", "p")), "undone").await;
    app.outcome(undo(like("3", "p")), "undone").await;
    app.count("3", "like", "p").await;
    app.moderate("4", false, true).await;
    app.erase("5").await;
    let mut body = app.send_activity(undo_all("like", "p")).await.body;
    let results = body["results"].as_array_mut().expect("results");
    results.sort_by_key(|result| result["user"].to_string());
    let frozen = results.pop().expect("a result of the frozen member");
    assert_eq!(*results, [undone("1", -2), undone("3", -2)]);
    assert_eq!(frozen["user"], "4");
    assert_eq!(frozen["error"]["type"], "/problems/forbidden");
    assert_eq!(body.as_object().map(serde_json::Map::len), Some(1));
    let board = app.read("/v1/ranking/all").await;
    let scores = rows(&board["entries"], ["/user/id", "/score"]);
    assert_eq!(scores, json!([["6", 6], ["4", 2]]));
}

#[tokio::test]
async fn dated_undo_without_user_leaves_later_activity() {
    let app = start();
    let at = |user: &str, seconds| dated(like(user, "p"), ago(seconds));
    app.counted(at("1", 60)).await;
    app.counted(at("2", 20)).await;
    let body = dated(undo_all("like", "p"), ago(40));
    let results = json!({"results": [undone("1", -2)]});
    app.assert_activity(body, results).await;
}

/// A request undoes the activity of at most 500 members.
#[tokio::test]
async fn undo_without_user_continues_after_500() {
    let app = start();
    let users: Vec<String> = (0..502).map(|user| format!("u{user}")).collect();
    for users in users.chunks(500) {
        let likes: Vec<Value> = users.iter().map(|user| like(user, "p")).collect();
        app.send_activity(json!(likes)).await.assert_status(200);
    }
    for (count, more) in [(500, json!(true)), (2, json!(null)), (0, json!(null))] {
        let body = app.send_activity(undo_all("like", "p")).await.body;
        assert_eq!(body["results"].as_array().map(Vec::len), Some(count));
        assert_eq!(body["more"], more);
    }
    assert_eq!(app.read("/v1/ranking/all").await["total"], 0);
}

#[tokio::test]
async fn undo_without_user_is_refused() {
    let app = start();
    app.count("42", "like", "p").await;
    let required =
        "must be there: only a service may leave it out, of an undo that is no item of an array";
    let undo = undo_all("like", "p");
    let fields = "is unknown; expected one of action, target, undo, source_gone, at";
    for (body, problem) in [
        (
            json!({"action": "like", "target": "p"}),
            field_error("user", "is missing"),
        ),
        (
            with(undo.clone(), json!({"user": null})),
            field_error("user", "must not be null"),
        ),
        (
            with(undo.clone(), json!({"undo": false})),
            field_error("user", "is missing"),
        ),
        (
            with(undo.clone(), json!({"groups": ["eu"]})),
            field_error("groups", fields),
        ),
        (undo_all("visit", "/"), not_undoable("visit")),
    ] {
        let response = app.send_activity(body).await;
        response.assert(problem.status(), problem.body());
    }
    let dance = app.send_activity(undo_all("dance", "p")).await;
    assert_problem(&dance, "unknown-action");
    let problem = field_error("user", required).body();
    let member = app.with_key(&hs256(&claims_with(json!({"sub": "42"}))));
    let response = member.send_activity(undo.clone()).await;
    response.assert(400, problem.clone());
    let refused = json!({"results": [{"error": problem}]});
    app.assert_activity(json!([undo]), refused).await;
    assert_eq!(app.read("/v1/ranking/all/users/42").await["score"], 2);
}

#[tokio::test]
async fn undo_without_user_needs_journal() {
    let app = TestApp::start();
    let detail = "needs a user: this deployment keeps no journal (JOURNAL is not bound) that names the members";
    let problem = Problem::with_error("not-undoable", "undo", detail);
    let response = app.send_activity(undo_all("like", "p")).await;
    response.assert(422, problem.body());
}
