//! Rebuild and verification while the service writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use test_support::{Value, depth, json, until};
use tokio::task::{JoinError, JoinHandle};

use crate::TestResult;
use crate::app::{day, noon};
use crate::cli::{assert_verified, rebuild, run};
use crate::journal_app::JournalApp;
use crate::random::Random;
use crate::recount::RecountFile;

/// The time between two requests of a writer.
const PACE: Duration = Duration::from_millis(20);

/// Targets of likes that were not undone, by user.
pub type Likes = BTreeMap<String, BTreeSet<String>>;

/// Sends new likes, repeats and undos until `done`. Returns the likes, and the number of queued
/// activities. No activity may fail.
async fn write_until(
    app: &JournalApp,
    writer: u64,
    mut likes: Likes,
    done: &AtomicBool,
) -> (Likes, u64) {
    let (mut random, mut queued, mut number) = (Random::new(writer), 0, 0);
    while !done.load(Ordering::Relaxed) {
        // On a busy machine, the command line would otherwise read fewer entries than the writers add.
        tokio::time::sleep(PACE).await;
        let mut items = Vec::new();
        for _ in 0..5 {
            let user = format!("w{writer}-{}", random.below(20));
            let active = likes.entry(user.clone()).or_default();
            number += 1;
            let like = |target: &str| json!({"user": user, "action": "like", "target": target});
            let any = random.below(active.len().max(1) as u64) as usize;
            match (random.below(10), active.iter().nth(any).cloned()) {
                (0 | 1, Some(target)) => items.push(like(&target)),
                (2 | 3, Some(target)) => {
                    let mut undo = like(&target);
                    undo["undo"] = json!(true);
                    active.remove(&target);
                    items.push(undo);
                }
                _ => {
                    let target = format!("{number}");
                    items.push(like(&target));
                    active.insert(target);
                }
            }
        }
        let response = app.send(json!(items)).await;
        for result in response.body["results"].as_array().into_iter().flatten() {
            assert!(result["error"].is_null(), "{result}");
            queued += u64::from(result["outcome"] == "queued");
        }
    }
    (likes, queued)
}

/// Writers that write until they are stopped.
pub struct Writers {
    done: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<(Likes, u64)>>,
}

impl Writers {
    /// Starts a writer for each of the likes, which it continues.
    pub fn start(app: &Arc<JournalApp>, likes: Vec<Likes>) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let tasks = (0..).zip(likes).map(|(writer, likes)| {
            let (app, done) = (app.clone(), done.clone());
            tokio::spawn(async move { write_until(&app, writer, likes, &done).await })
        });
        let tasks = tasks.collect();
        Self { done, tasks }
    }

    /// Stops the writers and returns their likes. No activity may have been queued.
    pub async fn stop(self) -> Result<Likes, JoinError> {
        self.done.store(true, Ordering::Relaxed);
        let mut all = Likes::new();
        for task in self.tasks {
            let (likes, queued) = task.await?;
            assert_eq!(queued, 0, "activity was queued");
            all.extend(likes);
        }
        Ok(all)
    }
}

/// Returns the points of a user.
pub async fn score(app: &JournalApp, user: &str) -> Option<u64> {
    let response = app.api.get(&format!("/v1/ranking/all/users/{user}")).await;
    response.body["score"].as_u64()
}

/// Three writers go on during a data loss, a verification and a rebuild. At the end every like counts
/// exactly once.
#[tokio::test(flavor = "multi_thread")]
async fn writes_during_rebuild_count_exactly_once() -> TestResult {
    let app = Arc::new(JournalApp::start(|worker| worker.queued(100)));
    app.fill().await;
    let count = depth(300, 3000);
    Random::new(1).send_activities(&app.api, count).await;
    let mut likes: Vec<Likes> = Vec::new();
    for writer in 0..3 {
        let done = AtomicBool::new(false);
        let write = write_until(&app, writer, Likes::new(), &done);
        let stop = async {
            let path = "/v1/ranking/all/users/w0-0";
            until("likes", async || {
                let _ = app.api.get(path).await;
                (app.data().ok()?.len() > 200).then_some(())
            })
            .await;
            done.store(true, Ordering::Relaxed);
        };
        let ((written, _), ()) = tokio::join!(write, stop);
        likes.push(written);
    }
    app.lose_data().await?;

    let writers = Writers::start(&app, likes);
    let rebuilt = app.clone();
    let rebuild = move || {
        run(&rebuilt, &["verify"])?.assert_code(1);
        rebuild(&rebuilt, &[])
    };
    tokio::task::spawn_blocking(rebuild).await??;
    for (user, active) in writers.stop().await? {
        let expected = 2 * active.len() as u64;
        until(&format!("{expected} points of {user}"), async || {
            (score(&app, &user).await == Some(expected)).then_some(())
        })
        .await;
    }
    assert_verified(&app)
}

