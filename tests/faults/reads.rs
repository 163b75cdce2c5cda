//! Boards and standings, read at a steady rate; and what cron does meanwhile.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use test_support::reference::{KINDS, now};
use test_support::{Answer, Method};
use tokio::task::JoinSet;

use crate::run::Run;

/// Twenty a second.
const EVERY: Duration = Duration::from_millis(50);

/// How many are under way at once.
const AT_ONCE: usize = 100;

/// Snapshots and archive; by cron it is every five minutes.
const CRON: Duration = Duration::from_secs(30);

/// Two clocks of one machine, and the time of an answer, in milliseconds.
const SLACK: i64 = 1_000;

/// Reads until the run is over.
pub async fn read(run: &Arc<Run>, seed: u64) {
    let mut random = Rng::with_seed(seed);
    let mut ticks = tokio::time::interval(EVERY);
    let mut under_way = JoinSet::new();
    while !run.is_over() {
        ticks.tick().await;
        if under_way.len() >= AT_ONCE {
            // The machine is too slow.
            under_way.join_next().await;
        }
        let kind = KINDS[random.usize(..KINDS.len())].0;
        let (what, path) = if random.bool() {
            let group = ["", "", "&group=eu"][random.usize(..3)];
            ("boards", format!("/v1/ranking/{kind}?limit=30{group}"))
        } else {
            let user = random.u32(..500);
            ("standings", format!("/v1/ranking/{kind}/users/u{user}"))
        };
        let run = Arc::clone(run);
        under_way.spawn(async move { one(&run, what, &path).await });
        while let Some(done) = under_way.try_join_next() {
            done.expect("no read panics");
        }
    }
    while let Some(done) = under_way.join_next().await {
        done.expect("no read panics");
    }
}

async fn one(run: &Run, what: &'static str, path: &str) {
    let shows_fault = |answer: &Answer| answer.status != 200 || !answer.body["stale"].is_null();
    let answer = run.ask(Method::GET, path, String::new(), shows_fault).await;
    let how = match &answer {
        None => "unanswered",
        Some(answer) if answer.status == 503 => "unavailable",
        Some(answer) => match shown(answer) {
            Some(how) => how,
            None => {
                return run
                    .figures
                    .wrong(format!("{path}: {} {}", answer.status, answer.text));
            }
        },
    };
    run.figures.read(what, how);
}

/// Fresh, or stale and then saying of when; nothing else may be.
fn shown(answer: &Answer) -> Option<&'static str> {
    let whole = answer.status == 200 && answer.body["total"].is_u64();
    let (stale, of) = (&answer.body["stale"], &answer.body["as_of"]);
    if whole && stale.is_null() && of.is_null() {
        return Some("fresh");
    }
    let of: jiff::Timestamp = of.as_str()?.parse().ok()?;
    let age: i64 = answer.header("age")?.parse().ok()?;
    let since = now() - of.as_millisecond();
    let right = since >= -SLACK && (since / 1000 - age).abs() <= 11;
    (whole && *stale == true && right).then_some("stale")
}

/// What cron does, until the run is over.
pub async fn tick(run: &Run) {
    let mut ticks = tokio::time::interval(CRON);
    while !run.is_over() {
        tokio::select! {
            _ = ticks.tick() => {
                let api = run.service.api();
                let tick = api.try_send(Method::GET, "/cdn-cgi/handler/scheduled", "", &[]);
                // It may fail, like everything.
                let _ = tokio::time::timeout(CRON, tick).await;
            }
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
        }
    }
}
