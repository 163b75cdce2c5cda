//! Nothing lost, nothing doubled, nobody made to wait: a steady load of activities and reads while
//! Redis, the gateway and workerd are killed, hang and answer nonsense at random, all of them real.
//!
//! `SECONDS=600 SEED=1 cargo test --test faults` runs it longer, or otherwise; `make faults` does.

// Tests fail by panicking, and run on the host, where std has clocks.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods
)]

mod compare;
mod figures;
mod flights;
mod ledger;
mod load;
mod reads;
mod report;
mod run;
mod service;
mod strikes;
mod watch;
mod writes;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use compare::Compared;
use figures::quantile;
use load::Load;
use report::Report;
use run::Run;
use service::Service;
use test_support::reference::now;
use test_support::root;

/// One fault that hit requests in flight for so many seconds: 60 in ten minutes.
const SECONDS_A_FAULT: u64 = 10;

/// How long the queue may take in the end: a message that has failed often waits for minutes.
const DRAINED: Duration = Duration::from_secs(420);

/// How late a task may be woken, but for one in a thousand, if the service is to be in time.
const MOST_LAG: Duration = Duration::from_millis(100);

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Past the harness, which shows nothing of a test that succeeds.
fn say(text: &str) {
    writeln!(std::io::stderr(), "{text}").expect("stderr");
}

/// How many processes wanted to run, on average of the last minute.
fn load_average() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split(' ').next().and_then(|text| text.parse().ok());
    first.unwrap_or_default()
}

/// Tells how far it is, every ten seconds.
async fn progress(run: &Run) {
    let begin = Instant::now();
    loop {
        tokio::time::sleep(Duration::from_secs(10)).await;
        let (counts, held, hits) = (
            run.figures.counts(),
            run.ledger.figures(),
            run.flights.strikes(),
        );
        let activities: u64 = counts.outcomes.values().sum();
        let hit = hits.iter().filter(|hits| hits.hurt > 0).count();
        say(&format!(
            "{:>4} s: {activities} activities answered, {} queued, {} waiting; {} faults, {hit} hit; {:.3} % in time, 99.9 % in {} ms; {} died with workerd; {} wrong",
            begin.elapsed().as_secs(),
            held.taken,
            held.waiting,
            hits.len(),
            counts.share_in_time() * 100.0,
            quantile(&counts.took, 999).as_millis(),
            counts.worker_dead,
            counts.wrong.len(),
        ));
    }
}

/// Looks how late this process is woken itself.
async fn feel(run: &Run) {
    const PULSE: Duration = Duration::from_millis(10);
    while !run.is_over() {
        let begin = Instant::now();
        tokio::time::sleep(PULSE).await;
        run.figures.lag(begin.elapsed().saturating_sub(PULSE));
    }
}

/// Waits until all deeds are known to be counted and no message waits.
async fn drain(run: &Run, deeds: usize) {
    let begin = Instant::now();
    while run.ledger.all_counted() < deeds || !run.ledger.is_drained() {
        let waiting = run.ledger.figures();
        let counted = run.ledger.all_counted();
        assert!(
            begin.elapsed() < DRAINED,
            "not drained: {counted} of {deeds} deeds counted, {waiting:?}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_activity_counts_once_whatever_fails_and_callers_are_answered_in_time() {
    let (seconds, seed) = (number("SECONDS", 60), number("SEED", 1));
    let rate = number("RATE", 200);
    let least = usize::try_from(seconds / SECONDS_A_FAULT).expect("a number of faults");
    let before = load_average();
    let run = Arc::new(Run::new(Service::start().await));
    say(&format!(
        "fault run: SEED={seed}, {seconds} s, {least} faults that hit at least"
    ));

    let begin = Instant::now();
    // Each a task of its own: that which strikes blocks while it ends and starts processes.
    let shared = Arc::clone(&run);
    let told = tokio::spawn(async move {
        tokio::join!(watch::follow(&shared), progress(&shared), feel(&shared))
    });
    let shared = Arc::clone(&run);
    let reads =
        tokio::spawn(async move { tokio::join!(reads::read(&shared, seed), reads::tick(&shared)) });
    let shared = Arc::clone(&run);
    let writes =
        tokio::spawn(async move { writes::send(&shared, Load::new(seed, now(), rate)).await });
    let lasts = Duration::from_secs(seconds);
    let struck = strikes::strike(&run, seed, lasts, least).await;
    let (lasted, ended) = (begin.elapsed(), Instant::now());
    let load = tokio::time::timeout(DRAINED, writes).await;
    let load = load.expect("all answered").expect("no task panics");
    reads.await.expect("no task panics");
    drain(&run, load.deeds.len()).await;
    let drained = ended.elapsed();
    told.abort();

    let model = compare::model(&load.deeds);
    let compared = Compared::with(&model, &mut run.service.store(), &run.service.api()).await;
    let report = Report {
        seed,
        lasted,
        drained,
        load,
        counts: run.figures.counts(),
        held: run.ledger.figures(),
        struck,
        hits: run.flights.strikes(),
        compared,
        load_average: [before, load_average()],
    };
    let json = report.json();
    say(&format!("{report}{json}"));
    std::fs::write(root().join("target/faults.json"), json.to_string()).expect("the report");
    let least = least as u64;
    assert!(
        report.hit() >= least,
        "{} faults hit, not {least}",
        report.hit()
    );
    assert_eq!(report.compared.differences, [""; 0]);
    assert_eq!(report.counts.wrong, [""; 0]);
    let (in_time, lag) = (report.counts.share_in_time(), report.lag());
    if lag > MOST_LAG {
        say("The machine is too busy to say whether the service answers in time.");
    } else {
        assert!(in_time >= 0.999, "{in_time} answered in time");
    }
}
