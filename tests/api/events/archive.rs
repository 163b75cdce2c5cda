//! The boards of final events are read from the D1 archive once Redis has dropped them.

use test_support::{Value, WorkerBuilder, json, peers, rest};

use super::Event;
use crate::app::TestApp;
use crate::bodies::{dated, ids, like};
use crate::problem::problem;

/// Starts a Worker whose cron archives every board of a test in one run.
fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> TestApp {
    TestApp::with(|worker| {
        let worker = worker.archive().var("BOARD_MAX_AGE", "0");
        configure(worker.json("CRON_BUDGET", json!(1000)))
    })
}

fn event() -> Event {
    Event::new("hackathon").with(json!({"prizes": [{"ranks": "1", "title": "A book"}]}))
}

/// Defines an event, in which users have so many likes.
async fn fill(app: &TestApp, event: &Event, users: &[(&String, u32)]) {
    event.put(app).await;
    for (user, count) in users {
        for target in 0..*count {
            let like = dated(
                like(user, &format!("{}-{target}", event.at(0))),
                event.at(0),
            );
            app.counted(like).await;
        }
    }
}

/// Returns the keys of the boards of events.
fn boards(app: &TestApp) -> Vec<String> {
    let mut keys = app.store().full_keys();
    keys.retain(|key| rest(key).starts_with("bE:"));
    keys
}

/// Deletes the boards of events from Redis, as when they expire. Returns whether there was one.
fn drop_boards(app: &TestApp) -> bool {
    let boards = app.store().delete(|name| name.starts_with("bE:"));
    !boards.is_empty()
}

/// Returns the visible users of the archived boards; `None` without one.
async fn archived(app: &TestApp) -> Option<u64> {
    let sql = "SELECT SUM(total) AS total FROM boards WHERE done = 1 AND name = 'E::hackathon'";
    app.worker.archive_sql(sql).await[0]["total"].as_u64()
}

/// Returns the responses to all reads. `unique` is a limit that was not used before, because boards are cached.
async fn reads(app: &TestApp, users: &[String], unique: u32) -> Vec<Value> {
    let ranking = "/v1/events/hackathon/ranking";
    let mut paths = vec![
        "/v1/events/hackathon".to_owned(),
        format!("{ranking}?limit={unique}"),
        format!("{ranking}?offset=1&limit={unique}"),
        format!("{ranking}/users?ids=unknown,{}", users.join(",")),
    ];
    for user in users.iter().map(String::as_str).chain(["unknown"]) {
        paths.push(format!("{ranking}/users/{user}?around=1"));
    }
    let mut bodies = Vec::new();
    for path in paths {
        bodies.push(app.read(&path).await);
    }
    bodies
}

#[tokio::test]
async fn final_board_reads_the_same_from_the_archive() {
    let app = start(|worker| worker);
    let event = event();
    let users = peers(["a", "b", "c", "hidden", "d"]);
    let [a, b, c, hidden, d] = &users;
    fill(&app, &event, &[(a, 3), (hidden, 2), (b, 2), (c, 2), (d, 1)]).await;
    app.moderate(hidden, true, false).await;
    app.set_name(b, "Ada").await;
    event.finish(&mut app.store(), 11);
    let before = reads(&app, &users, 7).await;
    assert_eq!(ids(&before[1]), [a, b, c, d]);
    assert_eq!(before[1]["event"]["prizes"][0]["title"], "A book");
    app.worker.tick().await;
    assert!(drop_boards(&app));
    assert_eq!(reads(&app, &users, 8).await, before);

    app.moderate(hidden, false, false).await;
    assert_eq!(ids(&reads(&app, &users, 9).await[1]), [a, hidden, b, c, d]);
    app.moderate(a, true, false).await;
    app.erase(c).await;
    let left = reads(&app, &users, 10).await;
    assert_eq!(ids(&left[1]), [hidden, b, d]);
    assert_eq!(left[1]["total"], 3);
    app.worker.tick().await;
    assert_eq!(reads(&app, &users, 11).await[1..2], left[1..2]);
    assert!(boards(&app).is_empty());
}

/// A change of a board that Redis still has reaches the archive.
#[tokio::test]
async fn moderation_of_a_final_event_is_archived() {
    let app = start(WorkerBuilder::journal);
    let [a, b, c] = &peers(["a", "b", "c"]);
    let event = event();
    fill(&app, &event, &[(a, 3), (b, 2), (c, 1)]).await;
    event.finish(&mut app.store(), 11);
    app.worker.tick().await;
    assert_eq!(archived(&app).await, Some(3));
    app.moderate(a, true, false).await;
    app.erase(b).await;
    app.worker.tick().await;
    drop_boards(&app);
    assert_eq!(ids(&app.read(&event.ranking()).await), [c]);
    app.moderate(a, false, false).await;
    let path = format!("{}?limit=9", event.ranking());
    assert_eq!(ids(&app.read(&path).await), [a, c]);
}

