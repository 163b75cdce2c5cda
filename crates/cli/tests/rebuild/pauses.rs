//! Rebuild of a journal with pauses, and with awards and dismissed cases, which have no data in Redis but entries of the
//! audit log.

use test_support::{Value, json};

use crate::TestResult;
use crate::cli::{assert_verified, rebuild};
use crate::journal_app::JournalApp;

#[tokio::test]
async fn rebuild_restores_pauses_awards_and_dismissals() -> TestResult {
    let helper = json!({"helper": {"name": "Helper", "count": "like"}});
    let app = JournalApp::start(|worker| {
        let worker = worker.json("ACHIEVEMENTS", helper);
        let worker = worker.var("CONTENT_PERIODS", "all");
        worker.json("FAIR_PLAY", json!({}))
    });
    let pause = async |user: &str, ahead: i64| {
        let day = jiff::Zoned::now().in_tz("UTC")?.date();
        let day = day.checked_add(jiff::Span::new().days(ahead))?.to_string();
        let body = json!({"from": day, "until": day});
        let path = format!("/v1/users/{user}/pause");
        app.put(&path, &body).await;
        TestResult::Ok(())
    };
    for (user, ahead) in [("42", 3), ("42", 9), ("7", 3), ("8", 3)] {
        pause(user, ahead).await?;
    }
    let award = "/v1/users/42/achievements/helper";
    app.put(award, &json!({"reason": "Helped"})).await;
    app.act("42", "like", "a").await;
    app.delete(award).await;
    app.delete("/v1/users/7/pause").await;
    let dismissed = json!({"state": "dismissed", "reason": "A team"});
    app.decide_case(json!(["42", "9"]), dismissed).await;
    let audited = app.audit_log().await;
    assert_eq!(audited.len(), 4, "{audited:?}");
    app.delete("/v1/users/8").await;
    assert_verified(&app)?;
    let read = async || -> Vec<Value> {
        let mut read = Vec::new();
        for user in ["42", "7", "8"] {
            let path = format!("/v1/users/{user}/pause");
            read.push(app.api.get(&path).await.body["pauses"].clone());
        }
        read
    };
    let before = (read().await, app.audit_log().await);
    let counts = before
        .0
        .iter()
        .map(|pauses| pauses.as_array().map(Vec::len));
    assert!(counts.eq([Some(2), Some(0), Some(0)]), "{before:?}");
    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_verified(&app)?;
    assert_eq!((read().await, app.audit_log().await), before);
    let steps = app.api.get("/v1/users/42/achievements").await.body;
    let step = json!({"value": 1, "at": null});
    assert_eq!(steps["achievements"][0]["steps"], json!([step]));
    Ok(())
}
