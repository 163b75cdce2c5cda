//! Reading while Redis is down.
//!
//! Plain workerd has none of the places where copies are kept, so these run in wrangler.

use test_support::{
    Answer, Api, Gateway, Method, RedisOptions, RedisServer, Value, WorkerBuilder, Wrangler, json,
    peers, until,
};

use crate::client::Client;
use crate::clock::{day, noon, noon_zone};
use crate::site::patient;

/// A service with a store of its own, that can be stopped.
struct Stoppable {
    redis: RedisServer,
    _gateway: Gateway,
    wrangler: Wrangler,
    client: Client,
}

fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Stoppable {
    let redis = RedisServer::spawn(RedisOptions::default().append_only());
    let gateway = Gateway::spawn(&redis.url());
    let worker = configure(patient().store(&gateway.url()));
    let worker = worker.var("TIMEZONE", noon_zone());
    let wrangler = worker.var("BOARD_MAX_AGE", "1").start_wrangler();
    let client = Client::new(wrangler.api());
    Stoppable {
        redis,
        _gateway: gateway,
        wrangler,
        client,
    }
}

impl Stoppable {
    async fn like(&self, user: &str) {
        let like = json!({"user": user, "action": "like", "target": "p"});
        let answer = self.client.post("/v1/activity", &like).await;
        answer.assert_status(200);
    }

    /// A fresh answer that says so much, and is in the cache by now.
    async fn kept(&self, path: &str, total: u64) -> Value {
        let answer = until("a kept answer", async || {
            let answer = self.client.get(path).await;
            let kept = answer.body["total"] == total && answer.header("age").is_some();
            kept.then_some(answer)
        });
        answer.await.body
    }

    /// An answer once what is fresh has run out.
    async fn later(&self, path: &str) -> Answer {
        until("an answer that is not fresh", async || {
            let answer = self.client.get(path).await;
            let fresh = answer.status == 200 && answer.body["stale"].is_null();
            (!fresh).then_some(answer)
        })
        .await
    }
}

/// Fails the test unless it is this answer, said to be of an instant before.
#[track_caller]
fn is_stale(answer: &Answer, fresh: &Value) {
    let mut body = answer.body.clone();
    let fields = body.as_object_mut().expect("an object");
    assert_eq!(fields.remove("stale"), Some(json!(true)), "{}", answer.text);
    assert!(fields.remove("as_of").is_some(), "{}", answer.text);
    assert_eq!((answer.status, &body), (200, fresh), "{}", answer.request);
    let age = answer.header("age").expect("an age");
    age.parse::<u32>().expect("seconds");
}

#[tokio::test]
async fn boards_that_were_read_are_served_while_redis_is_down_and_say_of_when_they_are() {
    let mut site = start(|worker| worker);
    site.like("42").await;
    let (day, control) = ("/v1/ranking/day?limit=5", Some("public, max-age=1"));
    let fresh = site.kept(day, 1).await;
    site.redis.kill();

    let stale = site.later(day).await;
    is_stale(&stale, &fresh);
    assert_eq!(stale.header("cache-control"), control);
    let tag = stale.header("etag").expect("a tag");
    let known = site.client.get_unless(day, tag).await;
    known.assert(304, json!(null));
    let head = site.client.head(day).await;
    assert_eq!((head.status, head.header("etag")), (200, Some(tag)));
    // Nobody asked for these; and a question that is wrong is still told so.
    for path in ["/v1/ranking/day?limit=6", "/v1/ranking/year"] {
        site.client.get(path).await.assert_status(503);
    }
    let wrong = site.client.get("/v1/ranking/day?limit=0").await;
    wrong.assert_status(400);

    site.redis.restart();
    let again = until("a fresh answer", async || {
        let answer = site.client.get(day).await;
        (answer.status == 200 && answer.body["stale"].is_null()).then_some(answer)
    });
    again.await.assert(200, fresh);
    site.wrangler.logs("answered with a copy").await;
}

