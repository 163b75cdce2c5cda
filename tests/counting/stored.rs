//! How little is stored of what was done: marks as one number, days that share a key, all of it in
//! Redis's compact encodings. Whatever form a mark has, an undo finds where its points are.

use crate::site::{KINDS, act, at, board, expect, in_groups, like, undo};
use redis::cmd;
use test_support::reference::{Calendar, Stands, Store, now, written};
use test_support::{Api, Value, Worker, json, redis};

/// What is held of a mark of `42`.
fn held(store: &mut Store, mark: &str) -> String {
    let marks = store.hash("m:42");
    marks.get(mark).expect("a mark").clone()
}

fn is_number(text: &str) -> bool {
    text.len() <= 19 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Counts it and takes it back: points are on the boards of its day, and on none.
async fn count_and_undo(api: &Api, activity: &Value, date: &str, undone: &Value) {
    for (activity, outcome, left) in [(activity, "counted", 1), (undone, "undone", 0)] {
        expect(api, activity, outcome).await;
        for kind in KINDS {
            let found = board(api, &format!("{kind}?date={date}")).await;
            assert_eq!(found.len(), left, "{kind} of {date}");
        }
    }
}

#[tokio::test]
async fn a_mark_is_one_number_on_either_side_of_the_globe_and_an_undo_finds_its_day() {
    for zone in ["Etc/GMT-14", "UTC", "Etc/GMT+12"] {
        let worker = Worker::builder().var("TIMEZONE", zone).start();
        let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
        for (instant, numbers) in [
            ("2026-11-01T00:30:00Z", true),
            ("2026-11-01T12:00:00Z", true),
            ("2026-11-01T23:30:00.999Z", true),
            // The first of 13 digits, and the last of 12.
            ("2001-09-09T01:46:40Z", true),
            ("2001-09-09T01:46:39.999Z", false),
            ("1969-12-31T23:59:59.999Z", false),
        ] {
            let dated = at(&like("42", "p"), instant);
            let changed = instant.parse::<jiff::Timestamp>().unwrap().as_millisecond();
            let date = Calendar::of(zone).date(changed);
            expect(&api, &dated, "counted").await;
            let text = held(&mut store, "Lp");
            assert_eq!(is_number(&text), numbers, "{text}");
            let expected = Stands {
                changed,
                repeated: None,
                amounts: vec![2],
                date,
                kinds: "dwmya".to_owned(),
                groups: Vec::new(),
            };
            assert_eq!(Stands::read(&text), expected, "{text}");
            expect(&api, &undo(&like("42", "p")), "undone").await;
            let later = at(&like("42", &date.to_string()), instant);
            let undone = undo(&like("42", &date.to_string()));
            count_and_undo(&api, &later, &date.to_string(), &undone).await;
            // What was undone today is remembered: other days are another target's.
            store.run::<()>("DEL", "m:42", &[]);
            for memory in store.keys("u:") {
                store.run::<()>("DEL", &memory, &[]);
            }
        }
    }
}

#[tokio::test]
async fn groups_repeats_few_boards_and_many_points_are_read_again() {
    let rules = json!({ "win": { "points": 8_388_607 }, "wave": { "points": 9222 } });
    let worker = Worker::builder()
        .var("PERIODS", "all,week")
        .json("RULES", rules)
        .start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    let (first, second) = (now() - 3000, now() - 1000);
    let date = Calendar::of("UTC").date(first);
    let stands = |amount: i64, groups: &[&str], repeated| Stands {
        changed: first,
        repeated,
        amounts: vec![amount],
        date,
        kinds: "wa".to_owned(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
    };
    let groups = ["eu", "a|b:c"];
    for (action, mark, groups, points, numbers) in [
        ("like", "Lp", &groups[..0], 2, true),
        ("like", "Lp", &groups, 2, false),
        ("wave", "wave:p", &groups[..0], 9222, true),
        ("win", "win:p", &groups[..0], 8_388_607, false),
    ] {
        let sent = in_groups(&act("42", action, "p"), groups);
        expect(&api, &at(&sent, &written(first)), "counted").await;
        let text = held(&mut store, mark);
        assert_eq!(Stands::read(&text), stands(points, groups, None), "{text}");
        assert_eq!(is_number(&text), numbers, "{text}");
        expect(&api, &at(&sent, &written(second)), "duplicate").await;
        let text = held(&mut store, mark);
        let expected = stands(points, groups, Some(second));
        assert_eq!(Stands::read(&text), expected, "{text}");
        // The later of two repeats stays.
        expect(&api, &at(&sent, &written(second - 1)), "duplicate").await;
        assert_eq!(held(&mut store, mark), text);
        expect(&api, &undo(&act("42", action, "p")), "undone").await;
        for question in ["week", "all", "all?group=eu", "week?group=a%7Cb:c"] {
            assert_eq!(board(&api, question).await, [], "{question} after {text}");
        }
        for memory in store.keys("u:") {
            store.run::<()>("DEL", &memory, &[]);
        }
    }
}

#[tokio::test]
async fn what_a_member_does_in_a_month_lies_in_few_compact_keys() {
    let worker = Worker::start();
    let (api, mut store) = (worker.api(), Store::new(redis(), worker.prefix()));
    for back in 0..31 {
        let then = written(now() - back * 86_400_000);
        for number in 0..4 {
            let target = format!("post-{}", 4 * back + number);
            expect(&api, &at(&like("42", &target), &then), "counted").await;
        }
        for path in ["/", "/questions/100003"] {
            expect(&api, &at(&act("42", "visit", path), &then), "counted").await;
        }
    }
    let own = ["m:", "h:", "v:"].map(|kind| store.keys(kind));
    let lengths: Vec<usize> = own.iter().map(|keys| keys.len()).collect();
    assert_eq!(lengths[0], 1);
    // 31 days are of one span or of two.
    assert!((1..=2).contains(&lengths[1]), "{lengths:?}");
    assert_eq!(lengths[1], lengths[2]);
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
    // The two paths, with their days as bits.
    for key in &own[2] {
        assert_eq!(store.hash(key).len(), 2, "{key}");
    }
}
