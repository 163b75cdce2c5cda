//! `/v1/rules/preview`: what other rules would change, as a job of cron.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::{Timestamp, ToSpan};
use test_support::{Fault, Forwarder, SERVICE_KEY, Value, WorkerBuilder, json};

use crate::app::TestApp;
use crate::bodies::{like, undo, with};
use crate::problem::Problem;

/// Runs of cron that every preview of these tests ends within.
const MAX_RUNS: usize = 30;

fn configured(worker: WorkerBuilder) -> WorkerBuilder {
    worker
        .var("CONTENT_PERIODS", "all")
        .json("RULES", json!({"like": {"daily_cap": 6}}))
        .var(
            "SERVICE_KEYS",
            &format!("ops@activity+content+profiles+admin:{SERVICE_KEY}"),
        )
}

fn start() -> TestApp {
    TestApp::with(|worker| configured(worker).journal())
}

/// Counts likes of two members, of a post with an author.
async fn count(app: &TestApp) {
    let post = json!([{"id": "p0", "author": "zoe", "title": "A post"}]);
    app.write("/v1/targets", &post).await;
    for (user, likes) in [("ada", 3), ("bob", 1)] {
        for number in 0..likes {
            app.counted(like(user, &format!("p{number}"))).await;
        }
    }
    app.minute().await;
}

/// Returns a request for a preview of the last day.
fn request(rules: Value) -> Value {
    let from = Timestamp::now() - 24.hours();
    json!({"rules": rules, "from": from.to_string()})
}

async fn confirm(app: &TestApp, rules: Value) -> Value {
    let body = with(request(rules), json!({"confirm": true}));
    let response = app.post("/v1/rules/preview", &body).await;
    response.assert_status(200);
    response.body
}

async fn read(app: &TestApp) -> Value {
    app.read("/v1/rules/preview").await["preview"].clone()
}

/// Runs cron until the preview ends, and returns it.
async fn run(app: &TestApp) -> Value {
    for _ in 0..MAX_RUNS {
        let preview = read(app).await;
        if preview["state"] != "running" {
            return preview;
        }
        app.minute().await;
    }
    panic!("the preview does not end: {}", read(app).await)
}

/// Returns the keys on shards that the deployment does not have.
fn scratch_keys(app: &TestApp) -> Vec<String> {
    let pattern = format!("{{{}:*}}*", app.worker.prefix());
    let mut keys: Vec<String> = app.store().run("KEYS", &[&pattern]);
    let tag = app.worker.prefix().len() + 6;
    keys.retain(|key| key.find('}').is_some_and(|end| end > tag));
    keys
}

/// Runs cron until the scratch keys are deleted.
async fn clear(app: &TestApp) {
    for _ in 0..MAX_RUNS {
        app.minute().await;
        if scratch_keys(app).is_empty() {
            return;
        }
    }
    panic!("scratch keys: {:?}", scratch_keys(app));
}

fn change(before: impl Into<Value>, after: impl Into<Value>) -> Value {
    let (before, after) = (before.into(), after.into());
    json!({"before": before, "after": after})
}

#[tokio::test]
async fn unconfirmed_preview_states_cost_and_writes_nothing() {
    let app = start();
    count(&app).await;
    let before = app.store().snapshot();
    let response = app
        .post(
            "/v1/rules/preview",
            &request(json!({"like": {"points": 3}})),
        )
        .await;
    let entries = response.body["cost"]["entries"].as_u64().expect("a number");
    assert!((4..=12).contains(&entries), "{entries}");
    let cost = json!({"entries": entries, "commands": 40 * entries, "minutes": 2});
    response.assert(200, json!({"cost": cost, "preview": null}));
    assert_eq!(app.store().snapshot(), before);
    assert_eq!(read(&app).await, Value::Null);
}

