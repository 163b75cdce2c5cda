//! How long answers may be kept, and boards from the edge's cache.
//!
//! Plain workerd has no cache, so these run in wrangler.

use test_support::{Answer, Forwarder, Wrangler, json, until};

use crate::client::Client;
use crate::clock::{day, noon, noon_zone};
use crate::site::patient;

struct Edge {
    _wrangler: Wrangler,
    client: Client,
    forwarder: Forwarder,
}

/// A service that counts what it asks the store.
fn edge(board_max_age: &str) -> Edge {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    let worker = patient().store(&forwarder.url());
    let worker = worker
        .var("TIMEZONE", noon_zone())
        .var("BOARD_MAX_AGE", board_max_age);
    let wrangler = worker.start_wrangler();
    let client = Client::new(wrangler.api());
    Edge {
        _wrangler: wrangler,
        client,
        forwarder,
    }
}

impl Edge {
    /// An answer from the cache: it is stored after the first is given, so it may take a moment.
    async fn cached(&self, path: &str) -> Answer {
        until("an answer from the cache", async || {
            let answer = self.client.get(path).await;
            answer.header("age").is_some().then_some(answer)
        })
        .await
    }

    async fn like(&self, user: &str) {
        let like = json!({"user": user, "action": "like", "target": "p", "groups": ["eu"]});
        self.client
            .post("/v1/activity", &like)
            .await
            .assert_status(200);
    }
}

#[tokio::test]
async fn boards_are_kept_and_nothing_else_is() {
    let edge = edge("60");
    a_board_read_again_comes_from_the_cache_and_asks_no_store(&edge).await;
    nothing_but_boards_is_kept(&edge).await;
    no_failure_is_kept(&edge).await;
}

#[tokio::test]
async fn open_boards_are_kept_as_long_as_is_set_and_closed_ones_longer() {
    let edge = edge("1");
    a_board_is_read_anew_when_its_time_is_over(&edge).await;
    a_closed_board_is_kept_for_five_minutes(&edge).await;
}

async fn a_board_read_again_comes_from_the_cache_and_asks_no_store(edge: &Edge) {
    edge.like("42").await;
    let first = edge.client.get("/v1/ranking/day?limit=5&group=eu").await;
    let control = "public, max-age=60, stale-if-error=86400";
    assert_eq!(first.header("cache-control"), Some(control));
    assert_eq!(first.header("age"), None);
    edge.cached("/v1/ranking/day?limit=5&group=eu").await;
    edge.forwarder.reset();

    // However it is asked for, and whatever has changed meanwhile.
    edge.like("7").await;
    let asked = edge.forwarder.count();
    let today = format!(
        "/v1/ranking/day?date={}&group=%65u&offset=0&limit=5",
        day(0)
    );
    let words = [
        "/v1/ranking/day?limit=5&group=eu",
        "/v1/ranking/day?group=eu&limit=5",
        "/v1/ranking/day?group=eu&offset=0&limit=05",
        &today,
    ];
    // Who has no key is answered from the isolate, once it was asked in the same words.
    let nobody = edge.client.without_key();
    let of_all = |client| words.map(|path| (client, path));
    let twice = [&edge.client, &nobody, &nobody].into_iter();
    for (client, path) in twice.flat_map(of_all) {
        let again = client.get(path).await;
        again.assert(200, first.body.clone());
        assert_eq!(again.header("etag"), first.header("etag"), "{path}");
        assert_eq!(again.header("cache-control"), Some(control), "{path}");
        let age: u32 = again
            .header("age")
            .expect("an age")
            .parse()
            .expect("seconds");
        assert!(age < 60, "{path}: {age}");
        let head = client.head(path).await;
        assert_eq!(
            (head.status, head.header("etag")),
            (200, first.header("etag")),
            "{path}"
        );
        let tag = first.header("etag").expect("a tag");
        for known in ["*", &format!("\"other\" , W/{tag}")] {
            let same = client.get_unless(path, known).await;
            same.assert(304, json!(null));
        }
        let same = client.get_unless(path, tag).await;
        same.assert(304, json!(null));
        assert_eq!(
            (same.header("etag"), same.header("cache-control")),
            (Some(tag), Some(control))
        );
        let other = client.get_unless(path, "\"other\"").await;
        other.assert(200, first.body.clone());
        let ids = [&again, &same, &other].map(|answer| answer.header("x-request-id"));
        assert!(
            ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2],
            "{ids:?}"
        );
    }
    assert_eq!(edge.forwarder.count(), asked);

    // What is asked for otherwise is another entry.
    let others = [
        "/v1/ranking/day?limit=5",
        "/v1/ranking/day?group=eu",
        "/v1/ranking/day?limit=5&group=eu&offset=1",
        "/v1/ranking/day?limit=5&group=us",
        "/v1/ranking/week?limit=5&group=eu",
    ];
    for (number, path) in others.into_iter().enumerate() {
        assert_eq!(edge.client.get(path).await.header("age"), None, "{path}");
        assert_eq!(edge.forwarder.count(), asked + number + 1, "{path}");
    }

    // A fault in the request is told though the board is there.
    edge.client
        .get("/v1/ranking/day?limit=5&group=eu&page=1")
        .await
        .assert_status(400);
}

