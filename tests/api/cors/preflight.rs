//! What a browser asks before a page's request: `OPTIONS`.

use std::collections::BTreeSet;

use test_support::{Answer, Api, Forwarder, Method, json};

use super::{ALLOWED, HERS, HIS, STRANGE, headers, permission};
use crate::document::{allow, document};
use crate::site::Site;

/// What a browser sends before a request of another origin.
async fn ask(api: &Api, path: &str, origin: &str, method: &str) -> Answer {
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

#[tokio::test]
async fn a_preflight_tells_the_methods_and_headers_of_its_route_and_asks_no_store() {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    let site = Site::with(|worker| {
        let worker = worker.store(&forwarder.url());
        worker.var("ALLOWED_ORIGINS", ALLOWED)
    });
    let api = Api::new(site.url());
    for (path, item) in document().paths() {
        let path = path.replace("{period}", "day").replace("{user}", "42");
        let methods = allow(item);
        // Also for one that is not there: the browser finds it missing in the list.
        for asked in methods.split(", ").chain(["PATCH"]) {
            let answer = ask(&api, &path, HERS, asked).await;
            assert_eq!((answer.status, &*answer.text), (204, ""), "{path} {asked}");
            let sendable = "Authorization, Content-Type, If-None-Match, Last-Event-ID";
            let expected = [
                ("access-control-allow-headers", sendable),
                ("access-control-allow-methods", &*methods),
                ("access-control-allow-origin", HERS),
                ("access-control-expose-headers", "x-request-id"),
                ("access-control-max-age", "7200"),
                ("vary", "Origin"),
            ];
            assert_eq!(
                headers(&answer, true),
                BTreeSet::from(expected),
                "{path} {asked}"
            );
        }
        for origin in STRANGE {
            let answer = ask(&api, &path, origin, "GET").await;
            assert_eq!((answer.status, &*answer.text), (204, ""), "{path} {origin}");
            let expected = BTreeSet::from([("vary", "Origin")]);
            assert_eq!(headers(&answer, true), expected, "{path} {origin}");
        }
    }
    assert_eq!(forwarder.count(), 0);
}

#[tokio::test]
async fn a_preflight_is_answered_even_where_the_rest_is_set_up_wrongly() {
    let site = Site::with(|worker| {
        let worker = worker.without("UPSTASH_REDIS_REST_TOKEN");
        worker.var("ALLOWED_ORIGINS", ALLOWED)
    });
    let answer = ask(&Api::new(site.url()), "/v1/activity", HIS, "POST").await;
    answer.assert(204, json!(null));
    assert_eq!(answer.header("access-control-allow-origin"), Some(HIS));
    assert_eq!(answer.header("access-control-allow-methods"), Some("POST"));
}

#[tokio::test]
async fn a_preflight_of_a_path_there_is_not_is_404() {
    let site = Site::with(|worker| worker.var("ALLOWED_ORIGINS", ALLOWED));
    let answer = ask(&Api::new(site.url()), "/v1/activities", HERS, "POST").await;
    answer.assert(
        404,
        json!({"type": "/problems/not-found", "title": "There is nothing here", "status": 404,
            "detail": "No route has this path."}),
    );
    assert_eq!(headers(&answer, true), permission(HERS, &answer));
}

#[tokio::test]
async fn an_options_request_that_is_no_preflight_is_405() {
    let site = Site::with(|worker| worker.var("ALLOWED_ORIGINS", ALLOWED));
    let api = Api::new(site.url());
    let halves: [&[_]; 2] = [
        &[("origin", HERS)],
        &[("access-control-request-method", "POST")],
    ];
    for half in halves {
        let answer = api.send(Method::OPTIONS, "/v1/activity", "", half).await;
        answer.assert_status(405);
        assert_eq!(answer.header("allow"), Some("POST"));
        assert_eq!(answer.header("vary"), Some("Origin"));
    }
}

#[tokio::test]
async fn where_no_page_is_allowed_a_preflight_says_nothing() {
    let site = Site::start();
    let answer = ask(&Api::new(site.url()), "/v1/activity", HERS, "POST").await;
    answer.assert(204, json!(null));
    assert_eq!(headers(&answer, true), BTreeSet::new());
}
