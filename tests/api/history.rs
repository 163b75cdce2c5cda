//! `GET /v1/users/{user}/activity`

use test_support::{Value, json};

use crate::clock::{day, noon, noon_zone};
use crate::site::Site;

/// Days without activity but for those given, today first.
fn days(count: i64, active: &[(i64, u32, Value)]) -> Value {
    let of = |back: i64| {
        let found = active.iter().find(|(day, ..)| *day == back);
        let (points, actions) = found.map_or((0, json!({})), |(_, points, actions)| {
            (*points, actions.clone())
        });
        json!({"date": day(back).to_string(), "points": points, "actions": actions})
    };
    (0..count).map(of).collect()
}

fn history(user: Value, days: Value, current: u32, longest: u32) -> Value {
    json!({"user": user, "timezone": noon_zone(), "days": days,
        "streak": {"current": current, "longest": longest}})
}

async fn like_on(site: &Site, user: &str, back: i64) {
    let target = format!("p{back}");
    let like = json!({"user": user, "action": "like", "target": target, "at": noon(back)});
    site.outcome(like, "counted").await;
}

#[tokio::test]
async fn points_and_counts_are_told_by_day_and_action() {
    let site = Site::start();
    site.put("/v1/users/42", &json!({"name": "Ada"}))
        .await
        .assert_status(200);
    site.count("42", "like", "a").await;
    site.count("42", "like", "b").await;
    site.count("42", "visit", "/").await;
    like_on(&site, "42", 30).await;
    // Not held any more.
    like_on(&site, "42", 31).await;
    let today = json!({"like": {"count": 2, "points": 4}, "visit": {"count": 1, "points": 1}});
    let active = [
        (0, 5, today),
        (30, 2, json!({"like": {"count": 1, "points": 2}})),
    ];
    let user = json!({"id": "42", "name": "Ada"});
    let answer = site.get("/v1/users/42/activity").await;
    answer.assert(200, history(user.clone(), days(31, &active), 1, 1));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    for count in [1, 2, 30, 31] {
        let answer = site
            .get(&format!("/v1/users/42/activity?days={count}"))
            .await;
        answer.assert(200, history(user.clone(), days(count, &active), 1, 1));
    }
}

#[tokio::test]
async fn an_undo_takes_count_and_points_out_of_the_day_they_were_counted() {
    let site = Site::start();
    like_on(&site, "42", 3).await;
    site.outcome(
        json!({"user": "42", "action": "like", "target": "q", "at": noon(3)}),
        "counted",
    )
    .await;
    site.outcome(
        json!({"user": "42", "action": "visit", "target": "/", "at": noon(3)}),
        "counted",
    )
    .await;
    let undo =
        |target: &str| json!({"user": "42", "action": "like", "target": target, "undo": true});
    site.outcome(undo("p3"), "undone").await;
    let user = json!({"id": "42"});
    let left = json!({"like": {"count": 1, "points": 2}, "visit": {"count": 1, "points": 1}});
    let answer = site.get("/v1/users/42/activity?days=4").await;
    answer.assert(200, history(user.clone(), days(4, &[(3, 3, left)]), 0, 1));
    site.outcome(undo("q"), "undone").await;
    let left = json!({"visit": {"count": 1, "points": 1}});
    let answer = site.get("/v1/users/42/activity?days=4").await;
    answer.assert(200, history(user, days(4, &[(3, 1, left)]), 0, 1));
}

#[tokio::test]
async fn a_streak_counts_consecutive_days_and_may_end_yesterday() {
    let site = Site::start();
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
            like_on(&site, user, *back).await;
        }
        let answer = site.get(&format!("/v1/users/{user}/activity?days=1")).await;
        assert_eq!(
            answer.body["streak"],
            json!({"current": current, "longest": longest}),
            "{user}"
        );
    }
}

#[tokio::test]
async fn a_month_of_days_is_the_longest_streak() {
    let site = Site::start();
    let like = |back: i64| json!({"user": "42", "action": "like", "target": back.to_string(), "at": noon(back)});
    let likes: Vec<Value> = (0..40).map(like).collect();
    site.send_activity(json!(likes)).await.assert_status(200);
    let answer = site.get("/v1/users/42/activity?days=1").await;
    let today = [(0, 2, json!({"like": {"count": 1, "points": 2}}))];
    answer.assert(200, history(json!({"id": "42"}), days(1, &today), 31, 31));
}

#[tokio::test]
async fn a_day_whose_points_are_all_undone_breaks_a_streak() {
    let site = Site::start();
    for back in [0, 1, 2] {
        like_on(&site, "42", back).await;
    }
    site.outcome(
        json!({"user": "42", "action": "like", "target": "p1", "undo": true}),
        "undone",
    )
    .await;
    let answer = site.get("/v1/users/42/activity?days=1").await;
    assert_eq!(answer.body["streak"], json!({"current": 1, "longest": 1}));
}

#[tokio::test]
async fn an_unknown_user_is_all_zero() {
    let site = Site::start();
    let answer = site.get("/v1/users/nobody/activity").await;
    answer.assert(200, history(json!({"id": "nobody"}), days(31, &[]), 0, 0));
}
