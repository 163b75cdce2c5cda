//! Rebuild of boards with 20 bits of order.

use test_support::{Value, json};

use crate::TestResult;
use crate::cli::{assert_verified, rebuild, verify};
use crate::journal_app::JournalApp;
use crate::stored::redis_command;

#[tokio::test(flavor = "multi_thread")]
async fn large_points_are_rebuilt_and_verified() -> TestResult {
    let app = JournalApp::start(|worker| {
        let rules = json!({"grant": {"points": 400_000.000_1}, "tip": {"points": 0.0001}});
        let worker = worker.var("ORDER_BITS", "20").var("POINT_DECIMALS", "4");
        worker.json("RULES", rules)
    });
    let activity = |user: &str, action: &str, target: &str| json!({"user": user, "action": action, "target": target});
    for (user, action, target) in [
        ("b", "grant", "1"),
        ("b", "grant", "2"),
        ("a", "grant", "1"),
        ("hidden", "grant", "1"),
        ("c", "grant", "1"),
        ("a", "tip", "1"),
    ] {
        app.send(activity(user, action, target)).await;
    }
    let mut undo = activity("b", "grant", "2");
    undo["undo"] = json!(true);
    app.send(undo).await;
    let hide = json!({"hidden": true, "frozen": false, "reason": "Spam"});
    let path = "/v1/users/hidden/moderation";
    app.put(path, &hide).await;
    app.api.get("/v1/journal").await.assert_status(200);
    assert_verified(&app)?;
    let read = async |limit: u32| {
        let response = app.api.get(&format!("/v1/ranking/all?limit={limit}")).await;
        response.assert_status(200).body.clone()
    };
    let before = read(10).await;
    let scores = before["entries"].as_array().map(|entries| {
        let scores = entries
            .iter()
            .map(|entry| (&entry["user"]["id"], &entry["score"]));
        scores
            .map(|(id, score)| json!([id, score]))
            .collect::<Value>()
    });
    let expected = json!([
        ["a", 400_000.000_2],
        ["c", 400_000.000_1],
        ["b", 400_000.000_1]
    ]);
    assert_eq!(scores, Some(expected));

    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_verified(&app)?;
    assert_eq!(read(11).await, before);

    let (mut redis, board) = (app.redis(), app.key_of("a", "ba:all"));
    // One step.
    let _: f64 = redis_command(&mut redis, &["ZINCRBY", &board, "1048576", "a"])?;
    let (code, output) = verify(&app)?;
    assert_eq!(code, Some(1), "{output}");
    let difference = "a: the store has 4000000003 points; the journal has 4000000002 points";
    assert!(output.contains(difference), "{output}");
    Ok(())
}
