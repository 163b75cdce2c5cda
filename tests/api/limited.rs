//! Who calls too often.
//!
//! Only wrangler has the platform's counters.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use test_support::{Answer, Api, Forwarder, Method, Value, json, until};

use crate::client::Client;
use crate::site::{Site, patient};
use crate::token::sign::{SECRET, claims, hs256};

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

/// So many are let through in a minute.
const LIMIT: usize = 3;

fn writes() -> Value {
    problem("This user writes too often.")
}

fn reads() -> Value {
    problem("Too many requests come from this address.")
}

fn problem(detail: &str) -> Value {
    json!({"type": "/problems/rate-limited", "title": "Too many requests", "status": 429,
        "detail": detail})
}

fn like(user: &str, target: usize) -> Value {
    json!({"user": user, "action": "like", "target": target.to_string()})
}

/// Fails the test unless an answer is 429, with all that belongs to it.
#[track_caller]
fn is_limited(answer: &Answer, body: Value) {
    answer.assert(429, body);
    let told = ["content-type", "retry-after", "cache-control"].map(|name| answer.header(name));
    let expected = ["application/problem+json", "60", "no-store"].map(Some);
    assert_eq!(told, expected, "{}", answer.request);
}

/// What a run finds that lies within one minute of the clock, with which the counters begin anew.
/// A run's number is its own.
async fn within_a_minute<T>(run: impl AsyncFn(usize) -> T) -> T {
    static RUNS: AtomicUsize = AtomicUsize::new(1);
    let minute = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.expect("after 1970").as_secs() / 60
    };
    until("a run within a minute", async || {
        let start = minute();
        let found = run(RUNS.fetch_add(1, Ordering::Relaxed)).await;
        (minute() == start).then_some(found)
    })
    .await
}

/// A service with its forwarder: two lines that every test here begins with.
fn start() -> (test_support::Wrangler, Forwarder) {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    let worker = patient().store(&forwarder.url()).var("JWT_SECRET", SECRET);
    let worker = worker.var("ALLOWED_ORIGINS", "https://community.example");
    let worker = worker.limit("WRITE_LIMIT", LIMIT as u32);
    let worker = worker.limit("READ_LIMIT", LIMIT as u32);
    (worker.start_wrangler(), forwarder)
}

#[tokio::test]
async fn a_user_who_writes_too_often_is_told_and_nothing_is_counted() {
    let (wrangler, forwarder) = start();
    let service = Client::new(wrangler.api());
    let of = |user: &str| Client::new(Api::new(wrangler.url()).with_key(&hs256(&claims(user))));
    let (user, within, over, others, asked) = within_a_minute(async |run| {
        let (user, other) = (format!("u{run}"), format!("v{run}"));
        let (client, mut within, mut over) = (of(&user), Vec::new(), Vec::new());
        for target in 0..LIMIT {
            within.push(client.post("/v1/activity", &like(&user, target)).await);
        }
        forwarder.reset();
        let profile = format!("/v1/users/{user}");
        for target in [0, LIMIT] {
            over.push(client.post("/v1/activity", &like(&user, target)).await);
        }
        over.push(
            client
                .post("/v1/activity", &json!([like(&user, LIMIT)]))
                .await,
        );
        over.push(client.put(&profile, &json!({"name": "Ada"})).await);
        over.push(client.delete(&profile).await);
        // Before what is sent is looked at.
        over.push(
            client
                .send(Method::POST, "/v1/activity?a=1", "{", JSON)
                .await,
        );
        let asked = forwarder.count();
        let others = [
            of(&other).post("/v1/activity", &like(&other, 0)).await,
            client.send(Method::POST, "/v1/activity", "{}", &[]).await,
        ];
        (user, within, over, others, asked)
    })
    .await;
    for answer in &within {
        assert_eq!(
            (answer.status, &answer.body["outcome"]),
            (200, &json!("counted"))
        );
    }
    for answer in &over {
        is_limited(answer, writes());
    }
    assert_eq!(asked, 0, "the store was asked");
    assert_eq!(others.map(|answer| answer.status), [200, 415]);

    // Services may go on, also for this user.
    let standing = service.get(&format!("/v1/ranking/all/users/{user}")).await;
    assert_eq!(standing.body["score"], 2 * LIMIT);
    for target in 0..4 * LIMIT {
        let answer = service.post("/v1/activity", &like(&user, target)).await;
        answer.assert_status(200);
    }
    let profile = service.get(&format!("/v1/users/{user}")).await;
    profile.assert_status(404);
}

/// What anybody may read, with one that is wrong.
const PUBLIC: [&str; 7] = [
    "/v1/ranking/day",
    "/v1/ranking/day/live",
    "/v1/ranking/day/users/42",
    "/v1/ranking/day/users?ids=42",
    "/v1/users/nobody",
    "/healthz",
    "/v1/ranking/day?limit=0",
];

