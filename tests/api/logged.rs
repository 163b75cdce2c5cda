//! What is logged: enough to find what went wrong, and nothing that anybody sent or holds secret.

use test_support::{Answer, Fault, Forwarder, Method, Value, json, until};

use crate::client::Client;
use crate::clock::noon_zone;
use crate::site::{Site, patient};
use crate::token::sign::{claims_with, hmac, token};

/// Is in everything that must not be logged.
const MARK: &str = "MARKED";

const KEY: &str = "MARKED-service-key";
const STORE_TOKEN: &str = "MARKED-store-token";
const JWT_SECRET: &str = "MARKED-secret-of-more-than-32-bytes";

/// Sends what is marked in every place that a request has; returns the answers.
async fn send_marked(site: &Site, key: &str) -> Vec<Answer> {
    let client = Client::new(test_support::Api::new(site.url()).with_key(key));
    let json = [
        ("content-type", "application/json"),
        ("cookie", "session=MARKED"),
        ("referer", "https://example.com/MARKED"),
    ];
    let activity =
        json!({"user": "MARKED", "action": "like", "target": "MARKED", "groups": ["MARKED"]});
    let undo = json!({"user": "MARKED", "action": "like", "target": "MARKED", "undo": true});
    let requests = [
        (Method::POST, "/v1/activity", activity.to_string()),
        (Method::POST, "/v1/activity", undo.to_string()),
        (
            Method::POST,
            "/v1/activity",
            json!([activity, 7]).to_string(),
        ),
        (
            Method::POST,
            "/v1/activity",
            r#"{"MARKED":1,"MARKED":"#.to_owned(),
        ),
        (Method::POST, "/v1/activity?MARKED=1", activity.to_string()),
        (
            Method::PUT,
            "/v1/users/MARKED",
            r#"{"name":"MARKED"}"#.to_owned(),
        ),
        (
            Method::PUT,
            "/v1/users",
            r#"[{"id":"MARKED","name":"MARKED"}]"#.to_owned(),
        ),
        (Method::DELETE, "/v1/users/MARKED", String::new()),
        (Method::GET, "/v1/users/MARKED", String::new()),
        (Method::GET, "/v1/users/MARKED/activity", String::new()),
        (Method::GET, "/v1/ranking/day?group=MARKED", String::new()),
        (Method::GET, "/v1/ranking/day/users/MARKED", String::new()),
        (
            Method::GET,
            "/v1/ranking/day/users?ids=MARKED",
            String::new(),
        ),
        (Method::GET, "/v1/ranking/MARKED", String::new()),
        (Method::GET, "/healthz", String::new()),
        (Method::GET, "/MARKED", String::new()),
        (Method::GET, "/", String::new()),
    ];
    let mut answers = Vec::new();
    for (method, path, body) in requests {
        answers.push(client.send(method, path, body, &json).await);
    }
    answers
}

fn site_of(store: &str) -> Site {
    Site::with(|worker| {
        let worker = worker.store(store).var("SERVICE_KEYS", KEY);
        let worker = worker.var("JWT_SECRET", JWT_SECRET);
        worker.var("UPSTASH_REDIS_REST_TOKEN", STORE_TOKEN)
    })
}

/// Fails the test unless each failure that was answered is logged under its id, and nothing else
/// is; returns the lines.
async fn are_logged(site: &Site, answers: &[Answer]) -> Vec<Value> {
    let failed = answers.iter().filter(|answer| answer.status >= 500);
    let failed: Vec<_> = failed
        .map(|answer| {
            (
                answer.header("x-request-id").expect("an id"),
                &answer.request,
            )
        })
        .collect();
    let lines = until("all lines", async || {
        let lines = site.log_lines();
        (lines.len() >= failed.len()).then_some(lines)
    })
    .await;
    let ids: Vec<&str> = failed.iter().map(|(id, _)| *id).collect();
    let logged: Vec<_> = lines
        .iter()
        .map(|line| line["request_id"].as_str().expect("an id"))
        .collect();
    assert_eq!(logged, ids, "{lines:#?}");
    for (line, (_, request)) in lines.iter().zip(&failed) {
        let names: Vec<&str> = line
            .as_object()
            .expect("a line")
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            names,
            ["cause", "level", "method", "request_id", "route", "status"]
        );
        assert_eq!(line["level"], "error");
        let sent = request.split(' ').next().expect("a method");
        assert_eq!(line["method"], sent);
        let route = line["route"].as_str().expect("a pattern");
        assert!(
            crate::document::document()
                .paths()
                .any(|(path, _)| path == route),
            "{line}"
        );
        assert!(
            line["cause"]
                .as_str()
                .is_some_and(|cause| !cause.is_empty()),
            "{line}"
        );
    }
    lines
}

#[track_caller]
fn is_clean(site: &Site) {
    let log = site.log();
    assert!(!log.contains(MARK) && !log.contains("marked"), "{log}");
}

