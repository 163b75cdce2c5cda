//! Who comes back tells what they know.

use super::{change, is_board, start, watch, watch_with};

const BOARD: &str = "/v1/ranking/week";
const LIVE: &str = "/v1/ranking/week/live";

#[tokio::test]
async fn who_knows_the_board_gets_only_what_changes_from_there_on() {
    let (site, _forwarder) = start();
    site.count("42", "like", "p").await;
    let known = watch(&site, LIVE).await.event().await.id;
    let mut stream = watch_with(&site, LIVE, &[("last-event-id", &known)]).await;
    let first = stream.next().await.expect("the wait");
    assert_eq!(
        (first.retry, &*first.name, &*first.data),
        (Some(3000), "", "")
    );
    site.count("42", "like", "q").await;
    change(&site, &mut stream, BOARD).await;
}

#[tokio::test]
async fn who_knows_another_board_gets_it_whole() {
    let (site, _forwarder) = start();
    site.count("42", "like", "p").await;
    let before = watch(&site, LIVE).await.event().await.id;
    site.count("42", "like", "q").await;
    let shorter = watch(&site, "/v1/ranking/week/live?limit=1")
        .await
        .event()
        .await
        .id;
    let strange = ["", "\"", "*", "0123456789abcdef", "a b", &"f".repeat(4000)];
    for known in strange.into_iter().chain([&*before]) {
        let mut stream = watch_with(&site, LIVE, &[("last-event-id", known)]).await;
        is_board(&stream.event().await, &site.get(BOARD).await);
    }
    // The same board of fewer is the same where there are no more.
    let mut stream = watch_with(&site, LIVE, &[("last-event-id", &shorter)]).await;
    assert_eq!(stream.next().await.expect("the wait").name, "");
}
