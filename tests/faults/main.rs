//! A steady load of activities and reads while Redis, the gateway and workerd are killed, hang and
//! send invalid responses at random, the store refuses writes, a replica lags and clients disconnect,
//! all of them real. No activity may be lost or counted twice, and responses must arrive in time.
//!
//! `SECONDS=600 SEED=1 cargo test --test faults` sets duration and seed; `make faults` does that too.

// Tests fail by panicking, and run on the host, where std has clocks.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods
)]

mod compare;
mod in_flight;
mod injection;
mod load;
mod metrics;
mod profiles;
mod reads;
mod report;
mod run;
mod service;
mod tracker;
mod writes;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use compare::Comparison;
use load::Load;
use report::Report;
use run::Run;
use service::Service;
use test_support::reference::now;
use test_support::{depth, scaled, until};

/// The run must include one effective fault per this many seconds: 60 in ten minutes.
const SECONDS_PER_FAULT: u64 = 10;

/// The time the queue has to drain. A message that has failed often waits for minutes.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(420);

/// The number of aborted requests from which on their share that counted says something.
const MIN_ABORTED: u64 = 10;

/// The share of aborted requests that must count before they are sent again. An activity that the Worker
/// queues counts later. If it did not finish aborted requests, about a third would have counted.
const MIN_COUNTED: f64 = 0.6;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Writes to stderr directly, because the test harness hides the output of a test that passes.
fn log(text: &str) {
    writeln!(std::io::stderr(), "{text}").expect("stderr");
}

/// Waits until all operations have counted and no message is queued.
async fn drain(run: &Run, operations: usize) {
    let begin = Instant::now();
    while run.tracker.counted_total() < operations || !run.tracker.is_drained() {
        let queue = run.tracker.queue_figures();
        let counted = run.tracker.counted_total();
        assert!(
            begin.elapsed() < scaled(DRAIN_TIMEOUT),
            "not drained: {counted} of {operations} operations counted, {queue:?}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until reads come from the store: after the last fault, the circuit of visitors may still be
/// open.
async fn wait_for_store(run: &Run) {
    until("the store", async || {
        let response = run.service.get("/v1/ranking/all/users/u0").await?;
        (response.status == 200 && response.body["stale"].is_null()).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn activity_counts_once_under_random_faults() {
    let (seconds, seed) = (number("SECONDS", depth(12, 60)), number("SEED", 1));
    let rate = number("RATE", depth(40, 200));
    let min_faults = usize::try_from(seconds / SECONDS_PER_FAULT).expect("a number of faults");
    let run = Arc::new(Run::new(Service::start().await));
    log(&format!(
        "fault run: SEED={seed}, {seconds} s, at least {min_faults} effective faults"
    ));

    let begin = Instant::now();
    // Separate tasks, because the injection blocks while it ends and starts processes.
    let shared = Arc::clone(&run);
    let observer = tokio::spawn(async move { run::watch_log(&shared).await });
    let shared = Arc::clone(&run);
    let reads =
        tokio::spawn(async move { tokio::join!(reads::read(&shared, seed), reads::cron(&shared)) });
    let shared = Arc::clone(&run);
    let profiles = tokio::spawn(async move { profiles::run(&shared).await });
    let shared = Arc::clone(&run);
    let writes =
        tokio::spawn(async move { writes::send(&shared, Load::new(seed, now(), rate)).await });
    let duration = Duration::from_secs(seconds);
    let injected = injection::inject(&run, seed, duration, min_faults).await;
    let (duration, ended) = (begin.elapsed(), Instant::now());
    let load = tokio::time::timeout(scaled(DRAIN_TIMEOUT), writes).await;
    let load = load
        .expect("all requests have responses")
        .expect("no task panics");
    reads.await.expect("no task panics");
    profiles.await.expect("no task panics");
    drain(&run, load.operations.len()).await;
    let drained = ended.elapsed();
    observer.abort();
    wait_for_store(&run).await;

    let model = compare::model(&load.operations);
    let damaged = run.metrics.counts().damaged;
    let (mut store, api) = (run.service.store(), run.service.api());
    let comparison = Comparison::run(&model, damaged, &mut store, &api).await;
    let report = Report {
        seed,
        duration,
        drained,
        load,
        counts: run.metrics.counts(),
        queue: run.tracker.queue_figures(),
        injected,
        faults: run.in_flight.faults(),
        comparison,
    };
    log(&report.to_string());
    let effective = report.effective_faults();
    assert!(
        effective >= min_faults,
        "{effective} effective faults, not {min_faults}"
    );
    assert_eq!(report.comparison.differences, [""; 0]);
    assert_eq!(report.counts.unexpected, [""; 0]);
    let share_counted = report.counts.share_of_aborted_counted();
    assert!(
        report.counts.aborted < MIN_ABORTED || share_counted >= MIN_COUNTED,
        "{share_counted} of the aborted requests counted"
    );
    let in_time = report.counts.share_in_time();
    assert!(in_time >= 0.999, "{in_time} of all responses in time");
}
