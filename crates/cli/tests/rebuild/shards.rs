//! Rebuild of three shards.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use test_support::{Fault, Forwarder, Value, WorkerBuilder, json, shard_among, until};

use crate::TestResult;
use crate::app::builder;
use crate::cli::{
    assert_verified, command, command_at, fails, finish, rebuild, run, succeed, verify,
};
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

fn like(user: &str, target: &str) -> Value {
    json!({"user": user, "action": "like", "target": target})
}

/// Returns the full name of a key on a shard.
fn key(app: &JournalApp, shard: u32, name: &str) -> String {
    app.key_on(shard, name)
}

/// Gives a user of a shard one point more on the all-time board.
fn add_point(app: &JournalApp, shard: u32) -> redis::RedisResult<f64> {
    let (board, point) = (key(app, shard, "ba:all"), (1_u64 << 30).to_string());
    let command = ["ZINCRBY", &board, &point, &user(shard)];
    redis_command(&mut app.redis(), &command)
}

/// Returns the phase of each shard.
fn phases(app: &JournalApp) -> redis::RedisResult<Vec<String>> {
    let phase = |shard| {
        let command = ["HGET", &key(app, shard, "r"), "phase"];
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
        for shard in 0..SHARDS {
            let user = user(shard);
            let response = app.send(json!([like(&user, &number.to_string())])).await;
            let outcome = response.body["results"][0]["outcome"].clone();
            assert_eq!(outcome, "counted", "{}", response.text);
            *likes.entry(user).or_default() += 1;
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
    for shard in 0..SHARDS {
        app.send(json!([like(&user(shard), "p")])).await;
    }
    app.lose_data().await?;
    kill_at_swap(&app, &Forwarder::to(&app.store()), Fault::HangAfter).await?;
    assert_eq!(phases(&app)?, ["swapped"; SHARDS as usize]);
    let resumed = succeed(&app, &["rebuild"])?;
    assert_eq!(resumed.stdout, "completed an interrupted rebuild\n");
    assert_verified(&app)?;
    Ok(())
}

/// Activity counts on all shards, of one generation or the other. The resumed run does not touch the completed shard.
#[tokio::test(flavor = "multi_thread")]
async fn killed_rebuild_resumes_at_second_shard() -> TestResult {
    let app = Arc::new(start(|worker| worker.queued(100)));
    Random::new(4).send_activities(&app.api, 1000).await;
    app.send(json!([like("early", "bird")])).await;
    app.lose_data().await?;
    let done = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (app, done) = (app.clone(), done.clone());
        async move { write_until(&app, &done).await }
    });

    let forwarder = Forwarder::to(&app.store());
    kill_at_second_shard(&app, &forwarder).await?;
    for shard in 0..SHARDS {
        let like = like(&user(shard), "meanwhile");
        let response = app.send(json!([like])).await;
        assert_eq!(response.body["results"][0]["outcome"], "counted", "{shard}");
    }

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
    for shard in 0..SHARDS {
        app.send(json!([like(&user(shard), "p")])).await;
    }
    kill_at_second_shard(&app, &Forwarder::to(&app.store())).await?;
    add_point(&app, 2)?;
    let last_shard = |data: StoredData| {
        let data = live(data).into_iter();
        data.filter(|(key, _)| key.starts_with("2}"))
            .collect::<StoredData>()
    };
    let before = last_shard(app.data()?);
    let rejected = run(&app, &["rebuild"])?;
    assert_eq!(rejected.code, Some(1), "{rejected:?}");
    let error = "1 of 3 shards are rebuilt, and nothing else was changed: 1 value would be lost";
    assert!(rejected.stderr.contains(error), "{rejected:?}");
    assert_eq!(last_shard(app.data()?), before);
    for shard in 0..SHARDS {
        let response = app.send(json!([like(&user(shard), "q")])).await;
        assert_eq!(response.body["results"][0]["outcome"], "counted");
    }
    fails(
        &app,
        &["verify"],
        2,
        "a rebuild is unfinished: run rebuild first",
    )?;
    rebuild(&app, &["--discard"])?;
    assert_verified(&app)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn difference_on_one_shard_rejects_rebuild() -> TestResult {
    let app = start(|worker| worker);
    for shard in 0..SHARDS {
        app.send(like(&user(shard), "p")).await;
        app.send(like("many", &shard.to_string())).await;
    }
    assert_verified(&app)?;
    add_point(&app, 1)?;
    let before = app.data()?;

    let (code, output) = verify(&app)?;
    assert_eq!(code, Some(1), "{output}");
    assert!(output.starts_with("1 difference\n"), "{output}");
    let difference = format!(
        "board all all, {}: the store has 201 points; the journal has 200 points",
        user(1)
    );
    assert!(output.contains(&difference), "{output}");
    assert_eq!(app.data()?, before);

    let rejected = run(&app, &["rebuild"])?;
    assert_eq!(rejected.code, Some(1), "{rejected:?}");
    assert!(
        rejected
            .stderr
            .contains("nothing was changed: 1 value would be lost")
    );
    assert_eq!(live(app.data()?), before);
    rebuild(&app, &["--discard"])?;
    assert_eq!(verify(&app)?.0, Some(0));
    Ok(())
}

/// Moderation on several shards has the same order in the rebuilt audit log, and later entries come
/// first.
#[tokio::test(flavor = "multi_thread")]
async fn rebuilt_audit_log_keeps_order_across_shards() -> TestResult {
    let app = start(|worker| worker);
    let moderate = async |shard: u32, hidden: bool, reason: &str| {
        let path = format!("/v1/users/{}/moderation", user(shard));
        let moderation = json!({"hidden": hidden, "frozen": false, "reason": reason});
        app.put(&path, &moderation).await;
    };
    for (shard, hidden) in [(2, true), (0, true), (1, true), (2, false), (0, false)] {
        moderate(shard, hidden, "Because").await;
    }
    let listed = async || {
        let log = app.api.get("/v1/moderation").await;
        let entries = log.assert_status(200).body["entries"].as_array();
        let format = |entry: &Value| format!("{} {}", entry["action"], entry["user"]["id"]);
        entries.map(|entries| entries.iter().map(format).collect::<Vec<_>>())
    };
    let before = listed().await;
    assert_eq!(before.as_ref().map(Vec::len), Some(5));
    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_eq!(listed().await, before);
    moderate(1, false, "Over").await;
    let newest = format!("\"unhide\" \"{}\"", user(1));
    let after = listed().await.unwrap_or_default();
    assert_eq!((after.len(), after.first()), (6, Some(&newest)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn journal_entry_on_wrong_shard_is_rejected() -> TestResult {
    let app = start(|worker| worker);
    for shard in 0..SHARDS {
        app.send(like(&user(shard), "p")).await;
    }
    app.api.get("/v1/journal").await.assert_status(200);
    let update = format!("UPDATE journal SET shard = 2 WHERE user = '{}'", user(1));
    app.sql(&update).await;
    let before = app.data()?;
    let user = user(1);
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
    let other = other.var("PREFIX", &app.endpoint.prefix).journal();
    let other = other.start();
    let run_with_other = |args: &[&str]| {
        let mut command = command(&app, args);
        command.env("ACTIVITY_RANK_URL", other.url());
        finish(command)
    };
    let before = app.data()?;
    let rejected = run_with_other(&["rebuild"])?;
    assert_eq!(rejected.code, Some(3), "{rejected:?}");
    let error = format!(
        "SHARDS: is 2, but the data under PREFIX {} was written with 3",
        app.endpoint.prefix
    );
    assert!(rejected.stderr.contains(&error), "{rejected:?}");
    assert_eq!(app.data()?, before);

    app.lose_data().await?;
    let forwarder = Forwarder::to(&app.store());
    kill_before_swap(&app, &forwarder).await?;
    let before = app.data()?;
    assert!(
        before.keys().any(|key| key.starts_with("2}2")),
        "{before:?}"
    );
    // The rebuild has claimed the shards.
    for name in ["verify", "rebuild"] {
        let rejected = run_with_other(&[name, "--fresh"])?;
        assert_eq!(rejected.code, Some(3), "{rejected:?}");
        assert!(rejected.stderr.contains(&error), "{rejected:?}");
        assert_eq!(app.data()?, before);
    }
    let fresh = run(&app, &["verify", "--fresh"])?;
    assert_eq!(fresh.code, Some(1), "{fresh:?}");
    assert!(app.data()?.is_empty());
    let verified = run_with_other(&["verify"])?;
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(app.data()?.is_empty());
    Ok(())
}