#[tokio::test]
async fn preview_reports_moves_actions_and_limits() {
    let app = start();
    count(&app).await;
    let started = confirm(&app, json!({"like": {"points": 4, "received": 1}})).await;
    assert_eq!(started["preview"]["state"], "running");
    let preview = run(&app).await;
    assert_eq!(preview["state"], "done", "{preview}");
    assert_eq!(preview["read"], preview["entries"]);
    let result = &preview["result"];
    let changes = json!([
        {"action": "like", "field": "points", "before": 2, "after": 4},
        {"action": "like", "field": "received", "before": 2, "after": 1},
    ]);
    let moves = json!([
        {"id": "ada", "rank": change(1, 1), "points": change(6, 4)},
        {"id": "bob", "rank": change(2, 2), "points": change(2, 4)},
    ]);
    let boards = json!([
        {"board": "members", "members": 2, "changed": 2, "points": change(8, 8), "moves": moves},
        {"board": "authors", "members": 1, "changed": 1, "points": change(4, 2),
            "moves": [{"id": "zoe", "rank": change(1, 1), "points": change(4, 2)}]},
    ]);
    let actions = json!([{"action": "like", "points": change(8, 8), "share": change(100, 100),
        "received": change(4, 2), "counted": change(4, 2)}]);
    let limits = json!([{"action": "like", "limit": "daily-cap", "members": change(0, 1),
        "activities": change(0, 2), "first": ["ada"]}]);
    let unknown = json!([{"kind": "daily-cap", "action": "like", "days": 1, "points": 2}]);
    let expected = json!({
        "from": result["from"], "until": result["until"], "activities": 4, "changed_activities": 4,
        "changes": changes, "boards": boards, "actions": actions, "limits": limits, "unknown": unknown,
    });
    assert_eq!(*result, expected);
    clear(&app).await;
    assert_eq!(read(&app).await["result"], expected);
}

/// Visitors are on no board of the report, and no limit of a rule names them.
#[tokio::test]
async fn preview_has_no_visitors() {
    let app = TestApp::with(|worker| {
        let worker = configured(worker).journal().var("VISITORS", "like");
        worker.var("VISITOR_KEY", "a secret of thirty-two bytes, ok?")
    });
    count(&app).await;
    let targets = json!([{"id": "p0"}, {"id": "p1"}, {"id": "p2"}]);
    app.write("/v1/targets", &targets).await;
    let preview = async || {
        confirm(&app, json!({"like": {"points": 4, "received": 1}})).await;
        let mut preview = run(&app).await;
        assert_eq!(preview["state"], "done", "{preview}");
        clear(&app).await;
        for name in ["from", "until"] {
            preview["result"][name].take();
        }
        preview["result"].take()
    };
    let expected = preview().await;
    assert_eq!(expected["activities"], 4);
    let visitor = format!("visitor:{}", "A".repeat(22));
    for number in 0..3 {
        app.counted(like(&visitor, &format!("p{number}"))).await;
    }
    app.outcome(undo(like(&visitor, "p1")), "undone").await;
    app.minute().await;
    assert_eq!(preview().await, expected);
}

/// Each request to the scratch keys is executed, but its response is lost: the next run repeats the slice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_slice_counts_once() {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    let app = TestApp::with(|worker| configured(worker).journal().store(&forwarder.url()));
    count(&app).await;
    let rules = json!({"like": {"points": 4, "received": 1}});
    confirm(&app, rules.clone()).await;
    let expected = run(&app).await["result"].clone();
    clear(&app).await;
    for number in 0.. {
        let sent = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&sent);
        forwarder.fail(move |request| {
            let body = String::from_utf8_lossy(&request.body);
            let is_step = body.contains("\"86400\"");
            let is_lost = is_step && seen.fetch_add(1, Ordering::Relaxed) == number;
            is_lost.then_some(Fault::CutAfter)
        });
        confirm(&app, rules.clone()).await;
        let mut preview = run(&app).await;
        for name in ["from", "until"] {
            preview["result"][name] = expected[name].clone();
        }
        assert_eq!(preview["state"], "done", "{number}: {preview}");
        assert_eq!(preview["result"], expected, "{number}");
        if sent.load(Ordering::Relaxed) <= number {
            assert!(number > 5, "{number} steps");
            return;
        }
    }
}

