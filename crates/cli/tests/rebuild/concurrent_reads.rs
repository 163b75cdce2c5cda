//! Reads while a recount replaces the data: every response is of the data before or after.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use test_support::{Value, depth, json};

use crate::TestResult;
use crate::cli::assert_verified;
use crate::concurrent_writes::{Likes, Writers, score};
use crate::journal_app::JournalApp;
use crate::recount::RecountFile;

const USERS: usize = 48;

fn user(index: usize) -> String {
    format!("r{index}")
}

/// Returns the scores of readers in a response.
fn scores(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(values) => values.iter().flat_map(scores).collect(),
        Value::Object(fields) => {
            let id = fields.get("user").and_then(|user| user["id"].as_str());
            if id.is_some_and(|id| !id.starts_with('r')) {
                return Vec::new();
            }
            let score = fields.get("score").into_iter();
            // The next rank may be that of a writer.
            let inner = fields.iter().filter(|(name, _)| *name != "next");
            score
                .chain(inner.flat_map(|(_, value)| scores(value)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Reads until `done`. All readers have the same score.
async fn read_until(app: &JournalApp, reader: usize, done: &AtomicBool, read: &AtomicU64) {
    let me = user(reader);
    let paths = [
        "/v1/ranking/all?limit=100".to_owned(),
        format!("/v1/ranking/all/users/{me}?around=5"),
        "/v1/ranking/all?limit=20&offset=20".to_owned(),
        format!("/v1/users/{me}/standings"),
    ];
    let mut path = paths.iter().cycle();
    while !done.load(Ordering::Relaxed) {
        let path = path.next().map_or("", String::as_str);
        let response = app.api.get(path).await;
        response.assert_status(200);
        let seen = scores(&response.body);
        assert!(!seen.is_empty(), "{path}: {}", response.body);
        let are_equal = seen.windows(2).all(|pair| pair[0] == pair[1]);
        assert!(are_equal, "{path}: {}", response.body);
        read.fetch_add(1, Ordering::Relaxed);
    }
}

async fn check(shards: u32) -> TestResult {
    let app = Arc::new(JournalApp::start(|worker| {
        worker
            .queued(100)
            .json("SHARDS", json!(shards))
            .var("BOARD_MAX_AGE", "0")
    }));
    let likes =
        (0..USERS).map(|index| json!({"user": user(index), "action": "like", "target": "post"}));
    app.send(Value::Array(likes.collect()))
        .await
        .assert_status(200);
    let (done, read) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let readers: Vec<_> = (0..4)
        .map(|reader| {
            let (app, done, read) = (app.clone(), done.clone(), read.clone());
            tokio::spawn(async move { read_until(&app, reader, &done, &read).await })
        })
        .collect();
    let writers = Writers::start(&app, vec![Likes::new()]);
    for points in [5, 2].repeat(depth(1, 2)) {
        let before = read.load(Ordering::Relaxed);
        let rules = RecountFile::new(&json!({"like": {"points": points}}))?;
        let app = app.clone();
        tokio::task::spawn_blocking(move || rules.apply(&app)).await??;
        assert!(
            read.load(Ordering::Relaxed) > before,
            "nothing was read meanwhile"
        );
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await?;
    }
    for (user, active) in writers.stop().await? {
        let points = 2 * active.len() as u64;
        assert_eq!(score(&app, &user).await, Some(points), "{user}");
    }
    assert_verified(&app)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak"]
async fn reads_during_recount_see_one_generation() -> TestResult {
    check(1).await
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_during_recount_on_shards_see_one_generation() -> TestResult {
    check(8).await
}
