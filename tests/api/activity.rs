//! `POST /v1/activity`.

use test_support::{Worker, json};

fn standing(body: &serde_json::Value, period: &str) -> serde_json::Value {
    let standing = &body["standings"][period];
    json!([standing["score"], standing["rank"]])
}

#[tokio::test]
async fn a_like_counts_once_and_an_undo_takes_it_back() {
    let worker = Worker::start();
    let api = worker.api();
    let like = json!({"user": "42", "action": "like", "target": "post-7"});
    let undo = json!({"user": "42", "action": "like", "target": "post-7", "undo": true});

    let counted = api.post("/v1/activity", &like).await;
    counted.assert_status(200);
    assert_eq!(counted.body["outcome"], "counted", "{}", counted.text);
    assert_eq!(counted.body["points"], 2);
    for period in ["day", "week", "month", "year", "all"] {
        assert_eq!(standing(&counted.body, period), json!([2, 1]), "{period}");
    }

    let again = api.post("/v1/activity", &like).await;
    assert_eq!(again.body["outcome"], "duplicate");
    assert_eq!(standing(&again.body, "day"), json!([2, 1]));

    let undone = api.post("/v1/activity", &undo).await;
    assert_eq!(undone.body["outcome"], "undone");
    assert_eq!(undone.body["points"], -2);
    assert_eq!(standing(&undone.body, "day"), json!([0, null]));

    let nothing = api.post("/v1/activity", &undo).await;
    assert_eq!(nothing.body["outcome"], "nothing-to-undo");

    let once_more = api.post("/v1/activity", &like).await;
    assert_eq!(once_more.body["outcome"], "counted");
    assert_eq!(standing(&once_more.body, "day"), json!([2, 1]));
}
