//! Content of journal entries.

use test_support::{Value, json, peer, shard_of, until};

use super::{JournalApp, like, start, start_with};
use crate::bodies::{activity, dated, undo, with};
use crate::clock::{day, noon};
use crate::token::sign::{SECRET, claims_with, hs256};

/// Checks the unpredictable fields of an entry and removes them: number, shard, id, and instants
/// within a minute of the id.
fn without_instants(mut entry: Value) -> Value {
    let fields = entry.as_object_mut().expect("an object");
    assert!(fields.remove("n").is_some_and(|n| n.is_u64()));
    assert_eq!(fields.remove("shard"), Some(json!(shard_of("42"))));
    let number = |text: &str| text.parse::<i64>().expect("a number");
    let id = fields.remove("id").expect("an id");
    let id = id.as_str().and_then(|id| id.split_once('-'));
    let (milliseconds, _) = id.expect("two numbers");
    for name in ["now", "at", "counted"] {
        let instant = fields.get(name).and_then(Value::as_str);
        let instant = instant.filter(|text| !text.is_empty()).map(number);
        // They are of the Worker's clock, the id is of the store's.
        if instant.is_some_and(|instant| (number(milliseconds) - instant).abs() < 60_000) {
            fields.remove(name);
        }
    }
    entry
}

fn milliseconds(at: &str) -> String {
    let at: jiff::Timestamp = at.parse().expect("an instant");
    at.as_millisecond().to_string()
}

/// The expected entry of a like of today.
fn entry(operation: &str, user: &str, target: &str) -> Value {
    json!({"did": operation, "user": peer(user), "action": "like", "once": "s", "points": "2", "cooldown": "0",
        "mark": format!("like:{target}"), "dated": "0", "date": day(0).to_string(), "kinds": "dwmya",
        "groups": "", "skipped": "", "reason": "", "applied": "2"})
}

async fn assert_entries(app: &JournalApp, expected: &[Value]) {
    let entries = app.entries_after(0).await;
    let entries: Vec<Value> = entries.into_iter().map(without_instants).collect();
    for (index, (found, expected)) in entries.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "index {index} of\n{entries:#?}");
    }
    assert_eq!(entries.len(), expected.len(), "{entries:#?}");
}

/// Counted activities and undos have one entry each, in order. An undo that changes nothing has one too.
/// Duplicate, capped and stale activities have none.
#[tokio::test]
async fn journal_lists_each_effective_activity_once() {
    let rules = json!({"bookmark": {"points": 3, "cooldown": 60}, "follow": {"daily_cap": 2},
        "share": {"points": 1, "once": "day", "undo": false}});
    let mut app = start_with(|worker| worker.json("RULES", rules).queued(100));
    let now = with(like("a", "1"), json!({"groups": ["eu", "us"]}));
    let stale = dated(like("a", "then"), noon(3));
    let then = with(stale.clone(), json!({"groups": ["eu"]}));
    let visit = activity(&peer("b"), "visit", "/");
    let two = |action: &str| json!(["1", "2"].map(|target| activity(&peer("a"), action, target)));
    for (body, outcomes) in [
        (now.clone(), vec!["counted"]),
        (now, vec!["duplicate"]),
        (then, vec!["counted"]),
        (json!([visit, visit]), vec!["counted", "duplicate"]),
        (two("bookmark"), vec!["counted", "capped"]),
        (two("follow"), vec!["counted", "capped"]),
        (undo(like("a", "then")), vec!["undone"]),
        (undo(like("a", "then")), vec!["nothing-to-undo"]),
        (json!([stale]), vec!["stale"]),
    ] {
        assert_eq!(app.send(body).await, outcomes);
    }
    let queued = json!([dated(like("h", "queued"), noon(1))]);
    app.worker.enqueue(&queued.to_string()).await;
    let done = async || (app.outbox().len() == 8).then_some(());
    until("the queued activity", done).await;
    // The undo names the day and group of the counted activity.
    let boards = json!({"date": day(3).to_string(), "groups": "eu"});
    let expected = [
        with(entry("count", "a", "1"), json!({"groups": "eu,us"})),
        with(
            with(entry("count", "a", "then"), boards.clone()),
            json!({"at": milliseconds(&noon(3)), "dated": "1"}),
        ),
        with(
            entry("count", "b", "-"),
            json!({"action": "visit", "once": "d", "points": "1", "mark": "visit:/", "applied": "1"}),
        ),
        with(
            entry("count", "a", "-"),
            json!({"action": "bookmark", "points": "3", "cooldown": "1", "mark": "bookmark:1",
                "applied": "3"}),
        ),
        with(
            entry("count", "a", "-"),
            json!({"action": "follow", "mark": "follow:1"}),
        ),
        with(
            with(entry("undo", "a", "then"), boards),
            json!({"applied": "-2", "counted": milliseconds(&noon(3)), "gave": "2"}),
        ),
        with(
            entry("undo", "a", "then"),
            json!({"applied": "", "counted": "", "gave": ""}),
        ),
        with(
            entry("count", "h", "queued"),
            json!({"at": milliseconds(&noon(1)), "dated": "2", "date": day(1).to_string()}),
        ),
    ];
    assert_entries(&app, &expected).await;
    assert_eq!(app.outbox(), [""; 0]);
    app.worker.minute().await;
    app.worker.tick().await;
    assert_entries(&app, &expected).await;
}

