//! Compares the service with the model on random requests, and shrinks failures.
//!
//! `STEPS=100000 SEED=7 cargo test --test counting random` runs more steps with another seed.

use crate::comparison::{Comparison, Setup};
use crate::generator::{Generator, Request, USERS, VISITOR};
use crate::variable;
use futures::FutureExt;
use jiff::{Timestamp, ToSpan};
use std::panic::AssertUnwindSafe;
use test_support::reference::{Calendar, now, rfc3339};
use test_support::{Worker, depth, json};

const ALL: &[&str] = &["day", "week", "month", "year", "all"];
/// The number of steps between comparisons of the complete state.
const FULL_CHECK_INTERVAL: usize = 250;
/// The recounts of events after the random activities.
const RECOUNTS: usize = 6;
/// The maximum number of attempts to shrink a failure.
const SHRINKING_RUNS: usize = 150;

fn users() -> Vec<String> {
    let users = USERS.iter().chain([&VISITOR]);
    users.map(|user| (*user).to_owned()).collect()
}

/// Runs one fifth of `STEPS`; five configurations share them. `rare` lists outcomes that must occur
/// in addition to the common ones.
async fn run_random_activities(index: u64, setup: Setup, rare: &[&str]) {
    let steps = variable("STEPS", depth(2_000, 10_000)).div_ceil(5) as usize;
    let seed = variable("SEED", 1);
    load_scripts().await;
    let mut comparison = Comparison::start(&setup);
    let mut random = Generator::new(seed * 5 + index, &comparison.model, now());
    random.with_events = setup.events;
    random.with_versions = setup.versions;
    let mut sent = Vec::new();
    // A recount replays the journal, which is not exact in all that is compared, so recounts come last.
    let recounts = if setup.journal { RECOUNTS } else { 0 };
    for step in 1..=steps + recounts {
        let request = match step > steps {
            true => random.recount(&comparison.model, now()),
            false => random.request(&comparison.model, now()),
        };
        sent.push(request.clone());
        let mut result = comparison.step(&request).await;
        if result.is_ok() && (step % FULL_CHECK_INTERVAL == 0 || step == steps) {
            result = comparison.check_full_state(&users()).await;
        }
        if let Err(difference) = result {
            let last = requests_text(&sent[sent.len().saturating_sub(10)..]);
            eprintln!(
                "SEED={seed}, step {step}, {}\n{difference}\n{last}",
                setup.timezone
            );
            let fewest = match shrink(&setup, sent, &difference).await {
                Some((fewest, difference)) => format!("{}\n{difference}", requests_text(&fewest)),
                None => "not reproducible".to_owned(),
            };
            panic!(
                "SEED={seed}, step {step}, {}\n{difference}\n\nlast requests:\n{last}\n\nshrunk requests:\n{fewest}",
                setup.timezone
            );
        }
    }
    println!("{:?}", comparison.outcome_counts);
    let common = "counted duplicate undone nothing-to-undo own-target stale invalid-request forbidden adjusted";
    let counts = &comparison.outcome_counts;
    let event_outcomes: &[&str] = match setup.events {
        true => &["adjusted-event", "undone-event", "event-conflict"],
        false => &[],
    };
    let rare = rare.iter().chain(event_outcomes).copied();
    let common = common.split(' ').filter(|_| steps >= 400);
    for outcome in common.chain(rare.filter(|_| steps >= 2000)) {
        let occurred = counts.contains_key(outcome);
        assert!(occurred, "no {outcome} among {counts:?}");
    }
}

/// Loads the scripts that count, under the digests by which a Worker calls them through the gateway: a call whose target was
/// registered by an unknown script is repeated after the others.
async fn load_scripts() {
    let worker = Worker::builder().var("CONTENT_PERIODS", "all").start();
    let publish = json!({ "user": "1", "action": "publish", "target": "post" });
    let response = worker.api().post("/v1/activity", &publish).await;
    response.assert_status(200);
}

