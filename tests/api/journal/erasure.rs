//! Erased users.

use test_support::{Value, json, peer, until};

use super::{JournalApp, like, start, start_with};
use crate::bodies::{activity, dated, moderation, undo, with};
use crate::clock::{ahead, noon};

/// SHA-1 of "42".
const HASH: &str = "92cfceb39d57d914ed8b14d0e37643de0797ae56";

/// Reads the user of each row, empty after an erasure.
///
/// Asserts that the entries name the same users, and that rows without a user have empty entries.
async fn users(app: &JournalApp) -> Vec<String> {
    let rows = app.rows().await;
    for (_, user, entry) in &rows {
        let named = entry.get("user").and_then(Value::as_str);
        assert_eq!(named.unwrap_or_default(), user, "{entry}");
        assert!(!user.is_empty() || entry["did"] == "erase" || *entry == json!({}));
    }
    rows.into_iter().map(|(_, user, _)| user).collect()
}

/// Reads the tombstones: hash and instant of each erasure.
fn tombstones(app: &mut JournalApp) -> Vec<(String, i64)> {
    let key = app.store.key("e");
    app.store.run("HGETALL", &[&key])
}

/// Erasure empties the user's rows and drains the outbox. A late writer of old outbox entries
/// writes them empty.
#[tokio::test]
async fn erasure_clears_journal_and_outbox_of_user() {
    let mut app = start();
    for user in ["42", "7"] {
        app.send(like(user, "written")).await;
    }
    app.worker.minute().await;
    let state = with(moderation(true, false), json!({"reason": "A secret"}));
    app.put("42", "/moderation", state).await;
    app.put("42", "", json!({"name": "A secret"})).await;
    let adjustment = json!({"id": "1", "points": 5, "reason": "A secret"});
    app.adjust("42", &adjustment).await.assert_status(200);
    app.send(json!([like("42", "waits"), like("7", "waits")]))
        .await;
    let outbox = app.dump_outbox();
    app.erase("42").await;
    assert_eq!(app.outbox(), [""; 0]);
    let seven = peer("7");
    let rows = ["", &seven, "", "", "", "", &seven, ""];
    assert_eq!(users(&app).await, rows);
    let entries = app.entries_after(0).await;
    let operations: Vec<_> = entries.iter().map(|entry| &entry["did"]).collect();
    assert_eq!(operations, ["count", "count", "erase"]);
    assert_eq!(entries[2]["hash"], HASH);
    let erased_at = entries[2]["now"].as_str().expect("a text");
    let erased_at: i64 = erased_at.parse().expect("a number");
    assert_eq!(tombstones(&mut app), [(HASH.to_owned(), erased_at)]);

    app.send(like("42", "again")).await;
    app.worker.minute().await;
    app.restore_outbox(&outbox);
    app.worker.minute().await;
    let rows = ["", &seven, "", "", "", "", &seven, "", "42"];
    assert_eq!(users(&app).await, rows);
    app.erase("42").await;
    let rows = ["", &seven, "", "", "", "", &seven, "", "", ""];
    assert_eq!(users(&app).await, rows);
    let tombstones = tombstones(&mut app);
    assert!(tombstones.len() == 1 && tombstones[0].1 > erased_at);
}

