//! `GET /v1/users/{user}/done`: which targets a user has done an action for.

use test_support::{Value, json, peers};

use crate::app::TestApp;
use crate::bodies::{activity, dated, like, undo};
use crate::clock::noon;
use crate::problem::{columns, field_error};

fn states(action: &str, states: &[(&str, bool)]) -> Value {
    let states = states.iter();
    let states = states.map(|(target, done)| json!({"target": target, "done": done}));
    json!({"action": action, "targets": Value::from_iter(states)})
}

#[tokio::test]
async fn standing_actions_are_done_until_undone() {
    let app = TestApp::start();
    let [user, other] = &peers(["a", "b"]);
    for target in ["q", "a,b", "100%", "a b", "é"] {
        app.count(user, "like", target).await;
    }
    app.counted(like(user, "gone")).await;
    app.outcome(undo(like(user, "gone")), "undone").await;
    app.count(user, "comment", "none").await;
    let path = format!("/v1/users/{user}/done?action=like");
    let response = app
        .get(&format!(
            "{path}&targets=none,q,a%252Cb,100%2525,a+b,%C3%A9,gone,a"
        ))
        .await;
    let expected = [
        ("none", false),
        ("q", true),
        ("a,b", true),
        ("100%", true),
        ("a b", true),
        ("é", true),
        ("gone", false),
        ("a", false),
    ];
    response.assert(200, states("like", &expected));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    // The commas of a list may be encoded.
    let expected = [("q", true), ("none", false)];
    let encoded = app.get(&format!("{path}&targets=q%2Cnone")).await;
    encoded.assert(200, states("like", &expected));
    let path = format!("/v1/users/{other}/done?action=like&targets=q");
    let response = app.get(&path).await;
    response.assert(200, states("like", &[("q", false)]));
}

/// A visit counts once a day, of its path in normal form.
#[tokio::test]
async fn daily_actions_are_done_today() {
    let app = TestApp::start();
    let [user] = &peers(["a"]);
    app.counted(activity(user, "visit", "/a%20b")).await;
    let yesterday = activity(user, "visit", "/old");
    app.counted(dated(yesterday, &*noon(1))).await;
    let path = format!("/v1/users/{user}/done?action=visit&targets=");
    let expected = [("/a%20b", true), ("/old", false), ("/other", false)];
    let response = app.get(&format!("{path}/a+b/%23x,/old/,/other")).await;
    response.assert(200, states("visit", &expected));
    let problem = field_error("targets", "of a visit must be a path beginning with /");
    let response = app.get(&format!("{path}a")).await;
    response.assert(400, problem.body());
}

/// A query, the invalid parameter and its error.
const INVALID: &str = "
    action=dance&targets=a           action   must be one of bookmark, comment, follow, like, publish, visit
    targets=a                        action   must be one of bookmark, comment, follow, like, publish, visit
    action=like                      targets  each must be 1 to 512 bytes, not 0
    action=like&targets=a,           targets  each must be 1 to 512 bytes, not 0
    action=like&targets=a%0A         targets  each must not contain control characters
    action=like&targets=a,b,a        targets  must not repeat a target: a
    action=visit&targets=/a,/a/      targets  must not repeat a target: /a
    action=like&targets=a&targets=b  targets  must be given only once
";

#[tokio::test]
async fn invalid_lists_are_refused() {
    let app = TestApp::start();
    let many = format!("action=like&targets={}", ["a"; 101].join(","));
    let many = [&*many, "targets", "must be at most 100 targets, not 101"];
    for [query, pointer, detail] in columns(INVALID).chain([many]) {
        let response = app.get(&format!("/v1/users/42/done?{query}")).await;
        response.assert(400, field_error(pointer, detail).body());
    }
}
