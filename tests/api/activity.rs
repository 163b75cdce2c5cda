//! `POST /v1/activity`: one activity, and what becomes of it.

use test_support::json;

use crate::clock::{day, noon, standings};
use crate::site::Site;

#[tokio::test]
async fn a_like_counts_once_and_an_undo_takes_it_back() {
    let site = Site::start();
    let like = json!({"user": "42", "action": "like", "target": "post-7"});
    let undo = json!({"user": "42", "action": "like", "target": "post-7", "undo": true});
    let first = standings(day(0), 2, 1);
    let none = standings(day(0), 0, json!(null));

    let answer = site.send_activity(like.clone()).await;
    answer.assert(
        200,
        json!({"outcome": "counted", "points": 2, "standings": first}),
    );
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let answer = site.send_activity(like.clone()).await;
    answer.assert(
        200,
        json!({"outcome": "duplicate", "points": 0, "standings": first}),
    );
    let answer = site.send_activity(undo.clone()).await;
    answer.assert(
        200,
        json!({"outcome": "undone", "points": -2, "standings": none}),
    );
    let answer = site.send_activity(undo).await;
    answer.assert(
        200,
        json!({"outcome": "nothing-to-undo", "points": 0, "standings": none}),
    );
    let answer = site.send_activity(like).await;
    answer.assert(
        200,
        json!({"outcome": "counted", "points": 2, "standings": first}),
    );
}

#[tokio::test]
async fn every_default_action_earns_its_points() {
    let site = Site::start();
    let mut score = 0;
    let actions = [
        ("visit", 1),
        ("like", 2),
        ("bookmark", 2),
        ("follow", 2),
        ("comment", 3),
        ("publish", 10),
    ];
    for (action, points) in actions {
        score += points;
        let activity = json!({"user": "42", "action": action, "target": "/a"});
        let answer = site.send_activity(activity).await;
        let standings = standings(day(0), score, 1);
        answer.assert(
            200,
            json!({"outcome": "counted", "points": points, "standings": standings}),
        );
    }
}

#[tokio::test]
async fn a_visit_counts_once_a_day_however_its_link_is_written() {
    let site = Site::start();
    let visit = |target: &str| json!({"user": "42", "action": "visit", "target": target});
    site.outcome(visit("/about"), "counted").await;
    for same in [
        "/about",
        "/about/",
        "/about?from=mail",
        "/about#team",
        "/about/?a=1#b",
        "/about//",
    ] {
        site.outcome(visit(same), "duplicate").await;
    }
    site.outcome(visit("/"), "counted").await;
    site.outcome(visit("/?a=1"), "duplicate").await;
    site.outcome(visit("//"), "duplicate").await;
    site.outcome(visit("/about/team"), "counted").await;
    site.outcome(visit("/About"), "counted").await;
}

#[tokio::test]
async fn a_visit_counts_again_on_another_day() {
    let site = Site::start();
    let visit = |back| json!({"user": "42", "action": "visit", "target": "/", "at": noon(back)});
    site.outcome(visit(0), "counted").await;
    site.outcome(visit(1), "counted").await;
    site.outcome(visit(1), "duplicate").await;
    site.outcome(visit(30), "counted").await;
    // Marks of a day are kept no longer, so whether it has been counted cannot be known.
    let answer = site.send_activity(visit(31)).await;
    let standings = standings(day(31), 0, json!(null));
    assert_eq!(answer.body["standings"]["day"], standings["day"]);
    assert_eq!(answer.body["outcome"], "stale");
}

#[tokio::test]
async fn targets_of_other_actions_are_compared_as_sent() {
    let site = Site::start();
    for target in [
        "/about",
        "/about/",
        "/about?a=1",
        "about",
        "ABOUT",
        " about",
        "é",
        "e\u{301}",
    ] {
        site.count("42", "like", target).await;
    }
    site.count("42", "like", &"x".repeat(512)).await;
    site.count("42", "like", &"é".repeat(256)).await;
}

#[tokio::test]
async fn an_integer_is_a_user_by_its_decimal_text() {
    let site = Site::start();
    let like = |user: serde_json::Value| json!({"user": user, "action": "like", "target": "p"});
    site.outcome(like(json!(42)), "counted").await;
    site.outcome(like(json!("42")), "duplicate").await;
    site.outcome(like(json!(-42)), "counted").await;
    site.outcome(like(json!("-42")), "duplicate").await;
    site.outcome(like(json!(u64::MAX)), "counted").await;
    site.outcome(like(json!("18446744073709551615")), "duplicate")
        .await;
}

#[tokio::test]
async fn every_character_of_an_id_is_taken() {
    let site = Site::start();
    for user in [
        "a",
        "Z09_.:@|-",
        "...",
        "me@example.com",
        "-",
        ".a",
        "|",
        ":",
    ] {
        site.count(user, "like", "p").await;
    }
    site.count(&"u".repeat(64), "like", "p").await;
}

#[tokio::test]
async fn users_actions_and_targets_are_counted_apart() {
    let site = Site::start();
    for user in ["a", "b", "a:b"] {
        for action in ["like", "follow"] {
            for target in ["x", "y", "x:y", "like:x"] {
                site.count(user, action, target).await;
            }
        }
    }
}

#[tokio::test]
async fn ranks_follow_the_order_of_arrival_among_equals() {
    let site = Site::start();
    site.count("first", "like", "p").await;
    site.count("second", "like", "p").await;
    let third = json!({"user": "third", "action": "comment", "target": "p"});
    let third = site.outcome(third, "counted").await;
    assert_eq!(third["standings"], standings(day(0), 3, 1));
    let again = json!({"user": "second", "action": "like", "target": "p"});
    let again = site.outcome(again, "duplicate").await;
    assert_eq!(again["standings"], standings(day(0), 2, 3));
}
