//! `import --shift-to-now`.

use std::fs;

use jiff::{SignedDuration, Timestamp};

use crate::TestResult;
use crate::command::run;
use crate::service::Service;

const LINES: &str = r#"{"at":"2018-03-12T00:00:00.000Z","user":"105","action":"bookmark","target":"post-53"}
{"at":"2018-09-01T21:16:55.083Z","user":"2293","action":"publish","target":"post-4134"}
{"user":"2293","action":"like","target":"now"}
{"at":"2018-09-01T21:16:55.082Z","user":"105","action":"publish","target":"post-4135"}
{"at":"soon","user":"105","action":"publish","target":"post-4136"}
"#;

fn assert_shifted(service: &Service, before: Timestamp) -> TestResult {
    let at = |target: &str| -> Result<Timestamp, Box<dyn std::error::Error>> {
        let items = service.counted();
        let item = items.iter().find(|item| item["target"] == target);
        let item = item.ok_or("missing")?;
        Ok(item["at"].as_str().ok_or("no `at`")?.parse()?)
    };
    let (latest, millisecond) = (at("post-4134")?, SignedDuration::from_millis(1));
    let is_now = latest >= before - millisecond && latest <= Timestamp::now();
    assert!(is_now, "{latest}");
    assert_eq!(latest.duration_since(at("post-4135")?), millisecond);
    let [last, first] = ["2018-09-01T21:16:55.083Z", "2018-03-12T00:00:00Z"];
    let gap = last.parse::<Timestamp>()?.duration_since(first.parse()?);
    assert_eq!(latest.duration_since(at("post-53")?), gap);
    let counted = service.counted();
    let now = counted.iter().find(|item| item["target"] == "now");
    assert!(now.is_some_and(|item| item.get("at").is_none()));
    assert_eq!(counted.len(), 4);
    Ok(())
}

const STDERR: &str = "line 5: invalid-request: The request is invalid: at: must be an RFC 3339 date and time with an \
                      offset such as 2026-11-20T08:00:00Z\n";

#[tokio::test(flavor = "multi_thread")]
async fn file_and_standard_input_are_shifted_to_now() -> TestResult {
    let file = tempfile::NamedTempFile::new()?;
    fs::write(&file, LINES)?;
    let path = file.path().to_string_lossy();
    for (path, input) in [(&*path, ""), ("-", LINES)] {
        let (service, before) = (Service::start().await?, Timestamp::now());
        let args = format!("import {path} --shift-to-now --skip-invalid");
        run(&service, &args, input)?.assert_error(1, STDERR);
        assert_shifted(&service, before)?;
    }
    Ok(())
}
