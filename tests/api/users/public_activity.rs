//! Public calendars: `GET /v1/users/{user}/activity` without credentials.

use test_support::{Value, json};

use super::history::{days, history, like_on, streak};
use crate::app::TestApp;
use crate::bodies::with;
use crate::token::sign::{SECRET, claims, hs256};

const PATH: &str = "/v1/users/42/activity";

fn start() -> TestApp {
    TestApp::with(|worker| worker.var("JWT_SECRET", SECRET))
}

/// Returns days as a stranger reads them.
fn without_actions(mut days: Value) -> Value {
    for day in days.as_array_mut().unwrap() {
        day.as_object_mut().unwrap().remove("actions");
    }
    days
}

#[tokio::test]
async fn public_calendar_shows_points_to_everyone() {
    let app = start();
    app.put_profile("42", json!({"name": "Ada", "public_activity": true}))
        .await;
    like_on(&app, "42", 0).await;
    like_on(&app, "42", 2).await;
    let like = json!({"like": {"count": 1, "points": 2}});
    let active = [(0, 2, like.clone()), (2, 2, like)];
    let user = json!({"id": "42", "name": "Ada"});
    let own = history(user.clone(), days(31, &active), streak(1, 1, &[0, 2]));
    let public = history(
        user,
        without_actions(days(31, &active)),
        streak(1, 1, &[0, 2]),
    );

    let (stranger, member) = (hs256(&claims("7")), hs256(&claims("42")));
    for (caller, expected) in [
        (app.without_key(), &public),
        (app.with_key(&stranger), &public),
        (app.with_key(&member), &own),
        (app.with_key("unknown-key"), &Value::Null),
    ] {
        let response = caller.get(PATH).await;
        if expected.is_null() {
            response.assert_status(401);
        } else {
            response.assert(200, expected.clone());
        }
        assert_eq!(response.header("cache-control"), Some("no-store"));
    }
    app.assert_get(PATH, own).await;
    let three = app.without_key().read(&format!("{PATH}?days=3")).await;
    assert_eq!(three["days"].as_array().unwrap().len(), 3);
    for days in ["0", "32"] {
        let path = format!("{PATH}?days={days}");
        app.without_key().get(&path).await.assert_status(400);
    }

    app.moderate("42", false, true).await;
    app.without_key().get(PATH).await.assert_status(200);
}

#[tokio::test]
async fn only_profiles_show_public_activity() {
    let app = start();
    app.count("42", "like", "p").await;
    let profile = json!({"name": "Ada", "public_activity": true});
    let view = with(profile.clone(), json!({"id": "42"}));
    let response = app.put("/v1/users/42", &profile).await;
    response.assert(200, view.clone());
    app.assert_get("/v1/users/42", view.clone()).await;
    let array = app.put("/v1/users", &json!([view])).await;
    array.assert(200, json!({"results": [view]}));
    let named = json!({"id": "42", "name": "Ada"});
    let board = app.read("/v1/ranking/day").await;
    assert_eq!(board["entries"][0]["user"], named);
    for path in ["/v1/ranking/day/users/42", "/v1/users/42/moderation", PATH] {
        assert_eq!(app.read(path).await["user"], named, "{path}");
    }
    // The name has an escape, so the stored text takes the complete parser.
    let escaped = json!({"name": "\"Ada\"", "public_activity": true});
    app.put_profile("42", escaped.clone()).await;
    let view = with(escaped, json!({"id": "42"}));
    app.assert_get("/v1/users/42", view).await;
    app.put_profile("42", json!({"public_activity": false}))
        .await;
    app.assert_get("/v1/users/42", json!({"id": "42"})).await;
}
