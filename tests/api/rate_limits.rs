//! Rate limits by user and by client address.
//!
//! Plain workerd has no rate limits: these tests run in Miniflare.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use futures::future::join_all;
use test_support::{Answer, Forwarder, Method, Value, json, until};

use crate::app::TestApp;
use crate::bodies;
use crate::client::JSON;
use crate::problem::problem;
use crate::single_flight::together;
use crate::token::sign::{SECRET, claims, hs256};

/// Requests that each limiter admits in a minute.
const LIMIT: usize = 3;

const TOO_MANY_WRITES: &str = "This user exceeded the write limit.";
const TOO_MANY_READS: &str = "This address exceeded the read limit.";

fn like(user: &str, target: usize) -> Value {
    bodies::like(user, &target.to_string())
}

/// Asserts that a response is 429 with this detail and the headers of a rate limit.
#[track_caller]
fn assert_limited(response: &Answer, detail: &str) {
    response.assert(429, problem("rate-limited", detail));
    let headers =
        ["content-type", "retry-after", "cache-control"].map(|name| response.header(name));
    let expected = ["application/problem+json", "60", "no-store"].map(Some);
    assert_eq!(headers, expected, "{}", response.request);
}

/// Repeats `run` until it starts and ends in the same minute, since limiters reset every minute.
///
/// Every run receives a number of its own. Returns the result of the last run.
async fn within_a_minute<T>(run: impl AsyncFn(usize) -> T) -> T {
    static RUNS: AtomicUsize = AtomicUsize::new(1);
    let minute = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.expect("after 1970").as_secs() / 60
    };
    until("a run within a minute", async || {
        let start = minute();
        let result = run(RUNS.fetch_add(1, Ordering::Relaxed)).await;
        (minute() == start).then_some(result)
    })
    .await
}

/// Starts a service with both limits behind a forwarder.
fn start() -> (TestApp, Forwarder) {
    TestApp::behind_forwarder(|worker| {
        let worker = worker.var("JWT_SECRET", SECRET);
        let worker = worker.var("ALLOWED_ORIGINS", "https://community.example");
        let worker = worker.limit("WRITE_LIMIT", LIMIT as u32);
        worker.limit("READ_LIMIT", LIMIT as u32)
    })
}

#[tokio::test]
async fn user_over_write_limit_gets_429() {
    let (service, forwarder) = start();
    let client_of = |user: &str| service.with_key(&hs256(&claims(user)));
    let (user, within, over, others, store_requests) = within_a_minute(async |run| {
        let (user, other) = (format!("u{run}"), format!("v{run}"));
        let (client, mut within, mut over) = (client_of(&user), Vec::new(), Vec::new());
        for target in 0..LIMIT {
            within.push(client.send_activity(like(&user, target)).await);
        }
        forwarder.reset();
        let profile = format!("/v1/users/{user}");
        let new = like(&user, LIMIT);
        for body in [like(&user, 0), new.clone(), json!([new])] {
            over.push(client.send_activity(body).await);
        }
        over.push(client.put(&profile, &json!({"name": "Ada"})).await);
        over.push(client.delete(&profile).await);
        // The limit applies before query and body are checked.
        let path = "/v1/activity?a=1";
        over.push(client.send(Method::POST, path, "{", JSON).await);
        let store_requests = forwarder.count();
        let others = [
            client_of(&other).send_activity(like(&other, 0)).await,
            client.send(Method::POST, "/v1/activity", "{}", &[]).await,
        ];
        (user, within, over, others, store_requests)
    })
    .await;
    for response in &within {
        assert_eq!(response.assert_status(200).body["outcome"], "counted");
    }
    for response in &over {
        assert_limited(response, TOO_MANY_WRITES);
    }
    assert_eq!(store_requests, 0);
    assert_eq!(others.map(|response| response.status), [200, 415]);

    // Service keys are not limited, also for this user.
    let standing = service.read(&format!("/v1/ranking/all/users/{user}")).await;
    assert_eq!(standing["score"], 2 * LIMIT);
    for target in 0..4 * LIMIT {
        let response = service.send_activity(like(&user, target)).await;
        response.assert_status(200);
    }
    let profile = service.get(&format!("/v1/users/{user}")).await;
    profile.assert_status(404);
}

/// An array may exceed the limit by its length, and is refused whole after that.
#[tokio::test]
async fn array_items_count_against_write_limit() {
    let (service, _forwarder) = start();
    let responses = within_a_minute(async |run| {
        let user = format!("w{run}");
        let client = service.with_key(&hs256(&claims(user.as_str())));
        let array = |first| -> Vec<Value> {
            (first..first + LIMIT - 1)
                .map(|target| like(&user, target))
                .collect()
        };
        [
            client.send_activity(json!(array(0))).await,
            client.send_activity(json!(array(100))).await,
            client.send_activity(json!(array(200))).await,
            client.send_activity(like(&user, 300)).await,
        ]
    })
    .await;
    let [first, second, third, fourth] = &responses;
    for response in [first, second] {
        let counted = json!({"outcome": "counted", "points": 2});
        response.assert(200, json!({"results": vec![counted; LIMIT - 1]}));
    }
    assert_limited(third, TOO_MANY_WRITES);
    assert_limited(fourth, TOO_MANY_WRITES);
}

/// Public reads, one of them invalid.
const PUBLIC: [&str; 7] = [
    "/v1/ranking/day",
    "/v1/ranking/day/live",
    "/v1/ranking/day/users/42",
    "/v1/ranking/day/users?ids=42",
    "/v1/users/unknown",
    "/healthz",
    "/v1/ranking/day?limit=0",
];

