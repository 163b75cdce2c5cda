//! `KEEP_DAYS`: the expiry of every key.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use test_support::reference::history_key;
use test_support::{Value, json, rest};

use crate::app::TestApp;
use crate::bodies::{activity, dated, undo, with};
use crate::clock::{day, id, noon};

const DAY: i64 = 86_400;

/// Returns the time to live of all keys in seconds, rounded up to a minute; `None` is no expiry.
fn lifetimes(app: &TestApp) -> BTreeMap<String, Option<i64>> {
    let mut store = app.store();
    let keys = store.full_keys();
    let lifetime = |key: String| {
        let millis: i64 = store.run("PTTL", &[&key]);
        let seconds = (millis >= 0).then(|| (millis + 59_999) / 60_000 * 60);
        (rest(&key).to_owned(), seconds)
    };
    keys.into_iter().map(lifetime).collect()
}

/// Returns an activity of user 42 in a group.
fn grouped(action: &str, target: &str) -> Value {
    let groups = json!({"groups": ["eu"]});
    with(activity("42", action, target), groups)
}

/// Writes every kind of key, with and without `at`.
async fn write_everything(app: &TestApp) {
    let then = dated(grouped("like", "then"), noon(800));
    let undo = undo(grouped("like", "q"));
    let sent = json!([grouped("like", "p"), grouped("visit", "/"), undo, then]);
    app.send_activity(sent).await.assert_status(200);
    app.set_name("42", "Ada").await;
}

/// Returns all expected keys with their times to live.
///
/// `keep` has the days of day, week, month and year boards and of active records, which live up to a day
/// longer.
fn expected(keep: [i64; 5]) -> BTreeMap<String, Option<i64>> {
    let [by_day, by_week, by_month, by_year, records] = keep;
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
    keys.insert("m:42".to_owned(), Some((records + 1) * DAY));
    // The undo record is in the span of today in UTC.
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    keys.insert(history_key(today, "42"), Some(62 * DAY));
    for persistent in ["i", "p", "ba:all", "ba:all:eu"] {
        keys.insert(persistent.to_owned(), None);
    }
    keys
}

/// Only boards of all time and profiles do not expire.
#[tokio::test]
async fn keep_days_sets_lifetimes() {
    let all = json!({"day": 1, "week": 2, "month": 3, "year": 4, "marks": 5});
    for (keep_days, keep) in [
        (json!({}), [31, 91, 366, 731, 400]),
        (json!({"week": 10}), [31, 10, 366, 731, 400]),
        (all, [1, 2, 3, 4, 5]),
    ] {
        let app = TestApp::with(|worker| worker.json("KEEP_DAYS", keep_days.clone()));
        write_everything(&app).await;
        assert_eq!(lifetimes(&app), expected(keep), "{keep_days}");
    }
}
