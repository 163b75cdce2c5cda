//! `Cache-Control`, and boards served from the edge cache or the cache of the isolate.

use std::collections::BTreeSet;

use test_support::{Answer, Forwarder, Method, json, until};

use crate::app::TestApp;
use crate::bodies::{dated, like, with};
use crate::clock::{day, noon};

struct Edge {
    app: TestApp,
    forwarder: Forwarder,
}

/// Starts a service whose requests to the store are counted by a forwarder.
fn edge(board_max_age: &str) -> Edge {
    let (app, forwarder) =
        TestApp::behind_forwarder(|worker| worker.cached().var("BOARD_MAX_AGE", board_max_age));
    Edge { app, forwarder }
}

impl Edge {
    /// Waits for a cached response: the Worker stores it after the first response has been sent.
    async fn cached(&self, path: &str) -> Answer {
        until("a response from the cache", async || {
            let response = self.app.get(path).await;
            response.header("age").is_some().then_some(response)
        })
        .await
    }

    /// Sends a like, which may be a duplicate.
    async fn like(&self, user: &str) {
        let like = with(like(user, "p"), json!({"groups": ["eu"]}));
        let response = self.app.send_activity(like).await;
        response.assert_status(200);
    }
}

#[tokio::test]
async fn only_boards_are_cached() {
    let edge = edge("60");
    repeated_board_read_is_served_from_cache(&edge).await;
    other_routes_are_not_cached(&edge).await;
    failures_are_not_cached(&edge).await;
}

#[tokio::test]
async fn closed_boards_are_cached_longer_than_open_ones() {
    let edge = edge("1");
    expired_board_is_read_again(&edge).await;
    closed_board_is_cached_for_five_minutes(&edge).await;
}

/// A page of another origin receives the entry with its own CORS headers, and one that is not allowed without any.
#[tokio::test]
async fn isolate_shares_boards_between_origins() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| {
        let worker = worker.var("BOARD_MAX_AGE", "600");
        worker.var("ALLOWED_ORIGINS", "https://a.example,http://localhost:*")
    });
    let reader = app.without_key();
    reader.get("/v1/ranking/day").await.assert_status(200);
    let before = forwarder.count();
    for origin in [
        "https://a.example",
        "http://localhost:1234",
        "http://localhost:5",
        "https://evil.example",
    ] {
        let headers = [("origin", origin)];
        let sent = reader.send(Method::GET, "/v1/ranking/day", "", &headers);
        let response = sent.await;
        response.assert_status(200);
        let allowed = (origin != "https://evil.example").then_some(origin);
        assert_eq!(response.header("access-control-allow-origin"), allowed);
        let exposed = allowed.map(|_| "age, etag, x-request-id");
        assert_eq!(response.header("access-control-expose-headers"), exposed);
        assert_eq!(response.header("vary"), Some("Origin"));
        assert!(response.header("age").is_some(), "{origin}");
    }
    assert_eq!(forwarder.count(), before);
}

/// Long boards leave the cache before it holds 100 of them.
#[tokio::test]
async fn isolate_cache_has_a_budget_of_bytes() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.var("BOARD_MAX_AGE", "600"));
    let link = format!("https://a.example/{}", "x".repeat(2000));
    let users: Vec<String> = (0..100).map(|number| format!("u{number}")).collect();
    let profile = |id: &String| json!({"id": id, "name": id, "avatar": link, "url": link});
    let profiles: Vec<_> = users.iter().map(profile).collect();
    for some in profiles.chunks(50) {
        app.write("/v1/users", &json!(some)).await;
    }
    let likes: Vec<_> = users.iter().map(|user| like(user, "p")).collect();
    app.send_activity(json!(likes)).await.assert_status(200);
    let reader = app.without_key();
    // Each has 0.4 MB, which take 0.8 MB.
    let path = |offset: u32| format!("/v1/ranking/all?limit=98&offset={offset}");
    let paths = ["day", "week", "month", "year", "all"].map(|period| {
        [0, 1, 2].map(|offset| format!("/v1/ranking/{period}?limit=98&offset={offset}"))
    });
    for path in paths.iter().flatten() {
        reader.get(path).await.assert_status(200);
    }
    let before = forwarder.count();
    let newest = reader.get(&path(2)).await;
    assert!(newest.text.len() > 380_000, "{}", newest.text.len());
    assert!(newest.header("age").is_some());
    assert_eq!(forwarder.count(), before);
    let oldest = reader.get(&paths[0][0]).await;
    assert_eq!(oldest.assert_status(200).header("age"), None);
    assert!(forwarder.count() > before);
}

/// Under workers.dev the Cache API stores nothing and does not fail; plain workerd has none.
#[tokio::test]
async fn isolate_caches_boards_without_edge_cache() {
    for forgetful in [true, false] {
        let (app, forwarder) = TestApp::behind_forwarder(|worker| {
            let worker = worker.var("BOARD_MAX_AGE", "60");
            if forgetful {
                worker.forgetful_cache()
            } else {
                worker
            }
        });
        app.count("42", "like", "p").await;
        let reader = app.without_key();
        let first = reader.get("/v1/ranking/day").await;
        assert_eq!(first.assert_status(200).body["total"], 1);
        let before = forwarder.count();
        app.count("7", "like", "p").await;
        for _ in 0..3 {
            let again = reader.get("/v1/ranking/day").await;
            again.assert(200, first.body.clone());
            assert!(again.header("age").is_some(), "{}", again.text);
        }
        assert_eq!(forwarder.count() - before, 1, "one request, of the like");
        assert_eq!(reader.read("/v1/ranking/week").await["total"], 2);
    }
}

