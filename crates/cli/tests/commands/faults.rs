//! `import` while the service or the connection fails.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::TestResult;
use crate::command::{command, finish, lines, run, unreachable_url};
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
    let args = "import - --batch 3 --concurrency 8 --json";
    let run = run(&service, args, &lines(1000, 20))?.assert_error(0, "");
    let mut summary: Value = serde_json::from_str(&run.stdout)?;
    assert!(summary["seconds"].take().is_f64() && summary["lines_per_second"].take().is_u64());
    assert!(summary["requests"].take().as_u64() > Some(1000 / 3));
    // Lines of a lost response are duplicates.
    let outcomes = ["counted", "duplicate"].map(|name| summary["outcomes"][name].as_u64());
    let [counted, duplicate] = outcomes.map(Option::unwrap_or_default);
    assert_eq!(counted + duplicate, 1000);
    assert_eq!(
        summary,
        json!({"lines": 1000, "outcomes": {"counted": counted, "duplicate": duplicate}, "refused": 0, "errors": {},
               "points": 2 * counted, "requests": null, "retries": failing, "seconds": null, "lines_per_second": null})
    );

    let mut users: BTreeMap<String, u64> = BTreeMap::new();
    for item in service.counted() {
        let next = users.entry(item["user"].to_string()).or_default();
        assert_eq!(item["target"], next.to_string());
        *next += 1;
    }
    assert_eq!(users.values().sum::<u64>(), 1000);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_delays_the_retry() -> TestResult {
    let service = Service::with([Some(Problem(429, "rate-limited", Some("2")))]).await?;
    run(&service, "import -", &lines(1, 1))?.assert_error(0, "");
    let [first, second] = service.requests();
    assert!(second.at.duration_since(first.at) >= Duration::from_secs(2));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn long_retry_after_ends_the_import() -> TestResult {
    let service = Service::with([Some(Problem(429, "rate-limited", Some("7200")))]).await?;
    let error = "error: rate limited: injected by the test (retry after 7200 s)\n";
    run(&service, "import -", &lines(1, 1))?.assert_error(3, error);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn item_with_503_is_retried() -> TestResult {
    let service = Service::with([Some(Item("u1"))]).await?;
    run(&service, "import - --concurrency 1", &lines(4, 2))?.assert_error(0, "");
    assert_eq!((service.counted().len(), service.received().len()), (4, 2));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn item_with_lasting_503_is_reported() -> TestResult {
    let service = Service::with([Some(Item("u1")), Some(Item("u1"))]).await?;
    let args = "import - --concurrency 1 --retries 1";
    let error = "line 2: store-unavailable: store unavailable: injected by the test\n";
    run(&service, args, &lines(2, 2))?.assert_error(1, error);
    assert_eq!(service.counted().len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_or_missing_key_ends_the_import() -> TestResult {
    for (key, hint) in [
        (
            "wr0ng",
            "is ACTIVITY_RANK_KEY one of the service's SERVICE_KEYS?",
        ),
        ("", "no key was sent: set ACTIVITY_RANK_KEY"),
    ] {
        let service = Service::start().await?;
        let mut import = command(&service, "import - --concurrency 1 --batch 1");
        import.env("ACTIVITY_RANK_KEY", key);
        let error = format!("error: unauthenticated: injected by the test ({hint})\n");
        let run = finish(import, &lines(1000, 20))?.assert_error(3, &error);
        assert_eq!((run.stdout.as_str(), service.received().len()), ("", 1));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn misconfigured_service_is_not_retried() -> TestResult {
    let service = Service::with([Some(Problem(500, "misconfigured", None))]).await?;
    let error = "error: misconfigured: injected by the test\n";
    run(&service, "import -", &lines(1, 1))?.assert_error(3, error);
    assert_eq!(service.received().len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_service_fails_after_all_retries() -> TestResult {
    let (_socket, url) = unreachable_url()?;
    let service = Service::start().await?;
    let args = format!("import - --retries 2 --url {url}");
    let run = run(&service, &args, &lines(1, 1))?;
    assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""));
    let error = format!("error: {url}/v1/activity did not answer: Connection refused");
    assert!(run.stderr.starts_with(&error), "{}", run.stderr);
    let args = format!("sync csv - --retries 1 --url {url}");
    let sync = self::run(&service, &args, "user,action,target\n7,like,p\n")?;
    let error = format!("error: {url}/healthz did not answer: Connection refused");
    assert!(sync.stderr.starts_with(&error), "{sync:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn service_without_tls_is_named() -> TestResult {
    let service = Service::start().await?;
    let url = service.url.replace("http:", "https:");
    let error = format!(
        "error: {url}/v1/activity did not answer: it does not speak TLS: its address may begin with http://\n"
    );
    let args = format!("import - --retries 0 --url {url}");
    run(&service, &args, &lines(1, 1))?.assert_error(3, &error);
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
        let response = format!("unexpected response from {}/v1/activity", service.url);
        let error = format!("error: {response}: {reason}\n");
        run(&service, "import -", &lines(1, 1))?.assert_error(3, &error);
    }
    Ok(())
}
