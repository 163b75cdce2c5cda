//! The kinds of messages, and members who were hidden or erased before they are sent.

use test_support::{SERVICE_KEY, Value, json, peer, peers};

use super::{HookApp, SECRET, contents, endpoint, receiver, respond, start, start_with};
use crate::app::TestApp;
use crate::bodies::{dated, entry, like, with};
use crate::clock::{day, noon, period};
use crate::events::Event;

/// Sends likes of an instant: the first user has most.
async fn fill(app: &HookApp, users: &[String], at: &str) {
    for (rank, user) in users.iter().enumerate() {
        for target in rank..users.len() {
            let like = dated(like(user, &target.to_string()), at);
            app.counted(like).await;
        }
    }
}

fn digest_data(total: usize, entries: Value) -> (Value, Value) {
    let data = json!({"period": period("day", day(1)), "total": total, "entries": entries});
    (json!("period.closed"), data)
}

#[tokio::test]
async fn closed_period_has_one_message_with_winners() {
    let app = start();
    let users = peers(["a", "b", "c", "d"]);
    fill(&app, &users, &noon(1)).await;
    app.put_profile(&users[1], json!({"name": "Bob"})).await;
    let messages = app.minute().await;
    let bob = json!({"rank": 2, "score": 6, "user": {"id": users[1], "name": "Bob"}});
    let entries = json!([entry(1, 8, &users[0]), bob, entry(3, 4, &users[2])]);
    assert_eq!(contents(&messages), [digest_data(4, entries)]);
    assert_eq!(messages[0].body["timestamp"], period("day", day(1))["end"]);
    for _ in 0..2 {
        app.worker.tick().await;
        assert_eq!(app.minute().await, []);
        app.pass(60).await;
    }
    assert_eq!(app.states("period.closed").await, ["delivered"]);
}

/// The message was made before, and its first attempt named all of them.
#[tokio::test]
async fn winners_hidden_or_erased_since_are_left_out() {
    let app = start();
    let users = peers(["a", "b", "c", "d"]);
    fill(&app, &users, &noon(1)).await;
    respond(&app.receiver, 500);
    let first = app.minute().await;
    assert_eq!(first[0].body["data"]["total"], 4);
    app.moderate(&users[0], true, false).await;
    app.erase(&users[2]).await;
    respond(&app.receiver, 200);
    app.pass(1).await;
    let messages = app.minute().await;
    let entries = json!([entry(1, 6, &users[1]), entry(2, 2, &users[3])]);
    let again = messages.iter().find(|message| message.id == first[0].id);
    let again = again.expect("the message").clone();
    assert_eq!(contents(&[again]), [digest_data(2, entries)]);
}

#[tokio::test]
async fn empty_period_and_recent_changes_send_nothing() {
    let app = start();
    assert_eq!(app.minute().await, []);
    assert_eq!(app.states("period.closed").await, ["dropped"]);

    app.count("42", "like", "p").await;
    assert_eq!(app.minute().await, []);
}

/// Redis has dropped the board.
#[tokio::test]
async fn expired_board_comes_from_the_archive() {
    let app = start_with(|worker| worker.archive().json("SHARDS", json!(1)));
    let users = peers(["a", "b"]);
    fill(&app, &users, &noon(1)).await;
    app.worker.tick().await;
    let board = app.store().key_on(0, &format!("bd:{}", day(1)));
    assert_eq!(app.store().run::<i64>("DEL", &[&board]), 1);
    let entries = json!([entry(1, 4, &users[0]), entry(2, 2, &users[1])]);
    assert_eq!(contents(&app.minute().await), [digest_data(2, entries)]);
}

