//! A store that does not answer, or not as it should: 503 on every route that asks it.

use test_support::{Fault, Forwarder, Method, Value, json, until};

use crate::site::Site;

/// A request of every route that asks the store.
const REQUESTS: [(Method, &str, &str); 9] = [
    (
        Method::POST,
        "/v1/activity",
        r#"{"user":"42","action":"like","target":"q"}"#,
    ),
    (
        Method::POST,
        "/v1/activity",
        r#"[{"user":"42","action":"like","target":"q"},{}]"#,
    ),
    (Method::GET, "/v1/ranking/day", ""),
    (Method::GET, "/v1/ranking/day/winners", ""),
    (Method::GET, "/v1/ranking/day/users/42", ""),
    (Method::GET, "/v1/ranking/day/users?ids=42", ""),
    (Method::GET, "/v1/users/42/activity", ""),
    (Method::PUT, "/v1/users/42", r#"{"name":"Ada"}"#),
    (Method::DELETE, "/v1/users/42", ""),
];

fn problem() -> Value {
    json!({"type": "/problems/store-unavailable", "title": "The store did not answer in time",
        "status": 503, "detail": "Nothing is half-done; sending the same request again is safe."})
}

async fn every_request_is_503(site: &Site, what: &str) {
    for (method, path, body) in REQUESTS {
        let json = [("content-type", "application/json")];
        let answer = site.send(method, path, body, &json).await;
        assert_eq!(
            (answer.status, &answer.body),
            (503, &problem()),
            "{what}: {}",
            answer.request
        );
        assert_eq!(
            answer.header("retry-after"),
            Some("1"),
            "{what}: {}",
            answer.request
        );
        assert_eq!(
            answer.header("cache-control"),
            Some("no-store"),
            "{what}: {}",
            answer.request
        );
    }
}

#[tokio::test]
async fn a_store_that_is_away_is_503() {
    let site = Site::with(|worker| worker.store("http://127.0.0.1:1"));
    every_request_is_503(&site, "refused").await;
}

#[tokio::test]
async fn so_is_one_that_cuts_hangs_or_talks_nonsense() {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    let site = Site::with(|worker| worker.store(&forwarder.url()).var("STORE_TIMEOUT_MS", "50"));
    let answers = |status: u16, text: &str| Fault::Answer(status, text.to_owned());
    let faults = [
        Fault::CutBefore,
        Fault::HangBefore,
        answers(200, "<html>"),
        answers(200, "[]"),
        answers(200, "{}"),
        answers(200, r#"{"result":"OK"}"#),
        answers(
            200,
            r#"[{"error":"LOADING Redis is loading the dataset in memory"}]"#,
        ),
        answers(500, "error code: 1003"),
        answers(502, ""),
        answers(503, r#"{"error":"ERR the store is away"}"#),
        answers(429, r#"{"error":"ERR max requests limit exceeded"}"#),
    ];
    for fault in faults {
        let (what, each) = (format!("{fault:?}"), fault);
        forwarder.fail(move |_| Some(each.clone()));
        every_request_is_503(&site, &what).await;
        let health = site.get("/healthz").await;
        assert_eq!(
            (health.status, &health.body["problem"]),
            (503, &problem()),
            "{what}"
        );
    }
    forwarder.heal();
    assert_eq!(site.store().keys(), [""; 0]);
    // Its deadline is short: on a busy machine the first try may be too late, and is safe to repeat.
    let like = json!({"user": "42", "action": "like", "target": "q"});
    until("an answer", async || {
        let answer = site.send_activity(like.clone()).await;
        (answer.status == 200).then_some(())
    })
    .await;
    let standing = until("the standing", async || {
        let answer = site.get("/v1/ranking/day/users/42").await;
        (answer.status == 200).then_some(answer)
    });
    assert_eq!(standing.await.body["score"], 2);
}

#[tokio::test]
async fn so_is_one_that_sends_elsewhere_and_nobody_there_is_told_the_token() {
    let gateway = test_support::gateway().url();
    let (forwarder, elsewhere) = (Forwarder::to(&gateway), Forwarder::to(&gateway));
    let site = Site::with(|worker| worker.store(&forwarder.url()));
    let url = format!("{}/pipeline", elsewhere.url());
    forwarder.fail(move |_| Some(Fault::Redirect(url.clone())));
    every_request_is_503(&site, "redirected").await;
    assert_eq!(elsewhere.count(), 0);
}

#[tokio::test]
async fn a_retry_after_a_lost_answer_counts_nothing_twice() {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    let site = Site::with(|worker| worker.store(&forwarder.url()));
    let like = json!({"user": "42", "action": "like", "target": "q"});
    for fault in [Fault::CutAfter, Fault::HalfAnswer] {
        forwarder.fail_next_script(fault);
        site.send_activity(like.clone()).await.assert_status(503);
    }
    site.outcome(like, "duplicate").await;
    let standing = site.get("/v1/ranking/day/users/42").await;
    assert_eq!(standing.body["score"], 2);
}
