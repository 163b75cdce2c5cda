//! Compact storage: records as one number, days that share a key, and Redis's compact encodings. An
//! undo finds the boards of a record in any form.

use crate::requests::{PERIODS, act, assert_board, at, board, expect, in_groups, like, undo};
use redis::cmd;
use test_support::reference::{Calendar, Store, StoredRecord, now, rfc3339};
use test_support::{Api, Value, Worker, json, redis};

/// Returns the stored value of a record of `42`.
fn stored(store: &mut Store, field: &str) -> String {
    let records = store.hash("m:42");
    records.get(field).expect("a record").clone()
}

fn is_number(text: &str) -> bool {
    text.len() <= 19 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Counts an activity, then undoes it, and checks the boards of its day after both.
async fn count_and_undo(api: &Api, activity: &Value, date: &str, undone: &Value) {
    for (activity, outcome, users) in [(activity, "counted", 1), (undone, "undone", 0)] {
        expect(api, activity, outcome).await;
        for period in PERIODS {
            let found = board(api, &format!("{period}?date={date}")).await;
            assert_eq!(found.len(), users, "{period} of {date}");
        }
    }
}

#[tokio::test]
async fn record_is_one_number_in_any_time_zone() {
    for zone in ["Etc/GMT-14", "UTC", "Etc/GMT+12"] {
        let worker = Worker::builder().var("TIMEZONE", zone).start();
        let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
        for (instant, numeric) in [
            ("2026-11-01T00:30:00Z", true),
            ("2026-11-01T12:00:00Z", true),
            ("2026-11-01T23:30:00.999Z", true),
            // The first instant with 13 digits, and the last with 12.
            ("2001-09-09T01:46:40Z", true),
            ("2001-09-09T01:46:39.999Z", false),
            ("1969-12-31T23:59:59.999Z", false),
        ] {
            let dated = at(&like("42", "p"), instant);
            let at_ms = instant.parse::<jiff::Timestamp>().unwrap().as_millisecond();
            let date = Calendar::new(zone).date(at_ms);
            expect(&api, &dated, "counted").await;
            let text = stored(&mut store, "Lp");
            assert_eq!(is_number(&text), numeric, "{text}");
            let expected = StoredRecord {
                at: at_ms,
                repeated: None,
                amounts: vec![2],
                date,
                periods: "dwmya".to_owned(),
                groups: Vec::new(),
                received: None,
            };
            assert_eq!(StoredRecord::parse(&text), expected, "{text}");
            expect(&api, &undo(&like("42", "p")), "undone").await;
            let later = at(&like("42", &date.to_string()), instant);
            let undone = undo(&like("42", &date.to_string()));
            count_and_undo(&api, &later, &date.to_string(), &undone).await;
            // Undo records of this target would make the next instants stale.
            store.run::<()>("DEL", "m:42", &[]);
            for key in store.keys("h:") {
                store.run::<()>("DEL", &key, &[]);
            }
        }
    }
}

#[tokio::test]
async fn record_keeps_groups_repeats_boards_and_points() {
    let rules = json!({ "win": { "points": 8_388_607 }, "wave": { "points": 9222 } });
    let worker = Worker::builder()
        .var("PERIODS", "all,week")
        .json("RULES", rules)
        .start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    let (first, second) = (now() - 3000, now() - 1000);
    let date = Calendar::new("UTC").date(first);
    let record = |amount: i64, groups: &[&str], repeated| StoredRecord {
        at: first,
        repeated,
        amounts: vec![amount],
        date,
        periods: "wa".to_owned(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        received: None,
    };
    let groups = ["eu", "a|b:c"];
    for (action, field, groups, points, numeric) in [
        ("like", "Lp", &groups[..0], 2, true),
        ("like", "Lp", &groups, 2, false),
        ("wave", "wave:p", &groups[..0], 9222, true),
        ("win", "win:p", &groups[..0], 8_388_607, false),
    ] {
        let sent = in_groups(&act("42", action, "p"), groups);
        expect(&api, &at(&sent, &rfc3339(first)), "counted").await;
        let text = stored(&mut store, field);
        assert_eq!(
            StoredRecord::parse(&text),
            record(points, groups, None),
            "{text}"
        );
        assert_eq!(is_number(&text), numeric, "{text}");
        expect(&api, &at(&sent, &rfc3339(second)), "duplicate").await;
        let text = stored(&mut store, field);
        let expected = record(points, groups, Some(second));
        assert_eq!(StoredRecord::parse(&text), expected, "{text}");
        // The latest repetition is kept.
        expect(&api, &at(&sent, &rfc3339(second - 1)), "duplicate").await;
        assert_eq!(stored(&mut store, field), text);
        expect(&api, &undo(&act("42", action, "p")), "undone").await;
        for query in ["week", "all", "all?group=eu", "week?group=a%7Cb:c"] {
            assert_board(&api, query, &[]).await;
        }
        for key in store.keys("h:") {
            store.run::<()>("DEL", &key, &[]);
        }
    }
}

#[tokio::test]
async fn month_of_one_user_uses_few_compact_keys() {
    let worker = Worker::start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    for back in 0..31 {
        let then = rfc3339(now() - back * 86_400_000);
        for number in 0..4 {
            let target = format!("post-{}", 4 * back + number);
            expect(&api, &at(&like("42", &target), &then), "counted").await;
        }
        for path in ["/", "/questions/100003"] {
            expect(&api, &at(&act("42", "visit", path), &then), "counted").await;
        }
    }
    let own = ["m:", "h:"].map(|beginning| store.keys(beginning));
    let lengths: Vec<usize> = own.iter().map(|keys| keys.len()).collect();
    assert_eq!(lengths[0], 1);
    // 31 days are in one span or two.
    assert!((1..=2).contains(&lengths[1]), "{lengths:?}");
    let mut encodings = Vec::new();
    for key in own.iter().flatten() {
        let mut encoding = cmd("OBJECT");
        encoding.arg("ENCODING").arg(store.key(key));
        let encoding: String = encoding.query(&mut store.connection).unwrap();
        encodings.push(encoding);
    }
    let compact = ["listpack", "ziplist"];
    assert!(
        encodings
            .iter()
            .all(|encoding| compact.contains(&encoding.as_str())),
        "{encodings:?}"
    );
    // One field per path, with its days as bits.
    for key in &own[1] {
        let fields = store.hash(key).into_keys();
        let paths = fields.filter(|field| field.starts_with('V')).count();
        assert_eq!(paths, 2, "{key}");
    }
}