/// A recount after the last writer gives each like its points, so each has counted exactly once.
#[tokio::test(flavor = "multi_thread")]
async fn writes_during_recount_count_exactly_once() -> TestResult {
    let app = Arc::new(JournalApp::start(|worker| worker.queued(100)));
    app.fill().await;
    let count = depth(200, 1500);
    Random::new(3).send_activities(&app.api, count).await;
    let rules = Arc::new(RecountFile::new(&json!({"like": {"points": 5}}))?);
    let writers = Writers::start(&app, vec![Likes::new(); 2]);
    let recount = {
        let (app, rules) = (app.clone(), rules.clone());
        move || rules.apply(&app)
    };
    tokio::task::spawn_blocking(recount).await??;
    let all = writers.stop().await?;
    for (user, active) in &all {
        let path = format!("/v1/users/{user}/activity");
        until(&format!("{} likes of {user}", active.len()), async || {
            let history = app.api.get(&path).await;
            let count = &history.body["days"][0]["actions"]["like"]["count"];
            (count.as_u64().unwrap_or(0) == active.len() as u64).then_some(())
        })
        .await;
    }
    rules.apply(&app)?;
    for (user, active) in all {
        let points = 5 * active.len() as u64;
        assert_eq!(score(&app, &user).await, Some(points), "{user}");
    }
    assert_verified(&app)
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_during_writes_finds_no_difference() -> TestResult {
    let app = Arc::new(JournalApp::start(|worker| worker));
    app.fill().await;
    let count = depth(300, 1000);
    Random::new(2).send_activities(&app.api, count).await;
    let writers = Writers::start(&app, vec![Likes::new()]);
    for _ in 0..depth(1, 3) {
        let app = app.clone();
        let verify = move || run(&app, &["verify"]);
        tokio::task::spawn_blocking(verify).await??.assert_code(0);
    }
    writers.stop().await?;
    Ok(())
}

/// Activity counted again after a data loss is in the journal twice. The rebuild counts the first
/// entry; points of the second one on another day's board are no data loss.
#[tokio::test(flavor = "multi_thread")]
async fn activity_repeated_after_loss_counts_once() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    let like = |user: &str, target: &str| json!({"user": user, "action": "like", "target": target});
    let mut early = like("ada", "p");
    early["at"] = json!(noon(5));
    for activity in [early, like("bob", "p"), like("bob", "q")] {
        app.send(activity).await;
    }
    app.lose_data().await?;
    for repeated in [like("ada", "p"), like("bob", "p")] {
        assert_eq!(app.send(repeated).await.body["outcome"], "counted");
    }
    let mut undo = like("bob", "q");
    undo["undo"] = json!(true);
    assert_eq!(app.send(undo).await.body["outcome"], "nothing-to-undo");

    let output = rebuild(&app, &[])?;
    assert!(
        output.contains("\nthe journal has repeated activity of 2 users"),
        "{output}"
    );
    let reader = app.without_cache();
    let entries = async |days_ago: i64| -> Value {
        let path = format!("/v1/ranking/day?date={}", day(days_ago));
        reader.api.get(&path).await.body["entries"].clone()
    };
    let only = |user: &str| json!([{"rank": 1, "score": 2, "user": {"id": user}}]);
    assert_eq!(entries(5).await, only("ada"));
    assert_eq!(entries(0).await, only("bob"));
    assert_verified(&app)
}
