//! Activities that count in an event, and their points.

use test_support::{Gateway, RedisOptions, RedisServer, Value, json};

use super::{Event, start};
use crate::app::TestApp;
use crate::bodies::{activity, dated, like, undo, with};
use crate::store::take_commands;

/// Boundaries are exact to the millisecond.
#[tokio::test]
async fn activity_counts_by_its_instant() {
    let app = start();
    let event = Event::new("hackathon");
    event.put(&app).await;
    let first = json!({"hackathon": {"score": 2, "rank": 1}});
    let both = json!({"hackathon": {"score": 4, "rank": 1}});
    for (target, at, events) in [
        ("before", event.at(-1), Value::Null),
        ("first", event.at(0), first),
        ("last", event.after(-1), both.clone()),
        ("after", event.after(0), Value::Null),
    ] {
        let body = app.counted(dated(like("a", target), at)).await;
        assert_eq!(body["events"], events, "{target}");
    }
    event.assert_rows(&app, &[("a", 4)]).await;
    let body = app
        .outcome(dated(like("a", "first"), event.at(5)), "duplicate")
        .await;
    assert_eq!(body["events"], both);
    for (target, score) in [("before", 4), ("first", 2), ("after", 2), ("last", 0)] {
        let undone = dated(undo(like("a", target)), event.after(1));
        app.outcome(undone, "undone").await;
        let rows: &[(&str, u32)] = if score > 0 { &[("a", score)] } else { &[] };
        event.assert_rows(&app, rows).await;
    }
}

#[tokio::test]
async fn event_has_actions_and_groups() {
    let app = start();
    let event = Event::new("hackathon")
        .with(json!({"actions": {"comment": 5, "visit": 7}, "groups": ["eu", "us"]}));
    event.put(&app).await;
    let all = Event::new("all");
    all.put(&app).await;
    let send = async |action: &str, target: &str, groups: Value| {
        let body = with(activity("a", action, target), json!({"groups": groups}));
        app.counted(dated(body, event.at(5_000))).await["events"].clone()
    };
    let standing = |score: u32| json!({"score": score, "rank": 1});
    let expected = json!({"all": standing(3)});
    assert_eq!(send("comment", "1", json!([])).await, expected);
    let expected = json!({"all": standing(6)});
    assert_eq!(send("comment", "2", json!(["asia"])).await, expected);
    let both = json!({"hackathon": standing(5), "all": standing(9)});
    assert_eq!(send("comment", "3", json!(["asia", "us"])).await, both);
    let expected = json!({"all": standing(11)});
    assert_eq!(send("like", "3", json!(["eu"])).await, expected);
    let both = json!({"hackathon": standing(12), "all": standing(12)});
    assert_eq!(send("visit", "/", json!(["eu"])).await, both);
    for target in ["1", "2", "3"] {
        let body = dated(undo(activity("a", "comment", target)), event.after(0));
        app.outcome(body, "undone").await;
    }
    event.assert_rows(&app, &[("a", 7)]).await;
    all.assert_rows(&app, &[("a", 3)]).await;
}

/// A change of the definitions is noticed by the next activity of each Worker.
#[tokio::test]
async fn changed_definition_counts_at_once() {
    let app = start();
    let other = TestApp::with(|worker| worker.var("PREFIX", app.prefix()));
    let event = Event::new("hackathon");
    let standing = async |app: &crate::client::Client, target: &str| {
        app.counted(dated(like("a", target), event.at(0))).await["events"].clone()
    };
    assert_eq!(standing(&other, "0").await, Value::Null);
    event.put(&app).await;
    let counted = |score: u32| json!({"hackathon": {"score": score, "rank": 1}});
    assert_eq!(standing(&other, "1").await, counted(2));
    let more = with(event.body(), json!({"actions": {"like": 9}}));
    app.write(&event.path(), &more).await;
    assert_eq!(standing(&other, "2").await, counted(11));
    app.delete(&event.path()).await.assert_status(204);
    assert_eq!(standing(&other, "3").await, Value::Null);
}

/// Two commands for each event, and one more for the standing. Without events, the definitions take none. While an event
/// is open, an undo first reads its record, by a call of three commands.
#[tokio::test]
async fn event_takes_at_most_three_commands() {
    let server = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&server.url());
    let app = TestApp::with(|worker| {
        let worker = worker.store(&gateway.url());
        worker.json("SHARDS", json!(1)).var("BOARD_MAX_AGE", "0")
    });
    let mut redis = server.connection();
    let mut costs = async |number: usize, at: &str| {
        let mut costs = Vec::new();
        let target = |name: &str| format!("{name} {number}");
        app.counted(dated(like("a", &target("first")), at)).await;
        let undone = dated(undo(like("a", &target("a"))), at);
        for body in [
            dated(like("a", &target("a")), at),
            json!([dated(like("a", &target("b")), at)]),
            undone,
        ] {
            take_commands(&mut redis);
            app.send_activity(body).await.assert_status(200);
            costs.push(take_commands(&mut redis));
        }
        costs
    };
    let events = [
        Event::new("0"),
        Event::new("1"),
        Event::new("2"),
        Event::new("3"),
        Event::new("4"),
    ];
    let at = events[4].at(5_000);
    let without = costs(0, &at).await;
    events[0].put(&app).await;
    let with_one = costs(1, &at).await;
    for event in &events[1..] {
        event.put(&app).await;
    }
    let with_five = costs(5, &at).await;
    let more = |costs: &[u64]| -> Vec<u64> {
        costs
            .iter()
            .zip(&without)
            .map(|(cost, plain)| cost - plain)
            .collect()
    };
    // The stand-in with gopher-lua runs `EVALSHA` itself.
    let first_call = 2 + u64::from(std::env::var_os("LUA_ENGINE").is_none());
    let expected = (vec![3, 2, 3 + first_call], vec![15, 10, 15 + first_call]);
    assert_eq!((more(&with_one), more(&with_five)), expected, "{without:?}");
}

#[tokio::test]
async fn array_counts_in_events_without_standings() {
    let app = start();
    let event = Event::new("hackathon");
    event.put(&app).await;
    let likes = ["a", "b", "a"].into_iter().zip(0..);
    let likes: Vec<Value> = likes
        .map(|(user, n)| dated(like(user, &n.to_string()), event.at(n)))
        .collect();
    let counted = json!({"outcome": "counted", "points": 2});
    let results = json!({"results": [counted, counted, counted]});
    app.assert_activity(json!(likes), results).await;
    event.assert_rows(&app, &[("a", 4), ("b", 2)]).await;
}
