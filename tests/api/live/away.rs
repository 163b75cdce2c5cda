//! While the store does not answer.

use test_support::{Fault, Forwarder, json, until};

use super::{is_board, start, watch, watch_with};
use crate::client::Client;
use crate::site::patient;

const BOARD: &str = "/v1/ranking/day";
const LIVE: &str = "/v1/ranking/day/live";

#[tokio::test]
async fn where_nothing_is_known_it_is_told_and_there_is_a_stream_when_the_store_is_back() {
    let (site, forwarder) = start();
    forwarder.fail(|_| Some(Fault::CutBefore));
    for _ in 0..2 {
        let answer = site.get(LIVE).await;
        let problem = json!({"type": "/problems/store-unavailable", "title": "The store did not answer in time",
            "status": 503, "detail": "Nothing is half-done; sending the same request again is safe."});
        answer.assert(503, problem);
        let told = ["retry-after", "cache-control"].map(|name| answer.header(name));
        assert_eq!(told, [Some("1"), Some("no-store")]);
    }
    assert_eq!(site.head(LIVE).await.status, 503);
    forwarder.heal();
    let mut stream = watch(&site, LIVE).await;
    is_board(&stream.event().await, &site.get(BOARD).await);
}

#[tokio::test]
async fn who_watches_is_told_that_it_is_stale_and_gets_it_fresh_when_the_store_is_back() {
    let (site, forwarder) = start();
    site.count("42", "like", "p").await;
    let mut stream = watch(&site, LIVE).await;
    let fresh = stream.event().await;
    forwarder.fail(|_| Some(Fault::CutBefore));

    let stale = stream.event().await;
    let mut body = stale.json();
    let fields = body.as_object_mut().expect("a board");
    assert_eq!(fields.remove("stale"), Some(json!(true)), "{}", stale.data);
    assert!(
        fields.remove("as_of").is_some_and(|of| of.is_string()),
        "{}",
        stale.data
    );
    assert_eq!(body, fresh.json());
    assert_ne!(stale.id, fresh.id);
    // Who comes now gets what is known.
    let mut late = watch(&site, LIVE).await;
    assert_eq!(late.event().await, stale_with_retry(&stale));
    let mut back = watch_with(&site, LIVE, &[("last-event-id", &stale.id)]).await;
    assert_eq!(back.next().await.expect("the wait").name, "");

    forwarder.heal();
    site.count("7", "comment", "c").await;
    for stream in [&mut stream, &mut late, &mut back] {
        // It may have been asked before that was counted.
        let mut event = stream.event().await;
        if event.json()["total"] == 1 {
            event = stream.event().await;
        }
        is_board(&event, &site.get(BOARD).await);
    }
}

/// The same as the first event of a stream.
fn stale_with_retry(event: &test_support::Event) -> test_support::Event {
    test_support::Event {
        retry: Some(3000),
        ..event.clone()
    }
}

#[tokio::test]
async fn who_was_hidden_or_erased_since_is_not_in_what_the_object_remembers() {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    let worker = patient().store(&forwarder.url()).live();
    let wrangler = worker.start_wrangler();
    let client = Client::new(wrangler.api());
    let live = "/v1/ranking/all/live";
    let like = |user: &str, target: &str| json!({"user": user, "action": "like", "target": target});
    // How many are on what it knows, once it knows that the store is away; nothing where it is told so.
    let known = async || {
        until("what is known", async || {
            let mut stream = wrangler.api().stream(live, &[]).await;
            if stream.status() == 503 {
                return Some(None);
            }
            let board = stream.event().await.json();
            (board["stale"] == true).then(|| board["total"].as_u64())
        })
        .await
    };
    for user in ["7", "42"] {
        let counted = client.post("/v1/activity", &like(user, "p")).await;
        counted.assert_status(200);
    }
    // It asks and remembers, and nobody watches.
    client.head(live).await.assert_status(200);
    forwarder.fail(|_| Some(Fault::CutBefore));
    assert_eq!(known().await, Some(2));
    forwarder.heal();
    let verdict = json!({"hidden": true, "frozen": false, "reason": "r"});
    let moderated = client.put("/v1/users/42/moderation", &verdict).await;
    moderated.assert_status(200);
    forwarder.fail(|_| Some(Fault::CutBefore));
    assert_eq!(known().await, None);
}

#[tokio::test]
async fn data_of_other_settings_is_told_by_the_name_of_the_variable() {
    let (site, _forwarder) = start();
    site.count("42", "like", "p").await;
    let prefix = site.prefix().to_owned();
    let (other, _forwarder) = super::start_with(|worker| {
        let worker = worker.var("PREFIX", &prefix);
        worker.json("POINT_DECIMALS", json!(1))
    });
    let (board, live) = (other.get(BOARD).await, other.get(LIVE).await);
    board.assert_status(500);
    live.assert(500, board.body.clone());
}
