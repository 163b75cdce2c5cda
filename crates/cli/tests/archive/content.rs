//! Export and restore of boards of content and of authors, registered targets and deliveries.

use test_support::{Value, json, redis, shard_among, until};

use crate::app::{Endpoint, TestApp, builder, day, noon};
use crate::cli::{export, restore};
use crate::stored::{StoredData, assert_same, read_data, redis_command};
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
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let copied = Endpoint::unused("content-copy");
    restore(&copied, &file)?;
    let mut redis = redis().connection();
    let expected = read_data(&mut redis, &app.endpoint.prefix)?;
    assert_same(&read_data(&mut redis, &copied.prefix)?, &expected);
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
    }
    let left = [start(1, &app.endpoint), start(1, &copied)];
    let found = read_content(&left[1]).await;
    responses::assert_same(&found, &read_content(&left[0]).await);
    assert_eq!(found[1].1["entries"][0]["score"], 4);
    Ok(())
}

/// Returns the data without the stream of a shard that is empty.
fn without_deliveries(mut data: StoredData, shard: u32) -> StoredData {
    data.remove(&format!("{shard}}}x"));
    data
}

/// A copy applies deliveries that wait, and not those that have been applied.
#[tokio::test(flavor = "multi_thread")]
async fn copy_makes_waiting_deliveries_once() -> TestResult {
    let app = start(2, &Endpoint::unused("delivered"));
    fill(&app).await;
    let key = |prefix: &str, shard: u32, name: &str| format!("{{{prefix}:{shard}}}{name}");
    let mut redis = redis().connection();
    let (from, to) = (shard_among("42", 2), shard_among("9", 2));
    assert_ne!(from, to);
    until("the deliveries", async || {
        let mut lengths = [0, 1].map(|shard| {
            let stream = key(&app.endpoint.prefix, shard, "x");
            redis_command::<u64>(&mut redis, &["XLEN", &stream]).unwrap_or(1)
        });
        lengths.sort_unstable();
        (lengths == [0, 0]).then_some(())
    })
    .await;
    // A Worker that is about to end its deliveries would make the next one too.
    let endpoint = app.endpoint.clone();
    drop(app);
    let board = |prefix: &str| key(prefix, to, "bAa:all");
    let points: u64 = redis_command(&mut redis, &["ZSCORE", &board(&endpoint.prefix), "9"])?;
    let (stream, date) = (key(&endpoint.prefix, from, "x"), day(0));
    // A follow of the user 9.
    let mut follow = vec![
        "XADD", &stream, "*", "do", "receive", "to", "u9", "points", "200",
    ];
    follow.extend(["periods", "da", "date", &date]);
    follow.extend(
        ["now", "at"]
            .into_iter()
            .flat_map(|name| [name, "1795132800000"]),
    );
    for name in ["number", "authorship", "author", "listed", "instant"] {
        follow.extend([name, ""]);
    }
    let _: String = redis_command(&mut redis, &follow)?;
    let folder = tempfile::tempdir()?;
    let file = export(&endpoint, folder.path())?;
    let copied = Endpoint::unused("delivered-copy");
    restore(&copied, &file)?;
    let [expected, found] = [&endpoint, &copied].map(|endpoint| {
        let data = read_data(&mut redis, &endpoint.prefix);
        data.map(|data| without_deliveries(data, to))
    });
    assert_same(&found?, &expected?);
    // Whatever the shard sends next makes them.
    let copy = start(2, &copied);
    copy.send(like("42", "once more")).await;
    copy.send(json!({"user": "42", "action": "follow", "target": "9"}))
        .await;
    until("the deliveries", async || {
        let score = ["ZSCORE", &board(&copied.prefix), "9"];
        let score: u64 = redis_command(&mut redis, &score).unwrap_or(0);
        assert!(score <= points + 400, "{score}");
        (score == points + 400).then_some(())
    })
    .await;
    Ok(())
}
