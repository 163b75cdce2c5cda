//! `POST /v1/activity`

use test_support::json;

use crate::clock::{day, standings};
use crate::site::Site;

#[tokio::test]
async fn a_like_counts_once_and_an_undo_takes_it_back() {
    let site = Site::start();
    let like = json!({"user": "42", "action": "like", "target": "post-7"});
    let undo = json!({"user": "42", "action": "like", "target": "post-7", "undo": true});
    let (first, none) = (standings(day(0), 2, 1), standings(day(0), 0, json!(null)));

    let answer = site.send_activity(like.clone()).await;
    answer.assert(
        200,
        json!({"outcome": "counted", "points": 2, "standings": first}),
    );
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
