//! How many requests to the store one request to the service is.

use crate::site::{ACTIVITY, act, at, expect, in_groups, like, outcomes, undo};
use redis::cmd;
use test_support::{
    Answer, Api, Forwarder, Gateway, Method, RedisOptions, RedisServer, Value, Worker, gateway,
    json, shards,
};

/// Which of them tell ranks: where there are several shards, the others are asked in a second
/// request how many are above.
const RANKED: [&str; 13] = [
    "one activity",
    "a repeated one",
    "in groups",
    "of another day",
    "a visit",
    "an undo",
    "an undo with nothing to undo",
    "an undo in its groups",
    "an undo of its day",
    "a standing",
    "a comparison",
    "an adjustment",
    "an adjustment taken back",
];

/// One request of each route.
fn routes() -> Vec<(&'static str, Method, String, Value, u16)> {
    let batch: Vec<Value> = (0..500)
        .map(|n| like(&format!("u{}", n % 50), &n.to_string()))
        .collect();
    let profile = json!({ "name": "Ada" });
    let route =
        |what, method, path: &str, body, status| (what, method, path.to_owned(), body, status);
    let none = Value::Null;
    vec![
        route(
            "one activity",
            Method::POST,
            ACTIVITY,
            like("42", "post-7"),
            200,
        ),
        route(
            "a repeated one",
            Method::POST,
            ACTIVITY,
            like("42", "post-7"),
            200,
        ),
        route(
            "in groups",
            Method::POST,
            ACTIVITY,
            in_groups(&like("42", "g"), &["eu"]),
            200,
        ),
        route(
            "of another day",
            Method::POST,
            ACTIVITY,
            at(&like("42", "d"), "2026-11-01T08:00:00Z"),
            200,
        ),
        route(
            "a visit",
            Method::POST,
            ACTIVITY,
            act("42", "visit", "/"),
            200,
        ),
        route(
            "an undo",
            Method::POST,
            ACTIVITY,
            undo(&like("42", "post-7")),
            200,
        ),
        route(
            "an undo with nothing to undo",
            Method::POST,
            ACTIVITY,
            undo(&like("42", "none")),
            200,
        ),
        route(
            "an undo in its groups",
            Method::POST,
            ACTIVITY,
            undo(&in_groups(&like("42", "g"), &["eu"])),
            200,
        ),
        route(
            "an undo of its day",
            Method::POST,
            ACTIVITY,
            undo(&at(&like("42", "d"), "2026-11-01T09:00:00Z")),
            200,
        ),
        route("an array", Method::POST, ACTIVITY, json!(batch), 200),
        route(
            "a board",
            Method::GET,
            "/v1/ranking/day?limit=100&group=eu",
            none.clone(),
            200,
        ),
        route(
            "a standing",
            Method::GET,
            "/v1/ranking/week/users/42?around=25",
            none.clone(),
            200,
        ),
        route(
            "a comparison",
            Method::GET,
            "/v1/ranking/all/users?ids=7,42,u1",
            none.clone(),
            200,
        ),
        route(
            "a history",
            Method::GET,
            "/v1/users/42/activity?days=31",
            none.clone(),
            200,
        ),
        route(
            "a profile written",
            Method::PUT,
            "/v1/users/42",
            profile,
            200,
        ),
        route("a profile", Method::GET, "/v1/users/42", none.clone(), 200),
        route(
            "no profile",
            Method::GET,
            "/v1/users/nobody",
            none.clone(),
            404,
        ),
        route(
            "many profiles",
            Method::PUT,
            "/v1/users",
            json!([{ "id": "7", "name": "Bob" }, { "id": "8" }, { "id": "9" }]),
            200,
        ),
        route(
            "an adjustment",
            Method::POST,
            "/v1/users/42/adjustments",
            json!({ "id": "1", "points": 1, "reason": "A test" }),
            200,
        ),
        route(
            "an adjustment taken back",
            Method::POST,
            "/v1/users/42/adjustments",
            json!({ "id": "1", "undo": true, "reason": "A test" }),
            200,
        ),
        route(
            "a user frozen",
            Method::PUT,
            "/v1/users/8/moderation",
            json!({ "hidden": false, "frozen": true, "reason": "A test" }),
            200,
        ),
        route(
            "moderation",
            Method::GET,
            "/v1/users/8/moderation",
            none.clone(),
            200,
        ),
        route(
            "the audit list",
            Method::GET,
            "/v1/moderation",
            none.clone(),
            200,
        ),
        route("health", Method::GET, "/healthz", none, 200),
    ]
}

