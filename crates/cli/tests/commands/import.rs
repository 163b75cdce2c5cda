//! `import` of valid lines into a service without faults.

use std::fs;
use std::io::Write;
use std::process::Command;

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use test_support::until;

use crate::TestResult;
use crate::command::{command, lines, run, unreachable_url, without_times};
use crate::service::{KEY, Service};

#[tokio::test(flavor = "multi_thread")]
async fn second_import_reports_duplicates() -> TestResult {
    let service = Service::start().await?;
    let (file, lines) = (tempfile::NamedTempFile::new()?, lines(1000, 20));
    fs::write(&file, &lines)?;
    let path = file.path().to_string_lossy();

    let first = run(&service, &format!("import {path} --batch 50"), "")?.assert_error(0, "");
    let summary = |outcome, points| {
        format!("  {outcome:<24}       1,000\n  points                  {points:>12}\n")
    };
    let first = without_times(&first.stdout);
    let is_counted = first.ends_with(&summary("counted", "+2000"));
    assert!(first.starts_with("1,000 lines, ") && is_counted, "{first}");

    let second = run(&service, &format!("import {path}"), "")?.assert_error(0, "");
    let is_repeated = second.stdout.ends_with(&summary("duplicate", "+0"));
    assert!(is_repeated, "{second:?}");
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
        ("json", &*serde_json::to_string(&expected)?),
        ("json", &pretty),
        ("csv", named),
        (&format!("csv {columns}"), foreign),
    ] {
        let service = Service::start().await?;
        run(&service, &format!("import - --format={args}"), input)?.assert_error(0, "");
        assert_eq!(service.items(), expected, "{input}");
    }
    Ok(())
}

