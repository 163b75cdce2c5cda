//! Streams while the store does not respond.

use test_support::{Event, Fault, json, until};

use super::{assert_board, open, open_with, start, start_with};
use crate::app::TestApp;
use crate::problem::store_unavailable;

const BOARD: &str = "/v1/ranking/day";
const LIVE: &str = "/v1/ranking/day/live";

/// Once the store is back, streams open again.
#[tokio::test]
async fn stream_without_known_board_returns_503() {
    let (app, forwarder) = start();
    forwarder.fail(|_| Some(Fault::CutBefore));
    for _ in 0..2 {
        let response = app.get(LIVE).await;
        response.assert(503, store_unavailable());
        let headers = ["retry-after", "cache-control"].map(|name| response.header(name));
        assert_eq!(headers, [Some("1"), Some("no-store")]);
    }
    assert_eq!(app.head(LIVE).await.status, 503);
    forwarder.heal();
    let mut stream = open(&app, LIVE).await;
    assert_board(&stream.event().await, &app.get(BOARD).await);
}

/// A stream sends the last known board with `stale` during an outage, and the current board
/// afterwards. A stream opened during the outage does the same.
#[tokio::test]
async fn outage_marks_streamed_board_stale() {
    let (app, forwarder) = start_with(|worker| worker.check_interval(1));
    app.count("42", "like", "p").await;
    let mut stream = open(&app, LIVE).await;
    let fresh = stream.event().await;
    forwarder.fail(|_| Some(Fault::CutBefore));

    let stale = stream.event().await;
    let mut body = stale.json();
    let fields = body.as_object_mut().expect("a board");
    assert_eq!(fields.remove("stale"), Some(json!(true)), "{}", stale.data);
    let as_of = fields.remove("as_of");
    assert!(as_of.is_some_and(|of| of.is_string()), "{}", stale.data);
    assert_eq!(body, fresh.json());
    assert_ne!(stale.id, fresh.id);
    let mut late = open(&app, LIVE).await;
    let first = Event {
        retry: Some(3000),
        ..stale.clone()
    };
    assert_eq!(late.event().await, first);
    let mut resumed = open_with(&app, LIVE, &[("last-event-id", &stale.id)]).await;
    assert_eq!(resumed.next().await.expect("the retry event").name, "");

    forwarder.heal();
    app.count("7", "comment", "c").await;
    for stream in [&mut stream, &mut late, &mut resumed] {
        // The first read after the outage may precede the comment.
        let mut event = stream.event().await;
        if event.json()["total"] == 1 {
            event = stream.event().await;
        }
        assert_board(&event, &app.get(BOARD).await);
    }
}

/// The Durable Object drops its remembered board when a user is hidden: it may show that user.
#[tokio::test]
async fn moderation_discards_remembered_board() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.live().cached());
    let live = "/v1/ranking/all/live";
    // Waits until the object has noticed the outage. Returns the total of its stale board, or
    // `None` where it responds 503.
    let stale_total = async || {
        until("a stale board or 503", async || {
            let mut stream = app.worker.api().stream(live, &[]).await;
            if stream.status() == 503 {
                return Some(None);
            }
            let board = stream.event().await.json();
            (board["stale"] == true).then(|| board["total"].as_u64())
        })
        .await
    };
    for user in ["7", "42"] {
        app.count(user, "like", "p").await;
    }
    // HEAD makes the object read the board, without a stream.
    app.head(live).await.assert_status(200);
    forwarder.fail(|_| Some(Fault::CutBefore));
    assert_eq!(stale_total().await, Some(2));
    forwarder.heal();
    app.moderate("42", true, false).await;
    forwarder.fail(|_| Some(Fault::CutBefore));
    assert_eq!(stale_total().await, None);
}

/// Data written with other settings: the stream returns the same problem as the board.
#[tokio::test]
async fn schema_mismatch_fails_stream_like_board() {
    let (app, _forwarder) = start();
    app.count("42", "like", "p").await;
    let (other, _forwarder) = start_with(|worker| {
        let worker = worker.var("PREFIX", app.prefix());
        worker.json("POINT_DECIMALS", json!(1))
    });
    let (board, live) = (other.get(BOARD).await, other.get(LIVE).await);
    board.assert_status(500);
    live.assert(500, board.body.clone());
}