#[tokio::test]
async fn event_is_archived_once_it_has_settled() {
    let app = start(|worker| worker);
    let event = event();
    fill(&app, &event, &[(&"a".to_owned(), 1)]).await;
    app.worker.tick().await;
    assert_eq!(archived(&app).await, None);
    event.finish(&mut app.store(), 9);
    app.worker.tick().await;
    assert_eq!(archived(&app).await, None);
    event.finish(&mut app.store(), 11);
    app.worker.tick().await;
    assert_eq!(archived(&app).await, Some(1));
}

/// The definitions drop an event when it has been final for a day.
#[tokio::test]
async fn event_outside_the_definitions_is_archived() {
    let app = start(|worker| worker);
    let event = event();
    fill(&app, &event, &[(&"a".to_owned(), 1), (&"b".to_owned(), 1)]).await;
    event.finish(&mut app.store(), 25 * 60);
    Event::between("other", 30_000, 40_000).put(&app).await;
    app.worker.tick().await;
    assert_eq!(archived(&app).await, Some(2));
    let before = app.read(&event.ranking()).await;
    drop_boards(&app);
    let path = format!("{}?limit=9", event.ranking());
    assert_eq!(app.read(&path).await, before);
}

/// A recount replaces the board and makes it final later. The board may have as many users and changes as before.
#[tokio::test]
async fn event_with_a_later_final_instant_is_archived_again() {
    let app = start(|worker| worker);
    let [a, b] = &peers(["a", "b"]);
    let event = event();
    fill(&app, &event, &[(a, 3), (b, 2)]).await;
    event.finish(&mut app.store(), 60);
    app.worker.tick().await;
    let mut store = app.store();
    let board = store.key_of(a, "bE::hackathon");
    let score: String = store.run("ZSCORE", &[&board, a]);
    let other: String = store.run("ZSCORE", &[&board, b]);
    store.run::<i64>("ZADD", &[&board, &other, a, &score, b]);
    event.finish(&mut app.store(), 20);
    app.worker.tick().await;
    drop_boards(&app);
    assert_eq!(ids(&app.read(&event.ranking()).await), [b, a]);
    // The archive does not have the result of this instant.
    event.finish(&mut app.store(), 19);
    let path = format!("{}?limit=9", event.ranking());
    assert_eq!(app.read(&path).await["total"], 0);
}

#[tokio::test]
async fn deleted_event_leaves_the_archive() {
    let app = start(|worker| worker);
    let users = peers(["a", "b", "c"]);
    let [a, b, c] = &users;
    let event = event();
    fill(&app, &event, &[(a, 3), (b, 2)]).await;
    event.finish(&mut app.store(), 11);
    app.worker.tick().await;
    app.delete(&event.path()).await.assert_status(204);
    let places = "SELECT COUNT(*) AS count FROM places JOIN boards ON id = board WHERE kind = 'E'";
    let rows = app.worker.archive_sql(places).await;
    assert_eq!(rows, json!([{"count": 0}]));
    assert_eq!(archived(&app).await, None);
    let response = app.get(&format!("{}?limit=9", event.ranking())).await;
    response.assert(404, problem("not-found", "There is no event hackathon."));

    let again = self::event();
    fill(&app, &again, &[(c, 1)]).await;
    again.assert_rows(&app, &[(c, 2)]).await;
    again.finish(&mut app.store(), 11);
    app.worker.tick().await;
    drop_boards(&app);
    let path = format!("{}?limit=10", event.ranking());
    assert_eq!(ids(&app.read(&path).await), [c]);
}

#[tokio::test]
async fn deletion_is_repeated_when_the_archive_fails() {
    let app = start(|worker| worker);
    let event = event();
    fill(&app, &event, &[(&"a".to_owned(), 1)]).await;
    event.finish(&mut app.store(), 11);
    app.worker.tick().await;
    let rename = async |from: &str, to: &str| {
        let sql = format!("ALTER TABLE {from} RENAME TO {to}");
        app.worker.archive_sql(&sql).await;
    };
    rename("places", "hidden").await;
    app.delete(&event.path()).await.assert_status(503);
    rename("hidden", "places").await;
    assert_eq!(archived(&app).await, Some(1));
    app.delete(&event.path()).await.assert_status(204);
    assert_eq!(archived(&app).await, None);
}

/// The results of a calendar have no event among them.
#[tokio::test]
async fn archived_event_is_no_winner() {
    let app = start(|worker| worker);
    let event = event();
    fill(&app, &event, &[(&"a".to_owned(), 1)]).await;
    event.finish(&mut app.store(), 11);
    app.worker.tick().await;
    assert_eq!(archived(&app).await, Some(1));
    for period in ["day", "year"] {
        let path = format!("/v1/ranking/{period}/winners");
        app.assert_get(&path, json!({"boards": []})).await;
        let path = format!("/v1/ranking/{period}/winners?group=hackathon");
        app.assert_get(&path, json!({"boards": []})).await;
    }
}