#[tokio::test]
async fn moderation_of_member_names_the_id_alone() {
    let app = start();
    let user = peer("42");
    app.put_profile(&user, json!({"name": "Ada"})).await;
    app.count(&user, "like", "p").await;
    let adjustment = json!({"id": "case", "points": -5, "reason": "Bought"});
    app.adjust(&user, &adjustment).await.assert_status(200);
    for (hidden, frozen) in [(true, true), (true, true), (false, true), (false, false)] {
        app.moderate(&user, hidden, frozen).await;
    }
    let undo = json!({"id": "case", "undo": true, "reason": "Appeal"});
    app.adjust(&user, &undo).await.assert_status(200);
    let of = |kind: &str, reason: &str| {
        let data = json!({"user": {"id": user}, "reason": reason});
        (json!(format!("moderation.{kind}")), data)
    };
    let adjusted = |points: i64, reason: &str| {
        let (kind, data) = of("adjusted", reason);
        let fields = json!({"date": day(0).to_string(), "points": points});
        (kind, with(data, fields))
    };
    let expected = [
        adjusted(-5, "Bought"),
        of("hidden", "A test"),
        of("frozen", "A test"),
        of("shown", "A test"),
        of("unfrozen", "A test"),
        // There were 2 points to take.
        adjusted(2, "Appeal"),
    ];
    assert_eq!(contents(&app.minute().await), expected);
    app.erase(&user).await;
    let erased = (json!("moderation.erased"), json!({"user": null}));
    assert_eq!(contents(&app.minute().await), [erased]);
    assert_eq!(app.minute().await, []);
}

/// Points of an event are no points of all time, so they reach no level.
#[tokio::test]
async fn adjustment_of_event_names_it() {
    let app = start_with(|worker| worker.json("LEVELS", json!({"Regular": 5})));
    Event::new("hackathon").begin(&app, &mut app.store()).await;
    let user = peer("42");
    let adjustment = json!({"id": "1", "event": "hackathon", "points": 9, "reason": "Gift"});
    app.adjust(&user, &adjustment).await.assert_status(200);
    let undo = json!({"id": "1", "undo": true, "reason": "Appeal"});
    app.adjust(&user, &undo).await.assert_status(200);
    let of = |points: i64, reason: &str| {
        let data =
            json!({"user": {"id": user}, "reason": reason, "event": "hackathon", "points": points});
        (json!("moderation.adjusted"), data)
    };
    let expected = [of(9, "Gift"), of(-9, "Appeal")];
    assert_eq!(contents(&app.minute().await), expected);
}

#[tokio::test]
async fn adjustment_has_decimals() {
    let app = start_with(|worker| worker.json("POINT_DECIMALS", json!(2)));
    let adjustment = json!({"id": "case", "points": 12.5, "reason": "Gift"});
    // The document describes deployments without decimals.
    let api = app.worker.api();
    let adjusted = api.post("/v1/users/42/adjustments", &adjustment).await;
    adjusted.assert_status(200);
    let messages = app.minute().await;
    assert_eq!(messages[0].body["data"]["points"], json!(12.5));
}

