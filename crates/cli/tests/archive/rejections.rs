//! Rejected files, stores and prefixes, and the format of an exported file.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use test_support::{json, redis};

use crate::app::{Endpoint, like};
use crate::cli::{command, export, finish, restore, run};
use crate::stored::{read_data, redis_command};
use crate::{TestResult, start};

const FIRST: &str = r#"{"kind":"export","version":2,"prefix":"ar","instant":"2026-11-20T08:00:00Z","shards":1,"decimals":0,"timezone":"UTC"}"#;
const RECORDS: &str = r#"{"kind":"marks","user":"42","marks":{"like:p":"2041795132800000"}}"#;
const END: &str = r#"{"kind":"end","lines":2}"#;

fn file(lines: &[&str]) -> Result<tempfile::NamedTempFile, std::io::Error> {
    let file = tempfile::NamedTempFile::new()?;
    fs::write(&file, lines.join("\n"))?;
    Ok(file)
}

/// Only the owner may read the file. A key of 700 values takes two lines.
#[tokio::test(flavor = "multi_thread")]
async fn exported_file_has_every_kind_of_line() -> TestResult {
    let app = start();
    app.fill().await;
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&file)?;
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut long_key_lines = 0;
    for line in text.lines() {
        assert!(line.len() < 100_000, "{line}");
        let line: Value = serde_json::from_str(line)?;
        let kind = line["kind"].as_str().unwrap_or_default();
        *kinds.entry(kind.to_owned()).or_default() += 1;
        long_key_lines += usize::from(line["user"] == "many" && kind == "marks");
    }
    let names: Vec<&str> = kinds.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "audit",
            "board",
            "day-marks",
            "definitions",
            "end",
            "event",
            "export",
            "flags",
            "history",
            "index-board",
            "index-span",
            "marks",
            "profile",
            "reason",
            "subject",
            "subjects",
            "undo-memory",
        ]
    );
    assert_eq!(long_key_lines, 2);
    let last = text.lines().last().unwrap_or_default();
    let before = text.lines().count() - 1;
    assert_eq!(last, json!({"kind": "end", "lines": before}).to_string());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn restore_to_nonempty_prefix_is_rejected() -> TestResult {
    let app = start();
    app.send(like("ada", "p", 0)).await;
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let before = read_data(&mut redis().connection(), &app.endpoint.prefix)?;
    let rejected = run(&app.endpoint, &["restore", &file.to_string_lossy()])?;
    let error = format!(
        "error: the prefix {} already has data; choose another PREFIX\n",
        app.endpoint.prefix
    );
    assert_eq!((rejected.code, rejected.stderr), (Some(2), error));
    let after = read_data(&mut redis().connection(), &app.endpoint.prefix)?;
    assert_eq!(after, before);

    let endpoint = Endpoint::unused("used");
    let mut redis = redis().connection();
    let key = format!("{{{}:0}}zzz", endpoint.prefix);
    let _: String = redis_command(&mut redis, &["SET", &key, "1", "EX", "60"])?;
    let rejected = run(&endpoint, &["restore", &file.to_string_lossy()])?;
    assert_eq!(rejected.code, Some(2));
    assert!(
        rejected
            .stderr
            .contains("is not empty; choose another PREFIX")
    );
    assert_eq!(read_data(&mut redis, &endpoint.prefix)?.len(), 1);
    Ok(())
}

