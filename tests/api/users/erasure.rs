//! `DELETE /v1/users/{user}`: erasure of a user.

use test_support::reference::span_of;
use test_support::{json, peers};

use crate::app::TestApp;
use crate::bodies::{activity, dated, ids, like, undo, with};
use crate::clock::{day, noon, period};

/// Writes every kind of record of a user: activity of today, of last days and of past years, in
/// groups, undone, and a profile.
async fn write_all_records(app: &TestApp, user: &str) {
    let (visit, undone) = (activity(user, "visit", "/"), like(user, "undone"));
    let earlier = json!({"at": noon(12), "groups": ["eu"]});
    let oldest = json!({"at": noon(3000), "groups": ["old"]});
    let activities = json!([
        with(like(user, "now"), json!({"groups": ["eu", "us"]})),
        visit,
        with(visit.clone(), earlier),
        with(like(user, "then"), oldest),
        undone,
        undo(undone.clone()),
        undo(activity(user, "follow", "never")),
    ]);
    app.send_activity(activities).await.assert_status(200);
    app.set_name(user, user).await;
    let pause = json!({"from": day(-1).to_string(), "until": day(-1).to_string()});
    let path = format!("/v1/users/{user}/pause");
    app.write(&path, &pause).await;
}

#[tokio::test]
async fn erasure_removes_every_trace_of_one_user() {
    let app = TestApp::start();
    // The ids of the other users contain the erased id.
    let others @ [other, ..] = &peers(["142", "x:42", "42:x"]);
    write_all_records(&app, "42").await;
    for user in others {
        write_all_records(&app, user).await;
    }
    let mut store = app.store();
    assert!(store.traces("42").len() >= 20, "{:?}", store.traces("42"));
    let traces = store.traces(other).len();

    let response = app.delete("/v1/users/42").await;
    response.assert_status(204);
    let found = (&*response.text, response.header("cache-control"));
    assert_eq!(found, ("", Some("no-store")));
    assert_eq!(store.traces("42"), [""; 0]);
    for user in others {
        assert_eq!(store.traces(user).len(), traces, "{user}");
    }
    for query in ["", "?group=eu", "?group=us"] {
        let board = app.read(&format!("/v1/ranking/day{query}")).await;
        assert_eq!(ids(&board), others, "{query}");
    }
    let old = format!("/v1/ranking/day?group=old&date={}", day(3000));
    let old = app.read(&old).await;
    assert_eq!(old["total"], 3);
    let named = json!({"id": other, "name": other});
    assert_eq!(old["entries"][0]["user"], named);
}

#[tokio::test]
async fn erased_user_is_unknown_on_every_route() {
    let app = TestApp::start();
    app.erase("unknown").await;
    assert_eq!(app.store().keys(), [""; 0]);
    write_all_records(&app, "42").await;
    app.erase("42").await;
    app.get("/v1/users/42").await.assert_status(404);
    let empty = json!({"period": period("all", day(0)), "user": {"id": "42"}, "rank": null,
        "score": 0, "total": 0, "percentile": null, "next": null, "around": []});
    app.assert_get("/v1/ranking/all/users/42", empty).await;
    let history = app.read("/v1/users/42/activity").await;
    for day in history["days"].as_array().unwrap() {
        assert_eq!(day["points"], 0);
        assert_eq!(day["actions"], json!({}));
    }
    // No deduplication record is left: repeats count again, also one dated before an undo.
    app.count("42", "like", "now").await;
    app.count("42", "visit", "/").await;
    let undone = dated(activity("42", "follow", "never"), noon(1));
    app.counted(undone).await;

    app.erase("42").await;
    let before = app.store().snapshot();
    app.erase("42").await;
    assert_eq!(app.store().snapshot(), before);
}

#[tokio::test]
async fn erasure_covers_undo_records_until_they_expire() {
    let app = TestApp::start();
    app.outcome(undo(like("42", "p")), "nothing-to-undo").await;
    let mut store = app.store();
    let record = store.history();
    let span: i64 = record.split(':').nth(1).unwrap().parse().unwrap();
    // Written on the last day of its 31, a record of the second last span is younger than 62 days.
    let (older, newer) = (store.key(&format!("h:{}:42", span - 1)), store.key(&record));
    store.run::<i64>("COPY", &[&newer, &older]);
    app.erase("42").await;
    assert_eq!(store.traces("42"), [""; 0]);
}

/// The index may expire a span, counted from its first activity, while a later visit remains.
#[tokio::test]
async fn erasure_covers_late_visits_of_a_span() {
    let app = TestApp::start();
    app.counted(dated(like("42", "p"), noon(20))).await;
    // Removes the span from the index, as expiry would.
    let mut store = app.store();
    let index = store.key("i");
    let span = span_of(day(20)).0.to_string();
    assert_eq!(store.run::<i64>("ZREM", &[&index, &span]), 1);
    let visit = dated(activity("42", "visit", "/"), noon(20));
    app.counted(visit).await;
    app.erase("42").await;
    assert_eq!(store.traces("42"), [""; 0]);
}