#[tokio::test]
async fn journal_lists_each_moderation_change_once() {
    let app = start();
    app.send(like("a", "1")).await;
    let adjustment =
        json!({"id": "x", "points": -5, "reason": "Bought", "at": noon(2), "groups": ["eu"]});
    let undo = json!({"id": "x", "undo": true, "reason": "Not so"});
    for (body, outcome) in [
        (&adjustment, "counted"),
        (&adjustment, "duplicate"),
        (&undo, "undone"),
    ] {
        let adjusted = app.adjust("a", body).await;
        assert_eq!(adjusted.assert_status(200).body["outcome"], outcome);
    }
    for (hidden, frozen) in [(true, true), (true, true), (false, false), (false, true)] {
        let state = json!({"hidden": hidden, "frozen": frozen, "reason": "Seen"});
        app.put("a", "/moderation", state).await;
    }
    let frozen = app.send(json!([like("a", "2")])).await;
    assert_eq!(frozen, ["/problems/forbidden"]);

    // Of the 2 points of today, none are on the board of that day and none on boards of the group.
    let week = |date: &jiff::civil::Date| {
        let date = date.iso_week_date();
        (date.year(), date.week())
    };
    let shares = |date: &jiff::civil::Date| {
        let has_like = [
            false,
            week(date) == week(&day(0)),
            date.first_of_month() == day(0).first_of_month(),
            date.year() == day(0).year(),
            true,
        ];
        has_like.map(|has_like| if has_like { 2 } else { 0 })
    };
    let removed = |sign: &str| {
        let text = |points: i32| match points {
            0 => "0".to_owned(),
            points => format!("{sign}{points}"),
        };
        let all = shares(&day(2)).into_iter().chain([0; 5]);
        all.map(text).collect::<Vec<_>>().join("/")
    };
    let adjusted = json!({"action": "adjust", "points": "-5", "mark": "adjust:x",
        "date": day(2).to_string(), "groups": "eu", "actor": ""});
    let moderated = |hidden, frozen, changed| {
        json!({"did": "moderate", "user": peer("a"), "hidden": hidden, "frozen": frozen,
            "reason": "Seen", "changed": changed, "actor": ""})
    };
    let expected = [
        entry("count", "a", "1"),
        with(
            with(entry("adjust", "a", "-"), adjusted.clone()),
            json!({"reason": "Bought", "at": milliseconds(&noon(2)), "dated": "1",
                "applied": removed("-")}),
        ),
        with(
            with(entry("undo", "a", "-"), adjusted),
            json!({"reason": "Not so", "points": "0", "applied": removed(""),
                "counted": milliseconds(&noon(2)), "gave": removed("-").split('/').next()}),
        ),
        moderated("1", "1", "hide freeze"),
        moderated("0", "0", "unhide unfreeze"),
        moderated("0", "1", "freeze"),
    ];
    assert_entries(&app, &expected).await;
}

