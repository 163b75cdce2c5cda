//! Lines that are refused, here or by the service, and files that can't be read.

use crate::Tested;
use crate::command::{lines, run};
use crate::service::Service;

const GOOD: &str = r#"{"user":"a","action":"like","target":"1"}"#;
const JUMP: &str = r#"{"user":"a","action":"jump","target":"1"}"#;
const POISON: &str = r#"{"user":"a","action":"like","target":"poison"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn bad_lines_are_told_with_their_number_and_the_rest_goes_on() -> Tested {
    let service = Service::sound().await?;
    let run = run(
        &service,
        &["import", "-"],
        &[GOOD, "", "{\"user\":", JUMP, "7", &lines(2, 2)].join("\n"),
    )?;
    let mut told: Vec<_> = run.stderr.lines().collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            "line 3: not-json: Not a JSON object: EOF while parsing a value at column 8",
            "line 4: unknown-action: unknown action: as the test wants it (/action: no rule is named �[31mjump)",
            "line 5: not-json: Not a JSON object: invalid type: integer `7`, expected a map at column 1",
        ]
    );
    assert!(
        run.stdout.ends_with(
            "  counted                            3\n  refused: not-json                  2\n  \
             refused: unknown-action            1\n  points                            +6\n"
        ),
        "{}",
        run.stdout
    );
    assert_eq!((run.code, service.counted().len()), (Some(1), 3));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_spoils_its_array_is_found_and_the_others_counted() -> Tested {
    let service = Service::sound().await?;
    let input = [&lines(6, 1), POISON, "\n", &lines(20, 3)].concat();
    let run = run(&service, &["import", "-", "--concurrency", "1"], &input)?;
    assert_eq!(
        run.stderr,
        "line 7: invalid-request: invalid request: as the test wants it\n"
    );
    assert_eq!((run.code, service.counted().len()), (Some(1), 20));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_accepts_no_line_at_all_is_an_error_of_its_own() -> Tested {
    let service = Service::sound().await?;
    let run = run(
        &service,
        &["import", "-", "--batch", "4"],
        &[POISON; 100].join("\n"),
    )?;
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (Some(3), "error: invalid request: as the test wants it\n")
    );
    assert_eq!(service.received().len(), 7);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_refused_lines_are_shown() -> Tested {
    let service = Service::sound().await?;
    let run = run(
        &service,
        &["import", "-", "--limit-errors", "2"],
        &"?\n".repeat(30),
    )?;
    assert_eq!(
        run.stderr,
        "line 1: not-json: Not a JSON object: expected value at column 1\n\
         line 2: not-json: Not a JSON object: expected value at column 1\n\
         further refused lines are only counted\n"
    );
    assert!(
        run.stdout
            .contains("refused: not-json                 30\n"),
        "{}",
        run.stdout
    );
    assert_eq!(run.code, Some(1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_read_is_named() -> Tested {
    let service = Service::sound().await?;
    let missing = run(&service, &["import", "no-such-file"], "")?;
    assert_eq!(
        (missing.code, missing.stderr.as_str()),
        (
            Some(2),
            "error: no-such-file: No such file or directory (os error 2)\n"
        )
    );
    let folder = run(&service, &["import", "/"], "")?;
    assert_eq!(
        (folder.code, folder.stderr.as_str()),
        (Some(2), "error: /: Is a directory (os error 21)\n")
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_usage_is_told_before_anything_is_sent() -> Tested {
    let service = Service::sound().await?;
    for args in [
        &["import"][..],
        &["import", "-", "--batch", "501"],
        &["import", "-", "--concurrency", "0"],
        &["import", "-", "--url", "ftp://example.org"],
        &["import", "-", "--url", "http://me:pw@example.org"],
        &["import", "-", "--key", "a\nb"],
        &["standing", ".."],
        &["top", "decade"],
    ] {
        assert_eq!(run(&service, args, "")?.code, Some(2), "{args:?}");
    }
    assert!(service.received().is_empty());
    Ok(())
}
