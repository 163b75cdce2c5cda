//! Versions of the rules: published, taken back and printed by the command line, verified and rebuilt.

use jiff::{Timestamp, ToSpan, Unit};
use test_support::json;

use crate::TestResult;
use crate::cli::{assert_verified, fails, rebuild, run, succeed};
use crate::journal_app::JournalApp;
use crate::stored::redis_command;

/// Runs a command of `rules`, and returns its output.
fn rules(app: &JournalApp, args: &[&str]) -> std::io::Result<String> {
    let run = succeed(app, &[&["rules"], args].concat())?;
    Ok(run.stdout)
}

#[tokio::test(flavor = "multi_thread")]
async fn published_versions_are_rebuilt() -> TestResult {
    for shards in [1, 3] {
        let app = JournalApp::start(|worker| worker.json("SHARDS", json!(shards)));
        let from = (Timestamp::now().round(Unit::Second)? + 5.minutes()).to_string();
        let set = ["--set=like.points=3", "--set=like.daily_cap=40"];
        let args = ["publish", "--from", &from, "--reason", "Likes"];
        let output = rules(&app, &[&args[..], &set].concat())?;
        let expected = format!(
            "version 1 from {from} (coming): like.points 2 -> 3, like.daily_cap none -> 40: Likes\n"
        );
        assert_eq!(output, expected);
        let file = tempfile::NamedTempFile::new()?;
        std::fs::write(&file, "[comment]\npoints = 4\n")?;
        let path = file.path().to_string_lossy().into_owned();
        let args = ["publish", &path, "--reason=Comments", "--public-reason"];
        let output = rules(&app, &[&args[..], &["--json"]].concat())?;
        assert!(output.contains("\"version\":2"), "{output}");
        let output = rules(&app, &["take-back", "1", "--reason", "A mistake"])?;
        let removed = format!("version 1 from {from} (removed): ");
        assert!(output.starts_with(&removed), "{output}");
        let audited = app.audit_log().await;
        assert_eq!(audited.len(), 3, "{audited:?}");
        let shown = rules(&app, &["show"])?;
        assert!(shown.contains("\nversion 2 from "), "{shown}");
        let like = "\nlike: 2 points, sent by members or services, at most 100 points a day if members send it, once for each target, ";
        assert!(shown.contains(like), "{shown}");
        app.act("42", "like", "post").await;
        assert_verified(&app)?;
        let before = app.api.get("/v1/rules").await;
        app.lose_data().await?;
        rebuild(&app, &[])?;
        assert_verified(&app)?;
        let after = app.api.get("/v1/rules").await;
        assert_eq!(after.body, before.body, "{shards} shards");
        assert_eq!(app.audit_log().await, audited, "{shards} shards");
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
    for (loss, expected) in [
        (vec!["HDEL", &events, "#1"], "#1"),
        (vec!["DEL", &log], "publish-rules version 1"),
        (vec!["HDEL", &users, "\t!"], "definitions"),
    ] {
        redis_command::<i64>(&mut app.redis(), &loss)?;
        let output = run(&app, &["verify"])?.assert_code(1).stdout;
        assert!(output.contains(expected), "{output}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_changes_are_refused() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    let set = "--set like: expected ACTION.FIELD=NUMBER, or none to remove a cap";
    let number = "points: must be a number";
    for (args, code, expected) in [
        (["publish", "--set=like"], 2, set),
        (["publish", "--set=like.points=none"], 3, number),
        (["take-back", "7"], 3, "There is no version 7 of the rules."),
    ] {
        let args = [&["rules"], &args[..], &["--reason=x"]].concat();
        fails(&app, &args, code, expected)?;
    }
    Ok(())
}
