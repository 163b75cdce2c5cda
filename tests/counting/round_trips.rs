//! The number of store requests of each request.

use crate::requests::{ACTIVITY, act, at, expect, in_groups, like, outcomes, undo};
use redis::cmd;
use test_support::{
    Answer, Api, Forwarder, Gateway, Method, RedisOptions, RedisServer, Value, Worker, gateway,
    json, shards, unique_prefix,
};

/// The requests that return ranks. With several shards, a second request counts the users above on
/// the other shards.
const RANKED: [&str; 17] = [
    "one activity",
    "a repetition",
    "in groups",
    "of another day",
    "a visit",
    "an undo",
    "an undo with nothing to undo",
    "an undo in its groups",
    "an undo of its day",
    "a standing",
    "a comparison",
    "all standings",
    "all standings with friends",
    "a card",
    "the page of a member",
    "an adjustment",
    "an undone adjustment",
];

/// A request: name, method, path, body and expected status.
type RouteRequest = (&'static str, Method, String, Value, u16);

/// Returns requests to all routes.
fn routes() -> Vec<RouteRequest> {
    let send = |name, method, path: &str, body| (name, method, path.to_owned(), body, 200);
    let activity = |name, body| send(name, Method::POST, ACTIVITY, body);
    let get = |name, path: &str| send(name, Method::GET, path, Value::Null);
    let adjustments = "/v1/users/42/adjustments";
    let array: Vec<Value> = (0..500)
        .map(|n| like(&format!("u{}", n % 50), &n.to_string()))
        .collect();
    let profiles = json!([{ "id": "7", "name": "Bob" }, { "id": "8" }, { "id": "9" }]);
    let adjustment = json!({ "id": "1", "points": 1, "reason": "A test" });
    let undone_adjustment = json!({ "id": "1", "undo": true, "reason": "A test" });
    let freeze = json!({ "hidden": false, "frozen": true, "reason": "A test" });
    let in_group = in_groups(&like("42", "g"), &["eu"]);
    let dated = at(&like("42", "d"), "2026-11-01T08:00:00Z");
    let dated_undo = undo(&at(&like("42", "d"), "2026-11-01T09:00:00Z"));
    vec![
        activity("one activity", like("42", "post-7")),
        activity("a repetition", like("42", "post-7")),
        activity("in groups", in_group.clone()),
        activity("of another day", dated),
        activity("a visit", act("42", "visit", "/")),
        activity("an undo", undo(&like("42", "post-7"))),
        activity("an undo with nothing to undo", undo(&like("42", "none"))),
        activity("an undo in its groups", undo(&in_group)),
        activity("an undo of its day", dated_undo),
        activity("an array", json!(array)),
        get("a board", "/v1/ranking/day?limit=100&group=eu"),
        get("a standing", "/v1/ranking/week/users/42?around=25"),
        get("a comparison", "/v1/ranking/all/users?ids=7,42,u1"),
        get("all standings", "/v1/users/42/standings?groups=eu,us"),
        get(
            "all standings with friends",
            "/v1/users/42/standings?friends=true",
        ),
        get("a card", "/v1/users/42/card"),
        get("friends", "/v1/ranking/all/users?followed_by=42"),
        get("a history", "/v1/users/42/activity?days=31"),
        send(
            "writing a profile",
            Method::PUT,
            "/v1/users/42",
            json!({ "name": "Ada" }),
        ),
        get("a profile", "/v1/users/42"),
        (
            "a missing profile",
            Method::GET,
            "/v1/users/absent".to_owned(),
            Value::Null,
            404,
        ),
        send("an array of profiles", Method::PUT, "/v1/users", profiles),
        send("an adjustment", Method::POST, adjustments, adjustment),
        send(
            "an undone adjustment",
            Method::POST,
            adjustments,
            undone_adjustment,
        ),
        send(
            "freezing a user",
            Method::PUT,
            "/v1/users/8/moderation",
            freeze,
        ),
        get("moderation", "/v1/users/8/moderation"),
        get("the audit log", "/v1/moderation"),
        get("the numbers of the site", "/v1/stats"),
        get("health", "/healthz"),
        get("the state", "/v1/status"),
        get("the page of a member", "/u/42"),
    ]
}

async fn send(api: &Api, method: &Method, path: &str, body: &Value) -> Answer {
    let (body, headers) = match body {
        Value::Null => (String::new(), &[][..]),
        body => (
            body.to_string(),
            &[("content-type", "application/json")][..],
        ),
    };
    api.send(method.clone(), path, body, headers).await
}

#[tokio::test]
async fn request_makes_one_store_request_or_two_for_ranks() {
    let forwarder = Forwarder::to(&gateway().url());
    let store = |builder: test_support::WorkerBuilder| builder.store(&forwarder.url()).start();
    // Loads all scripts, under another prefix.
    let warm_up = store(Worker::builder());
    for (_, method, path, body, _) in routes() {
        send(&warm_up.api(), &method, &path, &body).await;
    }
    let worker = store(Worker::builder());
    // Makes the Worker check the schema fingerprints of all shards.
    expect(&worker.api(), &act("42", "visit", "/first"), "counted").await;
    for (name, method, path, body, status) in routes() {
        forwarder.reset();
        send(&worker.api(), &method, &path, &body)
            .await
            .assert_status(status);
        let ranked = shards() > 1 && RANKED.contains(&name);
        // With several shards, the comparison follows.
        let compared = if shards() > 1 && name == "friends" {
            2
        } else {
            0
        };
        let expected = 1 + usize::from(ranked) + compared;
        assert_eq!(forwarder.count(), expected, "{name}");
        assert_eq!(forwarder.requests()[0].path, "/pipeline", "{name}");
    }
}

#[tokio::test]
async fn rejected_requests_make_no_store_request() {
    let forwarder = Forwarder::to(&gateway().url());
    let worker = Worker::builder().store(&forwarder.url()).start();
    let api = worker.api();
    api.get("/").await.assert_status(200);
    api.get("/openapi.json").await.assert_status(200);
    api.get("/nowhere").await.assert_status(404);
    api.delete(ACTIVITY).await.assert_status(405);
    api.without_key()
        .post(ACTIVITY, &like("42", "post-7"))
        .await
        .assert_status(401);
    api.post(ACTIVITY, &json!({})).await.assert_status(400);
    api.post(ACTIVITY, &act("42", "shout", "t"))
        .await
        .assert_status(422);
    api.post(ACTIVITY, &json!([]))
        .await
        .assert(200, json!({ "results": [] }));
    api.get("/v1/ranking/day?limit=0").await.assert_status(400);
    assert_eq!(forwarder.count(), 0);
}

#[tokio::test]
async fn undo_elsewhere_and_moderation_make_two_requests() {
    let forwarder = Forwarder::to(&gateway().url());
    let worker = Worker::builder().store(&forwarder.url()).start();
    let api = worker.api();
    let (then, here) = (
        at(&like("42", "d"), "2026-11-01T08:00:00Z"),
        in_groups(&like("42", "g"), &["eu"]),
    );
    // Loads the scripts.
    expect(&api, &then, "counted").await;
    expect(&api, &here, "counted").await;
    api.delete("/v1/users/absent").await.assert_status(204);
    // After the first undo the user still has a rank; after the second, none.
    for (liked, ranked) in [(like("42", "d"), shards() > 1), (like("42", "g"), false)] {
        forwarder.reset();
        expect(&api, &undo(&liked), "undone").await;
        assert_eq!(forwarder.count(), 2 + usize::from(ranked), "{liked}");
    }
    // All undos of an array share the second request.
    let array = json!([like("42", "x"), then, here]);
    assert_eq!(
        outcomes(&api.post(ACTIVITY, &array).await),
        ["counted", "stale", "counted"]
    );
    let array = json!([
        undo(&like("42", "g")),
        undo(&like("42", "x")),
        like("42", "y")
    ]);
    forwarder.reset();
    assert_eq!(
        outcomes(&api.post(ACTIVITY, &array).await),
        ["undone", "undone", "counted"]
    );
    assert_eq!(forwarder.count(), 2);
    for hidden in [true, false] {
        let moderation = json!({ "hidden": hidden, "frozen": false, "reason": "A test" });
        forwarder.reset();
        let path = "/v1/users/42/moderation";
        api.put(path, &moderation).await.assert_status(200);
        // Before a user is hidden, a request reads whether boards show them. The first call needs another one to load
        // the script.
        let limit = if hidden { 4 } else { 2 };
        assert!(forwarder.count() <= limit, "{}", forwarder.count());
    }
    forwarder.reset();
    api.delete("/v1/users/42").await.assert_status(204);
    assert_eq!(forwarder.count(), 2);
}

#[tokio::test]
async fn missing_script_is_sent_once_with_eval() {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let forwarder = Forwarder::to(&gateway.url());
    let worker = Worker::builder().store(&forwarder.url());
    // Every shard loads its scripts in the same way; one shard keeps the list of commands short.
    let worker = worker.json("SHARDS", json!(1)).start();
    let api = worker.api();
    let mut connection = redis.connection();
    let commands = || -> Vec<String> {
        let requests = forwarder.requests();
        let sent = requests.iter().flat_map(|request| request.commands());
        sent.map(|command| command[0].as_str().unwrap().to_owned())
            .collect()
    };
    for round in 0..2 {
        for path in [
            "/v1/ranking/day",
            "/v1/ranking/day/users/1",
            "/v1/ranking/day/users?ids=1",
        ] {
            forwarder.reset();
            api.get(path).await.assert_status(200);
            assert_eq!(commands(), ["EVALSHA", "EVAL"], "{path}");
            forwarder.reset();
            api.get(path).await.assert_status(200);
            assert_eq!(commands(), ["EVALSHA"], "{path}");
        }
        forwarder.reset();
        let target = format!("p{round}");
        let array = json!([
            like("1", &target),
            undo(&like("1", &target)),
            like("1", &target)
        ]);
        assert_eq!(
            outcomes(&api.post(ACTIVITY, &array).await),
            ["counted", "undone", "counted"]
        );
        assert_eq!(commands(), ["EVALSHA", "EVAL"]);
        forwarder.reset();
        expect(&api, &like("1", &target), "duplicate").await;
        assert_eq!(commands(), ["EVALSHA"]);
        cmd("SCRIPT").arg("FLUSH").exec(&mut connection).unwrap();
    }
}

#[tokio::test]
async fn isolate_checks_fingerprints_once_per_shard() {
    let forwarder = Forwarder::to(&gateway().url());
    let prefix = unique_prefix("shards-");
    let start = || {
        let worker = Worker::builder().store(&forwarder.url());
        let worker = worker.var("PREFIX", &prefix);
        worker.json("SHARDS", json!(4)).start()
    };
    // Sends a request and returns the names of the commands of each store request.
    let sent = async |api: &Api, path: &str| {
        forwarder.reset();
        if path == ACTIVITY {
            let counted = api.post(path, &json!([like("42", "p")])).await;
            counted.assert_status(200);
        } else {
            api.get(path).await.assert_status(200);
        }
        let requests = forwarder.requests();
        let names = |request: &test_support::Recorded| {
            let commands = request.commands();
            let names = commands.iter().map(|command| match &command[0] {
                // Ignores whether the script was loaded.
                Value::String(name) if name == "EVAL" => "EVALSHA".to_owned(),
                name => name.as_str().unwrap().to_owned(),
            });
            names.collect::<Vec<_>>()
        };
        let mut all: Vec<_> = requests.iter().map(names).collect();
        all.dedup();
        all
    };
    let [get, set, read, count] = [
        ["HGET"; 4].to_vec(),
        ["HSETNX"; 4].to_vec(),
        ["EVALSHA"; 4].to_vec(),
        vec!["EVALSHA"],
    ];
    let (worker, board) = (start(), "/v1/ranking/day?limit=3");
    let api = worker.api();
    // Another deployment may claim an empty store at any time: reads check it each time, and the
    // first write stores the fingerprint.
    assert_eq!(sent(&api, board).await, [&get[..], &read]);
    assert_eq!(sent(&api, board).await, [&get[..], &read]);
    let first = sent(&api, ACTIVITY).await;
    assert_eq!(first, [&get[..], &set, &get, &count]);
    for _ in 0..2 {
        assert_eq!(sent(&api, board).await, [&read[..]]);
        assert_eq!(sent(&api, ACTIVITY).await, [&count[..]]);
    }
    let other = start();
    let api = other.api();
    assert_eq!(sent(&api, ACTIVITY).await, [&get[..], &count]);
    assert_eq!(sent(&api, board).await, [&read[..]]);
}
