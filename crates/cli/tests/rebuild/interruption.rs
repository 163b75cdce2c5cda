//! Rebuilds that are killed, interrupted, or taken over by another run.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use redis::RedisResult;
use test_support::{Fault, Forwarder, Recorded, Value, depth, json, shards, until};

use crate::TestResult;
use crate::app::noon;
use crate::cli::{assert_verified, command_at, finish, rebuild, succeed};
use crate::journal_app::JournalApp;
use crate::observed::Observed;
use crate::random::Random;
use crate::recount::{RecountFile, dated_rules, recounts};
use crate::stored::{assert_same, redis_command};

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
    assert_verified(&app)
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
#[ignore = "soak"]
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
    let each = if in_phase { u64::from(shards()) } else { 1 };
    let max_requests = max_requests * each;
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
        Some(match after {
            true => Fault::HangAfter,
            false => Fault::HangBefore,
        })
    });
    let mut child = command_at(app, &forwarder.url(), args).spawn()?;
    loop {
        if is_reached.recv_timeout(POLL).is_ok() {
            if after {
                // Lets the request reach the store; only its response hangs.
                std::thread::yield_now();
            }
            kill(child)?;
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
    let args = ["rebuild", "--retries", "0"];
    let first = hang_at(&app, &forwarder, &args, Fault::HangAfter, is_replay).await?;
    rebuild(&app, &[])?;
    kill(first)?;

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
    superseded.assert_error(3, "another run has taken over this rebuild");
    succeed(&app, &["rebuild", "--fresh"])?;
    assert_verified(&app)
}

/// Returns whether a request applies journal entries.
fn is_replay(request: &Recorded) -> bool {
    String::from_utf8_lossy(&request.body).contains(",\"run\",")
}

/// Kills a rebuild before the store has a swap.
pub async fn kill_before_swap(app: &JournalApp, forwarder: &Forwarder) -> TestResult {
    kill(hang_at(app, forwarder, &["rebuild"], Fault::HangBefore, swaps).await?)?;
    forwarder.heal();
    Ok(())
}

/// Kills a rebuild at the request that lets the shards swap: with the last entry that has been read of each.
pub async fn kill_at_swap(app: &JournalApp, forwarder: &Forwarder, fault: Fault) -> TestResult {
    let is_last = |command: &Vec<Value>| {
        let keys = command[2].as_str().and_then(|keys| keys.parse().ok());
        keys.is_some_and(|keys: usize| command[3 + keys + 3] != "")
    };
    let is_reached =
        move |request: &Recorded| swaps(request) && request.commands().iter().all(is_last);
    let child = hang_at(app, forwarder, &["rebuild"], fault, is_reached).await?;
    let is_done = async || (forwarder.under_way() == 0).then_some(());
    until("the store's response", is_done).await;
    kill(child)?;
    forwarder.heal();
    Ok(())
}

fn swaps(request: &Recorded) -> bool {
    String::from_utf8_lossy(&request.body).contains(SWAP)
}

pub fn kill(mut child: Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(|_| ())
}

/// Sends SIGINT to a command, and returns its error after its end.
pub fn interrupt(child: Child) -> io::Result<String> {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status()?;
    assert!(sent.success());
    let output = child.wait_with_output()?;
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Starts a command and waits until it hangs at a request.
pub async fn hang_at(
    app: &JournalApp,
    forwarder: &Forwarder,
    args: &[&str],
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
    let child = command_at(app, &forwarder.url(), args).spawn()?;
    until("the request", async || reached.try_recv().ok()).await;
    Ok(child)
}

/// SIGINT between two requests of the replay, and before the swap, changes nothing that counts, and the next run does not
/// mistake what it applies again for activity that the journal repeats.
#[tokio::test(flavor = "multi_thread")]
async fn interrupted_rebuild_changes_nothing() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    Random::new(11).send_activities(&app.api, 700).await;
    let before = Observed::read(&app).await?;
    let forwarder = Forwarder::to(&app.store());
    // The store does not know the script of the first request, which is sent again as text.
    let counting = AtomicUsize::new(0);
    let counts_twice = move |request: &Recorded| {
        let counts = String::from_utf8_lossy(&request.body).contains(",\"count\",");
        counts && counting.fetch_add(1, Ordering::Relaxed) > 1
    };
    type IsReached = Box<dyn Fn(&Recorded) -> bool + Send>;
    let points: [IsReached; 2] = [Box::new(counts_twice), Box::new(swaps)];
    for is_reached in points {
        let child = hang_at(
            &app,
            &forwarder,
            &["rebuild"],
            Fault::HangBefore,
            is_reached,
        )
        .await?;
        let error = interrupt(child)?;
        let expected = "run it again to resume\nerror: interrupted";
        assert!(error.contains(expected), "{error}");
        let repeated = app.act("ada", "like", "p0").await;
        assert_eq!(repeated.body["outcome"], "duplicate");
        forwarder.heal();
        let rebuilt = finish(command_at(&app, &forwarder.url(), &["rebuild"]))?.assert_code(0);
        let expected = "no differences\nrebuilt from ";
        assert!(rebuilt.stdout.starts_with(expected), "{rebuilt:?}");
    }
    Observed::read(&app).await?.assert_same(&before);
    assert_verified(&app)
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_verify_deletes_its_keys() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let before = app.data()?;
    let forwarder = Forwarder::to(&app.store());
    let child = hang_at(&app, &forwarder, &["verify"], Fault::HangAfter, is_replay).await?;
    let error = interrupt(child)?;
    let expected = "error: interrupted: nothing was changed\n";
    assert!(error.ends_with(expected), "{error}");
    assert_same(&app.data()?, &before);
    Ok(())
}

/// An isolate that knew the former generation goes on with the new one, in the same request.
#[tokio::test(flavor = "multi_thread")]
async fn service_goes_on_after_rebuild() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    for number in 0..3 {
        rebuild(&app, &[])?;
        for outcome in ["counted", "duplicate"] {
            let like = app.act("ada", "like", &format!("after-{number}")).await;
            assert_eq!(like.body["outcome"], outcome);
        }
        let all = app.api.get("/v1/users/ada/standings").await;
        all.assert_status(200);
        let path = format!("/v1/users/new-{number}");
        app.put(&path, &json!({"name": "New"})).await;
        app.delete(&path).await;
    }
    assert_verified(&app)
}
