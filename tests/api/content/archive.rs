//! Closed boards of content and of authors are read from the archive once Redis has dropped them.

use test_support::{Value, json};

use super::{content, register, row, write_board};
use crate::app::TestApp;
use crate::bodies::{ids, like, undo, with};
use crate::clock::{day, noon};

/// The age of the archived day in days.
const DAYS_AGO: i64 = 2;

fn start() -> TestApp {
    TestApp::with(|worker| {
        let worker = content(worker).archive();
        worker.json("CRON_BUDGET", json!(1000))
    })
}

/// Likes a target on the archived day.
async fn like_then(app: &TestApp, user: &str, target: &str) {
    let dated = with(like(user, target), json!({"at": noon(DAYS_AGO)}));
    app.counted(dated).await;
}

/// Targets with 4, 2 and 2 points and a hidden one; the authors 9 and 10, who is hidden.
async fn fill_boards(app: &TestApp) {
    app.set_name("9", "Ada").await;
    for (target, author) in [("#a", "9"), ("b", "9"), ("c", "10"), ("hidden", "9")] {
        let body = json!({"id": target, "author": author, "title": format!("Title of {target}")});
        app.write("/v1/targets", &json!([body])).await;
        // Also the deliveries between shards.
        app.worker.minute().await;
        like_then(app, "42", target).await;
    }
    like_then(app, "43", "#a").await;
    // A user with the id of a target.
    like_then(app, "b", "#a").await;
    app.outcome(undo(like("b", "#a")), "undone").await;
    app.worker.minute().await;
    app.moderate_target("hidden", true).await;
    app.moderate("10", true, false).await;
}

/// Returns the responses to all reads of the archived day. `unique` is a limit that was not used before, because
/// boards are cached.
async fn reads(app: &TestApp, unique: u32) -> Vec<Value> {
    let date = format!("date={}", day(DAYS_AGO));
    let mut paths = vec![
        format!("/v1/content/day?{date}&limit={unique}"),
        format!("/v1/content/day?{date}&offset=1&limit={unique}"),
        format!("/v1/authors/day?{date}&limit={unique}"),
    ];
    for target in ["%23a", "b", "c", "hidden", "unknown"] {
        paths.push(format!("/v1/content/day/targets/{target}?{date}&around=1"));
    }
    for user in ["9", "10", "b"] {
        paths.push(format!("/v1/authors/day/users/{user}?{date}&around=1"));
    }
    let mut bodies = Vec::new();
    for path in paths {
        bodies.push(app.read(&path).await);
    }
    bodies
}

/// Deletes the closed day boards from Redis, and returns their number.
fn drop_closed_boards(app: &TestApp) -> usize {
    let kinds = ["bd:", "bTd:", "bAd:"];
    let today = day(0).to_string();
    let is_closed = |name: &str| {
        let is_board = kinds.iter().any(|kind| name.starts_with(kind));
        is_board && !name.contains(&today)
    };
    app.store().delete(is_closed).len()
}

fn targets(board: &Value) -> Vec<&str> {
    let entries = board["entries"].as_array().expect("entries").iter();
    let ids = entries.map(|entry| entry["target"]["id"].as_str().expect("an id"));
    ids.collect()
}

