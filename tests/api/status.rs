//! `GET /v1/status`.

use std::collections::HashMap;

use test_support::{Fault, Value, json, shards, until};

use crate::app::TestApp;
use crate::bodies::like;
use crate::problem::problem;
use crate::token::sign::{SECRET, claims, hs256};

const PATH: &str = "/v1/status";

/// Returns the fields of a response that do not depend on the clock.
fn without_times(mut status: Value) -> Value {
    let commands = status["commands"].take();
    for field in ["processed", "uptime_seconds"] {
        assert!(commands[field].is_u64(), "{commands}");
    }
    assert!(status["store"]["latency_ms"].take().is_u64(), "{status}");
    status
}

fn status(outbox: Value, queue: Value) -> Value {
    json!({"version": env!("CARGO_PKG_VERSION"), "store": {"latency_ms": null, "circuit": "closed"},
        "outbox": outbox, "queue": queue, "commands": null, "achievements": null})
}

#[tokio::test]
async fn status_is_for_administrators() {
    let app = TestApp::with(|worker| {
        let worker = worker.var("SERVICE_KEYS", "full,admin:admin,activity:activity");
        worker.var("JWT_SECRET", SECRET)
    });
    for key in ["full", "admin"] {
        let response = app.with_key(key).get(PATH).await;
        response.assert_status(200);
        assert_eq!(response.header("cache-control"), Some("no-store"));
        let expected = status(Value::Null, Value::Null);
        assert_eq!(without_times(response.body), expected);
        for secret in [test_support::TOKEN, "full", "activity", SECRET] {
            assert!(!response.text.contains(secret), "{}", response.text);
        }
    }
    let lacking = app.with_key("activity").get(PATH).await;
    let detail = "This service key lacks the scope admin.";
    lacking.assert(403, problem("forbidden", detail));
    let member = app.with_key(&hs256(&claims("42"))).get(PATH).await;
    member.assert_status(403);
    app.without_key().get(PATH).await.assert_status(401);
}

/// Other tests use the same server: the number of commands only grows.
#[tokio::test]
async fn status_counts_commands() {
    let app = TestApp::start();
    let commands = async || {
        let status = app.read(PATH).await;
        status["commands"]["processed"].as_u64().expect("a number")
    };
    let before = commands().await;
    app.count("42", "like", "p").await;
    assert!(commands().await > before + 10);
}

#[tokio::test]
async fn status_describes_the_outbox() {
    let app = TestApp::with(|worker| worker.journal());
    let empty = status(json!({"entries": 0, "oldest": null}), Value::Null);
    assert_eq!(without_times(app.read(PATH).await), empty);
    for user in 0..20 {
        app.count(&user.to_string(), "like", "p").await;
    }
    let mut store = app.store();
    let mut oldest = Vec::new();
    for shard in 0..shards() {
        let key = store.key_on(shard, "o");
        type Entries = Vec<(String, HashMap<String, String>)>;
        let entries: Entries = store.run("XRANGE", &[&key, "-", "+", "COUNT", "1"]);
        for (id, _) in entries {
            let (millis, _) = id.split_once('-').expect("an id");
            oldest.push(millis.parse::<i64>().expect("Unix ms"));
        }
    }
    let oldest = oldest.into_iter().min().expect("an entry");
    let oldest = activity_rank_core::calendar::Instant(oldest).to_string();
    let expected = status(json!({"entries": 20, "oldest": oldest}), Value::Null);
    assert_eq!(without_times(app.read(PATH).await), expected);
    app.minute().await;
    assert_eq!(without_times(app.read(PATH).await), empty);
}

#[tokio::test]
async fn status_names_the_last_delivery_of_the_queue() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.queued(100));
    let none = status(Value::Null, Value::Null);
    assert_eq!(without_times(app.read(PATH).await), none);
    forwarder.fail_next(Fault::CutBefore);
    let response = app.send_activity(like("42", "p")).await;
    response.assert_status(202);
    let queue = until("a delivery", async || {
        let queue = app.read(PATH).await["queue"].clone();
        (!queue.is_null()).then_some(queue)
    })
    .await;
    let instant = |field: &str| {
        let text = queue[field].as_str().expect("an instant");
        activity_rank_core::calendar::Instant::parse(text).expect("an instant")
    };
    assert!(instant("oldest") <= instant("delivered"), "{queue}");
}

/// An operator looks at it during an outage.
#[tokio::test]
async fn status_is_known_without_the_store() {
    let app = TestApp::with(|worker| worker.store("http://127.0.0.1:1"));
    let expected = status(Value::Null, Value::Null);
    app.assert_get(PATH, expected).await;
}
