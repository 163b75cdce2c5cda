//! `actor` in the audit log: the name of a service key, or the user of a token.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{moderation, rows};
use crate::token::sign::{SECRET, claims_with, hs256};

const KEYS: &str = "test-service-key,anna@admin:a,anna@admin:new,blog@profiles+content:b,c@d";

fn start() -> TestApp {
    TestApp::with(|worker| {
        worker
            .var("SERVICE_KEYS", KEYS)
            .var("JWT_SECRET", SECRET)
            .var("CONTENT_PERIODS", "all")
    })
}

/// Returns action, actor and user of each entry, newest first.
async fn entries(app: &TestApp) -> Vec<Value> {
    let log = app.read("/v1/moderation").await;
    let rows = rows(&log["entries"], ["/action", "/actor", "/user/id"]);
    rows.as_array().expect("rows").clone()
}

/// The key without a name has none, also with `@`; two keys share one.
#[tokio::test]
async fn actor_is_the_name_of_the_key() {
    let app = start();
    let (anna, blog, new) = (app.with_key("a"), app.with_key("b"), app.with_key("new"));
    anna.moderate("42", true, true).await;
    new.moderate("42", false, true).await;
    app.with_key("c@d").moderate("42", false, false).await;
    let adjustment = json!({"id": "1", "points": 5, "reason": "A test"});
    let undo = json!({"id": "1", "undo": true, "reason": "A test"});
    anna.adjust("42", &adjustment).await.assert_status(200);
    new.adjust("42", &undo).await.assert_status(200);
    blog.put_profile("42", json!({"hidden": true})).await;
    blog.write("/v1/targets/post-7", &json!({})).await;
    let path = "/v1/targets/post-7/moderation";
    for hidden in [true, false] {
        let state = json!({"hidden": hidden, "reason": "A test"});
        anna.write(path, &state).await;
    }
    anna.delete("/v1/targets/post-7").await.assert_status(204);
    anna.write("/v1/users/43/moderation", &moderation(true, false))
        .await;
    anna.erase("43").await;

    let by = |name: &str, action: &str, user: Value| json!([action, {"key": name}, user]);
    let mut found = entries(&app).await;
    // Entries of one millisecond on several shards are in the order of the shards.
    found.sort_by_key(Value::to_string);
    let mut expected = vec![
        by("anna", "erase", json!(null)),
        by("anna", "hide", json!(null)),
        by("anna", "delete", json!(null)),
        by("anna", "unhide", json!(null)),
        by("anna", "hide", json!(null)),
        by("blog", "opt-out", json!("42")),
        by("anna", "undo-adjust", json!("42")),
        by("anna", "adjust", json!("42")),
        json!(["unfreeze", null, "42"]),
        by("anna", "unhide", json!("42")),
        by("anna", "freeze", json!("42")),
        by("anna", "hide", json!("42")),
    ];
    expected.sort_by_key(Value::to_string);
    assert_eq!(found, expected);
}

#[tokio::test]
async fn erased_member_is_no_actor() {
    let app = start();
    let member = app.with_key(&hs256(&claims_with(json!({}))));
    for hidden in [true, false] {
        member.put_profile("42", json!({"hidden": hidden})).await;
    }
    let by = |action: &str, actor: Value, user: Value| json!([action, actor, user]);
    let own = json!({"user": "42"});
    let expected = [
        by("opt-in", own.clone(), json!("42")),
        by("opt-out", own, json!("42")),
    ];
    assert_eq!(entries(&app).await, expected);
    app.erase("42").await;
    let expected = ["erase", "opt-in", "opt-out"];
    let expected = expected.map(|action| by(action, json!(null), json!(null)));
    assert_eq!(entries(&app).await, expected);
}
