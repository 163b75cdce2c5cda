//! A store in which a key holds something else: nothing is half-done.

use test_support::{Method, json, peers};

use super::{activity, adjust, moderate};
use crate::site::Site;

/// A site in which everything a moderator's request can touch is there.
async fn site() -> Site {
    let site = Site::start();
    let [a, b] = &peers(["a", "b"]);
    activity(&site, &[a, b]).await;
    let profile = json!({"name": "Ada", "hidden": true});
    let put = site.put(&format!("/v1/users/{a}"), &profile).await;
    put.assert_status(200);
    let given = json!({"id": "1", "points": 1, "reason": "A test"});
    adjust(&site, a, given).await.assert_status(200);
    moderate(&site, b, false, true).await.assert_status(200);
    site
}

#[tokio::test]
async fn what_moderators_do_is_refused_whole() {
    let [a, b] = peers(["a", "b"]);
    let requests = [
        (
            Method::PUT,
            format!("/v1/users/{b}/moderation"),
            json!({"hidden": true, "frozen": false, "reason": "A test"}),
        ),
        (
            Method::PUT,
            format!("/v1/users/{a}"),
            json!({"hidden": false}),
        ),
        (
            Method::POST,
            format!("/v1/users/{a}/adjustments"),
            json!({"id": "2", "points": -1, "reason": "A test"}),
        ),
        (
            Method::POST,
            format!("/v1/users/{a}/adjustments"),
            json!({"id": "1", "undo": true, "reason": "A test"}),
        ),
        (Method::DELETE, format!("/v1/users/{a}"), json!(null)),
    ];
    let (keys, marks) = (site().await.store().keys(), format!("m:{a}"));
    let shared = keys.iter().filter(|key| {
        ["f", "i", "l", "p", "w", &marks].contains(&key.as_str()) || key.starts_with('b')
    });
    let mut refused = 0;
    for key in shared {
        let site = site().await;
        let mut store = site.store();
        let whole = store.key(key);
        store.run::<i64>("DEL", &[&whole]);
        store.run::<()>("SET", &[&whole, "foreign"]);
        for (method, path, body) in &requests {
            let before = store.snapshot();
            let headers = [("content-type", "application/json")];
            let answer = site
                .send(method.clone(), path, body.to_string(), &headers)
                .await;
            if answer.status < 300 {
                continue;
            }
            refused += 1;
            assert_eq!(
                answer.status, 500,
                "{method} {path} with {key}: {}",
                answer.text
            );
            let unchanged = store.snapshot() == before;
            assert!(unchanged, "{method} {path} with {key} changed Redis");
        }
    }
    assert!(refused > 60, "{refused}");
}
