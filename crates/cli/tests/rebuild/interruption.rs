//! Rebuilds that are killed, interrupted, or taken over by another run.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::channel;
use std::time::Duration;

use redis::RedisResult;
use test_support::{Fault, Forwarder, Recorded, depth, json, shards, until};

use crate::TestResult;
use crate::app::noon;
use crate::cli::{assert_verified, command_at, finish, rebuild, succeed};
use crate::journal_app::JournalApp;
use crate::observed::Observed;
use crate::random::Random;
use crate::recount::{RecountFile, dated_rules, recounts};
use crate::stored::redis_command;

/// What the first request of a phase contains, and the number of its first requests in which a run is killed.
const PHASES: [(&str, u64); 3] = [("", 30), (SWAP, 6), ("[[\"UNLINK\"", 5)];
/// A key that only the swap declares: the progress of jobs.
const SWAP: &str = "}j\"";
/// The phases that a killed run leaves on a shard.
const STATES: [&str; 3] = ["replay", "swapped", "done"];
/// Time between two checks whether a run has completed.
const POLL: Duration = Duration::from_millis(5);
/// Largest number of killed runs in one round.
const MAX_RUNS: usize = 400;
/// Largest number of rounds until a run was killed in each state.
const MAX_ROUNDS: usize = 20;

/// The rounds of a test, and the states in which its runs were killed.
struct Rounds {
    least: usize,
    random: Random,
    forwarder: Forwarder,
    seen: BTreeMap<String, usize>,
}

impl Rounds {
    fn new(app: &JournalApp, least: usize, random: Random) -> Self {
        Self {
            least,
            random,
            forwarder: Forwarder::to(&app.store()),
            seen: BTreeMap::new(),
        }
    }

    /// Returns whether each state has been seen after so many rounds. With one shard no run may be killed in the last one.
    fn is_complete(&self, rounds: usize) -> bool {
        let is_seen = |state: &&str| {
            let may_miss = *state == "done" && shards() == 1;
            may_miss || self.seen.contains_key(*state)
        };
        assert!(rounds < MAX_ROUNDS, "not killed in each: {:?}", self.seen);
        rounds >= self.least && STATES.iter().all(is_seen)
    }

