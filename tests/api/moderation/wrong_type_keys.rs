//! Redis keys of an unexpected type: a request writes everything or nothing.

use test_support::{Method, Value, depth, json, peers};

use super::count_activities;
use crate::app::TestApp;
use crate::bodies::moderation;
use crate::client::JSON;

/// Starts a deployment in which every key exists that moderation may touch.
async fn start() -> TestApp {
    let app = TestApp::start();
    let [a, b] = &peers(["a", "b"]);
    count_activities(&app, &[a, b]).await;
    let profile = json!({"name": "Ada", "hidden": true});
    app.put_profile(a, profile).await;
    let adjustment = json!({"id": "1", "points": 1, "reason": "A test"});
    app.adjust(a, &adjustment).await.assert_status(200);
    app.moderate(b, false, true).await;
    app
}

#[tokio::test]
async fn wrong_type_key_makes_moderation_write_nothing() {
    let [a, b] = peers(["a", "b"]);
    let path = |user: &str, route: &str| format!("/v1/users/{user}{route}");
    let deduction = json!({"id": "2", "points": -1, "reason": "A test"});
    let undo = json!({"id": "1", "undo": true, "reason": "A test"});
    let requests = [
        (
            Method::PUT,
            path(&b, "/moderation"),
            moderation(true, false),
        ),
        (Method::PUT, path(&a, ""), json!({"hidden": false})),
        (Method::POST, path(&a, "/adjustments"), deduction),
        (Method::POST, path(&a, "/adjustments"), undo),
        (Method::DELETE, path(&a, ""), Value::Null),
    ];
    let (keys, records) = (start().await.store().keys(), format!("m:{a}"));
    let touched = keys.iter().filter(|key| {
        ["i", "l", "n", "p", "w", &records].contains(&key.as_str()) || key.starts_with('b')
    });
    let mut refused = 0;
    for key in touched.step_by(depth(3, 1)) {
        let app = start().await;
        let mut store = app.store();
        let full_key = store.key(key);
        store.run::<i64>("DEL", &[&full_key]);
        store.run::<()>("SET", &[&full_key, "foreign"]);
        for (method, path, body) in &requests {
            let before = store.snapshot();
            let sent = app.send(method.clone(), path, body.to_string(), JSON);
            let response = sent.await;
            // Not every request touches every key, and a key of another type is no board: moderation
            // goes past it.
            if response.status < 300 {
                continue;
            }
            refused += 1;
            let request = format!("{method} {path} with {key}");
            assert_eq!(response.status, 500, "{request}: {}", response.text);
            assert!(store.snapshot() == before, "{request} changed Redis");
        }
    }
    assert!(refused > depth(10, 30), "{refused}");
}
