//! What is refused, and that nothing is written then.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use test_support::{gateway, json, redis};

use crate::command::{Place, command, exported, finish, restored, run};
use crate::content::{ask, content};
use crate::site::like;
use crate::{Tested, start};

const FIRST: &str = r#"{"kind":"export","version":2,"prefix":"ar","instant":"2026-11-20T08:00:00Z","shards":1,"decimals":0,"timezone":"UTC"}"#;
const MARKS: &str = r#"{"kind":"marks","user":"42","marks":{"like:p":"2041795132800000"}}"#;
const END: &str = r#"{"kind":"end","lines":2}"#;

/// A prefix that nobody else has.
fn place(name: &str) -> Place {
    Place {
        store: gateway().url(),
        prefix: format!("x{}-{name}", std::process::id()),
    }
}

fn file(lines: &[&str]) -> Result<tempfile::NamedTempFile, std::io::Error> {
    let file = tempfile::NamedTempFile::new()?;
    fs::write(&file, lines.join("\n"))?;
    Ok(file)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_has_every_kind_and_long_keys_in_several_lines_and_is_its_owner_s() -> Tested {
    let site = start();
    site.fill().await;
    let folder = tempfile::tempdir()?;
    let file = exported(&site.place, folder.path())?;
    assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&file)?;
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut of_many = 0;
    for line in text.lines() {
        assert!(line.len() < 100_000, "{line}");
        let line: Value = serde_json::from_str(line)?;
        let kind = line["kind"].as_str().unwrap_or_default();
        *kinds.entry(kind.to_owned()).or_default() += 1;
        of_many += usize::from(line["user"] == "many" && kind == "marks");
    }
    let names: Vec<&str> = kinds.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "audit",
            "board",
            "day-marks",
            "end",
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
    assert_eq!(of_many, 2, "700 marks are two pages");
    let last = text.lines().last().unwrap_or_default();
    let before = text.lines().count() - 1;
    assert_eq!(last, json!({"kind": "end", "lines": before}).to_string());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prefix_that_is_not_empty_is_left_alone() -> Tested {
    let site = start();
    site.send(like("ada", "p", 0)).await;
    let folder = tempfile::tempdir()?;
    let file = exported(&site.place, folder.path())?;
    let before = content(&mut redis().connection(), &site.place.prefix)?;
    let refused = run(&site.place, &["restore", &file.to_string_lossy()])?;
    let told = format!(
        "error: the prefix {} holds a site already; choose another PREFIX\n",
        site.place.prefix
    );
    assert_eq!((refused.code, refused.stderr), (Some(2), told));
    let after = content(&mut redis().connection(), &site.place.prefix)?;
    assert_eq!(after, before);

    let place = place("used");
    let mut redis = redis().connection();
    let key = format!("{{{}:0}}zzz", place.prefix);
    let _: String = ask(&mut redis, &["SET", &key, "1", "EX", "60"])?;
    let refused = run(&place, &["restore", &file.to_string_lossy()])?;
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .contains("is not empty; choose another PREFIX")
    );
    assert_eq!(content(&mut redis, &place.prefix)?.len(), 1);
    Ok(())
}