    /// Kills runs until one completes.
    fn kill(&mut self, app: &JournalApp, args: &[&str]) -> TestResult {
        let (first, mut runs) = (depth(0, self.random.below(3) as usize), 0);
        while !run_and_kill(app, &self.forwarder, &mut self.random, first + runs, args)? {
            for phase in phases(app)? {
                *self.seen.entry(phase).or_default() += 1;
            }
            runs += 1;
            assert!(runs < MAX_RUNS, "the run never completes");
        }
        println!("killed {runs} times, {:?}", self.seen);
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuild_survives_kill_in_every_phase() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let mut random = Random::new(3);
    random.send_activities(&app.api, depth(300, 1500)).await;
    let before = Observed::read(&app).await?;
    let (mut rounds, mut round) = (Rounds::new(&app, depth(1, 6), random), 0);
    while !rounds.is_complete(round) {
        app.lose_data().await?;
        rounds.kill(&app, &["rebuild"])?;
        Observed::read(&app).await?.assert_same(&before);
        round += 1;
    }
    assert_verified(&app)?;
    Ok(())
}

/// Recounts in turn by both files, killed in every phase. Each is in the journal once, however often it was killed.
async fn kill_recounts(app: &JournalApp, first: &RecountFile, second: &RecountFile) -> TestResult {
    let mut random = Random::new(5);
    random.send_activities(&app.api, depth(300, 1500)).await;
    let mut expected = Vec::new();
    for file in [first, second] {
        file.apply(app)?;
        expected.push(Observed::read(app).await?);
    }
    let (mut rounds, mut round) = (Rounds::new(app, depth(1, 6), random), 0);
    while !rounds.is_complete(round) {
        let file = [first, second][round % 2];
        rounds.kill(app, &file.args(&["--apply", "--yes"]))?;
        let expected = &expected[round % 2];
        Observed::read(app).await?.assert_same(expected);
        round += 1;
        assert_eq!(recounts(app).await, (round + 2) * shards() as usize);
    }
    assert_verified(app)?;
    app.lose_data().await?;
    rebuild(app, &[])?;
    let last = &expected[(round + 1) % 2];
    Observed::read(app).await?.assert_same(last);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn recount_survives_kill_in_every_phase() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let rules = [
        dated_rules(),
        json!({"like": {"points": 3}, "wave": {"points": 8}}),
    ];
    let [first, second] = rules.map(|rules| RecountFile::new(&rules));
    kill_recounts(&app, &first?, &second?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn recount_of_an_event_survives_kill_in_every_phase() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let definitions = [json!({"like": 3}), json!({"visit": 0.5, "comment": 8})];
    let [first, second] = definitions.map(|actions| {
        let definition =
            json!({"title": "Season", "from": noon(20), "to": noon(-20), "actions": actions});
        RecountFile::for_event("season", &definition)
    });
    kill_recounts(&app, &first?, &second?).await
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

/// Kills a rebuild before or after a random request of a phase, in turn by `number`. Returns whether it completed earlier.
pub fn run_and_kill(
    app: &JournalApp,
    forwarder: &Forwarder,
    random: &mut Random,
    number: usize,
    args: &[&str],
) -> Result<bool, Box<dyn std::error::Error>> {
    let (first, max_requests) = PHASES[number % PHASES.len()];
    let mut in_phase = first.is_empty();
    // The replay starts with requests for all shards; later phases are one shard at a time.
    let max_requests = if in_phase {
        max_requests * u64::from(shards())
    } else {
        max_requests
    };
    let (last, after) = (random.below(max_requests), random.below(2) == 0);
    let (reached, is_reached) = channel();
    let mut requests = 0;
    forwarder.fail(move |request| {
        let text = String::from_utf8_lossy(&request.body);
        // Whoever is killed after it has completed the rebuild.
        if text.contains("[[\"UNLINK\"") && text.contains("}r\"") {
            return None;
        }
        in_phase |= text.contains(first);
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
        if is_reached.recv_timeout(POLL).is_ok() {
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
    succeed(&app, &["rebuild", "--fresh"])?;
    assert_verified(&app)?;
    Ok(())
}

/// Returns whether a request applies journal entries.
fn is_replay(request: &Recorded) -> bool {
    String::from_utf8_lossy(&request.body).contains(",\"run\",")
}

/// Kills a rebuild before the store has a swap.
pub async fn kill_before_swap(app: &JournalApp, forwarder: &Forwarder) -> TestResult {
    kill(hang_at(app, forwarder, Fault::HangBefore, swaps).await?)?;
    forwarder.heal();
    Ok(())
}

/// Kills a rebuild at the request that lets the shards swap: with the last entry that has been read of each.
pub async fn kill_at_swap(app: &JournalApp, forwarder: &Forwarder, fault: Fault) -> TestResult {
    let child = hang_at(app, forwarder, fault, |request| {
        swaps(request)
            && request.commands().iter().all(|command| {
                let keys = command[2].as_str().and_then(|keys| keys.parse().ok());
                keys.is_some_and(|keys: usize| command[3 + keys + 3] != "")
            })
    });
    let child = child.await?;
    until("the store's response", async || {
        (forwarder.under_way() == 0).then_some(())
    })
    .await;
    kill(child)?;
    forwarder.heal();
    Ok(())
}

fn swaps(request: &Recorded) -> bool {
    String::from_utf8_lossy(&request.body).contains(SWAP)
}

fn kill(mut child: Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(|_| ())
}

/// Starts a rebuild and waits until it hangs at a request.
async fn hang_at(
    app: &JournalApp,
    forwarder: &Forwarder,
    fault: Fault,
    is_reached: impl Fn(&Recorded) -> bool + Send + 'static,
) -> io::Result<Child> {
    let (send, reached) = channel();
    forwarder.fail(move |request| {
        is_reached(request).then(|| {
            // The receiver is gone after the run is killed.
            let _ = send.send(());
            fault.clone()
        })
    });
    let child = command_at(app, &forwarder.url(), &["rebuild"]).spawn()?;
    until("the swap", async || reached.try_recv().ok()).await;
    Ok(child)
}

/// SIGINT before the swap changes nothing that counts.
#[tokio::test(flavor = "multi_thread")]
async fn interrupted_rebuild_changes_nothing() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let before = Observed::read(&app).await?;
    let forwarder = Forwarder::to(&app.store());
    let child = hang_at(&app, &forwarder, Fault::HangBefore, swaps).await?;
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
    let like = json!({"user": "ada", "action": "like", "target": "p0"});
    assert_eq!(app.send(like).await.body["outcome"], "duplicate");
    forwarder.heal();
    let resumed = finish(command_at(&app, &forwarder.url(), &["rebuild"]))?;
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    Observed::read(&app).await?.assert_same(&before);
    assert_verified(&app)?;
    Ok(())
}

/// An isolate that knew the former generation goes on with the new one, in the same request.
#[tokio::test(flavor = "multi_thread")]
async fn service_goes_on_after_rebuild() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let like = |target: &str| json!({"user": "ada", "action": "like", "target": target});
    for number in 0..3 {
        rebuild(&app, &[])?;
        let target = format!("after-{number}");
        assert_eq!(app.send(like(&target)).await.body["outcome"], "counted");
        assert_eq!(app.send(like(&target)).await.body["outcome"], "duplicate");
        let all = app.api.get("/v1/users/ada/standings").await;
        all.assert_status(200);
        let user = format!("new-{number}");
        let path = format!("/v1/users/{user}");
        app.put(&path, &json!({"name": "New"})).await;
        app.delete(&path).await;
    }
    assert_verified(&app)?;
    Ok(())
}
