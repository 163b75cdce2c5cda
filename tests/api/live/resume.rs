//! Reconnecting with `Last-Event-ID`.

use super::{assert_board, assert_change, open, open_with, start};

const BOARD: &str = "/v1/ranking/week";
const LIVE: &str = "/v1/ranking/week/live";

#[tokio::test]
async fn current_last_event_id_skips_first_board() {
    let (app, _forwarder) = start();
    app.count("42", "like", "p").await;
    let current = open(&app, LIVE).await.event().await.id;
    let mut stream = open_with(&app, LIVE, &[("last-event-id", &current)]).await;
    // Replacements of `EventSource` send a parameter, and some add others.
    let by_parameter = |name| format!("{LIVE}?{name}={current}&r=7");
    let [mut eventsource, mut polyfill] = [
        open(&app, &by_parameter("Last-Event-ID")).await,
        open(&app, &by_parameter("lastEventId")).await,
    ];
    for stream in [&mut stream, &mut eventsource, &mut polyfill] {
        let first = stream.next().await.expect("the retry event");
        let expected = (Some(3000), "", "");
        assert_eq!((first.retry, &*first.name, &*first.data), expected);
    }
    app.count("42", "like", "q").await;
    assert_change(&app, &mut stream, BOARD).await;
}

#[tokio::test]
async fn unknown_last_event_id_resends_board() {
    let (app, _forwarder) = start();
    app.count("42", "like", "p").await;
    let outdated = open(&app, LIVE).await.event().await.id;
    app.count("42", "like", "q").await;
    let mut shorter = open(&app, "/v1/ranking/week/live?limit=1").await;
    let shorter = shorter.event().await.id;
    let malformed = ["", "\"", "*", "0123456789abcdef", "a b", &"f".repeat(4000)];
    for id in malformed.into_iter().chain([&*outdated]) {
        let mut stream = open_with(&app, LIVE, &[("last-event-id", id)]).await;
        assert_board(&stream.event().await, &app.get(BOARD).await);
    }
    // With one user the board is the same at any `limit`, and so is its id.
    let mut stream = open_with(&app, LIVE, &[("last-event-id", &shorter)]).await;
    assert_eq!(stream.next().await.expect("the retry event").name, "");
}
