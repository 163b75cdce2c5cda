//! CORS headers of every response.

mod preflight;

use std::collections::BTreeSet;

use test_support::{Answer, Api, Method, until};

use crate::app::TestApp;
use crate::client::{Client, JSON};
use crate::misconfigured::{REQUESTS, assert_misconfigured};

const PAGE: &str = "https://community.example";
const LOCAL_PAGE: &str = "http://localhost:8080";
const OTHER_ORIGINS: [&str; 4] = [
    "https://community.example.evil.example",
    "http://community.example",
    "null",
    "*",
];
const ALLOWED: &str = "https://community.example, http://LOCALHOST:8080";

fn is_cors_header(name: &str) -> bool {
    name == "vary" || name.starts_with("access-control-")
}

/// Returns the CORS headers of a response, or all others except those that always differ.
fn headers(response: &Answer, cors: bool) -> BTreeSet<(&str, &str)> {
    let all = response.headers.iter();
    let all = all.map(|(name, value)| (name.as_str(), value.to_str().expect("text")));
    all.filter(|(name, _)| !["date", "age", "x-request-id"].contains(name))
        .filter(|(name, _)| is_cors_header(name) == cors)
        .collect()
}

/// Returns the CORS headers that an allowed origin receives with a response.
fn cors_headers<'a>(origin: &'a str, response: &Answer) -> BTreeSet<(&'static str, &'a str)> {
    let readable = match ["age", "etag", "retry-after"].map(|name| response.header(name).is_some())
    {
        [false, false, false] => "x-request-id",
        [false, true, false] => "etag, x-request-id",
        [true, true, false] => "age, etag, x-request-id",
        [false, false, true] => "retry-after, x-request-id",
        other => panic!("{}: {other:?}", response.request),
    };
    BTreeSet::from([
        ("access-control-allow-origin", origin),
        ("access-control-expose-headers", readable),
        ("vary", "Origin"),
    ])
}

/// Sends a request without an origin, from allowed origins and from others.
///
/// Asserts that status, body and other headers are the same, and that only the responses to allowed
/// origins have CORS headers. Returns the response to the request without an origin.
async fn check(client: &Client, request: &Request<'_>) -> Answer {
    let (method, path, body, headers_sent) = request;
    let send = async |origin: Option<&'static str>| {
        let origin = origin.map(|origin| ("origin", origin));
        let sent: Vec<_> = headers_sent.iter().copied().chain(origin).collect();
        let sent = client.send(method.clone(), path, body.as_bytes(), &sent);
        sent.await
    };
    let first = send(None).await;
    let denied = BTreeSet::from([("vary", "Origin")]);
    assert_eq!(headers(&first, true), denied, "{}", first.request);
    let others = OTHER_ORIGINS.map(|origin| (origin, false));
    for (origin, allowed) in [(PAGE, true), (LOCAL_PAGE, true)].into_iter().chain(others) {
        let response = send(Some(origin)).await;
        let context = format!("{} from {origin}", response.request);
        let content = |response: &Answer| (response.status, response.text.clone());
        assert_eq!(content(&response), content(&first), "{context}");
        let others = |response| headers(response, false);
        assert_eq!(others(&response), others(&first), "{context}");
        let expected = if allowed {
            cors_headers(origin, &response)
        } else {
            denied.clone()
        };
        assert_eq!(headers(&response, true), expected, "{context}");
    }
    first
}

/// A request: method, path, body, headers.
type Request<'a> = (Method, &'a str, &'a str, &'a [(&'a str, &'a str)]);

/// Returns a request to every route.
fn every_route() -> Vec<Request<'static>> {
    let requests = REQUESTS.map(|(method, path, body)| (method, path, body, JSON));
    let health: Request = (Method::GET, "/healthz", "", &[]);
    requests.into_iter().chain([health]).collect()
}

async fn get(api: &Api, path: &str, headers: &[(&str, &str)]) -> Answer {
    api.send(Method::GET, path, "", headers).await
}

#[tokio::test]
async fn only_allowed_origins_read_every_route() {
    let app = TestApp::with(|worker| worker.var("ALLOWED_ORIGINS", ALLOWED));
    // A repeated request has the same response only from the second time on.
    app.count("42", "like", "new").await;
    app.set_name("42", "Ada").await;
    let mut statuses = BTreeSet::new();
    let (last, others): (Vec<_>, Vec<_>) = every_route()
        .into_iter()
        .partition(|request| request.0 == Method::DELETE);
    for request in others.iter().chain(&last) {
        statuses.insert(check(&app, request).await.status);
    }
    assert_eq!(statuses, BTreeSet::from([200, 204]));
}

