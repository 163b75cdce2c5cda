//! What is in it.

use test_support::{Api, Value, json, peer, shard_of, until};

use super::{Journalled, like, start, taken_back};
use crate::client::Client;
use crate::clock::{day, noon};
use crate::token::sign::{SECRET, claims_with, hs256};

/// An entry without what nobody can know beforehand, once that is what it should be.
fn told(mut entry: Value) -> Value {
    let fields = entry.as_object_mut().expect("an object");
    assert!(fields.remove("n").is_some_and(|n| n.is_u64()));
    assert_eq!(fields.remove("shard"), Some(json!(shard_of("42"))));
    let id = fields.remove("id").expect("an id");
    let (instant, _) = id
        .as_str()
        .and_then(|id| id.split_once('-'))
        .expect("two numbers");
    let number = |text: &str| text.parse::<i64>().expect("a number");
    for name in ["now", "at"] {
        let held = fields.get(name).and_then(Value::as_str).map(number);
        // As the Worker's clock has it, and not the store's.
        if held.is_some_and(|held| (number(instant) - held).abs() < 60_000) {
            fields.remove(name);
        }
    }
    entry
}

fn millis(at: &str) -> String {
    let at: jiff::Timestamp = at.parse().expect("an instant");
    at.as_millisecond().to_string()
}

/// What is written of a like of today.
fn entry(did: &str, user: &str, target: &str) -> Value {
    json!({"did": did, "user": peer(user), "action": "like", "once": "s", "points": "2", "cooldown": "0",
        "mark": format!("like:{target}"), "dated": "0", "date": day(0).to_string(), "kinds": "dwmya",
        "groups": "", "skipped": "", "reason": ""})
}

fn with(mut entry: Value, others: Value) -> Value {
    for (name, value) in others.as_object().expect("fields") {
        entry[name] = value.clone();
    }
    entry
}

async fn assert_entries(site: &Journalled, expected: &[Value]) {
    let entries: Vec<Value> = site.after(0).await.into_iter().map(told).collect();
    for (number, (found, expected)) in entries.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "number {number} of\n{entries:#?}");
    }
    assert_eq!(entries.len(), expected.len(), "{entries:#?}");
}

#[tokio::test]
async fn each_activity_that_changed_something_is_there_once_in_its_order() {
    let rules = json!({"bookmark": {"points": 3, "cooldown": 60}, "follow": {"daily_cap": 2},
        "share": {"points": 1, "once": "day", "undo": false}});
    let mut site = start(|worker| worker.json("RULES", rules).queued(100));
    let mut now = like("a", "1");
    now["groups"] = json!(["eu", "us"]);
    let mut then = like("a", "then");
    then["at"] = json!(noon(3));
    then["groups"] = json!(["eu"]);
    let bookmark =
        |target: &str| json!({"user": peer("a"), "action": "bookmark", "target": target});
    let follow = |target: &str| json!({"user": peer("a"), "action": "follow", "target": target});
    let visit = json!({"user": peer("b"), "action": "visit", "target": "/"});
    for (activity, outcomes) in [
        (now.clone(), vec!["counted"]),
        (now, vec!["duplicate"]),
        (then, vec!["counted"]),
        (json!([visit, visit]), vec!["counted", "duplicate"]),
        (
            json!([bookmark("1"), bookmark("2")]),
            vec!["counted", "capped"],
        ),
        (json!([follow("1"), follow("2")]), vec!["counted", "capped"]),
        // To where it was given, and once more in vain.
        (taken_back(like("a", "then")), vec!["undone"]),
        (taken_back(like("a", "then")), vec!["nothing-to-undo"]),
        (
            json!([{"user": peer("a"), "action": "like", "target": "then", "at": noon(3)}]),
            vec!["stale"],
        ),
    ] {
        assert_eq!(site.send(activity).await, outcomes);
    }
    let held = format!(
        r#"[{{"user":"{}","action":"like","target":"held","at":"{}"}}]"#,
        peer("h"),
        noon(1)
    );
    site.wrangler.enqueue(&held).await;
    until("what was held back", async || {
        (site.waiting().len() == 8).then_some(())
    })
    .await;
    let place = json!({"date": day(3).to_string(), "groups": "eu"});
    let expected = [
        with(entry("count", "a", "1"), json!({"groups": "eu,us"})),
        with(
            with(entry("count", "a", "then"), place.clone()),
            json!({"at": millis(&noon(3)), "dated": "1"}),
        ),
        with(
            entry("count", "b", "-"),
            json!({"action": "visit", "once": "d", "points": "1", "mark": "visit:/"}),
        ),
        with(
            entry("count", "a", "-"),
            json!({"action": "bookmark", "points": "3", "cooldown": "1", "mark": "bookmark:1"}),
        ),
        with(
            entry("count", "a", "-"),
            json!({"action": "follow", "mark": "follow:1"}),
        ),
        with(entry("undo", "a", "then"), place),
        entry("undo", "a", "then"),
        with(
            entry("count", "h", "held"),
            json!({"at": millis(&noon(1)), "dated": "2", "date": day(1).to_string()}),
        ),
    ];
    assert_entries(&site, &expected).await;
    assert_eq!(site.waiting(), [""; 0]);
    site.wrangler.minute().await;
    site.wrangler.tick().await;
    assert_entries(&site, &expected).await;
}

