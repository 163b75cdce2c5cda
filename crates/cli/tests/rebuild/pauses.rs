//! Rebuild of a journal with pauses.

use test_support::{Value, json};

use crate::TestResult;
use crate::cli::{assert_verified, rebuild};
use crate::journal_app::JournalApp;

#[tokio::test]
async fn rebuild_restores_pauses() -> TestResult {
    let app = JournalApp::start(|worker| worker);
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
    app.act("42", "like", "a").await;
    app.delete("/v1/users/7/pause").await;
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
    let before = read().await;
    let counts = before.iter().map(|pauses| pauses.as_array().map(Vec::len));
    assert!(counts.eq([Some(2), Some(0), Some(0)]), "{before:?}");
    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_verified(&app)?;
    assert_eq!(read().await, before);
    Ok(())
}
