//! `targets`, which shares its pipeline with `import`, and the boards of `top` that it fills.

use std::io::Write;

use crate::TestResult;
use crate::command::run;
use crate::service::Service;
use serde_json::json;

const CONTENT: &str = r#"{"period":{"kind":"all","id":"all","start":null,"end":null,"timezone":"UTC","closed":false},"total":2,"entries":[{"rank":1,"score":57,"target":{"id":"post-7","title":"A title"},"author":{"id":"9","name":"Ada"}},{"rank":2,"score":5,"target":{"id":"post-8"}}]}"#;
const AUTHORS: &str = r#"{"period":{"kind":"all","id":"all","start":null,"end":null,"timezone":"UTC","closed":false},"total":1,"entries":[{"rank":1,"score":62,"user":{"id":"9","name":"Ada"}}]}"#;
const HOT: &str = r#"{"entries":[{"rank":1,"score":12.5,"target":{"id":"post-7","title":"A title"},"author":{"id":"9"}}]}"#;

#[tokio::test(flavor = "multi_thread")]
async fn targets_of_json_and_csv_are_the_same() -> TestResult {
    let expected = [
        json!({"id": "post-7", "author": "9", "title": "A, \"title\""}),
        json!({"id": "post-8"}),
    ];
    let lines = expected.iter().map(|line| format!("{line}\n"));
    let csv = "id,author,title\npost-7,9,\"A, \"\"title\"\"\"\npost-8,,\n";
    let mut file = tempfile::Builder::new().suffix(".CSV").tempfile()?;
    file.write_all(csv.as_bytes())?;
    let path = file.path().to_string_lossy().into_owned();
    for (args, input) in [
        ("-", &*lines.collect::<String>()),
        ("- --format csv", csv),
        (&path, ""),
    ] {
        let service = Service::start().await?;
        let run = run(&service, &format!("targets {args}"), input)?.assert_error(0, "");
        let stored = "  registered                         2\n";
        assert!(run.stdout.contains(stored), "{}", run.stdout);
        let mut items = service.items();
        items.sort_by_key(|item| item["id"].to_string());
        assert_eq!(items, expected, "{args}");
        let mut received = service.received().into_iter();
        assert!(received.all(|request| request.route == "PUT /v1/targets"));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn file_that_is_not_utf8_is_refused_with_its_line() -> TestResult {
    let service = Service::start().await?;
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile()?;
    file.write_all(b"id,title\npost-7,A title\npost-8,\xff\npost-9,\n")?;
    let path = file.path().to_string_lossy().into_owned();
    let error = format!("error: {path}: line 3 is not UTF-8: save the file as UTF-8\n");
    run(&service, &format!("targets {path} --skip-invalid"), "")?.assert_error(2, &error);
    assert_eq!(service.items().len(), 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn top_prints_targets_and_authors() -> TestResult {
    let content = "all (UTC) · 2 targets\n\n rank  score  target  title    author\n    \
                   1     57  post-7  A title  Ada (9)\n    2      5  post-8\n";
    let authors = "all (UTC) · 1 author\n\n rank  score  user  name\n    1     62  9     Ada\n";
    let hot = " rank  score  target  title    author\n    1   12.5  post-7  A title  9\n";
    let none = "no target received points in the last seven days\n";
    for (page, args, route, text) in [
        (
            CONTENT,
            "all --content --limit 2",
            "content/all?limit=2",
            content,
        ),
        (
            AUTHORS,
            "all --authors --date 2026-11-20",
            "authors/all?date=2026-11-20",
            authors,
        ),
        (HOT, "--hot", "content/hot", hot),
        (r#"{"entries":[]}"#, "--hot", "content/hot", none),
    ] {
        let service = Service::start().await?.with_page(page);
        run(&service, &format!("top {args}"), "")?.assert_output(text);
        let [request] = service.requests();
        assert_eq!(request.route, format!("GET /v1/{route}"));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn top_refuses_contradicting_boards() -> TestResult {
    let service = Service::start().await?;
    for args in [
        "top --content --authors",
        "top --hot --content",
        "top week --hot",
        "top --content --group=eu",
    ] {
        let run = run(&service, args, "")?;
        assert_eq!(run.code, Some(2), "{args}: {}", run.stderr);
        assert!(run.stderr.contains("cannot be used with"), "{}", run.stderr);
    }
    assert_eq!(service.received().len(), 0);
    Ok(())
}