async fn call(api: &Api, method: &Method, path: &str, body: &Value) -> Answer {
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
async fn a_request_to_the_service_is_one_request_to_the_store_or_two_of_ranks_over_shards() {
    let forwarder = Forwarder::to(&gateway().url());
    let store = |builder: test_support::WorkerBuilder| {
        builder
            .store(&forwarder.url())
            .json("STORE_TIMEOUT_MS", json!(10_000))
            .start()
    };
    // Once on another prefix, so that every script is loaded.
    let before = store(Worker::builder());
    for (_, method, path, body, _) in routes() {
        call(&before.api(), &method, &path, &body).await;
    }
    let worker = store(Worker::builder());
    // From then on it knows that all shards are its own.
    expect(&worker.api(), &act("42", "visit", "/first"), "counted").await;
    for (what, method, path, body, status) in routes() {
        forwarder.reset();
        call(&worker.api(), &method, &path, &body)
            .await
            .assert_status(status);
        let ranked = shards() > 1 && RANKED.contains(&what);
        assert_eq!(forwarder.count(), 1 + usize::from(ranked), "{what}");
        assert_eq!(forwarder.requests()[0].path, "/pipeline", "{what}");
    }
}

#[tokio::test]
async fn what_needs_no_store_asks_none() {
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
async fn an_undo_of_another_day_or_without_its_groups_and_what_touches_all_boards_ask_twice() {
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
    api.delete("/v1/users/nobody").await.assert_status(204);
    // With the first gone there is a rank left, with the second there is none.
    for (liked, ranked) in [(like("42", "d"), shards() > 1), (like("42", "g"), false)] {
        forwarder.reset();
        expect(&api, &undo(&liked), "undone").await;
        assert_eq!(forwarder.count(), 2 + usize::from(ranked), "{liked}");
    }
    // All undos of an array together ask twice as well.
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
        let verdict = json!({ "hidden": hidden, "frozen": false, "reason": "A test" });
        forwarder.reset();
        let path = "/v1/users/42/moderation";
        api.put(path, &verdict).await.assert_status(200);
        // The script is sent by text when it is new.
        let calls = if hidden { 3 } else { 2 };
        assert!(forwarder.count() <= calls, "{}", forwarder.count());
    }
    forwarder.reset();
    api.delete("/v1/users/42").await.assert_status(204);
    assert_eq!(forwarder.count(), 2);
}

#[tokio::test]
async fn a_script_not_loaded_yet_is_sent_once_by_text() {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let forwarder = Forwarder::to(&gateway.url());
    let worker = Worker::builder().store(&forwarder.url());
    // Every script is sent to each shard: how that is told apart is the same for one.
    let worker = worker.json("SHARDS", json!(1)).start();
    let api = worker.api();
    let mut connection = redis.connection();
    let verbs = || -> Vec<String> {
        let requests = forwarder.requests();
        let commands = requests.iter().flat_map(|request| request.commands());
        commands
            .map(|command| command[0].as_str().unwrap().to_owned())
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
            assert_eq!(verbs(), ["EVALSHA", "EVAL"], "{path}");
            forwarder.reset();
            api.get(path).await.assert_status(200);
            assert_eq!(verbs(), ["EVALSHA"], "{path}");
        }
        forwarder.reset();
        let target = round.to_string();
        let array = json!([
            like("1", &target),
            undo(&like("1", &target)),
            like("1", &target)
        ]);
        assert_eq!(
            outcomes(&api.post(ACTIVITY, &array).await),
            ["counted", "undone", "counted"]
        );
        assert_eq!(verbs(), ["EVALSHA", "EVAL"]);
        forwarder.reset();
        expect(&api, &like("1", &target), "duplicate").await;
        assert_eq!(verbs(), ["EVALSHA"]);
        cmd("SCRIPT").arg("FLUSH").exec(&mut connection).unwrap();
    }
}

#[tokio::test]
async fn an_isolate_asks_all_shards_whose_they_are_until_it_knows() {
    let forwarder = Forwarder::to(&gateway().url());
    let prefix = format!("shards-{}", std::process::id());
    let start = || {
        let worker = Worker::builder().store(&forwarder.url());
        let worker = worker.var("PREFIX", &prefix).json("SHARDS", json!(4));
        worker.json("STORE_TIMEOUT_MS", json!(10_000)).start()
    };
    // The commands of each request to the store, by their names.
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
                // Whether the script was known is of no interest here.
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
        ["GET"; 4].to_vec(),
        ["SET"; 4].to_vec(),
        ["EVALSHA"; 4].to_vec(),
        vec!["EVALSHA"],
    ];
    let (worker, board) = (start(), "/v1/ranking/day?limit=3");
    let api = worker.api();
    // A store that is empty may be anybody's tomorrow: it is asked again, and first of all stamped.
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
