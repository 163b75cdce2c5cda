//! Missing and invalid configuration variables.

mod cases;

use std::collections::HashSet;

use activity_rank_core::calendar::Utc;
use activity_rank_core::config::{Config, Vars};
use activity_rank_core::error::Error;
use test_support::{Method, SERVICE_KEY, Value, WorkerBuilder, json};

use crate::app::TestApp;
use crate::client::{Client, JSON};
use crate::problem::problem;
use cases::cases;

/// A request of every route but `/healthz`. The last three need no store.
pub const REQUESTS: [(Method, &str, &str); 16] = [
    (
        Method::POST,
        "/v1/activity",
        r#"{"user":"42","action":"like","target":"new"}"#,
    ),
    (Method::GET, "/v1/ranking/day", ""),
    (Method::GET, "/v1/ranking/day/users/42", ""),
    (Method::GET, "/v1/ranking/day/users?ids=42", ""),
    (Method::GET, "/v1/users/42/activity", ""),
    (Method::GET, "/v1/users/42/standings", ""),
    (Method::GET, "/v1/users/42/card", ""),
    (Method::GET, "/v1/users/42", ""),
    (Method::PUT, "/v1/users/42", r#"{"name":"Ada"}"#),
    (Method::PUT, "/v1/users", r#"[{"id":"42","name":"Ada"}]"#),
    (Method::DELETE, "/v1/users/42", ""),
    (Method::GET, "/v1/ranking/day/winners", ""),
    (Method::HEAD, "/v1/ranking/day", ""),
    (Method::GET, "/openapi.json", ""),
    (Method::GET, "/", ""),
    (Method::GET, "/docs", ""),
];

/// Returns the requests that read or write the store.
pub fn store_requests() -> &'static [(Method, &'static str, &'static str)] {
    &REQUESTS[..REQUESTS.len() - 3]
}

/// Asserts that the requests return [`problem`] with 500, and that `/healthz` reports it with 503.
pub async fn assert_misconfigured(
    client: &Client,
    requests: &[(Method, &str, &str)],
    detail: &str,
) {
    let problem = problem("misconfigured", detail);
    for (method, path, body) in requests {
        let response = client.send(method.clone(), path, *body, JSON).await;
        let is_head = *method == Method::HEAD;
        response.assert(
            500,
            if is_head {
                Value::Null
            } else {
                problem.clone()
            },
        );
    }
    let health = client.get("/healthz").await;
    let body = &health.assert_status(503).body;
    assert_eq!(body["status"], "misconfigured");
    assert_eq!(body["problem"], problem);
}

/// Starts a deployment, and a client that sends a service key the configuration may lack.
fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> (TestApp, Client) {
    let app = TestApp::with(configure);
    let client = app.with_key(SERVICE_KEY);
    (app, client)
}

/// Time zones are left out: only the platform knows their names.
#[test]
fn config_reports_every_invalid_variable() {
    for (name, value, detail) in cases().into_iter().filter(|case| case.0 != "TIMEZONE") {
        let mut vars =
            json!({"UPSTASH_REDIS_REST_URL": "http://x", "UPSTASH_REDIS_REST_TOKEN": "x"});
        vars[name] = value.clone();
        let config = Config::parse(
            &Vars::new(vars.as_object().expect("a table").clone()),
            Utc::named,
        );
        let expected = Some(Error::Misconfigured(name, detail));
        assert_eq!(config.err(), expected, "{name} = {value}");
    }
}

/// Sends requests for one case of each variable, and for every time zone.
#[tokio::test]
async fn invalid_variable_is_reported_on_every_route() {
    let mut seen = HashSet::new();
    let cases = cases()
        .into_iter()
        .filter(|case| case.0 == "TIMEZONE" || seen.insert(case.0));
    for (name, value, detail) in cases {
        let (_app, client) = start(|worker| worker.json(name, value));
        assert_misconfigured(&client, &REQUESTS, &format!("{name}: {detail}")).await;
    }
}

#[tokio::test]
async fn routing_errors_precede_config_errors() {
    let (_app, client) = start(|worker| worker.without("UPSTASH_REDIS_REST_URL"));
    client.get("/nowhere").await.assert_status(404);
    client.get("/v1/activity").await.assert_status(405);
}

#[tokio::test]
async fn missing_variable_nulls_healthz_configuration() {
    let (_app, client) = start(|worker| worker.without("UPSTASH_REDIS_REST_TOKEN"));
    let problem = problem(
        "misconfigured",
        "UPSTASH_REDIS_REST_TOKEN: is required and not set",
    );
    client.get("/healthz").await.assert(
        503,
        json!({"status": "misconfigured", "version": env!("CARGO_PKG_VERSION"), "problem": problem, "configured": null, "warnings": []}),
    );
}

#[tokio::test]
async fn visitors_without_secret_are_reported() {
    let secret = "must be a secret of at least 32 bytes";
    let url = "must begin with https://, or http://localhost, and name no user";
    let key = json!("a secret of thirty-two bytes, ok?");
    let turnstile = json!("http://a.example/siteverify");
    for (vars, name, detail) in [
        (json!({}), "VISITOR_KEY", secret),
        (json!({"VISITOR_KEY": "short"}), "VISITOR_KEY", secret),
        (
            json!({"VISITOR_KEY": key, "TURNSTILE_URL": turnstile}),
            "TURNSTILE_URL",
            url,
        ),
    ] {
        let (_app, client) = start(|worker| {
            let worker = worker.var("CONTENT_PERIODS", "all").var("VISITORS", "true");
            let vars = vars.as_object().expect("a table").iter();
            vars.fold(worker, |worker, (name, value)| {
                worker.json(name, value.clone())
            })
        });
        assert_misconfigured(&client, &REQUESTS, &format!("{name}: {detail}")).await;
    }
}

#[tokio::test]
async fn rejected_store_token_is_reported() {
    let (_app, client) = start(|worker| worker.var("UPSTASH_REDIS_REST_TOKEN", "wrong"));
    let detail = "UPSTASH_REDIS_REST_TOKEN: the store rejects this token";
    assert_misconfigured(&client, store_requests(), detail).await;
}

#[tokio::test]
async fn writes_without_configured_keys_return_401() {
    for keys in [json!(null), json!(""), json!(" , "), json!([])] {
        let (app, client) = start(|worker| worker.json("SERVICE_KEYS", keys));
        for (method, path, body) in [0, 4, 5, 8, 9, 10].map(|index| REQUESTS[index].clone()) {
            let response = client.send(method, path, body, JSON).await;
            let detail = "Neither service keys nor user tokens are configured, so this request is never allowed.";
            response.assert(401, problem("unauthenticated", detail));
        }
        for path in ["/v1/ranking/day", "/v1/ranking/day/users/42"] {
            client.get(path).await.assert_status(200);
        }
        assert_eq!(app.store().keys(), [""; 0]);
    }
}
