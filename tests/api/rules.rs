//! `/v1/rules`: versions of the rules that hold from an instant.

use futures::future::join_all;
use jiff::{Timestamp, ToSpan, Unit};
use test_support::{Fault, Forwarder, Recorded, SERVICE_KEY, Value, WorkerBuilder, json};

use crate::app::TestApp;
use crate::bodies::{activity, dated, like, with};
use crate::client::Client;
use crate::events::Event;
use crate::problem::{Problem, assert_problem, columns, problem};
use crate::store::Store;

/// Milliseconds from the publication of a version to the earliest instant from which it may hold.
const LEAD: i64 = 75_000;

/// Returns the instant some seconds from now, in full seconds.
fn seconds_ahead(seconds: i64) -> Timestamp {
    let now = Timestamp::now().round(Unit::Second).expect("an instant");
    now + seconds.seconds()
}

fn start() -> TestApp {
    TestApp::with(configured)
}

fn configured(worker: WorkerBuilder) -> WorkerBuilder {
    worker.var("BOARD_MAX_AGE", "0").var(
        "SERVICE_KEYS",
        &format!("ops@activity+content+admin:{SERVICE_KEY}"),
    )
}

/// Returns a Worker over the data of another one whose clock is some seconds ahead of that one's.
fn later(app: &TestApp, seconds: i64) -> TestApp {
    let prefix = app.prefix();
    TestApp::with(|worker| {
        configured(worker)
            .var("PREFIX", prefix)
            .ahead(seconds * 1000)
    })
}

fn publication(rules: Value) -> Value {
    json!({"rules": rules, "reason": "Likes were too cheap"})
}

/// Publishes rules from an instant.
async fn publish(app: &Client, from: Timestamp, rules: Value) -> Value {
    let body = with(publication(rules), json!({"from": from.to_string()}));
    let response = app.post("/v1/rules", &body).await;
    response.assert_status(200);
    response.body
}

fn change(action: &str, field: &str, before: impl Into<Value>, after: impl Into<Value>) -> Value {
    let (before, after) = (before.into(), after.into());
    json!({"action": action, "field": field, "before": before, "after": after})
}

async fn versions(app: &Client) -> Vec<Value> {
    let list = app.read("/v1/rules").await;
    list["versions"].as_array().expect("versions").clone()
}

fn conflict(detail: &str) -> Value {
    Problem::new("rules-conflict", detail).body()
}

#[tokio::test]
async fn rules_are_those_of_the_configuration_at_first() {
    let app = start();
    let configured = app.read("/healthz").await["configured"]["rules"].clone();
    let expected = json!({"rules": configured, "locked": false, "versions": []});
    app.assert_get("/v1/rules", expected).await;
}

#[tokio::test]
async fn each_field_is_changed_and_caps_are_removed() {
    let rules = json!({"like": {"daily_cap": 4, "cooldown": 60}});
    let app = TestApp::with(|worker| configured(worker).json("RULES", rules));
    let from = seconds_ahead(90);
    let rules = json!({"like": {"points": 3, "daily_cap": null, "member_cap": null, "cooldown": null},
        "bookmark": {"cooldown": 10, "received": 0, "member_cap": 7, "daily_cap": 6}});
    let version = publish(&app, from, rules).await;
    let expected = json!([
        change("bookmark", "daily_cap", Value::Null, 6),
        change("bookmark", "member_cap", 100, 7),
        change("bookmark", "cooldown", Value::Null, 10),
        change("bookmark", "received", 2, 0),
        change("like", "points", 2, 3),
        change("like", "daily_cap", 4, Value::Null),
        change("like", "member_cap", 100, Value::Null),
        change("like", "cooldown", 60, Value::Null),
    ]);
    assert_eq!(version["changes"], expected);
    let prefix = app.prefix();
    let rules = json!({"like": {"daily_cap": 4, "cooldown": 60}});
    let later = TestApp::with(|worker| {
        let worker = configured(worker).var("PREFIX", prefix).ahead(120_000);
        worker.json("RULES", rules)
    });
    for target in ["a", "b", "c"] {
        later.counted(like("42", target)).await;
    }
    let bookmark = |target| activity("42", "bookmark", target);
    later.counted(bookmark("a")).await;
    let capped = later.outcome(bookmark("b"), "capped").await;
    assert_eq!(capped["reason"], "cooldown");
    let list = later.read("/v1/rules").await;
    let like = json!({"points": 3, "once": "standing", "undo": true, "by": "user", "received": 2, "own": false});
    assert_eq!(list["rules"]["like"], like);
}

