//! Export and restore of boards with 20 bits of order.

use std::fs;

use test_support::{Value, WorkerBuilder, json, key_of, peers, redis};

use crate::app::{Endpoint, TestApp, builder};
use crate::cli::{export, restore};
use crate::stored::{assert_same, read_data, redis_command};
use crate::{TestResult, responses};

fn start(endpoint: &Endpoint, configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> TestApp {
    let worker = builder().var("PREFIX", &endpoint.prefix);
    let worker = configure(worker.store(&endpoint.store)).start();
    TestApp::new(worker.api(), endpoint.clone(), worker)
}

fn with_bits(worker: WorkerBuilder) -> WorkerBuilder {
    worker.var("ORDER_BITS", "20").var("POINT_DECIMALS", "4")
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_needs_the_same_bits_of_order() -> TestResult {
    let app = start(&Endpoint::unused("bits"), with_bits);
    app.fill().await;
    for user in ["ada", "cyd"] {
        let grant = json!({"id": "max", "points": 800_000.000_1, "reason": "Case"});
        let path = format!("/v1/users/{user}/adjustments");
        app.api.post(&path, &grant).await.assert_status(200);
    }
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let text = fs::read_to_string(&file)?;
    let first: Value = serde_json::from_str(text.lines().next().unwrap_or_default())?;
    assert_eq!(
        (&first["order_bits"], &first["decimals"]),
        (&json!(20), &json!(4))
    );

    let copied = Endpoint::unused("bits-copy");
    restore(&copied, &file)?;
    let mut redis = redis().connection();
    let expected = read_data(&mut redis, &app.endpoint.prefix)?;
    assert_same(&read_data(&mut redis, &copied.prefix)?, &expected);
    let copy = start(&copied, with_bits);
    responses::assert_same(
        &responses::read_all(&copy).await,
        &responses::read_all(&app).await,
    );

    let other = start(&copied, |worker| with_bits(worker).without("ORDER_BITS"));
    let response = other.api.get("/v1/ranking/all").await;
    let detail = format!(
        "ORDER_BITS: is 30, but the data under PREFIX {} was written with 20; set ORDER_BITS back \
         to 20, or choose another PREFIX to start anew",
        copied.prefix
    );
    assert_eq!(response.assert_status(500).body["detail"], detail);
    Ok(())
}

/// The fraction that follows the last order number is not exported.
#[tokio::test(flavor = "multi_thread")]
async fn exhausted_order_counter_is_restored() -> TestResult {
    let app = start(&Endpoint::unused("spent"), with_bits);
    let [ada, bob] = peers(["ada", "bob"]);
    app.send(json!({"user": ada, "action": "like", "target": "p"}))
        .await;
    let mut redis = redis().connection();
    let key = |prefix: &str| key_of(prefix, &ada, "ba:all");
    let board = key(&app.endpoint.prefix);
    let _: i64 = redis_command(&mut redis, &["ZADD", &board, "1048575.25", "#"])?;
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let copied = Endpoint::unused("spent-copy");
    restore(&copied, &file)?;
    let counter: f64 = redis_command(&mut redis, &["ZSCORE", &key(&copied.prefix), "#"])?;
    assert_eq!(counter.to_string(), "1048575");
    let copy = start(&copied, with_bits);
    let counted = copy
        .send(json!({"user": bob, "action": "like", "target": "p"}))
        .await;
    assert_eq!(
        counted.body["standings"]["all"],
        json!({"id": "all", "score": 2, "rank": 2})
    );
    Ok(())
}
