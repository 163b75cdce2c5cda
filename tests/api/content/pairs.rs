//! Caps of what one member gives each other member in a day.

use test_support::{Value, json};

use super::{assert_boards, register};
use crate::app::TestApp;
use crate::bodies::{activity, dated, undo};
use crate::clock::noon;

/// Starts a Worker with posts `a` to `d` of member 9, and `x` of member 8.
async fn start() -> TestApp {
    let rules = json!({
        "like": {"pair_cap": 5},
        "bookmark": {"points": 7, "pair_cap": 2},
        "follow": {"pair_cap": 3},
    });
    let app = TestApp::with(|worker| super::content(worker).json("RULES", rules));
    for (post, author) in [("a", "9"), ("b", "9"), ("c", "9"), ("d", "9"), ("x", "8")] {
        register(&app, post, json!({"author": author})).await;
    }
    app
}

fn sent(user: &str, action: &str, target: &str) -> Value {
    dated(activity(user, action, target), noon(3))
}

fn like(target: &str) -> Value {
    sent("42", "like", target)
}

/// Sends an activity and asserts its outcome, or its reason.
async fn expect(app: &TestApp, outcomes: &[(Value, &str)]) {
    for (activity, expected) in outcomes {
        let response = app.post("/v1/activity", activity).await;
        response.assert_status(200);
        let reason = response.body.get("reason");
        let found = reason.unwrap_or(&response.body["outcome"]);
        assert_eq!(found, expected, "{activity}");
        if reason.is_some() {
            assert_eq!(response.body["outcome"], "capped", "{activity}");
            assert_eq!(response.body["points"], 0, "{activity}");
        }
    }
}

#[tokio::test]
async fn pair_cap_limits_what_one_author_receives() {
    let app = start().await;
    expect(
        &app,
        &[
            (like("a"), "counted"),
            (like("b"), "counted"),
            // One point of room is not enough for two points.
            (like("c"), "pair-cap"),
            (like("x"), "counted"),
            (sent("7", "like", "c"), "counted"),
            (sent("42", "bookmark", "c"), "counted"),
            (sent("42", "bookmark", "d"), "pair-cap"),
            (dated(activity("42", "like", "c"), noon(2)), "counted"),
            (like("c"), "stale"),
            (like("a"), "duplicate"),
        ],
    )
    .await;
    let targets = [("c", 6), ("x", 2), ("b", 2), ("a", 2)];
    assert_boards(&app, &targets, &[("9", 10), ("8", 2)]).await;
}

#[tokio::test]
async fn undo_leaves_room_under_pair_cap() {
    let app = start().await;
    let follow = |user: &str| sent("42", "follow", user);
    expect(
        &app,
        &[
            (like("a"), "counted"),
            (like("b"), "counted"),
            (like("c"), "pair-cap"),
            (undo(like("a")), "undone"),
            (like("c"), "counted"),
            (like("d"), "pair-cap"),
            (sent("9", "visit", "/"), "counted"),
            (follow("9"), "counted"),
            (undo(follow("9")), "undone"),
            (follow("9"), "counted"),
        ],
    )
    .await;
    assert_boards(&app, &[("c", 2), ("b", 2)], &[("9", 6)]).await;
}

#[tokio::test]
async fn pair_cap_holds_within_an_array() {
    let app = start().await;
    let publish = |post: &str| sent("6", "publish", post);
    let array = json!([
        like("a"),
        like("b"),
        like("c"),
        undo(like("b")),
        like("c"),
        like("d"),
        publish("p"),
        publish("q"),
        publish("r"),
        like("p"),
        like("q"),
        like("r"),
    ]);
    let response = app.post("/v1/activity", &array).await;
    response.assert_status(200);
    let results = response.body["results"].as_array().expect("results");
    let outcomes = results
        .iter()
        .map(|item| item.get("reason").unwrap_or(&item["outcome"]));
    let expected = [
        "counted", "counted", "pair-cap", "undone", "counted", "pair-cap", "counted", "counted",
        "counted", "counted", "counted", "pair-cap",
    ];
    assert_eq!(outcomes.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn accounts_are_one_receiver() {
    let app = start().await;
    app.write("/v1/users/8/account", &json!({"of": "9"})).await;
    expect(
        &app,
        &[
            (like("x"), "counted"),
            (like("a"), "counted"),
            (like("b"), "pair-cap"),
            (undo(like("x")), "undone"),
            (like("b"), "counted"),
        ],
    )
    .await;
    assert_boards(&app, &[("b", 2), ("a", 2)], &[("9", 4)]).await;
    // Member 9 has points now, so that a follow gives them some.
    expect(
        &app,
        &[
            (sent("42", "follow", "8"), "counted"),
            (sent("42", "follow", "9"), "pair-cap"),
        ],
    )
    .await;
    assert_boards(&app, &[("b", 2), ("a", 2)], &[("9", 6)]).await;
}

#[tokio::test]
async fn target_without_author_has_no_pair_cap() {
    let app = start().await;
    for post in ["m", "n", "o"] {
        register(&app, post, json!({"title": "A title"})).await;
        expect(&app, &[(like(post), "counted")]).await;
    }
    assert_boards(&app, &[("o", 2), ("n", 2), ("m", 2)], &[]).await;
}
