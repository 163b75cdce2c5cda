//! Rebuild of a journal with awards: they have no data in Redis but entries of the audit log.

use test_support::json;

use crate::TestResult;
use crate::cli::{assert_verified, rebuild};
use crate::journal_app::JournalApp;

#[tokio::test]
async fn rebuild_restores_awards_of_the_audit_log() -> TestResult {
    let helper = json!({"helper": {"name": "Helper", "count": "like"}});
    let app = JournalApp::start(|worker| worker.json("ACHIEVEMENTS", helper));
    let path = "/v1/users/42/achievements/helper";
    let award = json!({"reason": "Helped"});
    app.put(path, &award).await;
    app.act("42", "like", "a").await;
    app.delete(path).await;
    assert_verified(&app)?;
    let before = app.audit_log().await;
    assert_eq!(before.len(), 2, "{before:?}");
    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_verified(&app)?;
    assert_eq!(app.audit_log().await, before);
    let steps = app.api.get("/v1/users/42/achievements").await.body;
    let step = json!({"value": 1, "at": null});
    assert_eq!(steps["achievements"][0]["steps"], json!([step]));
    Ok(())
}
