//! A store that refuses writes in the middle of a script: Redis does not roll the others back.

use std::collections::BTreeMap;

use test_support::{Answer, Fault, Forwarder, Refusal, Value, json, peer, until};

use crate::app::TestApp;
use crate::bodies::{activity, dated, like, undo, with};
use crate::client::Client;
use crate::clock::noon;
use crate::store::{FINGERPRINT, Snapshot, Store};
use crate::token::sign::{SECRET, claims_with, hs256};

/// A write after others of the same user.
struct Case {
    name: &'static str,
    before: Vec<Value>,
    request: Request,
    /// The outcomes of the request.
    expected: Vec<String>,
    /// More writes than its script makes.
    most: usize,
}

/// A body without its user.
#[derive(Clone)]
enum Request {
    Activity(Value),
    Adjustment(Value),
}

/// The effects of a request: standings by board, the history, outcomes, and changes in the outbox.
type Effects = (Value, Value, Vec<String>, Vec<String>);

fn user() -> String {
    peer("ada")
}

impl Request {
    async fn send(&self, client: &Client) -> Answer {
        match self {
            Self::Activity(body) => client.send_activity(body.clone()).await,
            Self::Adjustment(body) => client.adjust(&user(), body).await,
        }
    }
}

fn outcomes(body: &Value) -> Vec<String> {
    let results = body["results"].as_array().cloned();
    let results = results.unwrap_or_else(|| vec![body.clone()]);
    let outcome = |result: &Value| match result["outcome"].as_str() {
        Some(outcome) => outcome.to_owned(),
        None => panic!("{result}"),
    };
    results.iter().map(outcome).collect()
}

fn cases() -> Vec<Case> {
    let user = user();
    let visit = || activity(&user, "visit", "/a");
    let group = json!({"groups": ["eu"]});
    let points = |points: i32| json!({"id": "case-17", "points": points, "reason": "A test"});
    let case = |name, before: &[Value], request, expected: &[&'static str], most| Case {
        name,
        before: before.to_vec(),
        request,
        expected: expected
            .iter()
            .map(|outcome| (*outcome).to_owned())
            .collect(),
        most,
    };
    let earlier = [like(&user, "p"), visit(), like(&peer("bea"), "p")];
    let array = json!([
        like(&user, "q"),
        undo(like(&user, "q")),
        with(like(&peer("bea"), "q"), group.clone()),
        visit(),
        like(&user, "q"),
        undo(like(&user, "p")),
    ]);
    let all = [
        "counted",
        "undone",
        "counted",
        "duplicate",
        "counted",
        "undone",
    ];
    use Request::{Activity, Adjustment};
    let sent = |name, body, expected, most| case(name, &earlier, Activity(body), &[expected], most);
    let (first, only) = (Activity(like(&user, "q")), Activity(undo(like(&user, "p"))));
    let grouped = with(activity(&user, "visit", "/b"), group);
    vec![
        case("first like", &[], first, &["counted"], 40),
        sent("like", like(&user, "q"), "counted", 20),
        sent("visit in a group", grouped, "counted", 40),
        sent(
            "dated like",
            dated(like(&user, "q"), noon(3)),
            "counted",
            30,
        ),
        sent("undo", undo(like(&user, "p")), "undone", 20),
        case("only like undone", &earlier[..1], only, &["undone"], 20),
        sent(
            "nothing to undo",
            undo(like(&user, "q")),
            "nothing-to-undo",
            8,
        ),
        case("array", &earlier, Activity(array), &all, 90),
        case(
            "adjustment",
            &earlier,
            Adjustment(points(5)),
            &["counted"],
            26,
        ),
        case(
            "deduction",
            &earlier,
            Adjustment(points(-2)),
            &["counted"],
            26,
        ),
    ]
}

async fn effects(client: &Client, store: &mut Store, outcomes: Vec<String>) -> Effects {
    let user = user();
    let standings = client.read(&format!("/v1/users/{user}/standings")).await;
    let history = client.read(&format!("/v1/users/{user}/activity")).await;
    let outbox = store.key_of(&user, "o");
    let entries: Vec<(String, Vec<String>)> = store.run("XRANGE", &[&outbox, "-", "+"]);
    let field = |fields: &[String], name: &str| {
        let mut pairs = fields.chunks(2);
        let pair = pairs.find(|pair| pair[0] == name).expect("a field");
        pair[1].clone()
    };
    let change = |(_, fields): &(String, Vec<String>)| {
        ["did", "user", "mark"]
            .map(|name| field(fields, name))
            .join(" ")
    };
    let mut changes: Vec<String> = entries.iter().map(change).collect();
    changes.sort();
    (standings, history, outcomes, changes)
}