/// A connection for each spelling of an id would let an undo overtake its activity.
#[tokio::test(flavor = "multi_thread")]
async fn spellings_of_an_id_arrive_in_order() -> TestResult {
    let service = Service::start().await?;
    let line = |user: u32| {
        let ids = [user.to_string(), format!("{user}.0"), format!("\"{user}\"")];
        ids.map(|id| format!("{{\"user\":{id},\"action\":\"like\",\"target\":\"{user}\"}}\n"))
    };
    let input: String = (61000..61020).flat_map(line).collect();
    run(&service, "import - --batch 1 --concurrency 8", &input)?.assert_error(0, "");
    for user in 61000..61020 {
        let mut items = service.items();
        items.retain(|item| item["target"] == json!(user.to_string()));
        let ids = items.iter().map(|item| item["user"].clone());
        let expected = json!([user, f64::from(user), user.to_string()]);
        assert_eq!(ids.collect::<Value>(), expected);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_input_sends_nothing() -> TestResult {
    let service = Service::start().await?;
    let array = "[\n{\"user\":\"42\",\"action\":\"like\",\"target\":\"p\"},\n7";
    let end = "standard input: the JSON array has no end: the file may be incomplete";
    let alone = "--columns is for CSV: add --format csv, unless the name ends in .csv";
    let lacks = "standard input: the first row has no column 'a'";
    let csv = "--format=csv";
    let named = "user,action,target,user\np1,like,p,p9\n";
    let foreign = "id,kind,post, id\n55501,like,dup-a,99901\n";
    let columns = &*format!("{csv} --columns=user=id,action=kind,target=post");
    let user = "standard input: the first row has more than one column 'user'";
    let id = &*user.replace("user", "id");
    let unclosed = "standard input: the quotation mark of line 2 is never closed";
    let unknown = "standard input: the first row has unknown fields: Member: --columns FIELD=COLUMN,… names the columns to read";
    for (args, input, error) in [
        ("", array, end),
        ("--columns=user=a", "user\n42\n", alone),
        ("--columns=user=a --format=csv", "user\n42\n", lacks),
        (csv, named, user),
        (&format!("{csv} --skip-invalid"), named, user),
        (columns, foreign, id),
        ("", "\n\n", "standard input: it is empty"),
        (csv, "\n", "standard input: no header row: it is empty"),
        (
            csv,
            "user,action,target\n42,like,\"p\n43,like,p\n",
            unclosed,
        ),
        (csv, "Member,action,target\n42,like,p\n", unknown),
        (&format!("{columns} --dry-run"), foreign, id),
    ] {
        let args = format!("import - {args}");
        let run = run(&service, args.trim_end(), input)?;
        run.assert_error(2, &format!("error: {error}\n"));
    }
    assert_eq!(service.received().len(), 0);
    Ok(())
}

/// Each of these files has one right reading.
#[tokio::test(flavor = "multi_thread")]
async fn unusual_files_import_or_are_refused() -> TestResult {
    let json = r#"{"user":"1","action":"like","target":"a\r\nb"}"#.replace("\\r\\n", "");
    let other = |from: &str, to: &str| json.replace(from, to);
    let csv = |rows: &str| format!("user,action,target{rows}\n");
    let not_json = |cause: &str| format!("not-json: Not a JSON object: {cause}");
    let invalid = |cause: &str| format!("invalid-request: The request is invalid: {cause}");
    let control = || invalid("target: must not contain control");
    let quoted = "\u{feff}\"user\",action,target\r\n\"1\",like,\"p\"\r\n\r\n";
    let repeated = other("{", r#"{"user":"2","#);
    let unknown = "unknown-action: Unknown action".to_owned();
    let json_files = [
        (format!("\u{feff}{json}\r\n\r\n{json}"), 2, String::new()),
        (format!("\u{feff}[\r\n{json}\r\n]\r\n"), 1, String::new()),
        (format!("{json},\n"), 0, not_json("trailing characters")),
        (format!("[{json},]"), 0, not_json("expected value")),
        (other("\"1\"", "NaN"), 0, not_json("expected value")),
        (repeated, 0, invalid("user: must not be")),
    ];
    let csv_files = [
        (quoted.to_owned(), 1, String::new()),
        (csv(",undo\n1,like,p,\n1,like,p,TRUE"), 2, String::new()),
        (csv(",groups\n1,like,p,eu"), 1, String::new()),
        (csv(""), 0, String::new()),
        (csv("\n 1,like,p"), 0, invalid("user: must be")),
        (csv("\n1, like,p"), 0, unknown),
        (csv("\n1,like,\"a\nb\""), 0, control()),
        (csv(",undo\n1,like,p,x"), 0, invalid("undo: must be true")),
        (csv("\n1,like,p").replace(',', ";"), 1, String::new()),
        (csv("\n1,like,p").replace(',', "\t"), 1, String::new()),
        (
            csv("\n1,like,p\n2,like,p").replace('\n', "\r"),
            2,
            String::new(),
        ),
        ("User,ACTION,target\n1,like,p".to_owned(), 1, String::new()),
    ];
    let json_files = json_files.iter().map(|file| ("json", file));
    let csv_files = csv_files.iter().map(|file| ("csv", file));
    for (format, (input, sent, reason)) in json_files.chain(csv_files) {
        let service = Service::start().await?;
        let args = format!("import - --format {format}");
        let result = run(&service, &args, input)?;
        let code = i32::from(!reason.is_empty());
        let found = (result.code, service.items().len());
        assert_eq!(found, (Some(code), *sent), "{input}: {result:?}");
        assert!(result.stderr.contains(reason), "{input}: {result:?}");
        let args = format!("{args} --dry-run");
        let dry_run = run(&Service::start().await?, &args, input)?;
        assert_eq!(dry_run.code, Some(code), "{input}: {dry_run:?}");
    }
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
        let run = run(&service, &format!("import - {options}"), &line(days))?.assert_error(0, "");
        assert_eq!(run.stdout.ends_with(hint), is_named, "{days}: {run:?}");
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
    let input: String = (0..1000).map(line).collect();
    run(&service, "import - --batch=500", &input)?.assert_error(0, "");
    assert_eq!(service.counted().len(), 1000);
    let sizes = service.requests::<5>().map(|request| request.bytes);
    assert!(sizes.iter().all(|bytes| *bytes <= 262_144), "{sizes:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_pipe_has_its_lines_sent() -> TestResult {
    let service = Service::start().await?;
    let mut child = command(&service, "import - --skip-invalid").spawn()?;
    let mut input = child.stdin.take().ok_or("no stdin")?;
    input.write_all(lines(1, 1).as_bytes())?;
    until("a line while the pipe is open", async || {
        (!service.counted().is_empty()).then_some(())
    })
    .await;
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()?
            .success()
    );
    let output = child.wait_with_output()?;
    let texts = [output.stdout, output.stderr].map(String::from_utf8);
    let [summary, error] = texts;
    let error = (output.status.code(), error?);
    let interrupted = "error: interrupted: run it again to go on; what has counted counts once\n";
    assert_eq!(error, (Some(130), interrupted.to_owned()));
    assert!(summary?.starts_with("1 line in "));
    drop(input);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn dry_run_sends_nothing() -> TestResult {
    let service = Service::start().await?;
    let lines = r#"{"at":"2026-11-20T08:00:00+08:00","user":1,"action":"like","target":"a"}
        {"user":2,"action":"like","target":"a"}
        {"user":2,"action":"fly","target":"a"}
        {"at":"2026-11-19T08:00:00Z","user":1,"action":"like","target":"b"}
        {"at":"2020-01-01T00:00:00Z","user":1,"action":"visit","target":"/a"}
        nonsense"#;
    let run = run(&service, "import - --dry-run --concurrency 1", lines)?.assert_error(
        1,
        "line 3: unknown-action: Unknown action: action: must be one of bookmark, comment, follow, jump, like, publish, \
         visit, wave\n\
         line 6: not-json: Not a JSON object: expected ident at column 2\n",
    );
    let expected = format!(
        "would send 4 lines (252 B) in 1 request to {}/v1/activity\n\
         times from 2020-01-01T00:00:00Z to 2026-11-20T00:00:00Z\n\
         2 lines are invalid: nothing would be sent without --skip-invalid\n\
         1 activity would be stale: what counts once a day counts for up to 30 days\n\
         not checked: the key, what depends on stored data\n",
        service.url
    );
    assert_eq!(run.stdout, expected);
    assert!(service.received().is_empty());
    Ok(())
}

/// Without the rules of the service, everything else is checked.
#[tokio::test(flavor = "multi_thread")]
async fn dry_run_without_service_checks_fields() -> TestResult {
    let service = Service::start().await?;
    let (_socket, url) = unreachable_url()?;
    let args = format!("import - --dry-run --json --url {url}");
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