#[tokio::test]
async fn version_without_instant_holds_early() {
    let app = start();
    let body = publication(json!({"like": {"points": 3}}));
    let before = Timestamp::now().as_millisecond();
    let response = app.post("/v1/rules", &body).await;
    let after = Timestamp::now().as_millisecond();
    let from = response.body["from"].as_str().expect("an instant");
    let from: Timestamp = from.parse().expect("an instant");
    let range = before + LEAD..=after + LEAD + 999;
    assert!(range.contains(&from.as_millisecond()), "{from}");
    let expected = json!({
        "version": 1, "from": from.to_string(), "state": "coming", "changes": [change("like", "points", 2, 3)],
        "reason": "Likes were too cheap", "public_reason": false,
        "published_at": response.body["published_at"], "actor": {"key": "ops"},
    });
    response.assert(200, expected);
}

#[tokio::test]
async fn private_reason_is_for_operators_alone() {
    let app = start();
    let from = seconds_ahead(90);
    publish(&app, from, json!({"like": {"points": 3}})).await;
    let body = with(
        publication(json!({"comment": {"points": 4}})),
        json!({"public_reason": true}),
    );
    app.post("/v1/rules", &body).await.assert_status(200);
    let reasons = |versions: Vec<Value>| {
        let shown = versions.into_iter();
        let shown = shown.map(|version| (version["reason"].clone(), version["actor"].clone()));
        shown.collect::<Vec<_>>()
    };
    let reason = json!("Likes were too cheap");
    let actor = json!({"key": "ops"});
    let expected = [(reason.clone(), actor.clone()), (reason.clone(), actor)];
    assert_eq!(reasons(versions(&app).await), expected);
    let expected = [(reason, Value::Null), (Value::Null, Value::Null)];
    assert_eq!(reasons(versions(&app.without_key()).await), expected);
}

/// Each is answered as a version of its own, which stays, or as a conflict, and reaches all shards or none.
#[tokio::test]
async fn publications_at_once_are_kept_or_refused() {
    let app = TestApp::with(|worker| configured(worker).json("SHARDS", json!(3)));
    let bodies = (3..15).map(|points| publication(json!({"like": {"points": points}})));
    let bodies: Vec<_> = bodies.collect();
    let responses = join_all(bodies.iter().map(|body| app.post("/v1/rules", body))).await;
    let mut published = 0;
    let listed = versions(&app).await;
    for response in responses {
        if response.status == 200 {
            published += 1;
            assert!(listed.contains(&response.body), "{}", response.text);
        } else {
            let detail =
                "Other requests changed the definitions at the same time: send the request again.";
            response.assert(409, conflict(detail));
        }
    }
    assert_eq!(listed.len(), published);
    let found = definitions(app.store());
    assert!(are_equal(&found), "{found:?}");
    assert_eq!(found[0].matches("\n#").count(), published);
}

#[tokio::test]
async fn repeated_publication_is_one_version() {
    let app = start();
    let from = seconds_ahead(200);
    for rules in [
        json!({"like": {"points": 3}}),
        json!({"like": {"points": 4}}),
    ] {
        let first = publish(&app, from, rules.clone()).await;
        assert_eq!(publish(&app, from, rules).await, first);
    }
    assert_eq!(versions(&app).await.len(), 2);
    let body = publication(json!({"like": {"points": 5}}));
    for _ in 0..2 {
        let response = app.post("/v1/rules", &body).await;
        assert_eq!(response.body["version"], 3);
    }
}

