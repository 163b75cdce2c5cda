//! Pages from elsewhere: what browsers are told of every answer.

mod preflight;

use std::collections::BTreeSet;

use test_support::{Answer, Api, Method, json, until};

use crate::client::Client;
use crate::clock::noon_zone;
use crate::misconfigured::{REQUESTS, is_told};
use crate::site::{Site, patient};

const HERS: &str = "https://community.example";
const HIS: &str = "http://localhost:8080";
const STRANGE: [&str; 4] = [
    "https://community.example.evil.example",
    "http://community.example",
    "null",
    "*",
];
const ALLOWED: &str = "https://community.example, http://LOCALHOST:8080";

fn is_told_to_browsers(name: &str) -> bool {
    name == "vary" || name.starts_with("access-control-")
}

/// The headers that are for browsers, or all others that do not differ from answer to answer.
fn headers(answer: &Answer, for_browsers: bool) -> BTreeSet<(&str, &str)> {
    let all = answer.headers.iter();
    let all = all.map(|(name, value)| (name.as_str(), value.to_str().expect("text")));
    all.filter(|(name, _)| !["date", "age", "x-request-id"].contains(name))
        .filter(|(name, _)| is_told_to_browsers(name) == for_browsers)
        .collect()
}

/// What an allowed page is told of an answer.
fn permission<'a>(origin: &'a str, answer: &Answer) -> BTreeSet<(&'static str, &'a str)> {
    let readable = match ["age", "etag", "retry-after"].map(|name| answer.header(name).is_some()) {
        [false, false, false] => "x-request-id",
        [false, true, false] => "etag, x-request-id",
        [true, true, false] => "age, etag, x-request-id",
        [false, false, true] => "retry-after, x-request-id",
        other => panic!("{}: {other:?}", answer.request),
    };
    BTreeSet::from([
        ("access-control-allow-origin", origin),
        ("access-control-expose-headers", readable),
        ("vary", "Origin"),
    ])
}

/// Sends a request from no page, allowed pages and others: they get the same answer, and only the
/// allowed ones may read it.
async fn check(client: &Client, request: &Request<'_>) -> Answer {
    let (method, path, body, headers_sent) = request;
    let send = async |origin: Option<&'static str>| {
        let origin = origin.map(|origin| ("origin", origin));
        let sent: Vec<_> = headers_sent.iter().copied().chain(origin).collect();
        client
            .send(method.clone(), path, body.as_bytes(), &sent)
            .await
    };
    let first = send(None).await;
    let unknown = BTreeSet::from([("vary", "Origin")]);
    assert_eq!(headers(&first, true), unknown, "{}", first.request);
    let strangers = STRANGE.map(|origin| (origin, false));
    for (origin, allowed) in [(HERS, true), (HIS, true)].into_iter().chain(strangers) {
        let answer = send(Some(origin)).await;
        let what = format!("{} from {origin}", answer.request);
        assert_eq!(
            (answer.status, &answer.text),
            (first.status, &first.text),
            "{what}"
        );
        assert_eq!(headers(&answer, false), headers(&first, false), "{what}");
        let expected = if allowed {
            permission(origin, &answer)
        } else {
            unknown.clone()
        };
        assert_eq!(headers(&answer, true), expected, "{what}");
    }
    first
}

/// Method, path, body, headers.
type Request<'a> = (Method, &'a str, &'a str, &'a [(&'a str, &'a str)]);

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

/// A request of every route.
fn every_route() -> Vec<Request<'static>> {
    let requests = REQUESTS.map(|(method, path, body)| (method, path, body, JSON));
    let health: Request = (Method::GET, "/healthz", "", &[]);
    requests.into_iter().chain([health]).collect()
}

async fn get(api: &Api, path: &str, headers: &[(&str, &str)]) -> Answer {
    api.send(Method::GET, path, "", headers).await
}

#[tokio::test]
async fn every_route_may_be_read_by_allowed_pages_alone() {
    let site = Site::with(|worker| worker.var("ALLOWED_ORIGINS", ALLOWED));
    // What is sent again is answered the same only from the second time on.
    site.count("42", "like", "new").await;
    site.put("/v1/users/42", &json!({"name": "Ada"}))
        .await
        .assert_status(200);
    let mut statuses = BTreeSet::new();
    let (last, others): (Vec<_>, Vec<_>) = every_route()
        .into_iter()
        .partition(|request| request.0 == Method::DELETE);
    for request in others.iter().chain(&last) {
        statuses.insert(check(&site, request).await.status);
    }
    assert_eq!(statuses, BTreeSet::from([200, 204]));
}

