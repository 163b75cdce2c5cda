//! `/v1/syncs`: results of sync runs.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::with;
use crate::problem::{field_error, field_errors, problem};

const PATH: &str = "/v1/syncs";
const NUMBER: &str = "must be an integer from 0 to 4294967295";
const STATE: &str = "must be one of running, done, failed";

fn start() -> TestApp {
    TestApp::with(|worker| {
        let keys = "test-service-key,admin:moderation-key,metrics:scraper";
        worker.journal().var("SERVICE_KEYS", keys)
    })
}

/// Sends a report, and returns the stored result.
async fn report(app: &TestApp, source: &str, body: Value) -> Value {
    let response = app.put(&format!("{PATH}/{source}"), &body).await;
    response.assert_status(200);
    response.body
}

/// Moves the last report of a source to an instant in Unix ms.
async fn backdate(app: &TestApp, source: &str, millis: i64) {
    let statement = format!(
        "UPDATE syncs SET reported = {millis}, completed = iif(completed, {millis}, NULL) WHERE source = '{source}'"
    );
    app.worker.sql(&statement).await;
}

#[tokio::test]
async fn report_is_stored_and_listed_by_source() {
    let app = start();
    app.assert_get(PATH, json!({"syncs": []})).await;
    let body = json!({"state": "done", "differences": 0, "mended": 12, "refused": {"own-target": 41}, "detail": "2,312 posts"});
    let wordpress = report(&app, "wordpress:2", body).await;
    let expected = json!({"source": "wordpress:2", "state": "done", "detail": "2,312 posts", "differences": 0,
        "reported_at": wordpress["reported_at"], "completed_at": wordpress["reported_at"], "mended": 12,
        "refused": {"own-target": 41}});
    assert_eq!(wordpress, expected);
    let body = json!({"state": "done", "differences": 4_294_967_295_u32});
    let github = report(&app, "github%2Fa.b_c-d%2F0", body).await;
    let expected = json!({"source": "github/a.b_c-d/0", "state": "done", "detail": null,
        "differences": 4_294_967_295_u32, "reported_at": github["reported_at"],
        "completed_at": github["reported_at"], "mended": 0, "refused": {}});
    assert_eq!(github, expected);
    app.assert_get(PATH, json!({"syncs": [github, wordpress]}))
        .await;
}

/// An alert on `completed_at` works for runs that fail or do not end.
#[tokio::test]
async fn run_that_is_not_done_keeps_the_last_result() {
    let app = start();
    let first = report(&app, "ghost", json!({"state": "running"})).await;
    let expected = json!({"source": "ghost", "state": "running", "detail": null, "reported_at": first["reported_at"],
        "completed_at": null, "differences": null, "mended": null, "refused": null});
    assert_eq!(first, expected);
    let numbers = json!({"state": "done", "differences": 3, "mended": 7, "refused": {"stale": 2}});
    report(&app, "ghost", numbers).await;
    backdate(&app, "ghost", 1_795_132_800_000).await;
    for (state, detail) in [("running", "page 12"), ("failed", "503 of ghost.example")] {
        let body = json!({"state": state, "detail": detail, "differences": 9, "mended": 9, "refused": {"other": 9}});
        let result = report(&app, "ghost", body).await;
        let expected = json!({"source": "ghost", "state": state, "detail": detail,
            "reported_at": result["reported_at"], "completed_at": "2026-11-20T00:00:00Z", "differences": 3,
            "mended": 7, "refused": {"stale": 2}});
        assert_eq!(result, expected);
        assert_ne!(result["reported_at"], result["completed_at"]);
    }
    let result = report(&app, "ghost", json!({"state": "done", "differences": 0})).await;
    let expected = json!({"source": "ghost", "state": "done", "detail": null, "reported_at": result["reported_at"],
        "completed_at": result["reported_at"], "differences": 0, "mended": 0, "refused": {}});
    assert_eq!(result, expected);
}

#[tokio::test]
async fn deleted_source_is_not_listed() {
    let app = start();
    let ghost = report(&app, "ghost", json!({"state": "running"})).await;
    report(&app, "a%2Fb", json!({"state": "running"})).await;
    for _ in 0..2 {
        let response = app.delete(&format!("{PATH}/a%2Fb")).await;
        response.assert_status(204);
    }
    app.assert_get(PATH, json!({"syncs": [ghost]})).await;
}

#[tokio::test]
async fn hundredth_source_is_the_last() {
    let app = start();
    let rows = "WITH RECURSIVE numbers AS (SELECT site, 2 AS number FROM syncs UNION ALL SELECT site, number + 1 FROM numbers \
        WHERE number < 100) INSERT INTO syncs SELECT site, 'source-' || number, 'running', NULL, 0, NULL, NULL, NULL, NULL FROM numbers";
    report(&app, "source-1", json!({"state": "running"})).await;
    app.worker.sql(rows).await;
    let body = json!({"state": "failed"});
    report(&app, "source-100", body.clone()).await;
    let refused = app.put(&format!("{PATH}/source-101"), &body).await;
    let detail = "There are 100 sources: delete one first.";
    refused.assert(409, problem("sync-conflict", detail));
    let response = app.delete(&format!("{PATH}/source-7")).await;
    response.assert_status(204);
    report(&app, "source-101", body).await;
    let list = app.read(PATH).await;
    assert_eq!(list["syncs"].as_array().map(Vec::len), Some(100));
}

