//! What every answer says, whatever it is: its request's id, and what browsers are to keep to.

use std::collections::HashSet;

use test_support::{Answer, Api, Method, json};

use crate::misconfigured::REQUESTS;
use crate::site::Site;

const FROM_ELSEWHERE: &[(&str, &str)] = &[
    ("origin", "https://community.example"),
    ("access-control-request-method", "GET"),
];

/// Method, path, body, headers, and the status of its answer.
type Request = (Method, &'static str, &'static str, Headers, u16);
type Headers = Vec<(&'static str, &'static str)>;

/// Requests of all routes and kinds of answer.
fn requests() -> Vec<Request> {
    let json = vec![("content-type", "application/json")];
    let known = vec![("if-none-match", "*")];
    let all = REQUESTS.map(|(method, path, body)| {
        let status = if method == Method::DELETE { 204 } else { 200 };
        (method, path, body, json.clone(), status)
    });
    let preflight = |path| (Method::OPTIONS, path, "", FROM_ELSEWHERE.to_vec(), 204);
    let get = |path, status| (Method::GET, path, "", Vec::new(), status);
    let others = [
        get("/healthz", 200),
        (Method::HEAD, "/", "", Vec::new(), 200),
        (Method::GET, "/", "", known.clone(), 304),
        (Method::GET, "/openapi.json", "", known.clone(), 304),
        (Method::GET, "/v1/ranking/day", "", known, 304),
        preflight("/v1/activity"),
        preflight("/"),
        get("/?page=1", 400),
        (Method::PUT, "/v1/users/42", "{", json, 400),
        get("/nowhere", 404),
        get("//:::", 404),
        get("/v1/users/nobody", 404),
        (Method::POST, "/", "", Vec::new(), 405),
        (Method::POST, "/v1/activity", "{}", Vec::new(), 415),
    ];
    // Erased last: what comes before reads the profile.
    let (erasures, all): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|(method, ..)| *method == Method::DELETE);
    all.into_iter().chain(others).chain(erasures).collect()
}

fn is_uuid(id: &str) -> bool {
    let dashes = [8, 13, 18, 23];
    let fits = |(at, byte): (usize, u8)| match byte {
        b'-' => dashes.contains(&at),
        _ => !dashes.contains(&at) && byte.is_ascii_hexdigit(),
    };
    id.len() == 36 && id.bytes().enumerate().all(fits)
}

fn id(answer: &Answer) -> &str {
    let mut ids = answer.headers.get_all("x-request-id").iter();
    let id = ids.next().expect("an id").to_str().expect("text");
    assert!(ids.next().is_none(), "{}: two ids", answer.request);
    id
}

#[tokio::test]
async fn every_answer_has_an_id_and_is_what_it_says_it_is() {
    let site = Site::with(|worker| worker.var("ALLOWED_ORIGINS", "https://community.example"));
    site.put("/v1/users/42", &json!({"name": "Ada"}))
        .await
        .assert_status(200);
    let api = Api::new(site.url()).with_key(test_support::SERVICE_KEY);
    let mut ids = HashSet::new();
    for (method, path, body, headers, status) in requests() {
        let answer = api.send(method.clone(), path, body, &headers).await;
        answer.assert_status(status);
        let what = &answer.request;
        assert!(is_uuid(id(&answer)), "{what}: {}", id(&answer));
        assert!(ids.insert(id(&answer).to_owned()), "{what}: an id again");
        assert_eq!(
            answer.header("x-content-type-options"),
            Some("nosniff"),
            "{what}"
        );
        // Not by https, so nothing is promised about it.
        assert_eq!(answer.header("strict-transport-security"), None, "{what}");

        let secure = [("x-forwarded-proto", "https")];
        let headers: Vec<_> = headers.into_iter().chain(secure).collect();
        let answer = api.send(method, path, body, &headers).await;
        let promise = answer.header("strict-transport-security");
        assert_eq!(promise, Some("max-age=31536000"), "{what}");
    }
}

#[tokio::test]
async fn the_pages_may_run_scripts_of_their_own_alone_and_be_shown_in_any_frame() {
    let site = Site::start();
    let docs = site.get("/docs").await;
    let page = site.get("/").await;
    let tag = page.header("etag").expect("a tag").to_owned();
    let same = site.get_unless("/", &tag).await;
    same.assert(304, json!(null));
    for answer in [docs, page, same, site.head("/").await] {
        let policy = answer.header("content-security-policy").expect("a policy");
        let directives: Vec<(&str, &str)> = policy
            .split("; ")
            .map(|part| part.split_once(' ').expect(part))
            .collect();
        let names: Vec<&str> = directives.iter().map(|(name, _)| *name).collect();
        let expected = [
            "default-src",
            "script-src",
            "style-src",
            "img-src",
            "connect-src",
            "base-uri",
            "form-action",
        ];
        assert_eq!(names, expected);
        let values: Vec<&str> = directives.iter().map(|(_, value)| *value).collect();
        let own = ["'none'", "'self'", "'self'", "https: data:", "'self'"];
        assert_eq!(values, [&own[..], &["'none'", "'none'"]].concat());
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
}

#[tokio::test]
async fn the_id_is_that_of_the_edge_where_it_is_one() {
    let site = Site::start();
    for ray in ["8f0123456789abcd", "8f0123456789abcd-FRA"] {
        for path in ["/healthz", "/nowhere"] {
            let answer = site.send(Method::GET, path, "", &[("cf-ray", ray)]).await;
            assert_eq!(id(&answer), ray);
        }
    }
    for other in [
        "",
        "8F0123456789ABCD",
        "8f0123456789abcd-fra",
        "8f0123456789abcd-FRA,x",
        "8f0123456789abcd8f0123456789abcd",
        "<script>",
        "../etc",
    ] {
        let answer = site
            .send(Method::GET, "/healthz", "", &[("cf-ray", other)])
            .await;
        assert!(is_uuid(id(&answer)), "{other}: {}", id(&answer));
    }
}
