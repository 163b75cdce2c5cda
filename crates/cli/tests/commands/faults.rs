//! `import` while the service or the connection fails.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpSocket;

use crate::TestResult;
use crate::command::{command, finish, lines, run};
use crate::service::Fault::{Body, CutAfter, CutBefore, Item, Problem, Redirect};
use crate::service::Service;

#[tokio::test(flavor = "multi_thread")]
async fn import_through_faults_counts_once_in_order() -> TestResult {
    let faults = [
        Some(Problem(503, "store-unavailable", Some("0"))),
        Some(CutBefore),
        None,
        Some(CutAfter),
        Some(Problem(429, "rate-limited", Some("0"))),
        None,
        Some(Problem(500, "internal", None)),
        Some(Problem(502, "", None)),
        Some(CutAfter),
        None,
        Some(CutBefore),
    ];
    let failing = faults.iter().flatten().count();
    let service = Service::with(faults).await?;
    let run = run(
        &service,
        &["import", "-", "--batch", "20", "--json"],
        &lines(400, 13),
    )?;
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let summary: Value = serde_json::from_str(&run.stdout)?;
    assert_eq!(
        (&summary["lines"], &summary["retries"]),
        (&400.into(), &failing.into())
    );

    let mut users: BTreeMap<String, u64> = BTreeMap::new();
    for item in service.counted() {
        let next = users.entry(item["user"].to_string()).or_default();
        assert_eq!(item["target"], next.to_string());
        *next += 1;
    }
    assert_eq!(users.values().sum::<u64>(), 400);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_delays_the_retry() -> TestResult {
    let service = Service::with([Some(Problem(429, "rate-limited", Some("2")))]).await?;
    let run = run(&service, &["import", "-"], &lines(1, 1))?;
    assert_eq!(run.code, Some(0));
    let times: Vec<_> = service
        .received()
        .iter()
        .map(|received| received.at)
        .collect();
    let [first, second] = times.as_slice() else {
        return Err("expected two requests".into());
    };
    assert!(second.duration_since(*first) >= Duration::from_secs(2));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn long_retry_after_ends_the_import() -> TestResult {
    let service = Service::with([Some(Problem(429, "rate-limited", Some("7200")))]).await?;
    let run = run(&service, &["import", "-"], &lines(1, 1))?;
    let error = "error: rate limited: injected by the test (retry after 7200 s)\n";
    assert_eq!((run.code, run.stderr.as_str()), (Some(3), error));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn item_with_503_is_retried() -> TestResult {
    let service = Service::with([Some(Item("u1"))]).await?;
    let run = run(
        &service,
        &["import", "-", "--concurrency", "1"],
        &lines(4, 2),
    )?;
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert_eq!((service.counted().len(), service.received().len()), (4, 2));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn item_with_lasting_503_is_reported() -> TestResult {
    let service = Service::with([Some(Item("u1")), Some(Item("u1"))]).await?;
    let run = run(
        &service,
        &["import", "-", "--concurrency", "1", "--retries", "1"],
        &lines(2, 2),
    )?;
    assert_eq!(
        run.stderr,
        "line 2: store-unavailable: store unavailable: injected by the test\n"
    );
    assert_eq!((run.code, service.counted().len()), (Some(1), 1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_key_ends_the_import() -> TestResult {
    let service = Service::start().await?;
    let mut wrong = command(
        &service,
        &["import", "-", "--concurrency", "1", "--batch", "1"],
    );
    wrong.env("ACTIVITY_RANK_KEY", "wr0ng");
    let run = finish(wrong, &lines(1000, 20))?;
    assert_eq!(
        (run.code, run.stdout.as_str(), run.stderr.as_str()),
        (
            Some(3),
            "",
            "error: unauthenticated: injected by the test (is ACTIVITY_RANK_KEY one of the service's SERVICE_KEYS?)\n"
        )
    );
    assert_eq!(service.received().len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_key_is_reported() -> TestResult {
    let service = Service::start().await?;
    let mut keyless = command(&service, &["import", "-"]);
    keyless.env("ACTIVITY_RANK_KEY", "");
    let run = finish(keyless, &lines(1, 1))?;
    assert_eq!(
        run.stderr,
        "error: unauthenticated: injected by the test (no key was sent: set ACTIVITY_RANK_KEY)\n"
    );
    assert_eq!(run.code, Some(3));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn misconfigured_service_is_not_retried() -> TestResult {
    let service = Service::with([Some(Problem(500, "misconfigured", None))]).await?;
    let run = run(&service, &["import", "-"], &lines(1, 1))?;
    assert_eq!(
        (run.code, run.stderr.as_str(), service.received().len()),
        (Some(3), "error: misconfigured: injected by the test\n", 1)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_service_fails_after_all_retries() -> TestResult {
    // Bound, so that no other process gets the port, but not listening.
    let socket = TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let url = format!("http://{}", socket.local_addr()?);
    let service = Service::start().await?;
    let args = ["import", "-", "--retries", "2", "--url", &url];
    let run = run(&service, &args, &lines(1, 1))?;
    assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""));
    let error = format!("error: {url}/v1/activity did not answer: Connection refused");
    assert!(run.stderr.starts_with(&error), "{}", run.stderr);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unexpected_response_is_reported() -> TestResult {
    for (fault, reason) in [
        (Body("<html>"), "expected value at line 1 column 1"),
        (Body(r#"{"results":[]}"#), "0 results for 1 lines"),
        (Body(r#"{"results":[{}]}"#), "a result without an outcome"),
        (Redirect, "redirect to https://example.org/"),
    ] {
        let service = Service::with([Some(fault)]).await?;
        let run = run(&service, &["import", "-"], &lines(1, 1))?;
        let error = format!(
            "error: unexpected response from {}/v1/activity: {reason}\n",
            service.url
        );
        assert_eq!((run.code, run.stderr), (Some(3), error));
    }
    Ok(())
}
