//! A watched board is read when it has changed: its object is woken by the Worker that changed it, and
//! finds any other change by a short check.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fastrand::Rng;
use test_support::{Forwarder, Recorded, Stream, depth, json, peer, peers, shards, until};

use super::{
    assert_board, assert_change, board_reads, max_delay, open, start, start_with, until_quiet,
};
use crate::app::TestApp;
use crate::bodies::{activity, like, undo, with};
use crate::store::Store;

const BOARD: &str = "/v1/ranking/day";
const LIVE: &str = "/v1/ranking/day/live";

/// Field of the hash of users that registers watched boards.
const WATCHED: &str = "\t#";

/// Starts a deployment whose objects check their boards every second.
fn start_checking() -> (TestApp, Forwarder) {
    start_with(|worker| worker.check_interval(1))
}

fn registration(store: &mut Store) -> String {
    let key = store.key("p");
    let watched: Option<String> = store.run("HGET", &[&key, WATCHED]);
    watched.unwrap_or_default()
}

/// Two commands for each check and shard, and no other request: with a check a minute, at most two
/// commands a minute.
#[tokio::test]
async fn check_of_unchanged_board_is_two_commands() {
    let (app, forwarder) = start_checking();
    for user in ["42", "7", "9"] {
        app.count(user, "like", "p").await;
    }
    let mut stream = open(&app, LIVE).await;
    stream.event().await;
    let checks = until("five checks in a row", async || {
        let requests = forwarder.requests();
        let runs_script = |request: &&Recorded| request.runs("EVALSHA") || request.runs("EVAL");
        let last = requests
            .iter()
            .rev()
            .take_while(|request| !runs_script(request));
        let last: Vec<_> = last.cloned().collect();
        (last.len() >= 5).then_some(last)
    })
    .await;
    for check in checks {
        let commands = check.commands();
        let names: Vec<_> = commands.iter().map(|command| &command[0]).collect();
        let shard_commands = ["ZMSCORE", "HMGET"].repeat(shards() as usize);
        assert_eq!(names, shard_commands);
    }
}

