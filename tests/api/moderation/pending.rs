//! Changes of visibility and erasures that stop half-way: every reader sees them complete.

use test_support::{Fault, Forwarder, Method, Value, WorkerBuilder, depth, json};

use super::count_activities;
use crate::app::TestApp;
use crate::bodies::{each, ids, like, moderation};
use crate::client::{Client, JSON};
use crate::clock::day;

const USERS: [&str; 3] = ["a", "b", "c"];

/// The requests that change boards of the user `b`.
fn changes() -> [(Method, &'static str, Value); 5] {
    let profile = |hidden: bool| json!({"name": "Bea", "hidden": hidden});
    [
        (Method::PUT, "/moderation", moderation(true, false)),
        (Method::PUT, "/moderation", moderation(false, false)),
        (Method::PUT, "", profile(true)),
        (Method::PUT, "", profile(false)),
        (Method::DELETE, "", Value::Null),
    ]
}

async fn change(client: &Client, (method, route, body): &(Method, &str, Value)) -> u16 {
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let path = format!("/v1/users/b{route}");
    client.send(method.clone(), &path, body, JSON).await.status
}

/// Sends every change once: Redis then knows the scripts, and the first request of a change runs it.
async fn load_scripts(client: &Client) {
    for request in changes() {
        assert!(change(client, &request).await < 300, "{request:?}");
    }
}

/// The routes that show scores, ranks or profiles of the user `b`.
fn paths() -> Vec<String> {
    let mut paths = vec![
        "/v1/users/b/activity".to_owned(),
        "/v1/ranking/day/winners?limit=20".to_owned(),
        format!("/v1/ranking/day?date={}", day(12)),
    ];
    for query in ["", "group=eu&"] {
        for route in ["?limit=100", "?offset=1&limit=1", "/users?ids=a,b,c"] {
            let (path, parameters) = route.split_once('?').unwrap();
            paths.push(format!("/v1/ranking/all{path}?{query}{parameters}"));
        }
        for user in USERS {
            paths.push(format!("/v1/ranking/all/users/{user}?{query}around=2"));
        }
    }
    paths
}

/// Stops a change after its first request to the store.
async fn interrupt(app: &TestApp, forwarder: &Forwarder, request: &(Method, &str, Value)) {
    forwarder.fail_next_script(Fault::CutAfter);
    assert_eq!(change(app, request).await, 503, "{request:?}");
    forwarder.heal();
}

/// Each route is the first one that reads the boards after the change was interrupted.
#[tokio::test]
async fn readers_complete_interrupted_changes() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker);
    load_scripts(&app).await;
    let mut store = app.store();
    for (index, request) in changes().iter().enumerate() {
        let prepare = async || {
            store.clear();
            count_activities(&app, &USERS).await;
            app.set_name("b", "Bea").await;
            for before in &changes()[..index] {
                change(&app, before).await;
            }
        };
        let mut prepare = prepare;
        prepare().await;
        change(&app, request).await;
        let mut expected = Vec::new();
        for path in paths() {
            expected.push((path.clone(), app.read(&path).await));
        }
        // In `make test` each change is read first on a third of the routes.
        for (path, expected) in expected
            .into_iter()
            .skip(index % depth(3, 1))
            .step_by(depth(3, 1))
        {
            prepare().await;
            interrupt(&app, &forwarder, request).await;
            let found = app.read(&path).await;
            assert_eq!(found, expected, "{request:?}, {path}");
        }
    }
}

/// The same request again completes the change; the audit log lists it once.
#[tokio::test]
async fn retry_completes_interrupted_changes() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker);
    load_scripts(&app).await;
    count_activities(&app, &USERS).await;
    app.set_name("b", "Bea").await;
    let mut store = app.store();
    for request in changes() {
        interrupt(&app, &forwarder, &request).await;
        assert_eq!(store.pending_changes("b"), 1, "{request:?}");
        assert!(change(&app, &request).await < 300, "{request:?}");
        assert_eq!(store.pending_changes("b"), 0, "{request:?}");
    }
    assert_eq!(store.traces("b"), [""; 0]);
    let log = app.read("/v1/moderation?limit=5").await;
    let expected = ["erase", "opt-in", "opt-out", "unhide", "hide"];
    assert_eq!(each(&log["entries"], "/action"), expected);
    assert_eq!(log["entries"][0]["removed"]["profiles"], 1);
}

