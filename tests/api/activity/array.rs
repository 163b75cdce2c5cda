//! `POST /v1/activity` with an array of activities.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{activity, like, undo};
use crate::problem::{ID, Problem, field_error, invalid_request, not_undoable};

#[tokio::test]
async fn invalid_item_fails_alone() {
    let app = TestApp::start();
    let actions = "must be one of bookmark, comment, follow, like, publish, visit";
    let items = json!([
        like("42", "p"),
        like("4 2", "p"),
        7,
        activity("7", "dance", "p"),
        like("42", "p"),
        undo(activity("7", "visit", "/")),
        activity("7", "comment", "p"),
    ]);
    let error = |problem: Problem| json!({"error": problem.body()});
    let response = app.send_activity(items).await;
    response.assert(
        200,
        json!({"results": [
            {"outcome": "counted", "points": 2},
            error(field_error("user", ID)),
            error(invalid_request("An activity is a JSON object.")),
            error(Problem::with_error("unknown-action", "action", actions)),
            {"outcome": "duplicate", "points": 0},
            error(not_undoable("visit")),
            {"outcome": "counted", "points": 3},
        ]}),
    );
    assert_eq!(response.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn array_without_valid_items_writes_nothing() {
    let app = TestApp::start();
    app.assert_activity(json!([]), json!({"results": []})).await;
    let response = app.send_activity(json!([null, {}])).await;
    let results = &response.assert_status(200).body["results"];
    let found = [&results[0], &results[1]].map(|result| &result["error"]["status"]);
    assert_eq!(found, [400, 400]);
    assert_eq!(app.store().keys(), [""; 0]);
}

/// The response to an array must not be many times as large as the array.
#[tokio::test]
async fn problems_after_20_failed_items_are_brief() {
    let app = TestApp::start();
    let mut items = vec![json!(0); 30];
    items.insert(25, like("42", "p"));
    let response = app.send_activity(json!(items)).await;
    let full = json!({"error": invalid_request("An activity is a JSON object.").body()});
    let brief = json!({"error": {"type": "/problems/invalid-request", "title": "The request is invalid", "status": 400}});
    let mut results = vec![full; 20];
    results.extend(vec![brief; 10]);
    results.insert(25, json!({"outcome": "counted", "points": 2}));
    response.assert(200, json!({"results": results}));
}

/// An undo that finds nothing is remembered. Anybody may send one for any target.
#[tokio::test]
async fn undos_of_invented_targets_are_bounded() {
    let app = TestApp::start();
    let undos = |batch: u32| {
        let undos = (0..500).map(|target| undo(like("42", &format!("{batch}-{target}"))));
        json!(undos.collect::<Vec<Value>>())
    };
    for batch in 0..4 {
        app.send_activity(undos(batch)).await.assert_status(200);
    }
    let before = app.store().snapshot();
    let results = vec![json!({"outcome": "nothing-to-undo", "points": 0}); 500];
    app.assert_activity(undos(4), json!({"results": results}))
        .await;
    assert!(app.store().snapshot() == before, "the undos were stored");
}

#[tokio::test]
async fn problem_lists_20_errors() {
    let app = TestApp::start();
    let fields = (0..23).map(|number| (format!("f{number:02}"), json!(1)));
    let mut item: Value = Value::Object(fields.collect());
    item["target"] = json!("p");
    let response = app.send_activity(item).await;
    let errors = response.body["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 20);
    assert_eq!(errors[19]["pointer"], "/f19");
    assert_eq!(response.body["errors_omitted"], 5);
    let fields = "user, action, target, undo, source_gone, at, groups, on, author";
    let detail = format!("f00: is unknown; expected one of {fields} (1 of 25 errors)");
    assert_eq!(response.body["detail"], detail);
    let query: Vec<String> = (0..1000).map(|number| format!("{number}=")).collect();
    let path = format!("/v1/ranking/day?{}", query.join("&"));
    let response = app.get(&path).await;
    response.assert_status(400);
    assert_eq!(response.body["errors_omitted"], 980);
    assert!(response.text.len() < 3000, "{}", response.text.len());
}