#[test]
fn a_line_that_is_wrong_is_told_with_its_number_and_nothing_is_written() -> Tested {
    let place = place("wrong");
    let odd = r#"{"kind":"marks","user":"4 2","marks":{}}"#;
    let future = FIRST.replace(r#""version":2"#, r#""version":3"#);
    let split = |shards: &str| FIRST.replace(r#""shards":1"#, &format!(r#""shards":{shards}"#));
    let (many, eight) = (split("65"), split("8"));
    let stray = r##"{"kind":"board","shard":4,"period":"all","id":"all","scores":{"#":3,"42":3221225469}}"##;
    let beyond = r#"{"kind":"subjects","shard":8,"count":1}"#;
    let audit = r#"{"kind":"audit","id":"5-0","fields":[]}"#;
    for (lines, number, why) in [
        (&[][..], 1, "its last line is missing"),
        (&["{}"][..], 1, "missing field `kind`"),
        (&[MARKS, END][..], 1, "is no first line"),
        (&[&future, MARKS, END][..], 1, "version 3"),
        (&[&many, MARKS, END][..], 1, "has 65 shards"),
        (
            &[FIRST, stray, END][..],
            2,
            "is of shard 4, and the site has 1",
        ),
        (
            &[&eight, beyond, END][..],
            2,
            "is of shard 8, and the site has 8",
        ),
        (
            &[&eight, stray, END][..],
            2,
            "is of shard 4; '42' is of shard 3 of 8",
        ),
        (&[FIRST, FIRST, END][..], 2, "second first line"),
        (&[FIRST, odd, END][..], 2, "names no key"),
        (&[FIRST, "nonsense", END][..], 2, "expected"),
        (&[FIRST, MARKS][..], 3, "its last line is missing"),
        (
            &[FIRST, END][..],
            2,
            "counts 2 lines before it; there are 1",
        ),
        (&[FIRST, MARKS, END, MARKS][..], 4, "after the last line"),
        (
            &[FIRST, audit, audit, END][..],
            3,
            "not later than the audit entry",
        ),
    ] {
        let file = file(lines)?;
        let path = file.path().to_string_lossy();
        let refused = run(&place, &["restore", &path])?;
        let begins = format!("error: {path}: line {number}: ");
        assert!(
            refused.code == Some(2)
                && refused.stderr.starts_with(&begins)
                && refused.stderr.contains(why),
            "{lines:?}: {refused:?}"
        );
    }
    assert!(content(&mut redis().connection(), &place.prefix)?.is_empty());
    Ok(())
}

#[test]
fn what_is_no_site_is_not_exported() -> Tested {
    let empty = place("empty");
    let refused = run(&empty, &["export"])?;
    let told = format!(
        "error: there is no site under the prefix {}: is PREFIX that of the service?\n",
        empty.prefix
    );
    assert_eq!(
        (refused.code, refused.stdout.as_str(), refused.stderr),
        (Some(2), "", told)
    );

    let foreign = place("foreign");
    let folder = tempfile::tempdir()?;
    let sound = file(&[FIRST, MARKS, END])?;
    restored(&foreign, sound.path())?;
    let mut redis = redis().connection();
    // Which boards the database has is made anew from there.
    let archived = format!("{{{}:0}}a", foreign.prefix);
    let _: i64 = ask(&mut redis, &["SADD", &archived, "board"])?;
    let whole = run(&foreign, &["export"])?;
    assert_eq!(whole.code, Some(0), "{whole:?}");
    assert!(!whole.stdout.contains("board"), "{whole:?}");
    let key = format!("{{{}:0}}zzz", foreign.prefix);
    let _: String = ask(&mut redis, &["SET", &key, "1"])?;
    let output = folder.path().join("site.jsonl");
    let refused = run(&foreign, &["export", "-o", &output.to_string_lossy()])?;
    assert_eq!(refused.code, Some(3));
    let told = format!("{key} is no key that this version knows");
    assert!(refused.stderr.contains(&told), "{refused:?}");
    assert_eq!(
        fs::read_dir(folder.path())?.count(),
        0,
        "half a file is none"
    );
    Ok(())
}

#[test]
fn a_token_is_needed_and_only_the_right_one_is_taken() -> Tested {
    let place = place("token");
    for (token, code, told) in [
        ("", 2, "set the variable UPSTASH_REDIS_REST_TOKEN"),
        ("wrong", 3, "the store does not take this token"),
    ] {
        let mut command = command(&place, &["export"]);
        command.env("UPSTASH_REDIS_REST_TOKEN", token);
        let refused = finish(command)?;
        assert!(
            refused.code == Some(code) && refused.stderr.contains(told),
            "{refused:?}"
        );
    }
    let help = run(&place, &["export", "--help"])?;
    assert!(help.stdout.contains("UPSTASH_REDIS_REST_TOKEN"));
    Ok(())
}

#[test]
fn a_pipe_is_read_and_what_has_expired_is_left_out() -> Tested {
    let place = place("pipe");
    let expired = r#"{"kind":"day-marks","user":"42","span":589,"expires":"2020-02-02T00:00:00Z","marks":{"visit:/":["2020-01-01"]}}"#;
    let end = r#"{"kind":"end","lines":3}"#;
    let mut child = command(&place, &["restore", "-"]).spawn()?;
    let mut input = child.stdin.take().ok_or("no stdin")?;
    input.write_all([FIRST, MARKS, expired, end].join("\n").as_bytes())?;
    drop(input);
    let output = child.wait_with_output()?;
    assert_eq!(
        (output.status.code(), String::from_utf8(output.stdout)?),
        (
            Some(0),
            "restored 4 lines, and left out 1 line that expired meanwhile\n".to_owned()
        )
    );
    let held = content(&mut redis().connection(), &place.prefix)?;
    assert_eq!(held.keys().collect::<Vec<_>>(), ["0}m:42", "0}s"]);
    let exported = run(&place, &["export"])?;
    assert!(exported.stdout.contains(MARKS), "{exported:?}");
    assert_eq!(exported.stderr, "exported 3 lines\n");
    Ok(())
}
