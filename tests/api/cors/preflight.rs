//! CORS preflight requests.

use std::collections::BTreeSet;

use test_support::{Answer, Api, Method, json};

use super::{ALLOWED, LOCAL_PAGE, OTHER_ORIGINS, PAGE, cors_headers, headers};
use crate::app::TestApp;
use crate::document::{allow, document};
use crate::problem::unknown_path;

/// Sends the `OPTIONS` request of a browser before a cross-origin request.
async fn preflight(api: &Api, path: &str, origin: &str, method: &str) -> Answer {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", method),
        (
            "access-control-request-headers",
            "authorization,content-type",
        ),
    ];
    api.send(Method::OPTIONS, path, "", &headers).await
}

/// A preflight sends no request to the store. An origin that is not allowed gets `Vary` only.
#[tokio::test]
async fn preflight_lists_methods_and_headers_of_route() {
    let (app, forwarder) =
        TestApp::behind_forwarder(|worker| worker.var("ALLOWED_ORIGINS", ALLOWED));
    let api = Api::new(app.url());
    for (path, item) in document().paths() {
        let path = path.replace("{period}", "day").replace("{user}", "42");
        let methods = allow(item);
        // No route supports PATCH: the browser finds it missing in the list.
        for method in methods.split(", ").chain(["PATCH"]) {
            let response = preflight(&api, &path, PAGE, method).await;
            response.assert(204, json!(null));
            let expected = [
                (
                    "access-control-allow-headers",
                    "Authorization, Content-Type, If-None-Match, Last-Event-ID, Prefer, Baggage, Sentry-Trace, Traceparent, Tracestate",
                ),
                ("access-control-allow-methods", &*methods),
                ("access-control-allow-origin", PAGE),
                ("access-control-expose-headers", "x-request-id"),
                ("access-control-max-age", "7200"),
                ("vary", "Origin"),
            ];
            let expected = BTreeSet::from(expected);
            assert_eq!(headers(&response, true), expected, "{path} {method}");
        }
        for origin in OTHER_ORIGINS {
            let response = preflight(&api, &path, origin, "GET").await;
            response.assert(204, json!(null));
            let expected = BTreeSet::from([("vary", "Origin")]);
            assert_eq!(headers(&response, true), expected, "{path} {origin}");
        }
    }
    assert_eq!(forwarder.count(), 0);
}

#[tokio::test]
async fn preflight_succeeds_when_misconfigured() {
    let app = TestApp::with(|worker| {
        let worker = worker.without("UPSTASH_REDIS_REST_TOKEN");
        worker.var("ALLOWED_ORIGINS", ALLOWED)
    });
    let response = preflight(&Api::new(app.url()), "/v1/activity", LOCAL_PAGE, "POST").await;
    response.assert(204, json!(null));
    let headers = [
        "access-control-allow-origin",
        "access-control-allow-methods",
    ];
    let found = headers.map(|name| response.header(name));
    assert_eq!(found, [Some(LOCAL_PAGE), Some("POST")]);
}

/// An unknown path, and an `OPTIONS` request without `Origin` or without the requested method, which is no preflight.
#[tokio::test]
async fn other_options_requests_are_refused() {
    let app = TestApp::with(|worker| worker.var("ALLOWED_ORIGINS", ALLOWED));
    let api = Api::new(app.url());
    let incomplete: [&[_]; 2] = [
        &[("origin", PAGE)],
        &[("access-control-request-method", "POST")],
    ];
    for headers in incomplete {
        let response = api.send(Method::OPTIONS, "/v1/activity", "", headers).await;
        response.assert_status(405);
        assert_eq!(response.header("allow"), Some("POST"));
        assert_eq!(response.header("vary"), Some("Origin"));
    }

    // Only `OPTIONS` asks for permission.
    let asking = [("origin", PAGE), ("access-control-request-method", "GET")];
    let board = api.send(Method::GET, "/v1/ranking/day", "", &asking);
    board.await.assert_status(200);

    let response = preflight(&api, "/v1/activities", PAGE, "POST").await;
    response.assert(404, unknown_path().body());
    assert_eq!(headers(&response, true), cors_headers(PAGE, &response));
}

#[tokio::test]
async fn preflight_without_allowed_origins_allows_nothing() {
    let app = TestApp::start();
    let response = preflight(&Api::new(app.url()), "/v1/activity", PAGE, "POST").await;
    response.assert(204, json!(null));
    assert_eq!(headers(&response, true), BTreeSet::new());
}
