//! Boards of content and of authors, and the register of targets.

mod archive;
mod deliveries;
mod hot;
mod lists;
mod moderation;
mod pairs;
mod ranks;
mod receivers;
mod refused_writes;
mod targets;

use test_support::{Value, WorkerBuilder, json, until};

use crate::app::TestApp;
use crate::bodies::{like, with};
use crate::client::Client;
use crate::store::Store;

/// Starts a Worker with boards of content for days and all time.
fn start() -> TestApp {
    TestApp::with(content)
}

fn content(worker: WorkerBuilder) -> WorkerBuilder {
    worker.var("CONTENT_PERIODS", "day,all").cron()
}

/// Gives others what they receive.
async fn deliver(app: &Client) {
    app.minute().await;
}

/// Gives others all that they receive: what began after a response may still be under way.
async fn deliver_all(app: &TestApp) {
    let mut store = app.store();
    until("all receivers", async || {
        deliver(app).await;
        (store.waiting() == 0).then_some(())
    })
    .await;
}

/// Registers a target.
async fn register(app: &Client, target: &str, body: Value) {
    app.write(&format!("/v1/targets/{target}"), &body).await;
    deliver(app).await;
}

/// Returns the ids and scores of a board: of targets on a board of content, of users on others.
async fn rows(app: &TestApp, path: &str) -> Vec<(String, i64)> {
    deliver_all(app).await;
    let board = app.read(path).await;
    let entries = board["entries"].as_array().expect("entries");
    assert_eq!(board["total"], entries.len());
    let row = |entry: &Value| {
        let named = match entry.get("target") {
            Some(target) => target,
            None => &entry["user"],
        };
        let id = named["id"].as_str().expect("an id");
        (id.to_owned(), entry["score"].as_i64().expect("a score"))
    };
    entries.iter().map(row).collect()
}

fn row(id: &str, score: i64) -> (String, i64) {
    (id.to_owned(), score)
}

/// Writes a board of content or of authors to Redis: each row to the shard of its id.
fn write_board(store: &mut Store, board: &str, rows: &[(String, i64)]) {
    // The order counter is a fraction.
    let order = 2f64.powi(-32).to_string();
    for (id, score) in rows {
        let key = store.key_of(id, board);
        store.run::<()>("ZINCRBY", &[&key, &order, "#"]);
        store.run::<()>("ZADD", &[&key, &score.to_string(), id]);
    }
}

/// Asserts the boards of content and of authors of all time.
#[track_caller]
fn assert_boards(
    app: &TestApp,
    targets: &[(&str, i64)],
    authors: &[(&str, i64)],
) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    let expected = [targets, authors].map(|rows| {
        let rows = rows.iter().map(|(id, score)| row(id, *score));
        rows.collect::<Vec<_>>()
    });
    async move {
        let paths = ["/v1/content/all?limit=100", "/v1/authors/all?limit=100"];
        for (path, expected) in paths.into_iter().zip(expected) {
            assert_eq!(rows(app, path).await, expected, "{caller}: {path}");
        }
    }
}

#[tokio::test]
async fn like_gives_points_to_target_and_author() {
    let app = start();
    let named = json!({"author": 9, "title": "A title", "url": "https://example.com/7"});
    register(&app, "post-7", named).await;
    app.set_name("9", "Ada").await;
    app.count("42", "like", "post-7").await;
    app.count("43", "bookmark", "post-7").await;
    deliver(&app).await;
    let target = json!({"id": "post-7", "title": "A title", "url": "https://example.com/7"});
    let author = json!({"id": "9", "name": "Ada"});
    for period in ["day", "all"] {
        let board = app.read(&format!("/v1/content/{period}")).await;
        let entry = json!({"rank": 1, "score": 4, "target": target, "author": author});
        assert_eq!(board["entries"], json!([entry]));
        let path = format!("/v1/content/{period}/targets/post-7?around=1");
        let standing = app.read(&path).await;
        let expected = json!({"target": target, "author": author, "rank": 1, "score": 4, "total": 1,
            "percentile": 100.0, "next": null, "around": [entry], "period": board["period"]});
        assert_eq!(standing, expected);
        let board = app.read(&format!("/v1/authors/{period}")).await;
        let entry = json!({"rank": 1, "score": 4, "user": author});
        assert_eq!(board["entries"], json!([entry]));
        let standing = app.read(&format!("/v1/authors/{period}/users/9")).await;
        let expected = (&json!(1), &json!(4));
        assert_eq!((&standing["rank"], &standing["score"]), expected);
    }
    assert_eq!(app.read("/v1/ranking/all/users/9").await["score"], 0);
}

#[tokio::test]
async fn period_without_board_of_content_is_not_found() {
    let app = start();
    let response = app.get("/v1/content/week").await;
    response.assert_status(404);
    assert_eq!(response.body["detail"], "The period week is switched off.");
    app.get("/v1/content/day?group=eu").await.assert_status(400);
    let response = app.get("/v1/authors/day/targets/a").await;
    response.assert_status(404);
}

#[tokio::test]
async fn erased_author_leaves_targets_without_author() {
    let app = start();
    register(&app, "post-7", json!({"author": "9", "title": "A title"})).await;
    app.count("42", "like", "post-7").await;
    app.erase("9").await;
    assert_boards(&app, &[("post-7", 2)], &[]).await;
    let target = json!({"id": "post-7", "title": "A title"});
    app.assert_get("/v1/targets/post-7", target).await;
    assert_eq!(app.store().traces("9"), [""; 0]);
    // Another author receives from then on, and loses nothing that the first one received.
    register(&app, "post-7", json!({"author": "10"})).await;
    app.count("43", "like", "post-7").await;
    let undo = with(like("42", "post-7"), json!({"undo": true}));
    app.outcome(undo, "undone").await;
    assert_boards(&app, &[("post-7", 2)], &[("10", 2)]).await;
}

#[tokio::test]
async fn change_reaches_stream_of_content() {
    let app = TestApp::with(|worker| content(worker).live());
    let api = app.worker.api();
    let mut content = api.stream("/v1/content/all/live", &[]).await;
    let mut authors = api.stream("/v1/authors/all/live", &[]).await;
    assert_eq!(content.event().await.json()["total"], 0);
    assert_eq!(authors.event().await.json()["total"], 0);
    register(&app, "%237", json!({"author": "9"})).await;
    app.count("42", "like", "#7").await;
    let board = content.event().await.json();
    assert_eq!(board["entries"][0]["target"], json!({"id": "#7"}));
    assert_eq!(authors.event().await.json()["entries"][0]["score"], 2);
    register(&app, "%237", json!({"title": "A title"})).await;
    let board = content.event().await.json();
    assert_eq!(board["entries"][0]["target"]["title"], "A title");
}