/// The second version is taken back before its instant, the first one after it. A repeated request adds no entry.
#[tokio::test]
async fn audit_log_has_each_version_once() {
    let app = start();
    let first = seconds_ahead(80);
    for _ in 0..2 {
        publish(&app, first, json!({"like": {"points": 3}})).await;
    }
    publish(&app, seconds_ahead(300), json!({"like": {"points": 4}})).await;
    for _ in 0..2 {
        let removed = app.delete("/v1/rules/2?reason=A+mistake").await;
        assert_eq!(removed.body["state"], "removed");
    }
    let later = later(&app, 120);
    for _ in 0..2 {
        let ended = later.delete("/v1/rules/1?reason=Too+much").await;
        assert_eq!(ended.body["takes_back"], 1);
    }
    let mut log = app.read("/v1/moderation").await;
    for entry in log["entries"].as_array_mut().expect("entries") {
        let entry = entry.as_object_mut().expect("an entry");
        assert!(entry.remove("id").is_some() && entry.remove("at").is_some());
    }
    let entry = |action: &str, version: u32, reason: &str| json!({"action": action, "actor": {"key": "ops"}, "user": null, "reason": reason, "version": version});
    let expected = json!([
        entry("take-back-rules", 1, "Too much"),
        entry("take-back-rules", 2, "A mistake"),
        entry("publish-rules", 2, "Likes were too cheap"),
        entry("publish-rules", 1, "Likes were too cheap"),
    ]);
    assert_eq!(log, json!({"entries": expected, "next": null}));
}

#[tokio::test]
async fn coming_version_is_removed_when_taken_back() {
    let app = start();
    let from = seconds_ahead(200);
    publish(&app, from, json!({"like": {"points": 3}})).await;
    for _ in 0..2 {
        let response = app.delete("/v1/rules/1?reason=A+mistake").await;
        response.assert_status(200);
        assert_eq!(response.body["state"], "removed");
    }
    let later = later(&app, 250);
    let counted = later.counted(like("42", "a")).await;
    assert_eq!(counted["points"], 2);
    let next = publish(&app, from, json!({"like": {"points": 4}})).await;
    let expected = (&json!(2), &json!([change("like", "points", 2, 4)]));
    assert_eq!((&next["version"], &next["changes"]), expected);
    let counted = later.counted(like("42", "b")).await;
    assert_eq!(counted["points"], 4);
}

/// The third version changes another field, and holds on.
#[tokio::test]
async fn version_in_force_is_taken_back_by_a_new_one() {
    let app = start();
    publish(&app, seconds_ahead(80), json!({"like": {"points": 3}})).await;
    publish(
        &app,
        seconds_ahead(81),
        json!({"like": {"points": 9}, "comment": {"points": 7}}),
    )
    .await;
    publish(
        &app,
        seconds_ahead(82),
        json!({"comment": {"daily_cap": 50}}),
    )
    .await;
    let second = later(&app, 120);
    let counted = second.counted(like("42", "a")).await;
    assert_eq!(counted["points"], 9);
    for _ in 0..2 {
        let path = "/v1/rules/2?reason=A+mistake&public_reason=true";
        let response = second.delete(path).await;
        let version = &response.assert_status(200).body;
        let expected = (&json!(4), &json!(2));
        assert_eq!((&version["version"], &version["takes_back"]), expected);
        let expected = json!([
            change("comment", "points", 7, 3),
            change("like", "points", 9, 3)
        ]);
        assert_eq!(version["changes"], expected);
    }
    let counted = second.counted(like("42", "b")).await;
    assert_eq!(counted["points"], 9, "not yet");
    let third = later(&app, 240);
    let counted = third.counted(like("42", "c")).await;
    assert_eq!(counted["points"], 3);
    let list = third.read("/v1/rules").await;
    assert_eq!(list["rules"]["comment"]["points"], 3);
    assert_eq!(list["rules"]["comment"]["daily_cap"], 50);
    let states = versions(&third).await;
    let states: Vec<&Value> = states.iter().map(|version| &version["state"]).collect();
    assert_eq!(states, ["in-force", "in-force", "taken-back", "in-force"]);
    let missing = problem("not-found", "There is no version 9 of the rules.");
    let response = third.delete("/v1/rules/9?reason=x").await;
    response.assert(404, missing);
}

#[tokio::test]
async fn taken_back_take_back_restores_the_version() {
    let app = start();
    publish(&app, seconds_ahead(80), json!({"like": {"points": 3}})).await;
    let second = later(&app, 120);
    let response = second.delete("/v1/rules/1?reason=x").await;
    response.assert_status(200);
    let third = later(&app, 240);
    let counted = third.counted(like("42", "a")).await;
    assert_eq!(counted["points"], 2);
    let response = third.delete("/v1/rules/2?reason=x").await;
    let expected = json!([change("like", "points", 2, 3)]);
    assert_eq!(response.body["changes"], expected);
    let counted = later(&app, 400).counted(like("42", "b")).await;
    assert_eq!(counted["points"], 3);
}

