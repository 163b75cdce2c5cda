//! `import` while the service or the way to it fails.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpSocket;

use crate::Tested;
use crate::command::{command, finish, lines, run};
use crate::service::Fault::{Body, CutAfter, CutBefore, Item, Problem, Redirect};
use crate::service::Service;

#[tokio::test(flavor = "multi_thread")]
async fn through_failures_every_line_counts_once_and_in_order() -> Tested {
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
async fn retry_after_is_waited_for() -> Tested {
    let service = Service::with([Some(Problem(429, "rate-limited", Some("2")))]).await?;
    let run = run(&service, &["import", "-"], &lines(1, 1))?;
    assert_eq!(run.code, Some(0));
    let times: Vec<_> = service
        .received()
        .iter()
        .map(|received| received.at)
        .collect();
    let [first, second] = times.as_slice() else {
        return Err("not two requests".into());
    };
    assert!(second.duration_since(*first) >= Duration::from_secs(2));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_of_hours_is_told_and_not_waited_for() -> Tested {
    let service = Service::with([Some(Problem(429, "rate-limited", Some("7200")))]).await?;
    let run = run(&service, &["import", "-"], &lines(1, 1))?;
    let told = "error: rate limited: as the test wants it (it asks to wait 7200 s)\n";
    assert_eq!((run.code, run.stderr.as_str()), (Some(3), told));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_the_store_did_not_answer_for_is_sent_again() -> Tested {
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
async fn an_item_that_never_fares_better_is_told_with_its_line() -> Tested {
    let service = Service::with([Some(Item("u1")), Some(Item("u1"))]).await?;
    let run = run(
        &service,
        &["import", "-", "--concurrency", "1", "--retries", "1"],
        &lines(2, 2),
    )?;
    assert_eq!(
        run.stderr,
        "line 2: store-unavailable: store unavailable: as the test wants it\n"
    );
    assert_eq!((run.code, service.counted().len()), (Some(1), 1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_stops_at_once() -> Tested {
    let service = Service::sound().await?;
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
            "error: unauthenticated: as the test wants it (is ACTIVITY_RANK_KEY one of the service's SERVICE_KEYS?)\n"
        )
    );
    assert_eq!(service.received().len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_key_is_named() -> Tested {
    let service = Service::sound().await?;
    let mut keyless = command(&service, &["import", "-"]);
    keyless.env("ACTIVITY_RANK_KEY", "");
    let run = finish(keyless, &lines(1, 1))?;
    assert_eq!(
        run.stderr,
        "error: unauthenticated: as the test wants it (no key was given: set ACTIVITY_RANK_KEY)\n"
    );
    assert_eq!(run.code, Some(3));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_misconfigured_service_is_not_asked_again() -> Tested {
    let service = Service::with([Some(Problem(500, "misconfigured", None))]).await?;
    let run = run(&service, &["import", "-"], &lines(1, 1))?;
    assert_eq!(
        (run.code, run.stderr.as_str(), service.received().len()),
        (Some(3), "error: misconfigured: as the test wants it\n", 1)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_not_there_is_an_error_after_all_attempts() -> Tested {
    // Bound, so that nobody else gets the port, but not listening.
    let socket = TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let url = format!("http://{}", socket.local_addr()?);
    let service = Service::sound().await?;
    let args = ["import", "-", "--retries", "2", "--url", &url];
    let run = run(&service, &args, &lines(1, 1))?;
    assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""));
    let told = format!("error: {url}/v1/activity did not answer: Connection refused");
    assert!(run.stderr.starts_with(&told), "{}", run.stderr);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_this_service_is_found_out() -> Tested {
    for (fault, what) in [
        (Body("<html>"), "expected value at line 1 column 1"),
        (Body(r#"{"results":[]}"#), "0 results for 1 lines"),
        (Body(r#"{"results":[{}]}"#), "a result without an outcome"),
        (Redirect, "it redirects to https://example.org/"),
    ] {
        let service = Service::with([Some(fault)]).await?;
        let run = run(&service, &["import", "-"], &lines(1, 1))?;
        let told = format!(
            "error: {}/v1/activity does not answer like activity-rank: {what}\n",
            service.url
        );
        assert_eq!((run.code, run.stderr), (Some(3), told));
    }
    Ok(())
}
