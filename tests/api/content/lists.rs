//! `GET /v1/users/{user}/targets`.

use test_support::{Value, json};

use super::{deliver, register, row, start, write_board};
use crate::app::TestApp;
use crate::bodies::rows;

/// Reads all pages of a list, and returns the ids and scores.
async fn pages(app: &TestApp, user: &str, limit: usize) -> Vec<(String, Value)> {
    let path = format!("/v1/users/{user}/targets");
    let pages = app.pages(&path, "after", limit).await.into_iter();
    let row = |entry: Value| {
        assert!(entry["registered_at"].is_string());
        let id = entry["target"]["id"].as_str().expect("an id");
        (id.to_owned(), entry["score"].clone())
    };
    pages.map(row).collect()
}

#[tokio::test]
async fn list_has_targets_and_points_newest_first() {
    let app = start();
    assert_eq!(pages(&app, "9", 30).await, []);
    register(&app, "%23", json!({"author": "9", "title": "A title"})).await;
    app.count("42", "like", "#").await;
    let batch = (0..5).map(|index| json!({"id": format!("p-{index}"), "author": "9"}));
    let batch: Vec<Value> = batch.collect();
    app.write("/v1/targets", &json!(batch)).await;
    register(&app, "other", json!({"author": "10"})).await;
    let row = |id: &str, score: u32| (id.to_owned(), json!(score));
    let expected = (0..5).rev().map(|index| row(&format!("p-{index}"), 0));
    let mut expected: Vec<(String, Value)> = expected.collect();
    expected.push(row("#", 2));
    for limit in [1, 2, 3, 6, 30] {
        assert_eq!(pages(&app, "9", limit).await, expected, "{limit}");
    }
}

/// An import registers old publications: their date is that of the activity, not of the import.
#[tokio::test]
async fn publication_is_registered_at_its_instant() {
    let app = start();
    let publish = |target: &str, at: &str| json!({"user": "9", "action": "publish", "target": target, "at": at});
    let comment = json!({"user": "42", "action": "comment", "target": "c-1", "on": "post-1", "author": "9",
                         "at": "2019-03-12T10:00:00.250Z"});
    for body in [
        json!([comment]),
        json!([
            publish("post-3", "2026-11-20T08:00:00Z"),
            publish("post-2", "2021-01-01T00:00:00+08:00"),
            publish("post-0", "1969-07-20T20:17:40Z"),
            // The target is known.
            publish("post-1", "2024-01-01T00:00:00Z"),
        ]),
    ] {
        app.post("/v1/activity", &body).await.assert_status(200);
        deliver(&app).await;
    }
    let list = app.read("/v1/users/9/targets").await;
    let expected = json!([
        ["post-3", "2026-11-20T08:00:00Z"],
        ["post-2", "2020-12-31T16:00:00Z"],
        ["post-1", "2019-03-12T10:00:00.250Z"],
        ["post-0", "1970-01-01T00:00:00Z"],
    ]);
    let found = rows(&list["entries"], ["/target/id", "/registered_at"]);
    assert_eq!(found, expected);
    assert_eq!(pages(&app, "9", 1).await.len(), 4);
}

#[tokio::test]
async fn list_has_points_of_all_targets() {
    let app = start();
    let ids: Vec<String> = (0..40).map(|index| format!("p-{index:02}")).collect();
    let batch = ids.iter().map(|id| json!({"id": id, "author": "9"}));
    let batch: Vec<Value> = batch.collect();
    app.write("/v1/targets", &json!(batch)).await;
    deliver(&app).await;
    let points = (1..).zip(&ids).map(|(points, id)| row(id, points));
    let points: Vec<_> = points.collect();
    write_board(&mut app.store(), "bTa:all", &points);
    let newest = points.into_iter().rev();
    let expected: Vec<_> = newest.map(|(id, points)| (id, json!(points))).collect();
    for limit in [1, 7, 40] {
        assert_eq!(pages(&app, "9", limit).await, expected, "{limit}");
    }
}

#[tokio::test]
async fn list_has_no_hidden_and_no_deleted_targets() {
    let app = start();
    for target in ["a", "b", "c", "d"] {
        register(&app, target, json!({"author": "9"})).await;
    }
    app.moderate_target("a", true).await;
    app.delete("/v1/targets/b").await.assert_status(204);
    app.delete("/v1/targets/c").await.assert_status(204);
    register(&app, "c", json!({"author": "10"})).await;
    let row = |id: &str| (id.to_owned(), json!(0));
    for limit in [1, 30] {
        assert_eq!(pages(&app, "9", limit).await, [row("d")]);
        assert_eq!(pages(&app, "10", limit).await, [row("c")]);
    }
    app.delete("/v1/users/9").await.assert_status(204);
    assert_eq!(pages(&app, "9", 30).await, []);
}

#[tokio::test]
async fn list_refuses_an_unknown_position() {
    let app = start();
    for query in [
        "after=",
        "after=x",
        "after=1-",
        "limit=0",
        "limit=101",
        "offset=1",
    ] {
        let response = app.get(&format!("/v1/users/9/targets?{query}")).await;
        response.assert_status(400);
    }
    let response = app.get("/v1/users/a%20b/targets").await;
    response.assert_status(400);
}
