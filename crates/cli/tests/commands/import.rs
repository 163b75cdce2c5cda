//! `import` of valid lines into a service without faults.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::TestResult;
use crate::command::{command, lines, run, without_times};
use crate::service::{KEY, Service};

#[tokio::test(flavor = "multi_thread")]
async fn second_import_reports_duplicates() -> TestResult {
    let service = Service::start().await?;
    let (file, lines) = (tempfile::NamedTempFile::new()?, lines(1000, 20));
    fs::write(&file, &lines)?;
    let path = file.path().to_string_lossy();

    let first = run(&service, &["import", &path, "--batch", "50"], "")?;
    assert_eq!(first.stderr, "");
    let summary = |outcome, points| {
        format!("  {outcome:<24}       1,000\n  points                  {points:>12}\n")
    };
    let counted = without_times(&first.stdout);
    assert!(
        counted.starts_with("1,000 lines, ") && counted.ends_with(&summary("counted", "+2000")),
        "{counted}"
    );
    assert_eq!(first.code, Some(0));

    let second = run(&service, &["import", &path], "")?;
    assert!(
        second.stdout.ends_with(&summary("duplicate", "+0")),
        "{}",
        second.stdout
    );
    assert_eq!(second.code, Some(0));
    assert_eq!(service.counted().len(), 1000);
    for received in service.received() {
        assert_eq!(received.route, "POST /v1/activity");
        assert_eq!(received.authorization, Some(format!("Bearer {KEY}")));
    }
    Ok(())
}

/// An array was read as lines: those that happened to be complete objects were counted.
#[tokio::test(flavor = "multi_thread")]
async fn array_and_csv_import_as_lines_do() -> TestResult {
    let expected = [
        json!({"user": "42", "action": "like", "target": "post-7", "at": "2026-11-20T08:00:00Z"}),
        json!({"user": "42", "action": "like", "target": "post-7", "undo": true, "groups": ["eu", "us"]}),
    ];
    let pretty = serde_json::to_string_pretty(&expected)?;
    let named = "user,action,target,at,undo,groups\n42,like,post-7,2026-11-20T08:00:00Z,,\n42,like,post-7,,true,eu;us\n";
    let foreign = "n,who,what,post,when,back,teams\n1,42,like,post-7,2026-11-20T08:00:00Z,,\n2,42,like,post-7,,true,eu;us\n";
    let columns = "--columns=user=who,action=what,target=post,at=when,undo=back,groups=teams";
    for (args, input) in [
        (vec![], serde_json::to_string(&expected)?),
        (vec![], pretty),
        (vec!["--format=csv"], named.to_owned()),
        (vec!["--format=csv", columns], foreign.to_owned()),
    ] {
        let service = Service::start().await?;
        let run = run(&service, &[&["import", "-"], &*args].concat(), &input)?;
        assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{input}");
        let received = service.received();
        let items: Vec<_> = received.iter().flat_map(|request| &request.items).collect();
        assert_eq!(items, expected.iter().collect::<Vec<_>>(), "{input}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn incomplete_array_sends_nothing() -> TestResult {
    let service = Service::start().await?;
    let input = "[\n{\"user\":\"42\",\"action\":\"like\",\"target\":\"p\"},\n7";
    let run = run(&service, &["import", "-"], input)?;
    let error = "error: standard input: the JSON array has no end: the file may be incomplete\n";
    assert_eq!((run.code, &*run.stderr), (Some(2), error));
    assert!(service.received().is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_for_csv_alone() -> TestResult {
    let service = Service::start().await?;
    for (args, error) in [
        (
            ["import", "-", "--columns=user=a"].as_slice(),
            "error: --columns is for CSV: add --format csv, unless the name ends in .csv\n",
        ),
        (
            &["import", "-", "--format=csv", "--columns=user=a"],
            "error: standard input: the first row has no column 'a'\n",
        ),
    ] {
        let run = run(&service, args, "user\n42\n")?;
        assert_eq!((run.code, &*run.stderr), (Some(2), error));
    }
    assert_eq!(service.received().len(), 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_one_user_arrive_in_order() -> TestResult {
    let service = Service::start().await?;
    run(
        &service,
        &["import", "-", "--batch", "3", "--concurrency", "8"],
        &lines(1000, 20),
    )?;
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
async fn requests_stay_within_the_body_limit() -> TestResult {
    let service = Service::start().await?;
    let filler = "x".repeat(60_000);
    let line = |n| {
        format!(
            "{{\"user\":\"u\",\"action\":\"like\",\"target\":\"{n}\",\"filler\":\"{filler}\"}}\n"
        )
    };
    let run = run(
        &service,
        &["import", "-"],
        &(0..30).map(line).collect::<String>(),
    )?;
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(service.counted().len(), 30);
    let sizes: Vec<_> = service
        .received()
        .iter()
        .map(|received| received.bytes)
        .collect();
    assert!(
        sizes
            .iter()
            .all(|bytes| (180_000..=262_144).contains(bytes) || *bytes < 180_000),
        "{sizes:?}"
    );
    assert!(sizes.len() <= 9, "{sizes:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_pipe_has_its_lines_sent() -> TestResult {
    let service = Service::start().await?;
    let mut child = command(&service, &["import", "-", "--skip-invalid"]).spawn()?;
    let mut input = child.stdin.take().ok_or("no stdin")?;
    input.write_all(lines(1, 1).as_bytes())?;
    let deadline = Instant::now() + Duration::from_secs(20);
    while service.counted().is_empty() {
        assert!(
            Instant::now() < deadline,
            "no line was sent while the pipe was open"
        );
        sleep(Duration::from_millis(20)).await;
    }
    drop(input);
    assert!(child.wait()?.success());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn json_summary_has_all_totals() -> TestResult {
    let service = Service::start().await?;
    let run = run(&service, &["import", "-", "--json"], &lines(3, 1))?;
    let mut summary: Value = serde_json::from_str(&run.stdout)?;
    assert!(summary["seconds"].take().is_f64() && summary["lines_per_second"].take().is_u64());
    assert_eq!(
        summary,
        json!({"lines": 3, "outcomes": {"counted": 3}, "refused": 0, "errors": {}, "points": 6,
               "requests": 1, "retries": 0, "seconds": null, "lines_per_second": null})
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn dry_run_sends_nothing() -> TestResult {
    let service = Service::start().await?;
    let lines = r#"{"at":"2026-11-20T08:00:00+08:00","user":1,"action":"like","target":"a"}
        {"user":2,"action":"like"}

        {"at":"2026-11-19T08:00:00Z","user":1,"action":"like","target":"b"}
        nonsense"#;
    let run = run(
        &service,
        &["import", "-", "--dry-run", "--concurrency", "1"],
        lines,
    )?;
    assert_eq!(
        run.stdout,
        format!(
            "would send 3 lines (169 B) in 1 request to {}/v1/activity\n\
             times from 2026-11-19T08:00:00Z to 2026-11-20T00:00:00Z\n\
             1 line is invalid: nothing would be sent without --skip-invalid\n",
            service.url
        )
    );
    assert_eq!(
        run.stderr,
        "line 5: not-json: Not a JSON object: expected ident at column 2\n"
    );
    assert_eq!(run.code, Some(1));
    assert!(service.received().is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_file_sends_nothing() -> TestResult {
    let service = Service::start().await?;
    let run = run(&service, &["import", "-"], "\n\n")?;
    assert_eq!(
        (run.code, without_times(&run.stdout).lines().next()),
        (Some(0), Some("0 lines, 0 requests, 0 retries"))
    );
    assert!(service.received().is_empty());
    Ok(())
}
