//! Failures of the store: every route that needs it returns 503.

use test_support::{Fault, Forwarder, Method, until};

use crate::app::TestApp;
use crate::bodies::like;
use crate::client::JSON;
use crate::misconfigured::store_requests;
use crate::problem::store_unavailable;

/// Asserts that every request returns 503 with `Retry-After` and `no-store`.
async fn assert_every_request_is_503(app: &TestApp, fault: &str) {
    let array = r#"[{"user":"42","action":"like","target":"q"},{}]"#;
    let array = (Method::POST, "/v1/activity", array);
    let requests = store_requests().iter().chain([&array]);
    for (method, path, body) in requests.filter(|(method, ..)| *method != Method::HEAD) {
        let response = app.send(method.clone(), path, *body, JSON).await;
        let context = format!("{fault}: {}", response.request);
        assert_eq!(response.status, 503, "{context}: {}", response.text);
        assert_eq!(response.body, store_unavailable(), "{context}");
        let headers = ["retry-after", "cache-control"].map(|name| response.header(name));
        assert_eq!(headers, [Some("1"), Some("no-store")], "{context}");
    }
}

#[tokio::test]
async fn unreachable_store_returns_503() {
    let app = TestApp::with(|worker| worker.store("http://127.0.0.1:1"));
    assert_every_request_is_503(&app, "refused").await;
}

#[tokio::test]
async fn failing_store_returns_503() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.var("STORE_TIMEOUT_MS", "50"));
    let reply = |status: u16, text: &str| Fault::Respond(status, text.to_owned());
    let loading = r#"[{"error":"LOADING Redis is loading the dataset in memory"}]"#;
    let faults = [
        Fault::CutBefore,
        Fault::HangBefore,
        reply(200, "<html>"),
        reply(200, "[]"),
        reply(200, "{}"),
        reply(200, r#"{"result":"OK"}"#),
        reply(200, loading),
        reply(500, "error code: 1003"),
        reply(502, ""),
        reply(503, r#"{"error":"ERR the store is away"}"#),
        reply(429, r#"{"error":"ERR max requests limit exceeded"}"#),
    ];
    for fault in faults {
        let name = format!("{fault:?}");
        forwarder.fail(move |_| Some(fault.clone()));
        assert_every_request_is_503(&app, &name).await;
        let health = app.get("/healthz").await;
        let problem = &health.assert_status(503).body["problem"];
        assert_eq!(*problem, store_unavailable(), "{name}");
    }
    forwarder.heal();
    assert_eq!(app.store().keys(), [""; 0]);
    // With 50 ms the first attempt may time out on a busy machine; repeating it is safe.
    let like = like("42", "q");
    until("a response", async || {
        let response = app.send_activity(like.clone()).await;
        (response.status == 200).then_some(())
    })
    .await;
    let standing = until("the standing", async || {
        let response = app.get("/v1/ranking/day/users/42").await;
        (response.status == 200).then_some(response)
    });
    assert_eq!(standing.await.body["score"], 2);
}

/// The token must not reach the target of the redirect.
#[tokio::test]
async fn redirecting_store_returns_503() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker);
    let target = Forwarder::to(&test_support::gateway().url());
    let url = format!("{}/pipeline", target.url());
    forwarder.fail(move |_| Some(Fault::Redirect(url.clone())));
    assert_every_request_is_503(&app, "redirected").await;
    assert_eq!(target.count(), 0);
}
