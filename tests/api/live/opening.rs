//! The first event of a stream, and requests that open none.

use std::collections::BTreeMap;

use test_support::{Stream, json, until};

use super::{assert_board, count_in_group, open, open_with, start, start_with};
use crate::app::TestApp;
use crate::problem::{ID, field_error, problem};

const LIVE: &str = "/v1/ranking/day/live";

/// The first event equals the response of the board route, for every period, limit and group.
#[tokio::test]
async fn stream_starts_with_current_board() {
    let (app, _forwarder) = start();
    for user in ["42", "7", "9"] {
        count_in_group(&app, user, "p", "eu").await;
    }
    app.count("42", "comment", "c").await;
    let profile = json!({"name": "Ada: \"é\" \\ 🦉", "url": "https://example.com/42"});
    app.put_profile("42", profile).await;
    for path in [
        "day/live",
        "week/live",
        "month/live",
        "year/live",
        "all/live",
        "day/live?limit=1",
        "day/live?limit=100",
        "day/live?group=eu",
        "day/live?group=eu&limit=2",
        "day/live?group=none",
    ] {
        let path = format!("/v1/ranking/{path}");
        let mut stream = open(&app, &path).await;
        let names = [
            "content-type",
            "cache-control",
            "x-content-type-options",
            "x-accel-buffering",
        ];
        let expected = ["text/event-stream", "no-store", "nosniff", "no"];
        let headers = names.map(|name| stream.header(name));
        assert_eq!(headers, expected.map(Some), "{path}");
        assert!(stream.header("x-request-id").is_some(), "{path}");
        let event = stream.next().await.expect("an event");
        assert_eq!(event.retry, Some(3000), "{path}");
        assert_board(&event, &app.get(&path.replace("/live", "")).await);
    }
}

#[tokio::test]
async fn stream_bypasses_edge_cache() {
    let app = TestApp::with(|worker| worker.live().cached().var("BOARD_MAX_AGE", "600"));
    let health = app.read("/healthz").await;
    assert_eq!(health["configured"]["bound"], json!(["live"]));
    let api = app.worker.api();
    let mut stream = api.stream("/v1/ranking/all/live", &[]).await;
    assert_eq!(stream.event().await.json()["total"], 0);
    let cached = async || {
        let board = app.get("/v1/ranking/all").await;
        board.header("age").is_some().then_some(board.body)
    };
    let board = until("a board from the cache", cached).await;
    assert_eq!(board["total"], 0);
    app.count("42", "like", "p").await;
    assert_eq!(stream.event().await.json()["total"], 1);
    assert_eq!(cached().await, Some(board));
}

#[tokio::test]
async fn invalid_stream_requests_skip_the_store() {
    let (app, forwarder) = start_with(|worker| worker.var("PERIODS", "day,all"));
    let response = app.get(&format!("{LIVE}?group=a%20b")).await;
    response.assert(400, field_error("group", ID).body());
    let off = app.get("/v1/ranking/week/live").await;
    let detail = "The period week is switched off.";
    off.assert(404, problem("not-found", detail));
    assert_eq!(forwarder.count(), 0);
}

#[tokio::test]
async fn head_of_stream_matches_get_headers() {
    let (app, _forwarder) = start();
    let path = "/v1/ranking/day/live?limit=5";
    let head = app.head(path).await;
    assert_eq!((head.status, &*head.text), (200, ""));
    let stream = open(&app, path).await;
    for name in ["content-type", "cache-control", "x-content-type-options"] {
        assert_eq!(head.header(name), stream.header(name), "{name}");
    }
}

/// Returns the CORS headers of a stream, with `Vary`.
fn cors(stream: &Stream) -> BTreeMap<&'static str, &str> {
    let names = [
        "access-control-allow-origin",
        "access-control-expose-headers",
        "access-control-allow-credentials",
        "vary",
    ];
    let headers = names.map(|name| Some((name, stream.header(name)?)));
    headers.into_iter().flatten().collect()
}

#[tokio::test]
async fn stream_is_readable_by_allowed_origins_only() {
    let allowed = "https://community.example";
    let (app, _forwarder) = start_with(|worker| worker.var("ALLOWED_ORIGINS", allowed));
    let stream = open_with(&app, LIVE, &[("origin", allowed)]).await;
    let expected = [
        ("access-control-allow-origin", allowed),
        ("access-control-expose-headers", "x-request-id"),
        ("vary", "Origin"),
    ];
    assert_eq!(cors(&stream), BTreeMap::from(expected));
    let stream = open_with(&app, LIVE, &[("origin", "https://other.example")]).await;
    assert_eq!(cors(&stream), BTreeMap::from([("vary", "Origin")]));
}
