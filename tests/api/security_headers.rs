//! Request id and security headers of every response.

use std::collections::HashSet;

use test_support::{Answer, Api, Method};

use crate::app::TestApp;
use crate::client::JSON;
use crate::misconfigured::REQUESTS;

const PREFLIGHT: &[(&str, &str)] = &[
    ("origin", "https://community.example"),
    ("access-control-request-method", "GET"),
];

/// Method, path, body, headers and expected status.
type Request = (Method, &'static str, &'static str, Headers, u16);
type Headers = Vec<(&'static str, &'static str)>;

/// Returns requests to all routes, with responses of every kind.
fn requests() -> Vec<Request> {
    let json = JSON.to_vec();
    let known = vec![("if-none-match", "*")];
    let all = REQUESTS.map(|(method, path, body)| {
        let status = if method == Method::DELETE { 204 } else { 200 };
        (method, path, body, json.clone(), status)
    });
    let preflight = |path| (Method::OPTIONS, path, "", PREFLIGHT.to_vec(), 204);
    let get = |path, status| (Method::GET, path, "", Vec::new(), status);
    let others = [
        get("/healthz", 200),
        (Method::HEAD, "/", "", Vec::new(), 200),
        (Method::GET, "/", "", known.clone(), 304),
        (Method::GET, "/openapi.json", "", known.clone(), 304),
        (Method::GET, "/v1/ranking/day", "", known, 304),
        preflight("/v1/activity"),
        preflight("/"),
        get("/?page=1", 200),
        get("/healthz?page=1", 200),
        (Method::PUT, "/v1/users/42", "{", json, 400),
        get("/nowhere", 404),
        get("//:::", 404),
        get("/v1/users/unknown", 404),
        (Method::POST, "/", "", Vec::new(), 405),
        (Method::POST, "/v1/activity", "{}", Vec::new(), 415),
    ];
    // Erasure comes last, since other requests read the profile.
    let (erasures, all): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|(method, ..)| *method == Method::DELETE);
    all.into_iter().chain(others).chain(erasures).collect()
}

fn is_uuid(id: &str) -> bool {
    let dashes = [8, 13, 18, 23];
    let is_valid = |(at, byte): (usize, u8)| match byte {
        b'-' => dashes.contains(&at),
        _ => !dashes.contains(&at) && byte.is_ascii_hexdigit(),
    };
    id.len() == 36 && id.bytes().enumerate().all(is_valid)
}

fn id(response: &Answer) -> &str {
    let mut ids = response.headers.get_all("x-request-id").iter();
    let id = ids.next().expect("an id").to_str().expect("text");
    assert_eq!(ids.next(), None, "{}: two request ids", response.request);
    id
}

#[tokio::test]
async fn every_response_has_id_and_security_headers() {
    let app = TestApp::with(|worker| worker.var("ALLOWED_ORIGINS", "https://community.example"));
    app.set_name("42", "Ada").await;
    let api = Api::new(app.url()).with_key(test_support::SERVICE_KEY);
    let mut ids = HashSet::new();
    for (method, path, body, headers, status) in requests() {
        let response = api.send(method.clone(), path, body, &headers).await;
        response.assert_status(status);
        let request = &response.request;
        assert!(is_uuid(id(&response)), "{request}: {}", id(&response));
        let is_new = ids.insert(id(&response).to_owned());
        assert!(is_new, "{request}: repeated id");
        // Over plain HTTP there is no HSTS header.
        let names = ["x-content-type-options", "strict-transport-security"];
        let found = names.map(|name| response.header(name));
        assert_eq!(found, [Some("nosniff"), None], "{request}");

        let secure = [("x-forwarded-proto", "https")];
        let headers: Vec<_> = headers.into_iter().chain(secure).collect();
        let response = api.send(method, path, body, &headers).await;
        let hsts = response.header("strict-transport-security");
        assert_eq!(hsts, Some("max-age=31536000"), "{request}");
    }
}

#[tokio::test]
async fn request_id_is_a_valid_cf_ray_or_a_uuid() {
    let app = TestApp::start();
    for ray in ["8f0123456789abcd", "8f0123456789abcd-FRA"] {
        for path in ["/healthz", "/nowhere"] {
            let response = app.send(Method::GET, path, "", &[("cf-ray", ray)]).await;
            assert_eq!(id(&response), ray);
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
        let response = app
            .send(Method::GET, "/healthz", "", &[("cf-ray", other)])
            .await;
        assert!(is_uuid(id(&response)), "{other}: {}", id(&response));
    }
}
