//! `GET /v1/users/{user}/activity`: daily history and streak of a user.

use std::collections::BTreeSet;

use jiff::civil::Date;
use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{dated, each, like, undo};
use crate::client::Client;
use crate::clock::{day, noon, noon_zone};

/// Returns `count` days, today first; those not in `active` are empty.
pub fn days(count: i64, active: &[(i64, u32, Value)]) -> Value {
    let entry = |back: i64| {
        let found = active.iter().find(|(day, ..)| *day == back);
        let (points, actions) = found.map_or((0, json!({})), |(_, points, actions)| {
            (*points, actions.clone())
        });
        json!({"date": day(back).to_string(), "points": points, "actions": actions})
    };
    (0..count).map(entry).collect()
}

pub fn history(user: Value, days: Value, streak: Value) -> Value {
    json!({"user": user, "timezone": noon_zone(), "days": days, "streak": streak})
}

/// Returns streaks of days, and the streaks of the weeks that contain the active days.
pub fn streak(current: u32, longest: u32, active: &[i64]) -> Value {
    let epoch = Date::constant(1970, 1, 5);
    let week = |back: i64| {
        let days = day(back).since(epoch).expect("a span").get_days();
        days.div_euclid(7)
    };
    let weeks: BTreeSet<i32> = active.iter().map(|back| week(*back)).collect();
    let run = |last: i32| {
        (0..)
            .take_while(|back| weeks.contains(&(last - back)))
            .count()
    };
    let current_week = if weeks.contains(&week(0)) { 0 } else { 1 };
    json!({
        "current": current, "longest": longest,
        "weeks": {"current": run(week(0) - current_week), "longest": weeks.iter().map(|week| run(*week)).max().unwrap_or(0)},
    })
}

pub async fn like_on(app: &Client, user: &str, back: i64) {
    let like = dated(like(user, &format!("p{back}")), noon(back));
    app.counted(like).await;
}

#[tokio::test]
async fn history_lists_points_by_day_and_action() {
    let app = TestApp::start();
    app.set_name("42", "Ada").await;
    app.count("42", "like", "a").await;
    app.count("42", "like", "b").await;
    app.count("42", "visit", "/").await;
    like_on(&app, "42", 30).await;
    // Outside the 31 days of the history.
    like_on(&app, "42", 31).await;
    let today = json!({"like": {"count": 2, "points": 4}, "visit": {"count": 1, "points": 1}});
    let active = [
        (0, 5, today),
        (30, 2, json!({"like": {"count": 1, "points": 2}})),
    ];
    let user = json!({"id": "42", "name": "Ada"});
    let response = app.get("/v1/users/42/activity").await;
    let expected = history(user.clone(), days(31, &active), streak(1, 1, &[0, 30]));
    response.assert(200, expected);
    assert_eq!(response.header("cache-control"), Some("no-store"));
    for count in [1, 2, 30, 31] {
        let expected = history(user.clone(), days(count, &active), streak(1, 1, &[0, 30]));
        let path = format!("/v1/users/42/activity?days={count}");
        app.assert_get(&path, expected).await;
    }
}

/// The user was active on 40 days in a row.
#[tokio::test]
async fn streak_is_at_most_31_days() {
    let app = TestApp::start();
    let like = |back: i64| dated(like("42", &back.to_string()), noon(back));
    let likes: Vec<Value> = (0..40).map(like).collect();
    app.send_activity(json!(likes)).await.assert_status(200);
    let today = [(0, 2, json!({"like": {"count": 1, "points": 2}}))];
    let active: Vec<i64> = (0..31).collect();
    let streak = streak(31, 31, &active);
    let expected = history(json!({"id": "42"}), days(1, &today), streak);
    app.assert_get("/v1/users/42/activity?days=1", expected)
        .await;
}

/// A wrong undo can be taken back on the day of the activity: the day has points again.
#[tokio::test]
async fn repeated_activity_restores_the_streak() {
    let app = TestApp::start();
    for back in [1, 2] {
        like_on(&app, "42", back).await;
    }
    let read = async || app.read("/v1/users/42/activity?days=1").await["streak"].clone();
    for _ in 0..2 {
        app.counted(like("42", "today")).await;
        assert_eq!(read().await, streak(3, 3, &[0, 1, 2]));
        app.outcome(undo(like("42", "today")), "undone").await;
        assert_eq!(read().await, streak(2, 2, &[1, 2]));
    }
    // Only today counts: a like of yesterday's target is one of today.
    app.outcome(undo(like("42", "p1")), "undone").await;
    app.counted(like("42", "p1")).await;
    assert_eq!(read().await, streak(1, 1, &[0, 2]));
}

/// Returns for each day whether it is frozen.
pub fn frozen(history: &Value) -> Vec<bool> {
    let days = each(&history["days"], "/frozen").into_iter();
    days.map(|frozen| frozen == true).collect()
}

/// Asserts the streak of days in the history of user 42, and that everyone reads the same there and on the card.
pub async fn assert_public_streak(app: &TestApp, days: i64, expected: &Value) {
    let path = format!("/v1/users/42/activity?days={days}");
    let (own, others) = (app.read(&path).await, app.without_key());
    let [found, expected] =
        [&own["streak"], expected].map(|streak| [&streak["current"], &streak["longest"]]);
    assert_eq!(found, expected);
    let public = others.read(&path).await;
    let expected = (frozen(&own), &own["streak"]);
    assert_eq!((frozen(&public), &public["streak"]), expected);
    let card = others.read("/v1/users/42/card").await;
    assert_eq!(card["streak"], own["streak"]);
}

/// Days are missed up to two days ago: months begin in between at times, so each has its freezes.
#[tokio::test]
async fn freezes_cover_missed_days() {
    let app = TestApp::with(|worker| worker.json("STREAK_FREEZES", json!(31)));
    for back in [1, 4, 5] {
        like_on(&app, "42", back).await;
    }
    let public = json!({"public_activity": true});
    app.put_profile("42", public.clone()).await;
    let body = app.read("/v1/users/42/activity?days=6").await;
    assert_eq!(frozen(&body), [false, false, true, true, false, false]);
    let kept = streak(3, 3, &[1, 4, 5]);
    assert_public_streak(&app, 6, &kept).await;
    let card = app.without_key().get("/v1/users/42/card.svg").await;
    assert!(card.text.contains("3-day streak"), "{}", card.text);
    let missed = days(1, &[(0, 0, json!({}))])[0].clone();
    assert_eq!(body["days"][0], missed);
    let date = day(2).to_string();
    let expected = json!({"date": date, "points": 0, "frozen": true, "actions": {}});
    assert_eq!(body["days"][2], expected);
}
