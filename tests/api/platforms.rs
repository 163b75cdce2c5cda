//! The same changes in plain workerd and in Miniflare. Both simulate the platform: what one of them does otherwise, tests in
//! the other would not notice.

use test_support::{CronCost, Fault, Value, WorkerBuilder, json, until};

use crate::app::TestApp;
use crate::bodies::{dated, like};
use crate::clock::noon;

/// Uses each binding, and returns the responses, the rows and the cost of cron.
async fn results(configure: fn(WorkerBuilder) -> WorkerBuilder) -> (Vec<Value>, Vec<CronCost>) {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| {
        let worker = worker.archive().journal().queued(2).live().analytics();
        configure(worker)
            .json("BOARD_MAX_AGE", json!(0))
            .json("CRON_BUDGET", json!(1000))
    });
    app.count("42", "like", "p").await;
    app.outcome(dated(like("43", "q"), noon(3)), "counted")
        .await;
    let mut costs = Vec::new();
    for _ in 0..2 {
        for cost in [
            app.worker.metered_minute().await,
            app.worker.metered_tick().await,
        ] {
            // A script that Redis does not know yet takes a second request.
            costs.push(CronCost {
                subrequests: 0,
                store_requests: 0,
                ..cost
            });
        }
    }
    let statement =
        "SELECT n, user, json_extract(entry, '$.points') AS points FROM journal ORDER BY n";
    let rows = app.worker.sql(statement).await;
    let archived = "SELECT name, members FROM boards ORDER BY name";
    let boards = app.worker.archive_sql(archived).await;

    let mut stream = app.worker.api().stream("/v1/ranking/all/live", &[]).await;
    let first = stream.event().await.json()["total"].clone();
    forwarder.fail(|_| Some(Fault::CutBefore));
    let mut stale = app.read("/v1/ranking/day").await;
    assert!(stale["as_of"].take().is_string());
    let queued = app.send_activity(like("42", "later")).await;
    queued.assert_status(202);
    // Without a store a message fails until its last attempt.
    let dead = until("a dead letter", async || app.worker.dead().pop()).await;
    forwarder.heal();
    app.worker.enqueue(&dead).await;
    until("the queued activity", async || {
        let standing = app.read("/v1/ranking/all/users/42").await;
        (standing["score"] == 4).then_some(())
    })
    .await;

    let mut queued: Value = serde_json::from_str(&dead).expect("JSON");
    assert!(queued[0]["at"].take().is_string());
    let worker = app.worker.restart();
    let kept = worker.sql("SELECT count(*) AS rows FROM journal").await;
    (vec![rows, boards, first, stale, queued, kept], costs)
}

#[tokio::test]
async fn workerd_and_miniflare_agree() {
    let (workerd, costs) = results(|worker| worker).await;
    let expected = results(WorkerBuilder::miniflare).await;
    assert_eq!((workerd.clone(), costs), expected);
    assert_eq!(workerd[5], json!([{ "rows": 2 }]));
}
