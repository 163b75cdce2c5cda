//! Variables that are missing or not valid.

mod cases;

use std::collections::HashSet;

use activity_rank::config::{Config, Vars};
use activity_rank::error::Error;
use test_support::{Method, SERVICE_KEY, Value, WorkerBuilder, json};

use crate::client::Client;
use crate::site::Site;
use cases::cases;

/// A request of every route but `/healthz`.
pub const REQUESTS: [(Method, &str, &str); 13] = [
    (
        Method::POST,
        "/v1/activity",
        r#"{"user":"42","action":"like","target":"new"}"#,
    ),
    (Method::GET, "/v1/ranking/day", ""),
    (Method::GET, "/v1/ranking/day/users/42", ""),
    (Method::GET, "/v1/ranking/day/users?ids=42", ""),
    (Method::GET, "/v1/users/42/activity", ""),
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

pub fn problem(detail: &str) -> Value {
    json!({"type": "/problems/misconfigured", "title": "The service is set up wrongly",
        "status": 500, "detail": detail})
}

/// Fails the test unless these requests are answered so, and `/healthz` says it too.
pub async fn is_told(client: &Client, requests: &[(Method, &str, &str)], detail: &str) {
    for (method, path, body) in requests {
        let json = [("content-type", "application/json")];
        let answer = client.send(method.clone(), path, *body, &json).await;
        let body = if *method == Method::HEAD {
            Value::Null
        } else {
            problem(detail)
        };
        answer.assert(500, body);
    }
    let health = client.get("/healthz").await;
    let told = (&health.body["status"], &health.body["problem"]);
    assert_eq!(
        told,
        (&json!("misconfigured"), &problem(detail)),
        "{}",
        health.text
    );
    assert_eq!(health.status, 503);
}

fn client(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> (Site, Client) {
    let site = Site::with(configure);
    let client = Client::new(test_support::Api::new(site.url()).with_key(SERVICE_KEY));
    (site, client)
}

#[test]
fn every_way_to_set_a_variable_wrongly_is_told() {
    // Whether there is a time zone only the platform knows.
    for (name, value, told) in cases().into_iter().filter(|case| case.0 != "TIMEZONE") {
        let mut vars =
            json!({"UPSTASH_REDIS_REST_URL": "http://x", "UPSTASH_REDIS_REST_TOKEN": "x"});
        vars[name] = value.clone();
        let read = Config::read(&Vars::new(vars.as_object().expect("a table").clone()));
        assert_eq!(
            read.err(),
            Some(Error::Misconfigured(name, told)),
            "{name} = {value}"
        );
    }
}

#[tokio::test]
async fn a_variable_that_is_not_valid_is_named_on_every_route() {
    let mut named = HashSet::new();
    let firsts = cases()
        .into_iter()
        .filter(|case| case.0 == "TIMEZONE" || named.insert(case.0));
    for (name, value, told) in firsts {
        let (_site, client) = client(|worker| worker.json(name, value));
        is_told(&client, &REQUESTS, &format!("{name}: {told}")).await;
    }
}

#[tokio::test]
async fn what_there_is_not_is_told_first() {
    let (_site, client) = client(|worker| worker.without("UPSTASH_REDIS_REST_URL"));
    client.get("/nowhere").await.assert_status(404);
    client.get("/v1/activity").await.assert_status(405);
}

#[tokio::test]
async fn a_missing_variable_leaves_no_settings_to_tell() {
    let (_site, client) = client(|worker| worker.without("UPSTASH_REDIS_REST_TOKEN"));
    let answer = client.get("/healthz").await;
    let problem = problem("UPSTASH_REDIS_REST_TOKEN: is required and not set");
    answer.assert(
        503,
        json!({"status": "misconfigured", "problem": problem, "configured": null, "warnings": []}),
    );
}

#[tokio::test]
async fn a_token_that_the_store_does_not_take_is_named() {
    let (_site, client) = client(|worker| worker.var("UPSTASH_REDIS_REST_TOKEN", "wrong"));
    let asking = &REQUESTS[..REQUESTS.len() - 2];
    is_told(
        &client,
        asking,
        "UPSTASH_REDIS_REST_TOKEN: the store does not take this token",
    )
    .await;
}

#[tokio::test]
async fn without_any_key_nobody_writes() {
    for missing in [json!(null), json!(""), json!(" , "), json!([])] {
        let (site, client) = client(|worker| worker.json("SERVICE_KEYS", missing));
        let writes = [0, 4, 6, 7, 8].map(|number| REQUESTS[number].clone());
        for (method, path, body) in writes {
            let json = [("content-type", "application/json")];
            let answer = client.send(method, path, body, &json).await;
            let detail =
                "Neither service keys nor user tokens are configured, so nobody may do this.";
            answer.assert(
                401,
                json!({"type": "/problems/unauthenticated", "title": "The caller is not known",
                    "status": 401, "detail": detail}),
            );
        }
        for path in ["/v1/ranking/day", "/v1/ranking/day/users/42"] {
            client.get(path).await.assert_status(200);
        }
        assert_eq!(site.store().keys(), [""; 0]);
    }
}

#[tokio::test]
async fn each_of_several_service_keys_may_write() {
    let (site, _) = client(|worker| worker.var("SERVICE_KEYS", "first, second"));
    for key in ["first", "second"] {
        let client = Client::new(test_support::Api::new(site.url()).with_key(key));
        client
            .put("/v1/users/42", &json!({}))
            .await
            .assert_status(200);
    }
    for key in ["first, second", "first,", "third"] {
        let client = Client::new(test_support::Api::new(site.url()).with_key(key));
        client
            .put("/v1/users/42", &json!({}))
            .await
            .assert_status(401);
    }
}
