//! Whatever a caller sends, it stays under our prefix.
//!
//! `STEPS=100000 SEED=7 cargo test --test api whatever` tries longer, or other requests.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use redis::Connection;
use test_support::{Gateway, Method, RedisOptions, RedisServer, Worker};

use super::requests::{Form, Request};
use super::strings::OTHERS;
use crate::client::Client;
use crate::raw;
use crate::site::patient;

/// Without STEPS as many requests as this, or as fit into so much time.
const STEPS: usize = 4_000;
const TIME: Duration = Duration::from_secs(25);
/// How often the others' keys are compared.
const COMPARED_EVERY: usize = 50;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().expect("a number"))
}

/// Every key that is not under our prefix: what it holds, as `DUMP` writes it, and when it expires.
type Others = BTreeMap<Vec<u8>, (Vec<u8>, i64)>;

fn others(redis: &mut Connection) -> Others {
    let keys: Vec<Vec<u8>> = redis::cmd("KEYS").arg("*").query(redis).expect("KEYS");
    let of_others = keys.into_iter().filter(|key| !key.starts_with(b"{mine:"));
    let held = |key: Vec<u8>| {
        let both = redis::pipe()
            .cmd("DUMP")
            .arg(&key)
            .cmd("PEXPIRETIME")
            .arg(&key)
            .query(redis);
        (key, both.expect("a key"))
    };
    of_others.map(held).collect()
}

/// Keys of all types, with and without an expiry, also under names that callers will send.
fn plant(redis: &mut Connection) {
    for (number, key) in OTHERS.iter().enumerate() {
        let (command, arguments): (_, &[&str]) = match number % 4 {
            0 => ("SET", &["somebody's"]),
            1 => ("ZADD", &["5", "42", "3", "ada"]),
            2 => ("HSET", &["42", "{}", "like:p", "1,2,3"]),
            _ => ("SADD", &["42", "ada"]),
        };
        redis::cmd(command)
            .arg(key)
            .arg(arguments)
            .exec(redis)
            .expect("planted");
        if number % 2 == 0 {
            // In the year 2100.
            redis::cmd("PEXPIREAT")
                .arg(key)
                .arg(4_102_444_800_000_i64)
                .exec(redis)
                .expect("expires");
        }
    }
}

/// Shows the latest requests when the test fails, wherever it does.
struct Sent {
    seed: u64,
    step: usize,
    latest: Vec<String>,
}

impl Drop for Sent {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { seed, step, latest } = self;
            eprintln!(
                "SEED={seed}, step {step}; the last requests:\n\n{}",
                latest.join("\n\n")
            );
        }
    }
}

/// Sends a request, and returns the status that is no fault of ours.
async fn send(client: &Client, worker: &Worker, request: &Request) -> u16 {
    let Request {
        method,
        path,
        headers,
        body,
        form,
    } = request;
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    let answer = match form {
        Form::Raw => {
            let status = raw::send_as_it_is(worker.url(), method.as_str(), path, &headers, body);
            // What is no HTTP at all is refused before it comes to us, or not answered.
            assert!(status.is_none_or(|status| status < 500), "{status:?}");
            return status.unwrap_or_default();
        }
        Form::Encoded => {
            worker
                .api()
                .send(method.clone(), path, body.clone(), &headers)
                .await
        }
        Form::Documented => {
            client
                .send(method.clone(), path, body.clone(), &headers)
                .await
        }
    };
    assert!(answer.status < 500, "{} {}", answer.status, answer.text);
    if answer.status >= 400 && *method != Method::HEAD {
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json")
        );
        assert_eq!(answer.body["status"], answer.status, "{}", answer.text);
    }
    answer.status
}

#[tokio::test]
async fn whatever_is_sent_nothing_is_refused_or_of_others_is_touched() {
    let acl = "user ours on >secret resetkeys ~{mine:* resetchannels +@all";
    let redis = RedisServer::spawn(RedisOptions::default().acl(acl));
    let gateway = Gateway::spawn(&redis.url_as("ours", "secret"));
    let worker = patient()
        .var("PREFIX", "mine")
        .store(&gateway.url())
        .start();
    let client = Client::new(worker.api());
    let mut redis = redis.connection();
    plant(&mut redis);
    let before = others(&mut redis);
    assert_eq!(before.len(), OTHERS.len());

    let steps = variable("STEPS");
    let seed = variable("SEED").unwrap_or(1);
    let mut random = Rng::with_seed(seed);
    let mut sent = Sent {
        seed,
        step: 0,
        latest: Vec::new(),
    };
    let mut seen: BTreeMap<u16, usize> = BTreeMap::new();
    let started = Instant::now();
    let last = steps.map_or(STEPS, |steps| steps as usize);
    while sent.step < last && (steps.is_some() || started.elapsed() < TIME) {
        sent.step += 1;
        let request = Request::random(&mut random);
        if sent.latest.len() == COMPARED_EVERY {
            sent.latest.remove(0);
        }
        sent.latest.push(format!("{request:?}"));
        let status = send(&client, &worker, &request).await;
        *seen.entry(status).or_default() += 1;
        let refused: Vec<redis::Value> = redis::cmd("ACL")
            .arg("LOG")
            .query(&mut redis)
            .expect("ACL LOG");
        assert!(refused.is_empty(), "{refused:?}");
        if sent.step.is_multiple_of(COMPARED_EVERY) || sent.step == last {
            assert_eq!(others(&mut redis), before, "a key of others was touched");
        }
    }
    assert_eq!(others(&mut redis), before, "a key of others was touched");
    println!("{} requests, answered {seen:?}", sent.step);
    let usual = [200, 204, 400, 404, 405, 413, 415, 422];
    for status in usual.iter().filter(|_| sent.step >= 1000) {
        assert!(seen.contains_key(status), "no {status} among {seen:?}");
    }
}
