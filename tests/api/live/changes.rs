//! Events after a board has changed.

use test_support::{Fault, json, peers};

use super::{assert_board, assert_change, count_in_group, open, start, start_with};
use crate::app::TestApp;
use crate::bodies::{activity, dated, like, undo};
use crate::events::Event;
use crate::problem::problem;

/// Activities, undos, profiles, moderation, adjustments and erasures change a board.
#[tokio::test]
async fn every_kind_of_change_reaches_stream_promptly() {
    let (app, _forwarder) = start();
    let board = "/v1/ranking/day?limit=10";
    let mut stream = open(&app, "/v1/ranking/day/live?limit=10").await;
    assert_board(&stream.event().await, &app.get(board).await);

    app.count("42", "like", "p").await;
    assert_change(&app, &mut stream, board).await;
    app.count("7", "comment", "c").await;
    assert_change(&app, &mut stream, board).await;
    app.outcome(undo(activity("7", "comment", "c")), "undone")
        .await;
    assert_change(&app, &mut stream, board).await;
    app.set_name("42", "Ada").await;
    assert_change(&app, &mut stream, board).await;
    app.count("9", "comment", "c").await;
    assert_change(&app, &mut stream, board).await;
    for hidden in [true, false] {
        app.moderate("9", hidden, false).await;
        assert_change(&app, &mut stream, board).await;
    }
    for hidden in [true, false] {
        let profile = json!({"name": "Nia", "hidden": hidden});
        app.write("/v1/users/9", &profile).await;
        assert_change(&app, &mut stream, board).await;
    }
    let items = json!([like("9", "q"), like("9", "r")]);
    app.post("/v1/activity", &items).await.assert_status(200);
    assert_change(&app, &mut stream, board).await;
    let points = json!({"id": "case", "points": -1, "reason": "r"});
    app.adjust("9", &points).await.assert_status(200);
    assert_change(&app, &mut stream, board).await;
    app.erase("42").await;
    assert_change(&app, &mut stream, board).await;
    let last = app.read(board).await;
    assert_eq!(last["total"], 1);
    assert_eq!(last["entries"][0]["user"]["id"], "9");
}

/// Queued activity is counted outside of a request.
#[tokio::test]
async fn replayed_activity_reaches_stream() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.live().queued(9));
    let mut stream = app.worker.api().stream("/v1/ranking/all/live", &[]).await;
    assert_eq!(stream.event().await.json()["total"], 0);
    forwarder.fail(|_| Some(Fault::CutBefore));
    let queued = app.send_activity(like("42", "p")).await;
    queued.assert_status(202);
    forwarder.heal();
    let event = stream.event().await;
    assert_board(&event, &app.get("/v1/ranking/all").await);
    assert_eq!(event.json()["total"], 1);
}

/// A change on another group's board, or below the streamed entries, sends no event.
#[tokio::test]
async fn stream_ignores_changes_outside_its_board() {
    let (app, _forwarder) = start();
    let [first, second] = &peers(["first", "second"]);
    count_in_group(&app, first, "p", "eu").await;
    count_in_group(&app, first, "q", "eu").await;
    count_in_group(&app, second, "p", "eu").await;
    let mut group = open(&app, "/v1/ranking/day/live?group=eu").await;
    let mut top = open(&app, "/v1/ranking/day/live?limit=1").await;
    let mut all = open(&app, "/v1/ranking/day/live").await;
    for stream in [&mut group, &mut top, &mut all] {
        stream.event().await;
    }
    // Changes the score of rank 2 on the global board only.
    app.count(second, "visit", "/").await;
    assert_change(&app, &mut all, "/v1/ranking/day").await;
    // An event of the visit on the other streams would precede this board.
    count_in_group(&app, first, "r", "eu").await;
    assert_change(&app, &mut group, "/v1/ranking/day?group=eu").await;
    assert_change(&app, &mut top, "/v1/ranking/day?limit=1").await;
    assert_change(&app, &mut all, "/v1/ranking/day").await;
}

#[tokio::test]
async fn unknown_event_has_no_stream() {
    let (app, _forwarder) = start();
    let response = app.get("/v1/events/unknown/live").await;
    response.assert(404, problem("not-found", "There is no event unknown."));
}

/// The object of an event's board is named like the one that an activity wakes.
#[tokio::test]
async fn activity_in_event_reaches_stream() {
    let (app, _forwarder) = start_with(|worker| worker.var("BOARD_MAX_AGE", "0"));
    let event = Event::new("a:b");
    event.put(&app).await;
    let board = event.ranking();
    let mut stream = open(&app, &format!("{}/live", event.path())).await;
    assert_change(&app, &mut stream, &board).await;
    app.counted(dated(like("42", "p"), event.at(0))).await;
    assert_change(&app, &mut stream, &board).await;
    event.assert_rows(&app, &[("42", 2)]).await;
}
