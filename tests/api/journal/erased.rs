//! Who is erased.

use test_support::{Value, json, peer, until};

use super::{Journalled, like, start, taken_back};
use crate::clock::{ahead, noon};

/// SHA-1 of "42".
const HASH: &str = "92cfceb39d57d914ed8b14d0e37643de0797ae56";

/// Of whom each row is, nobody's without anything in it.
async fn users(site: &Journalled) -> Vec<String> {
    let rows = site.rows().await;
    for (_, user, entry) in &rows {
        let named = entry.get("user").and_then(Value::as_str);
        assert_eq!(named.unwrap_or_default(), user, "{entry}");
        assert!(!user.is_empty() || entry["did"] == "erase" || *entry == json!({}));
    }
    rows.into_iter().map(|(_, user, _)| user).collect()
}

fn tombstones(site: &mut Journalled) -> Vec<(String, i64)> {
    let key = site.store.key("e");
    site.store.run("HGETALL", &[&key])
}

#[tokio::test]
async fn nothing_is_left_of_them_in_the_journal_or_on_its_way_there() {
    let mut site = start(|worker| worker);
    for user in ["42", "7"] {
        site.send(like(user, "written")).await;
    }
    site.wrangler.minute().await;
    let verdict = json!({"hidden": true, "frozen": false, "reason": "A secret"});
    site.put("42", "/moderation", verdict).await;
    site.put("42", "", json!({"name": "A secret"})).await;
    let adjustment = json!({"id": "1", "points": 5, "reason": "A secret"});
    site.adjust("42", &adjustment).await.assert_status(200);
    site.send(json!([like("42", "waits"), like("7", "waits")]))
        .await;
    let waiting = site.outbox();
    site.erase("42").await;
    assert_eq!(site.waiting(), [""; 0]);
    let seven = peer("7");
    let rows = ["", &seven, "", "", "", "", &seven, ""];
    assert_eq!(users(&site).await, rows);
    let entries = site.after(0).await;
    let did: Vec<_> = entries.iter().map(|entry| &entry["did"]).collect();
    assert_eq!(did, ["count", "count", "erase"]);
    let now = entries[2]["now"].as_str().expect("a text").to_owned();
    assert_eq!(entries[2]["hash"], HASH);
    assert_eq!(
        tombstones(&mut site),
        [(HASH.to_owned(), now.parse().expect("a number"))]
    );

    // Back again, and somebody who had read the outbox before is late.
    site.send(like("42", "again")).await;
    site.wrangler.minute().await;
    site.put_back(&waiting);
    site.wrangler.minute().await;
    let rows = ["", &seven, "", "", "", "", &seven, "", "42"];
    assert_eq!(users(&site).await, rows);
    // Once more: what came back goes too.
    site.erase("42").await;
    let rows = ["", &seven, "", "", "", "", &seven, "", "", ""];
    assert_eq!(users(&site).await, rows);
    let last = tombstones(&mut site);
    assert!(last.len() == 1 && last[0].1 > now.parse().expect("a number"));
}

#[tokio::test]
async fn erased_twice_in_one_batch_and_what_came_between_and_after_is_told_apart() {
    let mut site = start(|worker| worker);
    site.wrangler
        .sql("ALTER TABLE journal RENAME TO away")
        .await;
    for target in ["1", "2", "3"] {
        site.send(json!([like("42", target), like("7", target)]))
            .await;
        if target != "3" {
            site.erase("42").await;
        }
    }
    assert_eq!(site.waiting().len(), 8);
    site.wrangler
        .sql("ALTER TABLE away RENAME TO journal")
        .await;
    site.wrangler.minute().await;
    let seven = &peer("7");
    let rows = ["", seven, "", "", seven, "", "42", seven];
    assert_eq!(users(&site).await, rows);
}

#[tokio::test]
async fn what_they_did_before_is_dropped_however_late_it_comes_and_what_they_do_after_counts() {
    let site = start(|worker| worker.queued(100));
    site.send(json!([like("42", "1"), like("7", "1")])).await;
    let before = jiff::Timestamp::now().to_string();
    site.erase("42").await;
    let held = |user: &str, target: &str, at: &str, undo: bool| {
        let undo = if undo { r#","undo":true"# } else { "" };
        format!(r#"[{{"user":"{user}","action":"like","target":"{target}","at":"{at}"{undo}}}]"#)
    };
    // Held back before it, or told by a service; of anybody else it counts.
    site.wrangler
        .enqueue(&held("42", "1", &before, false))
        .await;
    site.wrangler.enqueue(&held("42", "2", &before, true)).await;
    let seven = peer("7");
    site.wrangler
        .enqueue(&held(&seven, "2", &before, false))
        .await;
    site.wrangler
        .enqueue(&held("42", "new", &ahead(1), false))
        .await;
    let score = async |user: &str| {
        let path = format!("/v1/ranking/all/users/{user}");
        site.client.get(&path).await.body["score"].clone()
    };
    until("what is newer", async || {
        (score("42").await == 2 && score(&seven).await == 4).then_some(())
    })
    .await;
    let mut old = like("42", "3");
    old["at"] = json!(noon(40));
    let day = json!({"user": "42", "action": "visit", "target": "/", "at": before});
    let undo = {
        let mut undo = taken_back(like("42", "new"));
        undo["at"] = json!(before);
        undo
    };
    assert_eq!(site.send(json!([old, day, undo])).await, ["stale"; 3]);
    let adjustment = json!({"id": "1", "points": 5, "reason": "r", "at": noon(2)});
    let adjusted = site.adjust("42", &adjustment).await;
    assert_eq!(adjusted.body["outcome"], "stale");
    // Without an instant it is now.
    assert_eq!(site.send(like("42", "1")).await, ["counted"]);
    assert_eq!(score("42").await, 4);
    // Only what counted is in the journal.
    let entries = site.after(0).await;
    let marks: Vec<_> = entries
        .iter()
        .filter(|entry| entry["user"] == "42")
        .collect();
    let marks: Vec<_> = marks.iter().map(|entry| &entry["mark"]).collect();
    assert_eq!(marks, ["like:new", "like:1"]);
}

#[tokio::test]
async fn a_tombstone_never_moves_back() {
    let mut site = start(|worker| worker);
    let (key, later) = (site.store.key("e"), "4000000000000");
    site.store.run::<i64>("HSET", &[&key, HASH, later]);
    site.erase("42").await;
    assert_eq!(
        tombstones(&mut site),
        [(HASH.to_owned(), 4_000_000_000_000)]
    );
}

#[tokio::test]
async fn with_a_queue_alone_they_leave_a_tombstone_too() {
    let worker = crate::site::patient().queued(100);
    let mut site = Journalled::of(worker.start_wrangler());
    site.erase("42").await;
    assert_eq!(tombstones(&mut site).len(), 1);
    assert_eq!(site.store.keys(), ["e"]);
}
