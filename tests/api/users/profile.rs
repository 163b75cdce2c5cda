//! `GET` and `PUT /v1/users/{user}`, and `PUT /v1/users` with an array of profiles.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::with;
use crate::problem::{Problem, field_error, invalid_request};

/// Writes the profile of user 42 and asserts that both the response and a read return it.
async fn assert_stored(app: &TestApp, profile: Value) {
    let expected = with(profile.clone(), json!({"id": "42"}));
    let response = app.put("/v1/users/42", &profile).await;
    response.assert(200, expected.clone());
    app.assert_get("/v1/users/42", expected).await;
}

#[tokio::test]
async fn put_replaces_the_whole_profile() {
    let app = TestApp::start();
    let ada = json!({"name": "Ada", "avatar": "https://example.com/a.png?s=80", "url": "https://example.com/#a"});
    let full = with(ada.clone(), json!({"id": "42"}));
    let response = app.put("/v1/users/42", &ada).await;
    response.assert(200, full.clone());
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let response = app.without_key().get("/v1/users/42").await;
    response.assert(200, full);
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let long = "é".repeat(80);
    let names = ["A", "李小龍", "O'Brien \"x\" <b>\\", "👩‍👩‍👧", &long];
    for profile in names
        .map(|name| json!({"name": name}))
        .into_iter()
        .chain([json!({})])
    {
        assert_stored(&app, profile).await;
    }
}

#[tokio::test]
async fn profile_array_is_processed_item_by_item() {
    let app = TestApp::start();
    let response = app.put("/v1/users", &json!([])).await;
    response.assert(200, json!({"results": []}));
    assert_eq!(app.store().keys(), [""; 0]);
    let link = "must be a link that begins with https://";
    let body = json!([
        {"id": "42", "name": "Ada"},
        {"id": 7, "url": "https://example.com/7"},
        {"name": "Kim"},
        {"id": "9", "avatar": "http://example.com/"},
        "8",
        {"id": "42", "name": "Ada L."},
    ]);
    let error = |problem: Problem| json!({"error": problem.body()});
    let response = app.put("/v1/users", &body).await;
    response.assert(
        200,
        json!({"results": [
            {"id": "42", "name": "Ada"},
            {"id": "7", "url": "https://example.com/7"},
            error(field_error("id", "is missing")),
            error(field_error("avatar", link)),
            error(invalid_request("A profile is a JSON object.")),
            {"id": "42", "name": "Ada L."},
        ]}),
    );
    app.assert_get("/v1/users/42", json!({"id": "42", "name": "Ada L."}))
        .await;
    let seven = json!({"id": "7", "url": "https://example.com/7"});
    app.assert_get("/v1/users/7", seven).await;
    app.get("/v1/users/9").await.assert_status(404);
    let profile = |id: u32| json!({"id": id.to_string(), "name": format!("N{id}")});
    let profiles: Vec<Value> = (0..500).map(profile).collect();
    let response = app.put("/v1/users", &json!(profiles)).await;
    response.assert(200, json!({"results": profiles}));
    app.assert_get("/v1/users/499", json!({"id": "499", "name": "N499"}))
        .await;
}

/// One damaged value must not make a board unavailable.
#[tokio::test]
async fn damaged_profile_is_no_profile() {
    let app = TestApp::start();
    for user in ["a", "b"] {
        app.count(user, "like", "p").await;
        app.set_name(user, "Ada").await;
    }
    let mut store = app.store();
    let key = store.key_of("a", "p");
    store.run::<i64>("HSET", &[&key, "a", "{damaged"]);
    let board = app.read("/v1/ranking/day").await;
    let users = [&board["entries"][0]["user"], &board["entries"][1]["user"]];
    let named = json!({"id": "b", "name": "Ada"});
    assert_eq!(users, [&json!({"id": "a"}), &named]);
    for path in [
        "/v1/ranking/day/users/a",
        "/v1/ranking/day/users/a?date=2020-01-01",
    ] {
        assert_eq!(app.read(path).await["user"], json!({"id": "a"}));
    }
    let compared = app.read("/v1/ranking/day/users?ids=b,a").await;
    assert_eq!(compared["entries"][0]["user"], json!({"id": "a"}));
    app.get("/v1/users/a").await.assert_status(404);
    app.set_name("a", "Ada").await;
    app.assert_get("/v1/users/a", json!({"id": "a", "name": "Ada"}))
        .await;
}
