//! Rebuild of boards with 20 bits of order.

use test_support::{Value, json};

use crate::TestResult;
use crate::cli::{assert_verified, rebuild, run};
use crate::journal_app::JournalApp;
use crate::stored::redis_command;

#[tokio::test(flavor = "multi_thread")]
async fn large_points_are_rebuilt_and_verified() -> TestResult {
    let app = JournalApp::start(|worker| {
        let rules = json!({"grant": {"points": 400_000.000_1}, "tip": {"points": 0.0001}});
        let worker = worker.var("ORDER_BITS", "20").var("POINT_DECIMALS", "4");
        worker.json("RULES", rules)
    });
    app.act("b", "grant", "2").await;
    for user in ["b", "a", "hidden", "c"] {
        app.act(user, "grant", "1").await;
    }
    app.act("a", "tip", "1").await;
    let undo = json!({"user": "b", "action": "grant", "target": "2", "undo": true});
    app.send(undo).await;
    app.moderate("hidden", true, false).await;
    app.api.get("/v1/journal").await.assert_status(200);
    assert_verified(&app)?;
    let read = async |limit: u32| {
        let response = app.api.get(&format!("/v1/ranking/all?limit={limit}")).await;
        response.assert_status(200).body.clone()
    };
    let before = read(10).await;
    let entries = before["entries"].as_array().into_iter().flatten();
    let scores = entries.map(|entry| json!([entry["user"]["id"], entry["score"]]));
    let (most, others) = (400_000.000_2, 400_000.000_1);
    let expected = json!([["a", most], ["c", others], ["b", others]]);
    assert_eq!(scores.collect::<Value>(), expected);

    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_verified(&app)?;
    assert_eq!(read(11).await, before);

    let (mut redis, board) = (app.redis(), app.key_of("a", "ba:all"));
    // One step.
    let _: f64 = redis_command(&mut redis, &["ZINCRBY", &board, "1048576", "a"])?;
    let output = run(&app, &["verify"])?.assert_code(1).stdout;
    let difference = "a: the store has 4000000003 points; the journal has 4000000002 points";
    assert!(output.contains(difference), "{output}");
    Ok(())
}
