//! `GET` and `PUT /v1/users/{user}`, `PUT /v1/users`

use test_support::{Value, json};

use crate::site::Site;

#[tokio::test]
async fn a_profile_is_replaced_as_a_whole() {
    let site = Site::start();
    let ada = json!({"name": "Ada", "avatar": "https://example.com/a.png?s=80", "url": "https://example.com/#a"});
    let full = json!({"id": "42", "name": "Ada", "avatar": "https://example.com/a.png?s=80",
        "url": "https://example.com/#a"});
    let answer = site.put("/v1/users/42", &ada).await;
    answer.assert(200, full.clone());
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let answer = site.without_key().get("/v1/users/42").await;
    answer.assert(200, full);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let named = json!({"id": "42", "name": "Ada L."});
    site.put("/v1/users/42", &json!({"name": "Ada L."}))
        .await
        .assert(200, named.clone());
    site.get("/v1/users/42").await.assert(200, named);
    site.put("/v1/users/42", &json!({}))
        .await
        .assert(200, json!({"id": "42"}));
    site.get("/v1/users/42")
        .await
        .assert(200, json!({"id": "42"}));
}

#[tokio::test]
async fn a_name_is_1_to_80_characters_of_any_script() {
    let site = Site::start();
    for name in ["A", "李小龍", "O'Brien \"x\" <b>\\", "👩‍👩‍👧", &"é".repeat(80)] {
        let expected = json!({"id": "42", "name": name});
        site.put("/v1/users/42", &json!({"name": name}))
            .await
            .assert(200, expected.clone());
        site.get("/v1/users/42").await.assert(200, expected);
    }
}

#[tokio::test]
async fn an_array_of_profiles_is_answered_item_by_item() {
    let site = Site::start();
    let id = "must be 1 to 64 of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";
    let link = "must be a link that begins with https://";
    let body = json!([
        {"id": "42", "name": "Ada"},
        {"id": 7, "url": "https://example.com/7"},
        {"name": "Kim"},
        {"id": "9", "avatar": "http://example.com/"},
        "8",
        {"id": "42", "name": "Ada L."},
    ]);
    let invalid = |detail: &str| {
        json!({"type": "/problems/invalid-request", "title": "The request is not valid",
            "status": 400, "detail": detail})
    };
    let fault = |field: &str, detail: &str| {
        let mut problem = invalid(&format!("{field}: {detail}"));
        problem["errors"] = json!([{"pointer": format!("/{field}"), "detail": detail}]);
        json!({"error": problem})
    };
    let answer = site.put("/v1/users", &body).await;
    answer.assert(
        200,
        json!({"results": [
            {"id": "42", "name": "Ada"},
            {"id": "7", "url": "https://example.com/7"},
            fault("id", id),
            fault("avatar", link),
            {"error": invalid("A profile is a JSON object.")},
            {"id": "42", "name": "Ada L."},
        ]}),
    );
    site.get("/v1/users/42")
        .await
        .assert(200, json!({"id": "42", "name": "Ada L."}));
    site.get("/v1/users/7")
        .await
        .assert(200, json!({"id": "7", "url": "https://example.com/7"}));
    site.get("/v1/users/9").await.assert_status(404);
}

#[tokio::test]
async fn an_array_may_be_empty_or_hold_500_profiles() {
    let site = Site::start();
    site.put("/v1/users", &json!([]))
        .await
        .assert(200, json!({"results": []}));
    assert_eq!(site.store().keys(), [""; 0]);
    let profiles: Vec<Value> = (0..500)
        .map(|id| json!({"id": id.to_string(), "name": format!("N{id}")}))
        .collect();
    site.put("/v1/users", &json!(profiles))
        .await
        .assert(200, json!({"results": profiles}));
    site.get("/v1/users/499")
        .await
        .assert(200, json!({"id": "499", "name": "N499"}));
}

#[tokio::test]
async fn profiles_do_not_expire() {
    let site = Site::start();
    site.put("/v1/users/42", &json!({"name": "Ada"}))
        .await
        .assert_status(200);
    let mut store = site.store();
    let key = store.key("p");
    assert_eq!(store.run::<i64>("PTTL", &[&key]), -1);
}
