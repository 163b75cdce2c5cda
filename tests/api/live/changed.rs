//! What comes when a board has changed.

use test_support::{json, peers};

use super::{change, count_in, is_board, start, watch};

#[tokio::test]
async fn each_change_is_soon_there_whatever_it_is() {
    let (site, _forwarder) = start();
    let board = "/v1/ranking/day?limit=10";
    let mut stream = watch(&site, "/v1/ranking/day/live?limit=10").await;
    is_board(&stream.event().await, &site.get(board).await);

    site.count("42", "like", "p").await;
    change(&site, &mut stream, board).await;
    site.count("7", "comment", "c").await;
    change(&site, &mut stream, board).await;
    let undo = json!({"user": "7", "action": "comment", "target": "c", "undo": true});
    site.outcome(undo, "undone").await;
    change(&site, &mut stream, board).await;
    let named = site.put("/v1/users/42", &json!({"name": "Ada"})).await;
    named.assert_status(200);
    change(&site, &mut stream, board).await;
    site.count("9", "comment", "c").await;
    change(&site, &mut stream, board).await;
    for hidden in [true, false] {
        let verdict = json!({"hidden": hidden, "frozen": false, "reason": "r"});
        let moderated = site.put("/v1/users/9/moderation", &verdict).await;
        moderated.assert_status(200);
        change(&site, &mut stream, board).await;
    }
    let points = json!({"id": "case", "points": -1, "reason": "r"});
    let adjusted = site.post("/v1/users/9/adjustments", &points).await;
    adjusted.assert_status(200);
    change(&site, &mut stream, board).await;
    site.delete("/v1/users/42").await.assert_status(204);
    change(&site, &mut stream, board).await;
    let last = site.get(board).await.body;
    assert_eq!(
        (&last["total"], &last["entries"][0]["user"]["id"]),
        (&json!(1), &json!("9"))
    );
}

#[tokio::test]
async fn nothing_comes_of_what_is_on_other_boards_or_further_down() {
    let (site, _forwarder) = start();
    let [first, second] = &peers(["first", "second"]);
    count_in(&site, first, "p", "eu").await;
    count_in(&site, first, "q", "eu").await;
    count_in(&site, second, "p", "eu").await;
    let mut group = watch(&site, "/v1/ranking/day/live?group=eu").await;
    let mut top = watch(&site, "/v1/ranking/day/live?limit=1").await;
    let mut all = watch(&site, "/v1/ranking/day/live").await;
    for stream in [&mut group, &mut top, &mut all] {
        stream.event().await;
    }
    // On the board of everybody, of the second, who stays second.
    site.count(second, "visit", "/").await;
    change(&site, &mut all, "/v1/ranking/day").await;
    count_in(&site, first, "r", "eu").await;
    change(&site, &mut group, "/v1/ranking/day?group=eu").await;
    change(&site, &mut top, "/v1/ranking/day?limit=1").await;
    change(&site, &mut all, "/v1/ranking/day").await;
}
