//! Requests during and after a rebuild, which gives the data another generation.

use test_support::{Value, json, peer, shards};

use super::{JournalApp, like, start_with};
use crate::app::TestApp;
use crate::bodies::moderation;
use crate::client::Client;
use crate::problem::assert_problem;
use crate::store::{FINGERPRINT, Store};

/// Returns the stored fingerprint of a shard.
fn fingerprint(store: &mut Store, shard: u32) -> String {
    let key = store.key_on(shard, "p");
    store.run("HGET", &[&key, FINGERPRINT])
}

/// Changes the stored fingerprint of every shard.
fn change_fingerprints(store: &mut Store, change: impl Fn(&str) -> String) {
    for shard in 0..shards() {
        let changed = change(&fingerprint(store, shard));
        let key = store.key_on(shard, "p");
        store.run::<()>("HSET", &[&key, FINGERPRINT, &changed]);
    }
}

/// Gives the data of every shard another generation, as a rebuild does.
fn replace_generation(store: &mut Store, from: u32, to: u32) {
    for key in store.full_keys() {
        let renamed = key.replacen(&format!("}}{from}"), &format!("}}{to}"), 1);
        if renamed != key {
            store.run::<()>("RENAME", &[&key, &renamed]);
        }
    }
    let named = |number: u32| format!("generation={number} ");
    change_fingerprints(store, |stored| stored.replace(&named(from), &named(to)));
}

fn path(route: &str) -> String {
    format!("/v1/users/{}{route}", peer("a"))
}

/// Returns responses that depend on all kinds of keys.
async fn read_all(app: &Client) -> Vec<Value> {
    let mut responses = Vec::new();
    for path in [
        "/v1/ranking/all?movement=true",
        "/v1/ranking/week?offset=1",
        "/v1/content/all",
        "/v1/authors/all",
        "/v1/targets/post-7",
        "/v1/moderation",
        &path(""),
        &path("/standings"),
        &path("/activity"),
        &path("/moderation"),
    ] {
        let response = app.get(path).await;
        responses.push(response.assert_status(200).body.clone());
    }
    responses
}

/// Isolates that knew the former generation read and write the present one, each in the request that finds it.
#[tokio::test]
async fn requests_follow_the_generation() {
    let mut app = start_with(|worker| {
        let worker = worker.var("CONTENT_PERIODS", "all");
        let worker = worker.var("BOARD_MAX_AGE", "0");
        worker.json("LEVELS", json!({"New": 0}))
    });
    let target = json!({"author": peer("b")});
    app.client.write("/v1/targets/post-7", &target).await;
    for (user, target) in [("a", "post-7"), ("b", "post-8"), ("a", "post-9")] {
        app.send(like(user, target)).await;
    }
    app.client.write(&path(""), &json!({"name": "Ada"})).await;
    app.minute().await;
    let before = read_all(&app.client).await;
    replace_generation(&mut app.store, 1, 2);
    assert_eq!(read_all(&app.client).await, before);
    let mut generation = 2..;
    let mut next = |app: &mut JournalApp| {
        let from = generation.next().unwrap_or_default();
        replace_generation(&mut app.store, from, from + 1);
    };
    next(&mut app);
    app.counted(like("a", "post-3")).await;
    next(&mut app);
    app.outcome(like("a", "post-3"), "duplicate").await;
    next(&mut app);
    let hide = moderation(true, false);
    app.client.write(&path("/moderation"), &hide).await;
    next(&mut app);
    let named = json!({"name": "Ada", "hidden": true});
    app.client.write(&path(""), &named).await;
    next(&mut app);
    app.delete("/v1/targets/post-7").await.assert_status(204);
    next(&mut app);
    app.delete(&path("")).await.assert_status(204);
    let path = format!("/v1/ranking/all/users/{}", peer("a"));
    let standing = app.get(&path).await;
    assert_eq!(standing.assert_status(200).body["score"], 0);
    let mut own = app.store.keys();
    own.retain(|key| key.ends_with(&format!(":{}", peer("a"))));
    assert_eq!(own, [""; 0]);
}

/// The rebuild that paused the writers has been killed.
#[tokio::test]
async fn writers_end_a_pause() {
    let mut app = start_with(|worker| worker.var("BOARD_MAX_AGE", "0"));
    app.send(like("a", "1")).await;
    let stored = fingerprint(&mut app.store, 0);
    let pause = |stored: &str| format!("paused 7f3a {stored}");

    change_fingerprints(&mut app.store, pause);
    let board = app.read("/v1/ranking/all").await;
    let expected = (&json!(1), &Value::Null);
    assert_eq!((&board["total"], &board["stale"]), expected);
    assert_eq!(app.entries_after(0).await.len(), 1);
    assert_eq!(fingerprint(&mut app.store, 0), pause(&stored));
    app.counted(like("a", "2")).await;
    let home = test_support::shard_of(&peer("a"));
    assert_eq!(fingerprint(&mut app.store, home), stored);

    change_fingerprints(&mut app.store, |stored| {
        pause(stored.trim_start_matches("paused 7f3a "))
    });
    let state = moderation(true, false);
    app.client.write(&path("/moderation"), &state).await;
    change_fingerprints(&mut app.store, |stored| {
        pause(stored.trim_start_matches("paused 7f3a "))
    });
    app.delete(&path("")).await.assert_status(204);
    assert_eq!(fingerprint(&mut app.store, home), stored);
}

#[tokio::test]
async fn paused_data_of_other_settings_is_refused() {
    let app = TestApp::start();
    app.count(&peer("a"), "like", "1").await;
    change_fingerprints(&mut app.store(), |_| {
        "paused 7f3a v4 generation=1 shards=1 decimals=2 timezone=UTC".to_owned()
    });
    assert_problem(&app.get(&path("")).await, "misconfigured");
}
