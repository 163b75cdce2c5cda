//! Random activities against the model; a failure is told with the fewest requests that show it.
//!
//! `STEPS=100000 SEED=7 cargo test --test counting random` tries longer, or other ones.

use crate::activity::Request;
use crate::random::{Random, USERS};
use crate::run::{Run, Setup};
use crate::variable;
use test_support::json;
use test_support::reference::now;

const ALL: &[&str] = &["day", "week", "month", "year", "all"];
const EVERYTHING_EVERY: usize = 250;
/// How often a failure is tried again with fewer requests.
const SHRINKING_RUNS: usize = 150;

fn users() -> Vec<String> {
    USERS.map(str::to_owned).to_vec()
}

/// A share of all steps, so that five configurations together make them; `rare` are outcomes that
/// this one must show beside the common ones.
async fn random_activities(share: u64, setup: Setup, rare: &[&str]) {
    let steps = variable("STEPS", 10_000).div_ceil(5) as usize;
    let seed = variable("SEED", 1);
    let mut run = Run::start(&setup);
    let mut random = Random::new(seed * 5 + share, &run.model, now());
    let mut sent = Vec::new();
    for step in 1..=steps {
        let request = random.request(&run.model, now());
        sent.push(request.clone());
        let mut result = run.step(&request).await;
        if result.is_ok() && (step % EVERYTHING_EVERY == 0 || step == steps) {
            result = run.check_everything(&users()).await;
        }
        if let Err(difference) = result {
            let last = written(&sent[sent.len().saturating_sub(10)..]);
            let fewest = match shrink(&setup, sent).await {
                Some((fewest, difference)) => format!("{}\n{difference}", written(&fewest)),
                None => "none: it did not happen again".to_owned(),
            };
            panic!(
                "SEED={seed}, step {step}, {}\n{difference}\n\nthe last requests:\n{last}\n\nthe fewest:\n{fewest}",
                setup.timezone
            );
        }
    }
    println!("{:?}", run.seen);
    let common = [
        "counted",
        "duplicate",
        "undone",
        "nothing-to-undo",
        "stale",
        "invalid-request",
        "forbidden",
        "adjusted",
    ];
    for outcome in common.iter().chain(rare).filter(|_| steps >= 1000) {
        assert!(
            run.seen.contains_key(outcome),
            "no {outcome} among {:?}",
            run.seen
        );
    }
}

fn written(requests: &[Request]) -> String {
    requests
        .iter()
        .map(|request| request.json().to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

/// What goes wrong with these requests under a fresh prefix.
async fn difference(setup: &Setup, requests: &[Request]) -> Option<String> {
    let mut run = Run::start(setup);
    for request in requests {
        if let Err(difference) = run.step(request).await {
            return Some(difference);
        }
    }
    run.check_everything(&users()).await.err()
}

/// Leaves out ever smaller parts for as long as something still goes wrong.
async fn shrink(setup: &Setup, mut requests: Vec<Request>) -> Option<(Vec<Request>, String)> {
    let mut found = difference(setup, &requests).await?;
    let mut size = requests.len().div_ceil(2);
    let mut runs = 0;
    loop {
        let mut from = 0;
        while from < requests.len() && runs < SHRINKING_RUNS {
            runs += 1;
            let part = from..requests.len().min(from + size);
            let mut fewer = requests.clone();
            fewer.drain(part);
            match difference(setup, &fewer).await {
                Some(difference) => (requests, found) = (fewer, difference),
                None => from += size,
            }
        }
        if size == 1 || runs >= SHRINKING_RUNS {
            return Some((requests, found));
        }
        size = size.div_ceil(2);
    }
}

#[tokio::test]
async fn random_activities_count_as_promised_by_default() {
    let setup = Setup {
        timezone: "UTC",
        kinds: ALL,
        decimals: 0,
        rules: json!({}),
    };
    random_activities(0, setup, &[]).await;
}

#[tokio::test]
async fn random_activities_count_as_promised_in_shanghai_on_some_periods() {
    // Two of these fit under the limit of a score, three don't.
    let rules = json!({ "jackpot": { "points": 4_000_000 } });
    let kinds = &["day", "week", "all"];
    let setup = Setup {
        timezone: "Asia/Shanghai",
        kinds,
        decimals: 0,
        rules,
    };
    random_activities(1, setup, &["score-overflow"]).await;
}

#[tokio::test]
async fn random_activities_count_as_promised_where_midnight_is_missing() {
    let rules = json!({
        "comment": { "cooldown": 3600 },
        "like": { "daily_cap": 5 },
        "visit": { "daily_cap": 2, "cooldown": 3600 },
    });
    let setup = Setup {
        timezone: "America/Santiago",
        kinds: ALL,
        decimals: 0,
        rules,
    };
    random_activities(2, setup, &["daily-cap", "cooldown"]).await;
}

#[tokio::test]
async fn random_activities_count_as_promised_in_hundredths_of_points() {
    let rules = json!({
        "like": { "points": 0.35, "daily_cap": 1.1 },
        "visit": { "points": 0.1 },
        "share": { "points": 12_000.01, "cooldown": 3600 },
    });
    let setup = Setup {
        timezone: "Europe/Berlin",
        kinds: ALL,
        decimals: 2,
        rules,
    };
    random_activities(3, setup, &["daily-cap", "cooldown"]).await;
}

#[tokio::test]
async fn random_activities_count_as_promised_on_the_other_side_of_the_date_line() {
    let kinds = &["month", "year"];
    let rules = json!({ "read": { "points": 1, "once": "day" } });
    let setup = Setup {
        timezone: "Pacific/Apia",
        kinds,
        decimals: 0,
        rules,
    };
    random_activities(4, setup, &[]).await;
}