#[test]
fn invalid_line_is_reported_before_any_write() -> TestResult {
    let endpoint = Endpoint::unused("wrong");
    let invalid_user = r#"{"kind":"marks","user":"4 2","marks":{}}"#;
    let future = FIRST.replace(r#""version":2"#, r#""version":3"#);
    let with_shards =
        |shards: &str| FIRST.replace(r#""shards":1"#, &format!(r#""shards":{shards}"#));
    let (too_many, eight) = (with_shards("65"), with_shards("8"));
    let stray = r##"{"kind":"board","shard":4,"period":"all","id":"all","scores":{"#":3,"42":3221225469}}"##;
    let beyond = r#"{"kind":"subjects","shard":8,"count":1}"#;
    let audit = r#"{"kind":"audit","id":"5-0","fields":[]}"#;
    for (lines, number, error) in [
        (&[][..], 1, "the `end` record is missing"),
        (&["{}"][..], 1, "missing field `kind`"),
        (
            &[RECORDS, END][..],
            1,
            "the first line must be an `export` record",
        ),
        (
            &[&future, RECORDS, END][..],
            1,
            "unsupported file version 3",
        ),
        (
            &[&too_many, RECORDS, END][..],
            1,
            "`shards` must be from 1 to 64, not 65",
        ),
        (&[FIRST, stray, END][..], 2, "shard 4 does not exist"),
        (&[&eight, beyond, END][..], 2, "shard 8 does not exist"),
        (
            &[&eight, stray, END][..],
            2,
            "user '42' belongs to shard 3 of 8, not to shard 4",
        ),
        (
            &[FIRST, FIRST, END][..],
            2,
            "unexpected second `export` record",
        ),
        (&[FIRST, invalid_user, END][..], 2, "invalid user"),
        (&[FIRST, "nonsense", END][..], 2, "expected"),
        (&[FIRST, RECORDS][..], 3, "the `end` record is missing"),
        (
            &[FIRST, END][..],
            2,
            "`lines` is 2, but the number of lines before is 1",
        ),
        (
            &[FIRST, RECORDS, END, RECORDS][..],
            4,
            "unexpected line after the `end` record",
        ),
        (
            &[FIRST, audit, audit, END][..],
            3,
            "entries of a stream must have increasing ids",
        ),
    ] {
        let file = file(lines)?;
        let path = file.path().to_string_lossy();
        let rejected = run(&endpoint, &["restore", &path])?;
        let start = format!("error: {path}: line {number}: ");
        assert!(
            rejected.code == Some(2)
                && rejected.stderr.starts_with(&start)
                && rejected.stderr.contains(error),
            "{lines:?}: {rejected:?}"
        );
    }
    assert!(read_data(&mut redis().connection(), &endpoint.prefix)?.is_empty());
    Ok(())
}

/// An unknown key stops the export and leaves no file. The set of archived boards is not exported.
#[test]
fn export_of_missing_or_unknown_data_is_rejected() -> TestResult {
    let empty = Endpoint::unused("empty");
    let rejected = run(&empty, &["export"])?;
    let error = format!(
        "error: no data under the prefix {}: does PREFIX match that of the service?\n",
        empty.prefix
    );
    assert_eq!(
        (rejected.code, rejected.stdout.as_str(), rejected.stderr),
        (Some(2), "", error)
    );

    let unknown = Endpoint::unused("foreign");
    let folder = tempfile::tempdir()?;
    let valid = file(&[FIRST, RECORDS, END])?;
    restore(&unknown, valid.path())?;
    let mut redis = redis().connection();
    let archived = format!("{{{}:0}}a", unknown.prefix);
    let _: i64 = redis_command(&mut redis, &["SADD", &archived, "board"])?;
    let exported = run(&unknown, &["export"])?;
    assert_eq!(exported.code, Some(0), "{exported:?}");
    assert!(!exported.stdout.contains("board"), "{exported:?}");
    let key = format!("{{{}:0}}zzz", unknown.prefix);
    let _: String = redis_command(&mut redis, &["SET", &key, "1"])?;
    let output = folder.path().join("site.jsonl");
    let rejected = run(&unknown, &["export", "-o", &output.to_string_lossy()])?;
    assert_eq!(rejected.code, Some(3));
    let error = format!("{key} is not a key of this version");
    assert!(rejected.stderr.contains(&error), "{rejected:?}");
    assert_eq!(fs::read_dir(folder.path())?.count(), 0, "partial file");
    Ok(())
}

#[test]
fn missing_or_wrong_token_is_reported() -> TestResult {
    let endpoint = Endpoint::unused("token");
    for (token, code, error) in [
        ("", 2, "set the variable UPSTASH_REDIS_REST_TOKEN"),
        ("wrong", 3, "the store rejected the token"),
    ] {
        let mut command = command(&endpoint, &["export"]);
        command.env("UPSTASH_REDIS_REST_TOKEN", token);
        let rejected = finish(command)?;
        assert!(
            rejected.code == Some(code) && rejected.stderr.contains(error),
            "{rejected:?}"
        );
    }
    let help = run(&endpoint, &["export", "--help"])?;
    assert!(help.stdout.contains("UPSTASH_REDIS_REST_TOKEN"));
    Ok(())
}

#[test]
fn restore_from_pipe_skips_expired_lines() -> TestResult {
    let endpoint = Endpoint::unused("pipe");
    let expired = r#"{"kind":"day-marks","user":"42","span":589,"expires":"2020-02-02T00:00:00Z","marks":{"visit:/":["2020-01-01"]}}"#;
    let end = r#"{"kind":"end","lines":3}"#;
    let mut child = command(&endpoint, &["restore", "-"]).spawn()?;
    let mut input = child.stdin.take().ok_or("no stdin")?;
    input.write_all([FIRST, RECORDS, expired, end].join("\n").as_bytes())?;
    drop(input);
    let output = child.wait_with_output()?;
    assert_eq!(
        (output.status.code(), String::from_utf8(output.stdout)?),
        (
            Some(0),
            "restored 4 lines, skipped 1 line that had expired\n".to_owned()
        )
    );
    let data = read_data(&mut redis().connection(), &endpoint.prefix)?;
    assert_eq!(data.keys().collect::<Vec<_>>(), ["0}m:42", "0}p"]);
    let exported = run(&endpoint, &["export"])?;
    assert!(exported.stdout.contains(RECORDS), "{exported:?}");
    assert_eq!(exported.stderr, "exported 3 lines\n");
    Ok(())
}
