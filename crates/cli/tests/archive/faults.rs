//! Export and restore with a store that fails.

use std::fs;

use test_support::{Fault, Forwarder, Gateway, RedisOptions, RedisServer, redis};

use crate::app::{Endpoint, TestApp};
use crate::cli::{export, restore, run};
use crate::stored::{assert_same, read_data};
use crate::{TestResult, start};

/// An empty store behind a forwarder that injects faults.
struct FaultyStore {
    server: RedisServer,
    _gateway: Gateway,
    forwarder: Forwarder,
    endpoint: Endpoint,
}

impl FaultyStore {
    fn start(prefix: &str) -> Self {
        let server = RedisServer::spawn(RedisOptions::default());
        let gateway = Gateway::spawn(&server.url());
        let forwarder = Forwarder::to(&gateway.url());
        let endpoint = Endpoint {
            store: forwarder.url(),
            prefix: prefix.to_owned(),
        };
        Self {
            server,
            _gateway: gateway,
            forwarder,
            endpoint,
        }
    }
}

/// Fails every other request, with each fault in turn.
fn fail_every_other(forwarder: &Forwarder) {
    let faults = [
        Fault::CutBefore,
        Fault::CutAfter,
        Fault::PartialResponse,
        Fault::Respond(503, r#"{"error":"redis is not reachable"}"#.to_owned()),
    ];
    let mut number = 0;
    forwarder.fail(move |_| {
        number += 1;
        (number % 2 == 1).then(|| faults[number / 2 % faults.len()].clone())
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_requests_and_responses_are_retried() -> TestResult {
    let app = start();
    app.fill().await;
    let folder = tempfile::tempdir()?;
    let expected = read_data(&mut redis().connection(), &app.endpoint.prefix)?;

    let forwarder = Forwarder::to(&app.endpoint.store);
    fail_every_other(&forwarder);
    let endpoint = Endpoint {
        store: forwarder.url(),
        ..app.endpoint.clone()
    };
    let file = export(&endpoint, folder.path())?;

    let faulty = FaultyStore::start(&app.endpoint.prefix);
    fail_every_other(&faulty.forwarder);
    restore(&faulty.endpoint, &file)?;
    let found = read_data(&mut faulty.server.connection(), &faulty.endpoint.prefix)?;
    assert_same(&found, &expected);
    let requests = faulty.forwarder.requests();
    let largest = requests.iter().map(|request| request.body.len()).max();
    assert!(
        largest.is_some_and(|bytes| bytes < 1_000_000),
        "{largest:?}"
    );
    Ok(())
}

/// The service, `export` and another `restore` reject the incomplete data.
#[tokio::test(flavor = "multi_thread")]
async fn interrupted_restore_resumes_with_continue() -> TestResult {
    let app = start();
    app.fill().await;
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let path = file.to_string_lossy();

    let faulty = FaultyStore::start(&app.endpoint.prefix);
    // Only the first batch is written.
    let mut batches = 0;
    faulty.forwarder.fail(move |request| {
        batches += usize::from(request.commands()[0][0] == "EVAL");
        (batches > 1).then_some(Fault::CutBefore)
    });
    let interrupted = run(&faulty.endpoint, &["restore", &path, "--retries", "0"])?;
    assert_eq!(interrupted.code, Some(3), "{interrupted:?}");
    assert!(
        interrupted.stderr.contains("run it again with --continue"),
        "{interrupted:?}"
    );
    faulty.forwarder.heal();
    let partial = read_data(&mut faulty.server.connection(), &faulty.endpoint.prefix)?;
    assert!(partial.len() > 10, "{partial:?}");

    let copy = TestApp::on(&faulty.endpoint);
    let response = copy.api.get("/v1/ranking/all").await;
    response.assert_status(500);
    assert_eq!(response.body["type"], "/problems/misconfigured");

    let rejected = run(&faulty.endpoint, &["restore", &path])?;
    assert_eq!(rejected.code, Some(2));
    assert!(rejected.stderr.contains("add --continue"), "{rejected:?}");
    let rejected = run(&faulty.endpoint, &["export"])?;
    assert!(rejected.stderr.contains("is unfinished"), "{rejected:?}");
    let other = folder.path().join("other.jsonl");
    let text = fs::read_to_string(&file)?.replacen("\"instant\":\"2", "\"instant\":\"3", 1);
    fs::write(&other, text)?;
    let rejected = run(
        &faulty.endpoint,
        &["restore", "--continue", &other.to_string_lossy()],
    )?;
    assert!(rejected.stderr.contains("of another file"), "{rejected:?}");

    let resumed = run(&faulty.endpoint, &["restore", "--continue", &path])?;
    assert_eq!((resumed.code, resumed.stderr.as_str()), (Some(0), ""));
    let expected = read_data(&mut redis().connection(), &app.endpoint.prefix)?;
    let found = read_data(&mut faulty.server.connection(), &faulty.endpoint.prefix)?;
    assert_same(&found, &expected);
    copy.api.get("/v1/ranking/all").await.assert_status(200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn delayed_duplicate_of_batch_changes_nothing() -> TestResult {
    let app = start();
    app.fill().await;
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let faulty = FaultyStore::start(&app.endpoint.prefix);
    restore(&faulty.endpoint, &file)?;
    let requests = faulty.forwarder.requests();
    let copy = TestApp::on(&faulty.endpoint);
    copy.api.delete("/v1/users/ada").await.assert_status(204);
    let before = read_data(&mut faulty.server.connection(), &faulty.endpoint.prefix)?;
    let batches = requests
        .iter()
        .filter(|request| request.commands()[0][0] == "EVAL");
    assert!(batches.clone().count() > 1, "a single batch");
    let store = test_support::Api::new(&faulty.endpoint.store).with_key(test_support::TOKEN);
    for batch in batches {
        let response = store.post_raw("/pipeline", batch.body.clone(), &[]).await;
        response.assert(200, test_support::json!([{"result": 0}]));
    }
    assert_eq!(
        read_data(&mut faulty.server.connection(), &faulty.endpoint.prefix)?,
        before
    );
    Ok(())
}