#[tokio::test]
async fn what_moderators_do_is_there_once_in_its_order() {
    let site = start(|worker| worker);
    site.send(like("a", "1")).await;
    let adjust = async |adjustment: &Value| {
        let answer = site.adjust("a", adjustment).await;
        answer.assert_status(200).body["outcome"].clone()
    };
    let taken =
        json!({"id": "x", "points": -5, "reason": "Bought", "at": noon(2), "groups": ["eu"]});
    assert_eq!(adjust(&taken).await, "counted");
    assert_eq!(adjust(&taken).await, "duplicate");
    let back = json!({"id": "x", "undo": true, "reason": "Not so"});
    assert_eq!(adjust(&back).await, "undone");
    let verdict = |hidden, frozen| json!({"hidden": hidden, "frozen": frozen, "reason": "Seen"});
    for verdict in [
        verdict(true, true),
        verdict(true, true),
        verdict(false, false),
    ] {
        site.put("a", "/moderation", verdict).await;
    }
    site.put("a", "/moderation", verdict(false, true)).await;
    assert_eq!(
        site.send(json!([like("a", "2")])).await,
        ["/problems/forbidden"]
    );

    let place = json!({"action": "adjust", "points": "-5", "mark": "adjust:x",
        "date": day(2).to_string(), "groups": "eu"});
    let verdict = |hidden, frozen| json!({"did": "moderate", "user": peer("a"), "hidden": hidden, "frozen": frozen, "reason": "Seen"});
    let expected = [
        entry("count", "a", "1"),
        with(
            with(entry("adjust", "a", "-"), place.clone()),
            json!({"reason": "Bought", "at": millis(&noon(2)), "dated": "1"}),
        ),
        with(
            with(entry("undo", "a", "-"), place),
            json!({"reason": "Not so", "points": "0"}),
        ),
        verdict("1", "1"),
        verdict("0", "0"),
        verdict("0", "1"),
    ];
    assert_entries(&site, &expected).await;
}

#[tokio::test]
async fn each_profile_that_changed_is_there_once_in_its_order() {
    let site = start(|worker| worker.var("JWT_SECRET", SECRET));
    let member = hs256(&claims_with(json!({"name": "Kim"})));
    let member = Client::new(Api::new(site.wrangler.url()).with_key(&member));
    for target in ["1", "2"] {
        let answer = member.post("/v1/activity", &like("42", target)).await;
        answer.assert_status(200);
    }
    site.put("a", "", json!({"name": "Ada"})).await;
    site.put("a", "", json!({"name": "Ada"})).await;
    site.put("a", "", json!({"name": "Ada", "hidden": true}))
        .await;
    let all = json!([
        {"id": peer("a"), "name": "Ada", "hidden": true},
        {"id": peer("b"), "name": "\"Bob\" ✓", "hidden": false},
        {"id": peer("a"), "hidden": false},
        {"id": peer("a")},
        {"id": peer("c"), "hidden": true},
        {"id": peer("c"), "name": "Cy", "hidden": false},
    ]);
    site.client.put("/v1/users", &all).await.assert_status(200);

    let profile = |user: &str, profile: Value, hidden: &str| json!({"did": "profile", "user": peer(user), "json": profile.to_string(), "hidden": hidden});
    let ada = json!({"name": "Ada"});
    let expected = [
        entry("count", "42", "1"),
        profile("42", json!({"name": "Kim"}), ""),
        entry("count", "42", "2"),
        profile("a", ada.clone(), ""),
        profile("a", ada.clone(), "1"),
        // An array has the last word on who hides, and says so with the first of a user.
        profile("a", ada, "0"),
        profile("b", json!({"name": "\"Bob\" ✓"}), ""),
        profile("a", json!({}), ""),
        profile("c", json!({}), ""),
        profile("c", json!({"name": "Cy"}), ""),
    ];
    assert_entries(&site, &expected).await;
}

#[tokio::test]
async fn boards_that_are_archived_and_gone_are_told_by_number() {
    let mut site = start(|worker| worker);
    let archived = site.store.key("a");
    for name in [format!("bd:{}", day(9)), format!("bd:{}:us", day(9))] {
        let board = site.store.key(&name);
        site.store.run::<i64>("SADD", &[&archived, &board]);
    }
    let mut then = like("a", "1");
    then["at"] = json!(noon(9));
    then["groups"] = json!(["eu", "us"]);
    site.send(then).await;
    let adjustment =
        json!({"id": "1", "points": 5, "reason": "r", "at": noon(9), "groups": ["us"]});
    site.adjust("a", &adjustment).await.assert_status(200);
    site.send(taken_back(like("a", "1"))).await;
    let entries = site.after(0).await;
    let skipped: Vec<_> = entries.iter().map(|entry| &entry["skipped"]).collect();
    // Five boards for everybody, five of the first group.
    assert_eq!(skipped, ["1,11", "1,6", "1,11"]);
}
