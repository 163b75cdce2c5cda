//! Recounts of events: a rebuild counts them as the service did.

use test_support::{Value, json, rest};

use crate::TestResult;
use crate::app::noon;
use crate::cli::{assert_verified, rebuild};
use crate::journal_app::JournalApp;
use crate::random::Random;
use crate::recount::{RulesFile, dated_rules};

async fn recount(app: &JournalApp, event: &str, body: Value) {
    let path = format!("/v1/events/{event}/recount");
    let response = app.api.post(&path, &body).await;
    response.assert_status(200);
    assert_eq!(response.body["state"], "recounted", "{}", response.body);
}

async fn adjust(app: &JournalApp, body: Value) {
    let response = app.api.post("/v1/users/r1/adjustments", &body).await;
    response.assert_status(200);
}

/// The board of an event, as responses show it.
async fn board(app: &JournalApp, event: &str) -> Value {
    let path = format!("/v1/events/{event}/ranking?limit=100");
    let response = app.without_cache().api.get(&path).await;
    response.assert_status(200);
    response.body
}

fn event(from: i64, to: i64) -> Value {
    json!({"title": "Event", "from": noon(from), "to": noon(to)})
}

/// The preview of a recount leaves its board and progress for an hour.
#[tokio::test(flavor = "multi_thread")]
async fn tools_run_after_the_preview_of_a_recount() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let path = "/v1/events/past/recount?preview=true";
    let preview = app.api.post(path, &event(20, 5)).await;
    preview.assert_status(200);
    let is_preview = |key: &str| ["g:past", "bE::\tpast"].contains(&rest(key));
    let keys = app.data()?.into_keys();
    assert_eq!(keys.filter(|key| is_preview(key)).count(), 2);
    assert_verified(&app)?;
    rebuild(&app, &[])?;
    assert_verified(&app)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn recounted_events_are_rebuilt() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let mut random = Random::new(11);
    random.send_activities(&app.api, 500).await;
    let mut groups = event(20, 5);
    groups["groups"] = json!(["eu", "us"]);
    recount(&app, "past", event(20, 5)).await;
    recount(&app, "groups", groups).await;
    // It was deleted, and its activity counts again.
    recount(&app, "deleted", event(1, -1)).await;
    let season = |points: f64| {
        let mut season = event(30, -30);
        season["actions"] = json!({"like": points, "comment": 2});
        season
    };
    recount(&app, "season", season(3.25)).await;
    for (id, points) in [("1", -500), ("2", 7)] {
        adjust(
            &app,
            json!({"id": id, "points": points, "reason": "A test", "event": "season"}),
        )
        .await;
    }
    random.send_activities(&app.api, 300).await;
    recount(&app, "season", season(1.5)).await;
    adjust(&app, json!({"id": "1", "undo": true, "reason": "A test"})).await;
    recount(&app, "past", event(21, 4)).await;
    app.api.delete("/v1/events/groups").await.assert_status(204);
    random.send_activities(&app.api, 300).await;
    assert_verified(&app)?;
    let mut boards = Vec::new();
    for event in ["past", "season", "deleted"] {
        boards.push(board(&app, event).await);
    }
    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_verified(&app)?;
    for (event, before) in ["past", "season", "deleted"].into_iter().zip(boards) {
        assert_eq!(board(&app, event).await, before, "{event}");
    }
    Ok(())
}

/// Activity of before a recount of rules counts in an event by the recounted points.
#[tokio::test(flavor = "multi_thread")]
async fn event_is_recounted_by_recounted_rules() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    let mut random = Random::new(12);
    random.send_activities(&app.api, 300).await;
    RulesFile::new(&dated_rules())?.apply(&app)?;
    random.send_activities(&app.api, 100).await;
    recount(&app, "past", event(25, 2)).await;
    random.send_activities(&app.api, 100).await;
    assert_verified(&app)?;
    Ok(())
}
