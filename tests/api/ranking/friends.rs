//! `GET /v1/ranking/{period}/users?followed_by=`, and friends in `GET /v1/users/{user}/standings`.

use std::time::Duration;

use test_support::{Value, json, peers, scaled, until};

use crate::app::TestApp;
use crate::bodies::{activity, board, dated, like, with};
use crate::client::Client;
use crate::clock::{ago, day, noon, period};
use crate::token::sign::SECRET;

fn follow(user: &str, target: &str) -> Value {
    activity(user, "follow", target)
}

fn row(position: u32, rank: u32, score: u32, user: Value) -> Value {
    json!({"position": position, "rank": rank, "score": score, "user": user})
}

fn unranked(user: &str) -> Value {
    json!({"position": null, "rank": null, "score": 0, "user": {"id": user}})
}

fn path(user: &str) -> String {
    format!("/v1/ranking/day/users?followed_by={user}")
}

async fn assert_friends(
    app: &Client,
    user: &str,
    total: u32,
    entries: impl IntoIterator<Item = Value>,
) {
    let entries: Vec<Value> = entries.into_iter().collect();
    let ranked = |entry: &&Value| entry["rank"].is_number();
    let (count, own) = (entries.iter().filter(ranked).count(), json!(user));
    let mut own = entries.iter().filter(|entry| entry["user"]["id"] == own);
    let position = own.next().expect("the user")["position"].clone();
    let standings = app
        .read(&format!("/v1/users/{user}/standings?friends=true"))
        .await;
    let friends = json!({"position": position, "total": count});
    assert_eq!(standings["standings"]["day"]["friends"], friends);
    let expected = board(period("day", day(0)), total, entries);
    let response = app.get(&path(user)).await;
    response.assert(200, expected);
    assert_eq!(response.header("cache-control"), Some("no-store"));
}

/// Counts a comment of `a`, two likes of `b` and a visit of `c`; `42` follows `b`, `c` and others without points.
async fn start() -> (TestApp, [String; 3]) {
    let app = TestApp::with(|worker| worker.var("JWT_SECRET", SECRET));
    let [a, b, c] = peers(["a", "b", "c"]);
    app.count(&a, "comment", "p").await;
    app.count(&b, "like", "p").await;
    app.count(&b, "like", "q").await;
    app.count(&c, "visit", "/").await;
    for (target, seconds) in [("none", 40), ("not a user", 30), (&*b, 20), (&*c, 10)] {
        let follow = dated(follow("42", target), ago(seconds));
        app.counted(follow).await;
    }
    (app, [a, b, c])
}

#[tokio::test]
async fn friends_are_ranked_among_themselves() {
    let (app, [a, b, c]) = start().await;
    app.set_name(&b, "Bob").await;
    let bob = json!({"id": b, "name": "Bob"});
    let own = row(1, 1, 8, json!({"id": "42"}));
    let others = [row(2, 2, 4, bob), row(3, 4, 1, json!({"id": c}))];
    let all = [own].into_iter().chain(others).chain([unranked("none")]);
    assert_friends(&app, "42", 4, all).await;
    assert_friends(&app, &a, 4, [row(1, 3, 3, json!({"id": a}))]).await;
    assert_friends(&app, "unknown", 4, [unranked("unknown")]).await;
}

/// Those without a rank come last, the user first, then the friend followed latest; equal instants by id.
#[tokio::test]
async fn friends_without_rank_sort_by_instant() {
    let app = TestApp::start();
    for (target, at) in [
        ("b", noon(2)),
        ("a", noon(2)),
        ("B", noon(2)),
        ("z", noon(3)),
        ("y", noon(1)),
    ] {
        app.counted(dated(follow("42", target), at)).await;
    }
    app.outcome(dated(follow("42", "z"), noon(1)), "duplicate")
        .await;
    let expected = ["42", "y", "B", "a", "b", "z"].map(unranked);
    assert_friends(&app, "42", 0, expected).await;
}

#[tokio::test]
async fn at_most_100_friends_are_compared() {
    let app = TestApp::start();
    let name = |number: i64| format!("u{number:03}");
    let follow = |number: i64| dated(follow("42", &name(number)), ago(1000 - number));
    let follows: Vec<Value> = (0..150).map(follow).collect();
    app.send_activity(json!(follows)).await.assert_status(200);
    let points = (0..150).map(|number| like(&name(number), "p"));
    let response = app.send_activity(json!(points.collect::<Vec<_>>())).await;
    response.assert_status(200);
    let compared = app.read(&path("42")).await;
    let entries = compared["entries"].as_array().expect("entries");
    let expected = (101, &json!("42"));
    assert_eq!((entries.len(), &entries[0]["user"]["id"]), expected);
    let mut found: Vec<&str> = entries[1..]
        .iter()
        .map(|entry| entry["user"]["id"].as_str().expect("an id"))
        .collect();
    found.sort_unstable();
    let expected: Vec<String> = (50..150).map(name).collect();
    assert_eq!(found, expected);
    let standings = app.read("/v1/users/42/standings?friends=true").await;
    let friends = json!({"position": 1, "total": 101});
    assert_eq!(standings["standings"]["all"]["friends"], friends);
}

#[tokio::test]
async fn date_and_group_select_the_board_of_friends() {
    let (app, [_, b, c]) = start().await;
    let past = with(like(&b, "past"), json!({"at": noon(9), "groups": ["eu"]}));
    app.counted(past).await;
    let entries = [
        row(1, 1, 2, json!({"id": b})),
        unranked("42"),
        unranked(&c),
        unranked("none"),
    ];
    let expected = board(period("day", day(9)), 1, entries);
    let path = format!("{}&date={}", path("42"), day(9));
    app.assert_get(&path, expected.clone()).await;
    app.assert_get(&format!("{path}&group=eu"), expected).await;
}

/// A user with 40,000 follows takes no longer than one with 1,000: the script stops reading.
#[tokio::test]
async fn reading_of_many_follows_is_bounded() {
    let deadline = scaled(Duration::from_millis(300));
    let app = TestApp::with(|worker| worker.json("STORE_TIMEOUT_MS", json!(deadline.as_millis())));
    // With 300 ms the first attempt may time out on a busy machine; repeating it is safe.
    until("the follow", async || {
        let response = app.send_activity(follow("42", "first")).await;
        (response.status == 200).then_some(())
    })
    .await;
    let mut store = app.store();
    let key = store.key_of("42", "m:42");
    let record: String = store.run("HGET", &[&key, "Ffirst"]);
    let fields = (1..=40_000).map(|number| format!("Fuser-{number}"));
    let fields: Vec<String> = fields.collect();
    // A longer command would let the tests wait that share this Redis.
    for fields in fields.chunks(500) {
        let entries = fields.iter();
        let entries = entries.flat_map(|field| [field.as_str(), record.as_str()]);
        let arguments: Vec<&str> = std::iter::once(key.as_str()).chain(entries).collect();
        store.run::<()>("HSET", &arguments);
    }
    let friends = until("an answer within the deadline", async || {
        let response = app.get(&path("42")).await;
        (response.status == 200).then_some(response.body)
    })
    .await;
    assert_eq!(friends["entries"].as_array().map(Vec::len), Some(101));
}