#[tokio::test]
async fn run_stays_within_the_budget() {
    let app = start();
    count(&app).await;
    let likes = (0..500).map(|number| like(&format!("u{}", number % 200), &format!("q{number}")));
    let likes: Vec<Value> = likes.collect();
    app.send_activity(json!(likes)).await.assert_status(200);
    app.minute().await;
    let idle = app.worker.metered_minute().await;
    confirm(&app, json!({"like": {"points": 4}})).await;
    let mut runs = 0;
    while read(&app).await["state"] == "running" || !scratch_keys(&app).is_empty() {
        let cost = app.worker.metered_minute().await;
        assert!(cost.subrequests <= 50 && cost.queries <= 50, "{cost:?}");
        runs += 1;
        assert!(runs <= MAX_RUNS);
    }
    assert_eq!(read(&app).await["result"]["activities"], 504);
    app.minute().await;
    assert_eq!(app.worker.metered_minute().await, idle);
}

/// The run that has taken the entry of the outbox was ended: the run of every five minutes adds another one.
#[tokio::test]
async fn preview_continues_after_a_lost_entry() {
    let app = start();
    count(&app).await;
    confirm(&app, json!({"like": {"points": 4}})).await;
    let mut store = app.store();
    let key = store.key_on(0, "o");
    store.run::<i64>("DEL", &[&key]);
    app.minute().await;
    assert_eq!(read(&app).await["read"], 0);
    app.worker.tick().await;
    assert_eq!(run(&app).await["state"], "done");
}

#[tokio::test]
async fn cancelled_preview_deletes_its_keys() {
    let app = start();
    count(&app).await;
    confirm(&app, json!({"like": {"points": 4}})).await;
    let again = with(
        request(json!({"like": {"points": 5}})),
        json!({"confirm": true}),
    );
    let running = "A preview of rules is running: cancel it, or wait for its end.";
    let conflict = Problem::new("rules-conflict", running);
    let response = app.post("/v1/rules/preview", &again).await;
    response.assert(409, conflict.body());
    let cancelled = app.delete("/v1/rules/preview").await;
    assert_eq!(
        cancelled.assert_status(200).body["preview"]["state"],
        "cancelled"
    );
    clear(&app).await;
    assert_eq!(read(&app).await["state"], "cancelled");
    confirm(&app, json!({"like": {"points": 5}})).await;
    assert_eq!(run(&app).await["state"], "done");
}

/// Also the scratch keys go, which have read the member.
#[tokio::test]
async fn erasure_ends_preview_and_deletes_result() {
    let app = start();
    count(&app).await;
    confirm(&app, json!({"like": {"points": 4}})).await;
    app.erase("cem").await;
    assert_eq!(run(&app).await["error"], "erased");
    confirm(&app, json!({"like": {"points": 4}})).await;
    assert_eq!(run(&app).await["state"], "done");
    clear(&app).await;
    app.erase("cem").await;
    app.minute().await;
    assert_eq!(read(&app).await["state"], "done");
    app.erase("bob").await;
    app.minute().await;
    let preview = read(&app).await;
    let expected = (&json!("failed"), &json!("erased"));
    assert_eq!((&preview["state"], &preview["error"]), expected);
    assert_eq!(preview["result"], Value::Null);
}

#[tokio::test]
async fn lost_keys_fail_the_preview() {
    let app = start();
    count(&app).await;
    confirm(&app, json!({"like": {"points": 4}})).await;
    let sql = "UPDATE rules_previews SET slice = 3";
    app.worker.sql(sql).await;
    assert_eq!(run(&app).await["error"], "lost");
}

#[tokio::test]
async fn invalid_previews_are_refused() {
    let app = TestApp::start();
    for (body, field, detail) in [
        (
            json!({"rules": {"like": {"points": 3}}, "from": "yesterday"}),
            "/from",
            "must be an RFC 3339 date and time with an offset such as 2026-11-20T08:00:00Z",
        ),
        (
            json!({"rules": {"like": {"points": 3}}, "from": "2020-01-01T00:00:00Z"}),
            "/from",
            "must be before the end of the span, by at most 366 days",
        ),
        (
            json!({"rules": {}, "from": "2026-11-20T08:00:00Z"}),
            "/rules",
            "must be an object of one action or more with their changes",
        ),
        (
            with(
                request(json!({"like": {"points": 3}})),
                json!({"confirm": 1}),
            ),
            "/confirm",
            "must be true or false",
        ),
    ] {
        let response = app.post("/v1/rules/preview", &body).await;
        response.assert_status(400);
        let expected = json!([{"pointer": field, "detail": detail}]);
        assert_eq!(response.body["errors"], expected, "{body}");
    }
}