/// Sends the activities before the request.
async fn prepare(client: &Client, store: &mut Store, case: &Case) {
    store.clear();
    for activity in &case.before {
        let response = client.send_activity(activity.clone()).await;
        response.assert_status(200);
    }
}

/// Sends a request whose writes the store refuses; returns the state before if it failed.
async fn send_refused(
    app: &TestApp,
    forwarder: &Forwarder,
    case: &Case,
    refusal: Refusal,
) -> Option<Snapshot> {
    let mut store = app.store();
    prepare(app, &mut store, case).await;
    let before = store.snapshot();
    forwarder.fail(move |_| Some(Fault::RefuseWrites(refusal)));
    let response = case.request.send(app).await;
    forwarder.heal();
    match response.status {
        200 => None,
        503 => Some(before),
        status => panic!("{} {refusal:?}: {status} {}", case.name, response.text),
    }
}

/// Returns a snapshot without expiries: a refused request may have renewed that of active records.
fn elements(snapshot: Snapshot) -> Vec<(String, String)> {
    let element = |(key, (elements, _))| (key, elements);
    snapshot.into_iter().map(element).collect()
}

/// Refuses each write of each request alone. The request fails and changes nothing, and a retry
/// counts it.
#[tokio::test]
async fn one_refused_write_changes_nothing() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.journal());
    // The first write claims every shard.
    let response = app.send_activity(like(&user(), "claim")).await;
    response.assert_status(200);
    let mut store = app.store();
    for case in cases() {
        prepare(&app, &mut store, &case).await;
        let sent = case.request.send(&app).await;
        let expected = effects(&app, &mut store, outcomes(&sent.body)).await;
        assert_eq!(expected.2, case.expected, "{}", case.name);
        let mut refused = 0;
        for number in 1..=case.most {
            let context = format!("{}, write {number}", case.name);
            let before = send_refused(&app, &forwarder, &case, Refusal::Only(number)).await;
            let is_complete = before.is_none() && refused > 0 && case.expected.len() == 1;
            let sent = match before {
                // The other items of an array count.
                Some(_) if case.expected.len() > 1 => {
                    refused += 1;
                    case.request.send(&app).await.assert_status(200);
                    let found = effects(&app, &mut store, Vec::new()).await;
                    assert_eq!(scores(&found.0), scores(&expected.0), "{context}");
                    assert_journaled_once(&mut store, &context);
                    continue;
                }
                Some(before) => {
                    refused += 1;
                    assert_eq!(elements(store.snapshot()), elements(before), "{context}");
                    outcomes(&case.request.send(&app).await.body)
                }
                None => case.expected.clone(),
            };
            assert_eq!(effects(&app, &mut store, sent).await, expected, "{context}");
            if is_complete {
                break;
            }
        }
        // An array is counted item by item instead.
        assert!(
            refused > 1 || case.expected.len() > 1,
            "{}: {refused}",
            case.name
        );
        assert!(refused < case.most, "{}: {refused}", case.name);
    }
}

/// An array whose changes are refused is counted item by item. If it is the first write ever, the item
/// that counts stores the fingerprint, and a refused item after it keeps it.
#[tokio::test]
async fn refused_item_keeps_fingerprint() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.journal());
    let response = app.send_activity(like(&user(), "claim")).await;
    response.assert_status(200);
    let mut store = app.store();
    let array = json!([like(&user(), "q"), like(&user(), "r")]);
    let (users, records) = (store.key_of(&user(), "p"), format!("m:{}", user()));
    let records = store.key_of(&user(), &records);
    let mut counted_partly = 0;
    for number in 4..=40 {
        store.clear();
        let refusal = Refusal::Both(3, number);
        forwarder.fail(move |_| Some(Fault::RefuseWrites(refusal)));
        let response = app.send_activity(array.clone()).await;
        forwarder.heal();
        let fields: Vec<String> = store.run("HKEYS", &[&records]);
        let counted = fields.iter().filter(|field| field.starts_with('L')).count();
        let fingerprint: Option<String> = store.run("HGET", &[&users, FINGERPRINT]);
        assert!(
            counted == 0 || fingerprint.is_some(),
            "{refusal:?}: {}",
            response.text
        );
        counted_partly += usize::from(counted == 1);
    }
    assert!(counted_partly > 5, "{counted_partly}");
}

/// Asserts that the outbox has each activity as often as it was counted: of each record one more than its undos, or as
/// many.
fn assert_journaled_once(store: &mut Store, context: &str) {
    let outbox = store.key_of(&user(), "o");
    let entries: Vec<(String, BTreeMap<String, String>)> =
        store.run("XRANGE", &[&outbox, "-", "+"]);
    let mut records: BTreeMap<String, i32> = BTreeMap::new();
    for (_, fields) in entries {
        let record = records.entry(format!("{} {}", fields["user"], fields["mark"]));
        let record = record.or_default();
        *record += match fields["did"].as_str() {
            "count" => 1,
            _ if fields["gave"].is_empty() => 0,
            _ => -1,
        };
        assert!((0..=1).contains(record), "{context}: {fields:?}");
    }
}

