//! `GET /v1/users/{user}/points`: what changed a user's points.

use fastrand::Rng;
use test_support::{Value, depth, json};

use crate::app::TestApp;
use crate::bodies::{activity, dated, each, like, rows, undo, with};
use crate::client::Client;
use crate::clock::{ago, day, noon};
use crate::problem::{field_error, problem};
use crate::token::sign::{SECRET, claims, hs256};

const PATH: &str = "/v1/users/42/points";

fn start() -> TestApp {
    TestApp::with(|worker| worker.var("JWT_SECRET", SECRET).journal())
}

/// An entry of an activity with an `undone`.
fn entry(at: &str, action: &str, target: &str, points: i64, undone: bool) -> Value {
    json!({"at": at, "type": "activity", "action": action, "target": {"id": target}, "points": points,
        "undone": undone})
}

fn page(source: &str, entries: &[Value]) -> Value {
    json!({"user": {"id": "42"}, "source": source, "entries": entries, "next": null})
}

/// Returns the sum of what changed the all-time score.
async fn sum(app: &Client, user: &str) -> i64 {
    let entries = app
        .pages(&format!("/v1/users/{user}/points"), "before", 100)
        .await;
    let own = entries.iter().filter(|entry| entry["type"] != "received");
    own.map(|entry| entry["points"].as_i64().expect("points"))
        .sum()
}

#[tokio::test]
async fn journal_lists_every_change_newest_first() {
    let app = start();
    let [first, second, third, fourth] = [40, 30, 20, 10].map(ago);
    app.counted(dated(like("42", "p"), &*first)).await;
    app.outcome(dated(undo(like("42", "p")), &*second), "undone")
        .await;
    // Neither changes points.
    app.outcome(undo(like("42", "never")), "nothing-to-undo")
        .await;
    app.counted(dated(like("42", "p"), &*third)).await;
    app.outcome(dated(like("42", "p"), &*third), "duplicate")
        .await;
    app.counted(dated(activity("42", "visit", "/a"), &*fourth))
        .await;
    let fine = json!({"id": "case-17", "points": -9, "at": fourth, "reason": "Likes bought"});
    app.adjust("42", &fine).await.assert_status(200);
    let undone = with(
        entry(&second, "like", "p", -2, false),
        json!({"type": "undo"}),
    );
    let without_undone = |mut entry: Value| {
        entry.as_object_mut().expect("an object").remove("undone");
        entry
    };
    let expected = [
        // No more than the member had.
        json!({"at": fourth, "type": "adjustment", "points": -3, "undone": false}),
        entry(&fourth, "visit", "/a", 1, false),
        entry(&third, "like", "p", 2, false),
        without_undone(undone),
        entry(&first, "like", "p", 2, true),
    ];
    let response = app.get(PATH).await;
    response.assert(200, page("journal", &expected));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    for limit in [1, 2, 4, 5, 6] {
        assert_eq!(app.pages(PATH, "before", limit).await, expected, "{limit}");
    }
    let undo = json!({"id": "case-17", "undo": true, "reason": "Appeal"});
    app.adjust("42", &undo).await.assert_status(200);
    let entries = app.pages(PATH, "before", 30).await;
    assert_eq!(entries[0]["type"], "undo");
    let expected = (&json!(3), &json!(true));
    assert_eq!((&entries[0]["points"], &entries[1]["undone"]), expected);
    assert_eq!(sum(&app, "42").await, 3);
    app.erase("42").await;
    app.get(PATH).await.assert(200, page("journal", &[]));
}

