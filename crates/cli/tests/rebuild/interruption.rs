//! Rebuilds that are killed, interrupted, or taken over by another run.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::mpsc::channel;

use redis::RedisResult;
use test_support::{Fault, Forwarder, Recorded, json, shard_of, shards, until};

use crate::TestResult;
use crate::cli::{assert_verified, command_at, finish, rebuild, run};
use crate::journal_app::JournalApp;
use crate::observed::Observed;
use crate::random::Random;
use crate::recount::{RulesFile, dated_rules, recounts};
use crate::stored::redis_command;

/// Phases, and the number of first requests of each in which a run is killed.
const PHASES: [(&str, u64); 4] = [("replay", 30), ("held", 30), ("delete", 5), ("rename", 10)];
/// Largest number of killed runs in one round.
const MAX_RUNS: usize = 400;

/// Returns the number of rounds: 6, or `ROUNDS`.
fn rounds() -> usize {
    let rounds = std::env::var("ROUNDS").ok();
    rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(6)
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuild_survives_kill_in_every_phase() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let mut random = Random::new(3);
    random.send_activities(&app.api, 1500).await;
    let before = Observed::read(&app).await?;
    let forwarder = Forwarder::to(&app.store());
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..rounds() {
        app.lose_data().await?;
        let mut runs = 0;
        while !run_and_kill(&app, &forwarder, &mut random, &["rebuild"])? {
            for phase in phases(&app)? {
                *seen.entry(phase).or_default() += 1;
            }
            runs += 1;
            assert!(runs < MAX_RUNS, "the rebuild never completes");
        }
        Observed::read(&app).await?.assert_same(&before);
        println!("round {round}: killed {runs} times, {seen:?}");
    }
    for (phase, _) in PHASES {
        assert!(seen.contains_key(phase), "not killed in {phase}: {seen:?}");
    }
    assert_verified(&app)?;
    Ok(())
}

/// Each recount is the one of the other rules. It is in the journal once, however often it was killed.
#[tokio::test(flavor = "multi_thread")]
async fn recount_survives_kill_in_every_phase() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let mut random = Random::new(5);
    random.send_activities(&app.api, 1500).await;
    let rules = [
        dated_rules(),
        json!({"like": {"points": 3}, "wave": {"points": 8}}),
    ];
    let [first, second] = rules.map(|rules| RulesFile::new(&rules));
    let (first, second) = (first?, second?);
    first.apply(&app)?;
    let by_first = Observed::read(&app).await?;
    second.apply(&app)?;
    let by_second = Observed::read(&app).await?;
    let forwarder = Forwarder::to(&app.store());
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..rounds() {
        let (rules, expected) = match round % 2 {
            0 => (&first, &by_first),
            _ => (&second, &by_second),
        };
        let (args, mut runs) = (rules.args(&["--apply", "--yes"]), 0);
        while !run_and_kill(&app, &forwarder, &mut random, &args)? {
            for phase in phases(&app)? {
                *seen.entry(phase).or_default() += 1;
            }
            runs += 1;
            assert!(runs < MAX_RUNS, "the recount never completes");
        }
        Observed::read(&app).await?.assert_same(expected);
        assert_eq!(recounts(&app).await, (round + 3) * shards() as usize);
        println!("round {round}: killed {runs} times, {seen:?}");
    }
    for (phase, _) in PHASES {
        assert!(seen.contains_key(phase), "not killed in {phase}: {seen:?}");
    }
    assert_verified(&app)?;
    app.lose_data().await?;
    rebuild(&app, &[])?;
    let last = if rounds().is_multiple_of(2) {
        by_second
    } else {
        by_first
    };
    Observed::read(&app).await?.assert_same(&last);
    Ok(())
}

/// Returns the phases of all shards.
fn phases(app: &JournalApp) -> RedisResult<BTreeSet<String>> {
    let mut phases = BTreeSet::new();
    for shard in 0..shards() {
        let state = format!("{{{}:{shard}}}r", app.endpoint.prefix);
        let command = ["HGET", state.as_str(), "phase"];
        let phase: Option<String> = redis_command(&mut app.redis(), &command)?;
        phases.extend(phase);
    }
    Ok(phases)
}

