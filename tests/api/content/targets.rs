//! `/v1/targets`: the register of targets.

use test_support::{Value, json};

use super::{deliver, register, start};
use crate::problem::{ID, Problem, field_error, field_errors};

#[tokio::test]
async fn put_keeps_author_and_replaces_the_rest() {
    let app = start();
    app.get("/v1/targets/post-7").await.assert_status(404);
    let full = json!({"author": "9", "title": "A title", "url": "https://example.com/7",
        "image": "https://example.com/7.png"});
    let response = app.put("/v1/targets/post-7", &full).await;
    let mut expected = full;
    expected["id"] = json!("post-7");
    response.assert(200, expected.clone());
    app.assert_get("/v1/targets/post-7", expected).await;
    let response = app.put("/v1/targets/post-7", &json!({})).await;
    response.assert(200, json!({"id": "post-7", "author": "9"}));
}

#[tokio::test]
async fn author_is_set_once() {
    let app = start();
    register(&app, "post-7", json!({"title": "A title"})).await;
    register(&app, "post-7", json!({"author": "9"})).await;
    register(&app, "post-7", json!({"author": "9"})).await;
    let other = json!({"author": "10"});
    let problem = Problem::new("author-conflict", "The target post-7 has another author.");
    let response = app.put("/v1/targets/post-7", &other).await;
    response.assert(409, problem.body());
    app.assert_get("/v1/targets/post-7", json!({"id": "post-7", "author": "9"}))
        .await;
}

#[tokio::test]
async fn target_array_is_processed_item_by_item() {
    let app = start();
    register(&app, "post-7", json!({"author": "9"})).await;
    let error = |problem: Problem| json!({"error": problem.body()});
    let body = json!([
        {"id": "post-8", "author": 9},
        {"id": "post-7", "author": "10"},
        {"title": "A title"},
        {"id": "post-9", "author": "a b"},
        {"id": "..", "author": "a b", "title": "\u{2028}A", "url": "http://a.example", "image": 7, "x": 1},
        {"id": "post-8", "title": "A title"},
    ]);
    let every_field = field_errors(&[
        (
            "x",
            "is unknown; expected one of id, author, title, url, image",
        ),
        ("id", "must not be '.' or '..'"),
        ("author", ID),
        ("title", "must not contain line or paragraph separators"),
        ("url", "must be a link that begins with https://"),
        ("image", "must be a text"),
    ]);
    let response = app.put("/v1/targets", &body).await;
    let conflict = Problem::new("author-conflict", "The target post-7 has another author.");
    response.assert(
        200,
        json!({"results": [
            {"id": "post-8", "author": "9"},
            error(conflict),
            error(field_error("id", "is missing")),
            error(field_error("author", ID)),
            error(every_field),
            {"id": "post-8", "author": "9", "title": "A title"},
        ]}),
    );
    let many = (0..500).map(|id| json!({"id": format!("p-{id}")}));
    let many: Vec<Value> = many.collect();
    let response = app.put("/v1/targets", &json!(many)).await;
    response.assert(200, json!({"results": many}));
    let response = app.put("/v1/targets", &json!([])).await;
    response.assert(200, json!({"results": []}));
}

#[tokio::test]
async fn ids_are_decoded_from_paths() {
    let app = start();
    for (path, id) in [
        ("a%2Fb", "a/b"),
        ("%23", "#"),
        ("%E2%98%83", "☃"),
        ("a;b", "a;b"),
    ] {
        let body = json!({"id": id, "author": "9"});
        app.put(&format!("/v1/targets/{path}"), &json!({"author": "9"}))
            .await
            .assert(200, body.clone());
        app.assert_get(&format!("/v1/targets/{path}"), body).await;
        app.count("42", "like", id).await;
        deliver(&app).await;
        let standing = app.read(&format!("/v1/content/all/targets/{path}")).await;
        let expected = (&json!(id), &json!(2));
        assert_eq!((&standing["target"]["id"], &standing["score"]), expected);
    }
    for path in ["%2E", "%2e%2e", "a%00b"] {
        let response = app.put(&format!("/v1/targets/{path}"), &json!({})).await;
        assert!(
            [400, 404].contains(&response.status),
            "{path}: {}",
            response.text
        );
    }
}
