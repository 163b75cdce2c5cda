//! `PUT`, `GET` and `DELETE` of events.

use futures::future::join_all;
use test_support::{Value, depth, json};

use super::{Event, another, start};
use crate::bodies::{dated, like, with};
use crate::problem::{ID, Problem, problem};

fn conflict(detail: &str) -> Value {
    Problem::new("event-conflict", detail).body()
}

#[tokio::test]
async fn event_is_defined_changed_and_deleted() {
    let app = start();
    let event = Event::new("hackathon");
    let missing = problem("not-found", "There is no event hackathon.");
    app.get(&event.path()).await.assert(404, missing.clone());
    app.get(&event.ranking()).await.assert(404, missing.clone());
    app.assert_get("/v1/events", json!({"events": []})).await;
    let response = app.put(&event.path(), &event.body()).await;
    response.assert(200, event.view("coming"));
    app.assert_get(&event.path(), event.view("coming")).await;
    let changed = Event::between("hackathon", 10_000, 50_000).with(json!({
        "title": "New", "url": "https://example.com/", "actions": {"like": 5, "publish": 20}, "groups": ["eu"],
        "prizes": [{"ranks": "1", "title": "A book"}, {"ranks": "2-10", "title": "A sticker"}],
    }));
    let response = app.put(&changed.path(), &changed.body()).await;
    response.assert(200, changed.view("coming"));
    let list = json!({"events": [changed.view("coming")]});
    app.assert_get("/v1/events", list).await;
    for _ in 0..2 {
        let response = app.delete(&event.path()).await;
        response.assert_status(204);
    }
    app.get(&event.path()).await.assert(404, missing);
    app.assert_get("/v1/events", json!({"events": []})).await;
}

#[tokio::test]
async fn events_defined_at_once_are_kept_or_refused() {
    let app = start();
    let events = ["a", "b", "c", "d", "e", "f"].map(Event::new);
    let puts = events.iter().map(async |event| {
        let response = app.put(&event.path(), &event.body()).await;
        let is_defined = response.status == 200;
        if !is_defined {
            let detail =
                "Other requests changed the definitions at the same time: send the request again.";
            response.assert(409, conflict(detail));
        }
        is_defined
    });
    let defined = join_all(puts).await;
    // Counting reads the definitions, not the events.
    app.counted(dated(like("42", "1"), events[0].at(0))).await;
    for (event, is_defined) in events.iter().zip(defined) {
        if is_defined {
            app.assert_get(&event.path(), event.view("coming")).await;
            event.assert_rows(&app, &[("42", 2)]).await;
        } else {
            app.get(&event.path()).await.assert_status(404);
        }
    }
}

#[tokio::test]
async fn deleted_event_starts_empty_when_defined_again() {
    let app = start();
    let event = Event::new("hackathon");
    event.put(&app).await;
    app.counted(dated(like("a", "1"), event.at(0))).await;
    event.assert_rows(&app, &[("a", 2)]).await;
    app.delete(&event.path()).await.assert_status(204);
    app.counted(dated(like("a", "2"), event.at(0))).await;
    event.put(&app).await;
    event.assert_rows(&app, &[]).await;
    app.counted(dated(like("a", "3"), event.at(0))).await;
    event.assert_rows(&app, &[("a", 2)]).await;
}

#[tokio::test]
async fn event_begins_in_the_future() {
    let app = start();
    let event = Event::between("hackathon", -2_000, 60_000);
    let response = app.put(&event.path(), &event.body()).await;
    let detail = "An event begins in the future: from has passed.";
    response.assert(409, conflict(detail));
    app.assert_get("/v1/events", json!({"events": []})).await;
}