/// A deletion of a target is no moderation.
#[tokio::test]
async fn moderation_of_target_names_its_id() {
    let app = start_with(|worker| worker.var("CONTENT_PERIODS", "all"));
    for target in ["#a", "b"] {
        let target = format!("/v1/targets/{}", target.replace('#', "%23"));
        let title = json!({"title": "A target"});
        app.write(&target, &title).await;
        let path = format!("{target}/moderation");
        for hidden in [true, false] {
            let state = json!({"hidden": hidden, "reason": "A test"});
            app.write(&path, &state).await;
        }
    }
    app.delete("/v1/targets/b").await.assert_status(204);
    let of = |kind: &str, id: &str| {
        let data = json!({"target": {"id": id}, "reason": "A test"});
        (json!(format!("moderation.{kind}")), data)
    };
    let mut found = contents(&app.minute().await);
    found.sort_by_key(|(_, data)| data.to_string());
    let expected = [
        of("hidden", "#a"),
        of("shown", "#a"),
        of("hidden", "b"),
        of("shown", "b"),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn moderation_of_member_erased_since_is_dropped() {
    let app = start();
    respond(&app.receiver, 500);
    app.count("42", "like", "p").await;
    app.moderate("42", true, false).await;
    assert_eq!(app.minute().await.len(), 1);
    app.erase("42").await;
    app.pass(1).await;
    respond(&app.receiver, 200);
    let erased = (json!("moderation.erased"), json!({"user": null}));
    assert_eq!(contents(&app.minute().await), [erased]);
    assert_eq!(app.states("moderation.hidden").await, ["dropped"]);
    let rows = app.worker.sql("SELECT subject, data FROM deliveries").await;
    assert!(!rows.to_string().contains("42\""), "{rows}");
}

#[tokio::test]
async fn lagging_journal_has_one_message_a_day() {
    let app = start_with(|worker| worker.json("SHARDS", json!(1)));
    let outbox = app.store().key_on(0, "o");
    let add = |minutes: i64| {
        let at = jiff::Timestamp::now().as_millisecond() - minutes * 60_000;
        let id = format!("{}-0", at / 1000 * 1000);
        app.store()
            .run::<String>("XADD", &[&outbox, &id, "did", "stub", "now", "1"]);
        at / 1000
    };
    add(40);
    let oldest = jiff::Timestamp::from_second(add(35)).expect("an instant");
    let first = jiff::Timestamp::from_second(oldest.as_second() - 300).expect("an instant");
    let messages = app.minute().await;
    let expected = (
        json!("journal.lagging"),
        json!({"oldest": first.to_string()}),
    );
    assert_eq!(contents(&messages), [expected]);
    add(20);
    assert_eq!(app.minute().await, []);
}

#[tokio::test]
async fn endpoints_receive_the_kinds_they_list() {
    let (some, others) = (receiver(), receiver());
    let app = TestApp::with(|worker| {
        let endpoints = json!([
            endpoint(&some, &["moderation.*", "journal.lagging"]),
            endpoint(&others, &["period.closed", "level.reached"]),
            {"url": format!("{}/all", others.url()), "secret": SECRET},
        ]);
        worker.journal().json("WEBHOOKS", endpoints)
    });
    app.moderate("42", true, false).await;
    app.worker.minute().await;
    let (some, others) = (some.requests(), others.requests());
    assert_eq!((some.len(), others.len()), (1, 1));
    assert_eq!((&*some[0].path, &*others[0].path), ("/hook?a=b", "/all"));
}

#[tokio::test]
async fn final_event_has_one_message_with_results() {
    let app = start_with(|worker| worker.var("SETTLE_MINUTES", "0").var("BOARD_MAX_AGE", "0"));
    let mut event = Event::new("hackathon").with(json!({
        "prizes": [{"ranks": "1", "title": "A book"}, {"ranks": "2-4", "title": "A sticker"}],
    }));
    event.put(&app).await;
    let users = peers(["a", "b", "c", "d", "e"]);
    fill(&app, &users, &event.at(0)).await;
    event.end(&mut app.store());
    let data = json!({
        "event": app.read(&event.path()).await, "total": 5,
        "entries": [entry(1, 10, &users[0]), entry(2, 8, &users[1]), entry(3, 6, &users[2]), entry(4, 4, &users[3])],
    });
    let messages = app.minute().await;
    let is_final_event = |message: &&super::Message| message.body["type"] == "event.final";
    let found: Vec<_> = messages.iter().filter(is_final_event).collect();
    assert_eq!(found.len(), 1, "{messages:?}");
    assert_eq!(found[0].body["data"], data);
    assert_eq!(found[0].body["timestamp"], data["event"]["final_at"]);
    // A change of another event keeps the message from being lost or sent again.
    Event::new("other").put(&app).await;
    assert_eq!(app.minute().await, []);
    assert_eq!(app.states("event.final").await, ["delivered"]);
}

/// Rows of messages name no user, and an endpoint need not know them.
#[tokio::test]
async fn opened_case_has_a_message_without_members() {
    let app = start_with(|worker| {
        // Entries of several shards wait before a search reads them.
        let worker = worker.var("CONTENT_PERIODS", "all").var("SHARDS", "1");
        worker.json("FAIR_PLAY", json!({}))
    });
    let author = peer("43");
    let targets = (0..10).map(|post| json!({"id": format!("post-{post}"), "author": author}));
    let targets: Vec<Value> = targets.collect();
    app.write("/v1/targets", &json!(targets)).await;
    let likes = (0..10).map(|post| like(&peer("42"), &format!("post-{post}")));
    let likes: Vec<Value> = likes.collect();
    app.send_activity(json!(likes)).await.assert_status(200);
    assert_eq!(app.minute().await, []);
    app.worker.tick().await;
    let messages = app.minute().await;
    let case = &app.read("/v1/cases").await["cases"][0];
    let data = json!({"case": {"id": case["id"], "kind": "burst", "members": 2}});
    assert_eq!(contents(&messages), [(json!("case.opened"), data)]);
    let found = case["found"].as_str().expect("an instant");
    let timestamp = messages[0].body["timestamp"].as_str().expect("an instant");
    assert_eq!(timestamp[..19], found[..19]);
    app.worker.tick().await;
    assert_eq!(app.minute().await, []);
}

/// Opens a case of two members by hand, and returns its path.
async fn open_case(app: &HookApp, members: [&str; 2]) -> String {
    let case = json!({"members": members, "reason": "Said by three members"});
    let opened = app.post("/v1/cases", &case).await;
    opened.assert_status(200);
    format!("/v1/cases/{}", opened.body["id"].as_str().expect("an id"))
}

fn start_with_cases() -> HookApp {
    start_with(|worker| {
        let worker = worker.var("CONTENT_PERIODS", "all").var("SHARDS", "1");
        let worker = worker.var("SERVICE_KEYS", &format!("anna@admin:{SERVICE_KEY}"));
        worker.json("FAIR_PLAY", json!({}))
    })
}

/// A repeated request has no second message, and a case that stays open none.
#[tokio::test]
async fn decided_case_has_a_message_for_each_decision() {
    let app = start_with_cases();
    let path = open_case(&app, ["a", "b"]).await;
    let id = path.rsplit('/').next().expect("an id").to_owned();
    let decided = |before: &str, state: &str, reason: Value| {
        let case = json!({"id": id, "kind": "manual", "before": before, "state": state});
        let data = json!({"case": case, "actor": {"key": "anna"}, "members": ["a", "b"], "reason": reason});
        (json!("case.decided"), data)
    };
    let open = json!({"state": "open", "reason": "Not yet"});
    app.write(&path, &open).await;
    let exclude = json!({"state": "excluded", "from": "2026-11-01T00:00:00Z", "reason": "A ring"});
    for _ in 0..2 {
        app.write(&path, &exclude).await;
    }
    let expected = [decided("open", "excluded", json!("A ring"))];
    assert_eq!(contents(&app.minute().await), expected);
    app.write(&path, &exclude).await;
    assert_eq!(app.minute().await, []);
    let dismiss = json!({"state": "dismissed", "reason": "A team"});
    for decision in [&dismiss, &open] {
        app.write(&path, decision).await;
    }
    let expected = [
        decided("excluded", "dismissed", Value::Null),
        decided("dismissed", "open", json!("Not yet")),
    ];
    assert_eq!(contents(&app.minute().await), expected);
    assert_eq!(app.states("case.decided").await, ["delivered"; 3]);
}

/// A dismissed case is deleted with its member, and an excluded one stays without them.
#[tokio::test]
async fn decided_case_names_no_erased_member() {
    let app = start_with_cases();
    let exclude = json!({"state": "excluded", "from": "2026-11-01T00:00:00Z", "reason": "A ring"});
    let dismiss = json!({"state": "dismissed", "reason": "A team"});
    for (members, decision) in [(["a", "b"], &exclude), (["a", "c"], &dismiss)] {
        let path = open_case(&app, members).await;
        app.write(&path, decision).await;
    }
    app.erase("a").await;
    let messages = app.minute().await;
    let mut decided = messages.iter().map(|message| &message.body);
    let decided = decided.find(|body| body["type"] == "case.decided");
    assert_eq!(decided.expect("a message")["data"]["members"], json!(["b"]));
    let mut states = app.states("case.decided").await;
    states.sort();
    assert_eq!(states, ["delivered", "dropped"]);
}
