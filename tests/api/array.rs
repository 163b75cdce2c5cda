//! `POST /v1/activity` with an array.

use test_support::{Value, json};

use crate::site::Site;

fn like(user: &str, target: &str) -> Value {
    json!({"user": user, "action": "like", "target": target})
}

#[tokio::test]
async fn it_is_answered_item_by_item_and_a_bad_one_spoils_no_other() {
    let site = Site::start();
    let id = "must be 1 to 64 of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";
    let actions = "must be one of bookmark, comment, follow, like, publish, visit";
    let answer = site
        .send_activity(json!([
            like("42", "p"),
            like("4 2", "p"),
            7,
            {"user": "7", "action": "dance", "target": "p"},
            like("42", "p"),
            {"user": "7", "action": "visit", "target": "/", "undo": true},
            {"user": "7", "action": "comment", "target": "p"},
        ]))
        .await;
    let invalid = |detail: &str, errors: Value| {
        let mut problem = json!({"type": "/problems/invalid-request", "status": 400,
            "title": "The request is not valid", "detail": detail});
        if errors != json!([]) {
            problem["errors"] = errors;
        }
        json!({"error": problem})
    };
    answer.assert(
        200,
        json!({"results": [
            {"outcome": "counted", "points": 2},
            invalid(&format!("user: {id}"), json!([{"pointer": "/user", "detail": id}])),
            invalid("An activity is a JSON object.", json!([])),
            {"error": {"type": "/problems/unknown-action", "title": "No rule names this action",
                "status": 422, "detail": format!("action: {actions}"),
                "errors": [{"pointer": "/action", "detail": actions}]}},
            {"outcome": "duplicate", "points": 0},
            {"error": {"type": "/problems/not-undoable", "title": "This action cannot be undone",
                "status": 422, "detail": "undo: visit cannot be undone",
                "errors": [{"pointer": "/undo", "detail": "visit cannot be undone"}]}},
            {"outcome": "counted", "points": 3},
        ]}),
    );
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn items_with_the_same_mark_take_effect_in_their_order() {
    let site = Site::start();
    let undo = json!({"user": "42", "action": "like", "target": "p", "undo": true});
    let like = like("42", "p");
    let answer = site
        .send_activity(json!([undo, like, like, undo, undo, like]))
        .await;
    let outcomes = |answer: &Value| -> Vec<Value> {
        let results = answer["results"].as_array().unwrap();
        results
            .iter()
            .map(|result| result["outcome"].clone())
            .collect()
    };
    let expected = [
        "nothing-to-undo",
        "counted",
        "duplicate",
        "undone",
        "nothing-to-undo",
        "counted",
    ];
    assert_eq!(outcomes(&answer.body), expected);
}

#[tokio::test]
async fn an_empty_array_has_empty_results() {
    let site = Site::start();
    site.send_activity(json!([]))
        .await
        .assert(200, json!({"results": []}));
    assert_eq!(site.store().keys(), [""; 0]);
}

#[tokio::test]
async fn an_array_of_nothing_but_bad_items_is_answered_too() {
    let site = Site::start();
    let answer = site.send_activity(json!([null, {}])).await;
    answer.assert_status(200);
    let statuses = answer.body["results"].as_array().unwrap();
    assert!(
        statuses
            .iter()
            .all(|result| result["error"]["status"] == 400),
        "{}",
        answer.text
    );
    assert_eq!(site.store().keys(), [""; 0]);
}

#[tokio::test]
async fn five_hundred_items_are_counted_in_one_go() {
    let site = Site::start();
    let items: Vec<Value> = (0..500)
        .map(|item| like(&format!("u{}", item % 50), &item.to_string()))
        .collect();
    let answer = site.send_activity(json!(items)).await;
    let counted = json!({"outcome": "counted", "points": 2});
    answer.assert(200, json!({"results": vec![counted; 500]}));
    let board = site.get("/v1/ranking/all?limit=100").await;
    assert_eq!(board.body["total"], 50);
    assert!(
        board.body["entries"]
            .as_array()
            .unwrap()
            .iter()
            .all(|entry| entry["score"] == 20)
    );
}