/// Returns the user's score on each board, in the order of the periods.
fn scores(standings: &Value) -> Vec<i64> {
    let periods = ["day", "week", "month", "year", "all"];
    let score = |period: &str| standings["standings"][period]["score"].as_i64();
    periods
        .map(|period| score(period).unwrap_or_default())
        .to_vec()
}

/// Refuses a write and all later ones, so that the script cannot restore the values before: then a retry counts the
/// request, or finds its deduplication record. No board counts it twice.
#[tokio::test]
async fn retry_never_counts_refused_writes_twice() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.journal());
    let response = app.send_activity(like(&user(), "claim")).await;
    response.assert_status(200);
    let (mut store, mut lost) = (app.store(), 0);
    for case in cases().iter().filter(|case| case.name != "array") {
        prepare(&app, &mut store, case).await;
        let before = effects(&app, &mut store, Vec::new()).await;
        let sent = case.request.send(&app).await;
        let expected = effects(&app, &mut store, outcomes(&sent.body)).await;
        let mut refused = 0;
        for number in 1..=case.most {
            let context = format!("{}, from write {number}", case.name);
            let refusal = Refusal::From(number);
            let was_refused = send_refused(&app, &forwarder, case, refusal).await;
            if was_refused.is_none() {
                break;
            }
            refused += 1;
            let sent = outcomes(&case.request.send(&app).await.body);
            let found = effects(&app, &mut store, sent).await;
            if found == expected {
                continue;
            }
            lost += 1;
            let outcome = found.2[0].as_str();
            let repeated = ["duplicate", "nothing-to-undo", "counted", "undone"];
            assert!(repeated.contains(&outcome), "{context}: {outcome}");
            let all = [&before, &expected, &found].map(|effects| scores(&effects.0));
            for ((before, expected), found) in all[0].iter().zip(&all[1]).zip(&all[2]) {
                let range = *before.min(expected)..=*before.max(expected);
                assert!(range.contains(found), "{context}: {all:?}");
            }
        }
        assert!(
            refused > 1 && refused < case.most,
            "{}: {refused}",
            case.name
        );
    }
    assert!(lost > 10, "{lost}");
}

/// The first activity of a member also creates their profile. Its journal entry is written first, so
/// the store may keep an entry that it refused to delete.
#[tokio::test]
async fn retry_creates_refused_profile() {
    let (app, forwarder) =
        TestApp::behind_forwarder(|worker| worker.journal().var("JWT_SECRET", SECRET));
    let member = app.with_key(&hs256(&claims_with(json!({"sub": user(), "name": "Ada"}))));
    let mut store = app.store();
    for number in 1..=3 {
        for refusal in [Refusal::Only(number), Refusal::From(number)] {
            store.clear();
            forwarder.fail(move |_| Some(Fault::RefuseWrites(refusal)));
            member.send_activity(like(&user(), "p")).await;
            forwarder.heal();
            let retry = member.send_activity(like(&user(), "p")).await;
            retry.assert_status(200);
            let profile = app.read(&format!("/v1/users/{}", user())).await;
            assert_eq!(profile, json!({"id": user(), "name": "Ada"}), "{refusal:?}");
            let outbox = store.key_of(&user(), "o");
            let entries: Vec<(String, Vec<String>)> = store.run("XRANGE", &[&outbox, "-", "+"]);
            let profiles = entries.iter().filter(|(_, fields)| fields[1] == "profile");
            let most = if matches!(refusal, Refusal::Only(_)) {
                1
            } else {
                2
            };
            let profiles = profiles.count();
            assert!((1..=most).contains(&profiles), "{refusal:?}: {profiles}");
        }
    }
}

/// The store also refuses to restore the values before.
#[tokio::test]
async fn log_names_all_users_with_wrong_boards() {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    let app = TestApp::with(|worker| worker.store(&forwarder.url()));
    let users = [peer("ada"), peer("bea")];
    for user in &users {
        app.count(user, "like", "before").await;
    }
    forwarder.fail(|_| Some(Fault::RefuseWrites(Refusal::From(3))));
    let array = users.each_ref().map(|user| like(user, "p"));
    app.send_activity(json!(array)).await.assert_status(503);
    until("the log line", async || {
        let log = app.log();
        let named = |user| format!("boards of the user {user} may be wrong until a rebuild");
        let is_named = |user| log.contains(&named(user));
        users.iter().all(is_named).then_some(())
    })
    .await;
    forwarder.heal();
    let outcomes = outcomes(&app.send_activity(json!(array)).await.body);
    assert_eq!(outcomes, ["duplicate", "duplicate"]);
}