/// Kills a rebuild before or after a random request. Returns whether it completed earlier.
fn run_and_kill(
    app: &JournalApp,
    forwarder: &Forwarder,
    random: &mut Random,
    args: &[&str],
) -> Result<bool, Box<dyn std::error::Error>> {
    let (phase, max_requests) = PHASES[random.below(4) as usize];
    let mut in_phase = phase == "replay";
    // The replay starts with requests for all shards; later phases are one shard at a time.
    let max_requests = if in_phase {
        max_requests * u64::from(shards())
    } else {
        max_requests
    };
    let (last, after) = (random.below(max_requests), random.below(2) == 0);
    let (reached, is_reached) = channel();
    let (phase_arg, mut requests) = (format!("\"{phase}\""), 0);
    forwarder.fail(move |request| {
        in_phase |= String::from_utf8_lossy(&request.body).contains(&phase_arg);
        requests += u64::from(in_phase);
        if requests <= last {
            return None;
        }
        // The receiver is gone after a completed run.
        let _ = reached.send(());
        Some(if after {
            Fault::HangAfter
        } else {
            Fault::HangBefore
        })
    });
    let mut child = command_at(app, &forwarder.url(), args).spawn()?;
    loop {
        if is_reached.try_recv().is_ok() {
            if after {
                // Lets the request reach the store; only its response hangs.
                std::thread::yield_now();
            }
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        if let Some(status) = child.try_wait()? {
            let output = child.wait_with_output()?;
            assert_eq!(status.code(), Some(0), "{output:?}");
            return Ok(true);
        }
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn superseded_rebuild_stops() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    app.lose_data().await?;
    let forwarder = Forwarder::to(&app.store());
    // A replay request of the first run hangs until the second run has taken over.
    let (send, reached) = channel();
    forwarder.fail(move |request| {
        is_replay(request).then(|| {
            // The receiver is gone after the run is killed.
            let _ = send.send(());
            Fault::HangAfter
        })
    });
    let mut first = command_at(&app, &forwarder.url(), &["rebuild", "--retries", "0"]).spawn()?;
    until("the first run", async || reached.try_recv().ok()).await;
    rebuild(&app, &[])?;
    first.kill()?;
    first.wait()?;

    // The owner changes before each replay request of this run.
    app.lose_data().await?;
    let mut redis = app.redis();
    forwarder.fail(move |request| {
        if is_replay(request) {
            let command = request.commands().remove(0);
            let state = command[3].as_str().unwrap_or_default();
            let set_owner = ["HSET", state, "owner", "another-run"];
            let _: RedisResult<i64> = redis_command(&mut redis, &set_owner);
        }
        None
    });
    let superseded = finish(command_at(&app, &forwarder.url(), &["rebuild"]))?;
    assert_eq!(superseded.code, Some(3), "{superseded:?}");
    assert!(
        superseded
            .stderr
            .contains("another run has taken over this rebuild"),
        "{superseded:?}"
    );
    let fresh = run(&app, &["rebuild", "--fresh"])?;
    assert_eq!(fresh.code, Some(0), "{fresh:?}");
    assert_verified(&app)?;
    Ok(())
}

/// Returns whether a request applies journal entries.
fn is_replay(request: &Recorded) -> bool {
    String::from_utf8_lossy(&request.body).contains(",\"run\",")
}

/// SIGINT while writes are locked restores the fingerprint: there was none in the empty store.
#[tokio::test(flavor = "multi_thread")]
async fn interrupted_rebuild_unlocks_writes() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let before = Observed::read(&app).await?;
    app.lose_data().await?;
    let forwarder = Forwarder::to(&app.store());
    let (mut locked, mut hung) = (false, false);
    forwarder.fail(move |request| {
        let text = String::from_utf8_lossy(&request.body);
        let locks = text.contains("\"held\"");
        let hangs = locked && !hung && !locks;
        locked |= locks;
        hung |= hangs;
        hangs.then_some(Fault::HangBefore)
    });
    let child = command_at(&app, &forwarder.url(), &["rebuild"]).spawn()?;
    let users = format!("{{{}:0}}p", app.endpoint.prefix);
    let mut redis = app.redis();
    until("locked writes", async || {
        let stored: Option<String> = redis_command(&mut redis, &["HGET", &users, "\t"]).ok()?;
        stored?.starts_with("rebuilding ").then_some(())
    })
    .await;
    let like = json!({"user": user_of_first_shard(), "action": "like", "target": "x"});
    let response = app.api.post("/v1/activity", &like).await;
    response.assert_status(503);
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()?
            .success()
    );
    let output = child.wait_with_output()?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(
        stderr.contains("run it again to resume\nerror: interrupted"),
        "{stderr}"
    );
    let stored: Option<String> = redis_command(&mut redis, &["HGET", &users, "\t"])?;
    assert_eq!(stored, None);
    rebuild(&app, &[])?;
    Observed::read(&app).await?.assert_same(&before);
    Ok(())
}

/// The shadow's users replace the live ones, and the fingerprint with them. An empty journal has a shadow
/// without users.
#[tokio::test(flavor = "multi_thread")]
async fn swapped_users_keep_writes_locked() -> TestResult {
    for has_data in [false, true] {
        let app = JournalApp::start(|worker| worker);
        if has_data {
            app.fill().await;
            app.lose_data().await?;
        }
        let forwarder = Forwarder::to(&app.store());
        // The last script of the swap deletes what the shadow still has. Shard 0 is the first one.
        let tag = format!("{{{}:0}}", app.endpoint.prefix);
        let deleted = format!("\"{tag}~q\",\"{tag}~c\"");
        forwarder.fail(move |request| {
            let text = String::from_utf8_lossy(&request.body);
            text.contains(&deleted).then_some(Fault::CutBefore)
        });
        let command = ["rebuild", "--retries", "0"];
        let cut = finish(command_at(&app, &forwarder.url(), &command))?;
        assert_eq!(cut.code, Some(3), "{cut:?}");
        let users = format!("{tag}p");
        let read = ["HGET", users.as_str(), "\t"];
        let mut redis = app.redis();
        let locked: String = redis_command(&mut redis, &read)?;
        assert!(locked.starts_with("rebuilding v4 "), "{locked}");
        let resumed = run(&app, &["rebuild"])?;
        assert_eq!(resumed.code, Some(0), "{resumed:?}");
        let stored: Option<String> = redis_command(&mut redis, &read)?;
        let unlocked = locked.strip_prefix("rebuilding ").map(str::to_owned);
        assert_eq!(stored, unlocked.filter(|_| has_data));
        assert_verified(&app)?;
    }
    Ok(())
}

/// Returns a user of the shard that is locked first.
fn user_of_first_shard() -> String {
    let mut names = (0..).map(|number| format!("a{number}"));
    names.find(|name| shard_of(name) == 0).unwrap_or_default()
}
