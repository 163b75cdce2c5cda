//! Keys and deduplication records of different things never collide.

use std::collections::HashSet;

use activity_rank_core::calendar::{Date, Period};
use activity_rank_store::keys::{KeyKind, Keys};
use proptest::prelude::*;
use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{activity, dated, with};
use crate::clock::noon;
use crate::events::Event;
use crate::journal::start_with;

/// The content of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Users,
    Index,
    Outbox,
    Tombstones,
    /// Period, id of its instance, group.
    Board(Period, String, Option<String>),
    /// Number of the span, user.
    History(i32, String),
    ActiveRecords(String),
}

impl Content {
    fn key(&self, keys: &Keys, day: Date) -> String {
        match self {
            Self::Index => keys.index(),
            Self::Users => keys.users(),
            Self::Outbox => keys.outbox(),
            Self::Tombstones => keys.tombstones(),
            Self::Board(period, _, group) => keys.board(*period, day, group.as_deref()),
            Self::History(span, user) => keys.history(span, user),
            Self::ActiveRecords(user) => keys.active_records(user),
        }
    }
}

/// Generates ids from the components of keys, so that a possible collision is likely.
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
        Just("p".to_owned()),
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

/// Generates the content of a key and a date inside its period.
fn content() -> impl Strategy<Value = (Content, Date)> {
    let period = prop::sample::select(Period::ALL.to_vec());
    prop_oneof![
        1 => prop::sample::select(vec![Content::Users, Content::Index, Content::Outbox, Content::Tombstones])
            .prop_flat_map(|content| date().prop_map(move |day| (content.clone(), day))),
        4 => (period, date(), prop::option::of(id()))
            .prop_map(|(period, day, group)| (Content::Board(period, period.id(day), group), day)),
        2 => (date(), id()).prop_map(|(day, user)| (Content::History(Keys::span(day), user), day)),
        2 => (date(), id()).prop_map(|(day, user)| (Content::ActiveRecords(user), day)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn different_records_have_different_keys(all in prop::collection::vec(content(), 2..30)) {
        let keys = Keys::new("ar", 0, 1);
        for (number, (one, day)) in all.iter().enumerate() {
            let key = one.key(&keys, *day);
            prop_assert!(key.starts_with("{ar:0}"), "{key}");
            for (other, other_day) in &all[..number] {
                let same = key == other.key(&keys, *other_day);
                prop_assert_eq!(same, one == other, "{} {:?} {:?}", key, one, other);
                // What a rebuild writes equals no key of the data.
                let written = Keys::building("ar", 0, 2);
                prop_assert_ne!(&key, &other.key(&written, *other_day));
            }
        }
    }

    #[test]
    fn prefixes_never_share_a_key(
        prefixes in ("[A-Za-z0-9_.:-]{1,6}", "[A-Za-z0-9_.:-]{1,6}"),
        one in content(),
        other in content(),
    ) {
        prop_assume!(prefixes.0 != prefixes.1);
        let (first, second) = (Keys::new(&prefixes.0, 0, 1), Keys::new(&prefixes.1, 0, 1));
        prop_assert_ne!(one.0.key(&first, one.1), other.0.key(&second, other.1));
    }
}

#[tokio::test]
async fn dedup_records_never_collide() {
    let once = |once: &str| json!({"points": 1, "once": once, "cooldown": 1});
    let rules = json!({"a": {"points": 1}, "a-b": {"points": 1}, "b": {"points": 1},
        "d": {"points": 1, "once": "day"}, "d-d": {"points": 1, "once": "day"}, "c": once("standing")});
    let app = TestApp::with(|worker| worker.json("RULES", rules));
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
                items.push(activity(user, action, target));
            }
        }
        items.push(activity(user, "c", "x"));
        items.push(dated(activity(user, "d", "x"), noon(1)));
    }
    assert!(items.len() <= 500);
    let outcomes = async |items: &[Value]| {
        let response = app.send_activity(json!(items)).await;
        let results = response.body["results"].as_array().expect("results");
        let results = results.clone();
        results
            .iter()
            .map(|result| result["outcome"].as_str().expect("an outcome").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&items).await, vec!["counted"; items.len()]);
    assert_eq!(outcomes(&items).await, vec!["duplicate"; items.len()]);
    // An undo removes only its own record.
    let undone: Vec<Value> = items
        .iter()
        .filter(|item| item["action"] == "a" && item["target"] == "b:x")
        .map(|item| json!({"user": item["user"], "action": "a", "target": "b:x", "undo": true}))
        .collect();
    assert_eq!(outcomes(&undone).await, vec!["undone"; 4]);
    let again = outcomes(&items).await;
    let found = again.iter().filter(|outcome| *outcome == "counted").count();
    assert_eq!(found, 4);
}

/// Everything that the service does with the store.
#[tokio::test]
async fn keys_of_the_whole_service_are_listed() {
    let app = start_with(|worker| {
        let worker = worker.var("CONTENT_PERIODS", "day,all");
        worker.var("SETTLE_MINUTES", "0").archive().cron()
    });
    let publish = json!({"user": "9", "action": "publish", "target": "post-7"});
    let grouped = with(
        dated(activity("42", "like", "post-8"), noon(40)),
        json!({"groups": ["eu"]}),
    );
    for body in [
        publish,
        grouped,
        activity("42", "like", "post-7"),
        activity("42", "visit", "/a"),
    ] {
        app.counted(body).await;
    }
    let body = with(activity("42", "like", "post-7"), json!({"undo": true}));
    app.outcome(body, "undone").await;
    app.set_name("42", "Ada").await;
    app.write("/v1/users/43", &json!({"hidden": true})).await;
    app.moderate("9", true, false).await;
    app.adjust("42", &json!({"id": "1", "points": 5, "reason": "A test"}))
        .await;
    app.count("44", "like", "post-7").await;
    app.erase("44").await;
    Event::new("coming").put(&app).await;
    app.count("45", "like", "post-7").await;
    app.minute().await;
    app.count("45", "bookmark", "post-7").await;
    let keys = app.store().keys();
    for name in [
        "p", "i", "l", "n", "w", "t", "o", "j", "v", "e", "m:42", "u:9",
    ] {
        assert!(keys.contains(&name.to_owned()), "{name}: {keys:?}");
    }
    let mut unknown = app.store().full_keys();
    unknown.retain(|key| {
        let name = key.split_once('}').map_or("", |(_, name)| name);
        Keys::kind(name).is_none()
    });
    assert_eq!(unknown, [""; 0]);
}

#[test]
fn work_of_jobs_is_no_data() {
    let written = Keys::building("ar", 0, 2);
    let name = |key: String| key.trim_start_matches("{ar:0}").to_owned();
    let keys = Keys::new("ar", 0, 1);
    let work = [
        keys.pending_changes(),
        keys.archived(),
        keys.outbox(),
        keys.progress(),
        keys.rebuild(),
        written.users(),
        written.user_hashes(),
        written.recounted_users(),
    ];
    for key in work {
        assert_eq!(Keys::kind(&name(key.clone())), Some(KeyKind::Work), "{key}");
    }
    let data = [
        keys.users(),
        keys.event_board("hackathon"),
        keys.history(670, "42"),
    ];
    for key in data {
        assert_eq!(Keys::kind(&name(key.clone())), Some(KeyKind::Data), "{key}");
    }
    for unknown in ["", "z", "1z", "1j", "~", "zzz:1", "q", "p:1", "g", "1"] {
        assert_eq!(Keys::kind(unknown), None, "{unknown}");
    }
}
