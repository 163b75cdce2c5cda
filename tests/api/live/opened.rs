//! What a stream begins with, and what there is in its place.

use std::collections::BTreeMap;

use test_support::{Api, Method, Stream, json, until};

use super::{count_in, is_board, start, start_with, watch, watch_with};
use crate::site::{Site, patient};

#[tokio::test]
async fn it_begins_with_the_board_as_it_is_answered_to_who_asks_for_it() {
    let (site, _forwarder) = start();
    for user in ["42", "7", "9"] {
        count_in(&site, user, "p", "eu").await;
    }
    site.count("42", "comment", "c").await;
    let profile = json!({"name": "Ada: \"é\" \\ 🦉", "url": "https://example.com/42"});
    let named = site.put("/v1/users/42", &profile).await;
    named.assert_status(200);
    let periods = ["day", "week", "month", "year", "all"];
    let boards = periods.map(|period| format!("{period}/live"));
    let queries = [
        "limit=1",
        "limit=100",
        "group=eu",
        "group=eu&limit=2",
        "group=none",
    ];
    let parts = queries.map(|query| format!("day/live?{query}"));
    for path in boards.into_iter().chain(parts) {
        let path = format!("/v1/ranking/{path}");
        let mut stream = watch(&site, &path).await;
        let told = ["content-type", "cache-control", "x-content-type-options"];
        let told = told.map(|name| stream.header(name));
        let expected = ["text/event-stream", "no-store", "nosniff"];
        assert_eq!(told, expected.map(Some), "{path}");
        assert!(stream.header("x-request-id").is_some(), "{path}");
        let event = stream.next().await.expect("an event");
        assert_eq!(event.retry, Some(3000), "{path}");
        is_board(&event, &site.get(&path.replace("/live", "")).await);
    }
}

#[tokio::test]
async fn in_wrangler_it_is_newer_than_the_board_in_the_cache() {
    let worker = patient().live().var("BOARD_MAX_AGE", "600");
    let wrangler = worker.start_wrangler();
    let mut stream = wrangler.api().stream("/v1/ranking/all/live", &[]).await;
    assert_eq!(stream.event().await.json()["total"], 0);
    let cached = async || {
        let board = wrangler.api().get("/v1/ranking/all").await;
        board.header("age").is_some().then_some(board.body)
    };
    let board = until("a board from the cache", cached).await;
    assert_eq!(board["total"], 0);
    let like = json!({"user": "42", "action": "like", "target": "p"});
    let counted = wrangler.api().post("/v1/activity", &like).await;
    counted.assert_status(200);
    assert_eq!(stream.event().await.json()["total"], 1);
    assert_eq!(cached().await, Some(board));
}

#[tokio::test]
async fn what_is_asked_wrongly_is_told_and_no_store_is_asked() {
    let (site, forwarder) = start_with(|worker| worker.var("PERIODS", "day,all"));
    let number = "must be a whole number, 1 to 100";
    let known = |name: &str| (format!("/{name}"), "is not known; known are limit, group");
    let cases = [
        ("day/live?limit=0", ("/limit".to_owned(), number)),
        ("day/live?limit=101", ("/limit".to_owned(), number)),
        ("day/live?limit=x", ("/limit".to_owned(), number)),
        (
            "day/live?limit=1&limit=1",
            ("/limit".to_owned(), "must be given once"),
        ),
        ("day/live?offset=0", known("offset")),
        ("day/live?date=2026-11-20", known("date")),
        (
            "hour/live",
            (
                "/period".to_owned(),
                "must be one of day, week, month, year, all",
            ),
        ),
    ];
    for (path, (pointer, detail)) in cases {
        let answer = site.get(&format!("/v1/ranking/{path}")).await;
        let name = pointer.trim_start_matches('/');
        let problem = json!({"type": "/problems/invalid-request", "title": "The request is not valid",
            "status": 400, "detail": format!("{name}: {detail}"),
            "errors": [{"pointer": pointer, "detail": detail}]});
        answer.assert(400, problem);
    }
    let group = site.get("/v1/ranking/day/live?group=a%20b").await;
    assert_eq!(
        group.assert_status(400).body["errors"][0]["pointer"],
        "/group"
    );
    let off = site.get("/v1/ranking/week/live").await;
    let detail = "The period week is switched off.";
    off.assert(404, not_found(detail));
    assert_eq!(forwarder.count(), 0);
}

fn not_found(detail: &str) -> test_support::Value {
    json!({"type": "/problems/not-found", "title": "There is nothing here", "status": 404,
        "detail": detail})
}

#[tokio::test]
async fn without_the_object_there_is_nothing_to_watch() {
    let site = Site::start();
    let answer = site.get("/v1/ranking/day/live").await;
    let detail = "This deployment has no live boards: LIVE is not bound.";
    answer.assert(404, not_found(detail));
    let health = site.get("/healthz").await;
    assert_eq!(health.body["configured"]["bound"], json!([]));
    let (live, _forwarder) = start();
    let health = live.get("/healthz").await;
    assert_eq!(health.body["configured"]["bound"], json!(["live"]));
}

#[tokio::test]
async fn head_has_the_headers_of_get_and_opens_nothing() {
    let (site, _forwarder) = start();
    let path = "/v1/ranking/day/live?limit=5";
    let head = site.head(path).await;
    assert_eq!((head.status, &*head.text), (200, ""));
    let stream = watch(&site, path).await;
    for name in ["content-type", "cache-control", "x-content-type-options"] {
        assert_eq!(head.header(name), stream.header(name), "{name}");
    }
}

/// What browsers are told.
fn told(stream: &Stream) -> BTreeMap<&'static str, &str> {
    let names = [
        "access-control-allow-origin",
        "access-control-expose-headers",
        "access-control-allow-credentials",
        "vary",
    ];
    let told = names.map(|name| Some((name, stream.header(name)?)));
    told.into_iter().flatten().collect()
}

#[tokio::test]
async fn allowed_pages_may_read_it_and_no_others() {
    let hers = "https://community.example";
    let (site, _forwarder) = start_with(|worker| worker.var("ALLOWED_ORIGINS", hers));
    let path = "/v1/ranking/day/live";
    let stream = watch_with(&site, path, &[("origin", hers)]).await;
    let expected = [
        ("access-control-allow-origin", hers),
        ("access-control-expose-headers", "x-request-id"),
        ("vary", "Origin"),
    ];
    assert_eq!(told(&stream), BTreeMap::from(expected));
    let stream = watch_with(&site, path, &[("origin", "https://other.example")]).await;
    assert_eq!(told(&stream), BTreeMap::from([("vary", "Origin")]));
    let asked = [
        ("origin", hers),
        ("access-control-request-method", "GET"),
        ("access-control-request-headers", "last-event-id"),
    ];
    let api = Api::new(site.url());
    let preflight = api.send(Method::OPTIONS, path, "", &asked).await;
    let sendable = "Authorization, Content-Type, If-None-Match, Last-Event-ID";
    let told = preflight.assert_status(204);
    assert_eq!(told.header("access-control-allow-headers"), Some(sendable));
    assert_eq!(
        told.header("access-control-allow-methods"),
        Some("GET, HEAD")
    );
}
