//! The store client of native builds behaves like that of the Worker.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use activity_rank_store::redis::transport::{Endpoint, ReqwestTransport};
use activity_rank_store::redis::{Client, Command, Pipeline, Reply, StoreError};
use activity_rank_store::scripts::TOP;
use test_support::{Api, Fault, Forwarder, TOKEN, gateway, json, scaled};

use crate::app::TestApp;

#[tokio::test]
async fn native_client_times_out_and_never_redirects() {
    // Creating a client of the harness selects the TLS provider of the process.
    drop(Api::new(""));
    let (forwarder, other) = (
        Forwarder::to(&gateway().url()),
        Forwarder::to(&gateway().url()),
    );
    let deadline = scaled(Duration::from_millis(500));
    let milliseconds = deadline.as_millis().try_into().expect("milliseconds");
    let endpoint = Endpoint::new(&forwarder.url(), TOKEN, milliseconds);
    let transport = Box::new(ReqwestTransport::new(endpoint));
    let store = Client::new(transport, milliseconds, || 0);
    let ping = Pipeline::new(vec![Command::new("PING")]);
    let replies = store.run(&ping).await.map(|replies| replies.len());
    assert_eq!(replies, Ok(1));

    for fault in [
        Fault::CutBefore,
        Fault::PartialResponse,
        Fault::HangBefore,
        Fault::HangInResponse,
        Fault::Redirect(format!("{}/pipeline", other.url())),
        Fault::Respond(502, "Bad gateway".to_owned()),
    ] {
        forwarder.fail_next(fault.clone());
        let start = Instant::now();
        let Err(StoreError::Unavailable(cause)) = store.run(&ping).await else {
            panic!("{fault:?}");
        };
        assert!(
            !cause.is_empty() && !cause.contains("//") && !cause.contains(TOKEN),
            "{fault:?}: {cause}"
        );
        assert!(start.elapsed() < 10 * deadline, "{fault:?}");
    }
    assert_eq!(other.count(), 0);
    forwarder.fail_next(Fault::Respond(401, String::new()));
    assert_eq!(store.run(&ping).await, Err(StoreError::Unauthorized));
}

/// Redis refuses the flag of Upstash, and before 7.0 the whole line. Our gateway removes both, another
/// one may not.
#[tokio::test]
async fn scripts_lose_flags_that_the_store_refuses() {
    for refusal in [
        "ERR Unexpected flag in script shebang: allow-key-locking",
        "ERR Error compiling script (new function): user_script:1: unexpected symbol near '#'",
    ] {
        drop(Api::new(""));
        let forwarder = Forwarder::to(&gateway().url());
        forwarder.fail(move |request| {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            let error = match body.contains("allow-key-locking") {
                true => refusal,
                false if body.contains(TOP.sha) => "NOSCRIPT No matching script.",
                false => return None,
            };
            let slots = json!([{"result": "PONG"}, {"error": error}]);
            let only = json!([{"error": error}]);
            let slots = if body.contains("PING") { slots } else { only };
            Some(Fault::Respond(200, slots.to_string()))
        });
        let endpoint = Endpoint::new(&forwarder.url(), TOKEN, 20_000);
        let store = Client::new(Box::new(ReqwestTransport::new(endpoint)), 20_000, || 0);
        let keys = ["p", "1b"].map(|key| format!("{{native-flags:0}}{key}"));
        let top = || Command::script(&TOP, &keys).number(0).number(1);
        let pipeline = Pipeline::new(vec![Command::new("PING"), top()]);
        for requests in [3, 1] {
            forwarder.reset();
            let replies = store.run(&pipeline).await.expect("replies");
            assert_eq!(replies.first(), Some(&Reply::Text("PONG".to_owned())));
            let expected = Some(Ok(&Reply::Nil));
            assert_eq!(replies.last().map(|reply| reply.at(1)), expected);
            assert_eq!(forwarder.count(), requests, "{refusal}");
        }
    }
}

/// The token changes with every write. A lagging replica of Upstash uses it to answer no earlier state.
#[tokio::test]
async fn requests_carry_the_sync_token_of_the_last_response() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker);
    for user in ["a", "b", "c"] {
        app.count(user, "like", "p").await;
    }
    app.read("/v1/ranking/day").await;
    let worker = forwarder.requests().into_iter();
    let worker: Vec<_> = worker.map(|request| request.sync_token).collect();

    forwarder.reset();
    let endpoint = Endpoint::new(&forwarder.url(), TOKEN, 20_000);
    let store = Client::new(Box::new(ReqwestTransport::new(endpoint)), 20_000, || 0);
    let write = || Command::new("SET").arg(&app.store().key("token")).arg("1");
    for _ in 0..4 {
        store
            .run(&Pipeline::new(vec![write()]))
            .await
            .expect("a reply");
    }
    let native = forwarder.requests().into_iter();
    let native: Vec<_> = native.map(|request| request.sync_token).collect();
    for tokens in [worker, native] {
        assert_eq!(tokens[0].as_deref().unwrap_or_default(), "");
        let later = tokens.iter().flatten().filter(|token| !token.is_empty());
        let later: BTreeSet<&String> = later.collect();
        assert!(later.len() >= 3, "{tokens:?}");
    }
}