#[tokio::test]
async fn begun_event_keeps_its_rules() {
    let app = start();
    let mut event = Event::new("hackathon").with(json!({"groups": ["eu"]}));
    event.begin(&app, &mut app.store()).await;
    let detail =
        "The event has begun: only title, url, prizes and an end that lies ahead can change.";
    for change in [
        json!({"groups": ["us"]}),
        json!({"actions": {"like": 1}}),
        json!({"from": event.at(1)}),
        json!({"to": event.at(1)}),
    ] {
        let response = app.put(&event.path(), &with(event.body(), change)).await;
        response.assert(409, conflict(detail));
    }
    app.assert_get(&event.path(), event.view("running")).await;
    let later = json!({"title": "New", "to": event.after(60_000), "prizes": [{"ranks": "1", "title": "A book"}]});
    let response = app.put(&event.path(), &with(event.body(), later)).await;
    response.assert_status(200);
    assert_eq!(response.body["title"], "New");
}

#[tokio::test]
async fn final_event_does_not_change() {
    let app = crate::app::TestApp::with(|worker| {
        worker.var("BOARD_MAX_AGE", "0").var("SETTLE_MINUTES", "0")
    });
    let mut event = Event::new("hackathon");
    event.put(&app).await;
    app.counted(dated(like("a", "1"), event.at(0))).await;
    event.end(&mut app.store());
    let app = another(&app, "0");
    app.assert_get(&event.path(), {
        let view = event.view("final");
        with(view, json!({"final_at": event.to.to_string()}))
    })
    .await;
    let response = app
        .put(&event.path(), &with(event.body(), json!({"title": "New"})))
        .await;
    let detail = "The event is final: its definition does not change any more.";
    response.assert(409, conflict(detail));
    let body = app.counted(dated(like("a", "2"), event.at(0))).await;
    assert_eq!(body["events"], Value::Null);
    app.outcome(
        json!({"user": "a", "action": "like", "target": "1", "undo": true}),
        "undone",
    )
    .await;
    for batch in 0..depth(2, 20) {
        let late = (0..500).map(|n| {
            dated(
                like(&format!("u{}", n % 50), &format!("{batch} {n}")),
                event.at(0),
            )
        });
        let results = app.post("/v1/activity", &late.collect()).await;
        let results = results.body["results"].as_array().expect("results").clone();
        assert!(
            results.iter().all(|result| result["outcome"] == "counted"),
            "{results:?}"
        );
    }
    event.assert_rows(&app, &[("a", 2)]).await;
    app.delete(&event.path()).await.assert_status(204);
}

#[tokio::test]
async fn twenty_events_run_at_a_time() {
    let app = start();
    let body = Event::new("e").body();
    for number in 0..20 {
        app.write(&format!("/v1/events/e{number}"), &body).await;
    }
    let response = app.put("/v1/events/e20", &body).await;
    response.assert(409, conflict("At most 20 events run at a time."));
    let other = Event::between("later", 40_000, 50_000);
    app.write(&other.path(), &other.body()).await;
    let counted = app
        .counted(dated(like("a", "1"), Event::new("e").at(10_000)))
        .await;
    let found = counted["events"].as_object().map(serde_json::Map::len);
    assert_eq!(found, Some(20));
}

#[tokio::test]
async fn invalid_definition_changes_nothing() {
    let app = start();
    let instant = "must be an RFC 3339 date and time with an offset such as 2026-11-20T08:00:00Z";
    let body = json!({"title": "", "from": "2026-11-20", "actions": {"sing": 1}, "rules": {}});
    let response = app.put("/v1/events/a%20b", &body).await;
    response.assert_status(400);
    let error = |pointer: &str, detail: &str| json!({"pointer": pointer, "detail": detail});
    let actions =
        "no rule has the action 'sing'; expected bookmark, comment, follow, like, publish, visit";
    let errors = json!([
        error(
            "/rules",
            "is unknown; expected one of title, from, to, url, actions, groups, prizes"
        ),
        error("/event", ID),
        error("/title", "must be 1 to 200 characters"),
        error("/from", instant),
        error("/to", instant),
        error("/actions", actions),
    ]);
    assert_eq!(response.body["errors"], errors);
    let list = app.put("/v1/events/e", &json!([])).await;
    let expected = problem("invalid-request", "An event is a JSON object.");
    list.assert(400, expected);
    app.assert_get("/v1/events", json!({"events": []})).await;
    assert_eq!(app.store().keys().len(), 0);
}
