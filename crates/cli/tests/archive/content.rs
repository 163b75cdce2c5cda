//! Export and restore of boards of content and of authors, registered targets and deliveries.

use test_support::reference::waiting;
use test_support::{Value, json, redis, shard_among, until};

use crate::app::{Endpoint, TestApp, builder, day, noon};
use crate::cli::{export, restore};
use crate::stored::{StoredData, StoredValue, assert_same, read_data, redis_command};
use crate::{TestResult, responses};

fn start(shards: u32, endpoint: &Endpoint) -> TestApp {
    let worker = builder().var("PREFIX", &endpoint.prefix);
    let worker = worker.var("CONTENT_PERIODS", "day,all");
    let worker = worker
        .json("SHARDS", json!(shards))
        .store(&endpoint.store)
        .start();
    TestApp::new(worker.api(), endpoint.clone(), worker)
}

fn like(user: &str, target: &str) -> Value {
    json!({"user": user, "action": "like", "target": target})
}

fn undo(user: &str, target: &str) -> Value {
    json!({"user": user, "action": "like", "target": target, "undo": true})
}

/// Registers targets, likes, hides and deletes them.
async fn fill(app: &TestApp) {
    let api = &app.api;
    for (target, body) in [
        ("post-7", json!({"author": "9", "title": "A \"title\"; 艾"})),
        ("%23a%20b", json!({"author": "10"})),
        ("bare", json!({})),
        ("deleted", json!({"author": "9"})),
    ] {
        let path = format!("/v1/targets/{target}");
        api.put(&path, &body).await.assert_status(200);
    }
    for target in ["post-7", "#a b", "bare", "deleted"] {
        app.send(json!([like("42", target), like("43", target)]))
            .await;
    }
    let mut dated = like("44", "post-7");
    dated["at"] = json!(noon(2));
    app.send(dated).await;
    let hide = json!({"hidden": true, "reason": "A test"});
    let path = "/v1/targets/%23a%20b/moderation";
    api.put(path, &hide).await.assert_status(200);
    let response = api.delete("/v1/targets/deleted").await;
    response.assert_status(204);
    app.send(undo("43", "bare")).await;
}

/// Waits until others have received everything.
async fn wait_for_receivers(app: &TestApp, shards: u32) {
    let mut redis = redis().connection();
    until("the receivers", async || {
        (waiting(&mut redis, &app.endpoint.prefix, shards) == 0).then_some(())
    })
    .await;
}

async fn read_content(app: &TestApp) -> Vec<(String, Value)> {
    let mut responses = Vec::new();
    for path in [
        "/v1/content/day",
        "/v1/content/all",
        "/v1/authors/all",
        "/v1/content/all/targets/%23a%20b",
        "/v1/authors/all/users/9?around=2",
        "/v1/users/9/targets",
        "/v1/targets/post-7",
        "/v1/targets/deleted",
        "/v1/content/hot",
    ] {
        let response = app.api.get(path).await;
        responses.push((path.to_owned(), response.body));
    }
    responses
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_of_content_behaves_the_same() -> TestResult {
    let app = start(1, &Endpoint::unused("content"));
    fill(&app).await;
    wait_for_receivers(&app, 1).await;
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let copied = Endpoint::unused("content-copy");
    restore(&copied, &file)?;
    let mut redis = redis().connection();
    let expected = without_stream(read_data(&mut redis, &app.endpoint.prefix)?, 0);
    let found = without_stream(read_data(&mut redis, &copied.prefix)?, 0);
    assert_same(&found, &expected);
    let copy = start(1, &copied);
    responses::assert_same(&read_content(&copy).await, &read_content(&app).await);

    let show = json!({"hidden": false, "reason": "A test"});
    for app in [&app, &copy] {
        for (user, target) in [("42", "post-7"), ("42", "deleted"), ("44", "post-7")] {
            let response = app.send(undo(user, target)).await;
            assert_eq!(response.body["outcome"], "undone");
        }
        let path = "/v1/targets/%23a%20b/moderation";
        app.api.put(path, &show).await.assert_status(200);
        app.send(like("45", "post-7")).await;
        wait_for_receivers(app, 1).await;
    }
    let left = [start(1, &app.endpoint), start(1, &copied)];
    let found = read_content(&left[1]).await;
    responses::assert_same(&found, &read_content(&left[0]).await);
    assert_eq!(found[1].1["entries"][0]["score"], 4);
    Ok(())
}

/// Returns the data without an empty stream, and without the ends of what the receivers of each shard have applied:
/// their own positions say it too.
fn without_stream(mut data: StoredData, shard: u32) -> StoredData {
    data.remove(&format!("{shard}}}o"));
    for (value, _) in data.values_mut() {
        if let StoredValue::Hash(fields) = value {
            fields.remove("\t#o");
        }
    }
    data
}

/// In a copy others receive what waits, and nothing that they have received.
#[tokio::test(flavor = "multi_thread")]
async fn copy_gives_waiting_changes_once() -> TestResult {
    let app = start(2, &Endpoint::unused("delivered"));
    fill(&app).await;
    let key = test_support::key_on;
    let mut redis = redis().connection();
    let (from, to) = (shard_among("42", 2), shard_among("9", 2));
    assert_ne!(from, to);
    wait_for_receivers(&app, 2).await;
    until("empty streams", async || {
        let mut lengths = [0, 1].map(|shard| {
            let stream = key(&app.endpoint.prefix, shard, "o");
            redis_command::<u64>(&mut redis, &["XLEN", &stream]).unwrap_or(1)
        });
        lengths.sort_unstable();
        (lengths == [0, 0]).then_some(())
    })
    .await;
    // A Worker that is about to end its run would take the next one too.
    let endpoint = app.endpoint.clone();
    drop(app);
    let board = |prefix: &str| key(prefix, to, "bAa:all");
    let points: u64 = redis_command(&mut redis, &["ZSCORE", &board(&endpoint.prefix), "9"])?;
    let (stream, date) = (key(&endpoint.prefix, from, "o"), day(0));
    // A follow of the user 9.
    let mut follow = vec!["XADD", &stream, "*", "did", "count", "user", "42"];
    follow.extend([
        "action", "follow", "mark", "follow:9", "dated", "0", "date", &date,
    ]);
    follow.extend(["received", "200da;;", "at", "1795132800000"]);
    let _: String = redis_command(&mut redis, &follow)?;
    let folder = tempfile::tempdir()?;
    let file = export(&endpoint, folder.path())?;
    let copied = Endpoint::unused("delivered-copy");
    restore(&copied, &file)?;
    let [expected, found] = [&endpoint, &copied].map(|endpoint| {
        let data = read_data(&mut redis, &endpoint.prefix);
        data.map(|data| without_stream(data, to))
    });
    assert_same(&found?, &expected?);
    // Whatever the shard counts next begins the run.
    let copy = start(2, &copied);
    copy.send(like("42", "once more")).await;
    copy.send(json!({"user": "42", "action": "follow", "target": "9"}))
        .await;
    until("the receivers", async || {
        let score = ["ZSCORE", &board(&copied.prefix), "9"];
        let score: u64 = redis_command(&mut redis, &score).unwrap_or(0);
        assert!(score <= points + 400, "{score}");
        (score == points + 400).then_some(())
    })
    .await;
    Ok(())
}
