//! Versions of the rules: published, taken back and printed by the command line, verified and rebuilt.

use jiff::{Timestamp, ToSpan, Unit};
use test_support::{Value, json};

use crate::TestResult;
use crate::cli::{assert_verified, rebuild, run, succeed, verify};
use crate::journal_app::JournalApp;
use crate::stored::redis_command;

/// Runs a command of `rules`, and returns its output.
fn rules(app: &JournalApp, args: &[&str]) -> std::io::Result<String> {
    let run = succeed(app, &[&["rules"], args].concat())?;
    Ok(run.stdout)
}

/// Returns the entries of the audit log without their ids, which a rebuild changes.
async fn audited(app: &JournalApp) -> Vec<Value> {
    let log = app.api.get("/v1/moderation").await.body;
    let mut entries = log["entries"].as_array().cloned().unwrap_or_default();
    for entry in &mut entries {
        entry["id"] = Value::Null;
    }
    entries
}

fn seconds_ahead(seconds: i64) -> Result<String, jiff::Error> {
    let now = Timestamp::now().round(Unit::Second)?;
    Ok((now + seconds.seconds()).to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn published_versions_are_rebuilt() -> TestResult {
    for shards in [1, 3] {
        let app = JournalApp::start(|worker| worker.json("SHARDS", json!(shards)));
        let from = seconds_ahead(300)?;
        let args = [
            "--set",
            "like.points=3",
            "--set",
            "like.daily_cap=40",
            "--reason",
            "Likes",
        ];
        let output = rules(&app, &[&["publish", "--from", &from], &args[..]].concat())?;
        let expected = format!(
            "version 1 from {from} (coming): like.points 2 -> 3, like.daily_cap none -> 40: Likes\n"
        );
        assert_eq!(output, expected);
        let file = tempfile::NamedTempFile::new()?;
        std::fs::write(&file, "[comment]\npoints = 4\n")?;
        let path = file.path().to_string_lossy().into_owned();
        let args = [
            "publish",
            &path,
            "--reason",
            "Comments",
            "--public-reason",
            "--json",
        ];
        assert!(rules(&app, &args)?.contains("\"version\":2"));
        let output = rules(&app, &["take-back", "1", "--reason", "A mistake"])?;
        assert!(
            output.starts_with(&format!("version 1 from {from} (removed): ")),
            "{output}"
        );
        let audited = audited(&app).await;
        assert_eq!(audited.len(), 3, "{audited:?}");
        let shown = rules(&app, &["show"])?;
        assert!(shown.contains("\nversion 2 from "), "{shown}");
        let like = json!({"user": "42", "action": "like", "target": "post"});
        app.post("/v1/activity", &like).await;
        assert_verified(&app)?;
        let before = app.api.get("/v1/rules").await;
        app.lose_data().await?;
        rebuild(&app, &[])?;
        assert_verified(&app)?;
        let after = app.api.get("/v1/rules").await;
        assert_eq!(after.body, before.body, "{shards} shards");
        assert_eq!(self::audited(&app).await, audited, "{shards} shards");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_finds_lost_versions() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    let args = ["publish", "--set", "like.points=3", "--reason", "Likes"];
    rules(&app, &args)?;
    assert_verified(&app)?;
    let (events, users, log) = (app.key("v"), app.key("p"), app.key("l"));
    redis_command::<i64>(&mut app.redis(), &["HDEL", &events, "#1"])?;
    let (code, output) = verify(&app)?;
    assert!(code == Some(1) && output.contains("#1"), "{output}");
    redis_command::<i64>(&mut app.redis(), &["DEL", &log])?;
    let (code, output) = verify(&app)?;
    assert!(
        code == Some(1) && output.contains("publish-rules version 1"),
        "{output}"
    );
    redis_command::<i64>(&mut app.redis(), &["HDEL", &users, "\t!"])?;
    let (code, output) = verify(&app)?;
    assert!(
        code == Some(1) && output.contains("definitions"),
        "{output}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_changes_are_refused() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    for (args, code, expected) in [
        (
            &["publish", "--set", "like", "--reason", "x"][..],
            2,
            "--set like: expected ACTION.FIELD=NUMBER, or none to remove a cap",
        ),
        (
            &["publish", "--set", "like.points=none", "--reason", "x"],
            3,
            "points: must be a number",
        ),
        (
            &["take-back", "7", "--reason", "x"],
            3,
            "There is no version 7 of the rules.",
        ),
    ] {
        let run = run(&app, &[&["rules"], args].concat())?;
        assert!(run.stderr.contains(expected), "{run:?}");
        assert_eq!(run.code, Some(code), "{run:?}");
    }
    Ok(())
}
