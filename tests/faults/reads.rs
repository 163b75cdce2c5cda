//! A steady load of reads of boards and standings, and cron.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use test_support::reference::{PERIODS, now};
use test_support::{Answer, Method};
use tokio::task::JoinSet;

use crate::run::Run;
use crate::service::Received;

/// Twenty reads per second.
const INTERVAL: Duration = Duration::from_millis(50);

/// The maximum number of concurrent reads.
const CONCURRENCY: usize = 100;

/// The interval of snapshots and archive; in production cron runs every five minutes.
const CRON_INTERVAL: Duration = Duration::from_secs(30);

/// The tolerance for clock differences and response times, in milliseconds.
const SLACK: i64 = 1_000;

/// Reads until the run is over.
pub async fn read(run: &Arc<Run>, seed: u64) {
    let mut random = Rng::with_seed(seed);
    let mut ticks = tokio::time::interval(INTERVAL);
    let mut in_progress = JoinSet::new();
    while !run.is_over() {
        ticks.tick().await;
        if in_progress.len() >= CONCURRENCY {
            // The machine is too slow for the load.
            in_progress.join_next().await;
        }
        let period = PERIODS[random.usize(..PERIODS.len())].0;
        let (resource, path) = if random.bool() {
            let group = ["", "", "&group=eu"][random.usize(..3)];
            ("boards", format!("/v1/ranking/{period}?limit=30{group}"))
        } else {
            let user = random.u32(..500);
            ("standings", format!("/v1/ranking/{period}/users/u{user}"))
        };
        let run = Arc::clone(run);
        in_progress.spawn(async move { read_one(&run, resource, &path).await });
        while let Some(done) = in_progress.try_join_next() {
            done.expect("no read panics");
        }
    }
    while let Some(done) = in_progress.join_next().await {
        done.expect("no read panics");
    }
}

async fn read_one(run: &Run, resource: &'static str, path: &str) {
    let shows_fault =
        |response: &Answer| response.status != 200 || !response.body["stale"].is_null();
    let received = run
        .send(Method::GET, path, String::new(), shows_fault)
        .await;
    let result = match &received {
        Received::Nothing => "unanswered",
        Received::Aborted => "aborted",
        Received::Response(response) if response.status == 503 => "unavailable",
        Received::Response(response) => match freshness(response) {
            Some(result) => result,
            None => {
                return run
                    .metrics
                    .record_unexpected(format!("{path}: {} {}", response.status, response.text));
            }
        },
    };
    run.metrics.record_read(resource, result);
}

/// Returns whether a complete response is fresh, or stale with a valid age; `None` otherwise.
fn freshness(response: &Answer) -> Option<&'static str> {
    let is_complete = response.status == 200 && response.body["total"].is_u64();
    let (stale, as_of) = (&response.body["stale"], &response.body["as_of"]);
    if is_complete && stale.is_null() && as_of.is_null() {
        return Some("fresh");
    }
    let as_of: jiff::Timestamp = as_of.as_str()?.parse().ok()?;
    let age: i64 = response.header("age")?.parse().ok()?;
    let since = now() - as_of.as_millisecond();
    let is_age_valid = since >= -SLACK && (since / 1000 - age).abs() <= 11;
    (is_complete && *stale == true && is_age_valid).then_some("stale")
}

/// Triggers cron until the run is over.
pub async fn cron(run: &Run) {
    let mut ticks = tokio::time::interval(CRON_INTERVAL);
    while !run.is_over() {
        tokio::select! {
            _ = ticks.tick() => {
                let api = run.service.api();
                let request = api.try_send(Method::GET, "/cdn-cgi/local/scheduled", "", &[]);
                // May fail because of a fault.
                let _ = tokio::time::timeout(CRON_INTERVAL, request).await;
            }
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
        }
    }
}
