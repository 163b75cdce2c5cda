//! A Worker that is killed between counting and writing to the journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use test_support::{Api, Fault, Forwarder, Method, Value, gateway, json, until};

use super::{JournalApp, like, start, start_with};
use crate::client::JSON;

const CLIENTS: usize = 4;
const KILLS: usize = 3;

#[tokio::test]
async fn outbox_of_killed_worker_is_drained_by_next() {
    let app = start();
    app.send(like("a", "1")).await;
    let app = JournalApp::of(app.worker.crash());
    let entries = app.entries_after(0).await;
    assert_eq!((entries.len(), &entries[0]["mark"]), (1, &json!("like:1")));
}

/// The platform ends a run that takes too much processor time, here after it has written more than 300 entries to the
/// journal and before it removes them from the outbox.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ended_drains_do_not_repeat_forever() {
    let forwarder = Forwarder::to(&gateway().url());
    let mut app = start_with(|worker| worker.store(&forwarder.url()));
    for from in [0, 300] {
        let likes = (from..from + 300).map(|item| like("a", &format!("{item}")));
        let likes: Vec<_> = likes.collect();
        app.send(json!(likes)).await;
    }
    let ended = Arc::new(AtomicBool::new(false));
    let plan = Arc::clone(&ended);
    forwarder.fail(move |request| {
        let is_large = |command: &Vec<Value>| command[0] == "XDEL" && command.len() > 302;
        let is_ended = request.commands().iter().any(is_large);
        plan.fetch_or(is_ended, Ordering::Relaxed);
        is_ended.then_some(Fault::HangBefore)
    });
    let mut runs = 0;
    while !app.outbox().is_empty() {
        runs += 1;
        assert!(runs <= 3, "{} entries wait", app.outbox().len());
        ended.store(false, Ordering::Relaxed);
        let api = app.worker.api();
        let cron = tokio::spawn(async move {
            let path = "/cdn-cgi/local/scheduled?cron=*+*+*+*+*";
            let _ = api.try_send(Method::GET, path, "", &[]).await;
        });
        until("the end of the run", async || {
            (ended.load(Ordering::Relaxed) || cron.is_finished()).then_some(())
        })
        .await;
        if ended.load(Ordering::Relaxed) {
            app = JournalApp::of(app.worker.crash());
        }
    }
    assert_eq!((runs, app.entries_after(0).await.len()), (2, 600));
}

/// Sends likes of new users until `stop` or until the Worker is gone. Returns the number of the
/// next like, which may have been counted without a response.
async fn load(api: &Api, client: usize, first: usize, stop: &AtomicBool) -> usize {
    let mut number = first;
    while !stop.load(Ordering::Relaxed) {
        let body = like(&format!("u{client}-{number}"), "t").to_string();
        let sent = api.try_send(Method::POST, "/v1/activity", body, JSON).await;
        match sent {
            Ok(response) => {
                response.assert_status(200);
                number += 1;
            }
            Err(_) => return number,
        }
    }
    number
}

/// The Worker is killed under a load of writes and journal reads. Afterwards the journal has every
/// counted like once, in the order of the board.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_kills_keep_journal_complete_and_ordered() {
    let mut app = start();
    let mut done = [0; CLIENTS];
    for _ in 0..KILLS {
        let stop = Arc::new(AtomicBool::new(false));
        let min: usize = done.iter().sum::<usize>() + 40;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (api, stop, first) = (app.worker.api(), Arc::clone(&stop), done[client]);
                tokio::spawn(async move { load(&api, client, first, &stop).await })
            })
            .collect();
        // Each read of the journal drains the outbox.
        let api = app.worker.api();
        let reader = tokio::spawn(async move {
            while api
                .try_send(Method::GET, "/v1/journal?limit=1", "", &[])
                .await
                .is_ok()
            {}
        });
        let board = app.store.key("ba:all");
        until("a part of the load", async || {
            let users: usize = app.store.run("ZCARD", &[&board]);
            (users > min).then_some(())
        })
        .await;
        app = JournalApp::of(app.worker.crash());
        stop.store(true, Ordering::Relaxed);
        for (client, number) in join_all(clients).await.into_iter().enumerate() {
            done[client] = number.expect("no client panics");
        }
        reader.await.expect("no reader panics");
    }
    let entries = app.entries_after(0).await;
    let users = entries.iter().map(|entry| entry["user"].as_str());
    let users: Vec<String> = users.map(|user| user.expect("a user").to_owned()).collect();
    // Equal scores rank by arrival, so the board has the order of counting.
    let board = app.store.key("ba:all");
    let ranked: Vec<String> = app.store.run("ZREVRANGE", &[&board, "0", "-2"]);
    assert_eq!(users, ranked);
    // There may be more likes than responses.
    assert!(users.len() >= done.iter().sum(), "{} {done:?}", users.len());
    assert_eq!(app.outbox(), [""; 0]);
}
