//! `import` of valid lines into a service without faults.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use test_support::until;

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

/// A connection for each spelling of an id would let an undo overtake its activity.
#[tokio::test(flavor = "multi_thread")]
async fn spellings_of_an_id_arrive_in_order() -> TestResult {
    let service = Service::start().await?;
    let line = |user: u32| {
        let line =
            |id: String| format!("{{\"user\":{id},\"action\":\"like\",\"target\":\"{user}\"}}\n");
        [
            line(user.to_string()),
            line(format!("{user}.0")),
            line(format!("\"{user}\"")),
        ]
        .concat()
    };
    let input: String = (61000..61020).map(line).collect();
    run(
        &service,
        &["import", "-", "--batch", "1", "--concurrency", "8"],
        &input,
    )?;
    for user in 61000..61020 {
        let received = service
            .received()
            .into_iter()
            .flat_map(|request| request.items);
        let ids: Vec<_> = received
            .filter(|item| item["target"] == json!(user.to_string()))
            .map(|item| item["user"].clone())
            .collect();
        assert_eq!(
            ids,
            [json!(user), json!(f64::from(user)), json!(user.to_string())]
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_column_sends_nothing() -> TestResult {
    let (input, columns) = (
        "id,kind,post,id\n55501,like,dup-a,99901\n",
        "--columns=user=id,action=kind,target=post",
    );
    for (args, input, error) in [
        (vec![], "user,action,target,user\np1,like,p,p9\n", "user"),
        (
            vec!["--skip-invalid"],
            "user,action,target,user\np1,like,p,p9\n",
            "user",
        ),
        (vec![columns], input, "id"),
        (vec![columns, "--dry-run"], input, "id"),
    ] {
        let service = Service::start().await?;
        let args = [&["import", "-", "--format=csv"], &*args].concat();
        let run = run(&service, &args, input)?;
        let error =
            format!("error: standard input: the first row has more than one column '{error}'\n");
        assert_eq!(
            (run.code, run.stderr, service.received().len()),
            (Some(2), error, 0)
        );
    }
    Ok(())
}

/// Each of these files has one right reading.
#[tokio::test(flavor = "multi_thread")]
async fn unusual_files_import_or_are_refused() -> TestResult {
    let json = r#"{"user":"1","action":"like","target":"a\r\nb"}"#.replace("\\r\\n", "");
    for (format, input, sent, reason) in [
        ("json", format!("\u{feff}{json}\r\n\r\n{json}"), 2, ""),
        ("json", format!("\u{feff}[\r\n{json}\r\n]\r\n"), 1, ""),
        (
            "json",
            format!("{json},\n"),
            0,
            "not-json: Not a JSON object: trailing characters",
        ),
        (
            "json",
            format!("[{json},]"),
            0,
            "not-json: Not a JSON object: expected value",
        ),
        (
            "json",
            json.replace("\"1\"", "NaN"),
            0,
            "not-json: Not a JSON object: expected value",
        ),
        (
            "json",
            json.replace("{", "{\"user\":\"2\","),
            0,
            "invalid-request: The request is invalid: user: must not be",
        ),
        (
            "csv",
            "\u{feff}\"user\",action,target\r\n\"1\",like,\"p\"\r\n\r\n".to_owned(),
            1,
            "",
        ),
        (
            "csv",
            "user,action,target,undo,groups\n1,like,p,,\n1,like,p,TRUE,eu\n".to_owned(),
            2,
            "",
        ),
        ("csv", "user,action,target\n".to_owned(), 0, ""),
        (
            "csv",
            "user,action,target\n 1,like,p\n".to_owned(),
            0,
            "invalid-request: The request is invalid: user: must be",
        ),
        (
            "csv",
            "user,action,target\n1, like,p\n".to_owned(),
            0,
            "unknown-action: Unknown action",
        ),
        (
            "csv",
            "user,action,target\n1,like,\"a\nb\"\n".to_owned(),
            0,
            "invalid-request: The request is invalid: target: must not contain control",
        ),
        (
            "csv",
            "user,action,target\n1,like,\"p\n2,like,p\n".to_owned(),
            0,
            "invalid-request: The request is invalid: target: must not contain control",
        ),
        (
            "csv",
            "user,action,target,undo\n1,like,p,maybe\n".to_owned(),
            0,
            "invalid-request: The request is invalid: undo: must be true",
        ),
        (
            "csv",
            "user;action;target\n1;like;p\n".to_owned(),
            0,
            "invalid-request: The request is invalid: 4 fields",
        ),
    ] {
        let service = Service::start().await?;
        let run = run(&service, &["import", "-", "--format", format], &input)?;
        let items = service
            .received()
            .iter()
            .map(|request| request.items.len())
            .sum::<usize>();
        let code = if reason.is_empty() { 0 } else { 1 };
        assert_eq!((run.code, items), (Some(code), sent), "{input}: {run:?}");
        assert!(run.stderr.contains(reason), "{input}: {}", run.stderr);
        let dry_run = crate::command::run(
            &Service::start().await?,
            &["import", "-", "--format", format, "--dry-run"],
            &input,
        )?;
        assert_eq!(dry_run.code, Some(code), "{input}: {dry_run:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn summary_has_reasons_of_capped() -> TestResult {
    let service = Service::start().await?;
    let input = [
        &lines(1, 1),
        "{\"user\":\"1\",\"action\":\"like\",\"target\":\"capped\"}",
    ]
    .concat();
    let run = run(&service, &["import", "-"], &input)?;
    let expected = "  counted                            1\n  capped                             1\n    \
                    daily-cap                        1\n  points                            +2\n";
    assert!(run.stdout.ends_with(expected), "{}", run.stdout);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn summary_of_past_activity_names_cron() -> TestResult {
    let service = Service::start().await?;
    let line = |days: i64| {
        let at = Timestamp::now() - (24 * days).hours();
        format!("{{\"user\":\"1\",\"action\":\"like\",\"target\":\"{days}\",\"at\":\"{at}\"}}\n")
    };
    let hint = "A service with an archive archives the past days in the next runs of cron, some every 5 minutes: calendars are complete then.\n";
    for (days, options, is_named) in [
        (3, "--concurrency=1", true),
        (1, "--concurrency=1", false),
        (3, "--json", false),
    ] {
        let run = run(&service, &["import", "-", options], &line(days))?;
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(
            run.stdout.ends_with(hint),
            is_named,
            "{days}: {}",
            run.stdout
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_stay_within_the_body_limit() -> TestResult {
    let service = Service::start().await?;
    let on = "x".repeat(500);
    let line = |n| {
        format!(
            "{{\"user\":\"u\",\"action\":\"comment\",\"target\":\"{n:0500}\",\"on\":\"{on}\"}}\n"
        )
    };
    let run = run(
        &service,
        &["import", "-", "--batch=500"],
        &(0..1000).map(line).collect::<String>(),
    )?;
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(service.counted().len(), 1000);
    let sizes: Vec<_> = service
        .received()
        .iter()
        .map(|received| received.bytes)
        .collect();
    assert!(sizes.iter().all(|bytes| *bytes <= 262_144), "{sizes:?}");
    assert_eq!(sizes.len(), 5, "{sizes:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_pipe_has_its_lines_sent() -> TestResult {
    let service = Service::start().await?;
    let mut child = command(&service, &["import", "-", "--skip-invalid"]).spawn()?;
    let mut input = child.stdin.take().ok_or("no stdin")?;
    input.write_all(lines(1, 1).as_bytes())?;
    until("a line while the pipe is open", async || {
        (!service.counted().is_empty()).then_some(())
    })
    .await;
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
        {"user":2,"action":"like","target":"a"}
        {"user":2,"action":"fly","target":"a"}
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
            "would send 3 lines (182 B) in 1 request to {}/v1/activity\n\
             times from 2026-11-19T08:00:00Z to 2026-11-20T00:00:00Z\n\
             2 lines are invalid: nothing would be sent without --skip-invalid\n\
             not checked: the key, what depends on stored data\n",
            service.url
        )
    );
    assert_eq!(
        run.stderr,
        "line 3: unknown-action: Unknown action: action: must be one of bookmark, comment, follow, jump, like, publish, \
         visit, wave\n\
         line 5: not-json: Not a JSON object: expected ident at column 2\n"
    );
    assert_eq!(run.code, Some(1));
    assert!(service.received().is_empty());
    Ok(())
}

/// Without the rules of the service, everything else is checked.
#[tokio::test(flavor = "multi_thread")]
async fn dry_run_without_service_checks_fields() -> TestResult {
    let service = Service::start().await?;
    let socket = tokio::net::TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let url = format!("http://{}", socket.local_addr()?);
    let args = ["import", "-", "--dry-run", "--json", "--url", &url];
    let fly = |user| format!("{{\"user\":{user},\"action\":\"fly\",\"target\":\"a\"}}\n");
    let run = run(&service, &args, &[fly("1"), fly("1.5")].concat())?;
    let plan: Value = serde_json::from_str(&run.stdout)?;
    assert_eq!(
        plan,
        json!({"url": format!("{url}/v1/activity"), "lines": 1, "requests": 1, "bytes": 40, "refused": 1,
               "earliest": null, "latest": null, "unchecked": [
                   "actions, because /healthz of the service gave no rules", "the key", "what depends on stored data"]})
    );
    assert_eq!(run.code, Some(1));
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
