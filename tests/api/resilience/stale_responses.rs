//! Stale reads while Redis is down, from caches, snapshots and the archive.

use std::ops::Deref;

use test_support::{
    Answer, Gateway, Method, RedisOptions, RedisServer, Value, WorkerBuilder, json, peers, shards,
    until,
};

use crate::app::TestApp;
use crate::bodies::{dated, ids, like, moderation};
use crate::clock::{day, noon};

/// A service with a Redis of its own, which a test can stop.
struct Stoppable {
    redis: RedisServer,
    _gateway: Gateway,
    app: TestApp,
}

impl Deref for Stoppable {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}

fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Stoppable {
    let redis = RedisServer::spawn(RedisOptions::default().append_only());
    let gateway = Gateway::spawn(&redis.url());
    let app = TestApp::with(|worker| {
        configure(worker.store(&gateway.url()).cached()).var("BOARD_MAX_AGE", "1")
    });
    Stoppable {
        redis,
        _gateway: gateway,
        app,
    }
}

impl Stoppable {
    /// Sends a like, which may be a duplicate.
    async fn like(&self, user: &str) {
        let response = self.send_activity(like(user, "p")).await;
        response.assert_status(200);
    }

    /// Waits until a response with this total is in the cache and returns its body.
    async fn cached(&self, path: &str, total: u64) -> Value {
        let response = until("a cached response", async || {
            let response = self.get(path).await;
            let is_cached = response.body["total"] == total && response.header("age").is_some();
            is_cached.then_some(response)
        });
        response.await.body
    }

    /// Waits until the fresh response has expired and returns the next one.
    async fn after_expiry(&self, path: &str) -> Answer {
        until("a response that is not fresh", async || {
            let response = self.get(path).await;
            let fresh = response.status == 200 && response.body["stale"].is_null();
            (!fresh).then_some(response)
        })
        .await
    }

    /// Waits until the health check succeeds.
    async fn healthy(&self) {
        until("the store to recover", async || {
            let health = self.get("/healthz").await;
            (health.status == 200).then_some(())
        })
        .await;
    }
}

/// Asserts that a response is the fresh one, marked as stale with its time and age.
#[track_caller]
fn assert_stale(response: &Answer, fresh: &Value) {
    let mut body = response.body.clone();
    let fields = body.as_object_mut().expect("an object");
    let removed = ["stale", "as_of"].map(|name| fields.remove(name));
    assert_eq!(removed[0], Some(json!(true)), "{}", response.text);
    assert!(removed[1].is_some(), "{}", response.text);
    assert_eq!(body, *fresh, "{}", response.assert_status(200).request);
    let age = response.header("age").expect("an age");
    age.parse::<u32>().expect("seconds");
}

/// The response has `stale` and `as_of`, and becomes fresh again after the outage.
#[tokio::test]
async fn cached_boards_are_served_while_redis_is_down() {
    let mut app = start(|worker| worker);
    app.like("42").await;
    let (day, control) = ("/v1/ranking/day?limit=5", Some("public, max-age=1"));
    let fresh = app.cached(day, 1).await;
    app.redis.kill();

    let stale = app.after_expiry(day).await;
    assert_stale(&stale, &fresh);
    assert_eq!(stale.header("cache-control"), control);
    let tag = stale.header("etag").expect("a tag");
    let known = app.get_if_none_match(day, tag).await;
    known.assert(304, json!(null));
    let head = app.head(day).await;
    assert_eq!((head.status, head.header("etag")), (200, Some(tag)));
    // These boards were never read. An invalid query is still rejected as invalid.
    for path in ["/v1/ranking/day?limit=6", "/v1/ranking/year"] {
        app.get(path).await.assert_status(503);
    }
    let invalid = app.get("/v1/ranking/day?limit=0").await;
    invalid.assert_status(400);

    app.redis.restart();
    let fresh_again = until("a fresh response", async || {
        let response = app.get(day).await;
        (response.status == 200 && response.body["stale"].is_null()).then_some(response)
    });
    fresh_again.await.assert(200, fresh);
    app.worker.logs("responded with a cached copy").await;
}

/// Hiding or erasing a user invalidates every cached board, also under another host name; reads return 503 until Redis is
/// back.
#[tokio::test]
async fn stale_responses_omit_hidden_and_erased_users() {
    let mut app = start(|worker| worker);
    let day = "/v1/ranking/day";
    let hidden = moderation(true, false);
    let hidden_by_user = json!({"hidden": true});
    for (method, path, body) in [
        (Method::DELETE, "/v1/users/42", &Value::Null),
        (Method::PUT, "/v1/users/42/moderation", &hidden),
        (Method::PUT, "/v1/users/7", &hidden_by_user),
    ] {
        let user = path.split('/').nth(3).expect("a user");
        app.like(user).await;
        app.like("other").await;
        let before = app.read(day).await["total"].clone();
        app.cached(day, before.as_u64().expect("a total")).await;
        let headers = [
            ("host", "moderators.example"),
            ("content-type", "application/json"),
        ];
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let response = app.send(method, path, body, &headers).await;
        assert!(response.status < 300, "{}", response.text);
        app.redis.kill();
        app.after_expiry(day).await.assert_status(503);
        app.redis.restart();
        app.healthy().await;
    }
}

/// The cron trigger stores snapshots of the open boards, and the archive has closed ones, without profiles.
#[tokio::test]
async fn snapshots_serve_unread_boards_during_outage() {
    let mut app = start(WorkerBuilder::archive);
    let [a, b, c] = &peers(["a", "b", "c"]);
    for user in [a, b, c] {
        app.like(user).await;
    }
    app.counted(dated(like(a, "then"), noon(2))).await;
    let closed = format!("/v1/ranking/day?date={}", day(2));
    let standing = format!("/v1/ranking/day/users/{b}?around=1");
    let fresh = app.read(&standing).await;
    // The budget of a run suffices for the archive of three shards.
    for _ in 0..shards().div_ceil(3) {
        app.worker.tick().await;
    }
    app.redis.kill();
    let stale = app.get(&standing).await;
    assert_stale(&stale, &fresh);
    assert_eq!(stale.header("cache-control"), Some("no-store"));
    let board = app.read("/v1/ranking/day?limit=2&offset=1").await;
    let found = (ids(&board), &board["stale"]);
    assert_eq!(found, (vec![b.as_str(), c], &json!(true)));
    // Snapshots have no boards of groups.
    let path = format!("/v1/users/{c}/standings?groups=eu");
    let day = app.read(&path).await["standings"]["day"].clone();
    assert_eq!((&day["rank"], &day["groups"]), (&json!(3), &Value::Null));
    let archived = app.read(&closed).await;
    assert_eq!(
        [&archived["stale"], &archived["total"]],
        [&json!(true), &json!(1)]
    );
    for path in ["/v1/ranking/day?group=eu", "/v1/ranking/day/winners"] {
        app.get(path).await.assert_status(503);
    }
    app.redis.restart();
    app.healthy().await;
    app.erase(a).await;
    app.redis.kill();
    app.get(&standing).await.assert_status(503);
    assert_eq!(app.read(&closed).await["entries"], json!([]));
}