#[tokio::test]
async fn every_error_may_be_read_by_allowed_pages_alone() {
    let site = Site::with(|worker| worker.var("ALLOWED_ORIGINS", ALLOWED));
    let activity = "/v1/activity";
    let (bare, large): (&[_], _) = (&[], " ".repeat(256 * 1024 + 1));
    let dance = r#"{"user":"42","action":"dance","target":"p"}"#;
    let unvisit = r#"{"user":"42","action":"visit","target":"/","undo":true}"#;
    let requests: [(u16, Request); 13] = [
        (400, (Method::GET, "/v1/ranking/day?limit=0", "", bare)),
        (400, (Method::HEAD, "/v1/ranking/day?limit=0", "", bare)),
        (400, (Method::GET, "/healthz?verbose=1", "", bare)),
        (400, (Method::POST, activity, "{", JSON)),
        (404, (Method::GET, "/nowhere", "", bare)),
        (404, (Method::OPTIONS, "/nowhere", "", bare)),
        (404, (Method::GET, "/v1/users/nobody", "", bare)),
        (405, (Method::GET, activity, "", bare)),
        (405, (Method::OPTIONS, activity, "", bare)),
        (413, (Method::POST, activity, &large, JSON)),
        (415, (Method::POST, activity, "{}", bare)),
        (422, (Method::POST, activity, dance, JSON)),
        (422, (Method::POST, activity, unvisit, JSON)),
    ];
    for (status, request) in &requests {
        check(&site, request).await.assert_status(*status);
    }
    let unknown = site.without_key();
    let request = (Method::GET, "/v1/users/42/activity", "", bare);
    check(&unknown, &request).await.assert_status(401);
}

#[tokio::test]
async fn a_broken_service_tells_allowed_pages_too() {
    let away = Site::with(|worker| {
        let worker = worker.store("http://127.0.0.1:1");
        worker.var("ALLOWED_ORIGINS", ALLOWED)
    });
    let wrong = Site::with(|worker| {
        let worker = worker.var("POINT_DECIMALS", "3");
        worker.var("ALLOWED_ORIGINS", ALLOWED)
    });
    for request in every_route() {
        let (health, stored) = (request.1 == "/healthz", request.1.starts_with("/v1"));
        let status = if health || stored { 503 } else { 200 };
        check(&away, &request).await.assert_status(status);
        let status = if health { 503 } else { 500 };
        check(&wrong, &request).await.assert_status(status);
    }
}

#[tokio::test]
async fn what_is_not_an_origin_is_told_and_lets_nobody_in() {
    let site = Site::with(|worker| worker.var("ALLOWED_ORIGINS", "https://community.example/"));
    let told = "ALLOWED_ORIGINS: 'https://community.example/' is not an origin such as \
        https://example.com or http://localhost:8080: scheme, host and port alone, no * and no / \
        at the end";
    is_told(&site, &REQUESTS, told).await;
    let api = Api::new(site.url());
    for origin in [HERS, "https://community.example/"] {
        let answer = get(&api, "/", &[("origin", origin)]).await;
        assert_eq!(headers(&answer, true), BTreeSet::new());
    }
}

#[tokio::test]
async fn where_no_page_is_allowed_nothing_is_said_to_any() {
    let site = Site::start();
    let api = Api::new(site.url());
    for path in ["/v1/ranking/day", "/healthz", "/", "/nowhere"] {
        let answer = get(&api, path, &[("origin", HERS)]).await;
        assert_eq!(headers(&answer, true), BTreeSet::new(), "{path}");
    }
}

#[tokio::test]
async fn a_kept_board_has_nothing_of_the_page_that_it_was_first_made_for() {
    let worker = patient().var("TIMEZONE", noon_zone());
    let worker = worker.var("BOARD_MAX_AGE", "600");
    let wrangler = worker.var("ALLOWED_ORIGINS", ALLOWED).start_wrangler();
    let client = Client::new(wrangler.api());
    let (api, path) = (Api::new(wrangler.url()), "/v1/ranking/day");
    let first = get(&api, path, &[("origin", HERS)]).await;
    assert_eq!((first.status, first.header("age")), (200, None));
    assert_eq!(headers(&first, true), permission(HERS, &first));
    until("an answer from the cache", async || {
        let answer = get(&api, path, &[]).await;
        answer.header("age").is_some().then_some(())
    })
    .await;

    let tag = first.header("etag").expect("a tag");
    // Without a key the second time from the isolate.
    let nobody = client.without_key();
    for client in [&client, &nobody, &nobody] {
        for method in [Method::GET, Method::HEAD] {
            let kept = check(client, &(method.clone(), path, "", &[])).await;
            assert_eq!((kept.status, kept.header("etag")), (200, Some(tag)));
            assert!(kept.header("age").is_some());
            let known = &[("if-none-match", tag)];
            let same = check(client, &(method, path, "", known)).await;
            assert_eq!((same.status, same.header("etag")), (304, Some(tag)));
        }
    }
}