/// A change of a publication, the invalid field and its error.
const INVALID: &str = r#"
    {"from":"2030-01-01"}                       from                 must be an RFC 3339 date and time with an offset such as 2026-11-20T08:00:00Z
    {"from":"2900-01-01T00:00:00Z"}             from                 must be 75 seconds to 366 days ahead; without it, the rules hold from the earliest instant
    {"rules":{}}                                rules                must be an object of one action or more with their changes
    {"rules":{"sing":{"points":1}}}             rules/sing           must be one of bookmark, comment, follow, like, publish, visit
    {"rules":{"like":{"pair_cap":4}}}           rules/like/pair_cap  needs boards of content: CONTENT_PERIODS is not set
    {"rules":{"like":{}}}                       rules/like           must be an object of one field or more
    {"rules":{"like":3}}                        rules/like           must be an object of one field or more
    {"rules":{"like":{"once":"day"}}}           rules/like/once      cannot be published; expected one of points, daily_cap, member_cap, pair_cap, cooldown, received
    {"rules":{"like":{"points":0}}}             rules/like/points    must be above 0 and at most 8388607
    {"rules":{"like":{"points":null}}}          rules/like/points    must be a number
    {"rules":{"like":{"points":0.5}}}           rules/like/points    is finer than POINT_DECIMALS = 0 allows
    {"rules":{"like":{"cooldown":0}}}           rules/like/cooldown  must be whole seconds, 1 to 31536000
    {"rules":{"like":{"received":-1}}}          rules/like/received  must be 0 or more and at most 8388607
    {"reason":""}                               reason               must be 1 to 500 characters
    {"public_reason":1}                         public_reason        must be true or false
    {"note":1}                                  note                 is unknown; expected one of from, rules, reason, public_reason
"#;

#[tokio::test]
async fn invalid_publications_are_refused() {
    let app = start();
    let from = "must be 75 seconds to 366 days ahead; without it, the rules hold from the earliest instant";
    let early = [60, -60].map(|ahead| json!({"from": seconds_ahead(ahead).to_string()}));
    let early = early.into_iter().map(|change| (change, "from", from));
    let rows = columns(INVALID).map(|[change, pointer, detail]| {
        (serde_json::from_str(change).expect("JSON"), pointer, detail)
    });
    for (change, pointer, detail) in early.chain(rows) {
        let body = with(publication(json!({"like": {"points": 3}})), change);
        let expected = Problem::with_error("invalid-request", pointer, detail).body();
        app.post("/v1/rules", &body).await.assert(400, expected);
    }
    let refused = app.delete("/v1/rules/a?reason=x").await;
    assert_problem(&refused, "invalid-request");
    let refused = app.delete("/v1/rules/1").await;
    assert_problem(&refused, "invalid-request");
    assert_eq!(versions(&app).await, [] as [Value; 0]);
}

#[tokio::test]
async fn locked_rules_are_not_published() {
    let app = TestApp::with(|worker| configured(worker).json("RULES_LOCKED", json!(true)));
    let detail = "RULES_LOCKED is true: the rules of this deployment change only in RULES.";
    let body = publication(json!({"like": {"points": 3}}));
    let response = app.post("/v1/rules", &body).await;
    response.assert(409, conflict(detail));
    let refused = app.delete("/v1/rules/1?reason=x").await;
    refused.assert(409, conflict(detail));
    assert_eq!(app.read("/v1/rules").await["locked"], true);
}

/// Points that others receive only by a version: the receivers were not read before.
#[tokio::test]
async fn version_lets_targets_receive_points() {
    for shards in [1, 4] {
        let rules = json!({"like": {"received": 0}, "wave": {"points": 1, "received": 0}});
        let with_content = |worker: WorkerBuilder| {
            let worker = configured(worker).var("CONTENT_PERIODS", "all");
            worker
                .json("SHARDS", json!(shards))
                .json("RULES", rules.clone())
        };
        let app = TestApp::with(with_content);
        let prefix = app.prefix();
        let later = TestApp::with(|worker| {
            with_content(worker)
                .var("PREFIX", prefix)
                .ahead(120_000)
                .cron()
        });
        let registration = json!({"author": "ada", "title": "Post"});
        app.write("/v1/targets/post", &registration).await;
        // The Worker learns the definitions by its first call after the publication, which is this one's second attempt.
        later.counted(activity("42", "wave", "post")).await;
        let rules = json!({"like": {"received": 4}, "wave": {"received": 7}});
        publish(&app, seconds_ahead(80), rules).await;
        let array = json!([like("43", "post"), activity("44", "wave", "post")]);
        later.send_activity(array).await.assert_status(200);
        later.minute().await;
        let board = later.read("/v1/content/all").await;
        assert_eq!(board["entries"][0]["score"], 11, "{shards} shards");
        let authors = later.read("/v1/authors/all").await;
        assert_eq!(authors["entries"][0]["score"], 11, "{shards} shards");
    }
}

