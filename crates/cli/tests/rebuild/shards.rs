//! Rebuild of three shards.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use test_support::{Fault, Forwarder, WorkerBuilder, json, shard_among, until};

use crate::TestResult;
use crate::app::builder;
use crate::cli::{assert_verified, command, command_at, fails, finish, rebuild, run};
use crate::concurrent_writes::score;
use crate::interruption::{kill_at_swap, kill_before_swap};
use crate::journal_app::JournalApp;
use crate::random::Random;
use crate::stored::{StoredData, is_of_rebuild, redis_command};

const SHARDS: u32 = 3;

fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> JournalApp {
    JournalApp::start(|worker| configure(worker.json("SHARDS", json!(SHARDS))))
}

/// Returns a user of a shard.
fn user(shard: u32) -> String {
    let mut names = (0..).map(|number| format!("s{number}"));
    let on_shard = names.find(|name| shard_among(name, SHARDS) == shard);
    on_shard.unwrap_or_default()
}

/// Sends a like of a user of each shard.
async fn like_on_each_shard(app: &JournalApp, target: &str) {
    for shard in 0..SHARDS {
        let like = json!({"user": user(shard), "action": "like", "target": target});
        let response = app.send(json!([like])).await;
        assert_eq!(response.body["results"][0]["outcome"], "counted", "{shard}");
    }
}

/// Gives a user of a shard one point more on the all-time board.
fn add_point(app: &JournalApp, shard: u32) -> redis::RedisResult<f64> {
    let (board, point) = (app.key_on(shard, "ba:all"), (1_u64 << 30).to_string());
    let command = ["ZINCRBY", &board, &point, &user(shard)];
    redis_command(&mut app.redis(), &command)
}

/// Returns the phase of each shard.
fn phases(app: &JournalApp) -> redis::RedisResult<Vec<String>> {
    let phase = |shard| {
        let command = ["HGET", &app.key_on(shard, "r"), "phase"];
        redis_command(&mut app.redis(), &command)
    };
    (0..SHARDS).map(phase).collect()
}

/// Returns the data without what a rebuild has written.
fn live(data: StoredData) -> StoredData {
    let live = data.into_iter();
    live.filter(|(key, _)| !is_of_rebuild(key)).collect()
}

/// Sends likes of one user per shard until `done`. Returns the number of likes by user.
async fn write_until(app: &JournalApp, done: &AtomicBool) -> BTreeMap<String, u64> {
    let mut likes = BTreeMap::new();
    for number in 0.. {
        if done.load(Ordering::Relaxed) {
            break;
        }
        like_on_each_shard(app, &number.to_string()).await;
        for shard in 0..SHARDS {
            *likes.entry(user(shard)).or_default() += 1;
        }
    }
    likes
}

/// Kills a rebuild after the first shard alone was swapped: a cluster may lose the rest of the request.
async fn kill_at_second_shard(app: &JournalApp, forwarder: &Forwarder) -> TestResult {
    kill_at_swap(app, forwarder, Fault::HangAfterFirst).await?;
    assert_eq!(phases(app)?, ["swapped", "replay", "replay"]);
    forwarder.reset();
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_rebuild_has_swapped_all_shards() -> TestResult {
    let app = start(|worker| worker);
    like_on_each_shard(&app, "p").await;
    app.lose_data().await?;
    kill_at_swap(&app, &Forwarder::to(&app.store()), Fault::HangAfter).await?;
    assert_eq!(phases(&app)?, ["swapped"; SHARDS as usize]);
    run(&app, &["rebuild"])?.assert_stdout(0, "completed an interrupted rebuild\n");
    assert_verified(&app)
}

/// Activity counts on all shards, of one generation or the other. The resumed run does not touch the completed shard.
#[tokio::test(flavor = "multi_thread")]
async fn killed_rebuild_resumes_at_second_shard() -> TestResult {
    let app = Arc::new(start(|worker| worker.queued(100)));
    Random::new(4).send_activities(&app.api, 1000).await;
    app.act("early", "like", "bird").await;
    app.lose_data().await?;
    let done = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (app, done) = (app.clone(), done.clone());
        async move { write_until(&app, &done).await }
    });

    let forwarder = Forwarder::to(&app.store());
    kill_at_second_shard(&app, &forwarder).await?;
    like_on_each_shard(&app, "meanwhile").await;
    let resumed = command_at(&app, &forwarder.url(), &["rebuild"]).spawn()?;
    let output = tokio::task::spawn_blocking(move || resumed.wait_with_output()).await??;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    assert!(
        stdout.ends_with("\n1 shard rebuilt before the interruption\n"),
        "{stdout}"
    );
    let tag = format!("{{{}:0}}", app.endpoint.prefix);
    let touched = forwarder.requests().into_iter().filter(|request| {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        let is_written = text.contains(&format!("{tag}2")) || text.contains(&format!("{tag}3"));
        // The former generation is left to delete.
        is_written && text.contains("EVALSHA")
    });
    assert_eq!(touched.count(), 0, "the first shard was rebuilt again");

    done.store(true, Ordering::Relaxed);
    for (user, likes) in writer.await? {
        // 2 points for each like, and for the like "meanwhile".
        let expected = 2 * (likes + 1);
        until(&format!("{expected} points of {user}"), async || {
            (score(&app, &user).await == Some(expected)).then_some(())
        })
        .await;
    }
    assert_eq!(score(&app, "early").await, Some(2));
    assert_verified(&app)?;
    let left = app.data()?;
    assert_eq!(left.len(), live(left.clone()).len(), "{left:?}");
    Ok(())
}