#[tokio::test]
async fn an_address_from_which_too_much_comes_is_told_and_no_store_is_asked() {
    let (wrangler, forwarder) = start();
    let (service, nobody) = (
        Client::new(wrangler.api()),
        Client::new(Api::new(wrangler.url())),
    );
    let (within, over, asked, others) = within_a_minute(async |run| {
        let address = format!("203.0.113.{run}");
        let from = [("cf-connecting-ip", address.as_str())];
        let get = async |path: &str| nobody.send(Method::GET, path, "", &from).await;
        let (mut within, mut over) = (Vec::new(), Vec::new());
        // The board is in the cache from then on.
        for _ in 0..LIMIT {
            within.push(get("/v1/ranking/day").await);
        }
        forwarder.reset();
        for path in PUBLIC {
            over.push(get(path).await);
        }
        let asked = forwarder.count();
        let head = nobody
            .send(Method::HEAD, "/v1/ranking/day", "", &from)
            .await;
        assert!(head.status == 429 && head.text.is_empty() || head.status == 200);
        let mut others = vec![
            (get("/").await, 200),
            (get("/openapi.json").await, 200),
            (get("/nowhere").await, 404),
            (get("/v1/activity").await, 405),
        ];
        for path in PUBLIC {
            // Nothing is live here.
            let status = if path.contains("nobody") || path.contains("live") {
                404
            } else if path.contains("limit") {
                400
            } else {
                200
            };
            others.push((service.send(Method::GET, path, "", &from).await, status));
        }
        let other = format!("198.51.100.{run}");
        let from = [("cf-connecting-ip", other.as_str())];
        others.push((nobody.send(Method::GET, "/healthz", "", &from).await, 200));
        (within, over, asked, others)
    })
    .await;
    for answer in &within {
        answer.assert_status(200);
    }
    for answer in &over {
        is_limited(answer, reads());
    }
    assert_eq!(asked, 0, "the store was asked");
    for (answer, status) in &others {
        answer.assert_status(*status);
    }
}

#[tokio::test]
async fn whose_keys_and_tokens_are_refused_is_slowed_down() {
    let (wrangler, _forwarder) = start();
    let (within, over, others) = within_a_minute(async |run| {
        let network = format!("2001:db8:0:{run}");
        let (one, another) = (format!("{network}::1"), format!("{network}:ffff::2"));
        let expired = hs256(&json!({"sub": "42", "exp": 1}));
        let send = async |key: &str, address: &str, user: &str| {
            let headers = [JSON[0], ("cf-connecting-ip", address)];
            let client = Client::new(Api::new(wrangler.url()).with_key(key));
            let body = like(user, run).to_string();
            client
                .send(Method::POST, "/v1/activity", body, &headers)
                .await
        };
        // From other addresses of one network as well.
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
        // Who shares the address with somebody who guesses is not kept out.
        let user = format!("w{run}");
        let others = [
            send(test_support::SERVICE_KEY, &one, "42").await,
            send(&hs256(&claims(user.as_str())), &one, &user).await,
        ];
        (within, over, others)
    })
    .await;
    for answer in &within {
        answer.assert_status(401);
    }
    for answer in &over {
        is_limited(answer, reads());
        assert_eq!(answer.header("www-authenticate"), None);
    }
    for answer in &others {
        answer.assert_status(200);
    }
}

#[tokio::test]
async fn counters_that_fail_stop_nobody() {
    // What the platform would hand over is no counter.
    let site = Site::with(|worker| {
        let worker = worker.var("JWT_SECRET", SECRET);
        worker
            .json("WRITE_LIMIT", json!({}))
            .json("READ_LIMIT", json!([]))
    });
    let user = Client::new(Api::new(site.url()).with_key(&hs256(&claims("42"))));
    user.post("/v1/activity", &like("42", 0))
        .await
        .assert_status(200);
    let from = [("cf-connecting-ip", "203.0.113.7")];
    let read = site
        .without_key()
        .send(Method::GET, "/v1/ranking/day", "", &from)
        .await;
    read.assert_status(200);
    // What is logged may be read a moment after the answer.
    let lines = until("both warnings", async || {
        let lines = site.log_lines();
        (lines.len() >= 2).then_some(lines)
    })
    .await;
    let told: Vec<_> = lines
        .iter()
        .map(|line| (&line["level"], &line["route"]))
        .collect();
    let (warn, write, read) = (
        json!("warn"),
        json!("/v1/activity"),
        json!("/v1/ranking/{period}"),
    );
    assert_eq!(told, [(&warn, &write), (&warn, &read)]);
    for (line, name) in lines.iter().zip(["WRITE_LIMIT: ", "READ_LIMIT: "]) {
        assert!(
            line["cause"]
                .as_str()
                .is_some_and(|cause| cause.starts_with(name)),
            "{line}"
        );
    }
}