#[tokio::test]
async fn invalid_reports_are_refused() {
    let app = start();
    let done = json!({"state": "done", "differences": 0});
    let reasons: Vec<String> = (0..21).map(|number| format!("r{number}")).collect();
    let numbers = |reasons: &[String]| -> Value {
        let pairs = reasons.iter().map(|reason| (reason.clone(), json!(1)));
        Value::Object(pairs.collect())
    };
    let reason = "must have at most 20 reasons of 1 to 32 of a-z 0-9 _ -, with integers from 0 to 4294967295";
    let characters = "must be 1 to 300 characters";
    for (change, field, detail) in [
        (json!({"state": null}), "state", STATE),
        (json!({"state": "Done"}), "state", STATE),
        (json!({"state": ["done"]}), "state", STATE),
        (json!({"differences": null}), "differences", NUMBER),
        (json!({"differences": -1}), "differences", NUMBER),
        (json!({"differences": 1.5}), "differences", NUMBER),
        (json!({"differences": "1"}), "differences", NUMBER),
        (
            json!({"differences": 4_294_967_296_u64}),
            "differences",
            NUMBER,
        ),
        (json!({"mended": null}), "mended", NUMBER),
        (json!({"mended": -1}), "mended", NUMBER),
        (json!({"refused": null}), "refused", reason),
        (json!({"refused": []}), "refused", reason),
        (json!({"refused": {"Own": 1}}), "refused", reason),
        (json!({"refused": {"own": "1"}}), "refused", reason),
        (json!({"refused": numbers(&reasons)}), "refused", reason),
        (json!({"detail": null}), "detail", characters),
        (json!({"detail": ""}), "detail", characters),
        (json!({"detail": "x".repeat(301)}), "detail", characters),
        (
            json!({"detail": "a\nb"}),
            "detail",
            "must not contain control characters",
        ),
        (
            json!({"reported_at": 1}),
            "reported_at",
            "is unknown; expected one of state, differences, mended, refused, detail",
        ),
    ] {
        let body = with(done.clone(), change);
        let response = app.put(&format!("{PATH}/ghost"), &body).await;
        response.assert(400, field_error(field, detail).body());
    }
    let response = app.put(&format!("{PATH}/ghost"), &json!([])).await;
    let detail = "A report is a JSON object.";
    response.assert(400, problem("invalid-request", detail));
    app.put(&format!("{PATH}/ghost"), &json!({"state": "done"}))
        .await
        .assert(400, field_error("differences", NUMBER).body());
    let response = app
        .put(&format!("{PATH}/Ghost"), &json!({"mended": -1}))
        .await;
    let source = "must be 1 to 100 of a-z 0-9 . _ : / - and not '.' or '..'";
    let errors = [("source", source), ("state", STATE), ("mended", NUMBER)];
    response.assert(400, field_errors(&errors).body());
    let full = with(
        done,
        json!({"refused": numbers(&reasons[..20]), "detail": "é".repeat(300)}),
    );
    report(&app, "ghost", full).await;
}

/// The refused sources are in the tests of queries.
#[tokio::test]
async fn longest_source_is_accepted() {
    let app = start();
    let source = "a".repeat(100);
    let result = report(&app, &source, json!({"state": "running"})).await;
    assert_eq!(result["source"], json!(source));
}

/// Two communities in one database.
#[tokio::test]
async fn deployments_have_syncs_of_their_own() {
    let app = start();
    report(&app, "ghost", json!({"state": "running"})).await;
    app.worker.sql("UPDATE syncs SET site = 'other'").await;
    app.assert_get(PATH, json!({"syncs": []})).await;
    let response = app.delete(&format!("{PATH}/ghost")).await;
    response.assert_status(204);
    let rows = app.worker.sql("SELECT site, source FROM syncs").await;
    assert_eq!(rows, json!([{"site": "other", "source": "ghost"}]));
}

#[tokio::test]
async fn syncs_send_no_redis_commands() {
    let app = start();
    let before = app.store().snapshot();
    report(&app, "ghost", json!({"state": "done", "differences": 0})).await;
    app.read(PATH).await;
    let response = app.delete(&format!("{PATH}/ghost")).await;
    response.assert_status(204);
    assert_eq!(app.store().snapshot(), before);
}

#[tokio::test]
async fn metrics_have_the_syncs_of_each_source() {
    let app = start();
    let metrics = async || {
        let response = app.get("/metrics").await;
        response.assert_status(200);
        let lines = response.text.lines();
        let lines = lines.filter(|line| line.contains("_sync_"));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(metrics().await, "");
    report(&app, "a%2Fb", json!({"state": "running"})).await;
    let failed = "\
# TYPE activity_rank_sync_failed gauge
# HELP activity_rank_sync_failed Whether the last sync run of a source failed.
";
    let expected = format!("{failed}activity_rank_sync_failed{{source=\"a/b\"}} 0\n");
    assert_eq!(metrics().await, expected);
    report(&app, "ghost", json!({"state": "done", "differences": 3})).await;
    backdate(&app, "ghost", 1_795_132_800_000).await;
    report(&app, "ghost", json!({"state": "failed"})).await;
    let expected = format!(
        "\
# TYPE activity_rank_sync_differences gauge
# HELP activity_rank_sync_differences Differences at the end of the last completed sync run of a source; absent if there was none.
activity_rank_sync_differences{{source=\"ghost\"}} 3
# TYPE activity_rank_sync_completed_timestamp_seconds gauge
# UNIT activity_rank_sync_completed_timestamp_seconds seconds
# HELP activity_rank_sync_completed_timestamp_seconds When the last completed sync run of a source ended; absent if there was none.
activity_rank_sync_completed_timestamp_seconds{{source=\"ghost\"}} 1795132800.000
{failed}activity_rank_sync_failed{{source=\"a/b\"}} 0
activity_rank_sync_failed{{source=\"ghost\"}} 1
"
    );
    assert_eq!(metrics().await, expected);
}