async fn a_board_is_read_anew_when_its_time_is_over(edge: &Edge) {
    edge.like("42").await;
    let first = edge.client.get("/v1/ranking/day").await;
    let control = Some("public, max-age=1, stale-if-error=86400");
    assert_eq!(
        (&first.body["total"], first.header("cache-control")),
        (&json!(1), control)
    );
    edge.like("7").await;
    for client in [&edge.client, &edge.client.without_key()] {
        let later = until("the newer board", async || {
            let answer = client.get("/v1/ranking/day").await;
            (answer.body["total"] == 2).then_some(answer)
        });
        assert_ne!(later.await.header("etag"), first.header("etag"));
    }
}

async fn a_closed_board_is_kept_for_five_minutes(edge: &Edge) {
    let path = format!("/v1/ranking/day?date={}", day(9));
    let like = json!({"user": "42", "action": "like", "target": "then", "at": noon(9)});
    edge.client
        .post("/v1/activity", &like)
        .await
        .assert_status(200);
    let first = edge.client.get(&path).await;
    let control = Some("public, max-age=300, stale-if-error=86400");
    assert_eq!(
        (&first.body["total"], first.header("cache-control")),
        (&json!(1), control)
    );
    let cached = edge.cached(&path).await;
    cached.assert(200, first.body.clone());
    assert_eq!(cached.header("cache-control"), control);
}

async fn nothing_but_boards_is_kept(edge: &Edge) {
    edge.like("42").await;
    edge.client
        .put("/v1/users/42", &json!({"name": "Ada"}))
        .await
        .assert_status(200);
    let paths = [
        "/v1/ranking/day/users/42",
        "/v1/ranking/day/users?ids=42",
        "/v1/users/42",
        "/v1/users/42/activity",
        "/v1/users/nobody",
        "/v1/ranking/hour",
        "/healthz",
    ];
    for path in paths {
        // A script that is not loaded yet costs one request more.
        edge.client.get(path).await;
        edge.forwarder.reset();
        let first = edge.client.get(path).await;
        let asked = edge.forwarder.count();
        let second = edge.client.get(path).await;
        assert_eq!(edge.forwarder.count(), 2 * asked, "{path}");
        for answer in [first, second] {
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
            assert_eq!(
                (answer.header("age"), answer.header("etag")),
                (None, None),
                "{path}"
            );
        }
    }
}

async fn no_failure_is_kept(edge: &Edge) {
    edge.forwarder.fail_next(test_support::Fault::CutBefore);
    edge.client.get("/v1/ranking/year").await.assert_status(503);
    edge.client.get("/v1/ranking/year").await.assert_status(200);
}