#[tokio::test]
async fn journal_lists_each_profile_change_once() {
    let app = start_with(|worker| worker.var("JWT_SECRET", SECRET));
    let token = hs256(&claims_with(json!({"name": "Kim"})));
    let user = app.with_key(&token);
    for target in ["1", "2"] {
        user.counted(like("42", target)).await;
    }
    let ada = json!({"name": "Ada"});
    app.put("a", "", ada.clone()).await;
    app.put("a", "", ada.clone()).await;
    let hidden = json!({"name": "Ada", "hidden": true});
    app.put("a", "", hidden).await;
    let profiles = json!([
        {"id": peer("a"), "name": "Ada", "hidden": true},
        {"id": peer("b"), "name": "\"Bob\" ✓", "hidden": false},
        {"id": peer("a"), "hidden": false},
        {"id": peer("a")},
        {"id": peer("c"), "hidden": true},
        {"id": peer("c"), "name": "Cy", "hidden": false},
    ]);
    app.client.write("/v1/users", &profiles).await;

    let profile = |user: &str, profile: Value, hidden: &str| json!({"did": "profile", "user": peer(user), "json": profile.to_string(), "hidden": hidden});
    let opted_out = |user: &str, json: Value, hidden: &str| {
        with(profile(user, json, hidden), json!({"actor": ""}))
    };
    let expected = [
        entry("count", "42", "1"),
        profile("42", json!({"name": "Kim"}), ""),
        entry("count", "42", "2"),
        profile("a", ada.clone(), ""),
        opted_out("a", ada.clone(), "1"),
        // The last `hidden` of a user in the array wins. The user's first entry has it.
        opted_out("a", ada, "0"),
        profile("b", json!({"name": "\"Bob\" ✓"}), ""),
        profile("a", json!({}), ""),
        profile("c", json!({}), ""),
        profile("c", json!({"name": "Cy"}), ""),
    ];
    assert_entries(&app, &expected).await;
}

/// An entry has all pauses that are kept.
#[tokio::test]
async fn journal_lists_each_change_of_pauses_once() {
    let app = start();
    let (first, second) = (day(-3), day(-1));
    for from in [first, first, second] {
        let pause = json!({"from": from.to_string(), "until": from.to_string()});
        app.put("a", "/pause", pause).await;
    }
    let path = format!("/v1/users/{}/pause", peer("a"));
    for _ in 0..2 {
        app.client.delete(&path).await.assert_status(204);
    }
    let entry = |pauses: String| json!({"did": "pause", "user": peer("a"), "pauses": pauses, "day": day(0).to_string()});
    let expected = [
        entry(format!("{first}/{first}")),
        entry(format!("{second}/{second},{first}/{first}")),
        entry(String::new()),
    ];
    assert_entries(&app, &expected).await;
}

/// `skipped` lists the archived boards that an activity could not change, by index.
#[tokio::test]
async fn journal_entry_lists_skipped_archived_boards() {
    let mut app = start();
    let archived = app.store.key("a");
    for name in [format!("d:{}", day(9)), format!("d:{}:us", day(9))] {
        app.store.run::<i64>("SADD", &[&archived, &name]);
    }
    let fields = json!({"at": noon(9), "groups": ["eu", "us"]});
    app.send(with(like("a", "1"), fields)).await;
    let adjustment =
        json!({"id": "1", "points": 5, "reason": "r", "at": noon(9), "groups": ["us"]});
    app.adjust("a", &adjustment).await.assert_status(200);
    app.send(undo(like("a", "1"))).await;
    let entries = app.entries_after(0).await;
    let skipped: Vec<_> = entries.iter().map(|entry| &entry["skipped"]).collect();
    // Indexes 1 to 5 are global boards, 6 to 10 boards of the first group.
    assert_eq!(skipped, ["1,11", "1,6", "1,11"]);
    let applied: Vec<_> = entries.iter().map(|entry| &entry["applied"]).collect();
    let counted = "0/2/2/2/2/2/2/2/2/2/0/2/2/2/2";
    let adjusted = "0/5/5/5/5/0/5/5/5/5";
    let undone = "0/-2/-2/-2/-2/-2/-2/-2/-2/-2/0/-2/-2/-2/-2";
    assert_eq!(applied, [counted, adjusted, undone]);
}
