//! A Worker that dies between counting and writing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use test_support::{Api, Method, json, until};

use super::{Journalled, like, start};

const CLIENTS: usize = 4;
const KILLS: usize = 3;

#[tokio::test]
async fn what_was_counted_by_a_worker_that_then_died_is_written_by_the_next() {
    let site = start(|worker| worker);
    site.send(like("a", "1")).await;
    let site = Journalled::of(site.wrangler.kill());
    let entries = site.after(0).await;
    assert_eq!((entries.len(), &entries[0]["mark"]), (1, &json!("like:1")));
}

/// Likes that nobody else sends, each again until it is answered.
async fn load(api: &Api, client: usize, from: usize, stop: &AtomicBool) -> usize {
    let mut number = from;
    while !stop.load(Ordering::Relaxed) {
        let body = like(&format!("u{client}-{number}"), "t").to_string();
        let json = &[("content-type", "application/json")];
        let sent = api.try_send(Method::POST, "/v1/activity", body, json).await;
        match sent {
            Ok(answer) => {
                answer.assert_status(200);
                number += 1;
            }
            // Gone: the next one is asked for the same.
            Err(_) => return number,
        }
    }
    number
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_again_and_again_while_it_counts_and_writes_each_is_there_once_in_order() {
    let mut site = start(|worker| worker);
    let mut done = [0; CLIENTS];
    for _ in 0..KILLS {
        let stop = Arc::new(AtomicBool::new(false));
        let least: usize = done.iter().sum::<usize>() + 40;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (api, stop, from) = (site.wrangler.api(), Arc::clone(&stop), done[client]);
                tokio::spawn(async move { load(&api, client, from, &stop).await })
            })
            .collect();
        // Somebody always writes.
        let api = site.wrangler.api();
        let drains = tokio::spawn(async move {
            while api
                .try_send(Method::GET, "/v1/journal?limit=1", "", &[])
                .await
                .is_ok()
            {}
        });
        let board = site.store.key("ba:all");
        until("a part of the load", async || {
            let members: usize = site.store.run("ZCARD", &[&board]);
            (members > least).then_some(())
        })
        .await;
        site = Journalled::of(site.wrangler.kill());
        stop.store(true, Ordering::Relaxed);
        for (client, number) in join_all(clients).await.into_iter().enumerate() {
            done[client] = number.expect("no client panics");
        }
        drains.await.expect("no reader panics");
    }
    let entries = site.after(0).await;
    let users = entries.iter().map(|entry| entry["user"].as_str());
    let users: Vec<String> = users.map(|user| user.expect("a user").to_owned()).collect();
    // Of equal scores the first ranks first: so the board has the order of arrival.
    let board = site.store.key("ba:all");
    let ranked: Vec<String> = site.store.run("ZREVRANGE", &[&board, "0", "-2"]);
    assert_eq!(users, ranked);
    // Maybe some whose answer was lost, and nobody asked again.
    assert!(users.len() >= done.iter().sum(), "{} {done:?}", users.len());
    assert_eq!(site.waiting(), [""; 0]);
}