/// The database bills every row that it reads. Half of 4,000 entries are of one member.
#[tokio::test]
async fn rows_read_follow_the_page() {
    let app = start();
    app.counted(like("42", "p")).await;
    app.get(PATH).await.assert_status(200);
    let sql = "WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000) \
        INSERT INTO journal (site, shard, id, user, entry) \
        SELECT site, shard, '9-' || i, iif(i % 2, '43', 'u' || i), \
        json_set(entry, '$.mark', 'like:' || i, '$.at', CAST((entry ->> '$.at') - i AS TEXT)) FROM journal, numbers";
    app.worker.sql(sql).await;
    let next = app.read("/v1/users/43/points?limit=1").await["next"].clone();
    let (at, _) = next
        .as_str()
        .and_then(|next| next.split_once('-'))
        .expect("a position");
    let at: i64 = at.parse().expect("an instant");
    let middle = format!("/v1/users/43/points?limit=10&before={}-1", at - 1000);
    let today = format!("/v1/users/43/points?limit=10&date={}", day(0));
    let empty = format!("/v1/users/43/points?limit=10&date={}", day(1));
    for (path, entries) in [
        (PATH, 1),
        ("/v1/users/43/points?limit=10", 10),
        (&middle, 10),
        (&today, 10),
        (&empty, 0),
        ("/v1/users/unknown/points", 0),
        ("/v1/journal?limit=10", 10),
        ("/v1/journal?limit=10&after=3000", 10),
    ] {
        let before = app.worker.sent().await.rows_read;
        let page = app.read(path).await;
        let expected = Some(entries);
        assert_eq!(page["entries"].as_array().map(Vec::len), expected, "{path}");
        let read = app.worker.sent().await.rows_read - before;
        assert!(read <= 2 * entries as u64 + 3, "{path}: {read} rows");
    }
}

/// Changes are in the order in which they happened: an import appends earlier ones.
#[tokio::test]
async fn changes_of_an_import_are_sorted_by_time() {
    let app = start();
    let order = [1, 5, 3, 0, 40, 2];
    for back in order {
        let body = dated(like("42", &format!("p{back}")), noon(back));
        app.counted(body).await;
    }
    let mut sorted = order;
    sorted.sort_unstable();
    let expected: Vec<Value> = sorted
        .iter()
        .map(|back| entry(&noon(*back), "like", &format!("p{back}"), 2, false))
        .collect();
    for limit in [1, 2, 4, 6, 7] {
        assert_eq!(app.pages(PATH, "before", limit).await, expected, "{limit}");
    }
}

/// A day is one of the time zone of the deployment, with a journal and without one.
#[tokio::test]
async fn date_selects_the_changes_of_a_day() {
    let without_journal = TestApp::with(|worker| worker.var("JWT_SECRET", SECRET));
    for (app, source) in [(start(), "journal"), (without_journal, "records")] {
        for (back, target) in [(0, "a"), (2, "b"), (2, "c"), (3, "d")] {
            app.counted(dated(like("42", target), noon(back))).await;
        }
        let path = |back| format!("{PATH}?date={}", day(back));
        let liked = |back, target| entry(&noon(back), "like", target, 2, false);
        let both = [liked(2, "c"), liked(2, "b")];
        app.assert_get(&path(0), page(source, &[liked(0, "a")]))
            .await;
        app.assert_get(&path(1), page(source, &[])).await;
        app.assert_get(&path(2), page(source, &both)).await;
        app.assert_get(&path(3), page(source, &[liked(3, "d")]))
            .await;
        assert_eq!(app.pages(&path(2), "before", 1).await, both);
    }
}

#[tokio::test]
async fn records_list_what_still_counts() {
    let app =
        TestApp::with(|worker| worker.json("RULES", json!({"wave": {"points": 1, "cooldown": 1}})));
    let [first, second, third] = [noon(3), noon(2), noon(1)];
    app.counted(dated(like("42", "a"), &*first)).await;
    app.counted(dated(like("42", "gone"), &*first)).await;
    app.counted(dated(activity("42", "wave", "w:1"), &*second))
        .await;
    app.counted(dated(like("42", "b"), &*second)).await;
    let gift = json!({"id": "case-17", "points": 5, "at": third, "reason": "A gift"});
    app.adjust("42", &gift).await.assert_status(200);
    app.outcome(undo(like("42", "gone")), "undone").await;
    let expected = [
        json!({"at": third, "type": "adjustment", "points": 5, "undone": false}),
        entry(&second, "wave", "w:1", 1, false),
        entry(&second, "like", "b", 2, false),
        entry(&first, "like", "a", 2, false),
    ];
    app.assert_get(PATH, page("records", &expected)).await;
    for limit in [1, 2, 3, 4] {
        assert_eq!(app.pages(PATH, "before", limit).await, expected, "{limit}");
    }
    app.assert_get("/v1/users/unknown/points", {
        let mut empty = page("records", &[]);
        empty["user"]["id"] = json!("unknown");
        empty
    })
    .await;
}

