//! Streams across midnight.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use test_support::{Api, Fault, Forwarder, Value, Worker, WorkerBuilder, json, scaled, until};

use crate::client::Client;

const DAY: i64 = 86_400_000; // milliseconds

/// Starts a Worker whose clock is some seconds before midnight UTC: time to read the board of the day, also on a slow
/// machine.
fn before_midnight(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Worker {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = i64::try_from(now.expect("after 1970").as_millis()).expect("milliseconds");
    let before = scaled(Duration::from_secs(5)).as_millis();
    let before = i64::try_from(before).expect("milliseconds");
    let worker = configure(Worker::builder().live());
    worker.ahead(DAY - now % DAY - before).start()
}

/// Returns the day of a board, and its total.
fn day_and_total(board: &Value) -> (String, Value) {
    let id = board["period"]["id"].as_str().expect("an id").to_owned();
    (id, board["total"].clone())
}

/// During an outage, the remembered board of yesterday is not served as the board of today.
#[tokio::test]
async fn stale_board_is_dropped_at_midnight() {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    let worker = before_midnight(|worker| worker.check_interval(1).store(&forwarder.url()));
    let (api, live) = (worker.api(), "/v1/ranking/day/live");
    let client = Client::new(api.clone());
    client.count("42", "like", "p").await;
    let first = day_and_total(&api.stream(live, &[]).await.event().await.json());
    forwarder.fail(|_| Some(Fault::CutBefore));
    let mut stale = 0;
    until("midnight", async || {
        let mut stream = api.stream(live, &[]).await;
        if stream.status() == 503 {
            return Some(());
        }
        let board = stream.event().await.json();
        stale += i32::from(board["stale"] == true);
        assert_eq!(day_and_total(&board), first);
        None
    })
    .await;
    assert!(stale > 0);
}

#[tokio::test]
async fn stream_switches_to_next_day_at_midnight() {
    let worker = before_midnight(|worker| worker.check_interval(1));
    let client = Client::new(worker.api());
    client.count("42", "like", "p").await;
    let open = async |path| Api::new(worker.url()).stream(path, &[]).await;
    let mut day = open("/v1/ranking/day/live").await;
    let mut all = open("/v1/ranking/all/live").await;
    let (first, total) = day_and_total(&day.event().await.json());
    assert_eq!(total, 1);
    let (second, total) = day_and_total(&day.event().await.json());
    assert_eq!(total, 0);
    assert!(first < second, "{first} {second}");

    client.count("42", "like", "q").await;
    let board = day.event().await.json();
    assert_eq!(day_and_total(&board), (second, json!(1)));
    // The all-time board got no event at midnight.
    for score in [2, 4] {
        assert_eq!(all.event().await.json()["entries"][0]["score"], score);
    }
}