/// Entries of a target lose their user only: the target stays registered, and keeps what it has received.
#[tokio::test]
async fn erasure_leaves_entries_of_targets_without_user() {
    let app = start_with(|worker| {
        let worker = worker.var("CONTENT_PERIODS", "all");
        worker.json("SHARDS", json!(1))
    });
    let target = json!({"author": "9", "title": "A title"});
    app.client.write("/v1/targets/post-7", &target).await;
    for (number, activity) in [like("42", "post-7"), activity("42", "follow", "9")]
        .into_iter()
        .enumerate()
    {
        assert_eq!(app.send(activity).await, ["counted"]);
        until("the receiver", async || {
            app.entries_after(0).await;
            let rows = app.rows().await.into_iter();
            let received = rows.filter(|(.., entry)| entry["did"] == "receive");
            (received.count() == number + 1).then_some(())
        })
        .await;
    }
    let hide = json!({"hidden": true, "reason": "A reason"});
    let path = "/v1/targets/post-7/moderation";
    app.client.write(path, &hide).await;
    // What, by whom, on which target.
    let entries = async || -> Vec<String> {
        app.entries_after(0).await;
        let named = |(_, user, entry): (String, String, Value)| {
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            assert!(["", &user].contains(&text("user").as_str()), "{entry}");
            format!("{} {user} {}", text("did"), text("target"))
        };
        app.rows().await.into_iter().map(named).collect()
    };
    let mut expected = [
        "target 9 post-7",
        "count 42 ",
        "receive 9 post-7",
        "count 42 ",
        "receive 9 ",
        "moderate-target  post-7",
    ]
    .map(str::to_owned)
    .to_vec();
    assert_eq!(entries().await, expected);
    app.client.erase("42").await;
    (expected[1], expected[3]) = ("  ".to_owned(), "  ".to_owned());
    expected.push("erase  ".to_owned());
    assert_eq!(entries().await, expected);
    app.client.erase("9").await;
    let without = ["target  post-7", "receive  post-7"].map(str::to_owned);
    let [target, receive] = without;
    (expected[0], expected[2]) = (target, receive);
    expected[4] = "  ".to_owned();
    expected.push("erase  ".to_owned());
    assert_eq!(entries().await, expected);
    let left = app.rows().await;
    assert_eq!(left[0].2["json"], r#"{"title":"A title"}"#);
    assert_eq!(left[2].2["points"], "2");
}

/// Two erasures of a user, and activity before, between and after them, reach the database in one
/// batch.
#[tokio::test]
async fn two_erasures_in_one_batch_clear_earlier_rows() {
    let mut app = start();
    app.break_database().await;
    for target in ["1", "2", "3"] {
        app.send(json!([like("42", target), like("7", target)]))
            .await;
        if target != "3" {
            app.erase("42").await;
        }
    }
    assert_eq!(app.outbox().len(), 8);
    app.repair_database().await;
    app.worker.minute().await;
    let seven = &peer("7");
    let rows = ["", seven, "", "", seven, "", "42", seven];
    assert_eq!(users(&app).await, rows);
}

/// Queued and dated activity from before the erasure is dropped, undos too. Newer activity, and
/// that of other users, counts.
#[tokio::test]
async fn activity_older_than_erasure_is_stale() {
    let app = start_with(|worker| worker.queued(100));
    app.send(json!([like("42", "1"), like("7", "1")])).await;
    let before = jiff::Timestamp::now().to_string();
    app.erase("42").await;
    let seven = peer("7");
    let newer = ahead(1);
    let at = |activity: Value, at: &str| dated(activity, at);
    for queued in [
        at(like("42", "1"), &before),
        at(undo(like("42", "2")), &before),
        at(like("7", "2"), &before),
        at(like("42", "new"), &newer),
    ] {
        let message = json!([queued]).to_string();
        app.worker.enqueue(&message).await;
    }
    let score = async |user: &str| {
        let path = format!("/v1/ranking/all/users/{user}");
        app.read(&path).await["score"].clone()
    };
    until("the newer activity", async || {
        (score("42").await == 2 && score(&seven).await == 4).then_some(())
    })
    .await;
    let old = at(like("42", "3"), &noon(40));
    let visit = at(activity("42", "visit", "/"), &before);
    let unlike = at(undo(like("42", "new")), &before);
    assert_eq!(app.send(json!([old, visit, unlike])).await, ["stale"; 3]);
    let adjustment = json!({"id": "1", "points": 5, "reason": "r", "at": noon(2)});
    let adjusted = app.adjust("42", &adjustment).await;
    assert_eq!(adjusted.body["outcome"], "stale");
    // Without `at` the activity happens now.
    assert_eq!(app.send(like("42", "1")).await, ["counted"]);
    assert_eq!(score("42").await, 4);
    // Stale activity leaves no entry.
    let entries = app.entries_after(0).await;
    let own = entries.iter().filter(|entry| entry["user"] == "42");
    let records: Vec<_> = own.map(|entry| &entry["mark"]).collect();
    assert_eq!(records, ["like:new", "like:1"]);
}

#[tokio::test]
async fn tombstone_instant_never_moves_back() {
    let mut app = start();
    let (key, later) = (app.store.key("e"), "4000000000000");
    app.store.run::<i64>("HSET", &[&key, HASH, later]);
    app.erase("42").await;
    assert_eq!(tombstones(&mut app), [(HASH.to_owned(), 4_000_000_000_000)]);
}

/// A queue without a journal may hold older activity too.
#[tokio::test]
async fn erasure_with_queue_only_writes_tombstone() {
    let worker = test_support::Worker::builder().queued(100);
    let mut app = JournalApp::of(worker.start());
    app.erase("42").await;
    assert_eq!(tombstones(&mut app).len(), 1);
    assert_eq!(app.store.keys(), ["e"]);
}