fn requests_text(requests: &[Request]) -> String {
    requests
        .iter()
        .map(|request| request.json().to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Replays the requests under a new prefix and returns the difference from the model, if any. None is known if the model
/// panics: instants of the requests may meet the clock.
async fn difference(setup: &Setup, requests: &[Request]) -> Option<String> {
    let replay = async {
        let mut comparison = Comparison::start(setup);
        for request in requests {
            comparison.step(request).await?;
        }
        comparison.check_full_state(&users()).await
    };
    let replayed = AssertUnwindSafe(replay).catch_unwind().await;
    replayed.ok()?.err()
}

/// Returns the first line of a difference, which names its kind.
fn kind(difference: &str) -> Option<&str> {
    difference.lines().next()
}

/// Removes ever smaller slices of the requests while a difference of the same kind remains: instants of
/// the requests become invalid with time, which is another difference.
async fn shrink(
    setup: &Setup,
    mut requests: Vec<Request>,
    original: &str,
) -> Option<(Vec<Request>, String)> {
    let is_same = |found: &String| kind(found) == kind(original);
    let mut found = difference(setup, &requests).await.filter(is_same)?;
    let mut size = requests.len().div_ceil(2);
    let mut runs = 0;
    loop {
        let mut from = 0;
        while from < requests.len() && runs < SHRINKING_RUNS {
            runs += 1;
            let slice = from..requests.len().min(from + size);
            let mut fewer = requests.clone();
            fewer.drain(slice);
            match difference(setup, &fewer).await.filter(is_same) {
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
async fn random_activities_match_model() {
    let setup = Setup::new("UTC", ALL, 0, json!({}));
    run_random_activities(0, setup, &["daily-cap"]).await;
}

#[tokio::test]
async fn random_activities_match_model_on_three_periods() {
    // The maximum score has room for two of these, not for three.
    let rules = json!({ "jackpot": { "points": 4_000_000 } });
    let periods = &["day", "week", "all"];
    let setup = Setup {
        events: true,
        journal: true,
        ..Setup::new("Asia/Shanghai", periods, 0, rules)
    };
    run_random_activities(1, setup, &["score-overflow", "event", "recount"]).await;
}

#[tokio::test]
async fn random_activities_match_model_without_midnight() {
    let rules = json!({
        "comment": { "cooldown": 3600 },
        "like": { "daily_cap": 5 },
        "follow": { "member_cap": 4, "daily_cap": 6 },
        "visit": { "daily_cap": 2, "cooldown": 3600 },
    });
    let setup = Setup::new("America/Santiago", ALL, 0, rules);
    run_random_activities(2, setup, &["daily-cap", "cooldown"]).await;
}

#[tokio::test]
async fn random_activities_match_model_with_decimals() {
    let rules = json!({
        "like": { "points": 0.35, "daily_cap": 1.1 },
        "visit": { "points": 0.1 },
        "share": { "points": 12_000.01, "cooldown": 3600 },
    });
    let setup = Setup {
        events: true,
        journal: true,
        ..Setup::new("Europe/Berlin", ALL, 2, rules)
    };
    let rare = ["daily-cap", "cooldown", "event", "recount"];
    run_random_activities(3, setup, &rare).await;
}

#[tokio::test]
async fn random_activities_match_model_with_large_points() {
    // As in `..._on_three_periods`, in steps of 0.0001.
    let rules = json!({
        "like": { "points": 0.0035, "daily_cap": 0.011 },
        "jackpot": { "points": 400_000.000_1 },
    });
    let setup = Setup {
        order_bits: 20,
        ..Setup::new("Asia/Shanghai", &["day", "week", "all"], 4, rules)
    };
    run_random_activities(7, setup, &["daily-cap", "score-overflow"]).await;
}

/// Accounts send half of the requests: everything is as if the members had sent them.
#[tokio::test]
async fn random_activities_of_accounts_match_model() {
    let rules = json!({
        "comment": { "cooldown": 3600 },
        "like": { "daily_cap": 15 },
        "follow": { "member_cap": 4 },
    });
    let setup = Setup {
        events: true,
        accounts: true,
        ..Setup::new("Europe/Berlin", ALL, 0, rules)
    };
    run_random_activities(12, setup, &["daily-cap", "cooldown"]).await;
}

#[tokio::test]
async fn random_activities_match_model_with_content() {
    let rules = json!({
        "visit": { "received": 1 },
        "like": { "pair_cap": 4 },
        "follow": { "pair_cap": 2 },
        "comment": { "pair_cap": 7 },
        "wave": { "points": 1 },
    });
    let setup = Setup {
        content_periods: &["day", "week", "all"],
        visitors: &["like", "wave", "follow"],
        events: true,
        ..Setup::new("UTC", ALL, 0, rules)
    };
    run_random_activities(5, setup, &["daily-cap", "pair-cap"]).await;
}

#[tokio::test]
async fn random_decimals_match_model_with_content() {
    let rules = json!({
        "comment": { "cooldown": 3600, "received": 0.25 },
        "publish": { "received": 4 },
        "share": { "points": 1, "received": 12_000.01 },
    });
    let setup = Setup {
        content_periods: &["month", "year"],
        order_bits: 16 + variable("SEED", 1) as u32 % 15,
        ..Setup::new("Europe/Berlin", &["week", "all"], 2, rules)
    };
    run_random_activities(6, setup, &["cooldown"]).await;
}

/// The rules change by day and by instant: at changes of the clock that skip or repeat midnight, yesterday, and while
/// the test sends activities.
#[tokio::test]
async fn random_activities_match_model_with_dated_rules() {
    let calendar = Calendar::new("America/Santiago");
    let second = |seconds: i64| rfc3339(now() + seconds * 1000);
    let before = Timestamp::from_millisecond(now()).unwrap();
    let changes = calendar.zone.preceding(before).take(3);
    let changes: Vec<Timestamp> = changes.map(|change| change.timestamp()).collect();
    let day = |at: Timestamp| calendar.date(at.as_millisecond()).to_string();
    let yesterday = day(before - 24.hours());
    let rules = json!({
        "like": [
            { "daily_cap": 5 },
            { "from": day(changes[2]), "points": 3, "received": 1 },
            { "from": changes[1].to_string(), "points": 1, "daily_cap": 8, "pair_cap": 2 },
            { "from": day(changes[0]), "points": 4, "member_cap": 12, "received": 0 },
            { "from": second(15), "points": 5, "daily_cap": 20, "received": 6 },
        ],
        "visit": [
            { "daily_cap": 4 },
            { "from": yesterday, "points": 3, "daily_cap": 7 },
            { "from": second(25), "points": 2, "received": 1 },
        ],
        "follow": [{}, { "from": yesterday, "own": true, "points": 1 }],
        "comment": [{}, { "from": changes[0].to_string(), "cooldown": 3600, "received": 7 }],
    });
    let setup = Setup {
        content_periods: &["week", "all"],
        ..Setup::new("America/Santiago", ALL, 0, rules)
    };
    run_random_activities(8, setup, &["daily-cap", "cooldown"]).await;
}

#[tokio::test]
async fn random_activities_match_model_at_date_line() {
    let periods = &["month", "year"];
    let rules = json!({ "read": { "points": 1, "once": "day" } });
    let setup = Setup::new("Pacific/Apia", periods, 0, rules);
    run_random_activities(4, setup, &[]).await;
}

/// Versions of the rules are published and taken back, from instants before and after the activities that follow.
#[tokio::test]
async fn random_activities_match_model_with_versions() {
    let rules = json!({
        "like": [{ "daily_cap": 5 }, { "from": rfc3339(now() - 10_000), "points": 3 }],
        "visit": { "received": 1 },
    });
    let setup = Setup {
        content_periods: &["day", "all"],
        events: true,
        versions: true,
        ..Setup::new("Europe/Berlin", ALL, 1, rules)
    };
    let rare = [
        "daily-cap",
        "cooldown",
        "version",
        "removed-version",
        "taken-back-version",
    ];
    run_random_activities(13, setup, &rare).await;
}
