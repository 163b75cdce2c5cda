//! `GET /v1/users/{user}/activity`: daily history and streak of a user.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{activity, dated, like, undo};
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

pub fn history(user: Value, days: Value, current: u32, longest: u32) -> Value {
    json!({"user": user, "timezone": noon_zone(), "days": days,
        "streak": {"current": current, "longest": longest}})
}

pub async fn like_on(app: &Client, user: &str, back: i64) {
    let like = dated(like(user, &format!("p{back}")), noon(back));
    app.outcome(like, "counted").await;
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
    response.assert(200, history(user.clone(), days(31, &active), 1, 1));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    for count in [1, 2, 30, 31] {
        let expected = history(user.clone(), days(count, &active), 1, 1);
        let path = format!("/v1/users/42/activity?days={count}");
        app.assert_get(&path, expected).await;
    }
}

#[tokio::test]
async fn undo_subtracts_from_the_day_of_counting() {
    let app = TestApp::start();
    like_on(&app, "42", 3).await;
    for activity in [like("42", "q"), activity("42", "visit", "/")] {
        app.outcome(dated(activity, noon(3)), "counted").await;
    }
    let undo = |target: &str| undo(like("42", target));
    app.outcome(undo("p3"), "undone").await;
    let (path, user) = ("/v1/users/42/activity?days=4", json!({"id": "42"}));
    let remaining = json!({"like": {"count": 1, "points": 2}, "visit": {"count": 1, "points": 1}});
    let expected = history(user.clone(), days(4, &[(3, 3, remaining)]), 0, 1);
    app.assert_get(path, expected).await;
    app.outcome(undo("q"), "undone").await;
    let remaining = json!({"visit": {"count": 1, "points": 1}});
    let expected = history(user, days(4, &[(3, 1, remaining)]), 0, 1);
    app.assert_get(path, expected).await;
}

#[tokio::test]
async fn streak_counts_days_up_to_today_or_yesterday() {
    let app = TestApp::start();
    let streaks: [(&str, &[i64], u32, u32); 6] = [
        ("today", &[0], 1, 1),
        ("yesterday", &[1, 2], 2, 2),
        ("over", &[2, 3, 4], 0, 3),
        ("both", &[0, 1, 2, 4, 5, 6, 7, 10], 3, 4),
        ("oldest", &[28, 29, 30], 0, 3),
        ("none", &[], 0, 0),
    ];
    for (user, active, current, longest) in streaks {
        for back in active {
            like_on(&app, user, *back).await;
        }
        let history = app.read(&format!("/v1/users/{user}/activity?days=1")).await;
        let streak = json!({"current": current, "longest": longest});
        assert_eq!(history["streak"], streak, "{user}");
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
    let expected = history(json!({"id": "42"}), days(1, &today), 31, 31);
    app.assert_get("/v1/users/42/activity?days=1", expected)
        .await;
}

#[tokio::test]
async fn undone_day_breaks_a_streak() {
    let app = TestApp::start();
    for back in [0, 1, 2] {
        like_on(&app, "42", back).await;
    }
    app.outcome(undo(like("42", "p1")), "undone").await;
    let history = app.read("/v1/users/42/activity?days=1").await;
    assert_eq!(history["streak"], json!({"current": 1, "longest": 1}));
}

#[tokio::test]
async fn unknown_user_has_an_empty_history() {
    let app = TestApp::start();
    let expected = history(json!({"id": "unknown"}), days(31, &[]), 0, 0);
    app.assert_get("/v1/users/unknown/activity", expected).await;
}