/// Targets have their titles, and an author sees for which target points were received, also after its deletion.
#[tokio::test]
async fn entries_name_registered_targets() {
    let app = TestApp::with(|worker| worker.var("CONTENT_PERIODS", "all").journal());
    let registered = json!({"author": "9", "title": "A title", "url": "https://example.com/7"});
    app.write("/v1/targets/post-7", &registered).await;
    let at = ago(20);
    app.counted(dated(like("42", "post-7"), &*at)).await;
    app.worker.minute().await;
    app.counted(activity("42", "follow", "9")).await;
    app.worker.minute().await;
    let liked = entry(&at, "like", "post-7", 2, false);
    let mut titled = liked;
    titled["target"]["title"] = json!("A title");
    titled["target"]["url"] = json!("https://example.com/7");
    assert_eq!(app.read(PATH).await["entries"][1], titled);
    app.delete("/v1/targets/post-7").await.assert_status(204);
    app.outcome(undo(like("42", "post-7")), "undone").await;
    app.worker.minute().await;
    let received = &app.read("/v1/users/9/points").await["entries"];
    let received = rows(received, ["/type", "/points", "/target/id"]);
    let expected = json!([["received", 2, null], ["received", 2, "post-7"]]);
    assert_eq!(received, expected);
    // The undo took nothing from the author of a deleted target.
    assert_eq!(app.read("/v1/authors/all/users/9").await["score"], 4);
}

/// One activity with many collisions.
fn random_activity(random: &mut Rng, users: u64) -> Value {
    let actions = [
        "visit", "like", "bookmark", "comment", "follow", "publish", "wave",
    ];
    let action = actions[random.usize(..actions.len())];
    let target = format!("/{}", random.u32(..12));
    let mut body = activity(&format!("r{}", random.u64(..users)), action, &target);
    if action != "visit" && random.u32(..5) == 0 {
        body = undo(body);
    }
    if random.u32(..3) == 0 {
        let group = ["eu", "us"][random.usize(..2)];
        body["groups"] = json!([group]);
    }
    if random.u32(..3) == 0 {
        body = dated(body, noon(random.i64(0..40)));
    }
    body
}

/// The reason of an adjustment, and of its undo, is for moderators unless it is sent as public.
#[tokio::test]
async fn public_reason_is_shown_to_the_member() {
    let app = start();
    app.count("42", "like", "a").await;
    let [first, second] = [20, 10].map(ago);
    for (id, at, public) in [("secret", &first, false), ("prize", &second, true)] {
        let adjustment = json!({"id": id, "points": 5, "at": at, "reason": "Thank you",
            "public_reason": public});
        app.adjust("42", &adjustment).await.assert_status(200);
    }
    let undo = json!({"id": "secret", "undo": true, "reason": "Sent twice", "public_reason": true});
    app.adjust("42", &undo).await.assert_status(200);
    let body = app.read(PATH).await;
    let mut found = rows(&body["entries"], ["/action", "/reason"]);
    found
        .as_array_mut()
        .expect("rows")
        .retain(|row| row[0] != "like");
    let expected = [json!("Sent twice"), json!("Thank you"), Value::Null];
    assert_eq!(each(&found, "/1"), expected);
    let invalid = json!({"id": "x", "points": 5, "reason": "A test", "public_reason": "yes"});
    let response = app.adjust("42", &invalid).await;
    let detail = "must be true or false";
    response.assert(400, field_error("public_reason", detail).body());
}