/// Loses the requests that bring the other shards up to date.
fn lose_updates(forwarder: &Forwarder) {
    let updates = |request: &Recorded| {
        let commands = request.commands();
        commands.iter().any(|command| command.contains(&json!("*")))
    };
    forwarder.fail(move |request| updates(request).then_some(Fault::CutBefore));
}

/// Returns the definitions of three shards.
fn definitions(mut store: Store) -> [String; 3] {
    [0, 1, 2].map(|shard| {
        let users = store.key_on(shard, "p");
        store.run::<String>("HGET", &[&users, "\t!"])
    })
}

fn are_equal([first, second, third]: &[String; 3]) -> bool {
    first == second && second == third
}

/// The request to the other shards is lost: the same publication again completes the version.
#[tokio::test]
async fn repeated_publication_completes_all_shards() {
    let (app, forwarder) =
        TestApp::behind_forwarder(|worker| configured(worker).json("SHARDS", json!(3)));
    let from = seconds_ahead(200);
    publish(&app, from, json!({"comment": {"points": 4}})).await;
    lose_updates(&forwarder);
    let body = with(
        publication(json!({"like": {"points": 3}})),
        json!({"from": from.to_string()}),
    );
    let failed = app.post("/v1/rules", &body).await;
    assert_problem(&failed, "store-unavailable");
    assert!(!are_equal(&definitions(app.store())));
    forwarder.heal();
    let repeated = app.post("/v1/rules", &body).await;
    repeated.assert_status(200);
    assert_eq!(repeated.body["version"], 2);
    let found = definitions(app.store());
    assert!(are_equal(&found), "{found:?}");
    assert_eq!(versions(&app).await.len(), 2);
}

/// The publication is not sent again. Versions hold from more than a minute after it.
#[tokio::test]
async fn cron_completes_lost_publication() {
    let (app, forwarder) =
        TestApp::behind_forwarder(|worker| configured(worker).cron().json("SHARDS", json!(3)));
    let from = seconds_ahead(200);
    publish(&app, from, json!({"comment": {"points": 4}})).await;
    lose_updates(&forwarder);
    let body = publication(json!({"like": {"points": 3}}));
    let failed = app.post("/v1/rules", &body).await;
    assert_problem(&failed, "store-unavailable");
    assert!(!are_equal(&definitions(app.store())));
    forwarder.heal();
    app.minute().await;
    let found = definitions(app.store());
    assert!(are_equal(&found), "{found:?}");
}

/// The requests are not sent again. The board of the deleted event goes with it on every shard, that of the other one stays.
#[tokio::test]
async fn cron_completes_lost_changes_of_events() {
    let (app, forwarder) =
        TestApp::behind_forwarder(|worker| configured(worker).cron().json("SHARDS", json!(3)));
    let [deleted, changed] = ["deleted", "changed"].map(Event::new);
    for event in [&deleted, &changed] {
        event.put(&app).await;
    }
    let users: Vec<String> = (0..12).map(|number| format!("user-{number}")).collect();
    for user in &users {
        app.counted(dated(like(user, "1"), deleted.at(0))).await;
    }
    lose_updates(&forwarder);
    let failed = app.delete(&deleted.path()).await;
    assert_problem(&failed, "store-unavailable");
    let renamed = with(changed.body(), json!({"title": "New", "groups": ["eu"]}));
    let failed = app.put(&changed.path(), &renamed).await;
    assert_problem(&failed, "store-unavailable");
    assert!(!are_equal(&definitions(app.store())));
    forwarder.heal();
    app.minute().await;
    let found = definitions(app.store());
    assert!(are_equal(&found), "{found:?}");
    let mut store = app.store();
    let keys = store.full_keys();
    let boards = |event: &str| keys.iter().filter(|key| key.ends_with(event)).count();
    assert_eq!([boards("bE::deleted"), boards("bE::changed")], [0, 3]);
}