#[tokio::test]
async fn a_store_that_fails_is_logged_without_what_was_sent() {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    // Credentials in the URL as well.
    let store = forwarder.url().replace("http://", "http://MARKED:MARKED@");
    let site = site_of(&store);
    let stamp = format!("v2 shards=1 decimals=0 timezone={}", noon_zone());
    let lie = |values: Value| {
        let values = values.as_array().expect("values").iter().cloned();
        let result: Value = [json!(stamp)].into_iter().chain(values).collect();
        Fault::Answer(200, json!([{"result": result}]).to_string())
    };
    let echo = "ERR unknown command 'EVALSHA', with args beginning with: 'MARKED' 'MARKED' ";
    let faults = [
        Fault::CutBefore,
        Fault::CutAfter,
        Fault::Answer(200, "<html>MARKED</html>".to_owned()),
        Fault::Answer(200, r#"["MARKED"]"#.to_owned()),
        // As if it were ours, and then of another kind than it can be.
        lie(json!(["MARKED", [["MARKED"]], "MARKED"])),
        lie(json!([[["MARKED"]], ["MARKED", "MARKED"], 7])),
        Fault::Answer(200, json!([{"error": echo}]).to_string()),
        Fault::Answer(401, "MARKED".to_owned()),
        Fault::Answer(500, json!({"error": echo}).to_string()),
        Fault::Answer(502, "MARKED".to_owned()),
    ];
    let mut answers = Vec::new();
    for fault in faults {
        forwarder.fail(move |_| Some(fault.clone()));
        answers.extend(send_marked(&site, KEY).await);
    }
    let lines = are_logged(&site, &answers).await;
    let statuses = [500, 503].map(|status| lines.iter().any(|line| line["status"] == status));
    assert_eq!(statuses, [true, true]);
    is_clean(&site);
}

#[tokio::test]
async fn what_is_the_callers_fault_is_not_logged() {
    let site = Site::with(|worker| {
        let worker = worker.var("SERVICE_KEYS", KEY);
        worker.var("JWT_SECRET", JWT_SECRET)
    });
    let of = |secret: &str, claims: &Value| token(json!({"alg": "HS256"}), claims, hmac(secret));
    let keys = [
        "MARKED-guess".to_owned(),
        of("another secret", &claims_with(json!({"sub": MARK}))),
        of(JWT_SECRET, &claims_with(json!({"sub": MARK, "exp": 1}))),
        of(JWT_SECRET, &claims_with(json!({"sub": MARK}))),
        KEY.to_owned(),
    ];
    let mut answers = Vec::new();
    for key in &keys {
        answers.extend(send_marked(&site, key).await);
    }
    for status in [200, 204, 400, 401, 403, 404] {
        assert!(
            answers.iter().any(|answer| answer.status == status),
            "{status}"
        );
    }
    are_logged(&site, &answers).await;
    assert_eq!(site.log_lines(), [Value::Null; 0]);
    is_clean(&site);
    // Nor is any of a token.
    for key in &keys[1..4] {
        for part in key.split('.') {
            assert!(!site.log().contains(part));
        }
    }
}

#[tokio::test]
async fn a_wrong_setting_is_logged_without_its_value_where_that_is_secret() {
    for (name, value) in [
        ("JWT_SECRET", json!("MARKED")),
        ("JWKS_URL", json!("http://MARKED@example.com/MARKED")),
        ("UPSTASH_REDIS_REST_URL", json!("MARKED.example.com")),
        ("UPSTASH_REDIS_REST_TOKEN", json!({"MARKED": "MARKED"})),
        ("SERVICE_KEYS", json!({"MARKED": "MARKED"})),
    ] {
        let site = Site::with(|worker| worker.json(name, value));
        let answers = send_marked(&site, KEY).await;
        let lines = are_logged(&site, &answers).await;
        assert!(!lines.is_empty());
        for line in &lines {
            assert!(
                line["cause"]
                    .as_str()
                    .is_some_and(|cause| cause.starts_with(name)),
                "{line}"
            );
        }
        is_clean(&site);
        for answer in answers.iter().filter(|answer| answer.status >= 500) {
            assert!(!answer.text.contains(MARK), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn a_limit_is_not_logged_and_a_kept_board_has_the_id_of_each_request() {
    let wrangler = patient()
        .var("JWT_SECRET", JWT_SECRET)
        .limit("READ_LIMIT", 3)
        .start_wrangler();
    let client = Client::new(wrangler.api());
    let first = client.get("/v1/ranking/day").await;
    let kept = until("an answer from the cache", async || {
        let answer = client.get("/v1/ranking/day").await;
        answer.header("age").is_some().then_some(answer)
    })
    .await;
    let again = client.get("/v1/ranking/day").await;
    let ids = [&first, &kept, &again].map(|answer| answer.header("x-request-id").expect("an id"));
    assert!(
        ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2],
        "{ids:?}"
    );

    let guess = Client::new(test_support::Api::new(wrangler.url()).with_key("MARKED-guess"));
    until("a limit", async || {
        let answer = guess.get("/v1/users/MARKED/activity").await;
        (answer.status == 429).then_some(())
    })
    .await;
    let log = wrangler.log();
    assert!(!log.contains("guess") && !log.contains("level"), "{log}");
}
