//! A profile that changes all the time and is read through two Workers. A replica may serve these
//! reads, but none that sees an earlier state than the requests of its isolate before.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use test_support::{Answer, Method, Value, json};

use crate::run::Run;
use crate::service::{Received, lock};

/// The time between writes, and between remote reads.
const INTERVAL: Duration = Duration::from_millis(50);

/// A user whose profile is written by one client. Its name is the number of the write.
#[derive(Clone, Copy, Default)]
struct Version {
    user: u64,
    /// The last write that was sent.
    sent: u64,
    /// The last write that was acknowledged.
    written: u64,
    /// The last write of the user before.
    sent_before: u64,
}

impl Version {
    fn path(self) -> String {
        format!("/v1/users/profile-{}", self.user)
    }
}

/// Writes and reads profiles until the run is over.
pub async fn run(run: &Run) {
    let version = Mutex::new(Version::default());
    tokio::join!(write(run, &version), read_remotely(run, &version));
}

/// Writes a profile and reads it, again and again.
async fn write(run: &Run, shared: &Mutex<Version>) {
    let mut ticks = tokio::time::interval(INTERVAL);
    while !run.is_over() {
        ticks.tick().await;
        let start = Instant::now();
        let version = {
            let mut version = lock(shared);
            version.sent += 1;
            *version
        };
        let body = json!({"name": version.sent.to_string()}).to_string();
        let is_written = |response: &Answer| response.status == 200;
        let shows_fault = |response: &Answer| !is_written(response);
        let received = run
            .send(Method::PUT, &version.path(), body, shows_fault)
            .await;
        match received {
            Received::Response(response) if is_written(&response) => {}
            Received::Response(response) if response.status != 503 => {
                let text = format!("{}: {} {}", version.path(), response.status, response.text);
                return run.metrics.record_unexpected(text);
            }
            // The write may arrive at any later time, so the next one is of another user.
            Received::Response(_) | Received::Nothing | Received::Aborted => {
                let user = version.user + 1;
                *lock(shared) = Version {
                    user,
                    sent_before: version.sent,
                    ..Version::default()
                };
                continue;
            }
        }
        lock(shared).written = version.sent;
        let result = match run
            .send(Method::GET, &version.path(), String::new(), |response| {
                response.status == 503
            })
            .await
        {
            Received::Nothing => "unanswered",
            Received::Aborted => "aborted",
            Received::Response(response) if response.status == 503 => "unavailable",
            Received::Response(response) => match read_version(&response) {
                Some(found) if found == version.sent => "fresh",
                // Another isolate knows nothing of the write.
                Some(_) if run.service.was_down(start, Instant::now()) => "stale",
                _ => {
                    let text = format!("{} is not {}", response.text, version.sent);
                    return run.metrics.record_unexpected(text);
                }
            },
        };
        run.metrics.record_read("own profile", result);
    }
}

/// Reads the profile in the other location, and histories between.
async fn read_remotely(run: &Run, shared: &Mutex<Version>) {
    let mut ticks = tokio::time::interval(INTERVAL);
    let (mut user, mut newest) = (0, 0);
    let mut number = 0;
    while !run.is_over() {
        ticks.tick().await;
        let before = *lock(shared);
        if before.user != user {
            (user, newest) = (before.user, 0);
        }
        let response = run.read_remotely(&before.path()).await;
        let result = match &response {
            None => "unanswered",
            Some(response) if response.status == 503 => "unavailable",
            Some(response) => match read_version(response) {
                Some(found) if (newest..=lock(shared).max_sent(before)).contains(&found) => {
                    newest = found;
                    if found < before.written {
                        "stale"
                    } else {
                        "fresh"
                    }
                }
                _ => {
                    let text = format!("{} after {newest} of {}", response.text, before.sent);
                    return run.metrics.record_unexpected(text);
                }
            },
        };
        run.metrics.record_read("remote profile", result);
        number += 1;
        read_history(run, number % 500).await;
    }
}

impl Version {
    /// Returns the last write of the user of an earlier version that may have been sent.
    fn max_sent(self, earlier: Self) -> u64 {
        match self.user - earlier.user {
            0 => self.sent,
            1 => self.sent_before,
            // The read was slower than all writes of another user.
            _ => u64::MAX,
        }
    }
}

/// Returns the number of the write that a profile shows, 0 without one.
fn read_version(response: &Answer) -> Option<u64> {
    match response.status {
        404 => Some(0),
        200 => response.body["name"].as_str()?.parse().ok(),
        _ => None,
    }
}

async fn read_history(run: &Run, user: u64) {
    let path = format!("/v1/users/u{user}/activity");
    let response = run.read_remotely(&path).await;
    let result = match &response {
        None => "unanswered",
        Some(response) if response.status == 503 => "unavailable",
        Some(response) if is_complete(response) => "complete",
        Some(response) => {
            let text = format!("{path}: {} {}", response.status, response.text);
            return run.metrics.record_unexpected(text);
        }
    };
    run.metrics.record_read("histories", result);
}

/// Returns whether a history has all days, each with the points of its actions.
fn is_complete(response: &Answer) -> bool {
    let days = response.body["days"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let adds_up = |day: &Value| {
        let actions = day["actions"].as_object();
        let actions = actions.into_iter().flatten();
        let points: Option<i64> = actions.map(|(_, action)| action["points"].as_i64()).sum();
        points.is_some() && points == day["points"].as_i64()
    };
    response.status == 200 && days.len() == 31 && days.iter().all(adds_up)
}