/// A direct write, and changes by another deployment, also of users below the listed ones.
#[tokio::test]
async fn check_finds_changes_made_elsewhere() {
    let (app, _forwarder) = start_checking();
    let other = TestApp::with(|worker| worker.var("PREFIX", app.prefix()));
    let [first, second] = &peers(["first", "second"]);
    app.count(first, "comment", "c").await;
    app.count(second, "like", "p").await;
    let live = "/v1/ranking/day/live?limit=1";
    let mut stream = open(&app, live).await;
    stream.event().await;
    let board = "/v1/ranking/day?limit=1";
    let change = async |stream: &mut Stream| {
        let event = stream.event().await;
        assert_board(&event, &app.get(board).await);
    };
    let mut store = app.store();
    let profiles = store.key_of(first, "p");
    store.run::<i64>("HSET", &[&profiles, first, r#"{"name":"Ada"}"#]);
    change(&mut stream).await;
    other.count(first, "like", "q").await;
    change(&mut stream).await;
    other.count("third", "like", "q").await;
    change(&mut stream).await;
    // These change only the total of the streamed board.
    for hidden in [true, false] {
        other.moderate(second, hidden, false).await;
        change(&mut stream).await;
    }
    other.outcome(undo(like(second, "p")), "undone").await;
    change(&mut stream).await;
    other.erase("third").await;
    change(&mut stream).await;
}

/// Activity on other days, groups and targets, and activity that does not count.
#[tokio::test]
async fn unchanged_board_is_not_read() {
    let (app, forwarder) = start_with(|worker| {
        worker.json(
            "RULES",
            json!({"like": {"points": 2, "undo": true, "daily_cap": 4}}),
        )
    });
    app.count("42", "like", "p").await;
    app.count("42", "like", "q").await;
    let mut stream = open(&app, "/v1/ranking/day/live?group=eu").await;
    stream.event().await;
    let mut top = open(&app, LIVE).await;
    top.event().await;
    until_quiet(&forwarder).await;
    let mut store = app.store();
    let registered = registration(&mut store);
    assert_eq!(registered.split(' ').count(), 4, "{registered}");
    forwarder.reset();
    app.outcome(like("42", "p"), "duplicate").await;
    app.outcome(like("42", "r"), "capped").await;
    app.outcome(undo(activity("42", "bookmark", "r")), "nothing-to-undo")
        .await;
    let dated = with(like("42", "old"), json!({"at": "2026-01-01T00:00:00Z"}));
    app.counted(dated).await;
    until_quiet(&forwarder).await;
    assert_eq!(board_reads(&forwarder).len(), 0);
    // This one changes the global board alone.
    app.count("7", "visit", "/").await;
    assert_change(&app, &mut top, BOARD).await;
    until_quiet(&forwarder).await;
    for read in board_reads(&forwarder) {
        assert!(!String::from_utf8_lossy(&read.body).contains(":eu"));
    }
}

#[tokio::test]
async fn expired_registration_wakes_no_object() {
    let (app, forwarder) = start();
    let user = peer("42");
    app.count(&user, "like", "p").await;
    let mut stream = open(&app, LIVE).await;
    stream.event().await;
    until_quiet(&forwarder).await;
    let mut store = app.store();
    let current = registration(&mut store);
    let (name, expiry) = current.split_once(' ').expect("name and expiry");
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.expect("after 1970");
    let lifetime = expiry.parse::<u64>().expect("seconds") - now.as_secs();
    assert!((43_000..=43_200).contains(&lifetime), "{lifetime}");
    let key = store.key_of(&user, "p");
    let expired = format!("{name} {}", now.as_secs() - 1);
    store.run::<i64>("HSET", &[&key, WATCHED, &expired]);
    forwarder.reset();
    app.count(&user, "like", "q").await;
    until_quiet(&forwarder).await;
    assert_eq!(board_reads(&forwarder).len(), 0);
    store.run::<i64>("HSET", &[&key, WATCHED, &current]);
    app.count(&user, "like", "r").await;
    assert_change(&app, &mut stream, BOARD).await;
}

/// The object reads its board once a second where it cannot register it, and registers it again where
/// its registration is lost.
#[tokio::test]
async fn stream_survives_lost_registration() {
    let (app, forwarder) = start_checking();
    app.count("42", "like", "p").await;
    let mut stream = open(&app, LIVE).await;
    stream.event().await;
    until_quiet(&forwarder).await;
    let mut store = app.store();
    for shard in 0..shards() {
        let key = store.key_on(shard, "p");
        // A hundred others leave no room.
        let others: Vec<String> = (0..100).map(|n| format!("d:x:g{n} 9999999999")).collect();
        store.run::<i64>("HSET", &[&key, WATCHED, &others.join(" ")]);
    }
    for target in ["q", "r", "s"] {
        app.count("42", "like", target).await;
        assert_change(&app, &mut stream, BOARD).await;
    }
    for shard in 0..shards() {
        let key = store.key_on(shard, "p");
        store.run::<i64>("HDEL", &[&key, WATCHED]);
    }
    app.count("42", "like", "t").await;
    assert_change(&app, &mut stream, BOARD).await;
    let done = async || (!registration(&mut store).is_empty()).then_some(());
    until("the registration", done).await;
}

/// Whatever happens in whatever order, the last event of each stream is the final board, soon after the last change.
#[tokio::test]
async fn streams_end_with_final_board() {
    let (app, _forwarder) = start();
    let pairs = [
        ("/v1/ranking/day/live", "/v1/ranking/day"),
        ("/v1/ranking/all/live?limit=3", "/v1/ranking/all?limit=3"),
        (
            "/v1/ranking/week/live?group=eu",
            "/v1/ranking/week?group=eu",
        ),
    ];
    let mut streams = Vec::new();
    for (live, board) in pairs {
        let mut stream = open(&app, live).await;
        let version = stream.event().await.id;
        streams.push((stream, board, version));
    }
    for seed in 1..=depth(2, 6) {
        let mut random = Rng::with_seed(seed);
        for step in 0..20 + random.u64(..40) {
            let user = format!("u{}", random.u64(..6));
            let target = format!("t{}", random.u64(..8));
            let mut body = like(&user, &target);
            match random.u64(..12) {
                0 => {
                    app.moderate(&user, step % 2 == 0, false).await;
                }
                1 => app.set_name(&user, &format!("Name {step}")).await,
                2 => app.erase(&user).await,
                3 => {
                    let path = format!("/v1/users/{user}");
                    app.write(&path, &json!({"hidden": step % 2 == 0})).await;
                }
                kind => {
                    if kind < 6 {
                        body = undo(body);
                    } else if kind < 9 {
                        body = with(body, json!({"groups": ["eu"]}));
                    }
                    app.send_activity(body).await.assert_status(200);
                }
            }
        }
        let started = Instant::now();
        for (stream, board, version) in &mut streams {
            let last = app.get(board).await;
            let tag = last.header("etag").expect("a tag").trim_matches('"');
            let tag = tag.to_owned();
            while *version != tag {
                let event = stream.event().await;
                version.clone_from(&event.id);
            }
            let delay = started.elapsed();
            assert!(delay < max_delay(), "seed {seed}, {board}: {delay:?}");
        }
    }
}
