//! Log lines: they identify every failure, and contain neither request data nor secrets.

use std::collections::BTreeSet;

use test_support::{Answer, Fault, Forwarder, Method, Value, json, until};

use crate::app::TestApp;
use crate::bodies::{like, undo, with};
use crate::clock::noon_zone;
use crate::document::document;
use crate::token::sign::{claims_with, hmac, token};

/// A word in all data that must not be logged.
const MARKER: &str = "MARKED";

const KEY: &str = "MARKED-service-key";
const STORE_TOKEN: &str = "MARKED-store-token";
const JWT_SECRET: &str = "MARKED-secret-of-more-than-32-bytes";

/// Sends requests with the marker in every part and returns the responses.
async fn send_marked(app: &TestApp, key: &str) -> Vec<Answer> {
    let client = app.with_key(key);
    let json = [
        ("content-type", "application/json"),
        ("cookie", "session=MARKED"),
        ("referer", "https://example.com/MARKED"),
    ];
    let activity = with(like("MARKED", "MARKED"), json!({"groups": ["MARKED"]}));
    let undo = undo(like("MARKED", "MARKED"));
    let (activity, undo) = (activity.to_string(), undo.to_string());
    let array = format!("[{activity},7]");
    let requests = [
        (Method::POST, "/v1/activity", activity.as_str()),
        (Method::POST, "/v1/activity", &undo),
        (Method::POST, "/v1/activity", &array),
        (Method::POST, "/v1/activity", r#"{"MARKED":1,"MARKED":"#),
        (Method::POST, "/v1/activity?MARKED=1", &activity),
        (Method::PUT, "/v1/users/MARKED", r#"{"name":"MARKED"}"#),
        (
            Method::PUT,
            "/v1/users",
            r#"[{"id":"MARKED","name":"MARKED"}]"#,
        ),
        (Method::DELETE, "/v1/users/MARKED", ""),
        (Method::GET, "/v1/users/MARKED", ""),
        (Method::GET, "/v1/users/MARKED/activity", ""),
        (Method::GET, "/v1/ranking/day?group=MARKED", ""),
        (Method::GET, "/v1/ranking/day/users/MARKED", ""),
        (Method::GET, "/v1/ranking/day/users?ids=MARKED", ""),
        (Method::GET, "/v1/ranking/MARKED", ""),
        (Method::GET, "/healthz", ""),
        (Method::GET, "/MARKED", ""),
        (Method::GET, "/", ""),
    ];
    let mut responses = Vec::new();
    for (method, path, body) in requests {
        responses.push(client.send(method, path, body, &json).await);
    }
    responses
}

fn app_with_store(store: &str) -> TestApp {
    TestApp::with(|worker| {
        let worker = worker.store(store).var("SERVICE_KEYS", KEY);
        let worker = worker.var("JWT_SECRET", JWT_SECRET);
        worker.var("UPSTASH_REDIS_REST_TOKEN", STORE_TOKEN)
    })
}

/// Asserts that every response with status 5xx is logged with its request id, and no other response.
///
/// Returns the log lines.
async fn assert_failures_logged(app: &TestApp, responses: &[Answer]) -> Vec<Value> {
    let failed = responses.iter().filter(|response| response.status >= 500);
    let id = |response: &'_ Answer| response.header("x-request-id").expect("an id").to_owned();
    let failed = failed.map(|response| (id(response), &response.request));
    let failed: Vec<_> = failed.collect();
    let lines = until("all lines", async || {
        let lines = app.log_lines();
        (lines.len() >= failed.len()).then_some(lines)
    })
    .await;
    assert_eq!(lines.len(), failed.len(), "{lines:#?}");
    for (line, (id, request)) in lines.iter().zip(&failed) {
        let names: Vec<&String> = line.as_object().expect("a line").keys().collect();
        let expected = ["cause", "level", "method", "request_id", "route", "status"];
        assert_eq!(names, expected);
        assert_eq!(line["request_id"], *id, "{lines:#?}");
        assert_eq!(line["level"], "error");
        let method = request.split(' ').next().expect("a method");
        assert_eq!(line["method"], method);
        let route = line["route"].as_str().expect("a pattern");
        let mut paths = document().paths();
        assert!(paths.any(|(path, _)| path == route), "{line}");
        assert!(!cause(line).is_empty(), "{line}");
    }
    lines
}

fn cause(line: &Value) -> &str {
    line["cause"].as_str().unwrap_or_default()
}

/// Asserts that the log does not contain the marker.
#[track_caller]
fn assert_clean(app: &TestApp) {
    let log = app.log();
    assert!(!log.contains(MARKER) && !log.contains("marked"), "{log}");
}

#[tokio::test]
async fn store_failure_log_has_no_request_data() {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    // Credentials in the URL as well.
    let store = forwarder.url().replace("http://", "http://MARKED:MARKED@");
    let app = app_with_store(&store);
    let fingerprint = format!(
        "v4 generation=1 shards=1 decimals=0 timezone={}",
        noon_zone()
    );
    let forged = |values: Value| {
        let values = values.as_array().expect("values").iter().cloned();
        let result: Value = [json!(fingerprint)].into_iter().chain(values).collect();
        Fault::Respond(200, json!([{"result": result}]).to_string())
    };
    let echo = "ERR unknown command 'EVALSHA', with args beginning with: 'MARKED' 'MARKED' ";
    let faults = [
        Fault::CutBefore,
        Fault::CutAfter,
        Fault::Respond(200, "<html>MARKED</html>".to_owned()),
        Fault::Respond(200, r#"["MARKED"]"#.to_owned()),
        // The correct fingerprint, then values of unexpected types.
        forged(json!(["MARKED", [["MARKED"]], "MARKED"])),
        forged(json!([[["MARKED"]], ["MARKED", "MARKED"], 7])),
        Fault::Respond(200, json!([{"error": echo}]).to_string()),
        Fault::Respond(401, "MARKED".to_owned()),
        Fault::Respond(500, json!({"error": echo}).to_string()),
        Fault::Respond(502, "MARKED".to_owned()),
    ];
    let mut responses = Vec::new();
    for fault in faults {
        forwarder.fail(move |_| Some(fault.clone()));
        responses.extend(send_marked(&app, KEY).await);
    }
    let lines = assert_failures_logged(&app, &responses).await;
    let statuses = [500, 503].map(|status| lines.iter().any(|line| line["status"] == status));
    assert_eq!(statuses, [true, true]);
    assert_clean(&app);
}

#[tokio::test]
async fn client_errors_are_not_logged() {
    let app = TestApp::with(|worker| {
        let worker = worker.var("SERVICE_KEYS", KEY);
        worker.var("JWT_SECRET", JWT_SECRET)
    });
    let signed =
        |secret: &str, claims: &Value| token(json!({"alg": "HS256"}), claims, hmac(secret));
    let keys = [
        "MARKED-guess".to_owned(),
        signed("another secret", &claims_with(json!({"sub": MARKER}))),
        signed(JWT_SECRET, &claims_with(json!({"sub": MARKER, "exp": 1}))),
        signed(JWT_SECRET, &claims_with(json!({"sub": MARKER}))),
        KEY.to_owned(),
    ];
    let mut responses = Vec::new();
    for key in &keys {
        responses.extend(send_marked(&app, key).await);
    }
    for status in [200, 204, 400, 401, 403, 404] {
        let mut statuses = responses.iter().map(|response| response.status);
        assert!(statuses.any(|found| found == status), "{status}");
    }
    assert_failures_logged(&app, &responses).await;
    assert_eq!(app.log_lines(), [Value::Null; 0]);
    assert_clean(&app);
    // No segment of a token is logged either.
    for key in &keys[1..4] {
        for part in key.split('.') {
            assert!(!app.log().contains(part));
        }
    }
}

#[tokio::test]
async fn misconfiguration_log_has_no_secret_value() {
    for (name, value) in [
        ("JWT_SECRET", json!("MARKED")),
        ("JWKS_URL", json!("http://MARKED@example.com/MARKED")),
        ("UPSTASH_REDIS_REST_URL", json!("MARKED.example.com")),
        ("UPSTASH_REDIS_REST_TOKEN", json!({"MARKED": "MARKED"})),
        ("SERVICE_KEYS", json!({"MARKED": "MARKED"})),
    ] {
        let app = TestApp::with(|worker| worker.json(name, value));
        let responses = send_marked(&app, KEY).await;
        let lines = assert_failures_logged(&app, &responses).await;
        assert!(!lines.is_empty());
        for line in &lines {
            assert!(cause(line).starts_with(name), "{line}");
        }
        assert_clean(&app);
        for response in responses.iter().filter(|response| response.status >= 500) {
            assert!(!response.text.contains(MARKER), "{}", response.text);
        }
    }
}

#[tokio::test]
async fn rate_limit_is_unlogged_and_cache_hits_have_own_id() {
    let app = TestApp::with(|worker| {
        let worker = worker.var("JWT_SECRET", JWT_SECRET);
        worker.limit("READ_LIMIT", 3)
    });
    let first = app.get("/v1/ranking/day").await;
    let cached = until("a response from the cache", async || {
        let response = app.get("/v1/ranking/day").await;
        response.header("age").is_some().then_some(response)
    })
    .await;
    let again = app.get("/v1/ranking/day").await;
    let ids = [&first, &cached, &again].map(|response| response.header("x-request-id"));
    assert_eq!(BTreeSet::from(ids).len(), 3, "{ids:?}");
    assert!(!ids.contains(&None), "{ids:?}");

    let guess = app.with_key("MARKED-guess");
    until("a limit", async || {
        let response = guess.get("/v1/users/MARKED/activity").await;
        (response.status == 429).then_some(())
    })
    .await;
    let log = app.worker.log();
    assert!(!log.contains("guess") && !log.contains("level"), "{log}");
}
