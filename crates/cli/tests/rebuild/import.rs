//! `import --rebuild`: the journal of a file in an empty deployment, also of other settings.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;
use test_support::{Fault, Forwarder, Recorded, Value, WorkerBuilder, depth, json};

use crate::TestResult;
use crate::app::{like, noon};
use crate::cli::{fails, succeed};
use crate::content::{VISITORS, content, paths_of_counts};
use crate::interruption::{hang_at, kill};
use crate::journal_app::JournalApp;
use crate::observed::{normalize_audit_log, without_order_of_ties};
use crate::random::Random;
use crate::responses;

fn start(shards: u32, configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> JournalApp {
    JournalApp::start(|worker| configure(content(worker, shards).var("BOARD_MAX_AGE", "0")))
}

/// Returns the file with the journal of a deployment.
fn export(app: &JournalApp, folder: &TempDir) -> Result<String, Box<dyn std::error::Error>> {
    let file = folder.path().join("journal.jsonl");
    let file = file.to_string_lossy().into_owned();
    succeed(app, &["export", "--activity", "--output", &file, "--force"])?;
    Ok(file)
}

#[track_caller]
fn import(app: &JournalApp, file: &str) -> TestResult {
    let output = succeed(app, &["import", file, "--rebuild"])?.stdout;
    assert!(output.starts_with("imported from "), "{output}");
    Ok(())
}

/// Returns responses without what depends on the shards: the order of ties and the ids of the audit log.
async fn read(app: &JournalApp) -> Vec<(String, Value)> {
    let mut responses = responses::read_all(app).await;
    for (path, body) in &mut responses {
        if path.starts_with("/v1/moderation") {
            normalize_audit_log(body);
            if let Some(entries) = body["entries"].as_array_mut() {
                entries.sort_by_key(Value::to_string);
            }
        }
    }
    for path in ["/v1/content/all?limit=100", "/v1/authors/all?limit=100"] {
        let board = app.api.get(path).await;
        responses.push((path.to_owned(), board.assert_status(200).body.clone()));
    }
    for (path, _) in &mut responses {
        // They are boards as all others.
        for kind in ["events", "content", "authors"] {
            *path = path.replace(&format!("/v1/{kind}"), &format!("/v1/ranking/{kind}"));
        }
    }
    let mut responses = without_order_of_ties(responses);
    let targets = ["targets/post-7", "targets/%23a", "users/9/targets"];
    let targets = targets.map(|path| format!("/v1/{path}"));
    responses.extend(responses::read(app, targets.into()).await);
    for path in paths_of_counts() {
        let response = app.api.get(&path).await;
        responses.push((path, response.assert_status(200).body.clone()));
    }
    responses
}

/// Activity, events, moderation, erasures, content and authors.
#[tokio::test(flavor = "multi_thread")]
async fn file_is_rebuilt_over_other_shards() -> TestResult {
    let all = [(1, 3), (3, 1), (1, 1), (3, 8)];
    for (from, to) in all.into_iter().take(depth(1, 4)) {
        let app = start(from, |worker| worker);
        app.fill().await;
        app.fill_content().await;
        Random::new(19).send_activities(&app.api, 500).await;
        app.wait_for_receivers().await;
        let expected = read(&app).await;
        let folder = tempfile::tempdir()?;
        let file = export(&app, &folder)?;
        let other = start(to, |worker| worker);
        import(&other, &file)?;
        println!("{from} to {to} shards");
        responses::assert_same(&read(&other).await, &expected);
        let repeated = other.act("ada", "like", "p0").await;
        assert_eq!(repeated.body["outcome"], "duplicate");
        for user in ["43", VISITORS[0]] {
            let undo = json!({"user": user, "action": "like", "target": "post-7", "undo": true});
            for app in [&app, &other] {
                let response = app.send(undo.clone()).await;
                assert_eq!(response.body["outcome"], "undone");
                app.wait_for_receivers().await;
            }
        }
        responses::assert_same(&read(&other).await, &read(&app).await);
    }
    Ok(())
}

/// The other deployment had the time zone from the beginning.
#[tokio::test(flavor = "multi_thread")]
async fn file_is_rebuilt_in_another_time_zone() -> TestResult {
    let zone = |worker: WorkerBuilder| worker.var("TIMEZONE", "Pacific/Kiritimati");
    let app = start(1, |worker| worker);
    let reference = start(1, zone);
    for app in [&app, &reference] {
        let mut random = Random::new(23);
        for _ in 0..40 {
            let activities: Vec<Value> = (0..10).map(|_| random.activity(20, 40)).collect();
            app.send(json!(activities)).await;
        }
        for user in ["ada", "bob"] {
            app.send(like(user, "late", 3)).await;
        }
        let undo =
            json!({"user": "ada", "action": "like", "target": "late", "undo": true, "at": noon(1)});
        app.send(undo).await;
        app.wait_for_receivers().await;
    }
    let folder = tempfile::tempdir()?;
    let file = export(&app, &folder)?;
    let other = start(3, zone);
    import(&other, &file)?;
    let boards = |mut responses: Vec<(String, Value)>| {
        responses.retain(|(path, _)| path.starts_with("/v1/ranking"));
        responses
    };
    let (found, expected) = (read(&other).await, read(&reference).await);
    responses::assert_same(&boards(found), &boards(expected));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_import_goes_on() -> TestResult {
    let app = start(1, |worker| worker);
    app.fill_content().await;
    Random::new(29).send_activities(&app.api, 500).await;
    app.wait_for_receivers().await;
    let expected = read(&app).await;
    let folder = tempfile::tempdir()?;
    let file = export(&app, &folder)?;
    let other = start(3, |worker| worker);
    let forwarder = Forwarder::to(&other.store());
    // At first before the second shard has a state.
    for requests in [0, 9, 20] {
        let sent = AtomicUsize::new(0);
        let is_reached = move |request: &Recorded| match requests {
            0 => String::from_utf8_lossy(&request.body).contains(":1}r\""),
            _ => sent.fetch_add(1, Ordering::Relaxed) + 1 >= requests,
        };
        let args = ["import", &file, "--rebuild"];
        let child = hang_at(&other, &forwarder, &args, Fault::HangAfter, is_reached).await?;
        kill(child)?;
        forwarder.heal();
        fails(&other, &["verify"], 2, "an import is unfinished")?;
    }
    import(&other, &file)?;
    responses::assert_same(&read(&other).await, &expected);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_imports_change_nothing() -> TestResult {
    let app = start(1, |worker| worker);
    app.send(like("ada", "p", 0)).await;
    let folder = tempfile::tempdir()?;
    let file = export(&app, &folder)?;
    let before = app.data()?;
    let lines = Path::new(&file).with_file_name("lines.jsonl");
    std::fs::write(&lines, "{\"user\":\"42\"}\n")?;
    let lines = lines.to_string_lossy().into_owned();
    let whole = std::fs::read_to_string(&file)?;
    let cut = Path::new(&file).with_file_name("cut.jsonl");
    std::fs::write(&cut, whole.get(..whole.len() - 10).unwrap_or_default())?;
    let cut = cut.to_string_lossy().into_owned();
    let last = format!("cut.jsonl: line {}: has no entry", whole.lines().count());
    for (file, error) in [
        (file.as_str(), "has data: choose another PREFIX"),
        (&cut, &last),
        (&lines, "is no journal of this version"),
        ("-", "--rebuild needs a file that it can read twice"),
        ("missing.jsonl", "missing.jsonl"),
    ] {
        fails(&app, &["import", file, "--rebuild"], 2, error)?;
    }
    assert_eq!(app.data()?, before);
    Ok(())
}
