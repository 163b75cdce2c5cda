//! Who is frozen.

use test_support::json;

use super::{activity, adjust, boards, moderate};
use crate::site::Site;
use crate::token::row::forbidden;

const TOLD: &str = "This user is frozen: nothing they do or take back counts.";

#[tokio::test]
async fn nothing_they_do_or_take_back_counts_until_they_are_free_again() {
    let site = Site::start();
    activity(&site, &["a", "b"]).await;
    let before = boards(&site, &["a", "b"]).await;
    let frozen = json!({"user": {"id": "a"}, "hidden": false, "frozen": true});
    moderate(&site, "a", false, true).await.assert(200, frozen);
    assert_eq!(boards(&site, &["a", "b"]).await, before);
    let held = site.store().snapshot();
    let new = json!({"user": "a", "action": "like", "target": "new"});
    let undo = json!({"user": "a", "action": "comment", "target": "c", "undo": true});
    let visit = json!({"user": "a", "action": "visit", "target": "/"});
    let known = json!({"user": "a", "action": "comment", "target": "c"});
    for activity in [&new, &undo, &visit, &known] {
        let answer = site.send_activity(activity.clone()).await;
        answer.assert(403, forbidden(TOLD));
    }
    assert!(site.store().snapshot() == held, "Redis was changed");
    let other = json!({"user": "b", "action": "like", "target": "new"});
    let answer = site.send_activity(json!([new, other, undo])).await;
    let error = json!({"error": forbidden(TOLD)});
    let counted = json!({"outcome": "counted", "points": 2});
    answer.assert(200, json!({"results": [error, counted, error]}));
    moderate(&site, "a", false, false).await.assert_status(200);
    site.outcome(undo, "undone").await;
    site.outcome(new, "counted").await;
}

#[tokio::test]
async fn rules_are_told_before_because_they_need_no_store() {
    let site = Site::start();
    moderate(&site, "a", false, true).await.assert_status(200);
    let dance = json!({"user": "a", "action": "dance", "target": "t"});
    site.send_activity(dance).await.assert_status(422);
}

#[tokio::test]
async fn moderators_can_adjust_their_points_and_hide_them_too() {
    let site = Site::start();
    site.count("a", "comment", "c").await;
    moderate(&site, "a", true, true).await.assert_status(200);
    let taken = json!({"id": "1", "points": -1, "reason": "A test"});
    let answer = adjust(&site, "a", taken).await;
    assert_eq!(answer.body["outcome"], "counted", "{}", answer.text);
    moderate(&site, "a", false, true).await.assert_status(200);
    let board = site.get("/v1/ranking/day").await;
    assert_eq!(board.body["entries"][0]["score"], 2);
}
