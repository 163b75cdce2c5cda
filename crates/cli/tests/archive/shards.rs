//! Export and restore of three shards.

use std::fs;

use test_support::{Fault, Forwarder, Value, json, redis, shard_among};

use crate::app::{Endpoint, TestApp, builder};
use crate::cli::{export, run};
use crate::stored::{assert_same, read_data, redis_command};
use crate::{TestResult, responses};

const SHARDS: u32 = 3;

/// Starts a service with `shards` shards.
fn start(shards: u32, endpoint: &Endpoint) -> TestApp {
    let worker = builder()
        .var("PREFIX", &endpoint.prefix)
        .store(&endpoint.store);
    let worker = worker.json("SHARDS", json!(shards)).start();
    TestApp::new(worker.api(), endpoint.clone(), worker)
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_needs_the_same_number_of_shards() -> TestResult {
    let app = start(SHARDS, &Endpoint::unused("whole"));
    app.fill().await;
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let text = fs::read_to_string(&file)?;
    let first: Value = serde_json::from_str(text.lines().next().unwrap_or_default())?;
    assert_eq!(first["shards"], SHARDS);
    // Lines of a single user do not name the shard.
    let user_kinds = [
        "profile",
        "flags",
        "history",
        "marks",
        "day-marks",
        "undo-memory",
    ];
    for line in text.lines() {
        let line: Value = serde_json::from_str(line)?;
        let kind = line["kind"].as_str().unwrap_or_default();
        assert!(
            !user_kinds.contains(&kind) || line["shard"].is_null(),
            "{line}"
        );
    }

    let copied = Endpoint::unused("copy");
    let restored = run(&copied, &["restore", &file.to_string_lossy()])?;
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert!(
        restored.stdout.ends_with(" lines to 3 shards\n"),
        "{restored:?}"
    );
    let mut redis = redis().connection();
    let expected = read_data(&mut redis, &app.endpoint.prefix)?;
    assert_same(&read_data(&mut redis, &copied.prefix)?, &expected);
    let copy = start(SHARDS, &copied);
    responses::assert_same(
        &responses::read_all(&copy).await,
        &responses::read_all(&app).await,
    );

    for other in [1, 2] {
        let response = start(other, &copied).api.get("/v1/ranking/all").await;
        response.assert_status(500);
        let detail = format!(
            "SHARDS: is {other}, but the data under PREFIX {} was written with 3; set SHARDS back \
             to 3, or choose another PREFIX to start anew",
            copied.prefix
        );
        assert_eq!(response.body["detail"], detail);
    }
    Ok(())
}

/// The restore is interrupted after the last shard, which is completed first.
#[tokio::test(flavor = "multi_thread")]
async fn resumed_restore_skips_completed_shards() -> TestResult {
    let app = start(SHARDS, &Endpoint::unused("broken"));
    app.fill().await;
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let path = file.to_string_lossy();
    let copied = Endpoint::unused("broken-copy");
    let forwarder = Forwarder::to(&copied.store);
    let forwarded = Endpoint {
        store: forwarder.url(),
        ..copied.clone()
    };
    let users = format!("{{{}:1}}p", copied.prefix);
    forwarder.fail(move |request| {
        let text = String::from_utf8_lossy(&request.body);
        let completes = text.contains("\"EVAL\"") && text.contains("\"v4 generation=1 shards=3 ");
        (completes && text.contains(&users)).then_some(Fault::CutBefore)
    });
    let interrupted = run(&forwarded, &["restore", &path, "--retries", "0"])?;
    assert_eq!(interrupted.code, Some(3), "{interrupted:?}");
    let mut redis = redis().connection();
    for (shard, start) in [
        (0, "restoring "),
        (1, "restoring "),
        (2, "v4 generation=1 shards=3 "),
    ] {
        let key = format!("{{{}:{shard}}}p", copied.prefix);
        let stored: String = redis_command(&mut redis, &["HGET", &key, "\t"])?;
        assert!(stored.starts_with(start), "{shard}: {stored}");
    }
    let copy = start(SHARDS, &copied);
    copy.api.get("/v1/ranking/all").await.assert_status(500);
    let rejected = run(&copied, &["export"])?;
    assert!(rejected.stderr.contains("is unfinished"), "{rejected:?}");
    let rejected = run(&copied, &["restore", &path])?;
    assert!(rejected.stderr.contains("add --continue"), "{rejected:?}");

    // A field of the completed shard shows whether the resumed restore writes to it.
    let profiles = format!("{{{}:2}}p", copied.prefix);
    let _: i64 = redis_command(&mut redis, &["HSET", &profiles, "new", "{}"])?;
    let resumed = run(&copied, &["restore", "--continue", &path])?;
    assert_eq!((resumed.code, resumed.stderr.as_str()), (Some(0), ""));
    let _: i64 = redis_command(&mut redis, &["HDEL", &profiles, "new"])?;
    let expected = read_data(&mut redis, &app.endpoint.prefix)?;
    assert_same(&read_data(&mut redis, &copied.prefix)?, &expected);
    copy.api.get("/v1/ranking/all").await.assert_status(200);
    Ok(())
}

/// Stray users, different fingerprints and missing fingerprints stop the export. A restore finds keys
/// on any shard of the prefix.
#[tokio::test(flavor = "multi_thread")]
async fn inconsistent_shards_are_not_exported() -> TestResult {
    let app = start(SHARDS, &Endpoint::unused("odd"));
    let mut names = (0..).map(|number| format!("s{number}"));
    let name = names.find(|name| shard_among(name, SHARDS) == 2);
    let name = name.unwrap_or_default();
    app.send(json!({"user": name, "action": "like", "target": "p"}))
        .await;
    let mut redis = redis().connection();
    let prefix = &app.endpoint.prefix;
    let key = |shard: u32, name: &str| test_support::key_on(prefix, shard, name);

    let stray = key(1, &format!("m:{name}"));
    let _: i64 = redis_command(&mut redis, &["HSET", &stray, "Lq", "2041795132800000"])?;
    let rejected = run(&app.endpoint, &["export"])?;
    assert_eq!(rejected.code, Some(3), "{rejected:?}");
    let error = format!("{stray} belongs to a user or target of shard 2");
    assert!(rejected.stderr.contains(&error), "{rejected:?}");
    let _: i64 = redis_command(&mut redis, &["DEL", &stray])?;

    let fingerprint: String = redis_command(&mut redis, &["HGET", &key(1, "p"), "\t"])?;
    let other = fingerprint.replace("decimals=2", "decimals=0");
    let _: i64 = redis_command(&mut redis, &["HSET", &key(1, "p"), "\t", &other])?;
    let rejected = run(&app.endpoint, &["export"])?;
    assert_eq!(rejected.code, Some(2), "{rejected:?}");
    assert!(
        rejected
            .stderr
            .contains("have different schema fingerprints"),
        "{rejected:?}"
    );
    let _: i64 = redis_command(&mut redis, &["HDEL", &key(1, "p"), "\t"])?;
    let rejected = run(&app.endpoint, &["export"])?;
    assert_eq!(rejected.code, Some(2), "{rejected:?}");
    let error = format!("shard 1 of 3 under the prefix {prefix} has no schema fingerprint");
    assert!(rejected.stderr.contains(&error), "{rejected:?}");

    let _: i64 = redis_command(&mut redis, &["HDEL", &key(0, "p"), "\t"])?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("none.jsonl");
    let lines = [
        r#"{"kind":"export","version":2,"prefix":"ar","instant":"2026-11-20T08:00:00Z","shards":1,"decimals":0,"timezone":"UTC"}"#,
        r#"{"kind":"end","lines":1}"#,
    ];
    fs::write(&file, lines.join("\n"))?;
    let rejected = run(&app.endpoint, &["restore", &file.to_string_lossy()])?;
    assert_eq!(rejected.code, Some(2), "{rejected:?}");
    assert!(rejected.stderr.contains("is not empty"), "{rejected:?}");
    Ok(())
}