/// The reason of a moderator who hides or freezes is for moderators, too, unless it is sent as public.
#[tokio::test]
async fn public_reason_of_state_is_shown_to_the_member() {
    let app = start();
    app.count("42", "like", "a").await;
    let member = app.with_key(&hs256(&claims("42")));
    let moderate = async |hidden: bool, frozen: bool, public: bool| {
        let body =
            json!({"hidden": hidden, "frozen": frozen, "reason": "Spam", "public_reason": public});
        app.write("/v1/users/42/moderation", &body).await;
    };
    let shown = async || member.read(PATH).await["moderation"].clone();
    assert_eq!(shown().await, Value::Null);
    moderate(true, false, true).await;
    let hidden = json!({"hidden": true, "frozen": false, "reason": "Spam"});
    assert_eq!(shown().await, hidden);
    moderate(true, true, true).await;
    let frozen = json!({"hidden": true, "frozen": true, "reason": "Spam"});
    assert_eq!(shown().await, frozen);
    let detail = "This user is frozen: their activity is not counted.";
    let explained = problem("forbidden", format!("{detail} Reason: Spam"));
    let refused = member.send_activity(activity("42", "visit", "/")).await;
    refused.assert(403, explained.clone());
    let visits = ["/", "/a"].map(|path| activity("42", "visit", path));
    let refused = member.send_activity(json!(visits)).await;
    let results = json!({"results": [{"error": explained.clone()}, {"error": explained}]});
    refused.assert(200, results);
    // Services read it in the audit log.
    let refused = app.send_activity(activity("42", "visit", "/")).await;
    refused.assert(403, problem("forbidden", detail));
    moderate(false, true, false).await;
    assert_eq!(shown().await, Value::Null);
    let refused = member.send_activity(activity("42", "visit", "/")).await;
    refused.assert(403, problem("forbidden", detail));
    moderate(false, false, true).await;
    assert_eq!(shown().await, Value::Null);
}

/// A service says that a post is deleted; the member reads it at the points that were taken back.
#[tokio::test]
async fn undo_says_that_source_is_gone() {
    let app = start();
    for target in ["deleted", "unliked"] {
        app.count("42", "like", target).await;
    }
    let gone = with(undo(like("42", "deleted")), json!({"source_gone": true}));
    app.outcome(gone.clone(), "undone").await;
    app.outcome(undo(like("42", "unliked")), "undone").await;
    app.count("42", "comment", "withdrawn").await;
    let of_members =
        json!({"action": "comment", "target": "withdrawn", "undo": true, "source_gone": true});
    app.send_activity(of_members).await.assert_status(200);
    let body = app.read(PATH).await;
    let mut found = rows(&body["entries"], ["/type", "/target/id", "/source_gone"]);
    let undos = found.as_array_mut().expect("rows");
    undos.retain(|row| row[0] == "undo");
    undos.sort_by_key(Value::to_string);
    let expected = json!([
        ["undo", "deleted", true],
        ["undo", "unliked", null],
        ["undo", "withdrawn", true]
    ]);
    assert_eq!(found, expected, "{body}");
    let member = app.with_key(&hs256(&claims("42")));
    let forbidden = problem("forbidden", "Only trusted services may send `source_gone`.");
    member.send_activity(gone).await.assert(403, forbidden);
    let activity = with(like("42", "x"), json!({"source_gone": true}));
    let detail = "is only allowed in an undo";
    let invalid = field_error("source_gone", detail).body();
    app.send_activity(activity).await.assert(400, invalid);
}

/// The entries add up to the score, whatever was counted, capped, undone, adjusted, imported or erased.
#[tokio::test]
async fn entries_add_up_to_all_time_score() {
    let (rounds, users) = depth((4, 50), (16, 200));
    let rules =
        json!({"like": {"daily_cap": 4}, "comment": {"cooldown": 3600}, "wave": {"points": 1}});
    let app = TestApp::with(|worker| worker.json("RULES", rules).journal());
    let mut random = Rng::with_seed(7);
    for round in 0..rounds {
        let items = (0..500).map(|_| random_activity(&mut random, users));
        let items: Vec<Value> = items.collect();
        app.send_activity(json!(items)).await.assert_status(200);
        for number in 0..20 {
            let user = format!("r{}", random.u64(..users));
            if number == 0 {
                app.erase(&user).await;
                continue;
            }
            let id = format!("case-{round}-{number}");
            let points = [-20, -5, -1, 3, 8][random.usize(..5)];
            let at = noon(random.i64(0..40));
            let body = json!({"id": id, "points": points, "at": at, "reason": "A test"});
            app.adjust(&user, &body).await.assert_status(200);
            if random.bool() {
                let body = json!({"id": id, "undo": true, "reason": "A test"});
                app.adjust(&user, &body).await.assert_status(200);
            }
        }
    }
    let mut total = 0;
    for user in (0..users).map(|user| format!("r{user}")) {
        let standing = app.read(&format!("/v1/ranking/all/users/{user}")).await;
        assert_eq!(json!(sum(&app, &user).await), standing["score"], "{user}");
        total += standing["score"].as_i64().expect("a score");
    }
    assert!(total > 600 * rounds, "{total}");
}
