//! The receivers of points for an activity, and the undo.

use test_support::json;

use super::{assert_boards, deliver, register, rows, start};
use crate::app::TestApp;
use crate::bodies::{activity, dated, like, undo, with};
use crate::clock::ago;
use crate::problem::field_error;
use crate::token::sign::{SECRET, claims_with, hs256};

/// Otherwise a member would give a target as many likes as they invent targets.
#[tokio::test]
async fn on_is_refused_unless_rule_allows_it() {
    let app = start();
    register(&app, "post-7", json!({"author": "9"})).await;
    for action in ["like", "bookmark", "follow", "publish"] {
        let detail = format!("is not allowed for {action}, by its rule: its own target receives");
        let problem = field_error("on", &detail);
        let on = with(activity("42", action, "invented"), json!({"on": "post-7"}));
        let response = app.send_activity(on.clone()).await;
        response.assert(400, problem.body());
        let refused = json!({"results": [{"error": problem.body()}]});
        app.assert_activity(json!([on.clone()]), refused).await;
        app.outcome(undo(on), "nothing-to-undo").await;
    }
    assert_boards(&app, &[], &[]).await;
    assert_eq!(rows(&app, "/v1/ranking/all").await, []);
}

/// A rule may allow `on` for other actions than comments.
#[tokio::test]
async fn own_target_may_be_named_by_on() {
    let rules = json!({
        "comment": {"own": false},
        "follow": {"on": true},
        "wave": {"points": 1, "received": 1, "own": false, "on": true},
    });
    let app = TestApp::with(|worker| super::content(worker).json("RULES", rules));
    register(&app, "post-7", json!({"author": "9"})).await;
    for (action, on) in [
        ("comment", "post-7"),
        ("wave", "post-7"),
        ("comment", "9"),
        ("follow", "9"),
    ] {
        let own = with(activity("9", action, "invented"), json!({"on": on}));
        let body = app.outcome(own, "capped").await;
        assert_eq!(body["reason"], "own-target", "{action} {on}");
    }
    let wave = with(activity("42", "wave", "w-1"), json!({"on": "post-7"}));
    app.counted(wave).await;
    assert_boards(&app, &[("post-7", 1)], &[("9", 1)]).await;
}

/// The rule has allowed `on` for likes before.
#[tokio::test]
async fn undo_takes_back_what_on_named() {
    let rules = json!({"like": {"on": true}});
    let before = TestApp::with(|worker| super::content(worker).json("RULES", rules));
    register(&before, "post-7", json!({"author": "9"})).await;
    let like = |id: &str| with(like("42", id), json!({"on": "post-7"}));
    before.counted(like("a")).await;
    before.counted(like("b")).await;
    let app = TestApp::with(|worker| super::content(worker).var("PREFIX", before.prefix()));
    assert_boards(&app, &[("post-7", 4)], &[("9", 4)]).await;
    app.outcome(undo(activity("42", "like", "a")), "undone")
        .await;
    app.outcome(undo(like("b")), "undone").await;
    assert_boards(&app, &[], &[]).await;
}

/// An id without a profile and without activity is no user yet.
#[tokio::test]
async fn follow_gives_nothing_to_unknown_user() {
    let app = start();
    for id in ["nobody", "9", "a b"] {
        app.count("42", "follow", id).await;
    }
    assert_boards(&app, &[], &[]).await;
    app.set_name("nobody", "Ada").await;
    app.count("9", "visit", "/").await;
    for id in ["nobody", "9"] {
        app.outcome(activity("42", "follow", id), "duplicate").await;
        app.count("43", "follow", id).await;
    }
    assert_boards(&app, &[], &[("nobody", 2), ("9", 2)]).await;
    // The record knows that nobody received.
    app.outcome(undo(activity("42", "follow", "nobody")), "undone")
        .await;
    assert_boards(&app, &[], &[("nobody", 2), ("9", 2)]).await;
    app.moderate("9", true, false).await;
    app.count("44", "follow", "9").await;
    app.moderate("9", false, false).await;
    assert_boards(&app, &[], &[("9", 4), ("nobody", 2)]).await;
}

#[tokio::test]
async fn publish_registers_its_target() {
    let app = start();
    app.count("9", "publish", "post-7").await;
    deliver(&app).await;
    app.assert_get("/v1/targets/post-7", json!({"id": "post-7", "author": "9"}))
        .await;
    register(&app, "post-8", json!({"author": "10", "title": "A title"})).await;
    app.count("9", "publish", "post-8").await;
    let known = json!({"id": "post-8", "author": "10", "title": "A title"});
    app.assert_get("/v1/targets/post-8", known).await;
    app.count("42", "like", "post-7").await;
    assert_boards(&app, &[("post-7", 2)], &[("9", 2)]).await;
    // No path can name this target.
    app.count("9", "publish", "..").await;
    app.count("42", "like", "..").await;
    assert_boards(&app, &[("post-7", 2)], &[("9", 2)]).await;
}

#[tokio::test]
async fn member_registers_nothing() {
    let app = TestApp::with(|worker| super::content(worker).var("JWT_SECRET", SECRET));
    let member = app.with_key(&hs256(&claims_with(json!({"sub": "42"}))));
    let body = with(like("42", "post-7"), json!({"author": "9"}));
    member.send_activity(body).await.assert_status(403);
    let body = json!({"author": "42"});
    let response = member.put("/v1/targets/post-7", &body).await;
    response.assert_status(403);
    let on = with(activity("42", "comment", "c-1"), json!({"on": "post-7"}));
    member.send_activity(on).await.assert_status(200);
    assert_boards(&app, &[], &[]).await;
}

#[tokio::test]
async fn dated_activity_counts_for_no_author_erased_since() {
    let app = start();
    app.count("42", "like", "other").await;
    app.count("9", "visit", "/").await;
    app.count("42", "follow", "9").await;
    app.erase("9").await;
    app.count("9", "visit", "/").await;
    app.counted(dated(activity("43", "follow", "9"), ago(60)))
        .await;
    assert_boards(&app, &[], &[]).await;
    app.count("44", "follow", "9").await;
    for user in ["42", "43"] {
        app.outcome(undo(activity(user, "follow", "9")), "undone")
            .await;
    }
    assert_boards(&app, &[], &[("9", 2)]).await;
}

/// The next activity in the array registers the target with its author.
#[tokio::test]
async fn dated_activity_registers_no_author_erased_since() {
    let app = start();
    app.count("9", "visit", "/").await;
    app.erase("9").await;
    let author = |id: &str, body| with(body, json!({"author": id}));
    let array = json!([
        author("9", dated(like("43", "post-7"), ago(60))),
        author("10", like("44", "post-7")),
    ]);
    app.send_activity(array).await.assert_status(200);
    assert_boards(&app, &[("post-7", 4)], &[("10", 4)]).await;
}

/// Nobody reads what an undo takes back.
#[tokio::test]
async fn undo_without_boards_of_content_takes_nothing() {
    let app = start();
    register(&app, "%23", json!({"author": "9"})).await;
    app.count("42", "like", "#").await;
    let other = TestApp::with(|worker| worker.var("PREFIX", app.prefix()));
    assert_boards(&app, &[("#", 2)], &[("9", 2)]).await;
    other.outcome(undo(like("42", "#")), "undone").await;
    assert_boards(&app, &[("#", 2)], &[("9", 2)]).await;
}