#[tokio::test]
async fn only_allowed_origins_read_every_error() {
    let app = TestApp::with(|worker| worker.var("ALLOWED_ORIGINS", ALLOWED));
    let activity = "/v1/activity";
    let (bare, large): (&[_], _) = (&[], " ".repeat(256 * 1024 + 1));
    let dance = r#"{"user":"42","action":"dance","target":"p"}"#;
    let unvisit = r#"{"user":"42","action":"visit","target":"/","undo":true}"#;
    let requests: [(u16, Request); 13] = [
        (400, (Method::GET, "/v1/ranking/day?limit=0", "", bare)),
        (400, (Method::HEAD, "/v1/ranking/day?limit=0", "", bare)),
        (400, (Method::GET, "/v1/ranking/day?page=1", "", bare)),
        (400, (Method::POST, activity, "{", JSON)),
        (404, (Method::GET, "/nowhere", "", bare)),
        (404, (Method::OPTIONS, "/nowhere", "", bare)),
        (404, (Method::GET, "/v1/users/unknown", "", bare)),
        (405, (Method::GET, activity, "", bare)),
        (405, (Method::OPTIONS, activity, "", bare)),
        (413, (Method::POST, activity, &large, JSON)),
        (415, (Method::POST, activity, "{}", bare)),
        (422, (Method::POST, activity, dance, JSON)),
        (422, (Method::POST, activity, unvisit, JSON)),
    ];
    for (status, request) in &requests {
        check(&app, request).await.assert_status(*status);
    }
    let anonymous = app.without_key();
    let request = (Method::GET, "/v1/users/42/activity", "", bare);
    check(&anonymous, &request).await.assert_status(401);
}

#[tokio::test]
async fn broken_service_still_sends_cors_headers() {
    let unreachable = TestApp::with(|worker| {
        let worker = worker.store("http://127.0.0.1:1");
        worker.var("ALLOWED_ORIGINS", ALLOWED)
    });
    let misconfigured = TestApp::with(|worker| {
        let worker = worker.var("POINT_DECIMALS", "5");
        worker.var("ALLOWED_ORIGINS", ALLOWED)
    });
    for request in every_route() {
        let (health, reads_store) = (request.1 == "/healthz", request.1.starts_with("/v1"));
        let status = if health || reads_store { 503 } else { 200 };
        check(&unreachable, &request).await.assert_status(status);
        let status = if health { 503 } else { 500 };
        check(&misconfigured, &request).await.assert_status(status);
    }
}

#[tokio::test]
async fn invalid_origin_setting_allows_no_origin() {
    let app = TestApp::with(|worker| worker.var("ALLOWED_ORIGINS", "https://community.example/"));
    let detail = "ALLOWED_ORIGINS: 'https://community.example/' is not an origin such as \
        https://example.com, http://localhost:8080 or capacitor://localhost: scheme, host and port alone, \
        no / at the end, and no * but for the port of localhost, 127.0.0.1 or [::1]";
    assert_misconfigured(&app, &REQUESTS, detail).await;
    let api = Api::new(app.url());
    for origin in [PAGE, "https://community.example/"] {
        let response = get(&api, "/", &[("origin", origin)]).await;
        assert_eq!(headers(&response, true), BTreeSet::new());
    }
}

#[tokio::test]
async fn unset_allowed_origins_send_no_cors_headers() {
    let app = TestApp::start();
    let api = Api::new(app.url());
    for path in ["/v1/ranking/day", "/healthz", "/", "/nowhere"] {
        let response = get(&api, path, &[("origin", PAGE)]).await;
        assert_eq!(headers(&response, true), BTreeSet::new(), "{path}");
    }
}

#[tokio::test]
async fn cached_board_drops_cors_headers_of_first_reader() {
    let app = TestApp::with(|worker| {
        let worker = worker.cached().var("BOARD_MAX_AGE", "600");
        worker.var("ALLOWED_ORIGINS", ALLOWED)
    });
    let (api, path) = (Api::new(app.worker.url()), "/v1/ranking/day");
    let first = get(&api, path, &[("origin", PAGE)]).await;
    assert_eq!((first.status, first.header("age")), (200, None));
    assert_eq!(headers(&first, true), cors_headers(PAGE, &first));
    until("a response from the cache", async || {
        let response = get(&api, path, &[]).await;
        response.header("age").is_some().then_some(())
    })
    .await;

    let tag = first.header("etag").expect("a tag");
    // The second anonymous request is served by the cache of the isolate.
    let anonymous = app.without_key();
    for client in [&*app, &anonymous, &anonymous] {
        for method in [Method::GET, Method::HEAD] {
            let cached = check(client, &(method.clone(), path, "", &[])).await;
            assert_eq!((cached.status, cached.header("etag")), (200, Some(tag)));
            assert!(cached.header("age").is_some());
            let known = &[("if-none-match", tag)];
            let same = check(client, &(method, path, "", known)).await;
            assert_eq!((same.status, same.header("etag")), (304, Some(tag)));
        }
    }
}
