//! `KEEP_DAYS`: how long what is written lives, as Redis will let it.

use std::collections::BTreeMap;

use test_support::reference::{day_marks_key, history_key};
use test_support::{json, rest};

use crate::clock::{day, id, noon};
use crate::site::Site;

const DAY: i64 = 86_400;

/// Lifetimes of all keys in seconds, rounded up to a minute; none for what does not expire.
fn lifetimes(site: &Site) -> BTreeMap<String, Option<i64>> {
    let mut store = site.store();
    let keys = store.whole_keys();
    let lifetime = |key: String| {
        let millis: i64 = store.run("PTTL", &[&key]);
        let seconds = (millis >= 0).then(|| (millis + 59_999) / 60_000 * 60);
        (rest(&key).to_owned(), seconds)
    };
    keys.into_iter().map(lifetime).collect()
}

/// Everything that can be written, dated and not.
async fn write_everything(site: &Site) {
    let of = |action: &str, target: &str, undo: bool| json!({"user": "42", "action": action, "target": target, "undo": undo, "groups": ["eu"]});
    let mut dated = of("like", "then", false);
    dated["at"] = json!(noon(800));
    let sent = json!([
        of("like", "p", false),
        of("visit", "/", false),
        of("like", "q", true),
        dated
    ]);
    site.send_activity(sent).await.assert_status(200);
    site.put("/v1/users/42", &json!({"name": "Ada"}))
        .await
        .assert_status(200);
}

/// What is to be there, and for how many days.
fn expected(keep: [i64; 5], span: &str) -> BTreeMap<String, Option<i64>> {
    let [by_day, by_week, by_month, by_year, marks] = keep;
    let mut keys = BTreeMap::new();
    let boards = [
        ('d', "day", by_day),
        ('w', "week", by_week),
        ('m', "month", by_month),
        ('y', "year", by_year),
    ];
    for back in [0, 800] {
        for (letter, kind, days) in boards {
            for group in ["", ":eu"] {
                let board = format!("b{letter}:{}{group}", id(kind, day(back)));
                keys.insert(board, Some(days * DAY));
            }
        }
        keys.insert(history_key(day(back), "42"), Some(62 * DAY));
    }
    keys.insert(day_marks_key(day(0), "42"), Some(62 * DAY));
    keys.insert("m:42".to_owned(), Some(marks * DAY));
    keys.insert(span.to_owned(), Some(62 * DAY));
    for forever in ["s", "i", "p", "ba:all", "ba:all:eu"] {
        keys.insert(forever.to_owned(), None);
    }
    keys
}

/// The key of the undo memory: its number changes every 31 days.
fn memory(site: &Site) -> String {
    site.store()
        .keys()
        .into_iter()
        .find(|key| key.starts_with("u:"))
        .expect("an undo memory")
}

#[tokio::test]
async fn everything_written_expires_but_all_time_boards_and_profiles() {
    let site = Site::start();
    write_everything(&site).await;
    assert_eq!(
        lifetimes(&site),
        expected([31, 91, 366, 731, 400], &memory(&site))
    );
}

#[tokio::test]
async fn keep_days_sets_the_lifetimes() {
    let keep = json!({"day": 1, "week": 2, "month": 3, "year": 4, "marks": 5});
    let site = Site::with(|worker| worker.json("KEEP_DAYS", keep));
    write_everything(&site).await;
    assert_eq!(lifetimes(&site), expected([1, 2, 3, 4, 5], &memory(&site)));
}

#[tokio::test]
async fn keep_days_may_name_some_only() {
    let site = Site::with(|worker| worker.json("KEEP_DAYS", json!({"week": 10})));
    write_everything(&site).await;
    assert_eq!(
        lifetimes(&site),
        expected([31, 10, 366, 731, 400], &memory(&site))
    );
}

#[tokio::test]
async fn a_second_write_moves_no_expiry_but_that_of_standing_marks() {
    let site = Site::start();
    write_everything(&site).await;
    let mut store = site.store();
    // As if all of it had been written an hour ago.
    for key in store.whole_keys() {
        let seconds: i64 = store.run("TTL", &[&key]);
        if seconds > 0 {
            store.run::<i64>("EXPIRE", &[&key, &(seconds - 3600).to_string()]);
        }
    }
    let before = lifetimes(&site);
    let of = |action: &str, target: &str| json!({"user": "42", "action": action, "target": target, "groups": ["eu"]});
    let mut undo = of("like", "other");
    undo["undo"] = json!(true);
    let mut dated = of("follow", "then");
    dated["at"] = json!(noon(800));
    let sent = json!([of("like", "new"), of("visit", "/new"), undo, dated]);
    site.send_activity(sent).await.assert_status(200);
    let mut expected = before;
    expected.insert("m:42".to_owned(), Some(400 * DAY));
    assert_eq!(lifetimes(&site), expected);
}
