//! Runs of cron at the same time, and processes that die: each message arrives, and each id is one message.

use test_support::{Fault, json, until};

use super::{HookApp, assert_ids_are_unique, start, start_with, take};

async fn hide_all(app: &HookApp, users: u32) {
    for user in 0..users {
        app.moderate(&format!("u{user}"), true, false).await;
    }
}

/// Runs that overlap drain the same entries, and claim different deliveries.
#[tokio::test]
async fn concurrent_runs_send_each_message_once() {
    let app = start_with(|worker| worker.json("CRON_BUDGET", json!(1000)));
    hide_all(&app, 30).await;
    let worker = &app.worker;
    for _ in 0..3 {
        futures::join!(
            worker.minute(),
            worker.minute(),
            worker.tick(),
            worker.minute()
        );
    }
    let messages = take(&app.receiver);
    assert_eq!(messages.len(), 30);
    assert_ids_are_unique(&messages);
}

/// Two processes with the same database and the same store drain the same entries and claim different deliveries. While
/// one of them writes, the database of this machine may refuse what the other has to record: then a message is sent again
/// after the claim.
#[tokio::test]
async fn two_workers_send_every_message() {
    let app = start();
    let other = app.worker.beside();
    assert_ne!(other.url(), app.worker.url());
    let hide = async |user: u32| {
        let user = format!("u{user}");
        app.moderate(&user, true, false).await;
    };
    let is_delivered = async || app.states("moderation.hidden").await == ["delivered"; 40];
    let mut messages = Vec::new();
    for round in 0..8 {
        for user in round * 5..round * 5 + 5 {
            hide(user).await;
        }
        futures::join!(app.worker.minute(), other.minute());
        messages.extend(take(&app.receiver));
    }
    for _ in 0..50 {
        if is_delivered().await {
            break;
        }
        app.pass(3).await;
        futures::join!(app.worker.minute(), other.minute());
        messages.extend(take(&app.receiver));
    }
    // A message that one has sent is not due for the other.
    hide(40).await;
    other.minute().await;
    assert_eq!(take(&app.receiver).len(), 1);
    assert_eq!(app.minute().await, []);
    assert_eq!(app.states("moderation.hidden").await, ["delivered"; 41]);
    assert_ids_are_unique(&messages);
    let mut ids: Vec<&String> = messages.iter().map(|message| &message.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40);
}

/// Each attempt fails, is cut before or after the receiver has it, or succeeds.
#[tokio::test]
async fn every_message_arrives_at_an_unreliable_receiver() {
    let app = start_with(|worker| worker.json("CRON_BUDGET", json!(1000)));
    hide_all(&app, 25).await;
    let mut random = fastrand::Rng::with_seed(17);
    app.receiver.fail(move |_| {
        Some(match random.u32(0..4) {
            0 => Fault::Respond(500, String::new()),
            1 => Fault::CutBefore,
            _ => Fault::Respond(200, String::new()),
        })
    });
    let mut messages = Vec::new();
    for _ in 0..200 {
        messages.extend(app.minute().await);
        if app
            .states("moderation.hidden")
            .await
            .iter()
            .all(|state| state == "delivered")
        {
            break;
        }
        // Longer than the pause after an attempt or two.
        app.pass(5).await;
    }
    assert_ids_are_unique(&messages);
    let mut users: Vec<_> = messages
        .iter()
        .map(|message| message.body["data"]["user"]["id"].to_string())
        .collect();
    users.sort();
    users.dedup();
    assert_eq!(users.len(), 25);
    assert_eq!(app.states("moderation.hidden").await, ["delivered"; 25]);
}

/// The process dies while the receiver has the message, before the delivery is recorded.
#[tokio::test]
async fn message_is_sent_again_after_a_crash() {
    let mut app = start();
    app.receiver.fail_next(Fault::HangBefore);
    hide_all(&app, 1).await;
    let api = app.worker.api();
    let run = tokio::spawn(async move {
        let path = "/cdn-cgi/local/scheduled?cron=*+*+*+*+*";
        let _ = api.try_send(test_support::Method::GET, path, "", &[]).await;
    });
    let received = async || (app.receiver.count() == 1).then_some(());
    until("the message", received).await;
    let first = take(&app.receiver);
    run.abort();
    app.app.worker = app.app.worker.crash();
    app.app = crate::app::TestApp::of(app.app.worker);
    super::respond(&app.receiver, 200);
    app.pass(2).await;
    assert_eq!(app.minute().await, first);
    app.pass(60).await;
    assert_eq!(app.minute().await, []);
}
