//! Lines refused before sending or by the service, unreadable files and invalid arguments.

use crate::TestResult;
use crate::command::{lines, run};
use crate::service::Service;

const VALID: &str = r#"{"user":"a","action":"like","target":"1"}"#;
const UNKNOWN_ACTION: &str = r#"{"user":"a","action":"jump","target":"1"}"#;
const FUTURE: &str = r#"{"user":"a","action":"like","target":"1","at":"9999-01-01T00:00:00Z"}"#;
const UNDONE_WAVE: &str = r#"{"user":"a","action":"wave","target":"1","undo":true}"#;
/// A line that makes the fake service refuse its whole array.
const POISON: &str = r#"{"user":"a","action":"like","target":"poison"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn invalid_line_stops_the_file() -> TestResult {
    for (file, invalid, reason) in [
        (
            [VALID, "{\"user\":", &lines(200, 2)].join("\n"),
            "line 2: not-json: Not a JSON object: EOF while parsing a value at column 8\n",
            "1 line is",
        ),
        (
            [&lines(200, 2), r#"{"user":"a"}"#, "\n", "7"].concat(),
            "line 201: invalid-request: The request is invalid: action: is missing (1 of 2 errors) \
             (/target: is missing)\n\
             line 202: invalid-request: The request is invalid: An activity is a JSON object.\n",
            "2 lines are",
        ),
        (
            [VALID, FUTURE, &VALID.replace("like", "fly"), UNDONE_WAVE].join("\n"),
            "line 2: invalid-request: The request is invalid: at: must not be more than 60 seconds in the future\n\
             line 3: unknown-action: Unknown action: action: must be one of bookmark, comment, follow, jump, like, \
             publish, visit, wave\n\
             line 4: not-undoable: The action cannot be undone: undo: wave cannot be undone\n",
            "3 lines are",
        ),
    ] {
        let service = Service::start().await?;
        let error = format!(
            "{invalid}error: nothing was sent, because {reason} invalid: correct the file, or add --skip-invalid to \
             send the other lines\n"
        );
        let run = run(&service, "import -", &file)?.assert_error(1, &error);
        assert_eq!((&*run.stdout, service.received().len()), ("", 0));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_lines_are_skipped_on_request() -> TestResult {
    let service = Service::start().await?;
    let lines = [VALID, "", "{\"user\":", UNKNOWN_ACTION, "7", &lines(2, 2)].join("\n");
    let run = run(&service, "import - --skip-invalid", &lines)?;
    let mut reported: Vec<_> = run.stderr.lines().collect();
    reported.sort_unstable();
    let expected = [
        "line 3: not-json: Not a JSON object: EOF while parsing a value at column 8",
        "line 4: unknown-action: unknown action: injected by the test (/action: no rule is named �[31mjump)",
        "line 5: invalid-request: The request is invalid: An activity is a JSON object.",
    ];
    assert_eq!(reported, expected);
    let expected = "  counted                            3\n  refused: invalid-request           1\n  \
                    refused: not-json                  1\n  refused: unknown-action            1\n    \
                    /action                          1\n  points                            +6\n";
    assert!(run.stdout.ends_with(expected), "{}", run.stdout);
    assert_eq!((run.code, service.counted().len()), (Some(1), 3));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn line_that_fails_its_array_is_isolated() -> TestResult {
    let service = Service::start().await?;
    let input = [&lines(6, 1), POISON, "\n", &lines(20, 3)].concat();
    let error = "line 7: invalid-request: invalid request: injected by the test\n";
    run(&service, "import - --concurrency 1", &input)?.assert_error(1, error);
    assert_eq!(service.counted().len(), 20);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn import_stops_if_first_batch_is_all_refused() -> TestResult {
    let service = Service::start().await?;
    let (input, error) = (
        [POISON; 100].join("\n"),
        "error: invalid request: injected by the test\n",
    );
    run(&service, "import - --batch 4", &input)?.assert_error(3, error);
    assert_eq!(service.received().len(), 7);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn limit_errors_bounds_the_printed_lines() -> TestResult {
    let service = Service::start().await?;
    let args = "import - --limit-errors 2 --skip-invalid";
    let run = run(&service, args, &"?\n".repeat(30))?.assert_error(
        1,
        "line 1: not-json: Not a JSON object: expected value at column 1\n\
         line 2: not-json: Not a JSON object: expected value at column 1\n\
         further refused lines are counted but not shown\n",
    );
    let refused = "refused: not-json                 30\n";
    assert!(run.stdout.contains(refused), "{}", run.stdout);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_file_is_named() -> TestResult {
    let service = Service::start().await?;
    for (name, error) in [
        ("no-such-file", "No such file or directory (os error 2)"),
        ("/", "Is a directory (os error 21)"),
    ] {
        let error = format!("error: {name}: {error}\n");
        run(&service, &format!("import {name}"), "")?.assert_error(2, &error);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_arguments_exit_with_2_and_send_nothing() -> TestResult {
    let service = Service::start().await?;
    for args in [
        "import",
        "import - --batch 501",
        "import - --concurrency 0",
        "import - --url ftp://example.org",
        "import - --url http://me:pw@example.org",
        "import - --key a\nb",
        "standing ..",
        "top decade",
    ] {
        assert_eq!(run(&service, args, "")?.code, Some(2), "{args:?}");
    }
    let scheme = run(&service, "top --url rank.example.org", "")?;
    let expected = "'rank.example.org' for '--url <URL>': must begin with http:// or https://";
    assert!(scheme.stderr.contains(expected), "{scheme:?}");
    assert!(service.received().is_empty());
    Ok(())
}
