//! `/v1/users/{user}/pause`: days on which a user's streaks rest.

use test_support::{Value, json};

use super::history::{assert_public_streak, frozen, like_on, streak};
use crate::app::TestApp;
use crate::bodies::{like, moderation};
use crate::clock::day;
use crate::problem::problem;
use crate::token::sign;

const PATH: &str = "/v1/users/42/pause";

/// A pause from and until so many days ago, or from now if negative.
fn pause(from: i64, until: i64) -> Value {
    json!({"from": day(from).to_string(), "until": day(until).to_string()})
}

fn pauses(user: &str, pauses: &[Value]) -> Value {
    json!({"user": {"id": user}, "pauses": pauses})
}

/// Stores pauses of user 42 that have begun: no request declares one.
fn store_pauses(app: &TestApp, pauses: &[(i64, i64)]) {
    let stored = pauses.iter();
    let stored = stored.map(|(from, until)| format!("{}/{}", day(*from), day(*until)));
    let stored = stored.collect::<Vec<_>>().join(",");
    let mut store = app.store();
    let key = store.key_of("42", "p");
    store.run::<i64>("HSET", &[&key, "~42", &stored]);
}

/// Each is an entry of the journal.
#[tokio::test]
async fn member_changes_own_data_100_times_a_day() {
    let app = TestApp::with(|worker| worker.var("JWT_SECRET", sign::SECRET));
    let [member, other] = ["42", "7"].map(|user| app.with_key(&sign::hs256(&sign::claims(user))));
    for number in 0..100 {
        let name = json!({"name": format!("Ada {number}")});
        member.write("/v1/users/42", &name).await;
    }
    let detail = "A user may change their own data 100 times a day.";
    let refused = problem("rate-limited", detail);
    let response = member.put("/v1/users/42", &json!({"name": "Ada"})).await;
    response.assert(429, refused.clone());
    member.put(PATH, &pause(0, 0)).await.assert(429, refused);
    assert_eq!(app.read("/v1/users/42").await["name"], "Ada 99");
    member
        .send_activity(like("42", "p"))
        .await
        .assert_status(200);
    other
        .put("/v1/users/7", &json!({"name": "Bob"}))
        .await
        .assert_status(200);
    app.put(PATH, &pause(0, 0)).await.assert_status(200);
}

#[tokio::test]
async fn member_declares_own_pauses() {
    let app = TestApp::with(|worker| worker.var("JWT_SECRET", sign::SECRET));
    let member = app.with_key(&sign::hs256(&sign::claims("42")));
    member.assert_get(PATH, pauses("42", &[])).await;
    let (holiday, today) = (pause(-30, -45), pause(0, 0));
    for _ in 0..2 {
        let response = member.put(PATH, &holiday).await;
        response.assert(200, pauses("42", std::slice::from_ref(&holiday)));
        assert_eq!(response.header("cache-control"), Some("no-store"));
    }
    let both = pauses("42", &[today.clone(), holiday.clone()]);
    app.put(PATH, &today).await.assert(200, both.clone());
    member.assert_get(PATH, both.clone()).await;
    let other = app.with_key(&sign::hs256(&sign::claims("7")));
    other.get(PATH).await.assert_status(403);
    other.put(PATH, &pause(-1, -1)).await.assert_status(403);
    other.delete(PATH).await.assert_status(403);
    let refused = "Another pause has some of these days: end it first.";
    let response = member.put(PATH, &pause(-45, -50)).await;
    response.assert(409, problem("pause-conflict", refused));
    for back in [-1, -2] {
        member.write(PATH, &pause(back, back)).await;
    }
    let refused = "A user has at most 4 pauses that are not over.";
    let response = member.put(PATH, &pause(-3, -3)).await;
    response.assert(409, problem("pause-conflict", refused));
    let from = format!("{PATH}?from={}", day(-1));
    member.delete(&from).await.assert_status(204);
    let rest = [today, pause(-2, -2), holiday];
    member.assert_get(PATH, pauses("42", &rest)).await;
}

#[tokio::test]
async fn pause_that_has_begun_ends_yesterday() {
    let app = TestApp::start();
    store_pauses(&app, &[(400, 390), (20, 10), (5, -5), (-7, -9)]);
    app.delete(PATH).await.assert_status(204);
    let expected = pauses("42", &[pause(20, 10), pause(5, 1)]);
    app.assert_get(PATH, expected.clone()).await;
    let before = app.store().snapshot();
    app.delete(PATH).await.assert_status(204);
    app.delete("/v1/users/7/pause").await.assert_status(204);
    assert!(app.store().snapshot() == before, "Redis was changed");
    let today = pause(0, 0);
    app.write(PATH, &today).await;
    app.delete(PATH).await.assert_status(204);
    app.assert_get(PATH, expected).await;
}

/// Cards show the same streak. Without freezes, the other missed day ends it.
#[tokio::test]
async fn pause_covers_missed_days() {
    let app = TestApp::start();
    for back in [1, 4, 5, 7] {
        like_on(&app, "42", back).await;
    }
    app.put_profile("42", json!({"public_activity": true}))
        .await;
    store_pauses(&app, &[(3, 1)]);
    let body = app.read("/v1/users/42/activity?days=8").await;
    let covered = [false, false, true, true, false, false, false, false];
    assert_eq!(frozen(&body), covered);
    let date = day(2).to_string();
    let paused = json!({"date": date, "points": 0, "frozen": true, "paused": true, "actions": {}});
    assert_eq!(body["days"][2], paused);
    assert_public_streak(&app, 8, &streak(3, 3, &[1, 4, 5, 7])).await;
}

#[tokio::test]
async fn frozen_user_cannot_change_own_pauses() {
    let app = TestApp::with(|worker| worker.var("JWT_SECRET", sign::SECRET));
    let member = app.with_key(&sign::hs256(&sign::claims("42")));
    app.moderate("42", false, true).await;
    let detail = "This user is frozen: their pauses cannot be changed.";
    for response in [
        member.put(PATH, &pause(0, 0)).await,
        member.delete(PATH).await,
    ] {
        response.assert(403, problem("forbidden", detail));
    }
    member.assert_get(PATH, pauses("42", &[])).await;
    app.write(PATH, &pause(0, 0)).await;
    let thawed = moderation(false, false);
    app.put("/v1/users/42/moderation", &thawed).await;
    member.delete(PATH).await.assert_status(204);
}

#[tokio::test]
async fn account_has_the_pauses_of_its_member() {
    let app = TestApp::start();
    app.write("/v1/users/42/account", &json!({"of": "9"})).await;
    let mut expected = pauses("9", &[pause(0, -1)]);
    expected["account_of"] = json!("9");
    let response = app.put(PATH, &pause(0, -1)).await;
    response.assert(200, expected.clone());
    app.assert_get(PATH, expected.clone()).await;
    expected.as_object_mut().unwrap().remove("account_of");
    app.assert_get("/v1/users/9/pause", expected).await;
    app.delete(PATH).await.assert_status(204);
    app.assert_get("/v1/users/9/pause", pauses("9", &[])).await;
}