async fn repeated_board_read_is_served_from_cache(edge: &Edge) {
    edge.like("42").await;
    let first = edge.app.get("/v1/ranking/day?limit=5&group=eu").await;
    let control = "public, max-age=60, stale-if-error=86400";
    assert_eq!(first.header("cache-control"), Some(control));
    assert_eq!(first.header("age"), None);
    edge.cached("/v1/ranking/day?limit=5&group=eu").await;
    edge.forwarder.reset();

    // Equivalent queries share one entry, and later activity does not change it.
    edge.like("7").await;
    let store_requests = edge.forwarder.count();
    let today = day(0);
    let today = format!("/v1/ranking/day?date={today}&group=%65u&offset=0&limit=5");
    let equivalent = [
        "/v1/ranking/day?limit=5&group=eu",
        "/v1/ranking/day?group=eu&limit=5",
        "/v1/ranking/day?group=eu&offset=0&limit=05",
        &today,
    ];
    // A repeated anonymous request with the same URL is served by the cache of the isolate.
    let anonymous = edge.app.without_key();
    let requests = |client| equivalent.map(|path| (client, path));
    let clients = [&edge.app, &anonymous, &anonymous].into_iter();
    for (client, path) in clients.flat_map(requests) {
        let again = client.get(path).await;
        again.assert(200, first.body.clone());
        assert_eq!(again.header("etag"), first.header("etag"), "{path}");
        assert_eq!(again.header("cache-control"), Some(control), "{path}");
        let age = again.header("age").expect("an age");
        let age: u32 = age.parse().expect("seconds");
        assert!(age < 60, "{path}: {age}");
        let head = client.head(path).await;
        let expected = (200, first.header("etag"));
        assert_eq!((head.status, head.header("etag")), expected, "{path}");
        let tag = first.header("etag").expect("a tag");
        for if_none_match in ["*", &format!("\"other\" , W/{tag}")] {
            let same = client.get_if_none_match(path, if_none_match).await;
            same.assert(304, json!(null));
        }
        let same = client.get_if_none_match(path, tag).await;
        same.assert(304, json!(null));
        let headers = ["etag", "cache-control"].map(|name| same.header(name));
        assert_eq!(headers, [Some(tag), Some(control)]);
        let other = client.get_if_none_match(path, "\"other\"").await;
        other.assert(200, first.body.clone());
        let ids = [&again, &same, &other].map(|response| response.header("x-request-id"));
        assert_eq!(BTreeSet::from(ids).len(), 3, "{ids:?}");
    }
    assert_eq!(edge.forwarder.count(), store_requests);

    // Different queries are different entries.
    let others = [
        "/v1/ranking/day?limit=5",
        "/v1/ranking/day?group=eu",
        "/v1/ranking/day?limit=5&group=eu&offset=1",
        "/v1/ranking/day?limit=5&group=us",
        "/v1/ranking/week?limit=5&group=eu",
    ];
    for (number, path) in others.into_iter().enumerate() {
        assert_eq!(edge.app.get(path).await.header("age"), None, "{path}");
        let expected = store_requests + number + 1;
        assert_eq!(edge.forwarder.count(), expected, "{path}");
    }

    // An invalid query is rejected although the board is cached.
    let invalid = "/v1/ranking/day?limit=5&group=eu&page=1";
    edge.app.get(invalid).await.assert_status(400);
}

async fn expired_board_is_read_again(edge: &Edge) {
    edge.like("42").await;
    let first = edge.app.get("/v1/ranking/day").await;
    let control = Some("public, max-age=1, stale-if-error=86400");
    assert_eq!(first.body["total"], 1);
    assert_eq!(first.header("cache-control"), control);
    edge.like("7").await;
    for client in [&edge.app, &edge.app.without_key()] {
        let later = until("the newer board", async || {
            let response = client.get("/v1/ranking/day").await;
            (response.body["total"] == 2).then_some(response)
        });
        assert_ne!(later.await.header("etag"), first.header("etag"));
    }
}

async fn closed_board_is_cached_for_five_minutes(edge: &Edge) {
    let path = format!("/v1/ranking/day?date={}", day(9));
    let like = dated(like("42", "then"), noon(9));
    edge.app.counted(like).await;
    let first = edge.app.get(&path).await;
    let control = Some("public, max-age=300, stale-if-error=86400");
    assert_eq!(first.body["total"], 1);
    assert_eq!(first.header("cache-control"), control);
    let cached = edge.cached(&path).await;
    cached.assert(200, first.body.clone());
    assert_eq!(cached.header("cache-control"), control);
}

async fn other_routes_are_not_cached(edge: &Edge) {
    edge.like("42").await;
    edge.app.set_name("42", "Ada").await;
    let paths = [
        "/v1/ranking/day/users/42",
        "/v1/ranking/day/users?ids=42",
        "/v1/users/42",
        "/v1/users/42/activity",
        "/v1/users/42/standings",
        "/v1/users/unknown",
        "/v1/ranking/hour",
        "/healthz",
    ];
    for path in paths {
        // The first read may need a second request to load the script.
        edge.app.get(path).await;
        edge.forwarder.reset();
        let first = edge.app.get(path).await;
        let store_requests = edge.forwarder.count();
        let second = edge.app.get(path).await;
        assert_eq!(edge.forwarder.count(), 2 * store_requests, "{path}");
        for response in [first, second] {
            let headers = ["cache-control", "age", "etag"].map(|name| response.header(name));
            assert_eq!(headers, [Some("no-store"), None, None], "{path}");
        }
    }
}

async fn failures_are_not_cached(edge: &Edge) {
    edge.forwarder.fail_next(test_support::Fault::CutBefore);
    edge.app.get("/v1/ranking/year").await.assert_status(503);
    edge.app.get("/v1/ranking/year").await.assert_status(200);
}
