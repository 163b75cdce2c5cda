//! Random requests touch no Redis key outside the prefix.
//!
//! `STEPS=100000 SEED=7 cargo test --test api random_requests` sends more requests, or other ones.

use std::collections::BTreeMap;

use fastrand::Rng;
use redis::Connection;
use test_support::{Api, Method, SERVICE_KEY, depth};

use super::requests::{Form, Request};
use super::strings::FOREIGN_KEYS;
use crate::app::TestApp;
use crate::raw;

/// The number of requests between two comparisons of the foreign keys.
const COMPARE_EVERY: usize = 50;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().expect("a number"))
}

/// The `DUMP` value and the expiry of every key outside the prefix.
type ForeignKeys = BTreeMap<Vec<u8>, (Vec<u8>, i64)>;

fn foreign_keys(redis: &mut Connection) -> ForeignKeys {
    let keys: Vec<Vec<u8>> = redis::cmd("KEYS").arg("*").query(redis).expect("KEYS");
    let foreign = keys.into_iter().filter(|key| !key.starts_with(b"{mine:"));
    let read = |key: Vec<u8>| {
        let mut commands = redis::pipe();
        commands.cmd("DUMP").arg(&key).cmd("PEXPIRETIME").arg(&key);
        let value_and_expiry = commands.query(redis);
        (key, value_and_expiry.expect("a key"))
    };
    foreign.map(read).collect()
}

/// Writes foreign keys of all types, with and without an expiry. Random requests contain their
/// names.
fn write_foreign_keys(redis: &mut Connection) {
    for (number, key) in FOREIGN_KEYS.iter().enumerate() {
        let (command, arguments): (_, &[&str]) = match number % 4 {
            0 => ("SET", &["foreign"]),
            1 => ("ZADD", &["5", "42", "3", "ada"]),
            2 => ("HSET", &["42", "{}", "like:p", "1,2,3"]),
            _ => ("SADD", &["42", "ada"]),
        };
        let mut write = redis::cmd(command);
        write.arg(key).arg(arguments).exec(redis).expect("written");
        if number % 2 == 0 {
            let year_2100 = 4_102_444_800_000_i64;
            let mut expire = redis::cmd("PEXPIREAT");
            expire.arg(key).arg(year_2100).exec(redis).expect("expires");
        }
    }
}

/// The latest requests. A panic anywhere in the test prints them.
struct RequestLog {
    seed: u64,
    step: usize,
    latest: Vec<String>,
}

impl Drop for RequestLog {
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

/// Sends a request, asserts that it causes no server error, and returns the status. Returns 0 where
/// the connection was closed instead.
async fn send(app: &TestApp, request: &Request) -> u16 {
    let Request {
        method,
        path,
        headers,
        body,
        form,
    } = request;
    let headers = headers.iter().map(|(name, value)| (*name, &**value));
    let headers: Vec<(&str, &str)> = headers.collect();
    let response = match form {
        Form::Raw => {
            let status = raw::send_unencoded(app.url(), method.as_str(), path, &headers, body);
            // workerd closes the connection, or refuses the request, if it is not HTTP.
            assert!(status.is_none_or(|status| status < 500), "{status:?}");
            return status.unwrap_or_default();
        }
        Form::Encoded => {
            let api = Api::new(app.url()).with_key(SERVICE_KEY);
            let sent = api.send(method.clone(), path, body.clone(), &headers);
            sent.await
        }
        Form::Documented => {
            let sent = app.send(method.clone(), path, body.clone(), &headers);
            sent.await
        }
    };
    let (status, text) = (response.status, &response.text);
    assert!(status < 500, "{status} {text}");
    if status >= 400 && *method != Method::HEAD {
        let media_type = response.header("content-type");
        assert_eq!(media_type, Some("application/problem+json"));
        assert_eq!(response.body["status"], status, "{text}");
    }
    status
}

/// The Redis user may touch the prefix only, and the ACL log stays empty. No request causes a server
/// error.
#[tokio::test]
async fn random_requests_never_leave_the_key_prefix() {
    let (redis, _gateway, app) = super::start("mine");
    let mut redis = redis.connection();
    write_foreign_keys(&mut redis);
    let before = foreign_keys(&mut redis);
    assert_eq!(before.len(), FOREIGN_KEYS.len());

    let steps = variable("STEPS").unwrap_or(depth(1_000, 20_000));
    let seed = variable("SEED").unwrap_or(1);
    let mut random = Rng::with_seed(seed);
    let mut sent = RequestLog {
        seed,
        step: 0,
        latest: Vec::new(),
    };
    let mut seen: BTreeMap<u16, usize> = BTreeMap::new();
    for step in 1..=steps {
        sent.step = step as usize;
        let request = Request::random(&mut random);
        if sent.latest.len() == COMPARE_EVERY {
            sent.latest.remove(0);
        }
        sent.latest.push(format!("{request:?}"));
        let status = send(&app, &request).await;
        *seen.entry(status).or_default() += 1;
        let log = redis::cmd("ACL").arg("LOG").query(&mut redis);
        let log: Vec<redis::Value> = log.expect("ACL LOG");
        assert!(log.is_empty(), "{log:?}");
        if sent.step.is_multiple_of(COMPARE_EVERY) {
            let found = foreign_keys(&mut redis);
            assert_eq!(found, before, "a foreign key was changed");
        }
    }
    let found = foreign_keys(&mut redis);
    assert_eq!(found, before, "a foreign key was changed");
    println!("{} requests, by status: {seen:?}", sent.step);
    let common = [200, 204, 400, 404, 405, 413, 415, 422];
    for status in common.iter().filter(|_| sent.step >= 1000) {
        assert!(seen.contains_key(status), "no {status} among {seen:?}");
    }
}