#[tokio::test]
async fn address_over_read_limit_gets_429() {
    let (service, forwarder) = start();
    let anonymous = service.without_key();
    let (within, over, store_requests, others) = within_a_minute(async |run| {
        let address = format!("203.0.113.{run}");
        let from = [("cf-connecting-ip", address.as_str())];
        let send = async |method, path: &str| anonymous.send(method, path, "", &from).await;
        let get = async |path: &str| send(Method::GET, path).await;
        let (mut within, mut over) = (Vec::new(), Vec::new());
        // These reads also put the board into the cache.
        for _ in 0..LIMIT {
            within.push(get("/v1/ranking/day").await);
        }
        forwarder.reset();
        for path in PUBLIC {
            over.push(get(path).await);
        }
        let store_requests = forwarder.count();
        let head = send(Method::HEAD, "/v1/ranking/day").await;
        assert!(head.status == 429 && head.text.is_empty() || head.status == 200);
        let mut others = vec![
            (get("/").await, 200),
            (get("/openapi.json").await, 200),
            (get("/nowhere").await, 404),
            (get("/v1/activity").await, 405),
        ];
        for path in PUBLIC {
            // Without the binding LIVE the live route is 404.
            let status = match path {
                "/v1/users/unknown" | "/v1/ranking/day/live" => 404,
                "/v1/ranking/day?limit=0" => 400,
                _ => 200,
            };
            others.push((service.send(Method::GET, path, "", &from).await, status));
        }
        let other = format!("198.51.100.{run}");
        let from = [("cf-connecting-ip", other.as_str())];
        let health = anonymous.send(Method::GET, "/healthz", "", &from).await;
        others.push((health, 200));
        (within, over, store_requests, others)
    })
    .await;
    for response in &within {
        response.assert_status(200);
    }
    for response in &over {
        assert_limited(response, TOO_MANY_READS);
    }
    assert_eq!(store_requests, 0);
    for (response, status) in &others {
        response.assert_status(*status);
    }
}

/// Readers who share one response count against the limit, each for itself.
#[tokio::test]
async fn crowd_over_read_limit_gets_429() {
    let (service, forwarder) = start();
    let anonymous = service.without_key();
    service.get("/v1/ranking/week").await.assert_status(200);
    let answers = within_a_minute(async |run| {
        let address = format!("192.0.2.{run}");
        let from = [("cf-connecting-ip", address.as_str())];
        let path = format!("/v1/ranking/week?limit={run}");
        let read = |_| anonymous.send(Method::GET, &path, "", &from);
        let reads = join_all((0..4 * LIMIT).map(read));
        together(service.worker.url(), &forwarder, reads).await
    })
    .await;
    let (within, over): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!(within.len(), LIMIT);
    for answer in over {
        assert_limited(answer, TOO_MANY_READS);
    }
}

#[tokio::test]
async fn failed_authentication_is_rate_limited() {
    let (service, _forwarder) = start();
    let (within, over, others) = within_a_minute(async |run| {
        let network = format!("2001:db8:0:{run}");
        let (one, another) = (format!("{network}::1"), format!("{network}:ffff::2"));
        let expired = hs256(&json!({"sub": "42", "exp": 1}));
        let send = async |key: &str, address: &str, user: &str| {
            let headers = [JSON[0], ("cf-connecting-ip", address)];
            let (client, body) = (service.with_key(key), like(user, run).to_string());
            let sent = client.send(Method::POST, "/v1/activity", body, &headers);
            sent.await
        };
        // Addresses of one IPv6 network share a limit.
        let within = [
            send("a guess", &one, "42").await,
            send(&expired, &another, "42").await,
            send("another guess", &one, "42").await,
        ];
        let over = [
            send("a guess", &one, "42").await,
            send(&expired, &another, "42").await,
            send("", &one, "42").await,
        ];
        // Valid credentials from the limited address are still admitted.
        let user = format!("w{run}");
        let others = [
            send(test_support::SERVICE_KEY, &one, "42").await,
            send(&hs256(&claims(user.as_str())), &one, &user).await,
        ];
        (within, over, others)
    })
    .await;
    for response in &within {
        response.assert_status(401);
    }
    for response in &over {
        assert_limited(response, TOO_MANY_READS);
        assert_eq!(response.header("www-authenticate"), None);
    }
    for response in &others {
        response.assert_status(200);
    }
}

#[tokio::test]
async fn failing_rate_limiter_admits_requests() {
    // These values are no rate limit bindings, so calling them fails.
    let app = TestApp::with(|worker| {
        let worker = worker.var("JWT_SECRET", SECRET);
        let worker = worker.json("WRITE_LIMIT", json!({}));
        worker.json("READ_LIMIT", json!([]))
    });
    let user = app.with_key(&hs256(&claims("42")));
    user.counted(like("42", 0)).await;
    let (anonymous, path) = (app.without_key(), "/v1/ranking/day");
    let from = [("cf-connecting-ip", "203.0.113.7")];
    let read = anonymous.send(Method::GET, path, "", &from).await;
    read.assert_status(200);
    // The log may arrive after the response.
    let lines = until("both warnings", async || {
        let lines = app.log_lines();
        (lines.len() >= 2).then_some(lines)
    })
    .await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    let expected = [
        ("/v1/activity", "WRITE_LIMIT: "),
        ("/v1/ranking/{period}", "READ_LIMIT: "),
    ];
    for (line, (route, cause)) in lines.iter().zip(expected) {
        assert_eq!(line["level"], "warn");
        assert_eq!(line["route"], route);
        let found = line["cause"].as_str().unwrap_or_default();
        assert!(found.starts_with(cause), "{line}");
    }
}
