//! `--report`: the result of each line.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::TestResult;
use crate::command::{lines, run};
use crate::service::{Fault, Service};

const VALID: &str = r#"{"user":"a","action":"like","target":"1"}"#;
const CAPPED: &str = r#"{"user":"a","action":"like","target":"capped"}"#;
const UNKNOWN_ACTION: &str = r#"{"user":"b","action":"jump","target":"1"}"#;
const POISON: &str = r#"{"user":"b","action":"like","target":"poison"}"#;

/// The file of a report.
struct File {
    _folder: TempDir,
    path: PathBuf,
    name: String,
}

impl File {
    fn new() -> std::io::Result<Self> {
        let folder = TempDir::new()?;
        let path = folder.path().join("report.jsonl");
        let name = path.to_string_lossy().into_owned();
        Ok(Self {
            _folder: folder,
            path,
            name,
        })
    }

    fn read(&self) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
        let text = fs::read_to_string(&self.path)?;
        let lines: Result<_, _> = text.lines().map(serde_json::from_str).collect();
        Ok(lines?)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn report_has_each_line_in_order() -> TestResult {
    let (service, file) = (Service::start().await?, File::new()?);
    let input = [
        VALID,
        UNKNOWN_ACTION,
        "",
        r#"{"user":"","action":"like","target":"1"}"#,
        CAPPED,
        VALID,
        POISON,
    ];
    let args = format!("import - --skip-invalid --report {}", file.name);
    let run = run(&service, &args, &input.join("\n"))?;
    assert_eq!(run.code, Some(1), "{run:?}");
    let user = "must be 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";
    assert_eq!(
        json!(file.read()?),
        json!([
            { "line": 1, "outcome": "counted", "points": 2 },
            { "line": 2, "outcome": "refused", "reason": "unknown-action", "status": 422, "detail": "injected by the test",
              "errors": [{ "pointer": "/action", "detail": "no rule is named \u{1b}[31mjump" }] },
            { "line": 4, "outcome": "refused", "reason": "invalid-request", "status": 400, "detail": format!("user: {user}"),
              "errors": [{ "pointer": "/user", "detail": user }] },
            { "line": 5, "outcome": "capped", "reason": "daily-cap" },
            { "line": 6, "outcome": "duplicate" },
            { "line": 7, "outcome": "refused", "reason": "invalid-request", "status": 400, "detail": "injected by the test" },
        ])
    );
    Ok(())
}

/// Batches of eight connections end in another order.
#[tokio::test(flavor = "multi_thread")]
async fn report_of_many_batches_is_in_order() -> TestResult {
    let (service, file) = (Service::start().await?, File::new()?);
    let args = format!("import - --batch=3 --concurrency=8 --report {}", file.name);
    let input = format!("[{}]", lines(1000, 20).trim_end().replace('\n', ","));
    run(&service, &args, &input)?.assert_error(0, "");
    let entry = json!({ "line": 1, "outcome": "counted", "points": 2 });
    assert_eq!(file.read()?, vec![entry; 1000]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn check_reports_valid_lines() -> TestResult {
    for options in [" --dry-run", ""] {
        let (service, file) = (Service::start().await?, File::new()?);
        let args = format!("import - --report {}{options}", file.name);
        let run = run(&service, &args, &[VALID, "?", VALID].join("\n"))?;
        assert_eq!((run.code, service.received().len()), (Some(1), 0));
        assert_eq!(
            json!(file.read()?),
            json!([
                { "line": 1, "outcome": "valid" },
                { "line": 2, "outcome": "refused", "reason": "not-json", "detail": "expected value at column 1" },
                { "line": 3, "outcome": "valid" },
            ])
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_import_keeps_its_report() -> TestResult {
    let faults = [None, Some(Fault::Problem(401, "unauthenticated", None))];
    let (service, file) = (Service::with(faults).await?, File::new()?);
    let args = format!("import - --batch=2 --concurrency=1 --report {}", file.name);
    let failed = run(&service, &args, &lines(6, 1))?;
    assert_eq!(failed.code, Some(3), "{failed:?}");
    let first = ["1", "2"]
        .map(|line| format!("{{\"line\":{line},\"outcome\":\"counted\",\"points\":2}}\n"));
    assert_eq!(fs::read_to_string(&file.path)?, first.concat());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unwritable_report_sends_nothing() -> TestResult {
    let (service, input) = (Service::start().await?, File::new()?);
    fs::write(&input.path, lines(2, 1))?;
    let folder = input.path.parent().ok_or("no folder")?.to_string_lossy();
    let linked = format!("{folder}/linked");
    std::os::unix::fs::symlink(&input.path, &linked)?;
    let exists = |name: &str| format!("--report: {name} exists: name a new file");
    let summary = "--report: standard output has the summary: name a file";
    for (report, error) in [
        (&*input.name, exists(&input.name)),
        (&linked, exists(&linked)),
        (&folder, format!("{folder}: Is a directory (os error 21)")),
        (
            "no/folder",
            "no/folder: No such file or directory (os error 2)".to_owned(),
        ),
        ("-", summary.to_owned()),
    ] {
        let args = format!("import {} --report {report}", input.name);
        run(&service, &args, "")?.assert_error(2, &format!("error: {error}\n"));
    }
    assert_eq!(fs::read_to_string(&input.path)?, lines(2, 1));
    assert!(service.received().is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_have_a_report() -> TestResult {
    let (service, file) = (Service::start().await?, File::new()?);
    let input = "{\"id\":\"1\",\"name\":\"Ada\"}\n{\"id\":\"2\",\"name\":\"refused\"}\n";
    let run = run(
        &service,
        &format!("profiles - --report {}", file.name),
        input,
    )?;
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(
        json!(file.read()?),
        json!([
            { "line": 1, "outcome": "stored" },
            { "line": 2, "outcome": "refused", "reason": "invalid-request", "status": 400, "detail": "injected by the test" },
        ])
    );
    Ok(())
}
