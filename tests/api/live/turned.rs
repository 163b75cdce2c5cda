//! At midnight.

use std::time::{SystemTime, UNIX_EPOCH};

use test_support::{Api, Fault, Forwarder, Value, Worker, WorkerBuilder, json, until};

use crate::site::patient;

const DAY: u64 = 86_400_000; // milliseconds

/// A service on which it is midnight (UTC) in some seconds: time to count and to open before it.
fn before_midnight(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Worker {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = u64::try_from(now.expect("after 1970").as_millis()).expect("milliseconds");
    let worker = configure(patient().live());
    worker.ahead(DAY - now % DAY - 8_000).start()
}

/// The day of a board, and how many are on it.
fn said(board: &Value) -> (String, Value) {
    let id = board["period"]["id"].as_str().expect("an id").to_owned();
    (id, board["total"].clone())
}

#[tokio::test]
async fn the_board_of_yesterday_is_not_taken_for_that_of_today_while_the_store_is_away() {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    let worker = before_midnight(|worker| worker.store(&forwarder.url()));
    let (api, live) = (worker.api(), "/v1/ranking/day/live");
    let like = json!({"user": "42", "action": "like", "target": "p"});
    api.post("/v1/activity", &like).await.assert_status(200);
    let first = said(&api.stream(live, &[]).await.event().await.json());
    forwarder.fail(|_| Some(Fault::CutBefore));
    let mut stale = 0;
    until("midnight", async || {
        let mut stream = api.stream(live, &[]).await;
        if stream.status() == 503 {
            return Some(());
        }
        let board = stream.event().await.json();
        stale += i32::from(board["stale"] == true);
        assert_eq!(said(&board), first);
        None
    })
    .await;
    assert!(stale > 0);
}

#[tokio::test]
async fn the_next_board_follows_the_last_by_itself() {
    let worker = before_midnight(|worker| worker);
    let api = worker.api();
    let like = json!({"user": "42", "action": "like", "target": "p"});
    api.post("/v1/activity", &like).await.assert_status(200);
    let mut day = Api::new(worker.url())
        .stream("/v1/ranking/day/live", &[])
        .await;
    let mut all = Api::new(worker.url())
        .stream("/v1/ranking/all/live", &[])
        .await;
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
