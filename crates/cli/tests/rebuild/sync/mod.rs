//! `sync`: history of other software, compared with the journal and mended.

mod forum;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use tempfile::TempDir;
use test_support::{Value, json};

use crate::TestResult;
use crate::cli::run;
use crate::content::content;
use crate::journal_app::JournalApp;
use crate::random::Random;
use crate::run::Run;
use forum::{Forum, post, topic, user};

fn start() -> JournalApp {
    JournalApp::start(|worker| content(worker, 1).var("BOARD_MAX_AGE", "0"))
}

/// A source in a folder of its own.
struct Source {
    folder: TempDir,
}

impl Source {
    fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        Ok(Self { folder })
    }

    fn write(&self, name: &str, text: &str) -> io::Result<String> {
        let path: PathBuf = self.folder.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Runs `sync csv` on a forum.
    fn csv(&self, app: &JournalApp, forum: &Forum, args: &[&str]) -> io::Result<Run> {
        let file = self.write("forum.csv", &forum.csv())?;
        let all = ["sync", "csv", &file, "--id-prefix", "discourse:"];
        run(app, &[&all, args].concat())
    }
}

/// Returns the boards of all time: of members, authors and targets.
async fn boards(app: &JournalApp) -> [BTreeMap<String, i64>; 3] {
    app.wait_for_receivers().await;
    let mut boards: [BTreeMap<String, i64>; 3] = Default::default();
    for (board, path) in boards.iter_mut().zip(["ranking", "authors", "content"]) {
        let id = if path == "content" { "target" } else { "user" };
        for offset in (0..).step_by(100) {
            let page = app
                .api
                .get(&format!("/v1/{path}/all?limit=100&offset={offset}"))
                .await;
            page.assert_status(200);
            let entries = page.body["entries"].as_array().cloned().unwrap_or_default();
            for entry in &entries {
                let name = entry[id]["id"].as_str().unwrap_or_default().to_owned();
                board.insert(name, entry["score"].as_i64().unwrap_or(-1));
            }
            if entries.len() < 100 {
                break;
            }
        }
    }
    boards
}

#[track_caller]
fn assert_ends(run: &Run, code: i32, line: &str) {
    assert_eq!(run.code, Some(code), "{run:?}");
    assert_eq!(run.stdout.lines().last(), Some(line), "{run:?}");
}

async fn send_all(app: &JournalApp, activities: &[Value]) {
    for activity in activities {
        app.send(activity.clone()).await;
    }
}

/// Each change alone, without its webhook, and with a repeated one.
#[tokio::test(flavor = "multi_thread")]
async fn sync_heals_each_change() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let mut forum = Forum::new(6);
    for author in [1, 2] {
        let id = forum.add_topic(author);
        for member in [3, 4, 5] {
            forum.add_reply(id, member);
        }
    }
    for (member, id) in [(3, 1), (4, 1), (5, 2), (3, 5)] {
        forum.like(member, id);
    }
    let synced = source.csv(&app, &forum, &[])?;
    assert_eq!(synced.code, Some(0), "{synced:?}");
    assert!(
        synced
            .stdout
            .contains("counted                           12"),
        "{synced:?}"
    );
    assert_ends(&source.csv(&app, &forum, &["--compare"])?, 0, "0 differ");
    assert_eq!(boards(&app).await, forum.points());
    let again = source.csv(&app, &forum, &["--json"])?;
    let again: Value = serde_json::from_str(&again.stdout)?;
    assert_eq!(again["activity"]["lines"], 0, "{again}");

    let first = json!({"user": user(3), "action": "like", "target": post(1)});
    type Change = fn(&mut Forum);
    let changes: [(&str, Change, i32); 8] = [
        ("withdrawn", |forum| drop(forum.likes.remove(&(3, 1))), 1),
        ("given again", |forum| forum.like(3, 1), 1),
        (
            "moved",
            |forum| forum.posts.get_mut(&2).unwrap().topic = 2,
            1,
        ),
        (
            "deleted",
            |forum| forum.posts.get_mut(&3).unwrap().is_deleted = true,
            1,
        ),
        (
            "recovered",
            |forum| forum.posts.get_mut(&3).unwrap().is_deleted = false,
            1,
        ),
        (
            "author",
            |forum| {
                forum.topics.get_mut(&1).unwrap().author = 6;
                forum.posts.get_mut(&1).unwrap().author = 6;
            },
            // The publication of both, two comments, the two authors, and two likes.
            8,
        ),
        ("merged", |forum| forum.merge(3, 4), 9),
        (
            "deleted topic",
            |forum| forum.topics.get_mut(&2).unwrap().is_deleted = true,
            7,
        ),
    ];
    for (name, change, differ) in changes {
        change(&mut forum);
        let compared = source.csv(&app, &forum, &["--compare", "--limit", "100"])?;
        println!("{name}\n{}", compared.stdout);
        assert_ends(&compared, 4, &format!("{differ} differ"));
        let planned = source.csv(&app, &forum, &["--heal", "--dry-run"])?;
        assert_eq!(planned.code, Some(4), "{planned:?}");
        assert_ends(&source.csv(&app, &forum, &["--heal"])?, 0, "0 differ");
        assert_eq!(boards(&app).await, forum.points(), "{name}");
    }
    // A repeated webhook of a like that was withdrawn.
    app.send(first).await;
    assert_ends(&source.csv(&app, &forum, &["--compare"])?, 4, "1 differ");
    assert_ends(&source.csv(&app, &forum, &["--heal"])?, 0, "0 differ");
    assert_eq!(boards(&app).await, forum.points());
    let topic = app.api.get(&format!("/v1/targets/{}", topic(1))).await;
    assert_eq!(topic.body["author"], user(6), "{}", topic.text);
    Ok(())
}

/// Webhooks are lost and repeated while the forum changes.
#[tokio::test(flavor = "multi_thread")]
async fn sync_heals_random_changes() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let (mut forum, mut random) = (Forum::new(12), Random::new(7));
    for author in 1..=4 {
        let id = forum.add_topic(author);
        for member in 5..=8 {
            forum.add_reply(id, member);
        }
    }
    assert_eq!(source.csv(&app, &forum, &[])?.code, Some(0));
    let (changes, rounds) = match std::env::var_os("SHORT") {
        Some(_) => (60, 2),
        None => (125, 4),
    };
    let mut delivered = Vec::new();
    for round in 0..rounds {
        for _ in 0..changes {
            let deliveries = forum.change(&mut random);
            match random.below(5) {
                0 => {}
                1 => {
                    send_all(&app, &deliveries).await;
                    send_all(&app, &deliveries).await;
                }
                _ => send_all(&app, &deliveries).await,
            }
            delivered.extend(deliveries);
            if random.below(5) == 0 && !delivered.is_empty() {
                let index = random.below(delivered.len() as u64) as usize;
                send_all(&app, &delivered[index..=index]).await;
            }
        }
        println!("round {round}");
        let healed = source.csv(&app, &forum, &["--heal", "--limit", "200"])?;
        assert_ends(&healed, 0, "0 differ");
        let fresh = start();
        let synced = source.csv(&fresh, &forum, &[])?;
        assert_eq!(synced.code, Some(0), "{synced:?}");
        assert_eq!(boards(&fresh).await, forum.points());
        assert_eq!(boards(&app).await, forum.points());
    }
    Ok(())
}