#[tokio::test]
async fn closed_boards_read_the_same_from_the_archive() {
    let app = start();
    fill_boards(&app).await;
    let before = reads(&app, 7).await;
    assert_eq!(targets(&before[0]), ["#a", "c", "b"]);
    assert_eq!(ids(&before[2]), ["9"]);
    app.worker.tick().await;
    assert_eq!(drop_closed_boards(&app), 3);
    assert_eq!(reads(&app, 8).await, before);

    // Late activity counts on no archived board.
    like_then(&app, "late", "b").await;
    app.outcome(undo(like("42", "c")), "undone").await;
    app.worker.tick().await;
    assert_eq!(reads(&app, 9).await, before);

    app.moderate_target("hidden", false).await;
    app.moderate_target("b", true).await;
    app.moderate("10", false, false).await;
    let shown = reads(&app, 10).await;
    assert_eq!(targets(&shown[0]), ["#a", "hidden", "c"]);
    assert_eq!(ids(&shown[2]), ["9", "10"]);
    assert_eq!(shown[4]["target"], json!({"id": "b"}));

    // Neither the user nor the target of an id takes the other off.
    app.erase("b").await;
    app.moderate_target("b", false).await;
    let expected = ["#a", "hidden", "c", "b"];
    assert_eq!(targets(&reads(&app, 11).await[0]), expected);
    app.delete("/v1/targets/%23a").await.assert_status(204);
    app.erase("9").await;
    app.worker.minute().await;
    let left = reads(&app, 12).await;
    assert_eq!(targets(&left[0]), ["hidden", "c", "b"]);
    assert_eq!(left[0]["total"], 3);
    assert_eq!(ids(&left[2]), ["10"]);
    assert_eq!(left[0]["entries"][2]["author"], Value::Null);
}

#[tokio::test]
async fn winners_are_those_of_boards_of_members() {
    let app = start();
    register(&app, "post-7", json!({"author": "9"})).await;
    like_then(&app, "42", "post-7").await;
    app.worker.tick().await;
    assert_eq!(drop_closed_boards(&app), 3);
    let winners = app.read("/v1/ranking/day/winners").await;
    let boards = winners["boards"].as_array().expect("boards");
    assert_eq!(boards.len(), 1);
    assert_eq!(ids(&boards[0]), ["42"]);
}

/// A change between two runs of cron is archived too: order counters of these boards are fractions.
#[tokio::test]
async fn changed_board_is_archived_again() {
    let app = start();
    register(&app, "a", json!({"author": "9"})).await;
    register(&app, "b", json!({"author": "9"})).await;
    like_then(&app, "42", "a").await;
    app.worker.tick().await;
    like_then(&app, "42", "b").await;
    like_then(&app, "43", "b").await;
    app.outcome(undo(like("43", "b")), "undone").await;
    app.worker.tick().await;
    let before = reads(&app, 7).await;
    assert_eq!(targets(&before[0]), ["b", "a"]);
    drop_closed_boards(&app);
    assert_eq!(reads(&app, 8).await, before);
}

/// The boards are written to Redis. Each shard is archived with its own rows.
#[tokio::test]
async fn equal_scores_read_the_same_from_the_archive() {
    let app = start();
    let rows = (0..50).map(|number| row(&format!("t-{number}"), 1 + number % 2));
    let rows: Vec<_> = rows.collect();
    let mut store = app.store();
    for kind in ["T", "A"] {
        let name = format!("{kind}d:{}", day(DAYS_AGO));
        write_board(&mut store, &format!("b{name}"), &rows);
        for (id, _) in &rows {
            let index = store.key_of(id, "i");
            store.run::<()>("ZADD", &[&index, "inf", &name]);
        }
    }
    let date = format!("date={}", day(DAYS_AGO));
    let reads = async |unique: u32| {
        let mut bodies = Vec::new();
        for (kind, named) in [("content", "targets"), ("authors", "users")] {
            let board = format!("/v1/{kind}/day?{date}&limit={unique}");
            bodies.push(app.read(&board).await);
            bodies.push(app.read(&format!("{board}&offset=20")).await);
            for id in ["t-9", "t-7", "t-8", "t-0", "unknown"] {
                let path = format!("/v1/{kind}/day/{named}/{id}?{date}&around=25");
                bodies.push(app.read(&path).await);
            }
        }
        bodies
    };
    let before = reads(60).await;
    assert_eq!(targets(&before[0])[..3], ["t-9", "t-7", "t-5"]);
    app.worker.tick().await;
    assert_eq!(drop_closed_boards(&app), 2);
    // Another page size avoids the response cache.
    assert_eq!(reads(61).await, before);
}