#[tokio::test]
async fn who_was_hidden_or_erased_is_in_no_copy() {
    let mut site = start(|worker| worker);
    let day = "/v1/ranking/day";
    let verdict = json!({"hidden": true, "frozen": false, "reason": "r"});
    let own = json!({"hidden": true});
    for (method, path, body) in [
        (Method::DELETE, "/v1/users/42", &Value::Null),
        (Method::PUT, "/v1/users/42/moderation", &verdict),
        (Method::PUT, "/v1/users/7", &own),
    ] {
        let user = path.split('/').nth(3).expect("a user");
        site.like(user).await;
        site.like("other").await;
        let before = site.client.get(day).await.body["total"].clone();
        site.kept(day, before.as_u64().expect("a total")).await;
        let answer = if body.is_null() {
            site.client.send(method, path, "", &[]).await
        } else {
            site.client.put(path, body).await
        };
        assert!(answer.status < 300, "{}", answer.text);
        site.redis.kill();
        site.later(day).await.assert_status(503);
        site.redis.restart();
        let nobody = Client::new(Api::new(site.wrangler.url()));
        until("Redis", async || {
            let health = nobody.get("/healthz").await;
            (health.status == 200).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn boards_of_now_are_known_from_a_snapshot_to_whoever_asks_first() {
    let mut site = start(WorkerBuilder::archive);
    let [a, b, c] = &peers(["a", "b", "c"]);
    for user in [a, b, c] {
        site.like(user).await;
    }
    let profile = json!({"name": "Ada"});
    let named = site.client.put(&format!("/v1/users/{b}"), &profile).await;
    named.assert_status(200);
    let then = json!({"user": a, "action": "like", "target": "then", "at": noon(2)});
    let counted = site.client.post("/v1/activity", &then).await;
    counted.assert_status(200);
    let closed = format!("/v1/ranking/day?date={}", day(2));
    let standings = [
        format!("/v1/ranking/day/users/{b}?around=1"),
        "/v1/ranking/day/users/nobody".to_owned(),
        format!("/v1/ranking/year/users/{c}"),
        format!("/v1/ranking/day/users?ids={c},nobody,{a}"),
    ];
    let mut fresh = Vec::new();
    for path in &standings {
        fresh.push(site.client.get(path).await.body);
    }
    site.wrangler.tick().await;
    // What comes after it is not in it.
    site.like("d").await;
    site.redis.kill();

    for (path, fresh) in standings.iter().zip(&fresh) {
        let stale = site.client.get(path).await;
        is_stale(&stale, fresh);
        assert_eq!(stale.header("cache-control"), Some("no-store"));
    }
    let board = site.client.get("/v1/ranking/day?limit=2&offset=1").await;
    let ids: Vec<_> = [0, 1]
        .map(|at| board.body["entries"][at]["user"]["id"].clone())
        .into();
    assert_eq!(
        (ids, &board.body["total"]),
        (vec![json!(b), json!(c)], &json!(3))
    );
    assert_eq!(
        (
            &board.body["stale"],
            &board.body["entries"][0]["user"]["name"]
        ),
        (&json!(true), &json!("Ada"))
    );
    // A board that is archived is known too, of ids alone.
    let archived = site.client.get(&closed).await;
    assert_eq!(
        (&archived.body["stale"], &archived.body["total"]),
        (&json!(true), &json!(1))
    );
    for path in ["/v1/ranking/day?group=eu", "/v1/ranking/day/winners"] {
        site.client.get(path).await.assert_status(503);
    }

    site.redis.restart();
    until("Redis", async || {
        let health = site.client.get("/healthz").await;
        (health.status == 200).then_some(())
    })
    .await;
    let erased = site.client.delete(&format!("/v1/users/{a}")).await;
    erased.assert_status(204);
    site.redis.kill();
    for path in &standings {
        site.client.get(path).await.assert_status(503);
    }
    let archived = site.client.get(&closed).await;
    assert_eq!(archived.body["entries"], json!([]));
}