/// The last of three shards has data that the journal lacks. It stays unchanged, after
/// another one was rebuilt.
#[tokio::test(flavor = "multi_thread")]
async fn shard_with_data_to_lose_is_not_rebuilt() -> TestResult {
    let app = start(|worker| worker);
    like_on_each_shard(&app, "p").await;
    kill_at_second_shard(&app, &Forwarder::to(&app.store())).await?;
    add_point(&app, 2)?;
    let last_shard = |data: StoredData| {
        let data = live(data).into_iter();
        data.filter(|(key, _)| key.starts_with("2}"))
            .collect::<StoredData>()
    };
    let before = last_shard(app.data()?);
    let error = "1 of 3 shards are rebuilt, and nothing else was changed: 1 value would be lost";
    fails(&app, &["rebuild"], 1, error)?;
    assert_eq!(last_shard(app.data()?), before);
    like_on_each_shard(&app, "q").await;
    let error = "a rebuild is unfinished: run rebuild first";
    fails(&app, &["verify"], 2, error)?;
    rebuild(&app, &["--discard"])?;
    assert_verified(&app)
}

#[tokio::test(flavor = "multi_thread")]
async fn difference_on_one_shard_rejects_rebuild() -> TestResult {
    let app = start(|worker| worker);
    like_on_each_shard(&app, "p").await;
    for target in ["0", "1", "2"] {
        app.act("many", "like", target).await;
    }
    assert_verified(&app)?;
    add_point(&app, 1)?;
    let before = app.data()?;

    let output = run(&app, &["verify"])?.assert_code(1).stdout;
    assert!(output.starts_with("1 difference\n"), "{output}");
    let difference = format!(
        "board all all, {}: the store has 201 points; the journal has 200 points",
        user(1)
    );
    assert!(output.contains(&difference), "{output}");
    assert_eq!(app.data()?, before);

    let error = "nothing was changed: 1 value would be lost";
    fails(&app, &["rebuild"], 1, error)?;
    assert_eq!(live(app.data()?), before);
    rebuild(&app, &["--discard"])?;
    assert_verified(&app)
}

/// Moderation on several shards has the same order in the rebuilt audit log, and later entries come
/// first.
#[tokio::test(flavor = "multi_thread")]
async fn rebuilt_audit_log_keeps_order_across_shards() -> TestResult {
    let app = start(|worker| worker);
    for (shard, hidden) in [(2, true), (0, true), (1, true), (2, false), (0, false)] {
        app.moderate(&user(shard), hidden, false).await;
    }
    let before = app.audit_log().await;
    assert_eq!(before.len(), 5, "{before:?}");
    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_eq!(app.audit_log().await, before);
    app.moderate(&user(1), false, false).await;
    let after = app.audit_log().await;
    let newest = json!([after[0]["action"], after[0]["user"]["id"]]);
    assert_eq!((after.len(), newest), (6, json!(["unhide", user(1)])));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn journal_entry_on_wrong_shard_is_rejected() -> TestResult {
    let app = start(|worker| worker);
    like_on_each_shard(&app, "p").await;
    app.api.get("/v1/journal").await.assert_status(200);
    let (user, before) = (user(1), app.data()?);
    app.sql(&format!(
        "UPDATE journal SET shard = 2 WHERE user = '{user}'"
    ))
    .await;
    let error = format!("is on shard 2, but user '{user}' belongs to shard 1 of 3");
    for name in ["verify", "rebuild"] {
        fails(&app, &[name], 3, &error)?;
        assert_eq!(app.data()?, before);
    }
    Ok(())
}

/// A service with two shards cannot rebuild data of three, and cannot resume a rebuild with three.
#[tokio::test(flavor = "multi_thread")]
async fn changed_number_of_shards_is_rejected() -> TestResult {
    let app = start(|worker| worker);
    Random::new(5).send_activities(&app.api, 100).await;
    let other = builder().store(&app.store()).json("SHARDS", json!(2));
    let other = other.var("PREFIX", &app.endpoint.prefix).journal().start();
    let run_with_other = |args: &[&str]| {
        let mut command = command(&app, args);
        command.env("ACTIVITY_RANK_URL", other.url());
        finish(command)
    };
    let before = app.data()?;
    let error = format!(
        "SHARDS: is 2, but the data under PREFIX {} was written with 3",
        app.endpoint.prefix
    );
    run_with_other(&["rebuild"])?.assert_error(3, &error);
    assert_eq!(app.data()?, before);

    app.lose_data().await?;
    let forwarder = Forwarder::to(&app.store());
    kill_before_swap(&app, &forwarder).await?;
    let before = app.data()?;
    let is_replayed = before.keys().any(|key| key.starts_with("2}2"));
    assert!(is_replayed, "{before:?}");
    // The rebuild has claimed the shards.
    for name in ["verify", "rebuild"] {
        run_with_other(&[name, "--fresh"])?.assert_error(3, &error);
        assert_eq!(app.data()?, before);
    }
    run(&app, &["verify", "--fresh"])?.assert_code(1);
    assert!(app.data()?.is_empty());
    run_with_other(&["verify"])?.assert_code(0);
    assert!(app.data()?.is_empty());
    Ok(())
}