#[tokio::test]
async fn cron_completes_interrupted_changes() {
    let (app, forwarder) = TestApp::behind_forwarder(WorkerBuilder::cron);
    load_scripts(&app).await;
    for user in USERS {
        app.count(user, "like", "p").await;
    }
    let mut store = app.store();
    let board = store.key_of("b", "ba:all");
    for (request, sign) in changes().iter().zip([-1.0, 1.0, -1.0, 1.0, 0.0]) {
        forwarder.fail_next_script(Fault::CutAfter);
        assert_eq!(change(&app, request).await, 503, "{request:?}");
        forwarder.heal();
        app.worker.minute().await;
        assert_eq!(store.pending_changes("b"), 0, "{request:?}");
        let score: Option<f64> = store.run("ZSCORE", &[&board, "b"]);
        let found = score.map_or(0.0, f64::signum);
        assert!((found - sign).abs() < 0.5, "{request:?}: {score:?}");
    }
    let pending = store.key_of("b", "c");
    assert_eq!(store.run::<i64>("EXISTS", &[&pending]), 0);
}

#[tokio::test]
async fn erasure_on_2600_boards_takes_three_requests() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker);
    count_activities(&app, &USERS).await;
    let mut store = app.store();
    store.add_boards("b", 2600);
    // Loads the scripts.
    app.erase("nobody").await;
    forwarder.reset();
    app.erase("b").await;
    assert_eq!(forwarder.count(), 3);
    assert_eq!(store.traces("b"), [""; 0]);
    assert_eq!(store.pending_changes("b"), 0);
    let log = app.read("/v1/moderation?limit=1").await;
    assert!(log["entries"][0]["removed"]["boards"].as_u64().unwrap() >= 260);
}

/// A change that exceeds the requests of one call is answered; readers see it, and cron completes it.
#[tokio::test]
async fn hide_on_40000_boards_is_visible_at_once() {
    let app = TestApp::with(WorkerBuilder::cron);
    for user in USERS {
        app.count(user, "like", "p").await;
    }
    let mut store = app.store();
    store.add_boards("b", 40_000);
    app.moderate("b", true, false).await;
    assert_eq!(store.pending_changes("b"), 1);
    assert_eq!(ids(&app.read("/v1/ranking/all?group=g39990").await), ["a"]);
    let body = app.read("/v1/ranking/all").await;
    let mut others = ids(&body);
    others.sort_unstable();
    assert_eq!(others, ["a", "c"]);
    app.worker.minute().await;
    assert_eq!(store.pending_changes("b"), 0);
    for board in ["ba:all:g10", "ba:all:g20000", "ba:all:g39980"] {
        let board = store.key_of("b", board);
        assert!(store.run::<f64>("ZSCORE", &[&board, "b"]) < 0.0, "{board}");
    }
}

#[tokio::test]
async fn activity_during_erasure_counts_after_it() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker);
    load_scripts(&app).await;
    count_activities(&app, &USERS).await;
    let mut store = app.store();
    let [.., erase] = &changes();
    interrupt(&app, &forwarder, erase).await;
    app.count("b", "like", "new").await;
    assert_eq!(store.pending_changes("b"), 0);
    let standing = app.read("/v1/ranking/all/users/b").await;
    assert_eq!(standing["score"], 2);
    let group = app.read("/v1/ranking/all/users/b?group=eu").await;
    assert_eq!(group["score"], 0);
}

/// The erasure has too many boards for the requests of one activity.
#[tokio::test]
async fn activity_during_long_erasure_returns_503() {
    let app = TestApp::start();
    app.count("b", "like", "p").await;
    let mut store = app.store();
    store.add_boards("b", 60_000);
    app.erase("b").await;
    assert_eq!(store.pending_changes("b"), 1);
    let refused = app.send_activity(like("b", "new")).await;
    let expected = (503, Some("1"));
    assert_eq!((refused.status, refused.header("retry-after")), expected);
    // Other users are not affected.
    app.count("a", "like", "p").await;
    let twice = app.delete("/v1/users/b").await;
    twice.assert_status(204);
}

#[tokio::test]
async fn opt_outs_keep_the_last_1000_entries() {
    let app = TestApp::start();
    app.count("b", "like", "p").await;
    app.put_profile("b", json!({"hidden": true})).await;
    let mut store = app.store();
    let log = store.key_of("b", "n");
    let fill = "for i = 1, 1200 do
        redis.call('XADD', KEYS[1], '*', 'at', 1, 'subject', 1, 'action', 'opt-in') end";
    store.run::<()>("DEL", &[&log]);
    store.run::<()>("EVAL", &[fill, "1", &log]);
    for hidden in [false, true, false] {
        app.put_profile("b", json!({"hidden": hidden})).await;
        assert_eq!(store.run::<u64>("XLEN", &[&log]), 1000);
    }
    app.moderate("b", true, false).await;
    let body = app.read("/v1/moderation?limit=4").await;
    let actions = each(&body["entries"], "/action");
    assert_eq!(actions, ["hide", "opt-in", "opt-out", "opt-in"]);
}
