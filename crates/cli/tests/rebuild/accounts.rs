//! Rebuild of accounts: the flags of an account and the list of its member, on one shard and on several.

use test_support::{Value, WorkerBuilder, json};

use crate::TestResult;
use crate::cli::{assert_verified, rebuild};
use crate::content::content;
use crate::journal_app::JournalApp;

const ACCOUNTS: [&str; 4] = ["42", "77", "a|b", "left"];

fn start(shards: u32) -> JournalApp {
    JournalApp::start(|worker: WorkerBuilder| content(worker, shards))
}

fn like(user: &str, target: &str) -> Value {
    json!({"user": user, "action": "like", "target": target})
}

fn path(user: &str) -> String {
    format!("/v1/users/{user}/account")
}

/// Joins accounts, and detaches one of them again, and counts before and after.
async fn fill(app: &JournalApp) {
    for user in ACCOUNTS.into_iter().chain(["9", "5"]) {
        app.send(like(user, "before")).await;
    }
    let target = json!({"author": "42"});
    app.put("/v1/targets/post", &target).await;
    for user in ACCOUNTS {
        app.put(&path(user), &json!({"of": "9"})).await;
    }
    for user in ["42", "77", "left"] {
        app.send(like(user, &format!("of-{user}"))).await;
    }
    app.send(like("5", "post")).await;
    app.send(json!({"user": "77", "action": "like", "target": "of-42", "undo": true}))
        .await;
    app.delete(&path("left")).await;
    app.send(like("left", "own")).await;
    app.wait_for_receivers().await;
}

async fn responses(app: &JournalApp) -> Vec<Value> {
    let mut responses = Vec::new();
    for user in ACCOUNTS.into_iter().chain(["9"]) {
        for path in [path(user), format!("/v1/ranking/all/users/{user}")] {
            responses.push(app.api.get(&path).await.body);
        }
    }
    for path in ["/v1/ranking/all", "/v1/authors/all"] {
        responses.push(app.api.get(path).await.body);
    }
    responses
}

async fn check(shards: u32) -> TestResult {
    let app = start(shards);
    fill(&app).await;
    assert_verified(&app)?;
    let before = responses(&app).await;
    assert_eq!(before[1]["account_of"], "9", "{}", before[1]);
    assert_eq!(before[8]["accounts"], json!(["42", "77", "a|b"]));
    rebuild(&app, &[])?;
    assert_eq!(responses(&app).await, before);
    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_verified(&app)?;
    assert_eq!(responses(&app).await, before);
    // Accounts count for their member as before.
    let response = app.send(like("a|b", "before")).await;
    assert_eq!(response.body["outcome"], "duplicate");
    Ok(())
}

#[tokio::test]
async fn rebuild_restores_accounts() -> TestResult {
    check(1).await
}

#[tokio::test]
#[ignore = "soak"]
async fn rebuild_restores_accounts_on_other_shards() -> TestResult {
    check(8).await
}

/// An erased account is in no entry of the journal, and a rebuild does not join it again.
#[tokio::test]
async fn erased_account_leaves_no_trace() -> TestResult {
    let app = start(8);
    fill(&app).await;
    app.delete("/v1/users/77").await;
    app.wait_for_receivers().await;
    let journal = app.api.get("/v1/journal?limit=5000").await;
    assert!(
        !journal.text.contains("\"user\":\"77\""),
        "{}",
        journal.text
    );
    assert!(!journal.text.contains("\"of\":\"77\""), "{}", journal.text);
    app.lose_data().await?;
    rebuild(&app, &[])?;
    let list = app.api.get(&path("9")).await;
    assert_eq!(list.body["accounts"], json!(["42", "a|b"]));
    Ok(())
}
