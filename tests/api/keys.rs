//! Keys and marks: what differs is never kept under the same name.

use std::collections::HashSet;

use activity_rank::calendar::{Date, Instant, Period};
use activity_rank::keys::Keys;
use proptest::prelude::*;
use test_support::{Value, json};

use crate::clock::noon;
use crate::site::Site;

/// What a key is for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Holds {
    Stamp,
    Index,
    Profiles,
    Outbox,
    Tombstones,
    /// Kind, id of the instance, group.
    Board(Period, String, Option<String>),
    /// Number of the span, user.
    History(i32, String),
    DayMarks(i32, String),
    Marks(String),
    UndoMemory(i64, String),
}

const SPAN: i64 = 31 * Date::MILLIS;

impl Holds {
    fn key(&self, keys: &Keys, day: Date) -> String {
        match self {
            Self::Stamp => keys.stamp(),
            Self::Index => keys.index(),
            Self::Profiles => keys.profiles(),
            Self::Outbox => keys.outbox(),
            Self::Tombstones => keys.tombstones(),
            Self::Board(period, _, group) => keys.board(*period, day, group.as_deref()),
            Self::History(span, user) => keys.history(span, user),
            Self::DayMarks(span, user) => keys.day_marks(span, user),
            Self::Marks(user) => keys.marks(user),
            Self::UndoMemory(span, user) => {
                let at = Instant(span * SPAN);
                keys.undo_memories(user, at).remove(0)
            }
        }
    }
}

/// Ids made of what keys are made of, so that clashes are likely if there can be any.
fn id() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[A-Za-z0-9_.:@|-]{1,3}",
        Just(":".to_owned()),
        Just("2026-11-20".to_owned()),
        Just("2026-11".to_owned()),
        Just("2026-W47".to_owned()),
        Just("all".to_owned()),
        Just("bd:2026-11-20".to_owned()),
        Just("670".to_owned()),
        Just("s".to_owned()),
        Just("0".to_owned()),
    ];
    prop::collection::vec(part, 1..4)
        .prop_map(|parts| parts.concat())
        .prop_filter("an id", |id| id.len() <= 64 && id != "." && id != "..")
}

fn date() -> impl Strategy<Value = Date> {
    (
        2026..=2027,
        prop_oneof![Just(1u32), Just(11), Just(12)],
        1u32..=28,
    )
        .prop_map(|(year, month, day)| Date::new(year, month, day).expect("a day"))
}

/// Something kept, and a day that its board contains.
fn held() -> impl Strategy<Value = (Holds, Date)> {
    let period = prop::sample::select(Period::ALL.to_vec());
    prop_oneof![
        1 => prop::sample::select(vec![Holds::Stamp, Holds::Index, Holds::Profiles, Holds::Outbox, Holds::Tombstones])
            .prop_flat_map(|holds| date().prop_map(move |day| (holds.clone(), day))),
        4 => (period, date(), prop::option::of(id()))
            .prop_map(|(period, day, group)| (Holds::Board(period, period.id(day), group), day)),
        2 => (date(), id()).prop_map(|(day, user)| (Holds::History(Keys::span(day), user), day)),
        2 => (date(), id()).prop_map(|(day, user)| (Holds::DayMarks(Keys::span(day), user), day)),
        2 => (date(), id()).prop_map(|(day, user)| (Holds::Marks(user), day)),
        2 => (600i64..700, date(), id()).prop_map(|(span, day, user)| (Holds::UndoMemory(span, user), day)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn two_keys_are_equal_only_where_they_hold_the_same(all in prop::collection::vec(held(), 2..30)) {
        let keys = Keys::new("ar", 0);
        for (number, (one, day)) in all.iter().enumerate() {
            let key = one.key(&keys, *day);
            prop_assert!(key.starts_with("{ar:0}"), "{key}");
            for (other, other_day) in &all[..number] {
                let same = key == other.key(&keys, *other_day);
                prop_assert_eq!(same, one == other, "{} {:?} {:?}", key, one, other);
                // What a rebuild writes is nobody's yet.
                prop_assert_ne!(&key, &other.key(&keys.shadow(), *other_day));
            }
        }
    }

    #[test]
    fn keys_of_two_prefixes_never_meet(
        prefixes in ("[A-Za-z0-9_.:-]{1,6}", "[A-Za-z0-9_.:-]{1,6}"),
        one in held(),
        other in held(),
    ) {
        prop_assume!(prefixes.0 != prefixes.1);
        let (first, second) = (Keys::new(&prefixes.0, 0), Keys::new(&prefixes.1, 0));
        prop_assert_ne!(one.0.key(&first, one.1), other.0.key(&second, other.1));
    }
}

#[tokio::test]
async fn marks_of_different_actions_users_targets_and_days_are_different() {
    let once = |once: &str| json!({"points": 1, "once": once, "cooldown": 1});
    let rules = json!({"a": {"points": 1}, "a-b": {"points": 1}, "b": {"points": 1},
        "d": {"points": 1, "once": "day"}, "d-d": {"points": 1, "once": "day"}, "c": once("standing")});
    let site = Site::with(|worker| worker.json("RULES", rules));
    let targets = [
        "x",
        "b:x",
        "a:x",
        "a:b:x",
        ":x",
        "x:",
        "x,1",
        "~c",
        "~a",
        "~c:x",
        "d:x",
        "1 2",
        "42:x",
        "é",
        "2026-11-20",
    ];
    let mut seen = HashSet::new();
    let mut items = Vec::new();
    for user in ["42", "42:a", "a:42", "2026-11-20:42"] {
        for action in ["a", "a-b", "b", "d", "d-d"] {
            for target in targets {
                assert!(seen.insert((user, action, target)));
                items.push(json!({"user": user, "action": action, "target": target}));
            }
        }
        items.push(json!({"user": user, "action": "c", "target": "x"}));
        items.push(json!({"user": user, "action": "d", "target": "x", "at": noon(1)}));
    }
    assert!(items.len() <= 500);
    let outcomes = async |items: &[Value]| {
        let answer = site.send_activity(json!(items)).await;
        let results = answer.body["results"].as_array().expect("results").clone();
        results
            .iter()
            .map(|result| result["outcome"].as_str().expect("an outcome").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&items).await, vec!["counted"; items.len()]);
    assert_eq!(outcomes(&items).await, vec!["duplicate"; items.len()]);
    // An undo takes back its own mark and no other.
    let undone: Vec<Value> = items
        .iter()
        .filter(|item| item["action"] == "a" && item["target"] == "b:x")
        .map(|item| json!({"user": item["user"], "action": "a", "target": "b:x", "undo": true}))
        .collect();
    assert_eq!(outcomes(&undone).await, vec!["undone"; 4]);
    let again = outcomes(&items).await;
    assert_eq!(
        again.iter().filter(|outcome| *outcome == "counted").count(),
        4
    );
}
