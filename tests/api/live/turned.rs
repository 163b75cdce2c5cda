//! At midnight.

use std::time::{SystemTime, UNIX_EPOCH};

use test_support::{Api, Value, json};

use crate::site::patient;

const DAY: u64 = 86_400_000; // milliseconds

#[tokio::test]
async fn the_next_board_follows_the_last_by_itself() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = u64::try_from(now.expect("after 1970").as_millis()).expect("milliseconds");
    // Time enough to count and to open before it.
    let worker = patient().live().ahead(DAY - now % DAY - 8_000).start();
    let api = worker.api();
    let like = json!({"user": "42", "action": "like", "target": "p"});
    api.post("/v1/activity", &like).await.assert_status(200);
    let mut day = Api::new(worker.url())
        .stream("/v1/ranking/day/live", &[])
        .await;
    let mut all = Api::new(worker.url())
        .stream("/v1/ranking/all/live", &[])
        .await;
    let said = |board: &Value| {
        let id = board["period"]["id"].as_str().expect("an id").to_owned();
        (id, board["total"].clone())
    };
    let (first, total) = said(&day.event().await.json());
    assert_eq!(total, 1);
    let (second, total) = said(&day.event().await.json());
    assert_eq!(total, 0);
    assert!(first < second, "{first} {second}");

    let like = json!({"user": "42", "action": "like", "target": "q"});
    api.post("/v1/activity", &like).await.assert_status(200);
    assert_eq!(said(&day.event().await.json()), (second, json!(1)));
    // The other board is the same before and after.
    for score in [2, 4] {
        assert_eq!(all.event().await.json()["entries"][0]["score"], score);
    }
}
